//! The order of reading: container, texts, the machine, events on all cores, what needs all of them.

use std::fs::File;

use tracecard_model::{Cancelled, Progress, TraceBuilder};

use super::container::{Container, read_into, unknown_layout};
use super::events::{DIAGNOSTIC_COLUMNS, Decoded, LaterRow, PROCESS_COLUMNS};
use super::fields::Mappings;
use super::message::Damaged;
use super::report::Report;
use super::stream::{Block, Stream, Wanted};
use super::unread::Unread;
use super::version::Version;
use crate::in_order::in_order;
use crate::nsys_tables::{
    CallChains, Cells, Found, Fragment, Known, MetaData, PayloadSchemas, Record, Spare, Target, finish,
    note_diagnostics, note_missing_device_work, read_metrics,
};
use crate::unpack::limit_bytes;
use crate::{ImportError, Input};

/// Unpacked bytes in one part: enough that a fragment's own cost is small. It must not depend on the number of
/// workers.
const BYTES_A_PART: u64 = 1 << 20;

/// Rows in one part of the second pass.
const LATER_ROWS_A_PART: usize = 1 << 16;

/// Why a worker stopped.
enum Failure {
    Cancelled(Cancelled),
    Import(ImportError),
}

pub(super) fn read(input: &Input, into: &mut TraceBuilder, progress: &Progress) -> Result<(), ImportError> {
    let mut file = open(input)?;
    let container = Container::open(input, &mut file)?;
    let stream = Stream::open(input, &container, &file, Wanted::All(progress))?;
    let unknown = |what: &str| unknown_layout(input, container.version.as_deref(), what);
    check_size(input, &stream)?;

    let strings = super::strings::read(input, &mut file, &stream, &unknown)?;
    let read_report = Report::read(&stream, &container.clocks, &strings);
    let mut report =
        read_report.map_err(|Damaged| unknown("its description of the machine cannot be read"))?;
    check_count(&unknown, "thread names", stream.layout.n_threads, report.n_rows("ThreadNames") as u64)?;

    let version = container.version.as_deref().and_then(Version::parse);
    Version::note_issues(version, container.version.as_deref(), &mut into.issues);
    let target = Target::read(&report, &mut into.issues);
    let meta = MetaData::read(&report, &mut into.issues);
    into.meta.tool = container.version.as_ref().map(|version| format!("nsys {version} (report)"));
    into.meta.has_return_values = true;
    into.meta.start_unix_ns = target.start_unix_ns;
    into.meta.properties = meta.properties;
    if !target.gpu_names.is_empty() {
        into.meta.properties.push(("GPUs in the machine".to_owned(), target.gpu_names.join(", ")));
    }
    let mut known = Known {
        call_chains: CallChains::default(),
        shift_ns: 0,
        metrics: read_metrics(&report, &mut into.issues),
        payloads: PayloadSchemas::default(),
        strings,
        before: Found::default(),
        target,
    };

    let mut events = Events::default();
    read_events(input, &stream, &known, &report, into, &mut events, progress)?;
    check_count(&unknown, "events", stream.layout.n_events, events.n_events)?;
    check_count(&unknown, "generic events", stream.layout.n_generic_events, events.n_generic_events)?;
    let mut found = events.found;
    found.sort();
    known.before = found;
    let mut later = Found::default();
    read_later(&known, &events.later, into, &mut later, progress)?;
    drop(std::mem::take(&mut events.later));
    let mut found = std::mem::take(&mut known.before);
    found.absorb(later, 0);

    events.processes.into_iter().for_each(|row| report.push("PROCESSES", PROCESS_COLUMNS, row));
    events.diagnostics.into_iter().for_each(|row| report.push("DIAGNOSTIC_EVENT", DIAGNOSTIC_COLUMNS, row));
    known.target.read_processes(&report, &mut into.issues);
    note_diagnostics(&report, &mut into.issues);
    events.unread.note(&mut into.issues);
    note_missing_device_work(|table| events.tables.contains(table), into);
    finish(&known, found, into, progress)?;
    Ok(())
}

/// Open a report that is not packed: its parts are found by their places.
pub(super) fn open(input: &Input) -> Result<File, ImportError> {
    if let Some(packing) = input.compression().name() {
        return Err(input.unreadable(format!(
            "this is an Nsight Systems report packed with {packing}; its parts are read from all over the file, so \
             unpack it first"
        )));
    }
    File::open(input.path()).map_err(|source| input.io_error(source))
}

/// What all events together told.
#[derive(Default)]
struct Events {
    found: Found,
    later: Vec<LaterRow>,
    processes: Vec<Vec<super::report::Cell>>,
    diagnostics: Vec<Vec<super::report::Cell>>,
    unread: Unread,
    n_events: u64,
    n_generic_events: u64,
    tables: std::collections::BTreeSet<&'static str>,
}

