//! Minimum and maximum of counter samples per pixel column, without looking at every sample.

use tracecard_model::{Trace, TrackFamily, TrackId};

/// Extremes of some neighbouring samples.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Block {
    min: f64,
    max: f64,
}

/// So many blocks of one level make one of the next.
const FANOUT: usize = 4;

/// The pyramid of one counter. The samples themselves stay in the trace.
#[derive(Clone, Debug, Default)]
struct Pyramid {
    levels: Vec<Vec<Block>>,
    min: f64,
    max: f64,
}

/// The pyramids of all counters of a trace, by track.
#[derive(Clone, Debug, Default)]
pub struct CounterLod {
    pyramids: Vec<Option<Pyramid>>,
}

/// A stretch of a counter that is drawn as one column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Column {
    /// From here …
    pub start_ns: i64,
    /// … to here.
    pub end_ns: i64,
    /// Least value; the value itself where there is only one.
    pub min: f64,
    /// Greatest value.
    pub max: f64,
}

impl CounterLod {
    /// O(samples).
    pub fn new(trace: &Trace) -> Self {
        let pyramid = |idx: usize| {
            let (_, values) = trace.counters.of(TrackId::from_idx(idx));
            (!values.is_empty()).then(|| Pyramid::new(values))
        };
        let is_counter =
            |idx: usize| trace.tracks.get(idx).is_some_and(|t| t.key.family == TrackFamily::Counter);
        let pyramids = (0..trace.tracks.len()).map(|idx| if is_counter(idx) { pyramid(idx) } else { None });
        Self { pyramids: pyramids.collect() }
    }

    /// Least and greatest value of a counter in the whole run; `None` without samples.
    pub fn range(&self, track: TrackId) -> Option<(f64, f64)> {
        let pyramid = self.pyramids.get(track.idx())?.as_ref()?;
        Some((pyramid.min, pyramid.max))
    }

    /// Columns of at least about `min_ns` that cover `[start_ns, end_ns)` from the first sample on, in order.
    /// A value holds until the next sample; the last one holds for the distance to the one before.
    pub fn columns(
        &self,
        trace: &Trace,
        track: TrackId,
        start_ns: i64,
        end_ns: i64,
        min_ns: f64,
    ) -> Vec<Column> {
        let Some(Some(pyramid)) = self.pyramids.get(track.idx()) else { return Vec::new() };
        let (times_ns, values) = trace.counters.of(track);
        let first = times_ns.partition_point(|t| *t <= start_ns).saturating_sub(1);
        let end = times_ns.partition_point(|t| *t < end_ns);
        // Cells of a power of two, aligned to time 0: panning does not change what shares a column.
        let cell_ns = 1_i64 << (min_ns.max(1.0).log2().ceil() as u32).min(61);
        let mut columns = Vec::new();
        let mut at = first;
        while at < end {
            let Some(&from_ns) = times_ns.get(at) else { break };
            // A column is either one sample that holds for long enough, or all samples that begin in it.
            let until_ns = from_ns.div_euclid(cell_ns).saturating_add(1).saturating_mul(cell_ns);
            let next = gallop(times_ns, at, |t| t < until_ns).max(at + 1);
            let (min, max) = pyramid.extremes(values, at, next);
            let to_ns = match times_ns.get(next) {
                Some(next_ns) => *next_ns,
                None => last_end_ns(times_ns),
            };
            columns.push(Column { start_ns: from_ns, end_ns: to_ns, min, max });
            at = next;
        }
        columns
    }
}

/// As `partition_point` from `from` on, quicker when the answer is near.
fn gallop(times_ns: &[i64], from: usize, is_before: impl Fn(i64) -> bool) -> usize {
    let mut step = 1;
    let mut low = from;
    while times_ns.get(low + step).is_some_and(|t| is_before(*t)) {
        low += step;
        step *= 2;
    }
    let high = (low + step).min(times_ns.len());
    low + times_ns.get(low..high).map_or(0, |part| part.partition_point(|t| is_before(*t)))
}

