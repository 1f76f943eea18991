//! Metrics that a tool sampled: counters whose names are understood, and what follows from two of them.

use tracecard_model::{DeviceId, Trace, TrackFamily, TrackId, Unit};

use super::catalog::{Recognised, entry, rank, recognise};
use super::covers::Found;
use super::series::Steps;
use super::track::{Bands, Covers, MetricKind, MetricTrack, Series, counter_view, period_ns};

/// SM active above this is good: the articles' limit (I-201).
const SM_ACTIVE_GOOD: f64 = 0.7;
/// L2 hit rate above is good, below pays a look (I-202); it depends on the kernels, so it is colour only.
const L2_HIT_GOOD: f64 = 0.85;
const L2_HIT_LOOK: f64 = 0.7;
/// Occupancy per active SM below pays a look, but where tensor-core kernels run (SIG-16).
const OCCUPANCY_LOOK: f64 = 0.5;

/// A counter of a device that is understood.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counter {
    pub(crate) track: TrackId,
    pub(crate) what: Recognised,
}

/// The understood counters of a device, in the order shown, then by name.
pub(crate) fn counters(trace: &Trace, device: DeviceId) -> Vec<Counter> {
    let tracks =
        trace.tracks.iter().enumerate().filter(|(_, track)| {
            track.key.family == TrackFamily::Counter && track.key.device == Some(device)
        });
    let mut found: Vec<Counter> = tracks
        .map(|(idx, row)| (TrackId::from_idx(idx), row))
        .filter(|(track, _)| !trace.counters.of(*track).0.is_empty())
        .filter_map(|(track, row)| Some(Counter { track, what: recognise(&row.name, row.unit)? }))
        .collect();
    found.sort_by_key(|counter| (rank(counter.what.entry.id), &trace.tracks[counter.track.idx()].name));
    found
}

/// The tracks of a device's counters; pyramids are still empty.
pub(crate) fn tracks(
    trace: &Trace,
    device: DeviceId,
    counters: &[Counter],
    covers: &Found,
    tensor_spans: &[tracecard_model::Span],
) -> Vec<MetricTrack> {
    let mut tracks: Vec<MetricTrack> = Vec::new();
    for counter in counters {
        let entry = counter.what.entry;
        let name = trace.tracks[counter.track.idx()].name.as_str();
        let n_same = counters.iter().filter(|other| other.what.entry.id == entry.id).count();
        let n_before = tracks.iter().filter(|track| id_base(&track.id) == entry.id).count();
        let id = if n_before == 0 { entry.id.to_owned() } else { format!("{}_{}", entry.id, n_before + 1) };
        // Of several counters of one kind each keeps its own name.
        let title = if n_same == 1 { entry.title.to_owned() } else { short_title(name) };
        // What protocols add to the data is of interest to few.
        let is_primary = entry.is_primary && !name.contains("Protocol Data");
        let note = sentences(&[entry.note, &format!("Counter “{name}”."), covers.note()]);
        tracks.push(MetricTrack {
            device,
            id,
            title,
            unit: counter.what.unit,
            kind: MetricKind::Measured,
            is_primary,
            bands: bands(entry.id, counter.what.unit, tensor_spans),
            series: series(trace, counter, covers.covers),
            note,
            counter: Some(counter.track),
            pyramid: Default::default(),
        });
    }
    let has_own = tracks.iter().any(|track| track.id == "occupancy_active_sm");
    if !has_own && let Some(track) = occupancy_per_active_sm(trace, device, &tracks, tensor_spans) {
        let at = tracks.partition_point(|other| rank(id_base(&other.id)) < rank("occupancy_active_sm"));
        tracks.insert(at, track);
    }
    tracks
}

/// `NVLink RX resp. user` of `NVLink RX Responses User Data`: as much as a label has room for.
fn short_title(name: &str) -> String {
    const SHORT: &[(&str, &str)] = &[
        ("Responses", "resp."),
        ("Requests", "req."),
        (" User Data", " user"),
        (" Protocol Data", " protocol"),
        ("Vertex/Tess/Geometry", "Vertex"),
        (" in Flight", ""),
        (" in Active SMs", ""),
        ("Avg Warps per Cycle", "per cycle"),
    ];
    SHORT.iter().fold(name.to_owned(), |title, (long, short)| title.replace(long, short))
}

