//! What the metrics of the devices are on average: one row a metric, the same numbers as in the timeline.

use tracecard_model::Progress;

use super::track::{MetricTrack, Series};
use super::{Metrics, Summary};
use crate::{AnalyzeError, Analyzer, Column, Input, Outcome, Table, Unit};

/// Metrics of devices, with their means over time.
pub(crate) const ANALYZER: Analyzer = Analyzer { id: "metrics", title: "Metrics of devices", run };

fn run(input: &Input<'_>, progress: &Progress) -> Result<Outcome, AnalyzeError> {
    let Metrics { tracks, .. } = input.derived.metrics();
    if tracks.is_empty() {
        let reason = "the file has neither device work nor counters of a device: record with CUDA activities, and \
             with nsys profile --gpu-metrics-devices=all for measured metrics";
        return Ok(Outcome::Abstained(reason.to_owned()));
    }
    progress.check()?;
    let shown = tracks.iter().filter(|track| input.derived.is_shown(track.device));
    let rows: Vec<(&MetricTrack, Option<Summary>)> = shown
        .map(|track| (track, track.pyramid.within(&track.view(input.trace), input.derived.window())))
        .collect();
    Ok(Outcome::Done(vec![table(input, &rows)]))
}

fn table(input: &Input<'_>, rows: &[(&MetricTrack, Option<Summary>)]) -> Table {
    let text = |id, title, doc, cell: &dyn Fn(&MetricTrack) -> Option<String>| {
        Column::texts(id, title, doc, rows.iter().map(|(track, _)| cell(track)))
    };
    let number = |id, title, doc, cell: fn(&Summary) -> f64| {
        Column::reals(id, title, Unit::Number, doc, rows.iter().map(|(_, sum)| sum.as_ref().map(cell)))
    };
    let columns = vec![
        text("metric", "Metric", "Stable id, unique on a device", &|track| Some(track.id.clone())),
        text("name", "Name", "What the timeline calls it", &|track| Some(track.title.clone())),
        Column::ints(
            "device",
            "Device",
            Unit::Number,
            "Number of the device",
            rows.iter().map(|(track, _)| input.derived.device_number(track.device)),
        ),
        text(
            "kind",
            "Kind",
            "measured: sampled by a tool; theoretical: computed from launch shapes and limits; derived: computed from slices and events",
            &|track| Some(track.kind.text().to_owned()),
        ),
        text(
            "unit",
            "Unit",
            "Unit of mean, deviation, min and max: frac, bytes_per_s, bytes, Hz, W, C, ns, count",
            &|track| Some(track.unit.text().to_owned()),
        ),
        number("mean", "Mean", "Weighted by time; where nothing is known has no weight", |sum| sum.mean),
        number("stddev", "Deviation", "Standard deviation over time", Summary::deviation),
        number("min", "Min", "The least value", |sum| sum.min),
        number("max", "Max", "The greatest value", |sum| sum.max),
        Column::ints(
            "known_ns",
            "Known",
            Unit::Ns,
            "For how much of the window a value is known",
            rows.iter().map(|(_, sum)| Some(sum.map_or(0, |sum| sum.held_ns as i64))),
        ),
        text("missing", "Missing", "Why there are no values, and what captures them", &|track| {
            let Series::Absent { reason, command } = &track.series else { return None };
            Some(match command {
                Some(command) => format!("{reason} To capture it: {command}"),
                None => reason.clone(),
            })
        }),
    ];
    Table { id: "metrics", title: "Metrics", columns }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{check_abstains, check_table, check_table_with, in_window};

    const TEXT: &str = "counter 0 frac \"SMs Active\"\n  0 0.5\n  10 1\n  40 1\nstream 0:7\n  kernel k 0 5";
    const COLUMNS: &[&str] =
        &["metric", "device", "kind", "unit", "mean", "stddev", "min", "max", "known_ns"];

    #[test]
    fn metrics_are_weighted_by_time() {
        // 0.5 for 10 and 1 for 30, where the run ends: (5 + 30) / 40; deviation √(10 · 30 / 40²) · 0.5 = 0.2165…
        check_table(
            &ANALYZER,
            TEXT,
            "metrics",
            COLUMNS,
            "sm_active | 0 | measured | frac | 0.875 | 0.21650635094610965 | 0.5 | 1 | 40\n\
             occupancy_theoretical | 0 | theoretical | frac | - | - | - | - | 0\n\
             l2_hit | 0 | measured | frac | - | - | - | - | 0",
        );
    }

    #[test]
    fn a_window_has_its_own_numbers() {
        check_table_with(
            &ANALYZER,
            TEXT,
            &in_window(0, 20),
            "metrics",
            &["metric", "mean", "known_ns"],
            "sm_active | 0.75 | 20\noccupancy_theoretical | - | 0\nl2_hit | - | 0",
        );
    }

    #[test]
    fn what_is_missing_says_why() {
        check_table(
            &ANALYZER,
            "stream 0:7\n  kernel k 0 5",
            "metrics",
            &["metric", "missing"],
            "occupancy_theoretical | Unknown: the file does not say the block size.\n\
             l2_hit | Not captured: the file has no GPU metrics.",
        );
        check_abstains(&ANALYZER, "thread 1 ops\n  op a 0 5", "neither device work nor counters");
    }
}
