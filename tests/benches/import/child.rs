//! The process that measures one thing once and prints four numbers: seconds, slices, memory at the end and at
//! its peak in bytes.

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use tracecard_importers::{open, read};
use tracecard_model::Progress;

use crate::measure::Task;
use crate::{floor_json, floor_report, floor_sqlite};

/// The first word of the command line of a child.
pub(crate) const CHILD: &str = "--child";

/// Do what the command line asks of a child: `--child TASK FILE THREADS`; `None` when this is none.
pub(crate) fn run(words: &[String]) -> Option<ExitCode> {
    let [child, task, file, n_threads] = words else { return None };
    if child != CHILD {
        return None;
    }
    let (Some(task), Ok(n_threads)) = (Task::from_word(task), n_threads.parse()) else {
        eprintln!("no such task: {words:?}");
        return Some(ExitCode::FAILURE);
    };
    Some(match work(task, Path::new(file), n_threads) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    })
}

fn work(task: Task, file: &Path, n_threads: usize) -> Result<(), Box<dyn Error + Send + Sync>> {
    let progress = Progress::new();
    let begun = Instant::now();
    // What was read is kept until the memory is measured.
    let (mut trace, mut rows) = (None, None);
    match task {
        Task::Read => rows = Some(read(file, &progress)?),
        Task::Open => trace = Some(open(file, &progress)?),
        Task::FloorSqlite => floor_sqlite::scan(file, n_threads)?,
        Task::FloorReport => floor_report::walk(file, n_threads)?,
        Task::FloorJson => floor_json::scan(file)?,
        Task::FloorGz => floor_json::unpack(file)?,
    }
    let seconds = begun.elapsed().as_secs_f64();
    let n_slices = trace.as_ref().map_or(0, |trace| trace.slices.len());
    println!("{seconds} {n_slices} {} {}", status_bytes("VmRSS:"), status_bytes("VmHWM:"));
    drop((trace, rows));
    Ok(())
}

/// A size from Linux' account of this process; not a number where there is none.
fn status_bytes(key: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let value = status.lines().find_map(|line| line.strip_prefix(key)).unwrap_or_default();
    let kib: f64 = value.trim().trim_end_matches(" kB").parse().unwrap_or(f64::NAN);
    kib * 1024.0
}
