//! Which field of a record is which column of the table that exports put it into.
//!
//! An event is `{1: type, n: payload}`. Payload 107 is device work: common fields, and a nested message that
//! says what it is. Payload 108 is a call: its class says of what. The others are one table each.

use rusqlite::types::ValueRef;

use super::message::Fields;
use crate::nsys_tables::{OTHER_PAYLOADS, TableReader, first_pass, second_pass};
use crate::nsys_terms::event_class::is_marker;

/// Where a column lies in an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum At {
    /// In the payload.
    Payload(u8),
    /// In the nested message of device work.
    Part(u8),
    /// In either, whichever is there, the first one first: fields moved between versions.
    EitherPart(u8, u8),
}
use At::{EitherPart, Part, Payload};

type Columns = &'static [(&'static str, At)];

/// Payload 107.
const DEVICE_WORK: Columns = &[
    ("start", Payload(1)),
    ("end", Payload(2)),
    ("timestamp", Payload(1)),
    ("correlationId", Payload(3)),
    ("deviceId", Payload(4)),
    ("contextId", Payload(5)),
    ("streamId", Payload(6)),
    ("globalPid", Payload(8)),
    ("greenContextId", Payload(9)),
];

/// Payload 108.
const CALL: Columns = &[
    ("start", Payload(1)),
    ("end", Payload(2)),
    ("correlationId", Payload(3)),
    ("eventClass", Payload(6)),
    ("nameId", Payload(7)),
    ("returnValue", Payload(8)),
    ("overheadType", Payload(8)),
    ("endCorrelationId", Payload(10)),
    ("endNameId", Payload(12)),
    ("globalTid", Payload(13)),
    ("nestingLevel", Payload(20)),
    ("gpu", Payload(21)),
    ("contextId", Payload(26)),
];

