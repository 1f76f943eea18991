//! Summaries of neighbouring values, so that statistics and drawing never walk all of them.

use tracecard_model::Span;

use super::series::SeriesView;

/// So many values make one block, and so many blocks one of the next level.
const FANOUT: usize = 8;

/// What values are like over the time they hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Least value.
    pub min: f64,
    /// Greatest value.
    pub max: f64,
    /// Mean, weighted by time.
    pub mean: f64,
    /// Time that values hold, in ns.
    pub held_ns: f64,
    /// Sum of squared distances from the mean, each times its time in ns.
    squares: f64,
}

impl Summary {
    /// One value that holds for so long; `None` when it holds for no time.
    fn of(value: f64, held_ns: i64) -> Option<Self> {
        (0 < held_ns).then_some(Self {
            min: value,
            max: value,
            mean: value,
            held_ns: held_ns as f64,
            squares: 0.0,
        })
    }

    /// Two together (Chan, Golub, LeVeque 1983: means and squares merge without cancellation).
    fn merge(self, other: Self) -> Self {
        let held_ns = self.held_ns + other.held_ns;
        let distance = other.mean - self.mean;
        let share = other.held_ns / held_ns;
        Self {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
            mean: self.mean + distance * share,
            held_ns,
            squares: self.squares + other.squares + distance * distance * self.held_ns * share,
        }
    }

    /// Standard deviation over time, of the whole and not of a sample of it.
    pub fn deviation(&self) -> f64 {
        (self.squares / self.held_ns).max(0.0).sqrt()
    }
}

/// A stretch of a series that is drawn as one column.
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
    /// Mean, weighted by time.
    pub mean: f64,
}

/// The pyramid of one series. The values themselves stay where they are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pyramid {
    levels: Vec<Vec<Option<Summary>>>,
}

impl Pyramid {
    /// O(values).
    pub fn new(view: &SeriesView<'_>) -> Self {
        let one = |idx: usize| Summary::of(*view.values.get(idx)?, view.span(idx).dur_ns());
        let block = |first: usize| merged((first..(first + FANOUT).min(view.len())).map(one));
        let mut levels: Vec<Vec<Option<Summary>>> = Vec::new();
        if !view.is_empty() {
            levels.push((0..view.len()).step_by(FANOUT).map(block).collect());
        }
        while let Some(last) = levels.last().filter(|level| 1 < level.len()) {
            let next = last.chunks(FANOUT).map(|chunk| merged(chunk.iter().copied())).collect();
            levels.push(next);
        }
        Self { levels }
    }

    /// All of it; `None` where no value holds for any time.
    pub fn whole(&self) -> Option<Summary> {
        *self.levels.last()?.first()?
    }

    /// What the values are like inside a window; values that reach over its edges count with the part inside.
    /// `None` where nothing is known in it. O(log n).
    pub fn within(&self, view: &SeriesView<'_>, window: Span) -> Option<Summary> {
        let n = view.len();
        let first = view.starts_ns.partition_point(|t| *t <= window.start_ns).saturating_sub(1);
        let end = view.starts_ns.partition_point(|t| *t < window.end_ns).min(n);
        if end <= first {
            return None;
        }
        let cut = |idx: usize| Summary::of(*view.values.get(idx)?, view.span(idx).intersect(window).dur_ns());
        if first + 1 == end {
            return cut(first);
        }
        merged([cut(first), self.of_range(view, first + 1, end - 1), cut(end - 1)].into_iter())
    }

    /// The values `from..to` together. O(log n).
    fn of_range(&self, view: &SeriesView<'_>, from: usize, to: usize) -> Option<Summary> {
        let mut sum: Option<Summary> = None;
        self.visit(view, from, to, |part| sum = merged([sum, Some(part)].into_iter()));
        sum
    }

    /// Calls with the blocks and values that make up `from..to`, in order. O(log n).
    fn visit(&self, view: &SeriesView<'_>, from: usize, to: usize, mut each: impl FnMut(Summary)) {
        let mut at = from;
        while at < to {
            // The largest block that starts here and does not reach beyond the end.
            let (mut size, mut level) = (1, None);
            while level.map_or(0, |level| level + 1) < self.levels.len() {
                let next_size = size * FANOUT;
                if !at.is_multiple_of(next_size) || to < at + next_size {
                    break;
                }
                (size, level) = (next_size, Some(level.map_or(0, |level| level + 1)));
            }
            let block = level.and_then(|level| self.levels.get(level)?.get(at / size).copied());
            let one = || Summary::of(*view.values.get(at)?, view.span(at).dur_ns());
            if let Some(part) = block.unwrap_or_else(one) {
                each(part);
            }
            at += size;
        }
    }

