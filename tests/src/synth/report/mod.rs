//! Writes an export as the report it could have come from: the same run in both formats.
//!
//! Tables about memory usage are left out: no report with such records and an export of it was found.

mod encode;
mod tables;

use std::fs::File;
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::Path;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};

use super::SynthError;
use encode::{Message, block, with_length};
use tables::{RECORDS, Record};

/// Blocks of real reports unpack to about this.
const BLOCK_BYTES: usize = 170_000;

const VERSION: &str = "2026.1.1.204-261137176666v0";

/// Write the report to `path`. Cost O(rows of the export).
///
/// # Errors
/// When the export cannot be read or the report not be written.
pub fn report_from_export(export: &Path, path: &Path) -> Result<(), SynthError> {
    let conn = Connection::open_with_flags(export, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let mut events = Events::new(tempfile::tempfile()?);
    for record in RECORDS {
        events.table(&conn, record)?;
    }
    let metrics = events.metrics(&conn)?;
    events.flush()?;
    let strings = strings(&conn, &metrics)?;
    let threads = threads(&conn)?;

    let mut data = b"QDTEXT00".to_vec();
    with_length(&session(&conn)?.0, &mut data);
    let mut layout = Message::default()
        .int(1, events.n_events)
        .int(3, strings.len() as i64)
        .int(5, threads.len() as i64)
        .bytes(9, b"lz4")
        .int(15, events.n_generic);
    let n_strings = strings.len() - metrics.iter().map(|kind| kind.names.len()).sum::<usize>();
    let mut name_id = n_strings as i64;
    for kind in &metrics {
        let mut described = Message::default().int(1, kind.id);
        for (idx, _) in kind.names.iter().enumerate() {
            let field = Message::default().int(1, name_id).int(2, 8 * idx as i64).int(3, 8);
            described.push_bytes(3, &field.0);
            name_id += 1;
        }
        layout.push_bytes(14, &described.0);
    }
    with_length(&layout.0, &mut data);

    let header = format!("NVIDIA Tegra Profiler Report {}.", VERSION.replace('.', "@"));
    let mut out = BufWriter::with_capacity(1 << 20, File::create(path)?);
    out.write_all(header.as_bytes())?;
    let data_at = header.len() as u64;
    out.write_all(&data)?;
    let n_event_bytes = events.copy_to(&mut out)?;
    let strings_at = data.len() as u64 + n_event_bytes;
    let mut tail = Vec::new();
    let texts = strings.iter().fold(Message::default(), |message, text| message.bytes(1, text));
    block(&texts.0, &mut tail);
    if !threads.is_empty() {
        let names = threads.iter().fold(Message::default(), |message, thread| message.message(1, thread));
        with_length(&names.0, &mut tail);
    }
    with_length(&machine(&conn)?.0, &mut tail);
    out.write_all(&tail)?;
    let data_bytes = strings_at + tail.len() as u64;

    let offsets = Message::default().bytes(1, b"lz4").int(2, strings_at as i64 - 8).int(3, 0);
    let ui = Message::default().bytes(6, VERSION.as_bytes()).bytes(7, VERSION.as_bytes());
    let mut toc = Message::default();
    let mut at = data_at;
    let mut section = |name: &str, n_bytes: u64| {
        let entry = Message::default().bytes(1, name.as_bytes()).int(2, at as i64).int(3, n_bytes as i64);
        toc.push_bytes(1, &entry.0);
        at += n_bytes;
    };
    section("Raw Sampling Data", data_bytes);
    section("Sampling Data Offsets", offsets.0.len() as u64);
    section("UI Data", ui.0.len() as u64);
    out.write_all(&offsets.0)?;
    out.write_all(&ui.0)?;
    out.write_all(&toc.0)?;
    out.write_all(&at.to_le_bytes())?;
    out.write_all(b"U3w[END]")?;
    out.flush()?;
    Ok(())
}

/// A type of GPU metric samples.
struct MetricKind {
    id: i64,
    names: Vec<String>,
}

/// Blocks of events on their way to a temporary file.
struct Events {
    file: BufWriter<File>,
    block: Message,
    n_events: i64,
    n_generic: i64,
}

impl Events {
    fn new(file: File) -> Self {
        let file = BufWriter::with_capacity(1 << 20, file);
        Self { file, block: Message::default(), n_events: 0, n_generic: 0 }
    }

    fn push(&mut self, field: u32, event: &Message) -> Result<(), SynthError> {
        self.block.push_bytes(field, &event.0);
        if BLOCK_BYTES < self.block.0.len() { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), SynthError> {
        if !self.block.0.is_empty() {
            let mut packed = Vec::new();
            block(&self.block.0, &mut packed);
            self.file.write_all(&packed)?;
            self.block.0.clear();
        }
        Ok(())
    }

    fn copy_to(self, out: &mut impl Write) -> Result<u64, SynthError> {
        let mut file = self.file.into_inner().map_err(std::io::IntoInnerError::into_error)?;
        file.seek(SeekFrom::Start(0))?;
        Ok(std::io::copy(&mut file, out)?)
    }

    fn table(&mut self, conn: &Connection, record: &Record) -> Result<(), SynthError> {
        let own = record.part.map(|part| part.1).unwrap_or_default();
        let names: Vec<&str> = record.columns.iter().chain(own).map(|(name, _)| *name).collect();
        each_row(conn, record.table, &names, |row| {
            let fill = |message: &mut Message, columns: &[(&str, u32)], from: usize| {
                for (idx, (_, field)) in columns.iter().enumerate() {
                    match row.get(from + idx) {
                        Some(ValueRef::Integer(value)) => message.push_int(*field, *value),
                        Some(ValueRef::Text(text)) => message.push_bytes(*field, text),
                        _ => {}
                    }
                }
            };
            let mut payload = Message::default();
            fill(&mut payload, record.columns, 0);
            if let Some((field, columns, kind)) = record.part {
                payload.push_int(7, kind);
                let mut part = Message::default();
                fill(&mut part, columns, record.columns.len());
                payload.push_bytes(field, &part.0);
            }
            let kind = match (record.payload, row.first()) {
                (102, Some(ValueRef::Integer(kind))) => *kind,
                _ => record.kind,
            };
            self.n_events += 1;
            self.push(1, &Message::default().int(1, kind).message(record.payload, &payload))
        })
    }

    /// GPU metrics: rows of one time and type become one sample.
    fn metrics(&mut self, conn: &Connection) -> Result<Vec<MetricKind>, SynthError> {
        let mut kinds: Vec<MetricKind> = Vec::new();
        each_row(conn, "TARGET_INFO_GPU_METRICS", &["typeId", "metricName"], |row| {
            if let [ValueRef::Integer(id), ValueRef::Text(name)] = row {
                let name = String::from_utf8_lossy(name).into_owned();
                match kinds.iter_mut().find(|kind| kind.id == *id) {
                    Some(kind) => kind.names.push(name),
                    None => kinds.push(MetricKind { id: *id, names: vec![name] }),
                }
            }
            Ok(())
        })?;
        let mut sample: Option<(i64, i64, Vec<u8>)> = None;
        each_row(conn, "GPU_METRICS", &["timestamp", "typeId", "metricId", "value"], |row| {
            let [
                ValueRef::Integer(time),
                ValueRef::Integer(kind),
                ValueRef::Integer(metric),
                ValueRef::Integer(value),
            ] = row
            else {
                return Ok(());
            };
            if sample.as_ref().is_none_or(|sample| (sample.0, sample.1) != (*time, *kind)) {
                self.sample(sample.take())?;
                let n = kinds.iter().find(|have| have.id == *kind).map_or(0, |kind| kind.names.len());
                sample = Some((*time, *kind, vec![0; 8 * n]));
            }
            let at = 8 * *metric as usize;
            if let Some(place) = sample.as_mut().and_then(|sample| sample.2.get_mut(at..at + 8)) {
                place.copy_from_slice(&value.to_le_bytes());
            }
            Ok(())
        })?;
        self.sample(sample)?;
        Ok(kinds)
    }

    fn sample(&mut self, sample: Option<(i64, i64, Vec<u8>)>) -> Result<(), SynthError> {
        let Some((time, kind, values)) = sample else { return Ok(()) };
        self.n_generic += 1;
        self.push(2, &Message::default().int(1, kind).int(2, time).bytes(3, &values))
    }
}

/// Call `each` with the wanted columns of every row; missing tables have none, missing columns are null.
fn each_row(
    conn: &Connection,
    table: &str,
    columns: &[&str],
    mut each: impl FnMut(&[ValueRef<'_>]) -> Result<(), SynthError>,
) -> Result<(), SynthError> {
    let have: Vec<String> = conn
        .prepare("SELECT name FROM pragma_table_info(?1)")?
        .query_map([table], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    if have.is_empty() {
        return Ok(());
    }
    let wanted = columns.iter().map(|column| {
        if have.iter().any(|have| have == column) { format!("\"{column}\"") } else { "NULL".to_owned() }
    });
    let sql = format!("SELECT {} FROM {table} ORDER BY rowid", wanted.collect::<Vec<_>>().join(", "));
    let mut statement = conn.prepare(&sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let cells: Vec<ValueRef<'_>> =
            (0..columns.len()).map(|idx| row.get_ref(idx)).collect::<Result<_, _>>()?;
        each(&cells)?;
    }
    Ok(())
}

/// All texts by number, gaps filled with nothing, then the names of the metrics.
fn strings(conn: &Connection, metrics: &[MetricKind]) -> Result<Vec<Vec<u8>>, SynthError> {
    let mut strings: Vec<Vec<u8>> = Vec::new();
    each_row(conn, "StringIds", &["id", "value"], |row| {
        if let [ValueRef::Integer(id), ValueRef::Text(text)] = row {
            let id = *id as usize;
            strings.resize(strings.len().max(id + 1), Vec::new());
            strings[id] = text.to_vec();
        }
        Ok(())
    })?;
    strings.extend(metrics.iter().flat_map(|kind| &kind.names).map(|name| name.as_bytes().to_vec()));
    Ok(strings)
}

fn threads(conn: &Connection) -> Result<Vec<Message>, SynthError> {
    messages(conn, "ThreadNames", &[("nameId", 2), ("priority", 3), ("globalTid", 4)])
}

/// The rows of a table as messages.
fn messages(conn: &Connection, table: &str, columns: &[(&str, u32)]) -> Result<Vec<Message>, SynthError> {
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    let mut messages = Vec::new();
    each_row(conn, table, &names, |row| {
        let mut message = Message::default();
        for ((_, field), cell) in columns.iter().zip(row) {
            match cell {
                ValueRef::Integer(value) => message.push_int(*field, *value),
                ValueRef::Text(text) => message.push_bytes(*field, text),
                _ => {}
            }
        }
        messages.push(message);
        Ok(())
    })?;
    Ok(messages)
}

/// The session: machine, start and stop, and how its clock lies to UTC.
fn session(conn: &Connection) -> Result<Message, SynthError> {
    let (mut vm, mut start, mut stop, mut utc_ns) = (0, 0, 0, None);
    each_row(conn, "ANALYSIS_DETAILS", &["globalVid", "startTime", "stopTime"], |row| {
        if let [ValueRef::Integer(v), ValueRef::Integer(from), ValueRef::Integer(to)] = row {
            (vm, start, stop) = (*v, *from, *to);
        }
        Ok(())
    })?;
    each_row(conn, "TARGET_INFO_SESSION_START_TIME", &["utcEpochNs"], |row| {
        if let [ValueRef::Integer(ns)] = row {
            utc_ns = Some(*ns);
        }
        Ok(())
    })?;
    let mut session = Message::default().message(1, &Message::default().int(3, vm));
    if let Some(utc_ns) = utc_ns {
        // Clock 1 is that of the session, 9 is UTC; to = from − offset.
        let offset = (start as u64).wrapping_sub(utc_ns as u64).to_string();
        let entry = Message::default().int(1, 1).int(2, 9).bytes(5, offset.as_bytes()).bytes(6, b"Offset");
        session.push_bytes(16, &Message::default().message(1, &entry).0);
    }
    Ok(session.int(17, start).int(18, stop))
}

/// GPUs, devices and contexts.
fn machine(conn: &Connection) -> Result<Message, SynthError> {
    const GPU: &[(&str, u32)] = &[
        ("id", 1),
        ("name", 2),
        ("busLocation", 3),
        ("uuid", 5),
        ("l2CacheSize", 10),
        ("totalMemory", 11),
        ("memoryBandwidth", 12),
        ("clockRate", 13),
        ("smCount", 14),
        ("cuDevice", 15),
        ("maxShmemPerBlockOptin", 27),
        ("maxShmemPerSm", 28),
        ("maxRegistersPerSm", 29),
        ("maxWarpsPerSm", 32),
        ("maxBlocksPerSm", 33),
        ("computeMajor", 41),
        ("computeMinor", 42),
    ];
    const CONTEXT: &[(&str, u32)] =
        &[("nullStreamId", 1), ("hwId", 2), ("vmId", 3), ("processId", 4), ("deviceId", 5), ("contextId", 6)];
    let mut vm = Message::default();
    for gpu in messages(conn, "TARGET_INFO_GPU", GPU)? {
        vm.push_bytes(7, &gpu.0);
    }
    for device in messages(conn, "TARGET_INFO_CUDA_DEVICE", &[("gpuId", 1), ("cudaId", 2), ("pid", 3)])? {
        vm.push_bytes(9, &device.0);
    }
    let vm = Message::default().int(1, 1 << 48).message(2, &vm);
    let mut machine = Message::default().message(1, &vm);
    for context in messages(conn, "TARGET_INFO_CUDA_CONTEXT_INFO", CONTEXT)? {
        machine.push_bytes(14, &context.0);
    }
    Ok(machine)
}
