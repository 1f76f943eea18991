//! Opens a trace and says how long importing and each analyzer take: `analyse FILE`.

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use tracecard_analyzers::{ALL, Derived, Input, Outcome, Params, Table, run_all};
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
    let (at, before_ms) = (Instant::now(), cpu_ms());
    match run_all(&trace, &Params::default(), &Progress::new()) {
        Ok(analysis) => println!(
            "run_all: {} ms, {} ms of processor, {} tables, peak {} MB",
            at.elapsed().as_millis(),
            cpu_ms() - before_ms,
            analysis.tables.len(),
            peak_mb()
        ),
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
    let before_ms = cpu_ms();
    let n_parts = derived.partitions().len();
    println!("partition of {n_parts} devices: {} ms of processor", cpu_ms() - before_ms);
    let before_ms = cpu_ms();
    let has_steps = derived.steps().is_ok();
    println!(
        "steps ({}): {} ms of processor",
        if has_steps { "found" } else { "none" },
        cpu_ms() - before_ms
    );
    let input = Input { trace, params: &params, derived: &derived };
    for analyzer in ALL {
        let (at, cpu_ms) = (Instant::now(), cpu_ms());
        let outcome = (analyzer.run)(&input, &Progress::new());
        let n_rows = match &outcome {
            Ok(Outcome::Done(tables)) => tables.iter().map(Table::n_rows).sum(),
            _ => 0,
        };
        println!(
            "{}: {} ms, {} ms of processor, {n_rows} rows",
            analyzer.id,
            at.elapsed().as_millis(),
            self::cpu_ms() - cpu_ms
        );
    }
}

/// Time that the processor gave to this process so far, in ms; 0 where the system does not say. A shared
/// machine does not change it, unlike the time on the wall.
fn cpu_ms() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name in brackets may hold blanks; user and system time are the 12th and 13th fields behind it,
    // in ticks of 10 ms.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    let ticks = fields.split_whitespace().skip(11).take(2).filter_map(|field| field.parse::<u64>().ok());
    ticks.sum::<u64>() * 10
}

/// Most memory this process has held; 0 where the system does not say.
fn peak_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").trim().parse::<u64>().ok())
        .map_or(0, |kb| kb / 1024)
}
