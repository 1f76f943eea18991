//! Writes a made-up training run: `synth --format nsys --kernels 1000000 -o run.sqlite`.

use std::path::PathBuf;
use std::time::Instant;

use clap::{Parser, ValueEnum};
use tracecard_tests::synth::{self, Config, Faults, SynthError};

/// Writes a made-up training run on eight H100s, seen from rank 0.
#[derive(Parser)]
struct Args {
    /// What to write
    #[arg(long)]
    format: Format,
    /// The file to write; a chrome trace is compressed where this ends in .gz
    #[arg(short, long)]
    output: PathBuf,
    /// Where all randomness comes from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Training steps
    #[arg(long, conflicts_with = "kernels", value_parser = clap::value_parser!(u32).range(1..))]
    steps: Option<u32>,
    /// Kernels, to the nearest whole step
    #[arg(long)]
    kernels: Option<u64>,
    /// Transformer layers
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    layers: Option<u32>,
    /// GPU metric samples per second (nsys); 0 for none
    #[arg(long, value_parser = clap::value_parser!(i64).range(0..=200_000))]
    metrics_hz: Option<i64>,
    /// Leave out the input shapes
    #[arg(long)]
    no_shapes: bool,
    /// Leave out the tensor allocations (chrome)
    #[arg(long)]
    no_memory: bool,
    /// Share of steps whose batch comes late, 0 to 1
    #[arg(long)]
    late_batches: Option<f64>,
    /// Fault: copy every batch from pageable memory
    #[arg(long)]
    pageable_batches: bool,
    /// Fault: read a value back in every layer
    #[arg(long)]
    item_in_each_layer: bool,
    /// Fault: reduce the gradients after the backward pass
    #[arg(long)]
    reduce_after_backward: bool,
    /// Fault: microseconds that every collective waits for the slowest rank
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(i64).range(0..=60_000_000))]
    straggler_us: i64,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// nsys SQLite export
    Nsys,
    /// nsys report
    Report,
    /// PyTorch profiler chrome trace
    Chrome,
}

fn main() -> Result<(), SynthError> {
    let args = Args::parse();
    let config = config(&args);
    let begun = Instant::now();
    let written = match args.format {
        Format::Nsys => synth::write_nsys(&config, &args.output)?,
        Format::Report => synth::write_report(&config, &args.output)?,
        Format::Chrome => synth::write_chrome(&config, &args.output)?,
    };
    let size_bytes = std::fs::metadata(&args.output)?.len();
    eprintln!(
        "{} steps, {} kernels, {} slices, {} points, {:.1} MB in {:.1} s",
        written.n_steps,
        written.n_kernels,
        written.n_slices,
        written.n_points,
        size_bytes as f64 / 1e6,
        begun.elapsed().as_secs_f64()
    );
    Ok(())
}

fn config(args: &Args) -> Config {
    let usual = Config::default();
    let config = Config {
        seed: args.seed,
        n_steps: args.steps.unwrap_or(usual.n_steps),
        n_layers: args.layers.unwrap_or(usual.n_layers),
        gpu_metrics_hz: args.metrics_hz.unwrap_or(usual.gpu_metrics_hz),
        records_shapes: !args.no_shapes,
        records_memory: !args.no_memory,
        late_batch_frac: args.late_batches.unwrap_or(usual.late_batch_frac),
        faults: Faults {
            pageable_batches: args.pageable_batches,
            item_in_each_layer: args.item_in_each_layer,
            reduces_after_backward: args.reduce_after_backward,
            straggler_ns: 1_000 * args.straggler_us,
        },
        ..usual
    };
    match args.kernels {
        Some(n_kernels) => config.with_kernels(n_kernels),
        None => config,
    }
}
