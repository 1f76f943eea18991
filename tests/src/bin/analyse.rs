//! Opens a trace and says how long importing and each analyzer take: `analyse FILE`.

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use tracecard_analyzers::{ALL, Derived, Input, Params, run_all};
use tracecard_model::{Progress, Trace};

#[expect(clippy::print_stdout, reason = "a program for a terminal")]
fn main() -> ExitCode {
    let Some(path) = std::env::args_os().nth(1) else {
        eprintln!("usage: analyse FILE");
        return ExitCode::from(2);
    };
    let at = Instant::now();
    let trace = match tracecard_importers::open(Path::new(&path), &Progress::new()) {
        Ok(trace) => trace,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(3);
        }
    };
    println!("import: {} ms, {} slices, peak {} MB", at.elapsed().as_millis(), trace.slices.len(), peak_mb());
    let at = Instant::now();
    match run_all(&trace, &Params::default(), &Progress::new()) {
        Ok(analysis) => println!("run_all: {} ms, {} tables, peak {} MB", at.elapsed().as_millis(), analysis.tables.len(), peak_mb()),
        Err(error) => eprintln!("{error}"),
    }
    each(&trace);
    ExitCode::SUCCESS
}

/// One by one, in the order shown: what is shared is on the account of the first that needs it.
#[expect(clippy::print_stdout, reason = "a program for a terminal")]
fn each(trace: &Trace) {
    let params = Params::default();
    let Ok(derived) = Derived::new(trace, &params) else { return };
    let at = Instant::now();
    let n_parts = derived.partitions().len();
    println!("partition of {n_parts} devices: {} ms", at.elapsed().as_millis());
    let at = Instant::now();
    let has_steps = derived.steps().is_ok();
    println!("steps ({}): {} ms", if has_steps { "found" } else { "none" }, at.elapsed().as_millis());
    let input = Input { trace, params: &params, derived: &derived };
    for analyzer in ALL {
        let at = Instant::now();
        let is_ok = (analyzer.run)(&input, &Progress::new()).is_ok();
        println!("{}: {} ms{}", analyzer.id, at.elapsed().as_millis(), if is_ok { "" } else { ", failed" });
    }
}

/// Most memory this process has held; 0 where the system does not say.
fn peak_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").trim().parse::<u64>().ok()).map_or(0, |kb| kb / 1024)
}
