//! One step of the made-up run as plain data: what both writers read.
//!
//! Times are ns from the start of the session. Every list is in the order in which the simulated
//! program did the things, which is not the order of time across threads and streams.

use super::api::Api;
use super::gpu_metrics::MetricSample;
use super::kernel_catalog::KernelSpec;
use super::signature::SignatureId;

/// A CPU thread of the traced process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Thread {
    /// The Python main thread.
    Main,
    /// The thread on which autograd runs the backward pass of device 0.
    Autograd,
    /// NCCL's watchdog, which polls the events of running collectives.
    NcclWatchdog,
    /// The DataLoader's pin-memory thread.
    PinMemory,
}

impl Thread {
    pub(crate) const ALL: [Self; 4] = [Self::Main, Self::Autograd, Self::NcclWatchdog, Self::PinMemory];

    /// Its index in per-thread arrays.
    pub(crate) fn idx(self) -> usize {
        self as usize
    }

    /// The operating system's thread id.
    pub(crate) fn tid(self) -> i64 {
        match self {
            Self::Main => PID,
            Self::Autograd => 48_733,
            Self::NcclWatchdog => 48_790,
            Self::PinMemory => 48_802,
        }
    }

    /// The name the thread gave itself (15 characters at most, as Linux keeps them).
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Main => "python",
            Self::Autograd => "pt_autograd_0",
            Self::NcclWatchdog => "pt_nccl_watchdg",
            Self::PinMemory => "pt_data_pin",
        }
    }
}

/// The process id of rank 0; the main thread's id is the same.
pub(crate) const PID: i64 = 48_211;

/// A CUDA stream of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    /// The default stream, on which everything but collectives runs.
    Compute,
    /// The stream of NCCL's communicator.
    Comm,
}

impl Stream {
    /// Its index in per-stream arrays.
    pub(crate) fn idx(self) -> usize {
        self as usize
    }

    /// The stream id that CUPTI gives (7 is the default stream).
    pub(crate) fn id(self) -> i64 {
        match self {
            Self::Compute => 7,
            Self::Comm => 23,
        }
    }
}

/// What happened in one step.
#[derive(Debug, Default)]
pub(crate) struct Step {
    pub(crate) ops: Vec<Op>,
    pub(crate) api_calls: Vec<ApiCall>,
    pub(crate) kernels: Vec<Kernel>,
    pub(crate) copies: Vec<Copy>,
    pub(crate) memsets: Vec<Memset>,
    pub(crate) syncs: Vec<StreamSync>,
    pub(crate) event_records: Vec<EventRecord>,
    pub(crate) gpu_annotations: Vec<GpuAnnotation>,
    pub(crate) nccl_calls: Vec<NcclCall>,
    pub(crate) os_calls: Vec<OsCall>,
    pub(crate) tensor_events: Vec<TensorEvent>,
    pub(crate) segments: Vec<Segment>,
    pub(crate) metrics: Vec<MetricSample>,
}

impl Step {
    /// Forgets everything but the allocations behind it.
    pub(crate) fn clear(&mut self) {
        self.ops.clear();
        self.api_calls.clear();
        self.kernels.clear();
        self.copies.clear();
        self.memsets.clear();
        self.syncs.clear();
        self.event_records.clear();
        self.gpu_annotations.clear();
        self.nccl_calls.clear();
        self.os_calls.clear();
        self.tensor_events.clear();
        self.segments.clear();
        self.metrics.clear();
    }
}

/// The name of an operator or annotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Name {
    /// A fixed name.
    Text(&'static str),
    /// The annotation of a whole training step, which the two formats spell differently.
    Step(u32),
}

/// What the framework calls a slice on a CPU thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpKind {
    /// An operator of the dispatcher or a node of autograd.
    Operator,
    /// A range that Python code opened.
    Annotation,
}

/// How an operator stands to autograd.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Autograd {
    /// It records nothing.
    None,
    /// It records a node with this sequence number.
    Forward(i64),
    /// It is the node with this sequence number, run backward.
    Backward(i64),
}

/// Which end of a forward-to-backward arrow an operator holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// The arrow of this number starts here.
    Start(i64),
    /// The arrow of this number ends here.
    End(i64),
}

/// An operator, an autograd node or an annotation.
#[derive(Clone, Debug)]
pub(crate) struct Op {
    pub(crate) thread: Thread,
    pub(crate) name: Name,
    pub(crate) kind: OpKind,
    pub(crate) start_ns: i64,
    pub(crate) dur_ns: i64,
    /// Unique in the run; what `External id` and `op_id` say.
    pub(crate) op_id: i64,
    pub(crate) autograd: Autograd,
    pub(crate) flow: Option<Flow>,
    pub(crate) signature: Option<SignatureId>,
    /// Elements reduced, where the operator is a collective.
    pub(crate) collective_n_elems: Option<i64>,
}

