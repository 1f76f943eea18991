//! The tables and columns of nsys exports that carry something for the Trace, with what they hold.

/// What a column holds in a sound file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// Time in ns.
    Time,
    /// Number of a text.
    Name,
    /// Thread or process in nsys' packing.
    Thread,
    /// A small number: an id, a size, an enum.
    Small,
    /// A text.
    Text,
    /// Key of a list of facts.
    Key,
}
use Holds::{Key, Name, Small, Text, Thread, Time};

/// A table: name, columns.
pub type Table = (&'static str, &'static [(&'static str, Holds)]);

const DEVICE: [(&str, Holds); 7] = [
    ("start", Time),
    ("end", Time),
    ("deviceId", Small),
    ("contextId", Small),
    ("streamId", Small),
    ("correlationId", Small),
    ("globalPid", Thread),
];

const CALL: &[(&str, Holds)] = &[
    ("start", Time),
    ("end", Time),
    ("eventClass", Small),
    ("globalTid", Thread),
    ("correlationId", Small),
    ("nameId", Name),
    ("returnValue", Small),
    ("callchainId", Small),
    ("gpu", Small),
    ("textId", Name),
    ("text", Text),
];

const FACTS: &[(&str, Holds)] = &[("name", Key), ("value", Text)];

const CHAIN: &[(&str, Holds)] = &[("id", Small), ("symbol", Name), ("module", Name), ("stackDepth", Small)];

/// Every table that is read, and some that only look like one.
pub const TABLES: &[Table] = &[
    (
        "CUPTI_ACTIVITY_KIND_KERNEL",
        &[
            DEVICE[0],
            DEVICE[1],
            DEVICE[2],
            DEVICE[3],
            DEVICE[4],
            DEVICE[5],
            DEVICE[6],
            ("demangledName", Name),
            ("shortName", Name),
            ("gridX", Small),
            ("gridY", Small),
            ("gridZ", Small),
            ("blockX", Small),
            ("blockY", Small),
            ("blockZ", Small),
            ("registersPerThread", Small),
            ("staticSharedMemory", Small),
            ("dynamicSharedMemory", Small),
            ("graphNodeId", Small),
            ("graphId", Small),
            ("clusterX", Small),
            ("clusterY", Small),
            ("clusterZ", Small),
        ],
    ),
    ("CUPTI_ACTIVITY_KIND_RUNTIME", CALL),
    (
        "NVTX_EVENTS",
        &[
            ("start", Time),
            ("end", Time),
            ("eventType", Small),
            ("globalTid", Thread),
            ("domainId", Small),
            ("textId", Name),
            ("text", Text),
            ("rangeId", Small),
            ("endGlobalTid", Thread),
            ("jsonTextId", Name),
            ("binaryData", Text),
        ],
    ),
    (
        "CUPTI_ACTIVITY_KIND_MEMCPY",
        &[
            DEVICE[0],
            DEVICE[1],
            DEVICE[2],
            DEVICE[3],
            DEVICE[4],
            DEVICE[5],
            DEVICE[6],
            ("bytes", Small),
            ("copyKind", Small),
            ("srcKind", Small),
            ("dstKind", Small),
            ("graphNodeId", Small),
        ],
    ),
    (
        "CUPTI_ACTIVITY_KIND_MEMSET",
        &[
            DEVICE[0],
            DEVICE[1],
            DEVICE[2],
            DEVICE[3],
            DEVICE[4],
            DEVICE[5],
            DEVICE[6],
            ("bytes", Small),
            ("memKind", Small),
            ("graphNodeId", Small),
        ],
    ),
    (
        "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
        &[
            DEVICE[0],
            DEVICE[1],
            DEVICE[2],
            DEVICE[3],
            DEVICE[4],
            DEVICE[5],
            DEVICE[6],
            ("syncType", Small),
            ("eventId", Small),
        ],
    ),
    (
        "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
        &[DEVICE[0], DEVICE[1], DEVICE[2], DEVICE[3], DEVICE[4], DEVICE[5], DEVICE[6], ("graphId", Small)],
    ),
    (
        "CUPTI_ACTIVITY_KIND_CUDA_EVENT",
        &[
            ("timestamp", Time),
            ("deviceId", Small),
            ("contextId", Small),
            ("streamId", Small),
            ("globalPid", Thread),
            ("eventId", Small),
        ],
    ),
    ("CUPTI_ACTIVITY_KIND_OVERHEAD", &[CALL[0], CALL[1], CALL[3], CALL[5], ("overheadType", Small)]),
    ("PROFILER_OVERHEAD", &[CALL[0], CALL[1], CALL[3], CALL[5], ("overheadType", Small)]),
    ("OSRT_API", CALL),
    ("CUDNN_EVENTS", CALL),
    ("MPI_COLLECTIVES_EVENTS", CALL),
    ("OPENMP_EVENT_KIND_PARALLEL", CALL),
    ("VULKAN_WORKLOAD", CALL),
    ("CUDA_GRAPH_EVENTS", CALL),
    (
        "CUDA_GPU_MEMORY_USAGE_EVENTS",
        &[
            ("start", Time),
            ("globalPid", Thread),
            ("deviceId", Small),
            ("address", Small),
            ("bytes", Small),
            ("memKind", Small),
            ("memoryOperationType", Small),
        ],
    ),
    (
        "CUDA_UM_GPU_PAGE_FAULT_EVENTS",
        &[
            ("start", Time),
            ("end", Time),
            ("globalPid", Thread),
            ("deviceId", Small),
            ("numberOfPageFaults", Small),
        ],
    ),
    ("CUDA_UM_CPU_PAGE_FAULT_EVENTS", &[("start", Time), ("globalPid", Thread), ("CpuInstruction", Small)]),
    ("GPU_METRICS", &[("timestamp", Time), ("typeId", Small), ("metricId", Small), ("value", Small)]),
    ("TARGET_INFO_GPU_METRICS", &[("typeId", Small), ("metricId", Small), ("metricName", Text)]),
    ("SCHED_EVENTS", &[("start", Time), ("cpu", Small), ("isSchedIn", Small), ("globalTid", Thread)]),
    ("COMPOSITE_EVENTS", &[("id", Small), ("start", Time), ("cpu", Small), ("globalTid", Thread)]),
    ("SAMPLING_CALLCHAINS", CHAIN),
    ("OSRT_CALLCHAINS", CHAIN),
    ("CUDA_CALLCHAINS", CHAIN),
    ("ThreadNames", &[("nameId", Name), ("priority", Small), ("globalTid", Thread)]),
    ("PROCESSES", &[("globalPid", Thread), ("pid", Small), ("name", Text)]),
    ("MPI_RANKS", &[("globalTid", Thread), ("rank", Small)]),
    ("DIAGNOSTIC_EVENT", &[("timestamp", Time), ("severity", Small), ("text", Text), ("globalPid", Thread)]),
    (
        "ANALYSIS_DETAILS",
        &[("globalVid", Thread), ("duration", Time), ("startTime", Time), ("stopTime", Time)],
    ),
    ("TARGET_INFO_SESSION_START_TIME", &[("utcEpochNs", Time), ("utcTime", Text)]),
    ("TARGET_INFO_SYSTEM_ENV", FACTS),
    ("META_DATA_EXPORT", FACTS),
    ("META_DATA_CAPTURE", FACTS),
    ("EXPORT_META_DATA", FACTS),
    (
        "TARGET_INFO_GPU",
        &[
            ("vmId", Thread),
            ("id", Small),
            ("deviceId", Small),
            ("cuDevice", Small),
            ("smCount", Small),
            ("totalMemory", Small),
            ("memoryBandwidth", Small),
            ("l2CacheSize", Small),
            ("clockRate", Small),
            ("maxWarpsPerSm", Small),
            ("computeMajor", Small),
            ("computeMinor", Small),
            ("name", Text),
            ("uuid", Text),
            ("busLocation", Text),
        ],
    ),
    ("TARGET_INFO_CUDA_DEVICE", &[("gpuId", Small), ("cudaId", Small), ("pid", Small)]),
    (
        "TARGET_INFO_CUDA_CONTEXT_INFO",
        &[
            ("nullStreamId", Small),
            ("hwId", Small),
            ("vmId", Small),
            ("processId", Small),
            ("deviceId", Small),
            ("contextId", Small),
        ],
    ),
    (
        "TARGET_INFO_NVTX_CUDA_STREAM",
        &[
            ("hwId", Small),
            ("vmId", Small),
            ("processId", Small),
            ("contextId", Small),
            ("streamId", Small),
            ("name", Text),
        ],
    ),
    ("NIC_METRICS", CALL),
    ("ENUM_CUPTI_SYNC_TYPE", &[("id", Small), ("name", Text), ("label", Text)]),
];

/// Keys of the lists of facts that change how a file is read.
pub const KEYS: &[&str] = &[
    "EXPORT_SCHEMA_VERSION",
    "EXPORT_PRODUCT_VERSION",
    "EXPORT_PARAM_TIME_NORMALIZE",
    "EXPORT_PARAM_TIME_SHIFT",
    "EXPORT_CONFIG_TIME_SHIFT",
    "EXPORT_PARAM_TABLES_TO_EXPORT",
    "EXPORT_PARAM_TIMES_TO_EXPORT",
    "CAPTURE_EVENT_TYPE",
    "GPU_METRICS_OPTIONS:SAMPLING_FREQUENCY",
    "NvDriverVersion",
];
