//! What a stretch of time on some tracks is made of: slices by name, counters, what devices do, gaps.
//!
//! Everything is cut at the ends of the stretch: a slice that reaches beyond them counts once, with the part
//! inside. Self time is what the part inside leaves when the parts of the children inside are taken away.

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use tracecard_model::{
    Cancelled, DeviceId, NameId, Progress, SliceId, SliceKind, Span, Trace, TrackId, Unit as CounterUnit,
};

use crate::metrics::{Covers, Pyramid, Summary, counter_view, period_ns};
use crate::{Cause, Column, DevicePartition, Metrics, Split, Table, Unit};

/// What is looked at.
#[derive(Clone, Debug, PartialEq)]
pub struct Area {
    /// The stretch of time.
    pub span: Span,
    /// Tracks of slices and counters.
    pub tracks: Vec<TrackId>,
    /// Metrics, by their place in [`Metrics::tracks`].
    pub metrics: Vec<usize>,
    /// Devices.
    pub devices: Vec<DeviceId>,
}

/// A counter or metric inside the stretch.
#[derive(Clone, Debug, PartialEq)]
pub struct CounterInside {
    /// Its title.
    pub name: String,
    /// Whose it is; `None` where it belongs to no device.
    pub device: Option<DeviceId>,
    /// Unit of the values.
    pub unit: Option<CounterUnit>,
    /// Least, greatest, and mean weighted by time; over the time inside for which a value is known.
    pub summary: Summary,
}

/// What a device does inside the stretch.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceInside {
    /// The device.
    pub device: DeviceId,
    /// The part of the stretch that was analysed.
    pub span: Span,
    /// How it is spent; adds up to the span.
    pub split: Split,
    /// Gaps that touch it.
    pub n_gaps: usize,
    /// The longest part of a gap inside, in ns; 0 without gaps.
    pub longest_gap_ns: i64,
}

/// What a stretch is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct Selected {
    /// Slices that touch it.
    pub n_slices: u64,
    /// One row a name and kind: `selection_slices`.
    pub slices: Table,
    /// Counters and metrics of which a value is known inside, in the order of the area.
    pub counters: Vec<CounterInside>,
    /// Devices that have work, in the order of the partitions.
    pub devices: Vec<DeviceInside>,
    /// One row a gap, longest first: `selection_gaps`.
    pub gaps: Table,
}

/// How many slices touch an area: what [`select`] costs. O(rows · log slices).
pub fn n_touching(trace: &Trace, area: &Area) -> usize {
    let rows = area.tracks.iter().flat_map(|track| trace.lod.rows(*track));
    // Counting stops where it is known to be much.
    rows.map(|row| row.touching(&trace.slices, area.span).take(MANY).count()).sum()
}

/// In [`n_touching`]: more of a row are not counted.
const MANY: usize = 50_000;

/// What an area is made of. O(slices inside).
///
/// # Errors
/// Only when cancelled.
pub fn select(
    trace: &Trace,
    partitions: &[DevicePartition],
    metrics: Option<&Metrics>,
    area: &Area,
    progress: &Progress,
) -> Result<Selected, Cancelled> {
    let of_tracks: Vec<Sums> = area
        .tracks
        .par_iter()
        .map(|track| of_track(trace, *track, area.span, progress))
        .collect::<Result<_, _>>()?;
    let mut sums = Sums::default();
    for (key, sum) in of_tracks.into_iter().flatten() {
        sums.entry(key).or_default().add(sum);
    }
    let (slices, n_slices) = slice_table(trace, sums);
    let shown = || partitions.iter().filter(|part| area.devices.contains(&part.device));
    progress.check()?;
    Ok(Selected {
        n_slices,
        slices,
        counters: counters(trace, metrics, area),
        devices: shown().map(|part| device(part, area.span)).collect(),
        gaps: gap_table(trace, shown(), area.span),
    })
}

/// Sums of one name and kind.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    count: u64,
    total_ns: i64,
    self_ns: i64,
    longest_ns: i64,
    /// The slice with the longest part inside, the first of equals.
    example: Option<SliceId>,
}

impl Sum {
    fn count(&mut self, slice: SliceId, inside_ns: i64) {
        self.add(Self {
            count: 1,
            total_ns: inside_ns,
            self_ns: 0,
            longest_ns: inside_ns,
            example: Some(slice),
        });
    }

