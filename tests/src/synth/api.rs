//! The CUDA calls that the made-up program makes, with the names and numbers both formats use.

/// A call of the CUDA runtime or driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Api {
    LaunchKernel,
    LaunchKernelExC,
    DriverLaunchKernelEx,
    MemcpyAsync,
    MemsetAsync,
    Malloc,
    StreamSynchronize,
    StreamWaitEvent,
    StreamIsCapturing,
    EventRecord,
    EventRecordWithFlags,
    EventQuery,
    FuncSetAttribute,
}

/// Which library a call belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Library {
    Runtime,
    Driver,
}

impl Api {
    /// The name without a version, as Kineto writes it.
    pub(crate) fn name(self) -> &'static str {
        self.row().0
    }

    /// The name with the version suffix that nsys keeps.
    pub(crate) fn versioned_name(self) -> &'static str {
        self.row().1
    }

    /// CUPTI's callback id.
    pub(crate) fn cbid(self) -> i64 {
        self.row().2
    }

    /// How long the call keeps the CPU when nothing blocks it.
    pub(crate) fn mean_ns(self) -> i64 {
        self.row().3
    }

    pub(crate) fn library(self) -> Library {
        match self {
            Self::DriverLaunchKernelEx => Library::Driver,
            _ => Library::Runtime,
        }
    }

    /// Whether the call puts work on a stream, so that Kineto draws an arrow from it.
    pub(crate) fn enqueues_work(self) -> bool {
        match self {
            Self::LaunchKernel
            | Self::LaunchKernelExC
            | Self::DriverLaunchKernelEx
            | Self::MemcpyAsync
            | Self::MemsetAsync => true,
            Self::Malloc
            | Self::StreamSynchronize
            | Self::StreamWaitEvent
            | Self::StreamIsCapturing
            | Self::EventRecord
            | Self::EventRecordWithFlags
            | Self::EventQuery
            | Self::FuncSetAttribute => false,
        }
    }

    fn row(self) -> (&'static str, &'static str, i64, i64) {
        match self {
            Self::LaunchKernel => ("cudaLaunchKernel", "cudaLaunchKernel_v7000", 211, 4_300),
            Self::LaunchKernelExC => ("cudaLaunchKernelExC", "cudaLaunchKernelExC_v11060", 430, 4_900),
            Self::DriverLaunchKernelEx => ("cuLaunchKernelEx", "cuLaunchKernelEx", 652, 8_200),
            Self::MemcpyAsync => ("cudaMemcpyAsync", "cudaMemcpyAsync_v3020", 41, 6_800),
            Self::MemsetAsync => ("cudaMemsetAsync", "cudaMemsetAsync_v3020", 51, 3_600),
            Self::Malloc => ("cudaMalloc", "cudaMalloc_v3020", 20, 310_000),
            Self::StreamSynchronize => ("cudaStreamSynchronize", "cudaStreamSynchronize_v3020", 131, 3_000),
            Self::StreamWaitEvent => ("cudaStreamWaitEvent", "cudaStreamWaitEvent_v3020", 147, 1_300),
            Self::StreamIsCapturing => ("cudaStreamIsCapturing", "cudaStreamIsCapturing_v10000", 317, 500),
            Self::EventRecord => ("cudaEventRecord", "cudaEventRecord_v3020", 135, 1_400),
            Self::EventRecordWithFlags => {
                ("cudaEventRecordWithFlags", "cudaEventRecordWithFlags_v11010", 370, 1_700)
            }
            Self::EventQuery => ("cudaEventQuery", "cudaEventQuery_v3020", 138, 2_000),
            Self::FuncSetAttribute => ("cudaFuncSetAttribute", "cudaFuncSetAttribute_v9000", 273, 800),
        }
    }
}
