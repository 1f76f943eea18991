//! What the analysis must say about real runs whose truth is known.

use tracecard_analyzers::{Params, StepRule};

use crate::corpus::{Run, corpus};

fn open(name: &str) -> Option<Run> {
    open_with(name, &Params::default())
}

fn open_with(name: &str, params: &Params) -> Option<Run> {
    let corpus = corpus()?;
    let folder = if name.ends_with(".sqlite") { "nsys" } else { "torch" };
    Some(Run::open(&corpus.join(folder).join(name), params))
}

/// A part of a device's window as a fraction of it.
fn frac(run: &Run, row: usize, column: &str) -> f64 {
    run.int("devices", row, column) as f64 / run.int("devices", row, "window_ns") as f64
}

#[test]
fn cuda_graphs_free_the_host_and_leave_the_device_step_as_it_was() {
    let (Some(before), Some(after)) =
        (open("rtx3060_cuda_graphs_before.json.gz"), open("rtx3060_cuda_graphs_after.json"))
    else {
        return;
    };
    let step = |run: &Run, column: &str| run.int("steps", 0, column) as f64;
    assert_eq!(before.table("steps").text(0, "source"), Some("ProfilerStep"));
    assert_eq!((before.int("steps", 0, "count"), after.int("steps", 0, "count")), (5, 5));
    // Device periods of 22.4 … 22.9 and 22.7 … 23.7 ms: medians 22.84 and 22.90.
    let device = step(&after, "median_ns") / step(&before, "median_ns");
    assert!((0.98..=1.02).contains(&device), "device step × {device}");
    // Host ranges: medians 7.55 and 2.10 ms, 72 % less.
    let host = step(&after, "host_median_ns") / step(&before, "host_median_ns");
    assert!((0.25..=0.35).contains(&host), "host step × {host}");
    assert_eq!(after.table("steps").text(0, "host_pace"), Some("host runs ahead"));
}

#[test]
fn work_launched_before_the_capture_is_in_no_step() {
    for (name, n_before) in [("nanogpt_h100_before.json.gz", 983), ("nanogpt_h100_after.json.gz", 990)] {
        let Some(run) = open(name) else { return };
        assert_eq!(run.int("devices", 0, "before_capture"), n_before, "{name}");
        let steps = run.table("step_list");
        // The profiler's last 983 slices before the first launch end before any step begins on its stream;
        // no step counts them: 704 and 775 kernels alternate with the second optimizer.
        let kernels: Vec<i64> = (0..steps.n_rows()).filter_map(|row| steps.int(row, "kernels")).collect();
        assert_eq!(kernels, [704, 775, 704, 775], "{name}");
        assert_eq!(run.int("steps", 0, "classes"), 2, "{name}");
        let work = run.table("operators");
        let lost =
            (0..work.n_rows()).find(|row| work.text(*row, "name") == Some("(not attributed)")).unwrap();
        assert!(n_before <= work.int(lost, "count").unwrap(), "{name}");
    }
}

#[test]
fn copies_that_keep_a_device_busy_are_not_compute() {
    let Some(run) = open("2026.2.1_h100x2_nccl.sqlite") else { return };
    assert_eq!(run.table("devices").n_rows(), 2);
    for row in 0..2 {
        // 42 ms of 969 ms; 920 ms of copies from the host, nothing over them.
        assert!(frac(&run, row, "compute_ns") < 0.06, "compute {}", frac(&run, row, "compute_ns"));
        assert!(0.9 < frac(&run, row, "exposed_copy_ns"), "copies {}", frac(&run, row, "exposed_copy_ns"));
        assert_eq!(run.int("devices", row, "comm_ns"), 0);
    }
    assert!(run.analysis.table("steps").is_none());
}

#[test]
fn no_steps_are_invented_until_a_range_is_named() {
    for name in ["2026.2.1_pair_before.sqlite", "2026.2.1_pair_after.sqlite"] {
        let Some(run) = open(name) else { return };
        assert!(
            run.analysis.table("steps").is_none(),
            "{name}: {:?}",
            run.table("steps").to_text(&["source", "count"])
        );
        let reason = run.analysis.abstained.iter().find(|a| a.0 == "steps").unwrap();
        assert!(reason.1.contains("--steps"), "{name}: {}", reason.1);
        assert!(0.6 < frac(&run, 0, "compute_ns"), "{name}");
        assert!(0 < run.int("devices", 0, "comm_ns"), "{name}");

        let rule = StepRule::Nvtx("AllToAll4D".to_owned());
        let params = Params { steps: Some(rule), ..Params::default() };
        let Some(run) = open_with(name, &params) else { return };
        assert_eq!(run.table("steps").text(0, "source"), Some("user:nvtx:AllToAll4D"));
        assert!(3 < run.int("steps", 0, "count"), "{name}");
    }
}

#[test]
fn waiting_communication_is_not_compute() {
    let Some(run) = open("ranks_torchrec_rank0.json.gz") else { return };
    assert!(frac(&run, 0, "compute_ns") < 0.05, "compute {}", frac(&run, 0, "compute_ns"));
    assert!(0.5 < frac(&run, 0, "comm_ns"), "communication {}", frac(&run, 0, "comm_ns"));
    let health = run.table("health");
    let codes: Vec<&str> = (0..health.n_rows()).filter_map(|row| health.text(row, "code")).collect();
    assert!(codes.contains(&"clock_skew"), "{codes:?}");
}

#[test]
fn every_trace_is_analysed_and_adds_up() {
    let Some(corpus) = corpus() else { return };
    for folder in ["nsys", "torch"] {
        let mut paths: Vec<_> =
            std::fs::read_dir(corpus.join(folder)).unwrap().map(|e| e.unwrap().path()).collect();
        paths.sort();
        for path in paths {
            let Ok(trace) = tracecard_importers::open(&path, &tracecard_model::Progress::new()) else {
                continue;
            };
            drop(trace);
            let run = Run::open(&path, &Params::default());
            // All device time is in the operators' column, and kernels add up to their devices' shares.
            if let (Some(operators), true) =
                (run.analysis.table("operators"), run.analysis.table("devices").is_some())
            {
                let sum: i64 =
                    (0..operators.n_rows()).filter_map(|row| operators.int(row, "self_device_ns")).sum();
                let kinds = run.trace.slices.kinds();
                let work = run.trace.slice_ids().filter(|slice| kinds[slice.idx()].is_device_work());
                let durs_ns = run.trace.slices.durs_ns();
                assert_eq!(sum, work.map(|slice| durs_ns[slice.idx()]).sum::<i64>(), "{}", path.display());
            }
        }
    }
}