    /// Columns of at least about `min_ns` that cover a window, in order. Where nothing is known there are none,
    /// except for holes narrower than a column.
    pub fn columns(&self, view: &SeriesView<'_>, window: Span, min_ns: f64) -> Vec<Column> {
        let first = view.starts_ns.partition_point(|t| *t <= window.start_ns).saturating_sub(1);
        let end = view.starts_ns.partition_point(|t| *t < window.end_ns).min(view.len());
        // Cells of a power of two, aligned to time 0: panning does not change what shares a column.
        let cell_ns = 1_i64 << (min_ns.max(1.0).log2().ceil() as u32).min(61);
        let times_ns = view.starts_ns.get(first..end).unwrap_or_default();
        let values_per_ns = match times_ns {
            [from_ns, .., to_ns] => times_ns.len() as f64 / (to_ns - from_ns).max(1) as f64,
            _ => 0.0,
        };
        let mut columns = Vec::new();
        let mut at = first;
        while at < end {
            let Some(&from_ns) = view.starts_ns.get(at) else { break };
            // A column is either one value that holds for long enough, or all values that begin in it.
            let until_ns = from_ns.div_euclid(cell_ns).saturating_add(1).saturating_mul(cell_ns);
            let mut next = next_column(view.starts_ns, at, until_ns, cell_ns, values_per_ns).min(view.len());
            // The last one may hold far beyond the cell: the others must not seem to.
            if at + 1 < next && min_ns <= view.span(next - 1).dur_ns() as f64 {
                next -= 1;
            }
            // Extremes and mean only: this runs for every pixel.
            let (mut min, mut max) = (f64::INFINITY, f64::NEG_INFINITY);
            let (mut area, mut held_ns) = (0.0, 0.0);
            self.visit(view, at, next, |part| {
                min = min.min(part.min);
                max = max.max(part.max);
                area += part.mean * part.held_ns;
                held_ns += part.held_ns;
            });
            if 0.0 < held_ns {
                let end_ns = view.span(next - 1).end_ns;
                columns.push(Column { start_ns: from_ns, end_ns, min, max, mean: area / held_ns });
            }
            at = next;
        }
        columns
    }
}

/// Columns of many values end where blocks do, so that few blocks make one: a power of the fan-out that goes
/// at least twice into so many values.
fn alignment(n_values: usize) -> usize {
    let mut size = 1;
    while size * FANOUT * 2 <= n_values {
        size *= FANOUT;
    }
    size
}

/// Where the column that begins with the value `at` ends: at the first value from `until_ns` on, or near it
/// where that saves looking. Searching costs more than anything else, since each look is far from the last.
fn next_column(starts_ns: &[i64], at: usize, until_ns: i64, cell_ns: i64, values_per_ns: f64) -> usize {
    let from_ns = starts_ns.get(at).copied().unwrap_or(until_ns);
    let expected = ((until_ns - from_ns) as f64 * values_per_ns) as usize;
    if MIN_EXPECTED <= expected {
        let guess = (at + expected).next_multiple_of(alignment(expected));
        let is_near = |t: i64| until_ns - cell_ns / 2 <= t && t <= until_ns.saturating_add(cell_ns / 2);
        if starts_ns.get(guess).is_some_and(|t| is_near(*t)) {
            return guess;
        }
    }
    let next = gallop(starts_ns, at, |t| t < until_ns).max(at + 1);
    next.next_multiple_of(alignment(next - at))
}

/// With fewer values a column, looking costs little.
const MIN_EXPECTED: usize = 2 * FANOUT;