    fn add(&mut self, other: Self) {
        self.count += other.count;
        self.total_ns += other.total_ns;
        self.self_ns += other.self_ns;
        let is_first = other.longest_ns == self.longest_ns && other.example < self.example;
        if self.example.is_none() || self.longest_ns < other.longest_ns || is_first {
            (self.longest_ns, self.example) = (other.longest_ns, other.example);
        }
    }
}

type Sums = FxHashMap<(NameId, SliceKind), Sum>;

/// After so many slices it is asked whether to go on.
const CHECK_EVERY: u64 = 1 << 16;

fn of_track(trace: &Trace, track: TrackId, span: Span, progress: &Progress) -> Result<Sums, Cancelled> {
    let slices = &trace.slices;
    let key_of = |slice: SliceId| (slices.names()[slice.idx()], slices.kinds()[slice.idx()]);
    let is_whole = |inside: Span, slice: SliceId| inside == slices.span(slice);
    let nests = trace.tracks.get(track.idx()).is_some_and(|row| row.key.family.nests());
    let mut sums = Sums::default();
    // What is left of slices that reach beyond the ends: at most two a depth.
    let mut cut_ns: FxHashMap<SliceId, i64> = FxHashMap::default();
    let mut n_seen = 0;
    // Parents lie on rows above their children.
    for row in trace.lod.rows(track) {
        for slice in row.touching(slices, span) {
            n_seen += 1;
            if n_seen % CHECK_EVERY == 0 {
                progress.check()?;
            }
            let inside = slices.span(slice).intersect(span);
            let inside_ns = inside.dur_ns();
            let sum = sums.entry(key_of(slice)).or_default();
            sum.count(slice, inside_ns);
            if !nests {
                sum.self_ns += inside_ns;
            } else if is_whole(inside, slice) {
                sum.self_ns += slices.selfs_ns()[slice.idx()];
            } else {
                cut_ns.insert(slice, inside_ns);
            }
            if let Some(left_ns) = slices.parent(slice).and_then(|parent| cut_ns.get_mut(&parent)) {
                *left_ns -= inside_ns;
            }
        }
    }
    for (slice, left_ns) in cut_ns {
        // Where a child ends a little late, less than nothing would be left.
        sums.entry(key_of(slice)).or_default().self_ns += left_ns.max(0);
    }
    Ok(sums)
}

fn slice_table(trace: &Trace, sums: Sums) -> (Table, u64) {
    let mut rows: Vec<((NameId, SliceKind), Sum)> = sums.into_iter().collect();
    rows.sort_unstable_by_key(|((name, kind), sum)| {
        (std::cmp::Reverse((sum.self_ns, sum.total_ns, sum.count)), *kind, *name)
    });
    let mut of_kind: FxHashMap<SliceKind, i64> = FxHashMap::default();
    for ((_, kind), sum) in &rows {
        *of_kind.entry(*kind).or_default() += sum.self_ns;
    }
    let ints = |of: fn(&Sum) -> i64| rows.iter().map(move |(_, sum)| Some(of(sum))).collect::<Vec<_>>();
    let share = |((_, kind), sum): &((NameId, SliceKind), Sum)| {
        let all_ns = of_kind.get(kind).copied().filter(|ns| 0 < *ns)?;
        Some(sum.self_ns as f64 / all_ns as f64)
    };
    let columns = vec![
        Column::texts(
            "name",
            "Name",
            "Name of the slices",
            rows.iter().map(|((name, _), _)| Some(trace.names.text(*name).to_owned())),
        ),
        Column::texts(
            "kind",
            "Kind",
            "What they are",
            rows.iter().map(|((_, kind), _)| Some(kind.text().to_owned())),
        ),
        Column::ints(
            "count",
            "Count",
            Unit::Count,
            "Slices that touch the selection",
            ints(|s| s.count as i64),
        ),
        Column::ints(
            "self_ns",
            "Self",
            Unit::Ns,
            "Time inside the selection without that of nested slices of the same track",
            ints(|s| s.self_ns),
        ),
        Column::ints(
            "total_ns",
            "Total",
            Unit::Ns,
            "Time inside the selection with that of nested slices; slices beside each other add up, and a name inside itself counts twice",
            ints(|s| s.total_ns),
        ),
        Column::reals(
            "share_frac",
            "Share",
            Unit::Frac,
            "Share of the self time of all selected slices of this kind",
            rows.iter().map(share),
        ),
        Column::ints(
            "longest_ns",
            "Longest",
            Unit::Ns,
            "The longest of them, as far as it lies inside the selection",
            ints(|s| s.longest_ns),
        ),
        Column::slices("example", "Example", "The longest of them", rows.iter().map(|(_, sum)| sum.example)),
    ];
    let n_slices = rows.iter().map(|(_, sum)| sum.count).sum();
    (Table { id: "selection_slices", title: "Slices by name", columns }, n_slices)
}

