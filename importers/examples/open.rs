//! Opens a trace and says how long each phase took and how much memory: `open FILE [--dump]`.
#![allow(clippy::print_stdout, reason = "the result of the program")]

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use tracecard_importers::{ImportError, info, open};
use tracecard_model::{Progress, dump};

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let Some(path) = args.next() else {
        eprintln!("usage: open FILE [--dump]");
        return ExitCode::from(2);
    };
    let is_dump = args.next().as_deref() == Some("--dump");
    match run(Path::new(&path), is_dump) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(3)
        }
    }
}

fn run(path: &Path, is_dump: bool) -> Result<(), ImportError> {
    let start = Instant::now();
    let info = info(path)?;
    let info_time = start.elapsed();

    let progress = Arc::new(Progress::new());
    let is_done = Arc::new(AtomicBool::new(false));
    let watcher = {
        let (progress, is_done) = (Arc::clone(&progress), Arc::clone(&is_done));
        thread::spawn(move || watch(&progress, &is_done))
    };
    let start = Instant::now();
    let trace = open(path, &progress);
    let open_time = start.elapsed();
    is_done.store(true, Relaxed);
    let phases = watcher.join().unwrap_or_default();
    let trace = trace?;

    if is_dump {
        print!("{}", dump(&trace));
        return Ok(());
    }
    println!(
        "{}, {}, {:.1} MB",
        info.title,
        info.tool.as_deref().unwrap_or("tool unknown"),
        info.size_bytes as f64 / 1e6
    );
    println!("info {info_time:.1?}");
    for (phase, time) in phases {
        println!("{phase}: {time:.1?}");
    }
    let n_rows = trace.slices.len() + trace.counters.len() + trace.marks.len() + trace.memory_events.len();
    let rate = n_rows as f64 / open_time.as_secs_f64();
    println!(
        "open {open_time:.2?}: {} slices, {n_rows} rows in all, {:.2} M rows/s, {:.0} MB/s on disk",
        trace.slices.len(),
        rate / 1e6,
        info.size_bytes as f64 / 1e6 / open_time.as_secs_f64()
    );
    for issue in &trace.issues {
        println!("{} {} ×{} {:?}", issue.severity.text(), issue.code, issue.count, issue.example);
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    if let Some(peak) = status.lines().find_map(|line| line.strip_prefix("VmHWM:")) {
        println!("peak memory {}", peak.trim());
    }
    Ok(())
}

/// How long each phase of the progress was seen, to the millisecond.
fn watch(progress: &Progress, is_done: &AtomicBool) -> Vec<(&'static str, Duration)> {
    let mut phases: Vec<(&'static str, Duration)> = Vec::new();
    let mut before = Instant::now();
    while !is_done.load(Relaxed) {
        thread::sleep(Duration::from_millis(1));
        let (now, phase) = (Instant::now(), progress.state().0);
        match phases.last_mut().filter(|last| last.0 == phase) {
            Some(last) => last.1 += now - before,
            None => phases.push((phase, now - before)),
        }
        before = now;
    }
    phases
}