fn merged(parts: impl Iterator<Item = Option<Summary>>) -> Option<Summary> {
    parts.flatten().reduce(Summary::merge)
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

#[cfg(test)]
mod tests {
    use super::super::track::{Covers, counter_view};
    use super::*;

    /// Uneven times, some of them equal, and two holes.
    fn samples() -> (Vec<i64>, Vec<f64>) {
        let mut t_ns = 0;
        let mut times_ns = Vec::new();
        for i in 0..300_i64 {
            t_ns += match i {
                100 | 200 => 1_000,
                _ => (i * 7) % 4,
            };
            times_ns.push(t_ns);
        }
        (times_ns, (0..300).map(|i| f64::from((i * 37) % 101)).collect())
    }

    /// Nanosecond by nanosecond.
    fn recount(view: &SeriesView<'_>, window: Span) -> Option<(f64, f64, f64, f64)> {
        let values: Vec<f64> =
            (window.start_ns..window.end_ns).filter_map(|t| Some(view.values[view.index_at(t)?])).collect();
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / n;
        let min = values.iter().copied().fold(f64::INFINITY, f64::min);
        let max = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        (!values.is_empty()).then_some((min, max, mean, variance.sqrt()))
    }

    #[test]
    fn a_window_is_what_a_plain_recount_gives() {
        let (times_ns, values) = samples();
        for covers in [Covers::UntilNext, Covers::SinceLast] {
            let view = counter_view(&times_ns, &values, covers, 2);
            let pyramid = Pyramid::new(&view);
            for from_ns in (-5..times_ns[299] + 5).step_by(13) {
                for length_ns in [1, 2, 10, 100, 1_000, 5_000] {
                    let window = Span::new(from_ns, from_ns + length_ns);
                    let got = pyramid.within(&view, window).map(|s| (s.min, s.max, s.mean, s.deviation()));
                    match (got, recount(&view, window)) {
                        (None, None) => {}
                        (Some(got), Some(wanted)) => {
                            assert_eq!((got.0, got.1), (wanted.0, wanted.1), "{window:?}");
                            assert!((got.2 - wanted.2).abs() < 1e-9, "{window:?} {got:?} {wanted:?}");
                            assert!((got.3 - wanted.3).abs() < 1e-9, "{window:?} {got:?} {wanted:?}");
                        }
                        other => panic!("{window:?} {other:?}"),
                    }
                }
            }
        }
    }

    #[test]
    fn by_hand() {
        // 2 for 10 and 5 for 30: mean (20 + 150) / 40 = 4.25; deviation √((10·2.25² + 30·0.75²) / 40) = √1.6875.
        let view = counter_view(&[0, 10, 40], &[2.0, 5.0, 7.0], Covers::UntilNext, 10);
        let got = Pyramid::new(&view).within(&view, Span::new(0, 40)).unwrap();
        assert_eq!((got.min, got.max, got.mean, got.held_ns), (2.0, 5.0, 4.25, 40.0));
        assert!((got.deviation() - 1.6875_f64.sqrt()).abs() < 1e-12);
    }

    fn columns(times_ns: &[i64], values: &[f64], window: (i64, i64), min_ns: f64) -> String {
        let view =
            counter_view(times_ns, values, Covers::UntilNext, super::super::track::period_ns(times_ns));
        let columns = Pyramid::new(&view).columns(&view, Span::new(window.0, window.1), min_ns);
        let text = |c: &Column| format!("{}..{}:{}-{}~{}", c.start_ns, c.end_ns, c.min, c.max, c.mean);
        columns.iter().map(text).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn wide_values_are_columns_of_their_own() {
        assert_eq!(
            columns(&[0, 10, 30], &[1., 3., 2.], (0, 100), 1.0),
            "0..10:1-1~1 10..30:3-3~3 30..50:2-2~2"
        );
        assert_eq!(columns(&[0, 10, 30], &[1., 3., 2.], (15, 20), 1.0), "10..30:3-3~3");
        assert_eq!(columns(&[], &[], (0, 100), 1.0), "");
    }

    #[test]
    fn close_values_share_a_column_with_their_extremes() {
        // Cells of 16: 0, 4, 8, 12 hold for 4 each: mean (5 + 1 + 9 + 5) / 4 = 5.
        assert_eq!(
            columns(&[0, 4, 8, 12, 16, 32], &[5., 1., 9., 5., 2., 4.], (0, 40), 10.0),
            "0..16:1-9~5 16..32:2-2~2 32..48:4-4~4"
        );
    }

    #[test]
    fn what_holds_for_long_is_not_joined_to_what_came_just_before() {
        // A queue of 1 for 3 ns, then 0 for 97.
        assert_eq!(columns(&[0, 3, 100], &[1., 0., 5.], (0, 100), 16.0), "0..3:1-1~1 3..100:0-0~0");
    }

    #[test]
    fn columns_of_many_values_cover_all_and_know_their_extremes() {
        let n = 5_000_usize;
        let times_ns: Vec<i64> = (0..n as i64).map(|i| i * 10).collect();
        let values: Vec<f64> = (0..n).map(|i| ((i * 37) % 101) as f64).collect();
        let view = counter_view(&times_ns, &values, Covers::UntilNext, 10);
        let pyramid = Pyramid::new(&view);
        for min_ns in [1.0, 100.0, 1_000.0, 7_000.0, 1e6] {
            let mut at_ns = 0;
            for column in pyramid.columns(&view, Span::new(0, 50_000), min_ns) {
                assert_eq!(column.start_ns, at_ns, "no gap, no overlap at {min_ns}");
                at_ns = column.end_ns;
                let part = &values[column.start_ns as usize / 10..column.end_ns as usize / 10];
                let mean = part.iter().sum::<f64>() / part.len() as f64;
                assert_eq!(column.min, part.iter().copied().fold(f64::INFINITY, f64::min));
                assert_eq!(column.max, part.iter().copied().fold(f64::NEG_INFINITY, f64::max));
                assert!((column.mean - mean).abs() < 1e-9, "{} {mean}", column.mean);
            }
            assert_eq!(at_ns, 50_000, "{min_ns}");
        }
    }

    #[test]
    fn holes_stay_open() {
        assert_eq!(
            columns(&[0, 10, 20, 200, 210], &[1., 1., 2., 3., 3.], (0, 300), 1.0),
            "0..10:1-1~1 10..20:1-1~1 20..30:2-2~2 200..210:3-3~3 210..220:3-3~3"
        );
    }
}
