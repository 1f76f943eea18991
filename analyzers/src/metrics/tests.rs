//! Tracks of whole runs as text: id, kind, unit, values.

use tracecard_model::{Progress, fixture};

use super::*;
use crate::Params;
use crate::testing::check_table;

fn text(trace: &Trace) -> Vec<String> {
    let derived = Derived::new(trace, &Params::default()).unwrap();
    let metrics = compute(&derived, &Progress::new()).unwrap();
    let line = |track: &MetricTrack| {
        let view = track.view(trace);
        let step = |idx: usize| {
            let span = view.span(idx);
            format!("{}..{}:{}", span.start_ns, span.end_ns, (view.values[idx] * 1e4).round() / 1e4)
        };
        let steps: Vec<String> = (0..view.len()).map(step).collect();
        let steps = match &track.series {
            Series::Absent { command, .. } => command.clone().unwrap_or_else(|| "absent".to_owned()),
            _ => steps.join(" "),
        };
        let number = trace.devices[track.device.idx()].number;
        format!("{number} {} {} {} {steps}", track.id, track.kind.text(), track.unit.text())
    };
    metrics.tracks.iter().map(line).collect()
}

fn check(lines: &str, expected: &[&str]) {
    assert_eq!(text(&fixture(lines).unwrap()), expected);
}

#[test]
fn counters_that_are_understood_come_in_the_order_shown_by_device() {
    check(
        "counter 1 W \"Power (W)\"\n  0 100\n  10 200\n\
         counter 0 Hz \"GPC Clock Frequency\"\n  0 2e9\n  10 1e9\n\
         counter 0 frac \"SMs Active\"\n  0 0.5\n  10 1\n\
         counter 0 count \"queue length\"\n  0 5\n  10 6",
        &[
            "0 sm_active measured frac 0..10:0.5 10..20:1",
            "0 sm_clock measured Hz 0..10:2000000000 10..20:1000000000",
            "1 power measured W 0..10:100 10..20:200",
        ],
    );
}

#[test]
fn occupancy_is_two_numbers_and_unknown_where_no_sm_is_active() {
    // 0.4 in flight, 0.1 free on active SMs: 0.4 / 0.5 = 80 %; then nothing is active.
    check(
        "counter 0 frac \"Compute Warps in Flight\"\n  0 0.4\n  10 0\n\
         counter 0 frac \"Unallocated Warps in Active SMs\"\n  0 0.1\n  10 0",
        &[
            "0 occupancy_active_sm measured frac 0..10:0.8",
            "0 warps_in_flight measured frac 0..10:0.4 10..20:0",
            "0 warps_unallocated measured frac 0..10:0.1 10..20:0",
        ],
    );
}

#[test]
fn whole_percents_of_little_say_nothing() {
    // 1 of 2 percent may be anything from a quarter to three quarters; 30 of 40 is 75 %.
    let counters = |more: &str| {
        format!(
            "counter 0 frac \"Compute Warps in Flight\"\n  0 0.01\n  10 {more}\n  20 0\n\
             counter 0 frac \"Unallocated Warps in Active SMs\"\n  0 0.01\n  10 0.1\n  20 0"
        )
    };
    let first = |lines: &str| text(&fixture(lines).unwrap()).remove(0);
    assert_eq!(first(&counters("0.3")), "0 occupancy_active_sm measured frac 10..20:0.75");
    assert_eq!(
        first(&counters("0.3").replace("0.1\n", "0\n").replace("0.3", "0")),
        "0 occupancy_active_sm measured frac absent"
    );
}

#[test]
fn several_counters_of_one_kind_keep_their_names() {
    let trace = fixture(
        "counter 0 frac \"NVLink RX Requests User Data\"\n  0 0.4\n  10 0\n\
         counter 0 frac \"NVLink RX Responses User Data\"\n  0 0.1\n  10 0",
    )
    .unwrap();
    let derived = Derived::new(&trace, &Params::default()).unwrap();
    let metrics = compute(&derived, &Progress::new()).unwrap();
    let names: Vec<String> = metrics.tracks.iter().map(|t| format!("{} {}", t.id, t.title)).collect();
    assert_eq!(names, ["nvlink_rx NVLink RX req. user", "nvlink_rx_2 NVLink RX resp. user"]);
}

#[test]
fn raw_percentages_become_shares() {
    check(
        "counter 0 count lts__t_sector_hit_rate.pct\n  0 90\n  10 60",
        &["0 l2_hit measured frac 0..10:0.9 10..20:0.6"],
    );
}

const KERNELS: &str = "device 0 H100 sm=132\nthread 1 api\n  api l 0 2 #1\n  api l 5 2 #2\nstream 0:7\n\
    \x20 kernel gemm 10 10 #1 grid=264x1x1 block=256x1x1 regs=128 shared=0\n  h2d copy 30 10 #2 bytes=100";

