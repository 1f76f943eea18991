//! How fast the importers read, how much memory a Trace takes, and how far both are from what can be had at all:
//! `cargo bench --workspace --bench import -- --kernels 2000000`.
//!
//! Each number is the best of three, each taken in a process of its own: this program, started again. Next to a
//! rate stands its *floor*: the same file read by the same library without making anything of it.

#![allow(clippy::print_stdout, reason = "the result of the program")]

mod child;
mod floor_json;
mod floor_report;
mod floor_sqlite;
mod inputs;
mod measure;
mod table;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

/// Measures the importers on made-up training runs.
#[derive(Parser)]
struct Args {
    /// Where the inputs lie; those that are there already are used again [default: target/bench-data]
    #[arg(long)]
    dir: Option<PathBuf>,
    /// Kernels in the run
    #[arg(long, default_value_t = 200_000)]
    kernels: u64,
    /// GPU metric samples per second in the nsys files
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(i64).range(0..=200_000))]
    metrics_hz: i64,
    /// What cargo bench passes
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let Some(result) = child::run(&words) {
        return result;
    }
    // `cargo test --all-targets` starts benches too, and nobody wants to wait for this one.
    if !words.iter().any(|word| word == "--bench") {
        println!("run it with cargo bench");
        return ExitCode::SUCCESS;
    }
    let args = Args::parse();
    let dir = args.dir.unwrap_or_else(|| PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("../bench-data"));
    let result = inputs::make(&dir, args.kernels, args.metrics_hz).and_then(|inputs| table::print(&inputs));
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("the bench stopped: {error}");
            ExitCode::FAILURE
        }
    }
}
