//! `GPU_METRICS` × `TARGET_INFO_GPU_METRICS`: sampled counters of whole GPUs.
//!
//! The low byte of the type is the GPU; types with something in the byte above hold markers, no metrics.
//! A sample covers the time since the sample before. The first lies before the session and holds garbage.

use rustc_hash::{FxHashMap, FxHashSet};
use tracecard_model::{IssueLog, Severity, TrackId, TrackKey, Unit};

use super::cells::Cells;
use super::fragment::Fragment;
use super::small_tables::SmallTables;
use super::tables::TableReader;
use crate::nsys_terms::global_id::Machine;
use crate::nsys_terms::gpu_metric::GpuMetric;

pub(crate) const GPU_METRICS: TableReader = TableReader {
    number: 11,
    table: "GPU_METRICS",
    label: "",
    required: &["timestamp", "typeId", "metricId", "value"],
    columns: &["timestamp", "typeId", "metricId", "value"],
    read,
};

/// The column of the value in [`GPU_METRICS`].
const VALUE: usize = 3;

/// The metrics of the file by (type, metric number).
pub(crate) fn read_metrics(
    tables: &dyn SmallTables,
    issues: &mut IssueLog,
) -> FxHashMap<(i64, i64), Option<GpuMetric>> {
    let mut metrics = FxHashMap::default();
    let mut taken: FxHashSet<(i64, String)> = FxHashSet::default();
    let columns = ["typeId", "metricId", "metricName"];
    tables.each_row(issues, "TARGET_INFO_GPU_METRICS", &columns, &mut |cells| {
        let ([Some(kind), Some(number)], Some(full)) = (cells.ints(), cells.text(2)) else { return true };
        let mut metric = GpuMetric::from_name(&full).filter(|_| !is_marker(kind));
        // Two names may meet in one spelling; values of two metrics must not mix on one track.
        if let Some(metric) = &mut metric
            && !taken.insert((kind, metric.name.clone()))
        {
            metric.name = full.into_owned();
        }
        metrics.insert((kind, number), metric);
        true
    });
    metrics
}

fn is_marker(kind: i64) -> bool {
    kind >> 8 & 0xff != 0
}

fn read(fragment: &mut Fragment<'_>, cells: &Cells<'_>) {
    let [time, kind, number] = cells.ints();
    let (Some(kind), Some(number)) = (kind, number) else {
        return fragment.bad_row(cells, &format!("type {kind:?}, metric {number:?}"));
    };
    let Some((track, scale)) = metric_track(fragment, kind, number) else { return };
    // A later look at the latest time must not see the sample, so its time is checked first.
    if time.is_some_and(|time| time < fragment.known.shift_ns) {
        let text = "samples of GPU metrics lie before the capture; their values are garbage and left out";
        let example = || format!("time {time:?}");
        return fragment.out.issues.count(Severity::Info, "gpu_metric_samples_before_capture", text, example);
    }
    let Some(time_ns) = fragment.time(time) else {
        return fragment.bad_row(cells, &format!("time {time:?}"));
    };
    match cells.number(VALUE) {
        Some(value) if 0.0 <= value => fragment.out.push_counter(track, time_ns, value * scale),
        value => {
            let text = "samples of GPU metrics are no possible values; they are left out";
            let example = || format!("{value:?} at {time_ns} ns");
            fragment.out.issues.count(Severity::Warning, "gpu_metric_bad_values", text, example);
        }
    }
}

fn metric_track(fragment: &mut Fragment<'_>, kind: i64, number: i64) -> Option<(TrackId, f64)> {
    if let Some(track) = fragment.metric_tracks.get(&(kind, number)) {
        return *track;
    }
    let known = fragment.known;
    let unnamed = GpuMetric { name: format!("metric {number}"), unit: Unit::Count, scale: 1.0 };
    let metric = match known.metrics.get(&(kind, number)) {
        Some(metric) => metric.as_ref(),
        None => (!is_marker(kind)).then_some(&unnamed),
    };
    let track = metric.map(|metric| {
        let device = fragment.gpu(Machine::from_stored(kind), kind & 0xff);
        let track = fragment.out.track(TrackKey::counter(None, Some(device), metric.name.clone()));
        fragment.out.set_unit(track, metric.unit);
        (track, metric.scale)
    });
    fragment.metric_tracks.insert((kind, number), track);
    track
}
