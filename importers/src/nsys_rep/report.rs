//! The small tables of a report: about the session, the machine, threads, processes, metrics.
//!
//! They get the names and columns that they have in exports, so that both are understood by the same code.
//! Host and user names, command lines and the environment are not taken over.

use tracecard_model::IssueLog;

use super::message::{Damaged, Value, each_field, field, nested, repeated};
use super::stream::Stream;
use crate::nsys_tables::{Cells, Record, SmallTables, Strings};
use rusqlite::types::ValueRef;

/// A cell that outlives the bytes it came from.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cell {
    Null,
    Int(i64),
    Text(String),
}

/// A table with its rows.
#[derive(Debug)]
struct Table {
    name: &'static str,
    columns: &'static [&'static str],
    rows: Vec<Vec<Cell>>,
}

/// The small tables.
#[derive(Debug, Default)]
pub(super) struct Report {
    tables: Vec<Table>,
    /// Field 3 of each type of generic events: byte offset and size of each metric, in order.
    pub(super) metric_layouts: Vec<MetricLayout>,
}

/// Metrics of one GPU: real reports have up to 60.
const MAX_METRICS: usize = 4096;

/// How samples of one type of GPU metrics are laid out.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct MetricLayout {
    /// The type of the events.
    pub(super) kind: i64,
    /// The bytes of each metric in a sample; its place in the list is its number. They do not overlap.
    pub(super) metrics: Vec<std::ops::Range<usize>>,
}

/// Numbers of the properties of the machine that are shown, with their names in exports. Others, the
/// environment (610) among them, are not read.
const SYSTEM_PROPERTIES: &[(i64, &str)] = &[
    (1, "CpuCores"),
    (13, "CpuDescription"),
    (205, "NvDriverVersion"),
    (605, "OsDescription"),
    (611, "CudaDriverVersion"),
];

/// Columns of `TARGET_INFO_GPU` and the fields they come from.
const GPU_COLUMNS: &[&str] = &[
    "id",
    "name",
    "busLocation",
    "uuid",
    "l2CacheSize",
    "totalMemory",
    "memoryBandwidth",
    "clockRate",
    "smCount",
    "cuDevice",
    "maxShmemPerBlockOptin",
    "maxShmemPerSm",
    "maxRegistersPerSm",
    "maxWarpsPerSm",
    "maxBlocksPerSm",
    "computeMajor",
    "computeMinor",
    "vmId",
];
const GPU_FIELDS: &[u32] = &[1, 2, 3, 5, 10, 11, 12, 13, 14, 15, 27, 28, 29, 32, 33, 41, 42];

/// Columns of the table of contexts and the fields they come from.
const CONTEXT_COLUMNS: &[&str] = &["nullStreamId", "hwId", "vmId", "processId", "deviceId", "contextId"];
const CONTEXT_FIELDS: &[u32] = &[1, 2, 3, 4, 5, 6];

/// Columns of the table of devices that CUDA knew of (reports of 2020 and 2021) and the fields they come from.
const CUDA_GPU_COLUMNS: &[&str] = &[
    "name",
    "globalMemoryBandwidth",
    "globalMemorySize",
    "l2CacheSize",
    "coreClockRate",
    "numMultiprocessors",
    "maxWarpsPerMultiprocessor",
    "maxBlocksPerMultiprocessor",
    "computeCapabilityMajor",
    "computeCapabilityMinor",
    "deviceId",
    "pid",
    "pciBusId",
    "maxSharedMemoryPerMultiprocessor",
    "maxRegistersPerMultiprocessor",
    "vmId",
];
const CUDA_GPU_FIELDS: &[u32] = &[1, 2, 3, 5, 7, 9, 11, 12, 22, 23, 24, 25, 26, 27, 28];

/// Columns of the table of names that programs gave to streams and the fields they come from.
const STREAM_NAME_COLUMNS: &[&str] =
    &["name", "hwId", "vmId", "processId", "deviceId", "contextId", "streamId"];
