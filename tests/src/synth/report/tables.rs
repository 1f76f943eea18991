//! Which column of an export is which field of a report's records.
//!
//! Written down a second time on purpose, next to the reader's own list: a slip in one of them shows.

/// (column, field).
pub(super) type Columns = &'static [(&'static str, u32)];

/// Where a record of a table goes.
pub(super) struct Record {
    pub(super) table: &'static str,
    /// Type of the event.
    pub(super) kind: i64,
    /// Field of the payload.
    pub(super) payload: u32,
    /// Fields of the payload.
    pub(super) columns: Columns,
    /// Field of the nested message, its columns, and the kind of device work (field 7).
    pub(super) part: Option<(u32, Columns, i64)>,
}

const DEVICE_WORK: Columns = &[
    ("start", 1),
    ("end", 2),
    ("correlationId", 3),
    ("deviceId", 4),
    ("contextId", 5),
    ("streamId", 6),
    ("globalPid", 8),
    ("greenContextId", 9),
];

const CALL: Columns = &[
    ("start", 1),
    ("end", 2),
    ("correlationId", 3),
    ("eventClass", 6),
    ("nameId", 7),
    ("returnValue", 8),
    ("globalTid", 13),
    ("nestingLevel", 20),
];

const fn device_work(table: &'static str, kind: i64, part: (u32, Columns, i64)) -> Record {
    Record { table, kind, payload: 107, columns: DEVICE_WORK, part: Some(part) }
}

const fn call(table: &'static str) -> Record {
    Record { table, kind: 48, payload: 108, columns: CALL, part: None }
}

/// All tables of events.
pub(super) const RECORDS: &[Record] = &[
    device_work(
        "CUPTI_ACTIVITY_KIND_KERNEL",
        79,
        (
            101,
            &[
                ("demangledName", 1),
                ("shortName", 2),
                ("mangledName", 3),
                ("gridX", 10),
                ("gridY", 11),
                ("gridZ", 12),
                ("blockX", 13),
                ("blockY", 14),
                ("blockZ", 15),
                ("staticSharedMemory", 16),
                ("dynamicSharedMemory", 17),
                ("localMemoryPerThread", 18),
                ("localMemoryTotal", 19),
                ("gridId", 20),
                ("registersPerThread", 21),
                ("sharedMemoryExecuted", 22),
                ("cacheConfig", 23),
                ("launchType", 24),
                ("graphNodeId", 27),
                ("sharedMemoryLimitConfig", 28),
                ("graphId", 29),
                ("clusterX", 31),
                ("clusterY", 32),
                ("clusterZ", 33),
            ],
            3,
        ),
    ),
    device_work(
        "CUPTI_ACTIVITY_KIND_MEMCPY",
        80,
        (102, &[("bytes", 1), ("copyKind", 2), ("srcKind", 4), ("dstKind", 5), ("copyCount", 16)], 1),
    ),
    device_work(
        "CUPTI_ACTIVITY_KIND_MEMSET",
        80,
        (103, &[("bytes", 1), ("value", 2), ("graphNodeId", 3), ("memKind", 4)], 2),
    ),
    device_work(
        "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
        106,
        (105, &[("eventId", 1), ("syncType", 4), ("eventSyncId", 3)], 5),
    ),
    Record {
        table: "CUPTI_ACTIVITY_KIND_CUDA_EVENT",
        kind: 127,
        payload: 107,
        columns: &[
            ("timestamp", 1),
            ("correlationId", 3),
            ("deviceId", 4),
            ("contextId", 5),
            ("streamId", 6),
            ("globalPid", 8),
        ],
        part: Some((106, &[("eventId", 1), ("eventSyncId", 2)], 6)),
    },
    device_work("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", 130, (107, &[("graphId", 1), ("graphExecId", 2)], 7)),
    call("CUPTI_ACTIVITY_KIND_RUNTIME"),
    call("OSRT_API"),
    Record {
        table: "NVTX_EVENTS",
        // The type of the event is that of the range.
        kind: 59,
        payload: 102,
        columns: &[
            ("eventType", 1),
            ("start", 2),
            ("rangeId", 4),
            ("category", 5),
            ("color", 6),
            ("text", 7),
            ("globalTid", 9),
            ("end", 10),
            ("textId", 12),
            ("domainId", 13),
        ],
        part: None,
    },
    Record {
        table: "SCHED_EVENTS",
        kind: 41,
        payload: 106,
        columns: &[("start", 1), ("cpu", 3), ("isSchedIn", 4), ("threadState", 5), ("globalTid", 6)],
        part: None,
    },
    Record {
        table: "DIAGNOSTIC_EVENT",
        kind: 49,
        payload: 110,
        columns: &[("source", 2), ("severity", 3), ("text", 4), ("globalPid", 5)],
        part: None,
    },
    Record {
        table: "PROCESSES",
        kind: 27,
        payload: 113,
        columns: &[("globalPid", 2), ("name", 6)],
        part: None,
    },
];
