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
