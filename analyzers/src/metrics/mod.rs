//! GPU metrics over time: measured, theoretical and derived ones, per device, in the order shown.
//!
//! Measured ones are counters of the trace whose names are understood (`assets/patterns/metrics.toml`); what is
//! not understood stays a plain counter. Where occupancy was not measured, the theoretical one stands in, called
//! so. Where no L2 hit rate was captured, an empty track says what captures it. Numbers are of the whole run.

mod averages;
mod capture;
mod catalog;
mod copies_in_flight;
mod covers;
mod launches;
mod measured;
mod memory;
mod occupancy;
mod pyramid;
mod series;
mod table;
mod table_columns;
mod theoretical;
mod track;

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use tracecard_model::{
    CopyKind, DeviceId, NameId, Progress, SliceKind, Span, Spans, Trace, TrackFamily, Unit,
};

pub use averages::{AVERAGED, Averages, GroupAverages, averages};
pub use occupancy::{Limiters, Occupancy, theoretical};
pub use pyramid::{Column as MetricColumn, Pyramid, Summary};
pub use series::{Ends, SeriesView, Steps};
pub use track::{Bands, Covers, MetricKind, MetricTrack, Series, Verdict, counter_view, period_ns};

use self::catalog::{entry, rank};
use self::measured::{id_base, sentences};
use crate::device_work::WorkRow;
use crate::kernel_names::tensor_core;
use crate::{AnalyzeError, Derived};

pub(crate) use averages::of_work;
pub(crate) use table::ANALYZER;
pub(crate) use table_columns::{KernelRow, kernel_columns, operator_columns};

/// The metrics of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metrics {
    /// All tracks by device number, each device's in the order shown.
    pub tracks: Vec<MetricTrack>,
    /// Samples averaged over kernels, families and operators.
    pub averages: GroupAverages,
}

impl Metrics {
    /// Is the counter one of the metrics? Then it is shown with its device and not among plain counters.
    pub fn has_counter(&self, track: tracecard_model::TrackId) -> bool {
        self.tracks.iter().any(|row| row.counter == Some(track))
    }
}

/// Ids of all metrics in the order shown.
#[cfg(test)]
pub(crate) fn metric_ids() -> impl Iterator<Item = &'static str> {
    catalog::CATALOG.iter().map(|entry| entry.id)
}

/// Everything; independent of the window but for the averages.
///
/// # Errors
/// Only when cancelled.
pub(crate) fn compute(derived: &Derived<'_>, progress: &Progress) -> Result<Metrics, AnalyzeError> {
    let trace = derived.trace;
    let work = derived.work();
    let mut devices: Vec<DeviceId> = (0..trace.devices.len()).map(DeviceId::from_idx).collect();
    devices.sort_by_key(|device| derived.device_rank(*device));
    let rows_of = |device: DeviceId| {
        let range = work.devices.iter().find(|(other, _)| *other == device).map(|(_, range)| range.clone());
        range.map_or(&[][..], |range| &work.rows[range])
    };
    let of_devices: Vec<Result<Vec<MetricTrack>, AnalyzeError>> =
        devices.par_iter().map(|device| of_device(trace, *device, rows_of(*device), progress)).collect();
    let mut tracks = Vec::new();
    for of_device in of_devices {
        tracks.extend(of_device?);
    }
    let pyramids: Vec<Result<Pyramid, AnalyzeError>> = tracks
        .par_iter()
        .map(|track| {
            progress.check()?;
            Ok(Pyramid::new(&track.view(trace)))
        })
        .collect();
    for (track, pyramid) in tracks.iter_mut().zip(pyramids) {
        track.pyramid = pyramid?;
    }
    progress.check()?;
    let averages = averages::of_groups(derived, &tracks);
    Ok(Metrics { tracks, averages })
}

fn of_device(
    trace: &Trace,
    device: DeviceId,
    rows: &[WorkRow],
    progress: &Progress,
) -> Result<Vec<MetricTrack>, AnalyzeError> {
    let counters = measured::counters(trace, device);
    let covers = covers::find(trace, &counters, rows);
    progress.check()?;
    let tensor_spans = if counters.is_empty() { Vec::new() } else { tensor_core_spans(trace, rows) };
    let mut tracks = measured::tracks(trace, device, &counters, &covers, &tensor_spans);
    progress.check()?;
    let is_measured = |id: &str| {
        tracks.iter().any(|track| track.id == id && !matches!(track.series, Series::Absent { .. }))
    };
    let has_kernels = rows.iter().any(|row| trace.slices.kinds()[row.slice.idx()] == SliceKind::Kernel);
    let mut more = Vec::new();
    if has_kernels && !is_measured("occupancy_active_sm") {
        more.extend(theoretical_track(trace, device, rows));
    }
    progress.check()?;
    if has_kernels && !is_measured("l2_hit") {
        more.extend(l2_absent(trace, device, rows, !counters.is_empty()));
    }
    more.extend(derived_tracks(trace, device, rows));
    progress.check()?;
    tracks.extend(more);
    tracks.sort_by_key(|track| rank(id_base(&track.id)));
    Ok(tracks)
}

