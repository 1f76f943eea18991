//! Metrics of real traces: names that are understood, and occupancy against what Kineto wrote.

use std::io::Read as _;
use std::path::Path;

use serde_json::Value;
use tracecard_analyzers::Params;
use tracecard_analyzers::metrics::theoretical;
use tracecard_model::{Kernel, Trace, TrackFamily, TrackId};

use crate::corpus::{Run, corpus};

#[test]
fn every_gpu_metric_of_nsys_is_understood() {
    let Some(corpus) = corpus() else { return };
    let files = [
        ("nsys/exp2023_gpu_metrics_ga106_small.sqlite", 26),
        ("nsys/exp2023_gpu_metrics_oldnames.sqlite", 18),
        ("nsys-rep/good/2022.4_gpu_metrics.nsys-rep", 18),
        ("nsys-rep/good/2024.5_gpu_metrics_4gpu.nsys-rep", 4 * 32),
    ];
    for (file, n_metrics) in files {
        let run = Run::open(&corpus.join(file), &Params::default());
        let counters = (0..run.trace.tracks.len())
            .map(TrackId::from_idx)
            .filter(|id| run.trace.tracks[id.idx()].key.family == TrackFamily::Counter);
        let (known, unknown): (Vec<_>, Vec<_>) =
            counters.partition(|id| run.analysis.metrics.has_counter(*id));
        let names: Vec<&str> = unknown.iter().map(|id| run.trace.tracks[id.idx()].name.as_str()).collect();
        assert!(names.is_empty(), "{file}: {names:?}");
        assert_eq!(known.len(), n_metrics, "{file}");
    }
}

/// The shape of a kernel event, and Kineto's estimate in whole percent.
fn kernel(event: &Value) -> Option<(u64, Kernel, f64)> {
    let args = event.get("args")?;
    let estimate = args.get("est. achieved occupancy %")?.as_f64()?;
    let number = |key: &str| args.get(key)?.as_u64().and_then(|n| u32::try_from(n).ok());
    let shape = |key: &str| {
        let sides: Option<Vec<u32>> = args
            .get(key)?
            .as_array()?
            .iter()
            .map(|n| n.as_u64().and_then(|n| u32::try_from(n).ok()))
            .collect();
        <[u32; 3]>::try_from(sides?).ok()
    };
    let kernel = Kernel {
        grid: Some(shape("grid")?),
        block: Some(shape("block")?),
        registers: Some(number("registers per thread")?),
        shared_bytes: Some(number("shared memory")?),
        ..Kernel::default()
    };
    Some((args.get("device")?.as_u64()?, kernel, estimate))
}

fn events(path: &Path) -> Vec<Value> {
    let bytes = std::fs::read(path).unwrap();
    let mut text = String::new();
    if path.extension().is_some_and(|end| end == "gz") {
        flate2::read::GzDecoder::new(bytes.as_slice()).read_to_string(&mut text).unwrap();
    } else {
        text = String::from_utf8(bytes).unwrap();
    }
    let mut file: Value = serde_json::from_str(&text).unwrap();
    match file.get_mut("traceEvents").map(Value::take) {
        Some(Value::Array(events)) => events,
        other => panic!("{}: {other:?}", path.display()),
    }
}

/// Kineto calls CUDA's own occupancy API; its estimate is right up to 48 KiB of shared memory, with the
/// driver's reserve, and 0 above. Ours is the same where it is right.
#[test]
fn occupancy_is_that_of_cudas_own_calculator() {
    let Some(corpus) = corpus() else { return };
    let files = [
        "kineto_1.9_v100_props.json.gz",
        "hta_a100_graphs_control.json.gz",
        "hta_df_index.json.gz",
        "nanogpt_h100_before.json.gz",
        "rtx3060_cuda_graphs_after.json",
        "tracelens_b200_eager.json.gz",
    ];
    for file in files {
        let path = corpus.join("torch").join(file);
        let trace: Trace = Run::open(&path, &Params::default()).trace;
        let (mut n_equal, mut n_zero) = (0, 0);
        for (device, kernel, theirs) in events(&path).iter().filter_map(kernel) {
            let Some(device) = trace.devices.iter().find(|row| u64::from(row.number) == device) else {
                continue;
            };
            let ours = theoretical(device, &kernel).unwrap_or_else(|reason| panic!("{file}: {reason}"));
            let ours = ours.achieved_estimate_frac.unwrap() * 100.0;
            if 48 * 1024 < kernel.shared_bytes.unwrap() + 1024 {
                // Theirs may round to 0 in truth, too: a grid of one block.
                n_zero += usize::from(theirs == 0.0 && 0.5 < ours);
                continue;
            }
            assert!((ours - theirs).abs() <= 0.51, "{file}: {ours} {theirs} {kernel:?}");
            n_equal += 1;
        }
        println!("{file}: {n_equal} equal, {n_zero} where Kineto says 0");
        assert!(500 < n_equal, "{file}: only {n_equal}");
    }
}
