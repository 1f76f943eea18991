//! Recognises chrome traces, and other JSON that is often taken for one, from the first bytes.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use memchr::memmem;

use super::fragment::Fragment;
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
fn looks_like_trace(head: &[u8]) -> bool {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    let has = |key: &[u8]| memmem::find(head, key).is_some();
    let has_events = has(b"\"ph\"") && (has(b"\"ts\"") || has(b"\"pid\"") || has(b"\"name\""));
    match head.first() {
        // Long lists of facts may stand before the events.
        Some(b'{') => {
            has_events || has(b"\"traceEvents\"") || has(b"\"schemaVersion\"") && has(b"\"deviceProperties\"")
        }
        Some(b'[' | b'"' | b',') => has_events,
        _ => false,
    }
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
    if has(b"\"SchemaVersion\"") || has(b"\"TraceProcessEvent\"") || has(b"\"CudaEvent\"") {
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
        return Some("this is a list of lists (a memory timeline?), not a trace of events");
    }
    None
}

/// What the first bytes say; the number of events is estimated from their density.
pub(super) fn info(input: &Input) -> Result<Info, ImportError> {
    if let Some(reason) = known_other(input.head()) {
        return Err(input.unreadable(reason));
    }
    let mut fragment = Fragment::new();
    let stretch = Stretch { text: input.head(), offset: 0, is_last: false };
    let walked = walk(stretch, Place::Start, &mut fragment, Backslashes::Escape);
    let found = &fragment.found;
    let members = Members::new(found, &mut fragment.builder.issues);
    let is_whole = walked.place == Place::End;
    let n_rows = if is_whole {
        Some(found.n_events)
    } else {
        unpacked_bytes(input).and_then(|bytes| estimate(found.n_events, walked.consumed, bytes))
    };
    let events = TableInfo { name: "traceEvents".to_owned(), n_rows, is_estimate: !is_whole };
    let devices = members.devices.iter().filter_map(|device| device.name.clone()).collect();
    let mut properties = members.properties;
    let packing = match input.compression() {
        Compression::Plain => None,
        Compression::Gzip => Some("gzip"),
        Compression::Zstd => Some("zstd"),
    };
    properties.extend(packing.map(|packing| ("compression".to_owned(), packing.to_owned())));
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

/// Size of the unpacked file, as far as it can be known without unpacking: gzip ends with it, modulo 4 GiB.
fn unpacked_bytes(input: &Input) -> Option<u64> {
    match input.compression() {
        Compression::Plain => Some(input.size_bytes()),
        Compression::Gzip => {
            let mut file = File::open(input.path()).ok()?;
            let mut size = [0; 4];
            file.seek(SeekFrom::End(-4)).ok()?;
            file.read_exact(&mut size).ok()?;
            // Traces shrink 5 to 20 times; what seems to shrink less has passed 4 GiB.
            Some(u64::from(u32::from_le_bytes(size))).filter(|size| input.size_bytes() <= *size)
        }
        Compression::Zstd => None,
    }
}

fn estimate(n_events: u64, seen_bytes: usize, all_bytes: u64) -> Option<u64> {
    // Fewer say nothing about the rest.
    const ENOUGH: u64 = 20;
    (ENOUGH <= n_events && 0 < seen_bytes)
        .then(|| (n_events as f64 * all_bytes as f64 / seen_bytes as f64) as u64)
}
