//! Opens a trace and says how long each phase took and how much memory:
//! `open FILE [--dump | --cancel-after MS [PHASE]]`; with a phase (`Sorting`), the time counts from its start.
#![allow(clippy::print_stdout, reason = "the result of the program")]

use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use tracecard_importers::{ImportError, info, open};
use tracecard_model::{Progress, dump};

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let Some(path) = args.next() else {
        eprintln!("usage: open FILE [--dump | --cancel-after MS [PHASE]]");
        return ExitCode::from(2);
    };
    let mode = match (args.next().as_deref(), args.next().and_then(|ms| ms.parse().ok())) {
        (Some("--dump"), _) => Mode::Dump,
        (Some("--cancel-after"), Some(ms)) => Mode::CancelAfter(Duration::from_millis(ms)),
        _ => Mode::Measure,
    };
    let cancel_phase = args.next().unwrap_or_default();
    match run(Path::new(&path), mode, cancel_phase) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(3)
        }
    }
}

#[derive(Clone, Copy)]
enum Mode {
    Measure,
    Dump,
    CancelAfter(Duration),
}

fn run(path: &Path, mode: Mode, cancel_phase: String) -> Result<(), ImportError> {
    let start = Instant::now();
    let info = info(path)?;
    let info_time = start.elapsed();

    let progress = Arc::new(Progress::new());
    let is_done = Arc::new(AtomicBool::new(false));
    let watcher = {
        let (progress, is_done) = (Arc::clone(&progress), Arc::clone(&is_done));
        thread::spawn(move || watch(&progress, &is_done))
    };
    let cancelled = Arc::new(OnceLock::new());
    if let Mode::CancelAfter(delay) = mode {
        let (progress, cancelled) = (Arc::clone(&progress), Arc::clone(&cancelled));
        thread::spawn(move || {
            while !progress.state().0.starts_with(&cancel_phase) {
                thread::sleep(Duration::from_millis(1));
            }
            thread::sleep(delay);
            progress.cancel();
            cancelled.get_or_init(Instant::now);
        });
    }
    let start = Instant::now();
    let trace = open(path, &progress);
    let open_time = start.elapsed();
    is_done.store(true, Relaxed);
    let phases = watcher.join().unwrap_or_default();
    if let Some(cancelled) = cancelled.get() {
        println!("cancelled after {:.1?}, back {:.1?} later", *cancelled - start, cancelled.elapsed());
    }
    let trace = trace?;
    if matches!(mode, Mode::Dump) {
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
    for Phase { name, time, cpu_s } in phases.iter().filter(|phase| !phase.name.is_empty()) {
        println!("{name}: {time:.1?}, {cpu_s:.1} s of all cores together");
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
    for (what, key) in [("peak", "VmHWM:"), ("resident", "VmRSS:")] {
        if let Some(size) = status.lines().find_map(|line| line.strip_prefix(key)) {
            let kib: f64 = size.trim().trim_end_matches(" kB").parse().unwrap_or(f64::NAN);
            let a_slice = kib * 1024.0 / trace.slices.len() as f64;
            println!("{what} memory {}, {a_slice:.0} bytes a slice", size.trim());
        }
    }
    Ok(())
}

/// A phase of the progress.
struct Phase {
    name: &'static str,
    time: Duration,
    /// On a busy machine this tells more than the time.
    cpu_s: f64,
}

/// How long each phase was seen, to the millisecond.
fn watch(progress: &Progress, is_done: &AtomicBool) -> Vec<Phase> {
    let mut phases: Vec<Phase> = Vec::new();
    let (mut before, mut cpu_before_s) = (Instant::now(), cpu_s());
    while !is_done.load(Relaxed) {
        thread::sleep(Duration::from_millis(1));
        let (now, cpu_now_s, name) = (Instant::now(), cpu_s(), progress.state().0);
        let (time, cpu_s) = (now - before, cpu_now_s - cpu_before_s);
        match phases.last_mut().filter(|last| last.name == name) {
            Some(last) => {
                last.time += time;
                last.cpu_s += cpu_s;
            }
            None => phases.push(Phase { name, time, cpu_s }),
        }
        (before, cpu_before_s) = (now, cpu_now_s);
    }
    phases
}

/// CPU time of the process so far, user and system, in the 10 ms steps in which Linux tells it.
fn cpu_s() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The second field is the program's name in parentheses and may hold blanks.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: f64 = fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum();
    ticks / 100.0
}
