//! The lanes of a device's metrics, below its streams.
//!
//! ```text
//! ▾ GPU 0 · NVIDIA H100
//!     Stream 7
//!   ▾ Metrics 12
//!       SM active
//!       L2 hit rate            one line: what captures it
//!       Launch queue           ≤ 258
//!     ▸ More metrics 9
//! ```

use tracecard_analyzers::Metrics;
use tracecard_analyzers::metrics::{MetricTrack, Series};
use tracecard_model::{DeviceId, Trace, Track, TrackFamily, Unit};

use super::layout::shown_range;
use super::model::{GroupKey, Heights};
use crate::format;

/// A lane to add: height, indent, label, detail, toggle, and the metric; `None` is a header.
pub(super) struct MetricLane {
    pub(super) height_pt: f32,
    pub(super) indent: u8,
    pub(super) label: String,
    pub(super) detail: String,
    pub(super) toggle: Option<(GroupKey, bool)>,
    pub(super) metric: Option<usize>,
}

/// With more devices than this, metrics are closed at first: streams would be out of sight.
const MAX_DEVICES_OPEN: usize = 2;

/// Height of a metric over that of a plain counter: there are many of them.
const HEIGHT_FRAC: f32 = 0.75;

/// Are the metrics of a device open until the user says otherwise?
pub(super) fn is_open_at_first(trace: &Trace) -> bool {
    let is_shown = |track: &Track| 0 < track.n_slices || track.key.family == TrackFamily::Counter;
    let mut devices: Vec<DeviceId> =
        trace.tracks.iter().filter(|track| is_shown(track)).filter_map(|track| track.key.device).collect();
    devices.sort_unstable();
    devices.dedup();
    devices.len() <= MAX_DEVICES_OPEN
}

/// The devices that have metrics, in the order of the tracks.
pub(super) fn devices(metrics: Option<&Metrics>) -> impl Iterator<Item = DeviceId> {
    metrics.into_iter().flat_map(|metrics| metrics.tracks.iter().map(|track| track.device))
}

/// The lanes of a device.
pub(super) fn lanes(
    metrics: &Metrics,
    device: DeviceId,
    heights: &Heights,
    is_open: impl Fn(&GroupKey) -> bool,
) -> Vec<MetricLane> {
    let of_device = || metrics.tracks.iter().enumerate().filter(|(_, track)| track.device == device);
    let (primary, more): (Vec<_>, Vec<_>) = of_device().partition(|(_, track)| track.is_primary);
    let mut lanes = Vec::new();
    if primary.is_empty() && more.is_empty() {
        return lanes;
    }
    let header = |key: GroupKey, indent, label: &str, n: usize| {
        let toggle = Some((key.clone(), is_open(&key)));
        let (label, detail) = (label.to_owned(), n.to_string());
        MetricLane { height_pt: heights.header_pt, indent, label, detail, toggle, metric: None }
    };
    let key = GroupKey::Metrics(device);
    let is_shown = is_open(&key);
    lanes.push(header(key, 1, "Metrics", primary.len() + more.len()));
    if !is_shown {
        return lanes;
    }
    lanes.extend(primary.iter().map(|(idx, track)| lane(*idx, track, 2, heights)));
    if !more.is_empty() {
        let key = GroupKey::MoreMetrics(device);
        let is_shown = is_open(&key);
        lanes.push(header(key, 2, "More metrics", more.len()));
        if is_shown {
            lanes.extend(more.iter().map(|(idx, track)| lane(*idx, track, 3, heights)));
        }
    }
    lanes
}

fn lane(metric: usize, track: &MetricTrack, indent: u8, heights: &Heights) -> MetricLane {
    let is_absent = matches!(track.series, Series::Absent { .. });
    MetricLane {
        height_pt: if is_absent { heights.header_pt } else { heights.counter_pt * HEIGHT_FRAC },
        indent,
        label: track.title.clone(),
        detail: detail(track),
        toggle: None,
        metric: Some(metric),
    }
}

