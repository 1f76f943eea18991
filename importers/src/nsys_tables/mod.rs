//! What the tables of an Nsight Systems capture mean, whatever file they come from.
//!
//! A capture is the same set of tables in an SQLite export and in a report: the export holds them as rows,
//! the report as records with the same fields. Both readers hand rows to the [`TableReader`]s here, so both
//! give the same Trace. Found out from public exports of 23 schema versions and from the comments in their
//! own table definitions. Every table and every column is optional: what is missing is unknown.
//!
//! Never read: host and user names, command lines, environment, captured output.

mod api;
mod call_chains;
mod cells;
mod context_switches;
mod copies;
mod diagnostics;
mod events;
mod finish;
mod found;
mod fragment;
mod gpu_metrics;
mod graphs;
mod kernels;
mod libraries;
mod memory;
mod meta_data;
mod nccl;
mod nvtx;
mod osrt;
mod overheads;
mod page_faults;
mod payloads;
mod samples;
mod scheduling;
mod small_tables;
mod strings;
mod sync;
mod tables;
mod target;

pub(crate) use call_chains::CallChains;
pub(crate) use cells::{Cells, Frame, Record};
pub(crate) use diagnostics::note_diagnostics;
pub(crate) use finish::{Spare, finish, note_missing_device_work};
pub(crate) use found::Found;
pub(crate) use fragment::{Fragment, Known};
pub(crate) use gpu_metrics::{GPU_METRICS, read_metrics};
pub(crate) use meta_data::MetaData;
pub(crate) use nvtx::OTHER_PAYLOADS;
pub(crate) use payloads::PayloadSchemas;
pub(crate) use small_tables::SmallTables;
pub(crate) use strings::Strings;
pub(crate) use tables::{TableReader, first_pass, is_left_out, second_pass};
pub(crate) use target::Target;