/// Nested messages of payload 107, with their tables.
const PARTS: &[(u32, &str, Columns)] = &[
    (
        101,
        "CUPTI_ACTIVITY_KIND_KERNEL",
        &[
            ("demangledName", Part(1)),
            ("shortName", Part(2)),
            ("mangledName", Part(3)),
            ("gridX", Part(10)),
            ("gridY", Part(11)),
            ("gridZ", Part(12)),
            ("blockX", Part(13)),
            ("blockY", Part(14)),
            ("blockZ", Part(15)),
            ("staticSharedMemory", Part(16)),
            ("dynamicSharedMemory", Part(17)),
            ("localMemoryPerThread", Part(18)),
            ("localMemoryTotal", Part(19)),
            ("gridId", Part(20)),
            ("registersPerThread", Part(21)),
            ("sharedMemoryExecuted", Part(22)),
            ("cacheConfig", Part(23)),
            ("launchType", Part(24)),
            ("graphNodeId", Part(27)),
            ("sharedMemoryLimitConfig", Part(28)),
            ("graphId", Part(29)),
            ("clusterX", Part(31)),
            ("clusterY", Part(32)),
            ("clusterZ", Part(33)),
            ("clusterSchedulingPolicy", Part(34)),
            ("maxPotentialClusterSize", Part(35)),
            ("maxActiveClusters", Part(36)),
        ],
    ),
    (
        102,
        "CUPTI_ACTIVITY_KIND_MEMCPY",
        &[
            ("bytes", Part(1)),
            ("copyKind", Part(2)),
            ("srcKind", Part(4)),
            ("dstKind", Part(5)),
            ("migrationCause", Part(10)),
            ("virtualAddress", Part(12)),
            ("copyCount", Part(16)),
        ],
    ),
    (
        103,
        "CUPTI_ACTIVITY_KIND_MEMSET",
        &[("bytes", Part(1)), ("value", Part(2)), ("graphNodeId", Part(3)), ("memKind", Part(4))],
    ),
    (
        105,
        "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
        // Field 2 to 2024.6, field 4 since, with other numbers.
        &[("eventId", Part(1)), ("syncType", EitherPart(4, 2)), ("eventSyncId", Part(3))],
    ),
    (106, "CUPTI_ACTIVITY_KIND_CUDA_EVENT", &[("eventId", Part(1)), ("eventSyncId", Part(2))]),
    (107, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", &[("graphId", Part(1)), ("graphExecId", Part(2))]),
];

/// Classes of payload 108, with their tables.
const CLASSES: &[(i64, &str)] = &[
    (0, "CUPTI_ACTIVITY_KIND_RUNTIME"),
    (1, "CUPTI_ACTIVITY_KIND_RUNTIME"),
    (67, "CUPTI_ACTIVITY_KIND_RUNTIME"),
    (27, "OSRT_API"),
    (31, "OSRT_API"),
    (32, "OSRT_API"),
    (3, "PROFILER_OVERHEAD"),
    (103, "CUPTI_ACTIVITY_KIND_OVERHEAD"),
    // JIT compilation and its cache. Exports leave these out, though the program waits for them.
    (102, "CUPTI_ACTIVITY_KIND_OVERHEAD"),
    (2, "OPENGL_API"),
    (5, "OPENGL_WORKLOAD"),
    (28, "CUDNN_EVENTS"),
    (29, "CUBLAS_EVENTS"),
    (48, "CUPTI_ACTIVITY_KIND_OPENACC_OTHER"),
    (53, "VULKAN_API"),
    (54, "VULKAN_WORKLOAD"),
    (77, "CUDA_GRAPH_NODE_EVENTS"),
    (94, "CUDA_GRAPH_EVENTS"),
    (95, "CUDA_GRAPH_EVENTS"),
    (96, "CUDA_GRAPH_EVENTS"),
];

/// Payloads with a table of their own.
const PAYLOADS: &[(u32, &str, Columns)] = &[
    (
        102,
        "NVTX_EVENTS",
        &[
            ("eventType", Payload(1)),
            ("start", Payload(2)),
            ("rangeId", Payload(4)),
            ("category", Payload(5)),
            ("color", Payload(6)),
            ("text", Payload(7)),
            ("globalTid", Payload(9)),
            ("end", Payload(10)),
            ("endGlobalTid", Payload(11)),
            ("textId", Payload(12)),
            ("domainId", Payload(13)),
            (OTHER_PAYLOADS, Payload(8)),
        ],
    ),
    (
        106,
        "SCHED_EVENTS",
        &[
            ("start", Payload(1)),
            ("cpu", Payload(3)),
            ("isSchedIn", Payload(4)),
            ("threadState", Payload(5)),
            ("globalTid", Payload(6)),
        ],
    ),
    (104, "COMPOSITE_EVENTS", &[("start", Payload(1)), ("cpu", Payload(3)), ("globalTid", Payload(11))]),
];

/// Payloads with call stacks, and the fields of those.
const STACKS: &[(u32, u8)] = &[(104, 4), (108, 15)];

/// How records of one kind become rows of one table.
pub(super) struct Mapping {
    pub(super) reader: &'static TableReader,
    /// Where each column of the reader lies; `None` where records do not have it.
    columns: Vec<Option<At>>,
    #[cfg(test)]
    required: Vec<Option<At>>,
    /// The field of the call stack.
    pub(super) stack: Option<u8>,
    /// Must the rows wait until all others are read?
    pub(super) is_second_pass: bool,
}

/// What to do with a record.
pub(super) enum Meaning<'a> {
    /// A row of a table.
    Row(&'a Mapping),
    /// Exports leave it out, too.
    Ignored,
    /// Not known, or no reader for it.
    Unknown,
}

/// All mappings.
pub(super) struct Mappings {
    parts: Vec<(u32, Mapping)>,
    classes: Vec<(i64, Mapping)>,
    payloads: Vec<(u32, Mapping)>,
}

impl Mappings {
    pub(super) fn new() -> Self {
        let parts = PARTS
            .iter()
            .filter_map(|(part, table, own)| Some((*part, Mapping::new(table, &[DEVICE_WORK, own], 107)?)));
        let classes =
            CLASSES.iter().filter_map(|(class, table)| Some((*class, Mapping::new(table, &[CALL], 108)?)));
        let payloads = PAYLOADS
            .iter()
            .filter_map(|(payload, table, own)| Some((*payload, Mapping::new(table, &[own], *payload)?)));
        Self { parts: parts.collect(), classes: classes.collect(), payloads: payloads.collect() }
    }

    /// Device work with this nested message.
    pub(super) fn part(&self, part: u32) -> Meaning<'_> {
        find(&self.parts, part)
    }

    /// A call of this class.
    pub(super) fn class(&self, class: i64) -> Meaning<'_> {
        match find(&self.classes, class) {
            Meaning::Unknown if is_marker(class) => Meaning::Ignored,
            meaning => meaning,
        }
    }

    /// Any other payload.
    pub(super) fn payload(&self, payload: u32) -> Meaning<'_> {
        find(&self.payloads, payload)
    }
}

