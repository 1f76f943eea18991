//! Samples averaged over slices (SIG-16): what a kernel, a family or an operator does to the SMs and to memory.
//!
//! Samples speak of the whole device. So one counts for a group of slices only when the group's kernels cover
//! the sample's whole time and no other kernel runs in it. Kernels of a group that follow each other closely
//! share samples; a group has values only with 30 samples in all, or with one slice of three samples' length.

use rustc_hash::FxHashMap;
use tracecard_model::{DeviceId, NameId, SliceId, SliceKind, Span, Trace, Unit};

use super::track::{MetricTrack, period_ns};
use crate::Derived;
use crate::attribution::Framework;
use crate::device_work::WorkRow;
use crate::kernel_names::family;
use crate::normalise::op_text;

/// The metrics that are averaged, by their ids.
pub const AVERAGED: [&str; 9] = [
    "sm_active",
    "sm_issue",
    "tensor_active",
    "occupancy_active_sm",
    "warps_in_flight",
    "l2_hit",
    "dram_read",
    "dram_write",
    "dram",
];
const N: usize = AVERAGED.len();

/// So many samples give a mean in any case …
const MIN_SAMPLES: u64 = 30;
/// … and so many, when a single slice is as long as they are.
const MIN_SAMPLES_IN_SLICE: u64 = 3;
/// Between kernels of a group a gap of this share of a sample is no gap.
const MAX_GAP_FRAC: f64 = 0.02;

/// Means over the samples of a group of slices.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Averages {
    /// Samples that speak of nothing but the group.
    pub n_samples: u64,
    /// In the order of [`AVERAGED`], 0–1; `None` where not captured, or not resolvable.
    means: [Option<f64>; N],
    /// Are there samples enough? Where not, the slices are too short for the sampling.
    pub is_resolvable: bool,
}

impl Averages {
    /// The mean of a metric of [`AVERAGED`]; `None` where it was not captured or is not resolvable.
    pub fn mean(&self, id: &str) -> Option<f64> {
        let at = AVERAGED.iter().position(|known| *known == id)?;
        self.means[at]
    }

    /// Reads and writes of the device memory together, as a share of its peak.
    pub fn dram(&self) -> Option<f64> {
        self.mean("dram").or_else(|| Some(self.mean("dram_read")? + self.mean("dram_write")?))
    }
}

/// Averages of all groups of a run, each list sorted by its key.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GroupAverages {
    /// By device and kernel name.
    pub kernels: Vec<((DeviceId, NameId), Averages)>,
    /// By device and family of kernels.
    pub families: Vec<((DeviceId, &'static str), Averages)>,
    /// By name of the operator that launched the kernels; all devices together.
    pub operators: Vec<(String, Averages)>,
}

impl GroupAverages {
    /// Those of a kernel's name. O(log n).
    pub fn of_kernel(&self, device: DeviceId, name: NameId) -> Option<&Averages> {
        find(&self.kernels, &(device, name))
    }

    /// Those of a family of kernels. O(log n).
    pub fn of_family(&self, device: DeviceId, family: &str) -> Option<&Averages> {
        let at = self.families.binary_search_by(|(key, _)| key.cmp(&(device, family))).ok()?;
        self.families.get(at).map(|row| &row.1)
    }

    /// Those of an operator, by its slice's name. O(log n).
    pub fn of_operator(&self, name: &str) -> Option<&Averages> {
        let name = op_text(name).name;
        let at = self.operators.binary_search_by(|(key, _)| key.as_str().cmp(name)).ok()?;
        self.operators.get(at).map(|row| &row.1)
    }
}

fn find<'a, K: Ord, V>(rows: &'a [(K, V)], key: &K) -> Option<&'a V> {
    rows.binary_search_by(|(other, _)| other.cmp(key)).ok().and_then(|at| rows.get(at)).map(|row| &row.1)
}

/// Averages over the kernels among these slices, of all devices together.
pub fn averages(derived: &Derived<'_>, tracks: &[MetricTrack], slices: &[SliceId]) -> Averages {
    let mut wanted = slices.to_vec();
    wanted.sort_unstable();
    let rows = &derived.work().rows;
    let key = |idx: usize| wanted.binary_search(&rows[idx].slice).is_ok().then_some(0);
    of_work(derived, tracks, 1, key).first().copied().unwrap_or_default()
}

/// Averages of groups of work that the caller numbers, all devices together. `key_of` takes a work index.
pub(crate) fn of_work(
    derived: &Derived<'_>,
    tracks: &[MetricTrack],
    n_groups: usize,
    key_of: impl Fn(usize) -> Option<u32>,
) -> Vec<Averages> {
    let mut sums = vec![Sums::default(); n_groups];
    for (device, range) in derived.work().devices.iter().filter(|(device, _)| derived.is_shown(*device)) {
        let sampled = Sampled::new(derived.trace, tracks, *device, derived.window());
        let rows = &derived.work().rows[range.clone()];
        sampled.add(derived.trace, rows, |idx| key_of(range.start + idx), &mut sums);
    }
    sums.iter().map(Sums::averages).collect()
}

