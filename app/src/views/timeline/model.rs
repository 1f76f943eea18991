//! What the timeline shows from top to bottom: devices, then processes with their threads, then counters.
//!
//! ```text
//! ▾ GPU 0 · NVIDIA H100          header, closes what is below
//!     Stream 7                   one row a lane
//!     Stream 7 · graphs
//! ▾ python 4242
//!   ▾ main thread
//!       Operators                one row a depth
//!       CUDA API
//! ▾ Counters
//!     SMs Active
//! ```
//! Devices come first: they are what the run waits for, and they need few rows.

use std::collections::{BTreeMap, BTreeSet};

use tracecard_analyzers::Metrics;
use tracecard_model::{DeviceId, ProcessId, Trace, Track, TrackFamily, TrackId};

use super::metric_lanes;

/// What can be opened and closed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GroupKey {
    /// A device with its streams.
    Device(DeviceId),
    /// A process with its threads; `None` for tracks without a process.
    Process(Option<ProcessId>),
    /// A thread with its tracks.
    Thread(Option<ProcessId>, String),
    /// All counters.
    Counters,
    /// The metrics of a device.
    Metrics(DeviceId),
    /// Those of them that are not shown at first.
    MoreMetrics(DeviceId),
    /// One track with many rows.
    Track(TrackId),
}

/// What a lane is, whatever is above it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LaneKey {
    /// A group: its header, and all that is in it.
    Group(GroupKey),
    /// Slices or a counter of the trace.
    Track(TrackId),
    /// One of the run's metrics, by its index in the analysis.
    Metric(usize),
}

/// Heights in points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Heights {
    /// One depth of slices.
    pub row_pt: f32,
    /// A group's header.
    pub header_pt: f32,
    /// A counter.
    pub counter_pt: f32,
    /// Air below each track.
    pub gap_pt: f32,
}

/// What a lane shows.
#[derive(Clone, Debug, PartialEq)]
pub enum LaneKind {
    /// The header of a group. Closed, it shows the top rows of these tracks.
    Header {
        /// Tracks inside; empty when open.
        preview: Vec<TrackId>,
    },
    /// Slices of one track.
    Slices {
        /// The track.
        track: TrackId,
        /// Rows shown; fewer than the track has when it is closed.
        n_rows: u32,
    },
    /// Samples of one counter.
    Counter {
        /// The track.
        track: TrackId,
    },
    /// One of the run's metrics.
    Metric {
        /// Its index in the analysis.
        metric: usize,
    },
}

/// A horizontal strip of the timeline.
#[derive(Clone, Debug, PartialEq)]
pub struct Lane {
    /// Top, from that of the first lane.
    pub y_pt: f32,
    /// Height.
    pub height_pt: f32,
    /// Depth in the tree of groups.
    pub indent: u8,
    /// What the user reads.
    pub label: String,
    /// More, said quietly.
    pub detail: String,
    /// What opens and closes it, and whether it is open.
    pub toggle: Option<(GroupKey, bool)>,
    /// Contents.
    pub kind: LaneKind,
}

/// All lanes by y.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Model {
    /// The lanes.
    pub lanes: Vec<Lane>,
    /// Height of all together.
    pub height_pt: f32,
}

/// A call stack deeper than this is closed at first: what lies below it would be out of sight.
const MAX_ROWS_OPEN: u32 = 12;
/// A closed track still shows so many rows.
const ROWS_WHEN_CLOSED: u32 = 3;
/// A closed group shows the top rows of so many tracks at the most.
const MAX_PREVIEWS: usize = 8;

/// The lanes of a trace. `toggled` are the groups that are not as they are at first; `metrics` come with the
/// analysis.
pub fn model(
    trace: &Trace,
    metrics: Option<&Metrics>,
    toggled: &BTreeSet<GroupKey>,
    heights: &Heights,
) -> Model {
    let mut builder = Builder { trace, metrics, toggled, heights, model: Model::default() };
    let shown: Vec<(TrackId, &Track)> = (0..)
        .map(TrackId)
        .zip(&trace.tracks)
        .filter(|(id, track)| 0 < track.n_slices || !trace.counters.of(*id).0.is_empty())
        .collect();
    builder.devices(&shown);
    builder.processes(&shown);
    builder.counters(&shown);
    builder.model
}