/// What the top of the lane stands for; that of shares goes without saying.
fn detail(track: &MetricTrack) -> String {
    let (_, high) = range(track);
    if matches!(track.series, Series::Absent { .. }) || (track.unit == Unit::Frac && high <= 1.0) {
        return String::new();
    }
    format!("≤ {}", format::counter_value(high, Some(track.unit)))
}

/// The values at the bottom and the top of a metric's lane.
pub(super) fn range(track: &MetricTrack) -> (f64, f64) {
    let whole = track.pyramid.whole().map_or((0.0, 0.0), |whole| (whole.min, whole.max));
    // Clocks and temperatures vary little about a large value, but a lane that does not begin at 0 lies about
    // ratios: bottom is 0 for all.
    shown_range(whole, Some(track.unit))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use tracecard_analyzers::{Params, run_all};
    use tracecard_model::{Progress, fixture};

    use super::super::model::model;
    use super::*;

    const HEIGHTS: Heights = Heights { row_pt: 10.0, header_pt: 20.0, counter_pt: 40.0, gap_pt: 2.0 };

    fn check(text: &str, toggled: &[GroupKey], expected: &[&str]) {
        let trace = fixture(text).unwrap();
        let analysis = run_all(&trace, &Params::default(), &Progress::new()).unwrap();
        let toggled: BTreeSet<GroupKey> = toggled.iter().cloned().collect();
        let model = model(&trace, Some(&analysis.metrics), &toggled, &HEIGHTS);
        let lines: Vec<String> = model
            .lanes
            .iter()
            .map(|lane| {
                let sign = lane.toggle.as_ref().map_or("", |(_, is_open)| if *is_open { "▾ " } else { "▸ " });
                let indent = "  ".repeat(usize::from(lane.indent));
                let text = format!("{:>3} {indent}{sign}{} {}", lane.y_pt, lane.label, lane.detail);
                text.trim_end().to_owned()
            })
            .collect();
        assert_eq!(lines, expected);
    }

    const TRACE: &str = "device 0 H100\nstream 0:7\n  kernel k 0 100\n  d2h c 100 10 bytes=10\n\
        counter 0 frac \"SMs Active\"\n  0 0.5\n  50 0.6\ncounter 0 Hz \"SYS Clock Frequency\"\n  0 1e9\n  50 1e9\n\
        counter 0 count \"queue length\"\n  0 1\n  50 3";

    #[test]
    fn metrics_lie_below_the_streams_and_plain_counters_stay_where_they_are() {
        check(
            TRACE,
            &[],
            &[
                "  0 ▾ GPU 0 H100",
                " 20   Stream 7",
                " 32   ▾ Metrics 5",
                " 52     SM active",
                " 82     Theoretical occupancy",
                "102     L2 hit rate",
                "122     D2H copies ≤ 1 GB/s",
                "152     ▸ More metrics 1",
                "172 ▾ Counters 1",
                "192   queue length",
            ],
        );
    }

    #[test]
    fn groups_close_and_open() {
        let device = DeviceId(0);
        check(
            TRACE,
            &[GroupKey::Metrics(device)],
            &[
                "  0 ▾ GPU 0 H100",
                " 20   Stream 7",
                " 32   ▸ Metrics 5",
                " 52 ▾ Counters 1",
                " 72   queue length",
            ],
        );
        check(
            "counter 0 Hz \"SYS Clock Frequency\"\n  0 1e9\n  50 1e9",
            &[GroupKey::MoreMetrics(device)],
            &[
                "  0 ▾ GPU 0",
                " 20   ▾ Metrics 1",
                " 40     ▾ More metrics 1",
                " 60       System clock ≤ 1 GHz",
            ],
        );
    }

    #[test]
    fn with_many_devices_metrics_are_closed_at_first() {
        let counter = |device: u32| format!("counter {device} frac \"SMs Active\"\n  0 0.5\n  50 0.6\n");
        let text: String = (0..3).map(counter).collect();
        check(
            &text,
            &[],
            &[
                "  0 ▾ GPU 0",
                " 20   ▸ Metrics 1",
                " 40 ▾ GPU 1",
                " 60   ▸ Metrics 1",
                " 80 ▾ GPU 2",
                "100   ▸ Metrics 1",
            ],
        );
    }
}
