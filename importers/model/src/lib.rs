//! The Trace: what every importer produces and every analyzer reads.
//!
//! Everything that happens is a *slice* on a *track*. A narrow core of columns ([`Slices`]) is shared by
//! all formats; what only some slices have (launch shapes, bytes, tensor shapes) lies in side tables keyed
//! by slice. Importers push rows into a [`TraceBuilder`] in any order; [`TraceBuilder::finish`] makes all
//! formats equal: it sorts, nests, links launches to device work and builds the drawing pyramid.
//!
//! Times are `i64` ns from the start of the trace, spans are half-open, sizes are bytes.
//! This crate does no I/O, reads no clock and uses no randomness.

mod amend;
mod builder;
mod counters;
mod dump;
mod finish;
mod fixture;
#[cfg(feature = "frames")]
mod frame;
mod gather;
mod ids;
mod issue;
mod kinds;
mod lod;
mod names;
mod narrow;
mod nest;
mod progress;
mod rows;
mod span;
mod stacks;
mod trace;

pub mod schema;

pub use builder::{SliceRow, TraceBuilder};
pub use dump::dump;
pub use fixture::{FixtureError, fixture};
#[cfg(feature = "frames")]
pub use frame::frame;
pub use ids::{ArgsId, CorrelationId, DeviceId, NameId, ProcessId, RowIdx, SliceId, StackId, TrackId};
pub use issue::{Issue, IssueLog, Severity};
pub use kinds::{CopyKind, LinkKind, MemoryKind, SliceFlags, SliceKind, TrackFamily, Unit};
pub use lod::{Folded, Lod, RowIndex};
pub use names::Names;
pub use progress::{Cancelled, Progress};
pub use rows::{
    Args, ArgsRow, Collective, Copy, Device, Kernel, MemoryEvent, Op, Process, SharedTable, SideTable, Track,
    TrackKey,
};
pub use span::{Span, Spans};
pub use stacks::{StackRow, Stacks};
pub use trace::{Counters, Links, Marks, Meta, Sample, Samples, Slices, Trace};
