//! Merged flame graphs: where the time went, by call stack.
//!
//! ```text
//! Trace ──flame()──▶ FlameTree ──edited()──▶ FlameTree ──bottom_up(), callers(), reordered()──▶ FlameTree
//! ```
//! **CPU time** is the time of host threads inside slices of the layers wanted: per thread the union of
//! them, each instant on the one stack that is open then (`sweep.rs`). Threads add up.
//!
//! **Device time** is the sum of the durations of kernels, copies, memsets and whole graphs (those whose
//! nodes are not in the file), so what runs at the same time counts each for itself; it is not the busy time
//! of a device, which is a union. Each slice lies under the stack that its launch was called from: the stack
//! of the launching thread at the start of the API call. Backward work so lies under autograd's own stacks.
//! What has no launch in the file, or was launched outside all layers wanted, lies under
//! `(not attributed)`. Beside that, `GPU idle` holds the gaps of every device by cause (SIG-3). So the roots
//! without `GPU idle` add up to the durations of all device slices to the ns, and `GPU idle` to the idle
//! time of all devices.
//!
//! **Samples** are counted, under the call stack that each was taken with.
//!
//! A span cuts slices and gaps at its ends. A choice of threads keeps what they ran, launched or were
//! sampled in; who waits on a device is then not told, so idle time is left out.

mod arrange;
mod builder;
mod cpu;
mod device;
mod edit;
mod find;
mod names;
mod samples;
mod sweep;
#[cfg(test)]
mod tests;
mod text;
mod tree;

use std::collections::BTreeSet;

use tracecard_model::{ProcessId, Progress, Span, Trace, TrackFamily, TrackId};

pub use arrange::{bottom_up, callees, callers, reordered, totals_by_frame};
pub use edit::{Edit, edited};
pub use find::{Matches, matches};
pub use text::{folded, stack_text, tsv};
pub use tree::{FlameTree, Frame, FrameId, Layer, Measure, NodeId, Order};

use crate::{AnalyzeError, DevicePartition, NOT_ATTRIBUTED};

/// The root of the time in which devices had nothing to do.
pub const IDLE: &str = "GPU idle";

/// A set of [`Layer`]s.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Layers(u16);

impl Layers {
    /// None.
    pub const NONE: Self = Self(0);

    /// With one more.
    #[must_use]
    pub const fn with(self, layer: Layer) -> Self {
        Self(self.0 | 1 << layer as u16)
    }

    /// With one less.
    #[must_use]
    pub const fn without(self, layer: Layer) -> Self {
        Self(self.0 & !(1 << layer as u16))
    }

    /// Is it in the set?
    pub const fn has(self, layer: Layer) -> bool {
        self.0 & 1 << layer as u16 != 0
    }

    /// What code ran in, without the calls into driver and system.
    pub const CODE: Self = Self::NONE
        .with(Layer::Python)
        .with(Layer::Module)
        .with(Layer::Range)
        .with(Layer::Op)
        .with(Layer::Library)
        .with(Layer::Other);

    /// The same with the calls of CUDA.
    pub const CODE_AND_CALLS: Self = Self::CODE.with(Layer::Api);

    fn wants(self, family: TrackFamily) -> bool {
        sweep::layers_of(family).iter().any(|layer| self.has(*layer))
    }
}

/// What the width of a frame means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Weight {
    /// Time of host threads.
    Cpu,
    /// Time of devices, under the host stacks that launched it.
    Device,
    /// CPU samples.
    Samples,
}

impl Weight {
    /// Every weight, in the order shown.
    pub const ALL: [Self; 3] = [Self::Cpu, Self::Device, Self::Samples];

    /// Has the trace anything of this weight? O(tracks).
    pub fn is_in(self, trace: &Trace) -> bool {
        let has = |is_family: fn(TrackFamily) -> bool| {
            trace.tracks.iter().any(|track| 0 < track.n_slices && is_family(track.key.family))
        };
        match self {
            Self::Samples => !trace.samples.rows().is_empty(),
            Self::Device => has(|family| matches!(family, TrackFamily::Stream | TrackFamily::Graph)),
            Self::Cpu => has(|family| !sweep::layers_of(family).is_empty()),
        }
    }

    /// The layers that are shown unless the user chooses. Calls of the operating system are mostly waits of
    /// threads with nothing to do.
    pub fn usual_layers(self) -> Layers {
        match self {
            Self::Cpu => Layers::CODE_AND_CALLS,
            Self::Device => Layers::CODE.with(Layer::Idle),
            Self::Samples => Layers::NONE,
        }
    }
}

/// A thread of a process.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Thread {
    /// The process.
    pub process: Option<ProcessId>,
    /// Its id as in the file.
    pub id: Option<String>,
}

impl Thread {
    fn of_track(trace: &Trace, track: TrackId) -> Option<Self> {
        let key = &trace.tracks.get(track.idx())?.key;
        Some(Self { process: key.process, id: key.thread.clone() })
    }
}

/// The threads that have stacks or samples, in the order of their tracks.
pub fn threads(trace: &Trace) -> Vec<Thread> {
    let mut found = Vec::new();
    for track in &trace.tracks {
        let has_stacks = !sweep::layers_of(track.key.family).is_empty() && 0 < track.n_slices;
        let thread = Thread { process: track.key.process, id: track.key.thread.clone() };
        if (has_stacks || track.key.family == TrackFamily::Samples) && !found.contains(&thread) {
            found.push(thread);
        }
    }
    found
}

/// What a flame graph is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// What the width of a frame means.
    pub weight: Weight,
    /// Frames of these layers, [`Layer::Idle`] for the idle time of devices; of no account for samples.
    pub layers: Layers,
    /// Only this part of the run; `None`: all.
    pub span: Option<Span>,
    /// Only these threads; `None`: all.
    pub threads: Option<BTreeSet<Thread>>,
}

impl Options {
    /// The whole run, with the usual layers.
    pub fn new(weight: Weight) -> Self {
        Self { weight, layers: weight.usual_layers(), span: None, threads: None }
    }

    fn has_thread(&self, thread: &Thread) -> bool {
        self.threads.as_ref().is_none_or(|threads| threads.contains(thread))
    }
}

/// The merged tree, siblings in the order they were first seen. `partitions` are those of the whole run
/// where an analysis holds them; else they are made. O(n) on one core.
///
/// # Errors
/// Only when cancelled.
pub fn flame(
    trace: &Trace,
    partitions: Option<&[DevicePartition]>,
    options: &Options,
    progress: &Progress,
) -> Result<FlameTree, AnalyzeError> {
    progress.begin("Merging stacks", trace.slices.len() as u64)?;
    let builder = match options.weight {
        Weight::Cpu => cpu::grow(trace, options, progress)?,
        Weight::Device => device::grow(trace, partitions, options, progress)?,
        Weight::Samples => samples::grow(trace, options, progress)?,
    };
    progress.check()?;
    Ok(builder.finish(Order::FirstSeen))
}

/// `(not attributed)`.
fn not_attributed() -> Frame {
    Frame::new(Layer::Note, NOT_ATTRIBUTED)
}

/// How much later than its parent a child may end, and a call after the operator that made it may begin.
fn tolerance_ns(trace: &Trace) -> i64 {
    if 1 < trace.meta.resolution_ns { trace.meta.resolution_ns } else { 0 }
}
