//! Recognises chrome traces, and other JSON that is often taken for one, from the first bytes.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use memchr::memmem;

use super::fragment::Fragment;
use super::lenient;
use super::members::Members;
use super::string::Backslashes;
use super::walk::{Place, Stretch, walk};
use super::{IMPORTER, version};
use crate::{Compression, ImportError, Info, Input, TableInfo};

/// Is this a trace, or other JSON that deserves a message of its own?
pub(super) fn sniff(input: &Input) -> bool {
    looks_like_trace(input.head()) || known_other(input.head()).is_some()
}

/// JSON, or a cut-out piece of it, with keys of a trace.
pub(super) fn looks_like_trace(head: &[u8]) -> bool {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    let has = |key: &[u8]| memmem::find(head, key).is_some();
    let has_events = has(b"\"ph\"") && (has(b"\"ts\"") || has(b"\"pid\"") || has(b"\"name\""));
    match head.first() {
        // Long lists of facts may stand before the events.
        Some(b'{') => {
            has_events
                || has(b"\"traceEvents\"")
                || has(b"\"schemaVersion\"") && (has(b"\"deviceProperties\"") || is_beginning(head))
        }
        Some(b'[' | b'"' | b',') => has_events,
        // A page may show such events without being a trace.
        None | Some(b'<') => false,
        // Lines of a log before the trace.
        _ => {
            let has_trace = has_events && has(b"\"ts\"") || has(b"\"traceEvents\"");
            has_trace && lenient::trace_after_lines(head, 0).is_some()
        }
    }
}

/// The first lines of an object that goes on: a recording of which hardly anything is written yet.
fn is_beginning(head: &[u8]) -> bool {
    const FEW_BYTES: usize = 256;
    head.len() < FEW_BYTES && !head.trim_ascii_end().ends_with(b"}")
}

/// Why this JSON cannot be read, where it is a known other kind.
pub(super) fn known_other(head: &[u8]) -> Option<&'static str> {
    let head = head.trim_ascii_start();
    if !matches!(head.first(), Some(b'{' | b'[')) || looks_like_trace(head) {
        return None;
    }
    let has = |key: &[u8]| memmem::find(head, key).is_some();
    if has(b"\"segments\"") && has(b"\"device_traces\"")
        || has(b"\"allocated_size\"") && has(b"\"total_size\"")
    {
        return Some(
            "this is a PyTorch memory snapshot, not a trace of time; open it at pytorch.org/memory_viz",
        );
    }
    let begins = |with: &[u8]| head.starts_with(with);
    if has(b"\"SchemaVersion\"")
        || has(b"\"TraceProcessEvent\"")
        || has(b"\"CudaEvent\"")
        || begins(b"{\"data\":[")
        || begins(b"{\"type\":\"String\",\"id\":")
    {
        return Some(
            "this is the JSON export of Nsight Systems, which leaves much out; export the report again with: \
             nsys export --type sqlite --output report.sqlite report.nsys-rep",
        );
    }
    if has(b"speedscope.app/file-format-schema") {
        return Some("this is a speedscope profile; Tracecard reads traces of devices, not sampled stacks");
    }
    let is_list_of_lists =
        head.strip_prefix(b"[").is_some_and(|rest| rest.trim_ascii_start().starts_with(b"["));
    if is_list_of_lists {
        return Some(
            "this is a list of lists (PyTorch's export_memory_timeline writes such), not a trace of events; \
             export a PyTorch profile with prof.export_chrome_trace(\"trace.json\")",
        );
    }
    None
}

/// How much `info` reads: a hundredth of a second's work, also unpacked.
const INFO_BYTES: u64 = 4 << 20;

/// What the first bytes say; the number of events is estimated from their density.
pub(super) fn info(input: &Input) -> Result<Info, ImportError> {
    if let Some(reason) = known_other(input.head()) {
        return Err(input.unreadable(reason));
    }
    let mut fragment = Fragment::new();
    // Facts may fill the head, and the first events are not like the rest. What comes before damage counts.
    let mut text = Vec::new();
    let is_read = input.reader()?.take(INFO_BYTES).read_to_end(&mut text).is_ok();
    let is_last = is_read && (text.len() as u64) < INFO_BYTES;
    let stretch = Stretch { text: &text, offset: 0, is_last };
    let walked = walk(stretch, Place::Start, &mut fragment, Backslashes::Escape);
    let found = &fragment.found;
    let members = Members::new(found, &mut fragment.builder.issues);
    let is_whole = is_last || walked.place == Place::End;
    let n_rows = if is_whole {
        Some(found.n_events)
    } else {
        input.unpacked_bytes().and_then(|bytes| estimate(found.n_events, walked.consumed, bytes))
    };
    let events = TableInfo { name: "traceEvents".to_owned(), n_rows, is_estimate: !is_whole };
    let devices = members.devices.iter().filter_map(|device| device.name.clone()).collect();
    let mut properties = members.properties;
    let packing = [("compression", input.compression().name()), ("zip_member", input.zip_member())];
    properties
        .extend(packing.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?.to_owned()))));
    let ends_well = if is_last { walked.place == Place::End } else { has_end_mark(input).unwrap_or(true) };
    let complete = match (is_read, ends_well) {
        (false, _) => Some("no: the archive is cut off or damaged"),
        (_, false) => Some("no: the end mark is missing"),
        _ => None,
    };
    properties.extend(complete.map(|complete| ("complete".to_owned(), complete.to_owned())));
    Ok(Info {
        format: IMPORTER.id,
        title: IMPORTER.title,
        tool: version::tool(&members.keys, found.signs, found.has_ns),
        size_bytes: input.size_bytes(),
        devices,
        tables: vec![events],
        properties,
    })
}

/// Does the file end with a bracket or brace? `None` where that cannot be seen without unpacking it.
fn has_end_mark(input: &Input) -> Option<bool> {
    const BLANKS_BYTES: i64 = 64;
    if input.compression() != Compression::Plain {
        return None;
    }
    let mut end = Vec::new();
    let mut file = File::open(input.path()).ok()?;
    file.seek(SeekFrom::End(-BLANKS_BYTES)).ok()?;
    file.read_to_end(&mut end).ok()?;
    Some(matches!(end.trim_ascii_end().last(), Some(b'}' | b']')))
}

fn estimate(n_events: u64, seen_bytes: usize, all_bytes: u64) -> Option<u64> {
    // Fewer say nothing about the rest.
    const ENOUGH: u64 = 20;
    (ENOUGH <= n_events && 0 < seen_bytes)
        .then(|| (n_events as f64 * all_bytes as f64 / seen_bytes as f64) as u64)
}
