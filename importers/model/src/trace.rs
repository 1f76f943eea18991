//! The Trace itself: immutable after `finish()`, shared as `Arc<Trace>`.

use crate::narrow::Narrow;
use crate::{
    Args, Collective, Copy, CorrelationId, Device, Issue, Kernel, LinkKind, Lod, MemoryEvent, NameId, Names,
    Op, Process, SharedTable, SideTable, SliceFlags, SliceId, SliceKind, Span, StackId, Stacks, Track,
    TrackId,
};

/// Facts about the file and the capture.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Meta {
    /// Id of the format: `nsys-sqlite`, `kineto-json`, …
    pub format: &'static str,
    /// Tool and version that wrote the file, in words; `None` where it does not say.
    pub tool: Option<String>,
    /// Wall clock of time 0 in ns since 1970 UTC; `None` where the file does not know it.
    pub start_unix_ns: Option<i64>,
    /// Resolution of the file's time stamps in ns; 1000 where they are whole microseconds.
    pub resolution_ns: i64,
    /// Does the file record what API calls returned? Where not, their errors are unknown, not 0.
    pub has_return_values: bool,
    /// Other facts worth showing (capture options, driver, world size …): (key, value), in file order.
    /// Holds no host names, users, environment or command lines.
    pub properties: Vec<(String, String)>,
}

/// The narrow core: one row a slice, sorted by (track, start, longest first).
#[derive(Clone, Debug, Default)]
pub struct Slices {
    pub(crate) track: Vec<TrackId>,
    pub(crate) kind: Vec<SliceKind>,
    pub(crate) flags: Vec<SliceFlags>,
    pub(crate) name: Vec<NameId>,
    pub(crate) start_ns: Vec<i64>,
    pub(crate) dur_ns: Vec<i64>,
    pub(crate) self_ns: Vec<i64>,
    pub(crate) depth: Vec<u16>,
    pub(crate) parent: Vec<u32>,
    pub(crate) correlation: Narrow,
    pub(crate) source_table: Vec<u8>,
    pub(crate) source_row: Narrow,
}

/// In `parent`: no parent. In `correlation`: no correlation (0, as in the tools themselves).
pub(crate) const NO_PARENT: u32 = u32::MAX;

impl Slices {
    /// How many slices.
    pub fn len(&self) -> usize {
        self.start_ns.len()
    }

    /// None?
    pub fn is_empty(&self) -> bool {
        self.start_ns.is_empty()
    }

    /// The track of each slice.
    pub fn tracks(&self) -> &[TrackId] {
        &self.track
    }

    /// The kind of each slice.
    pub fn kinds(&self) -> &[SliceKind] {
        &self.kind
    }

    /// The flags of each slice.
    pub fn flags(&self) -> &[SliceFlags] {
        &self.flags
    }

    /// The name of each slice.
    pub fn names(&self) -> &[NameId] {
        &self.name
    }

    /// The start of each slice in ns.
    pub fn starts_ns(&self) -> &[i64] {
        &self.start_ns
    }

    /// The duration of each slice in ns; never negative.
    pub fn durs_ns(&self) -> &[i64] {
        &self.dur_ns
    }

    /// Duration less that of the children on the same track; equal to the duration on device tracks.
    /// Never negative.
    pub fn selfs_ns(&self) -> &[i64] {
        &self.self_ns
    }

    /// Nesting depth on tracks that nest, lane on others; slices of one (track, depth) never overlap by
    /// more than the file's time resolution.
    pub fn depths(&self) -> &[u16] {
        &self.depth
    }

    /// The slice it is nested in, on tracks that nest.
    pub fn parent(&self, slice: SliceId) -> Option<SliceId> {
        self.parent.get(slice.idx()).filter(|p| **p != NO_PARENT).map(|p| SliceId(*p))
    }