impl Lane {
    /// What it is; `None` for a header that closes nothing.
    pub fn key(&self) -> Option<LaneKey> {
        match &self.kind {
            LaneKind::Header { .. } => self.toggle.as_ref().map(|(group, _)| LaneKey::Group(group.clone())),
            LaneKind::Slices { track, .. } | LaneKind::Counter { track } => Some(LaneKey::Track(*track)),
            LaneKind::Metric { metric } => Some(LaneKey::Metric(*metric)),
        }
    }
}

impl Model {
    /// The lanes that touch `[from_pt, to_pt)`.
    pub fn visible(&self, from_pt: f32, to_pt: f32) -> std::ops::Range<usize> {
        let first = self.lanes.partition_point(|lane| lane.y_pt + lane.height_pt <= from_pt);
        let end = self.lanes.partition_point(|lane| lane.y_pt < to_pt);
        first..end.max(first)
    }

    /// The header of a group; `None` when a group around it is closed.
    pub fn header_of(&self, wanted: &GroupKey) -> Option<&Lane> {
        self.lanes.iter().find(|lane| {
            matches!(lane.kind, LaneKind::Header { .. })
                && lane.toggle.as_ref().is_some_and(|(group, _)| group == wanted)
        })
    }

    /// The lane of a track and the number of rows shown of it; `None` when its group is closed.
    pub fn lane_of(&self, wanted: TrackId) -> Option<&Lane> {
        self.lanes.iter().find(|lane| match &lane.kind {
            LaneKind::Slices { track, .. } | LaneKind::Counter { track } => *track == wanted,
            LaneKind::Header { .. } | LaneKind::Metric { .. } => false,
        })
    }
}

/// The groups around a track, outermost first.
pub fn groups_of(track: &Track) -> Vec<GroupKey> {
    let key = &track.key;
    match (key.family, key.device, &key.thread) {
        (TrackFamily::Counter, _, _) => vec![GroupKey::Counters],
        (family, Some(device), _) if family.is_device() => vec![GroupKey::Device(device)],
        (_, _, Some(thread)) => {
            vec![GroupKey::Process(key.process), GroupKey::Thread(key.process, thread.clone())]
        }
        (_, _, None) => vec![GroupKey::Process(key.process)],
    }
}

/// Is the group open until the user says otherwise?
pub fn is_open_at_first(trace: &Trace, group: &GroupKey) -> bool {
    match group {
        GroupKey::Thread(process, thread) => trace.tracks.iter().any(|track| {
            let is_of_thread = track.key.process == *process && track.key.thread.as_ref() == Some(thread);
            let is_quiet = matches!(
                track.key.family,
                TrackFamily::OsRuntime
                    | TrackFamily::Overhead
                    | TrackFamily::Scheduling
                    | TrackFamily::Samples
            );
            is_of_thread && !is_quiet && 0 < track.n_slices
        }),
        GroupKey::Track(track) => trace.tracks.get(track.idx()).is_none_or(|t| t.n_rows <= MAX_ROWS_OPEN),
        GroupKey::Metrics(_) => metric_lanes::is_open_at_first(trace),
        GroupKey::MoreMetrics(_) => false,
        _ => true,
    }
}

/// What a family is called beside its track.
pub fn family_title(family: TrackFamily) -> &'static str {
    match family {
        TrackFamily::Ops => "Operators",
        TrackFamily::Nvtx => "NVTX",
        TrackFamily::NvtxStartEnd => "NVTX start/end",
        TrackFamily::Python => "Python",
        TrackFamily::Api => "CUDA API",
        TrackFamily::OsRuntime => "OS runtime",
        TrackFamily::Overhead => "Profiler overhead",
        TrackFamily::Library => "Library calls",
        TrackFamily::Scheduling => "On CPU",
        TrackFamily::Samples => "CPU samples",
        TrackFamily::Other => "Other",
        TrackFamily::Stream => "Stream",
        TrackFamily::Graph => "CUDA graphs",
        TrackFamily::GpuAnnotation => "Annotations",
        TrackFamily::Sync => "Synchronisation",
        TrackFamily::DeviceOther => "Other GPU work",
        TrackFamily::Counter => "Counter",
    }
}

