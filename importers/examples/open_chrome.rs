//! Opens traces and prints what opening costs: `cargo run --release --example open_chrome -- FILE…`.
//! With `--dump` it prints the trace instead.

use std::path::Path;
use std::time::Instant;

use tracecard_model::{Progress, SliceKind, dump};

#[allow(clippy::print_stdout)]
fn main() {
    let mut is_dump = false;
    for argument in std::env::args().skip(1) {
        if argument == "--dump" {
            is_dump = true;
            continue;
        }
        let path = Path::new(&argument);
        let start = Instant::now();
        let trace = match tracecard_importers::open(path, &Progress::new()) {
            Ok(trace) => trace,
            Err(error) => {
                println!("{error}");
                continue;
            }
        };
        let seconds = start.elapsed().as_secs_f64();
        if is_dump {
            println!("{}", dump(&trace));
            continue;
        }
        let n_kernels = trace.slices.kinds().iter().filter(|kind| **kind == SliceKind::Kernel).count();
        let bytes = std::fs::metadata(path).map_or(0, |meta| meta.len());
        println!(
            "{argument}: {:.2} s, {:.0} MB/s on disk, {} slices, {n_kernels} kernels, peak {} MiB",
            seconds,
            bytes as f64 / 1e6 / seconds,
            trace.slices.len(),
            peak_bytes() >> 20,
        );
        println!("  {:?} {:?} ×{} ns", trace.meta.tool, trace.span(), trace.meta.resolution_ns);
        for issue in &trace.issues {
            let example = issue.example.as_deref().unwrap_or_default();
            println!("  {} {} ×{}: {} | {example}", issue.severity.text(), issue.code, issue.count, issue.text);
        }
    }
}

/// Peak resident memory of this process; 0 where the system does not tell.
fn peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM"));
    let kib = line.and_then(|line| line.split_ascii_whitespace().nth(1)).and_then(|kib| kib.parse::<u64>().ok());
    kib.unwrap_or(0) << 10
}