    /// The number that ties launches to device work, as the file has it.
    pub fn correlation(&self, slice: SliceId) -> Option<CorrelationId> {
        self.correlation.get(slice.idx()).filter(|c| *c != 0).map(CorrelationId)
    }

    /// Start and end.
    pub fn span(&self, slice: SliceId) -> Span {
        let idx = slice.idx();
        Span::from_start_dur_ns(self.start_ns[idx], self.dur_ns[idx])
    }

    /// Where the importer found it: its own number of the table, and the row id or byte offset.
    pub fn source(&self, slice: SliceId) -> (u8, i64) {
        (self.source_table[slice.idx()], self.source_row.get(slice.idx()).unwrap_or(0))
    }
}

/// Ties between slices, sorted by (kind, from, to).
#[derive(Clone, Debug, Default)]
pub struct Links {
    pub(crate) rows: Vec<(LinkKind, SliceId, SliceId)>,
    pub(crate) by_target: Vec<u32>,
}

impl Links {
    /// All links as (kind, from, to), sorted.
    pub fn rows(&self) -> &[(LinkKind, SliceId, SliceId)] {
        &self.rows
    }

    /// Where links of this kind from this slice lead, ascending. O(log n).
    pub fn targets(&self, kind: LinkKind, from: SliceId) -> impl Iterator<Item = SliceId> {
        let first = self.rows.partition_point(|&(k, f, _)| (k, f) < (kind, from));
        self.rows[first..].iter().take_while(move |&&(k, f, _)| (k, f) == (kind, from)).map(|r| r.2)
    }

    /// Where the first link of this kind to this slice comes from. O(log n).
    pub fn source(&self, kind: LinkKind, to: SliceId) -> Option<SliceId> {
        let key = |idx: u32| {
            let (kind, _, to) = self.rows[idx as usize];
            (to, kind)
        };
        let first = self.by_target.partition_point(|&idx| key(idx) < (to, kind));
        let idx = *self.by_target.get(first)?;
        (key(idx) == (to, kind)).then(|| self.rows[idx as usize].1)
    }
}

/// Instants without a duration, sorted by (track, time).
#[derive(Clone, Debug, Default)]
pub struct Marks {
    pub(crate) track: Vec<TrackId>,
    pub(crate) time_ns: Vec<i64>,
    pub(crate) name: Vec<NameId>,
}

impl Marks {
    /// All marks as (track, time, name), sorted.
    pub fn iter(&self) -> impl Iterator<Item = (TrackId, i64, NameId)> {
        self.track.iter().zip(&self.time_ns).zip(&self.name).map(|((t, time), n)| (*t, *time, *n))
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.time_ns.len()
    }

    /// None?
    pub fn is_empty(&self) -> bool {
        self.time_ns.is_empty()
    }
}

/// Samples of all counters, sorted by (track, time).
#[derive(Clone, Debug, Default)]
pub struct Counters {
    /// Where the samples of each track start, and where the last ones end.
    pub(crate) starts: Vec<usize>,
    pub(crate) time_ns: Vec<i64>,
    pub(crate) value: Vec<f64>,
}

impl Counters {
    /// The samples of one counter: times in ns (ascending) and values in the track's unit. O(1).
    pub fn of(&self, track: TrackId) -> (&[i64], &[f64]) {
        let bound = |idx: usize| self.starts.get(idx).copied().unwrap_or(self.time_ns.len());
        let range = bound(track.idx())..bound(track.idx() + 1);
        (&self.time_ns[range.clone()], &self.value[range])
    }

    /// The track of each sample, in order.
    #[cfg(feature = "frames")]
    pub(crate) fn tracks(&self) -> impl Iterator<Item = TrackId> + '_ {
        let n = |pair: &[usize]| pair[1] - pair[0];
        self.starts
            .windows(2)
            .enumerate()
            .flat_map(move |(idx, pair)| std::iter::repeat_n(TrackId::from_idx(idx), n(pair)))
    }

    /// How many samples in all.
    pub fn len(&self) -> usize {
        self.time_ns.len()
    }

    /// None?
    pub fn is_empty(&self) -> bool {
        self.time_ns.is_empty()
    }
}