/// A call of the CUDA runtime or driver.
#[derive(Clone, Debug)]
pub(crate) struct ApiCall {
    pub(crate) thread: Thread,
    pub(crate) api: Api,
    pub(crate) start_ns: i64,
    pub(crate) dur_ns: i64,
    pub(crate) correlation: i64,
    /// The innermost operator around the call.
    pub(crate) op_id: Option<i64>,
    /// The `cudaError_t` it gave back.
    pub(crate) return_value: i64,
}

/// A kernel on a stream.
#[derive(Clone, Debug)]
pub(crate) struct Kernel {
    pub(crate) spec: &'static KernelSpec,
    pub(crate) stream: Stream,
    pub(crate) start_ns: i64,
    pub(crate) dur_ns: i64,
    pub(crate) correlation: i64,
    pub(crate) op_id: Option<i64>,
    pub(crate) grid: [i64; 3],
    /// Counts the launches of the process.
    pub(crate) grid_id: i64,
    /// Elements reduced, where the kernel is a collective.
    pub(crate) collective_n_elems: Option<i64>,
}

/// Where one end of a copy lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MemoryKind {
    Pageable,
    Pinned,
    Device,
}

impl MemoryKind {
    /// The value of `CUpti_ActivityMemoryKind` as nsys numbers it.
    pub(crate) fn nsys_value(self) -> i64 {
        match self {
            Self::Pageable => 0,
            Self::Pinned => 1,
            Self::Device => 2,
        }
    }

    /// The word Kineto puts into the name of a copy.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Pageable => "Pageable",
            Self::Pinned => "Pinned",
            Self::Device => "Device",
        }
    }
}

/// A copy on a stream.
#[derive(Clone, Debug)]
pub(crate) struct Copy {
    pub(crate) stream: Stream,
    pub(crate) start_ns: i64,
    pub(crate) dur_ns: i64,
    pub(crate) correlation: i64,
    pub(crate) op_id: Option<i64>,
    pub(crate) from: MemoryKind,
    pub(crate) to: MemoryKind,
    pub(crate) size_bytes: i64,
}

/// A memset on a stream.
#[derive(Clone, Debug)]
pub(crate) struct Memset {
    pub(crate) stream: Stream,
    pub(crate) start_ns: i64,
    pub(crate) dur_ns: i64,
    pub(crate) correlation: i64,
    pub(crate) op_id: Option<i64>,
    pub(crate) size_bytes: i64,
}

/// The host waiting for a stream.
#[derive(Clone, Debug)]
pub(crate) struct StreamSync {
    pub(crate) stream: Stream,
    pub(crate) start_ns: i64,
    pub(crate) dur_ns: i64,
    pub(crate) correlation: i64,
}

/// A CUDA event recorded on a stream.
#[derive(Clone, Debug)]
pub(crate) struct EventRecord {
    pub(crate) stream: Stream,
    pub(crate) correlation: i64,
    /// Reused from step to step, as torch's event pool does.
    pub(crate) event_id: i64,
    /// Unique in the run.
    pub(crate) event_sync_id: i64,
}

/// The device-side shadow of an annotation on one stream.
#[derive(Clone, Debug)]
pub(crate) struct GpuAnnotation {
    pub(crate) name: Name,
    pub(crate) op_id: i64,
    pub(crate) stream: Stream,
    pub(crate) start_ns: i64,
    pub(crate) end_ns: i64,
}

/// A range in NCCL's own NVTX domain.
#[derive(Clone, Debug)]
pub(crate) struct NcclCall {
    pub(crate) thread: Thread,
    pub(crate) name: &'static str,
    pub(crate) start_ns: i64,
    pub(crate) dur_ns: i64,
}

/// A blocking call of the C library.
#[derive(Clone, Debug)]
pub(crate) struct OsCall {
    pub(crate) thread: Thread,
    pub(crate) name: &'static str,
    pub(crate) start_ns: i64,
    pub(crate) dur_ns: i64,
}

/// A tensor's block taken from or given back to the caching allocator.
#[derive(Clone, Debug)]
pub(crate) struct TensorEvent {
    pub(crate) thread: Thread,
    pub(crate) time_ns: i64,
    /// Negative when given back.
    pub(crate) delta_bytes: i64,
    pub(crate) addr: i64,
    /// After the event.
    pub(crate) total_allocated_bytes: i64,
    /// After the event.
    pub(crate) total_reserved_bytes: i64,
}

/// A segment the caching allocator asked the driver for.
#[derive(Clone, Debug)]
pub(crate) struct Segment {
    pub(crate) time_ns: i64,
    pub(crate) addr: i64,
    pub(crate) size_bytes: i64,
    pub(crate) correlation: i64,
}