/// Read all blocks of events into the builder.
fn read_events(
    input: &Input,
    stream: &Stream,
    known: &Known,
    report: &Report,
    into: &mut TraceBuilder,
    events: &mut Events,
    progress: &Progress,
) -> Result<(), ImportError> {
    let parts = parts(&stream.events);
    progress.begin("Reading events", stream.events.iter().map(|block| block.packed_bytes).sum())?;
    // Rows are told apart by their places in all unpacked blocks together.
    let first_rows: Vec<u64> = stream
        .events
        .iter()
        .scan(0, |sum: &mut u64, block| {
            Some(std::mem::replace(sum, sum.saturating_add(block.unpacked_bytes)))
        })
        .collect();
    let mappings = Mappings::new();
    let spare = Spare::default();
    let work = |(file, buffers): &mut (std::io::Result<File>, Buffers), idx: usize| {
        let part: &std::ops::Range<usize> = &parts[idx];
        let mut decoded = Decoded::new(known, spare.take());
        for (block_idx, block) in (part.start..).zip(&stream.events[part.clone()]) {
            let file = file.as_mut().map_err(|error| {
                Failure::Import(input.io_error(std::io::Error::new(error.kind(), error.to_string())))
            })?;
            let damaged = |what: &str| {
                Failure::Import(input.unreadable(format!(
                    "the report is damaged: its block {} of events {what}; make the report or the copy again",
                    block_idx + 1
                )))
            };
            let bytes = unpack(input, file, block, buffers).map_err(Failure::Import)?;
            let bytes = bytes.ok_or_else(|| damaged("cannot be unpacked"))?;
            let first_row = first_rows[block_idx] as i64;
            let result = decoded.block(bytes, first_row, &mappings, &report.metric_layouts);
            result.map_err(|Damaged| damaged("cannot be read"))?;
            progress.advance(block.packed_bytes).map_err(Failure::Cancelled)?;
        }
        Ok(decoded)
    };
    let result = in_order(
        parts.len(),
        || (File::open(input.path()), Buffers::default()),
        work,
        |decoded| {
            events.later.extend(decoded.later);
            events.processes.extend(decoded.processes);
            events.diagnostics.extend(decoded.diagnostics);
            events.unread.absorb(decoded.unread);
            events.n_events += decoded.n_events;
            events.n_generic_events += decoded.n_generic_events;
            events.tables.extend(decoded.tables);
            spare.absorb(decoded.fragment, into, &mut events.found);
        },
    );
    result.map_err(|failure| match failure {
        Failure::Cancelled(cancelled) => ImportError::Cancelled(cancelled),
        Failure::Import(error) => error,
    })
}

/// Read the rows that had to wait.
fn read_later(
    known: &Known,
    rows: &[LaterRow],
    into: &mut TraceBuilder,
    found: &mut Found,
    progress: &Progress,
) -> Result<(), ImportError> {
    let parts: Vec<&[LaterRow]> = rows.chunks(LATER_ROWS_A_PART).collect();
    let spare = Spare::default();
    let work = |_: &mut (), idx: usize| {
        progress.check()?;
        let mut fragment = Fragment::new(known, spare.take());
        for row in parts[idx] {
            let record = Record { row_id: row.row_id, values: &row.values(), frames: &[] };
            fragment.read(row.reader, &Cells::of_record(record));
        }
        Ok::<_, Cancelled>(fragment)
    };
    in_order(parts.len(), || (), work, |fragment| spare.absorb(fragment, into, found))?;
    Ok(())
}

/// Ranges of blocks that are read together.
fn parts(blocks: &[Block]) -> Vec<std::ops::Range<usize>> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut n_bytes = 0;
    for (idx, block) in blocks.iter().enumerate() {
        n_bytes += block.unpacked_bytes;
        if BYTES_A_PART <= n_bytes || idx + 1 == blocks.len() {
            parts.push(start..idx + 1);
            (start, n_bytes) = (idx + 1, 0);
        }
    }
    parts
}

/// Memory for blocks, used again and again.
#[derive(Default)]
pub(super) struct Buffers {
    packed: Vec<u8>,
    unpacked: Vec<u8>,
}

/// The bytes of a block; `None` when they do not unpack to what the block claims.
pub(super) fn unpack<'b>(
    input: &Input,
    file: &mut File,
    block: &Block,
    buffers: &'b mut Buffers,
) -> Result<Option<&'b [u8]>, ImportError> {
    let Buffers { packed, unpacked } = buffers;
    read_into(input, file, block.offset, block.packed_bytes, packed)?;
    let Ok(n_bytes) = usize::try_from(block.unpacked_bytes) else { return Ok(None) };
    unpacked.resize(n_bytes, 0);
    let n_unpacked = lz4_flex::block::decompress_into(packed, unpacked);
    Ok(n_unpacked.is_ok_and(|n| n == n_bytes).then_some(unpacked))
}

/// A file must not unpack to more than a small file can hold.
fn check_size(input: &Input, stream: &Stream) -> Result<(), ImportError> {
    let unpacked_bytes = stream
        .events
        .iter()
        .chain([&stream.strings])
        .fold(0, |sum: u64, block| sum.saturating_add(block.unpacked_bytes));
    let limit_bytes = limit_bytes(input.size_bytes());
    if limit_bytes < unpacked_bytes {
        return Err(input.unpacks_to_too_much(limit_bytes));
    }
    Ok(())
}

fn check_count(
    unknown: &dyn Fn(&str) -> ImportError,
    what: &str,
    counted: u64,
    found: u64,
) -> Result<(), ImportError> {
    if counted == found {
        return Ok(());
    }
    Err(unknown(&format!("it counts {counted} {what} and holds {found}")))
}
