//! What the counters say on average: one row a counter.

use tracecard_model::{Progress, TrackFamily, TrackId};

use crate::{AnalyzeError, Analyzer, Column, Input, Outcome, Table, Unit};

/// Counters, with their time-weighted mean.
pub(crate) const ANALYZER: Analyzer = Analyzer { id: "counters", title: "Counters", run };

struct Row {
    track: TrackId,
    samples: i64,
    sampled_ns: i64,
    mean: f64,
    min: f64,
    max: f64,
}

fn run(input: &Input<'_>, progress: &Progress) -> Result<Outcome, AnalyzeError> {
    let (trace, derived) = (input.trace, input.derived);
    let counters =
        trace.tracks.iter().enumerate().filter(|(_, track)| track.key.family == TrackFamily::Counter);
    let mut rows = Vec::new();
    let mut is_recorded = false;
    for (idx, track) in counters {
        is_recorded = true;
        progress.check()?;
        if track.key.device.is_some_and(|device| !derived.is_shown(device)) {
            continue;
        }
        let id = TrackId::from_idx(idx);
        let (times_ns, values) = trace.counters.of(id);
        let window = derived.window();
        let first = times_ns.partition_point(|t| *t < window.start_ns);
        // A sample at the very end of the run still belongs to it.
        let end = times_ns.partition_point(|t| *t <= window.end_ns);
        rows.extend(row(id, &times_ns[first..end], &values[first..end]));
    }
    if !is_recorded {
        let reason = "the file has no counters: record with nsys profile --gpu-metrics-devices=all (needs permission), or a torch build with hardware counters";
        return Ok(Outcome::Abstained(reason.to_owned()));
    }
    Ok(Outcome::Done(vec![table(input, &rows)]))
}

/// An interval this many times the usual one is a hole: the sampler paused, and nothing is known of it.
const HOLE_INTERVALS: i64 = 5;

/// The mean weighs each sample with the time to its neighbours (trapezoids): samples may come unevenly. It
/// says the same whether a tool stamps a sample at the start or at the end of its interval, but for half an
/// interval at the ends. Holes in the sampling have no weight.
fn row(track: TrackId, times_ns: &[i64], values: &[f64]) -> Option<Row> {
    times_ns.first()?;
    let mut intervals_ns: Vec<i64> =
        times_ns.windows(2).map(|pair| pair[1] - pair[0]).filter(|ns| 0 < *ns).collect();
    let longest_ns = match intervals_ns.len() {
        0 => 0,
        n => intervals_ns.select_nth_unstable(n / 2).1.saturating_mul(HOLE_INTERVALS),
    };
    let (mut area, mut sampled_ns) = (0.0, 0);
    for (times_ns, values) in times_ns.windows(2).zip(values.windows(2)) {
        if let ([a_ns, b_ns], [a, b]) = (times_ns, values)
            && b_ns - a_ns <= longest_ns
        {
            area += (a + b) / 2.0 * (b_ns - a_ns) as f64;
            sampled_ns += b_ns - a_ns;
        }
    }
    let mean = if 0 < sampled_ns {
        area / sampled_ns as f64
    } else {
        values.iter().sum::<f64>() / values.len() as f64
    };
    let min = values.iter().copied().fold(f64::INFINITY, f64::min);
    let max = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Some(Row { track, samples: values.len() as i64, sampled_ns, mean, min, max })
}

fn table(input: &Input<'_>, rows: &[Row]) -> Table {
    let track = |row: &Row| input.trace.tracks.get(row.track.idx());
    let device = |row: &Row| input.derived.device_number(track(row)?.key.device?);
    let reals = |id, title, doc, value: fn(&Row) -> f64| {
        Column::reals(id, title, Unit::Number, doc, rows.iter().map(|r| Some(value(r))))
    };
    let columns = vec![
        Column::texts(
            "name",
            "Counter",
            "Name as the file has it",
            rows.iter().map(|r| Some(track(r)?.name.clone())),
        ),
        Column::ints(
            "device",
            "Device",
            Unit::Number,
            "Number of the device; unknown for counters of the host",
            rows.iter().map(device),
        ),
        Column::texts(
            "unit",
            "Unit",
            "Unit of mean, min and max: frac, bytes_per_s, bytes, Hz, W, C, count",
            rows.iter().map(|r| Some(track(r)?.unit?.text().to_owned())),
        ),
        Column::ints(
            "samples",
            "Samples",
            Unit::Count,
            "Samples in the window",
            rows.iter().map(|r| Some(r.samples)),
        ),
        Column::ints(
            "sampled_ns",
            "Sampled",
            Unit::Ns,
            "Time between samples, without holes in the sampling",
            rows.iter().map(|r| Some(r.sampled_ns)),
        ),
        reals(
            "mean",
            "Mean",
            "Weighted by the time between samples; holes in the sampling have no weight",
            |r| r.mean,
        ),
        reals("min", "Min", "The smallest sample", |r| r.min),
        reals("max", "Max", "The largest sample", |r| r.max),
    ];
    Table { id: "counters", title: "Counters", columns }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{check_abstains, check_table, check_table_with, in_window};

    const COLUMNS: &[&str] = &["name", "device", "unit", "samples", "mean", "min", "max"];

    #[test]
    fn the_mean_is_weighted_by_time() {
        // 0→10: mean 0.5 over 10; 10→40: mean 1 over 30: (5 + 30) / 40 = 0.875. The plain mean is 2/3.
        check_table(
            &ANALYZER,
            "counter 0 frac \"SMs Active\"\n  0 0\n  10 1\n  40 1\ncounter 1 Hz Clock\n  5 7",
            "counters",
            COLUMNS,
            "SMs Active | 0 | frac | 3 | 0.875 | 0 | 1\nClock | 1 | Hz | 1 | 7 | 7 | 7",
        );
    }

    #[test]
    fn holes_in_the_sampling_have_no_weight() {
        // Ten intervals of 10 at 0.5, a pause of 10 000, ten intervals of 10 at 1: 0.75, not nearly 0.75
        // of 10 200 with the pause drawn as a ramp. Sampled: 200.
        let samples = |from: i64, value: f64| -> String {
            (0..=10).map(|i| format!("  {} {value}\n", from + i * 10)).collect()
        };
        let text = format!("counter 0 frac A\n{}{}", samples(0, 0.5), samples(10_100, 1.0));
        check_table(&ANALYZER, &text, "counters", &["samples", "sampled_ns", "mean"], "22 | 200 | 0.75");
    }

    #[test]
    fn samples_of_one_instant_count_alike() {
        check_table(
            &ANALYZER,
            "counter 0 W Power\n  5 1\n  5 3",
            "counters",
            COLUMNS,
            "Power | 0 | W | 2 | 2 | 1 | 3",
        );
    }

    #[test]
    fn a_window_takes_the_samples_inside() {
        let text = "counter 0 W Power\n  0 1\n  10 3\n  20 5\n  30 9";
        check_table_with(
            &ANALYZER,
            text,
            &in_window(10, 20),
            "counters",
            COLUMNS,
            "Power | 0 | W | 2 | 4 | 3 | 5",
        );
        check_table_with(&ANALYZER, text, &in_window(11, 19), "counters", COLUMNS, "");
    }

    #[test]
    fn without_counters_it_says_how_to_record_them() {
        check_abstains(&ANALYZER, "stream 0:7\n  kernel k 0 5", "--gpu-metrics-devices");
    }
}