/// `nvlink_rx` of `nvlink_rx_2`; ids of the catalog end in no number.
pub(crate) fn id_base(id: &str) -> &str {
    id.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches('_')
}

fn series(trace: &Trace, counter: &Counter, covers: Covers) -> Series {
    let (times_ns, values) = trace.counters.of(counter.track);
    let period_ns = period_ns(times_ns);
    if counter.what.scale == 1.0 {
        return Series::Counter { track: counter.track, covers, period_ns };
    }
    let view = counter_view(times_ns, values, covers, period_ns);
    Series::Own(Steps {
        starts_ns: view.starts_ns.to_vec(),
        values: view.values.iter().map(|value| value * counter.what.scale).collect(),
        ends_ns: (0..view.len()).map(|idx| view.span(idx).end_ns).collect(),
        ..Steps::default()
    })
}

fn bands(id: &str, unit: Unit, tensor_spans: &[tracecard_model::Span]) -> Option<Bands> {
    if unit != Unit::Frac {
        return None;
    }
    let limits = |good_above, look_below| Some(Bands { good_above, look_below, quiet: Vec::new() });
    match id {
        "sm_active" => limits(Some(SM_ACTIVE_GOOD), None),
        "l2_hit" => limits(Some(L2_HIT_GOOD), Some(L2_HIT_LOOK)),
        "occupancy_active_sm" => {
            Some(Bands { good_above: None, look_below: Some(OCCUPANCY_LOOK), quiet: tensor_spans.to_vec() })
        }
        _ => None,
    }
}

/// nsys samples whole percents: with less room for warps on active SMs than this share of all, rounding alone
/// would move the quotient by more than 5 points.
const MIN_WHOLE_ROOM: f64 = 0.1;

fn is_whole_percent(value: f64) -> bool {
    let percent = value * 100.0;
    (percent - percent.round()).abs() < 1e-6
}

/// Warps in flight over warps in flight and room left on active SMs (SIG-16). Where no SM is active it is
/// unknown: 0 of 0.
fn occupancy_per_active_sm(
    trace: &Trace,
    device: DeviceId,
    tracks: &[MetricTrack],
    tensor_spans: &[tracecard_model::Span],
) -> Option<MetricTrack> {
    let of = |id: &str| tracks.iter().find(|track| track.id == id && track.unit == Unit::Frac);
    let (in_flight, unallocated) = (of("warps_in_flight")?, of("warps_unallocated")?);
    let (a, b) = (in_flight.view(trace), unallocated.view(trace));
    let is_whole =
        [a.values, b.values].iter().all(|values| values.iter().all(|value| is_whole_percent(*value)));
    let mut steps = Steps::default();
    let mut at = 0;
    for idx in 0..a.len() {
        // nsys samples all metrics at once; what has no partner of the same time is left out.
        let start_ns = a.starts_ns[idx];
        while at < b.len() && b.starts_ns[at] < start_ns {
            at += 1;
        }
        if at == b.len() || b.starts_ns[at] != start_ns {
            continue;
        }
        let (flying, room) = (a.values[idx], a.values[idx] + b.values[at]);
        let end_ns = a.span(idx).end_ns;
        let is_known = if is_whole { MIN_WHOLE_ROOM <= room } else { 0.0 < room };
        if is_known && start_ns < end_ns {
            steps.starts_ns.push(start_ns);
            steps.ends_ns.push(end_ns);
            steps.values.push(flying / room);
        }
    }
    let entry = entry("occupancy_active_sm")?;
    let series = if steps.starts_ns.is_empty() {
        let reason =
            "Unknown: at no time did the SMs have enough warps to tell, in whole percents.".to_owned();
        Series::Absent { reason, command: None }
    } else {
        Series::Own(steps)
    };
    Some(MetricTrack {
        device,
        id: entry.id.to_owned(),
        title: entry.title.to_owned(),
        unit: Unit::Frac,
        kind: MetricKind::Measured,
        is_primary: true,
        bands: bands(entry.id, Unit::Frac, tensor_spans),
        series,
        note: sentences(&[
            entry.note,
            "Computed from warps in flight and unallocated warps in active SMs; unknown where too few SMs are active.",
        ]),
        counter: None,
        pyramid: Default::default(),
    })
}

/// Sentences after each other; empty ones are left out.
pub(crate) fn sentences(all: &[&str]) -> String {
    all.iter().copied().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ")
}