fn find<K: PartialEq + Copy>(mappings: &[(K, Mapping)], key: K) -> Meaning<'_> {
    mappings
        .iter()
        .find(|(have, _)| *have == key)
        .map_or(Meaning::Unknown, |(_, mapping)| Meaning::Row(mapping))
}

impl Mapping {
    /// `None` when no reader knows the table.
    fn new(table: &str, columns: &[Columns], payload: u32) -> Option<Self> {
        let is_it = |reader: &&TableReader| reader.table == table;
        let second = second_pass().find(is_it);
        let reader = second.or_else(|| first_pass().find(is_it))?;
        let place =
            |name: &&str| columns.iter().copied().flatten().find(|(have, _)| have == name).map(|(_, at)| *at);
        Some(Self {
            reader,
            columns: reader.columns.iter().map(place).collect(),
            #[cfg(test)]
            required: reader.required.iter().map(place).collect(),
            stack: STACKS.iter().find(|(have, _)| *have == payload).map(|(_, field)| *field),
            is_second_pass: second.is_some(),
        })
    }

    /// Lay a record out as a row.
    pub(super) fn fill<'a>(&self, payload: &Fields<'a>, part: &Fields<'a>, row: &mut Vec<ValueRef<'a>>) {
        row.clear();
        row.extend(self.columns.iter().map(|at| value(*at, payload, part)));
    }

    /// Columns without which no row can be read and which records do not have.
    #[cfg(test)]
    fn missing(&self) -> Vec<&'static str> {
        let columns = self.reader.required.iter().zip(&self.required);
        columns.filter(|(_, at)| at.is_none()).map(|(name, _)| *name).collect()
    }
}

fn value<'a>(at: Option<At>, payload: &Fields<'a>, part: &Fields<'a>) -> ValueRef<'a> {
    let of = |fields: &Fields<'a>, number: u8| match (fields.int(number), fields.bytes(number)) {
        (Some(value), _) => ValueRef::Integer(value),
        (None, Some(bytes)) => ValueRef::Text(bytes),
        (None, None) => ValueRef::Null,
    };
    match at {
        None => ValueRef::Null,
        Some(Payload(number)) => of(payload, number),
        Some(Part(number)) => of(part, number),
        Some(EitherPart(first, second)) => match of(part, first) {
            ValueRef::Null => of(part, second),
            value => value,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_have_the_columns_that_their_readers_need() {
        let mappings = Mappings::new();
        let parts = mappings.parts.iter().map(|(_, mapping)| mapping);
        let classes = mappings.classes.iter().map(|(_, mapping)| mapping);
        let payloads = mappings.payloads.iter().map(|(_, mapping)| mapping);
        for mapping in parts.chain(classes).chain(payloads) {
            assert_eq!(mapping.missing(), [""; 0], "{}", mapping.reader.table);
        }
    }
}