/// The last sample holds as long as the one before it did.
fn last_end_ns(times_ns: &[i64]) -> i64 {
    match times_ns {
        [.., before, last] => last.saturating_add(last.saturating_sub(*before)),
        [only] => *only,
        [] => 0,
    }
}

impl Pyramid {
    fn new(values: &[f64]) -> Self {
        let mut levels: Vec<Vec<Block>> = Vec::new();
        let of_values = |chunk: &[f64]| Block {
            min: chunk.iter().copied().fold(f64::INFINITY, f64::min),
            max: chunk.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        };
        let merged = |chunk: &[Block]| Block {
            min: chunk.iter().map(|block| block.min).fold(f64::INFINITY, f64::min),
            max: chunk.iter().map(|block| block.max).fold(f64::NEG_INFINITY, f64::max),
        };
        levels.push(values.chunks(FANOUT).map(of_values).collect());
        while let Some(last) = levels.last().filter(|level| 1 < level.len()) {
            let next = last.chunks(FANOUT).map(merged).collect();
            levels.push(next);
        }
        let all =
            levels.last().and_then(|level| level.first()).copied().unwrap_or(Block { min: 0.0, max: 0.0 });
        Self { levels, min: all.min, max: all.max }
    }

    /// Least and greatest of `values[from..to]`. O(log n).
    fn extremes(&self, values: &[f64], from: usize, to: usize) -> (f64, f64) {
        let (mut min, mut max) = (f64::INFINITY, f64::NEG_INFINITY);
        let mut at = from;
        while at < to {
            // The largest block that starts here and does not reach beyond the end.
            let mut size = 1;
            let mut block = values.get(at).map(|value| Block { min: *value, max: *value });
            for level in &self.levels {
                let next_size = size * FANOUT;
                if !at.is_multiple_of(next_size) || to < at + next_size {
                    break;
                }
                size = next_size;
                block = level.get(at / size).copied();
            }
            if let Some(block) = block {
                min = min.min(block.min);
                max = max.max(block.max);
            }
            at += size;
        }
        (min, max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracecard_model::fixture;

    fn columns(samples: &str, start_ns: i64, end_ns: i64, min_ns: f64) -> String {
        let trace = fixture(&format!("counter 0 count c\n{}", samples.replace(", ", "\n"))).unwrap();
        let columns = CounterLod::new(&trace).columns(&trace, TrackId(0), start_ns, end_ns, min_ns);
        let text = |c: &Column| format!("{}..{}:{}-{}", c.start_ns, c.end_ns, c.min, c.max);
        columns.iter().map(text).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_value_holds_until_the_next_sample() {
        assert_eq!(columns("0 1, 10 3, 30 2", 0, 100, 1.0), "0..10:1-1 10..30:3-3 30..50:2-2");
        assert_eq!(columns("0 1, 10 3, 30 2", 15, 20, 1.0), "10..30:3-3");
        assert_eq!(columns("7 1", 0, 100, 1.0), "7..7:1-1");
    }

    #[test]
    fn close_samples_share_a_column_with_their_extremes() {
        assert_eq!(columns("0 5, 1 1, 2 9, 3 4, 20 2, 40 2", 0, 50, 10.0), "0..20:1-9 20..40:2-2 40..60:2-2");
    }

    #[test]
    fn extremes_are_exact_for_every_range() {
        let values: Vec<f64> = (0..200).map(|i| f64::from((i * 37) % 101)).collect();
        let pyramid = Pyramid::new(&values);
        for from in 0..values.len() {
            for to in from + 1..=values.len() {
                let part = &values[from..to];
                let min = part.iter().copied().fold(f64::INFINITY, f64::min);
                let max = part.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                assert_eq!(pyramid.extremes(&values, from, to), (min, max), "{from}..{to}");
            }
        }
    }
}