#[test]
fn without_metrics_occupancy_is_theoretical_and_l2_says_what_captures_it() {
    let mut trace = fixture(KERNELS).unwrap();
    trace.devices[0].compute_capability = Some((9, 0));
    // 256 threads are 8 warps, 128 registers 4096 a warp: 16384 / 4096 · 4 / 8 = 2 blocks, 16 of 64 warps.
    assert_eq!(
        text(&trace),
        [
            "0 occupancy_theoretical theoretical frac 10..20:0.25",
            "0 l2_hit measured frac ncu --section MemoryWorkloadAnalysis --launch-count 5 -k regex:gemm -o l2 python train.py",
            "0 copies_h2d derived bytes_per_s 0..30:0 30..40:10000000000",
            "0 launch_queue derived count 0..5:1 5..10:2 10..30:1 30..40:0",
            "0 launch_delay derived ns 10..20:10 30..40:25",
        ]
    );
}

#[test]
fn unknown_limits_are_said() {
    let trace = fixture(KERNELS).unwrap();
    let derived = Derived::new(&trace, &Params::default()).unwrap();
    let metrics = compute(&derived, &Progress::new()).unwrap();
    let track = &metrics.tracks[0];
    let reason = "Unknown: the file does not say the compute capability of the device.".to_owned();
    assert_eq!(track.series, Series::Absent { reason, command: None });
}

#[test]
fn nothing_gives_nothing() {
    check("", &[]);
    check("thread 1 ops\n  op a 0 5", &[]);
}

/// Samples of 10 ns: `SMs Active` is 90 % while `long` runs and 20 % while `short` does, in turns.
fn sampled(n_long: usize) -> String {
    let mut text =
        String::from("thread 1 ops\n  op aten::mm 0 1\nthread 1 api\n  api l 0 1 #1\nstream 0:7\n");
    let long_ns = n_long * 10;
    text.push_str(&format!("  kernel long 100 {long_ns} #1\n"));
    for i in 0..20 {
        text.push_str(&format!("  kernel short {} 4\n", 1_000 + i * 10));
    }
    text.push_str("counter 0 frac \"SMs Active\"\n");
    for i in 0..130 {
        let t = i * 10;
        let value = if (100..100 + long_ns).contains(&t) { "0.9" } else { "0.2" };
        text.push_str(&format!("  {t} {value}\n"));
    }
    text
}

#[test]
fn kernels_have_the_samples_that_speak_of_nothing_else() {
    // `long` covers 5 samples whole; each `short` covers less than half of one.
    check_table(
        &crate::kernels::ANALYZER,
        &sampled(5),
        "kernels",
        &["name", "sm_active_frac", "metric_samples", "l2_hit_frac"],
        "short | - | 0 | -\nlong | 0.9 | 5 | -",
    );
    // 2 samples are too few.
    check_table(
        &crate::kernels::ANALYZER,
        &sampled(2),
        "kernels",
        &["name", "sm_active_frac", "metric_samples"],
        "short | - | 0\nlong | - | 2",
    );
}

#[test]
fn operators_have_the_samples_of_what_they_launched() {
    check_table(
        &crate::operators::ANALYZER,
        &sampled(5),
        "operators",
        &["name", "sm_active_frac", "metric_samples"],
        "(not attributed) | - | -\naten::mm | 0.9 | 5",
    );
}

#[test]
fn averages_of_chosen_slices() {
    let trace = fixture(&sampled(5)).unwrap();
    let derived = Derived::new(&trace, &Params::default()).unwrap();
    let metrics = compute(&derived, &Progress::new()).unwrap();
    let named = |wanted: &str| -> Vec<tracecard_model::SliceId> {
        trace.slice_ids().filter(|slice| trace.name(*slice) == wanted).collect()
    };
    let long = averages(&derived, &metrics.tracks, &named("long"));
    assert_eq!((long.n_samples, long.is_resolvable), (5, true));
    assert!((long.mean("sm_active").unwrap() - 0.9).abs() < 1e-12);
    let short = averages(&derived, &metrics.tracks, &named("short"));
    assert_eq!((short.n_samples, short.is_resolvable, short.mean("sm_active")), (0, false, None));
}

#[test]
fn kernel_rows_have_occupancy_with_limiter_and_waves() {
    // No capability in a fixture: unknown, not 0.
    check_table(
        &crate::kernels::ANALYZER,
        KERNELS,
        "kernels",
        &["name", "occupancy_frac", "occupancy_limiter", "waves", "sm_active_frac", "metric_samples"],
        "gemm | - | - | - | - | -",
    );
    let mut trace = fixture(KERNELS).unwrap();
    trace.devices[0].compute_capability = Some((9, 0));
    let analysis = crate::run_all(&trace, &Params::default(), &Progress::new()).unwrap();
    let text = analysis.table("kernels").unwrap().to_text(&["occupancy_frac", "occupancy_limiter", "waves"]);
    // 264 blocks over 132 SMs of 2 blocks: one wave.
    assert_eq!(text.lines().nth(1), Some("0.25 | registers | 1"));
}