/// Averages of every kernel, family and operator; empty where no metric was sampled.
pub(crate) fn of_groups(derived: &Derived<'_>, tracks: &[MetricTrack]) -> GroupAverages {
    let trace = derived.trace;
    let mut groups = GroupAverages::default();
    let mut operators = Keys::default();
    let mut operator_sums: Vec<Sums> = Vec::new();
    for (device, range) in &derived.work().devices {
        let sampled = Sampled::new(trace, tracks, *device, derived.window());
        if sampled.metrics.is_empty() || !derived.is_shown(*device) {
            continue;
        }
        let rows = &derived.work().rows[range.clone()];
        let name_of = |row: &WorkRow| trace.slices.names()[row.slice.idx()];

        let mut names = Keys::default();
        let keys: Vec<u32> = rows.iter().map(|row| names.key(name_of(row))).collect();
        let mut sums = vec![Sums::default(); names.all.len()];
        sampled.add(trace, rows, |idx| Some(keys[idx]), &mut sums);
        let of_name = names.all.iter().zip(&sums).map(|(name, sum)| ((*device, *name), sum.averages()));
        groups.kernels.extend(of_name);

        let mut families = Keys::default();
        let family_of_name: Vec<u32> =
            names.all.iter().map(|name| families.key(family(trace.names.text(*name)))).collect();
        let mut sums = vec![Sums::default(); families.all.len()];
        sampled.add(trace, rows, |idx| Some(family_of_name[keys[idx] as usize]), &mut sums);
        let of_family =
            families.all.iter().zip(&sums).map(|(family, sum)| ((*device, *family), sum.averages()));
        groups.families.extend(of_family);

        if derived.operators().framework != Framework::None {
            let launched_by = &derived.operators().operator[range.clone()];
            let mut name = |slice: SliceId| operators.key(op_text(trace.name(slice)).name.to_owned());
            let keys: Vec<Option<u32>> = launched_by.iter().map(|slice| slice.map(&mut name)).collect();
            operator_sums.resize_with(operators.all.len(), Sums::default);
            sampled.add(trace, rows, |idx| keys[idx], &mut operator_sums);
        }
    }
    let operators = operators.all.into_iter().zip(&operator_sums);
    groups.operators = operators.map(|(name, sum)| (name, sum.averages())).collect();
    groups.kernels.sort_by_key(|row| row.0);
    groups.families.sort_by_key(|row| row.0);
    groups.operators.sort_by(|a, b| a.0.cmp(&b.0));
    groups
}

/// Numbers for keys, in the order met.
struct Keys<K> {
    all: Vec<K>,
    number: FxHashMap<K, u32>,
}

impl<K> Default for Keys<K> {
    fn default() -> Self {
        Self { all: Vec::new(), number: FxHashMap::default() }
    }
}

impl<K: Clone + Eq + std::hash::Hash> Keys<K> {
    fn key(&mut self, key: K) -> u32 {
        *self.number.entry(key).or_insert_with_key(|key| {
            self.all.push(key.clone());
            (self.all.len() - 1) as u32
        })
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    /// Value times ns.
    area: [f64; N],
    held_ns: [f64; N],
    n: [u64; N],
    has_long_slice: bool,
}

impl Sums {
    fn averages(&self) -> Averages {
        let n_samples = self.n.iter().copied().max().unwrap_or(0);
        let is_resolvable =
            MIN_SAMPLES <= n_samples || (MIN_SAMPLES_IN_SLICE <= n_samples && self.has_long_slice);
        let mut means = [None; N];
        for (at, mean) in means.iter_mut().enumerate() {
            if is_resolvable && 0.0 < self.held_ns[at] {
                *mean = Some(self.area[at] / self.held_ns[at]);
            }
        }
        Averages { n_samples, means, is_resolvable }
    }
}

/// The averaged metrics of one device.
struct Sampled<'a> {
    /// (place in [`AVERAGED`], track).
    metrics: Vec<(usize, &'a MetricTrack)>,
    period_ns: i64,
    window: Span,
}

impl<'a> Sampled<'a> {
    fn new(trace: &Trace, tracks: &'a [MetricTrack], device: DeviceId, window: Span) -> Self {
        let of_device = tracks.iter().filter(|track| track.device == device && track.unit == Unit::Frac);
        let metrics: Vec<(usize, &MetricTrack)> = of_device
            .filter_map(|track| Some((AVERAGED.iter().position(|id| *id == track.id)?, track)))
            .filter(|(_, track)| !track.view(trace).is_empty())
            .collect();
        let period_ns = metrics.first().map_or(0, |(_, track)| period_ns(track.view(trace).starts_ns));
        Self { metrics, period_ns, window }
    }