/// Where kernels run that use tensor cores, by their names.
fn tensor_core_spans(trace: &Trace, rows: &[WorkRow]) -> Vec<Span> {
    let mut is_tensor: FxHashMap<NameId, bool> = FxHashMap::default();
    let kernels = rows.iter().filter(|row| trace.slices.kinds()[row.slice.idx()] == SliceKind::Kernel);
    let tensor = kernels.filter(|row| {
        let name = trace.slices.names()[row.slice.idx()];
        *is_tensor.entry(name).or_insert_with(|| tensor_core(trace.names.text(name)) == Some(true))
    });
    Spans::union_of(tensor.map(|row| row.span)).as_slice().to_vec()
}

fn computed(
    device: DeviceId,
    id: &str,
    kind: MetricKind,
    unit: Unit,
    series: Series,
    note: &str,
) -> Option<MetricTrack> {
    let entry = entry(id)?;
    Some(MetricTrack {
        device,
        id: entry.id.to_owned(),
        title: entry.title.to_owned(),
        unit,
        kind,
        is_primary: entry.is_primary,
        bands: None,
        series,
        note: sentences(&[entry.note, note]),
        counter: None,
        pyramid: Pyramid::default(),
    })
}

fn theoretical_track(trace: &Trace, device: DeviceId, rows: &[WorkRow]) -> Option<MetricTrack> {
    let line = theoretical::step_line(trace, trace.devices.get(device.idx())?, rows);
    let reason = match line.unknown {
        Some((n, reason)) if n == line.n_kernels => format!("Unknown: {reason}."),
        Some((n, reason)) => {
            format!("Unknown for {n} of {} kernels, mostly because {reason}.", line.n_kernels)
        }
        None => String::new(),
    };
    let (series, note) = if line.steps.values.is_empty() {
        (Series::Absent { reason, command: None }, String::new())
    } else {
        (Series::Own(line.steps), reason)
    };
    computed(device, "occupancy_theoretical", MetricKind::Theoretical, Unit::Frac, series, &note)
}

fn l2_absent(trace: &Trace, device: DeviceId, rows: &[WorkRow], has_counters: bool) -> Option<MetricTrack> {
    let command = capture::l2_command(trace, trace.devices.get(device.idx())?, rows);
    let reason = if has_counters {
        "Not captured: the metric set of this file has no L2 hit rate."
    } else {
        "Not captured: the file has no GPU metrics."
    };
    let series = Series::Absent { reason: reason.to_owned(), command };
    computed(device, "l2_hit", MetricKind::Measured, Unit::Frac, series, "")
}

fn derived_tracks(trace: &Trace, device: DeviceId, rows: &[WorkRow]) -> Vec<MetricTrack> {
    let mut tracks = Vec::new();
    let Some(run) = trace.span() else { return tracks };
    let mut add = |id, unit, steps: Option<Steps>, note: &str| {
        let steps = steps.filter(|steps| !steps.values.is_empty());
        let track = |steps| computed(device, id, MetricKind::Derived, unit, Series::Own(steps), note);
        tracks.extend(steps.and_then(track));
    };
    for (id, kind) in [("copies_h2d", CopyKind::HostToDevice), ("copies_d2h", CopyKind::DeviceToHost)] {
        add(id, Unit::BytesPerS, copies_in_flight::copies_in_flight(trace, rows, kind, run), "");
    }
    let has_launches = trace.tracks.iter().any(|track| track.key.family == TrackFamily::Api);
    if has_launches {
        let launches = launches::launches(trace, rows, run);
        let without = if 0 < launches.n_without {
            format!("Work without a recorded launch is left out: {}.", launches.n_without)
        } else {
            String::new()
        };
        let negative = if 0 < launches.n_negative {
            format!(
                "Work that starts before its launch (clocks that differ) is left out: {}.",
                launches.n_negative
            )
        } else {
            String::new()
        };
        let note = sentences(&[&without, &negative]);
        add("launch_queue", Unit::Count, Some(launches.queue), &note);
        add("launch_delay", Unit::Ns, Some(launches.delay), &note);
    }
    let memory = memory::memory(trace, device);
    let note = if memory.is_total {
        "As the framework's allocator counts it."
    } else {
        "Allocations less frees since the capture began; what was allocated before is not in it."
    };
    add("memory_allocated", Unit::Bytes, memory.allocated, note);
    add("memory_reserved", Unit::Bytes, memory.reserved, "");
    tracks
}

#[cfg(test)]
mod tests;
