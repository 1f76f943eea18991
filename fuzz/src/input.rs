//! From the bytes of libFuzzer to the file that a target opens: one function a target, shared with the
//! program that writes these files out.

use crate::{export, packing, report_events};

/// Name of a target, and what it makes of its bytes.
pub type Target = (&'static str, fn(&[u8]) -> Vec<u8>);

/// All targets.
pub const TARGETS: &[Target] = &[
    ("nsys_rep_container", container),
    ("nsys_rep_events", report_events::report),
    ("nsys_sqlite", export::export),
    ("chrome_json", chrome_json),
    ("packed", packing::packed),
];

/// As they are, behind the magic of a report.
fn container(bytes: &[u8]) -> Vec<u8> {
    const MAGIC: &[u8] = b"NVIDIA Tegra Profiler Report ";
    if bytes.starts_with(MAGIC) { bytes.to_vec() } else { [MAGIC, bytes].concat() }
}

/// As they are, made to look like a trace if they do not.
fn chrome_json(bytes: &[u8]) -> Vec<u8> {
    match bytes.first() {
        Some(b'{' | b'[') => bytes.to_vec(),
        _ => [b"{\"traceEvents\":[", bytes].concat(),
    }
}

/// The file that a target makes of its bytes; the bytes themselves for an unknown target.
pub fn make(target: &str, bytes: &[u8]) -> Vec<u8> {
    match TARGETS.iter().find(|(name, _)| *name == target) {
        Some((_, make)) => make(bytes),
        None => bytes.to_vec(),
    }
}
