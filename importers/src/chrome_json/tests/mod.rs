//! What users see of the importer: text in, the dump of the trace out.

mod archives;
mod broken;
mod kinds;
mod live;
mod packing;
mod repairs;
mod troubles;
mod writers;

use std::path::PathBuf;

use tempfile::TempDir;
use tracecard_model::{Progress, Trace, TraceBuilder, dump};

use super::pipeline::Plan;
use super::read_with;
use crate::{ImportError, Input};

const ONE_BLOCK: Plan = Plan { block_bytes: 1 << 20, n_workers: 1 };

/// A file in a folder that goes when dropped.
fn file(name: &str, bytes: &[u8]) -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    (dir, path)
}

fn open_with(bytes: &[u8], plan: Plan) -> Result<Trace, ImportError> {
    let (_dir, path) = file("trace.json", bytes);
    let input = Input::open(&path)?;
    let mut builder = TraceBuilder::new();
    read_with(&input, &mut builder, &Progress::new(), plan)?;
    Ok(builder.finish(&Progress::new())?)
}

fn open(text: &str) -> Trace {
    open_with(text.as_bytes(), ONE_BLOCK).unwrap()
}

/// The dump less the lines about the run.
fn events(trace: &Trace) -> String {
    let is_of_run = |line: &&str| line.starts_with("wall clock ") || line.starts_with("process ");
    dump(trace).lines().filter(|line| !is_of_run(line)).map(|line| format!("{line}\n")).collect()
}

/// The text is a file with this dump, wherever it is cut into blocks.
fn check(text: impl AsRef<[u8]>, expected: &str) {
    let text = text.as_ref();
    let trace = open_with(text, ONE_BLOCK).unwrap();
    assert_eq!(events(&trace), expected, "{}", String::from_utf8_lossy(text));
    for (block_bytes, n_workers) in [(1, 2), (40, 3), (150, 2), (400, 1)] {
        let trace = open_with(text, Plan { block_bytes, n_workers }).unwrap();
        assert_eq!(events(&trace), expected, "in blocks of {block_bytes}");
    }
}

/// These events are a file with this dump.
fn check_events(events: &str, expected: &str) {
    check(format!("{{\"schemaVersion\": 1, \"traceEvents\": [{events}]}}"), expected);
}

/// An operator.
fn op(name: &str, ts: &str, dur: &str) -> String {
    format!(
        r#"{{"ph": "X", "cat": "cpu_op", "name": "{name}", "pid": 9, "tid": 9, "ts": {ts}, "dur": {dur}}}"#
    )
}