    /// Adds each sample to the group that has it for itself. `key_of` gives the group of a row.
    fn add(&self, trace: &Trace, rows: &[WorkRow], key_of: impl Fn(usize) -> Option<u32>, sums: &mut [Sums]) {
        if self.metrics.is_empty() {
            return;
        }
        let slack_ns = (self.period_ns as f64 * MAX_GAP_FRAC) as i64;
        let is_kernel = |row: &WorkRow| {
            matches!(trace.slices.kinds()[row.slice.idx()], SliceKind::Kernel | SliceKind::Graph)
        };
        let kernels = rows.iter().enumerate().filter(|(_, row)| is_kernel(row));
        let long_ns = self.period_ns.saturating_mul(MIN_SAMPLES_IN_SLICE as i64);
        let keyed = kernels.map(|(idx, row)| (row.span, key_of(idx))).inspect(|(span, key)| {
            if let Some(sum) = key.and_then(|key| sums.get_mut(key as usize))
                && long_ns <= span.dur_ns()
            {
                sum.has_long_slice = true;
            }
        });
        let alone = alone(keyed, slack_ns);
        for (at, track) in &self.metrics {
            let view = track.view(trace);
            let mut stretch = 0;
            for idx in 0..view.len() {
                let span = view.span(idx);
                if span.is_empty() || span.start_ns < self.window.start_ns || self.window.end_ns < span.end_ns
                {
                    continue;
                }
                while alone.get(stretch).is_some_and(|(alone, _)| alone.end_ns < span.end_ns) {
                    stretch += 1;
                }
                let Some((alone, key)) = alone.get(stretch) else { break };
                if alone.start_ns <= span.start_ns
                    && let Some(sum) = sums.get_mut(*key as usize)
                {
                    sum.area[*at] += view.values[idx] * span.dur_ns() as f64;
                    sum.held_ns[*at] += span.dur_ns() as f64;
                    sum.n[*at] += 1;
                }
            }
        }
    }
}

/// Stretches in which only one group runs, in order. Gaps of up to `slack_ns` inside a group are no gaps.
/// `rows` come by start; those without a group belong to nobody.
fn alone(rows: impl Iterator<Item = (Span, Option<u32>)>, slack_ns: i64) -> Vec<(Span, u32)> {
    let mut stretches: Vec<(Span, u32)> = Vec::new();
    let mut emit = |span: Span, key: u32| match stretches.last_mut() {
        Some((last, of)) if *of == key && span.start_ns - last.end_ns <= slack_ns => {
            last.end_ns = span.end_ns;
        }
        _ => stretches.push((span, key)),
    };
    // What runs now, and from when on nothing was said about it yet.
    let mut running: Vec<(i64, Option<u32>)> = Vec::new();
    let mut from_ns = i64::MIN;
    let mut advance = |running: &mut Vec<(i64, Option<u32>)>, from_ns: &mut i64, until_ns: i64| {
        while let Some(end_ns) = running.iter().map(|row| row.0).min() {
            let to_ns = end_ns.min(until_ns);
            let first = running.first().and_then(|row| row.1);
            if *from_ns < to_ns
                && let Some(key) = first
                && running.iter().all(|row| row.1 == Some(key))
            {
                emit(Span::new(*from_ns, to_ns), key);
            }
            *from_ns = to_ns.max(*from_ns);
            if until_ns < end_ns {
                break;
            }
            running.retain(|row| end_ns < row.0);
        }
    };
    for (span, key) in rows.filter(|(span, _)| !span.is_empty()) {
        advance(&mut running, &mut from_ns, span.start_ns);
        from_ns = span.start_ns;
        running.push((span.end_ns, key));
    }
    advance(&mut running, &mut from_ns, i64::MAX);
    stretches
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rows: &[(i64, i64, Option<u32>)], slack_ns: i64, expected: &str) {
        let rows = rows.iter().map(|(start, end, key)| (Span::new(*start, *end), *key));
        let found = alone(rows, slack_ns);
        let text = |(span, key): &(Span, u32)| format!("{}..{}:{key}", span.start_ns, span.end_ns);
        assert_eq!(found.iter().map(text).collect::<Vec<_>>().join(" "), expected);
    }

    #[test]
    fn stretches_in_which_only_one_group_runs() {
        check(&[(0, 10, Some(1)), (10, 20, Some(1)), (20, 30, Some(2))], 0, "0..20:1 20..30:2");
        // 5..10 belongs to both, 20..25 to nobody's.
        check(&[(0, 10, Some(1)), (5, 30, Some(2)), (20, 25, None)], 0, "0..5:1 10..20:2 25..30:2");
        check(&[(0, 10, Some(1)), (5, 15, Some(1))], 0, "0..15:1");
        check(&[(0, 10, Some(1)), (12, 20, Some(1)), (23, 30, Some(1))], 2, "0..20:1 23..30:1");
        check(&[(5, 5, Some(1))], 0, "");
        check(&[], 0, "");
    }
}