struct Builder<'a> {
    trace: &'a Trace,
    metrics: Option<&'a Metrics>,
    toggled: &'a BTreeSet<GroupKey>,
    heights: &'a Heights,
    model: Model,
}

type Tracks<'a> = [(TrackId, &'a Track)];

/// Tracks by what they belong to, in the order of the tracks.
type Grouped<'a, K> = Vec<(K, Vec<(TrackId, &'a Track)>)>;

impl Builder<'_> {
    fn devices(&mut self, shown: &Tracks<'_>) {
        let mut of_device: BTreeMap<(u32, DeviceId), Vec<(TrackId, &Track)>> = BTreeMap::new();
        let rank = |device: DeviceId| {
            (self.trace.devices.get(device.idx()).map_or(u32::MAX, |row| row.number), device)
        };
        metric_lanes::devices(self.metrics).for_each(|device| {
            of_device.entry(rank(device)).or_default();
        });
        for (id, track) in shown.iter().filter(|(_, track)| track.key.family.is_device()) {
            if let Some(device) = track.key.device {
                of_device.entry(rank(device)).or_default().push((*id, track));
            }
        }
        for ((_, device), tracks) in of_device {
            let (label, detail) = self.device_label(device);
            if self.header(GroupKey::Device(device), 0, label, detail, &tracks) {
                let contexts: BTreeSet<_> =
                    tracks.iter().map(|t| (t.1.key.process, t.1.key.context)).collect();
                for (id, track) in tracks {
                    let owner = if 1 < contexts.len() { self.owner(track) } else { String::new() };
                    let family = Some(track.key.family).filter(|family| *family != TrackFamily::Stream);
                    let family = family.map(|family| family_title(family).to_lowercase());
                    let detail = family.into_iter().chain(Some(owner).filter(|owner| !owner.is_empty()));
                    let detail = detail.collect::<Vec<_>>().join(" · ");
                    self.track(id, track, 1, with_capital(&track.name), detail);
                }
                self.metrics(device);
            }
        }
    }

    fn metrics(&mut self, device: DeviceId) {
        let Some(metrics) = self.metrics else { return };
        let is_open = |key: &GroupKey| is_open_at_first(self.trace, key) != self.toggled.contains(key);
        for lane in metric_lanes::lanes(metrics, device, self.heights, is_open) {
            let header = LaneKind::Header { preview: Vec::new() };
            let kind = lane.metric.map_or(header, |metric| LaneKind::Metric { metric });
            self.lane(lane.height_pt, lane.indent, lane.label, lane.detail, lane.toggle, kind);
        }
    }

    fn processes(&mut self, shown: &Tracks<'_>) {
        let mut of_process: Grouped<'_, Option<ProcessId>> = Vec::new();
        for (id, track) in shown {
            if track.key.family.is_device() || track.key.family == TrackFamily::Counter {
                continue;
            }
            match of_process.iter_mut().find(|(process, _)| *process == track.key.process) {
                Some((_, tracks)) => tracks.push((*id, track)),
                None => of_process.push((track.key.process, vec![(*id, track)])),
            }
        }
        for (process, tracks) in of_process {
            let (label, detail) = self.process_label(process);
            if self.header(GroupKey::Process(process), 0, label, detail, &tracks) {
                self.threads(process, &tracks);
            }
        }
    }

    fn threads(&mut self, process: Option<ProcessId>, tracks: &Tracks<'_>) {
        let mut of_thread: Grouped<'_, &Option<String>> = Vec::new();
        for (id, track) in tracks {
            match of_thread.iter_mut().find(|(thread, _)| *thread == &track.key.thread) {
                Some((_, tracks)) => tracks.push((*id, track)),
                None => of_thread.push((&track.key.thread, vec![(*id, track)])),
            }
        }
        for (thread, tracks) in of_thread {
            let (Some(thread), Some((_, first))) = (thread, tracks.first()) else {
                for (id, track) in tracks {
                    self.track(id, track, 1, family_title(track.key.family).to_owned(), String::new());
                }
                continue;
            };
            let detail = if first.name.contains(thread.as_str()) { String::new() } else { thread.clone() };
            let key = GroupKey::Thread(process, thread.clone());
            if self.header(key, 1, first.name.clone(), detail, &tracks) {
                for (id, track) in tracks {
                    self.track(id, track, 2, family_title(track.key.family).to_owned(), String::new());
                }
            }
        }
    }

    fn counters(&mut self, shown: &Tracks<'_>) {
        let is_counter = |track: &Track| track.key.family == TrackFamily::Counter;
        let is_metric = |id: TrackId| self.metrics.is_some_and(|metrics| metrics.has_counter(id));
        let counters = shown.iter().copied().filter(|(id, track)| is_counter(track) && !is_metric(*id));
        let tracks: Vec<_> = counters.collect();
        if tracks.is_empty() {
            return;
        }
        let devices: BTreeSet<_> = tracks.iter().map(|(_, track)| track.key.device).collect();
        if !self.header(GroupKey::Counters, 0, "Counters".to_owned(), tracks.len().to_string(), &[]) {
            return;
        }
        for (track, row) in tracks {
            let of_device = row.key.device.filter(|_| 1 < devices.len());
            let detail = of_device.map_or_else(String::new, |device| self.device_label(device).0);
            self.lane(
                self.heights.counter_pt,
                1,
                row.name.clone(),
                detail,
                None,
                LaneKind::Counter { track },
            );
        }
    }

    /// Adds the header of a group; is the group open?
    fn header(
        &mut self,
        key: GroupKey,
        indent: u8,
        label: String,
        detail: String,
        tracks: &Tracks<'_>,
    ) -> bool {
        let is_open = is_open_at_first(self.trace, &key) != self.toggled.contains(&key);
        let preview: Vec<TrackId> = tracks.iter().map(|track| track.0).take(MAX_PREVIEWS).collect();
        let preview = if is_open { Vec::new() } else { preview };
        let kind = LaneKind::Header { preview };
        self.lane(self.heights.header_pt, indent, label, detail, Some((key, is_open)), kind);
        is_open
    }

    fn track(&mut self, id: TrackId, track: &Track, indent: u8, label: String, detail: String) {
        let key = GroupKey::Track(id);
        let is_open = is_open_at_first(self.trace, &key) != self.toggled.contains(&key);
        let n_rows = if is_open { track.n_rows } else { track.n_rows.min(ROWS_WHEN_CLOSED) };
        let toggle = (ROWS_WHEN_CLOSED < track.n_rows).then_some((key, is_open));
        let n_hidden = track.n_rows - n_rows;
        let detail = if 0 < n_hidden { format!("+{n_hidden} rows") } else { detail };
        let height_pt = n_rows as f32 * self.heights.row_pt + self.heights.gap_pt;
        self.lane(height_pt, indent, label, detail, toggle, LaneKind::Slices { track: id, n_rows });
    }

    fn lane(
        &mut self,
        height_pt: f32,
        indent: u8,
        label: String,
        detail: String,
        toggle: Option<(GroupKey, bool)>,
        kind: LaneKind,
    ) {
        let y_pt = self.model.height_pt;
        self.model.lanes.push(Lane { y_pt, height_pt, indent, label, detail, toggle, kind });
        self.model.height_pt += height_pt;
    }

    fn device_label(&self, device: DeviceId) -> (String, String) {
        let Some(row) = self.trace.devices.get(device.idx()) else {
            return ("GPU".to_owned(), String::new());
        };
        (format!("GPU {}", row.number), row.name.clone().unwrap_or_default())
    }

    fn process_label(&self, process: Option<ProcessId>) -> (String, String) {
        let Some(row) = process.and_then(|id| self.trace.processes.get(id.idx())) else {
            return ("No process".to_owned(), String::new());
        };
        let label = match &row.name {
            Some(name) => name.clone(),
            None => format!("Process {}", row.os_pid),
        };
        let pid = row.name.as_ref().map(|_| row.os_pid.clone());
        let rank = row.rank.map(|rank| format!("rank {rank}"));
        (label, pid.into_iter().chain(rank).collect::<Vec<_>>().join(" · "))
    }

    /// Whose stream it is, where a device serves several processes or contexts.
    fn owner(&self, track: &Track) -> String {
        let process = track.key.process.and_then(|id| self.trace.processes.get(id.idx()));
        let process = process.filter(|_| 1 < self.trace.processes.len()).map(|row| row.os_pid.clone());
        let context = track.key.context.map(|context| format!("context {context}"));
        process.into_iter().chain(context).collect::<Vec<_>>().join(" · ")
    }
}