fn counters(trace: &Trace, metrics: Option<&Metrics>, area: &Area) -> Vec<CounterInside> {
    let of_metric = |idx: &usize| {
        let track = metrics?.tracks.get(*idx)?;
        let summary = track.pyramid.within(&track.view(trace), area.span)?;
        Some(CounterInside {
            name: track.title.clone(),
            device: Some(track.device),
            unit: Some(track.unit),
            summary,
        })
    };
    let of_counter = |track: &TrackId| {
        let row = trace.tracks.get(track.idx())?;
        let (times_ns, values) = trace.counters.of(*track);
        if times_ns.is_empty() || metrics.is_some_and(|metrics| metrics.has_counter(*track)) {
            return None;
        }
        // Only what lies inside is summed up, with the samples before and after it.
        let first = times_ns.partition_point(|t| *t <= area.span.start_ns).saturating_sub(1);
        let end = (times_ns.partition_point(|t| *t < area.span.end_ns) + 2).min(times_ns.len());
        let period_ns = period_ns(times_ns);
        let (times_ns, values) = (times_ns.get(first..end)?, values.get(first..end)?);
        let view = counter_view(times_ns, values, Covers::UntilNext, period_ns);
        let summary = Pyramid::new(&view).within(&view, area.span)?;
        Some(CounterInside { name: row.name.clone(), device: row.key.device, unit: row.unit, summary })
    };
    let metrics_inside = area.metrics.iter().filter_map(of_metric);
    metrics_inside.chain(area.tracks.iter().filter_map(of_counter)).collect()
}

fn device(part: &DevicePartition, span: Span) -> DeviceInside {
    let span = span.intersect(part.window);
    let gaps = touching_gaps(part, span);
    DeviceInside {
        device: part.device,
        span,
        split: part.split(span),
        n_gaps: gaps.len(),
        longest_gap_ns: gaps.iter().map(|gap| gap.span.intersect(span).dur_ns()).max().unwrap_or(0),
    }
}

fn touching_gaps(part: &DevicePartition, span: Span) -> &[crate::Gap] {
    let first = part.gaps.partition_point(|gap| gap.span.end_ns <= span.start_ns);
    let end = part.gaps.partition_point(|gap| gap.span.start_ns < span.end_ns);
    part.gaps.get(first..end.max(first)).unwrap_or_default()
}

fn gap_table<'a>(trace: &Trace, parts: impl Iterator<Item = &'a DevicePartition>, span: Span) -> Table {
    struct Row {
        rank: usize,
        device: DeviceId,
        inside: Span,
        cause: Cause,
        ended_by: Option<SliceId>,
    }
    let rows_of = |(rank, part): (usize, &'a DevicePartition)| {
        touching_gaps(part, span).iter().map(move |gap| Row {
            rank,
            device: part.device,
            inside: gap.span.intersect(span),
            cause: gap.cause,
            ended_by: gap.ended_by,
        })
    };
    let mut rows: Vec<Row> = parts.enumerate().flat_map(rows_of).collect();
    rows.sort_unstable_by_key(|row| (std::cmp::Reverse(row.inside.dur_ns()), row.rank, row.inside.start_ns));
    let number = |device: DeviceId| trace.devices.get(device.idx()).map(|row| i64::from(row.number));
    let columns = vec![
        Column::texts(
            "cause",
            "Cause",
            "Why nothing ran, as in idle by cause",
            rows.iter().map(|row| Some(row.cause.text().to_owned())),
        ),
        Column::ints(
            "device",
            "Device",
            Unit::Number,
            "Number of the device",
            rows.iter().map(|row| number(row.device)),
        ),
        Column::ints(
            "start_ns",
            "Start",
            Unit::Ns,
            "Where the part inside begins",
            rows.iter().map(|row| Some(row.inside.start_ns)),
        ),
        Column::ints(
            "dur_ns",
            "Length",
            Unit::Ns,
            "Length of the part inside the selection",
            rows.iter().map(|row| Some(row.inside.dur_ns())),
        ),
        Column::slices("example", "Ended by", "What ran next", rows.iter().map(|row| row.ended_by)),
    ];
    Table { id: "selection_gaps", title: "Gaps", columns }
}

#[cfg(test)]
mod tests;