/// One look of a profiler at a running thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The thread's track of samples.
    pub track: TrackId,
    /// When.
    pub time_ns: i64,
    /// The CPU it ran on; `None` where the file does not say.
    pub cpu: Option<u32>,
    /// The call stack; `None` where none was taken.
    pub stack: Option<StackId>,
}

/// CPU samples, sorted by (track, time).
#[derive(Clone, Debug, Default)]
pub struct Samples {
    pub(crate) rows: Vec<Sample>,
}

impl Samples {
    /// All samples.
    pub fn rows(&self) -> &[Sample] {
        &self.rows
    }

    /// The samples of one track, by time. O(log n).
    pub fn of(&self, track: TrackId) -> &[Sample] {
        let first = self.rows.partition_point(|sample| sample.track < track);
        let end = self.rows.partition_point(|sample| sample.track <= track);
        &self.rows[first..end]
    }
}

/// One run: what a file says, in columns.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// Facts about the file.
    pub meta: Meta,
    /// Interned texts of slices and marks.
    pub names: Names,
    /// Processes by [`crate::ProcessId`].
    pub processes: Vec<Process>,
    /// Devices by [`crate::DeviceId`].
    pub devices: Vec<Device>,
    /// Tracks by [`TrackId`]: host threads, then device streams, then counters.
    pub tracks: Vec<Track>,
    /// All slices.
    pub slices: Slices,
    /// Launch shapes of kernels.
    pub kernels: SharedTable<Kernel>,
    /// Directions and sizes of copies and memsets.
    pub copies: SideTable<Copy>,
    /// Arguments of operators.
    pub ops: SideTable<Op>,
    /// Argument sets.
    pub args: Args,
    /// What communication slices move.
    pub collectives: SideTable<Collective>,
    /// NVTX domain names, for slices outside the default domain.
    pub domains: SideTable<NameId>,
    /// Return values of API calls that returned something else than success or "not ready".
    pub api_errors: SideTable<i64>,
    /// Call stacks at the start of calls, where the tool took them.
    pub call_stacks: SideTable<StackId>,
    /// The frames of all stacks.
    pub stacks: Stacks,
    /// CPU samples.
    pub samples: Samples,
    /// Ties between slices.
    pub links: Links,
    /// Instants.
    pub marks: Marks,
    /// Counter samples.
    pub counters: Counters,
    /// Allocations and frees, by time.
    pub memory_events: Vec<MemoryEvent>,
    /// What was wrong in the input, gravest first.
    pub issues: Vec<Issue>,
    /// Drawing pyramid over the slices of each track.
    pub lod: Lod,
    pub(crate) span: Option<Span>,
}

impl Trace {
    /// From the first start to the last end over slices and counters; `None` when there are neither.
    pub fn span(&self) -> Option<Span> {
        self.span
    }

    /// The name of a slice.
    pub fn name(&self, slice: SliceId) -> &str {
        self.names.text(self.slices.name[slice.idx()])
    }

    /// The track of a slice.
    pub fn track_of(&self, slice: SliceId) -> &Track {
        &self.tracks[self.slices.track[slice.idx()].idx()]
    }

    /// The API call that enqueued this device slice.
    pub fn launch_of(&self, slice: SliceId) -> Option<SliceId> {
        self.links.source(LinkKind::Launch, slice)
    }

    /// All slices in order.
    pub fn slice_ids(&self) -> impl Iterator<Item = SliceId> + use<> {
        (0..self.slices.len()).map(SliceId::from_idx)
    }

    /// The slices of one track, by start.
    pub fn slices_on(&self, track: TrackId) -> impl Iterator<Item = SliceId> + use<> {
        let range = self.tracks.get(track.idx()).map_or(0..0, Track::range);
        range.map(SliceId::from_idx)
    }
}
