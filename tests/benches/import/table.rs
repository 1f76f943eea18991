//! What is printed: one line a measurement, with its floor and its gate.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::thread;

use crate::inputs::Inputs;
use crate::measure::{Measured, Task, measure};

/// Gates on two cores, release build, files in the page cache.
const SQLITE_ROWS_PER_S: f64 = 4e6;
const REPORT_EVENTS_PER_S: f64 = 5e6;
const JSON_BYTES_PER_S: f64 = 450e6;
const JSON_GZ_BYTES_PER_S: f64 = 250e6;
const FINISHED_ROWS_PER_S: f64 = 2.5e6;
const FINISHED_BYTES_PER_S: f64 = 300e6;
const RESIDENT_BYTES_A_SLICE: f64 = 120.0;
const PEAK_BYTES_A_SLICE: f64 = 200.0;

/// What a rate counts.
#[derive(Clone, Copy)]
struct Amount {
    n: f64,
    /// Singular of a million of them.
    unit: &'static str,
}

/// Measure everything and print it.
pub(crate) fn print(inputs: &Inputs) -> Result<(), Box<dyn Error + Send + Sync>> {
    let n_cores = thread::available_parallelism()?.get();
    println!("{n_cores} cores; best of 3 processes each; floors read the same file and make nothing of it");
    if cfg!(debug_assertions) {
        println!("this is no release build: its rates say nothing about the gates");
    }
    let Inputs { n_core_rows, n_rows, n_events, json_bytes, .. } = *inputs;
    let rows = Amount { n: n_core_rows as f64, unit: "M rows/s" };
    let events = Amount { n: n_events as f64, unit: "M events/s" };
    let json = Amount { n: json_bytes as f64, unit: "MB/s of JSON" };

    heading("nsys SQLite export", &inputs.export)?;
    println!("  {n_core_rows} rows of kernels, CUDA calls and NVTX; rates are of these");
    let file = &inputs.export;
    let read = rate("read", rows, measure(Task::Read, file, n_cores)?, Some(SQLITE_ROWS_PER_S));
    floors(Task::FloorSqlite, "scan of the columns", file, rows, n_cores, read)?;
    finished(file, rows, FINISHED_ROWS_PER_S)?;

    heading("nsys report", &inputs.report)?;
    println!("  {n_events} events; {n_rows} rows in an export of it");
    let file = &inputs.report;
    let read = rate("read", events, measure(Task::Read, file, n_cores)?, Some(REPORT_EVENTS_PER_S));
    floors(Task::FloorReport, "LZ4 and field walk", file, events, n_cores, read)?;
    let as_rows = Amount { n: n_rows as f64, unit: "M rows/s" };
    show("read, as rows of an export", as_rows, read, None);
    finished(file, events, FINISHED_ROWS_PER_S)?;

    heading("chrome trace", &inputs.json)?;
    let file = &inputs.json;
    let read = rate("read", json, measure(Task::Read, file, n_cores)?, Some(JSON_BYTES_PER_S));
    floor("serde_json", json, measure(Task::FloorJson, file, 1)?, 1, read);
    finished(file, json, FINISHED_BYTES_PER_S)?;

    heading("chrome trace, gzip", &inputs.json_gz)?;
    println!("  {json_bytes} bytes of JSON");
    let file = &inputs.json_gz;
    let read = rate("read", json, measure(Task::Read, file, n_cores)?, Some(JSON_GZ_BYTES_PER_S));
    floor("gzip unpacked", json, measure(Task::FloorGz, file, 1)?, 1, read);
    // No gate of its own: a single thread unpacks, and the floor says how fast.
    open(file, json, None)
}

fn heading(title: &str, file: &Path) -> Result<(), Box<dyn Error + Send + Sync>> {
    let size_bytes = fs::metadata(file)?.len();
    println!("\n{title}: {:.1} MB, {}", size_bytes as f64 / 1e6, file.display());
    Ok(())
}

fn floors(
    task: Task,
    what: &str,
    file: &Path,
    amount: Amount,
    n_cores: usize,
    read: f64,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    floor(what, amount, measure(task, file, 1)?, 1, read);
    if 1 < n_cores {
        floor(what, amount, measure(task, file, n_cores)?, n_cores, read);
    }
    Ok(())
}

fn finished(file: &Path, amount: Amount, gate: f64) -> Result<(), Box<dyn Error + Send + Sync>> {
    open(file, amount, Some(gate))
}

fn open(file: &Path, amount: Amount, gate: Option<f64>) -> Result<(), Box<dyn Error + Send + Sync>> {
    let opened = measure(Task::Open, file, 0)?;
    rate("open to finished", amount, opened, gate);
    println!("  {:<44} {:>12}", "slices", opened.n_slices);
    let a_slice = |bytes: u64| bytes as f64 / opened.n_slices as f64;
    let memory = |what: &str, bytes: u64, most: f64| {
        let verdict = if a_slice(bytes) <= most { "PASS" } else { "FAIL" };
        println!("  {what:<44} {:>12.1} bytes/slice    ≤ {most} {verdict}", a_slice(bytes));
    };
    memory("resident, the whole process", opened.resident_bytes, RESIDENT_BYTES_A_SLICE);
    memory("peak, the whole process", opened.peak_bytes, PEAK_BYTES_A_SLICE);
    Ok(())
}

/// Print a rate; gives its seconds.
fn rate(what: &str, amount: Amount, measured: Measured, gate: Option<f64>) -> f64 {
    show(what, amount, measured.seconds, gate);
    measured.seconds
}

fn show(what: &str, amount: Amount, seconds: f64, gate: Option<f64>) {
    let per_s = amount.n / seconds;
    let gate = gate.map_or_else(String::new, |gate| {
        let verdict = if gate <= per_s { "PASS" } else { "FAIL" };
        format!("    ≥ {} {verdict}", gate / 1e6)
    });
    println!("  {what:<44} {:>12.2} {}{gate}    {seconds:.3} s", per_s / 1e6, amount.unit);
}

/// Print a floor, and how many times as long as it the reading takes.
fn floor(what: &str, amount: Amount, measured: Measured, n_threads: usize, read_seconds: f64) {
    let threads = if n_threads == 1 { "1 thread".to_owned() } else { format!("{n_threads} threads") };
    let what = format!("floor: {what}, {threads}");
    let ratio = read_seconds / measured.seconds;
    let per_s = amount.n / measured.seconds / 1e6;
    println!(
        "  {what:<44} {per_s:>12.2} {}    reading takes {ratio:.2} × as long    {:.3} s",
        amount.unit, measured.seconds
    );
}
