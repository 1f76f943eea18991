//! The closed sets of the model: what a slice, a track, a link, a copy can be.

macro_rules! kinds {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum $name { $($(#[$vdoc])* $variant,)+ }

        impl $name {
            /// Every value, in declared order.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The stable text used in dumps, tables and JSON.
            pub fn text(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }

            /// The value with this stable text.
            pub fn from_text(text: &str) -> Option<Self> {
                match text { $($text => Some(Self::$variant),)+ _ => None }
            }
        }
    };
}

kinds!(
    /// What a slice is.
    SliceKind {
        /// A framework operator (`aten::mm`).
        Op = "op",
        /// A named region of host code (`record_function`, `ProfilerStep#3`).
        Annotation = "annotation",
        /// A Python frame.
        Python = "python",
        /// A CUDA/HIP runtime or driver call.
        Api = "api",
        /// An operating-system runtime call (`poll`, `pthread_cond_wait`).
        OsRuntime = "os_runtime",
        /// An NVTX push/pop range: nests on its thread.
        NvtxPushPop = "nvtx_push_pop",
        /// An NVTX start/end range: may cross others and threads.
        NvtxStartEnd = "nvtx_start_end",
        /// Time the profiler or driver took for itself.
        Overhead = "overhead",
        /// A kernel on a device stream.
        Kernel = "kernel",
        /// A memory copy on a device stream (see [`crate::Copy`]).
        Memcpy = "memcpy",
        /// A memory set on a device stream (see [`crate::Copy`]).
        Memset = "memset",
        /// A whole CUDA graph captured as one bar; its kernels are not in the file.
        Graph = "graph",
        /// A synchronisation as the device side reports it; never device work.
        Sync = "sync",
        /// A host annotation projected onto the device by the profiler; never device work.
        GpuAnnotation = "gpu_annotation",
        /// A thread on a CPU, from switched in to switched out.
        Running = "running",
        /// A call into another library or runtime (cuDNN, cuBLAS, MPI, OpenACC, OpenGL).
        Library = "library",
        /// Anything else with a start and a duration.
        Other = "other",
    }
);

impl SliceKind {
    /// Does this slice occupy the device (kernel, copy, memset, whole graph)?
    pub fn is_device_work(self) -> bool {
        matches!(self, Self::Kernel | Self::Memcpy | Self::Memset | Self::Graph)
    }
}

kinds!(
    /// What a track carries. Tracks of one thread or stream are shown in this order.
    TrackFamily {
        /// Operators and annotations of one thread; nests.
        Ops = "ops",
        /// NVTX push/pop ranges of one thread; nests.
        Nvtx = "nvtx",
        /// NVTX start/end ranges of one process; lanes.
        NvtxStartEnd = "nvtx_start_end",
        /// Python frames of one thread; nests.
        Python = "python",
        /// CUDA/HIP API calls of one thread; nests.
        Api = "api",
        /// Operating-system runtime calls of one thread; nests.
        OsRuntime = "os_runtime",
        /// Profiler and driver overhead of one thread; nests.
        Overhead = "overhead",
        /// Calls into one library, named by the label, of one thread; nests.
        Library = "library",
        /// When one thread ran on which CPU; lanes.
        Scheduling = "scheduling",
        /// CPU samples of one thread (see [`crate::Samples`]); has no slices.
        Samples = "samples",
        /// Slices of no known family on one thread; nests.
        Other = "other",
        /// Device work of one stream; lanes.
        Stream = "stream",
        /// Whole-graph bars of one stream; lanes.
        Graph = "graph",
        /// Host annotations projected onto one stream; nests.
        GpuAnnotation = "gpu_annotation",
        /// Synchronisation records of one stream; lanes.
        Sync = "sync",
        /// What a device did besides CUDA work, named by the label (graphics, page faults); lanes.
        DeviceOther = "device_other",
        /// A counter.
        Counter = "counter",
    }
);

impl TrackFamily {
    /// Do slices on such a track form a call stack (parent, self time)? Others overlap in lanes.
    pub fn nests(self) -> bool {
        !matches!(
            self,
            Self::Stream
                | Self::Graph
                | Self::Sync
                | Self::DeviceOther
                | Self::NvtxStartEnd
                | Self::Scheduling
                | Self::Samples
                | Self::Counter
        )
    }

    /// Does the track belong to a device rather than to a thread?
    pub fn is_device(self) -> bool {
        matches!(self, Self::Stream | Self::Graph | Self::GpuAnnotation | Self::Sync | Self::DeviceOther)
    }
}

kinds!(
    /// Why two slices are tied together.
    LinkKind {
        /// API call → the device work it enqueued (one to many).
        Launch = "launch",
        /// API call → the synchronisation record it caused.
        Sync = "sync",
        /// Forward operator → its backward operator.
        ForwardBackward = "forward_backward",
    }
);

kinds!(
    /// Direction of a copy. A memset is the kind of [`SliceKind::Memset`].
    CopyKind {
        /// Host to device.
        HostToDevice = "h2d",
        /// Device to host.
        DeviceToHost = "d2h",
        /// Inside one device.
        DeviceToDevice = "d2d",
        /// Between two devices.
        PeerToPeer = "p2p",
        /// Inside host memory.
        HostToHost = "h2h",
        /// A fill of device memory.
        Memset = "memset",
        /// The file does not say.
        Unknown = "unknown",
    }
);

kinds!(
    /// Where the memory of one side of a copy lies.
    MemoryKind {
        /// Ordinary host memory: the copy goes through a staging buffer and blocks.
        Pageable = "pageable",
        /// Page-locked host memory.
        Pinned = "pinned",
        /// Device memory.
        Device = "device",
        /// A CUDA array.
        Array = "array",
        /// Unified (managed) memory.
        Managed = "managed",
    }
);

kinds!(
    /// Unit of a counter's values.
    Unit {
        /// A fraction of a maximum, 0–1.
        Frac = "frac",
        /// Bytes per second.
        BytesPerS = "bytes_per_s",
        /// Bytes.
        Bytes = "bytes",
        /// Hertz.
        Hz = "Hz",
        /// Watts.
        W = "W",
        /// Degrees Celsius.
        C = "C",
        /// Nanoseconds.
        Ns = "ns",
        /// A plain number, or a unit the file does not name.
        Count = "count",
    }
);

/// What is special about a slice; a set of bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SliceFlags(pub u8);

impl SliceFlags {
    /// Nothing special.
    pub const NONE: Self = Self(0);
    /// The slice was still open when the capture ended; its end is that of the capture.
    pub const UNCLOSED: Self = Self(1);
    /// The slice overlaps its row neighbours without nesting (kept, on a lane of its own).
    pub const CROSSING: Self = Self(2);

    /// Both sets together.
    pub fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Are all bits of `other` set?
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}