const STREAM_NAME_FIELDS: &[u32] = &[1, 2, 3, 4, 5, 6, 7];

impl Report {
    /// What the messages around the events say.
    pub(super) fn read(stream: &Stream, clocks: &[u8], strings: &Strings) -> Result<Self, Damaged> {
        let mut report = Self::default();
        report.read_session(&stream.session, clocks)?;
        report.read_machine(&stream.machine)?;
        report.read_threads(&stream.threads)?;
        report.read_metrics(&stream.layout.message, strings)?;
        Ok(report)
    }

    /// How many rows a table has.
    pub(super) fn n_rows(&self, name: &str) -> usize {
        self.tables.iter().filter(|table| table.name == name).map(|table| table.rows.len()).sum()
    }

    /// Add a row to a table.
    pub(super) fn push(&mut self, name: &'static str, columns: &'static [&'static str], row: Vec<Cell>) {
        match self.tables.iter_mut().find(|table| table.name == name) {
            Some(table) => table.rows.push(row),
            None => self.tables.push(Table { name, columns, rows: vec![row] }),
        }
    }

    fn read_session(&mut self, session: &[u8], clocks: &[u8]) -> Result<(), Damaged> {
        let utc_ns = super::clock::start_unix_ns(session, clocks).map_or(Cell::Null, Cell::Int);
        self.push("TARGET_INFO_SESSION_START_TIME", &["utcEpochNs"], vec![utc_ns]);
        let number = |wanted| field(session, wanted).map(|value| value.and_then(Value::int));
        let duration = match (number(17)?, number(18)?) {
            (Some(start), Some(stop)) => stop.checked_sub(start).map_or(Cell::Null, Cell::Int),
            _ => Cell::Null,
        };
        let target = nested(session, &[1])?;
        let vm = field(target, 3)?.and_then(Value::int).map_or(Cell::Null, Cell::Int);
        self.push("ANALYSIS_DETAILS", &["globalVid", "duration"], vec![vm, duration]);
        for property in repeated(nested(target, &[2])?, 1)? {
            let kind = field(property, 1)?.and_then(Value::int);
            let name = SYSTEM_PROPERTIES.iter().find(|(number, _)| Some(*number) == kind);
            if let (Some((_, name)), Some(value)) = (name, field(property, 2)?.and_then(Value::bytes)) {
                let row = vec![Cell::Text((*name).to_owned()), text(value)];
                self.push("TARGET_INFO_SYSTEM_ENV", &["name", "value"], row);
            }
        }
        Ok(())
    }

    fn read_machine(&mut self, machine: &[u8]) -> Result<(), Damaged> {
        for vm in repeated(machine, 1)? {
            let vm_id = field(vm, 1)?.and_then(Value::int).map_or(Cell::Null, Cell::Int);
            for gpu in repeated(nested(vm, &[2])?, 7)? {
                let mut row = cells(gpu, GPU_FIELDS)?;
                row.push(vm_id.clone());
                self.push("TARGET_INFO_GPU", GPU_COLUMNS, row);
            }
            for gpu in repeated(nested(vm, &[2])?, 1)? {
                let mut row = cells(gpu, CUDA_GPU_FIELDS)?;
                row.push(vm_id.clone());
                self.push("TARGET_INFO_CUDA_GPU", CUDA_GPU_COLUMNS, row);
            }
            for device in repeated(nested(vm, &[2])?, 9)? {
                self.push("TARGET_INFO_CUDA_DEVICE", &["gpuId", "cudaId", "pid"], cells(device, &[1, 2, 3])?);
            }
        }
        for stream in repeated(machine, 13)? {
            self.push(
                "TARGET_INFO_NVTX_CUDA_STREAM",
                STREAM_NAME_COLUMNS,
                cells(stream, STREAM_NAME_FIELDS)?,
            );
        }
        for context in repeated(machine, 14)? {
            self.push("TARGET_INFO_CUDA_CONTEXT_INFO", CONTEXT_COLUMNS, cells(context, CONTEXT_FIELDS)?);
        }
        Ok(())
    }

    fn read_threads(&mut self, threads: &[u8]) -> Result<(), Damaged> {
        for thread in repeated(threads, 1)? {
            self.push("ThreadNames", &["nameId", "globalTid"], cells(thread, &[2, 4])?);
        }
        Ok(())
    }

    fn read_metrics(&mut self, layout: &[u8], strings: &Strings) -> Result<(), Damaged> {
        for kind in repeated(layout, 14)? {
            let Some(id) = field(kind, 1)?.and_then(Value::int) else { continue };
            let mut layout = MetricLayout { kind: id, metrics: Vec::new() };
            for (number, metric) in repeated(kind, 3)?.into_iter().enumerate() {
                let mut values = [None; 4];
                each_field(metric, |number, value| {
                    if let Some(slot) = values.get_mut(number as usize) {
                        *slot = value.int();
                    }
                })?;
                let [_, name, offset, n_bytes] = values;
                let size = |value: Option<i64>| value.and_then(|value| usize::try_from(value).ok());
                let (start, n_bytes) = (size(offset).unwrap_or(0), size(n_bytes).unwrap_or(0));
                let place = start..start.saturating_add(n_bytes);
                // Metrics lie one behind the other: a sample cannot give more values than it has bytes.
                let overlaps =
                    |other: &std::ops::Range<usize>| other.start < place.end && place.start < other.end;
                if MAX_METRICS < layout.metrics.len() || layout.metrics.iter().any(overlaps) {
                    return Err(Damaged);
                }
                layout.metrics.push(place);
                let name = name.and_then(|id| strings.get(id)).map(|name| Cell::Text(name.to_owned()));
                let row = vec![Cell::Int(id), Cell::Int(number as i64), name.unwrap_or(Cell::Null)];
                self.push("TARGET_INFO_GPU_METRICS", &["typeId", "metricId", "metricName"], row);
            }
            self.metric_layouts.push(layout);
        }
        Ok(())
    }
}

impl SmallTables for Report {
    fn each_row(
        &self,
        _: &mut IssueLog,
        table: &str,
        columns: &[&str],
        each: &mut dyn FnMut(&Cells<'_>) -> bool,
    ) {
        let Some(table) = self.tables.iter().find(|have| have.name == table) else { return };
        let place = |column: &&str| table.columns.iter().position(|have| have.eq_ignore_ascii_case(column));
        let places: Vec<Option<usize>> = columns.iter().map(place).collect();
        for (idx, row) in table.rows.iter().enumerate() {
            let cell = |place: &Option<usize>| place.and_then(|place| row.get(place));
            let values: Vec<ValueRef<'_>> = places
                .iter()
                .map(|place| match cell(place) {
                    None | Some(Cell::Null) => ValueRef::Null,
                    Some(Cell::Int(value)) => ValueRef::Integer(*value),
                    Some(Cell::Text(text)) => ValueRef::Text(text.as_bytes()),
                })
                .collect();
            if !each(&Cells::of_record(Record { row_id: idx as i64, values: &values, frames: &[] })) {
                return;
            }
        }
    }
}

/// The fields of a message as cells, in this order.
fn cells(message: &[u8], fields: &[u32]) -> Result<Vec<Cell>, Damaged> {
    let mut row = vec![Cell::Null; fields.len()];
    each_field(message, |number, value| {
        if let Some(cell) = fields.iter().position(|f| *f == number).and_then(|idx| row.get_mut(idx)) {
            *cell = match value {
                Value::Int(value) => Cell::Int(value),
                Value::Bytes(bytes) => text(bytes),
                Value::Fixed64(_) | Value::Fixed32(_) => Cell::Null,
            };
        }
    })?;
    Ok(row)
}

pub(super) fn text(bytes: &[u8]) -> Cell {
    Cell::Text(String::from_utf8_lossy(bytes).into_owned())
}