fn with_capital(name: &str) -> String {
    let mut name = name.to_owned();
    if let Some(first) = name.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracecard_model::fixture;

    const HEIGHTS: Heights = Heights { row_pt: 10.0, header_pt: 20.0, counter_pt: 40.0, gap_pt: 2.0 };

    const TRACE: &str = "
        device 0 H100
        thread 1 ops
          op outer 0 100
          op inner 10 20
        thread 1 api
          api cudaLaunchKernel 12 5 #1
        thread 9 os_runtime
          os_runtime poll 0 50
        stream 0:7
          kernel gemm 20 60 #1
          kernel overlapping 40 60
        counter 0 frac \"SMs Active\"
          0 0.5";

    fn lines(model: &Model) -> Vec<String> {
        let line = |lane: &Lane| {
            let mark = match &lane.toggle {
                Some((_, true)) => "▾ ",
                Some((_, false)) => "▸ ",
                None => "",
            };
            let indent = "  ".repeat(usize::from(lane.indent));
            format!("{:>3} {:>2} {indent}{mark}{} {}", lane.y_pt, lane.height_pt, lane.label, lane.detail)
        };
        model.lanes.iter().map(|lane| line(lane).trim_end().to_owned()).collect()
    }

    #[test]
    fn devices_then_threads_then_counters() {
        let trace = fixture(TRACE).unwrap();
        let expected = [
            "  0 20 ▾ GPU 0 H100",
            " 20 22   Stream 7",
            " 42 20 ▾ Process 1",
            " 62 20   ▾ thread 1",
            " 82 22     Operators",
            "104 12     CUDA API",
            "116 20   ▸ thread 9",
            "136 20 ▾ Counters 1",
            "156 40   SMs Active",
        ];
        assert_eq!(lines(&model(&trace, None, &BTreeSet::new(), &HEIGHTS)), expected);
    }

    #[test]
    fn a_closed_group_keeps_its_header_with_a_preview() {
        let trace = fixture(TRACE).unwrap();
        let toggled = BTreeSet::from([GroupKey::Process(Some(ProcessId(0)))]);
        let model = model(&trace, None, &toggled, &HEIGHTS);
        assert_eq!(lines(&model)[2..], [" 42 20 ▸ Process 1", " 62 20 ▾ Counters 1", " 82 40   SMs Active"]);
        assert!(matches!(&model.lanes[2].kind, LaneKind::Header { preview } if preview.len() == 3));
    }

    #[test]
    fn deep_stacks_are_closed_at_first() {
        let frames: String = (0..20).map(|i| format!("python f{i} {i} {}\n", 100 - 2 * i)).collect();
        let trace = fixture(&format!("thread 1 python\n{frames}")).unwrap();
        let height_pt = |toggled| model(&trace, None, &toggled, &HEIGHTS).lanes[2].height_pt;
        assert_eq!(height_pt(BTreeSet::new()), 32.0);
        assert_eq!(height_pt(BTreeSet::from([GroupKey::Track(TrackId(0))])), 202.0);
    }

    #[test]
    fn an_empty_trace_has_no_lanes() {
        let trace = fixture("").unwrap();
        assert_eq!(model(&trace, None, &BTreeSet::new(), &HEIGHTS), Model::default());
    }

    #[test]
    fn visible_lanes_are_found_by_y() {
        let trace = fixture(TRACE).unwrap();
        let model = model(&trace, None, &BTreeSet::new(), &HEIGHTS);
        assert_eq!(model.visible(0.0, 20.0), 0..1);
        assert_eq!(model.visible(21.0, 63.0), 1..4);
        assert_eq!(model.visible(1e6, 2e6), 9..9);
    }
}
