//! Spans side by side, folded for drawing: what lies in a row that the drawing pyramid of the trace does not
//! know, such as gaps, projected ranges and the hits of a search.
//!
//! The spans themselves stay where they are; the index knows only sums and maxima. Folding costs pixels times
//! the logarithm of the spans.

use tracecard_model::Span;

/// So many spans, or blocks of them, have one longest.
const FANOUT: usize = 8;

/// What is drawn as one mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoldedSpan {
    /// From the first start to the last end.
    pub span: Span,
    /// How much of it the spans cover.
    pub busy_ns: i64,
    /// How many spans it stands for.
    pub count: usize,
    /// The first of them.
    pub first: usize,
    /// The longest of them, the first of equals.
    pub longest: usize,
}

/// An index over spans that are sorted by start and do not overlap by more than time stamps are coarse.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SpanIndex {
    /// Length of all spans before each, and of all.
    before_ns: Vec<i64>,
    /// The longest of each block, by level.
    longest: Vec<Vec<u32>>,
}

impl SpanIndex {
    /// O(n). `span_of` gives each of the `n` spans, here and wherever it is asked for again.
    pub fn new(n: usize, span_of: impl Fn(usize) -> Span) -> Self {
        let mut before_ns = Vec::with_capacity(n + 1);
        let mut sum_ns = 0_i64;
        before_ns.push(0);
        for idx in 0..n {
            sum_ns = sum_ns.saturating_add(span_of(idx).dur_ns());
            before_ns.push(sum_ns);
        }
        let mut longest: Vec<Vec<u32>> = Vec::new();
        let mut last: Vec<u32> = Vec::new();
        if FANOUT < n {
            let blocks = (0..n).step_by(FANOUT);
            last = blocks
                .map(|first| longest_of((first..(first + FANOUT).min(n)).map(|idx| idx as u32), &span_of))
                .collect();
        }
        while FANOUT < last.len() {
            let next = last.chunks(FANOUT).map(|chunk| longest_of(chunk.iter().copied(), &span_of)).collect();
            longest.push(std::mem::replace(&mut last, next));
        }
        if !last.is_empty() {
            longest.push(last);
        }
        Self { before_ns, longest }
    }

    /// How many spans.
    pub fn len(&self) -> usize {
        self.before_ns.len().saturating_sub(1)
    }

    /// None?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The spans that share an instant with a window. O(log n).
    pub fn touching(&self, window: Span, span_of: impl Fn(usize) -> Span) -> std::ops::Range<usize> {
        let first = partition(0, self.len(), |idx| span_of(idx).end_ns <= window.start_ns);
        first..partition(first, self.len(), |idx| span_of(idx).start_ns < window.end_ns)
    }

    /// How much of a window the spans cover. O(log n).
    pub fn within_ns(&self, window: Span, span_of: impl Fn(usize) -> Span) -> i64 {
        let range = self.touching(window, &span_of);
        let (Some(last), false) = (range.end.checked_sub(1), range.is_empty()) else { return 0 };
        let cut_ns = |idx: usize| span_of(idx).dur_ns() - span_of(idx).intersect(window).dur_ns();
        let cut_ns = if last == range.start { cut_ns(last) } else { cut_ns(range.start) + cut_ns(last) };
        self.sum_ns(range) - cut_ns
    }

    /// Marks that touch a window, in time order; what is narrower than `min_ns` comes folded by cells of a
    /// power of two, so that panning does not change what is folded together.
    pub fn visit(
        &self,
        window: Span,
        min_ns: i64,
        span_of: impl Fn(usize) -> Span,
        mut emit: impl FnMut(FoldedSpan),
    ) {
        let log2_ns = min_ns.max(1).ilog2().min(61);
        let cell_ns = 1_i64 << log2_ns;
        let from_ns = window.start_ns.saturating_sub(2 * cell_ns);
        let n = self.len();
        let mut at = partition(0, n, |idx| span_of(idx).end_ns <= from_ns);
        while at < n {
            let span = span_of(at);
            if window.end_ns <= span.start_ns {
                break;
            }
            let mut next = at + 1;
            if span.dur_ns() < cell_ns {
                let cell_end_ns = (span.start_ns >> log2_ns).saturating_add(1) << log2_ns;
                next = gallop(at, n, |idx| span_of(idx).start_ns < cell_end_ns).max(at + 1);
                // Only the last that starts in a cell can be wide.
                if at + 1 < next && cell_ns <= span_of(next - 1).dur_ns() {
                    next -= 1;
                }
            }
            let end_ns = span_of(next - 1).end_ns.max(span.end_ns);
            if window.start_ns <= end_ns {
                emit(FoldedSpan {
                    span: Span::new(span.start_ns, end_ns),
                    busy_ns: self.sum_ns(at..next),
                    count: next - at,
                    first: at,
                    longest: self.longest(at, next, &span_of),
                });
            }
            at = next;
        }
    }

    fn sum_ns(&self, range: std::ops::Range<usize>) -> i64 {
        let before = |idx: usize| self.before_ns.get(idx).copied().unwrap_or(0);
        before(range.end) - before(range.start)
    }

    fn longest(&self, from: usize, to: usize, span_of: &impl Fn(usize) -> Span) -> usize {
        let mut best = from;
        let mut at = from;
        while at < to {
            let (mut size, mut candidate) = (1, at);
            for level in &self.longest {
                let next_size = size * FANOUT;
                if !at.is_multiple_of(next_size) || to < at + next_size {
                    break;
                }
                size = next_size;
                candidate = level.get(at / size).map_or(at, |idx| *idx as usize);
            }
            if span_of(best).dur_ns() < span_of(candidate).dur_ns() {
                best = candidate;
            }
            at += size;
        }
        best
    }
}

fn longest_of(idxs: impl Iterator<Item = u32>, span_of: &impl Fn(usize) -> Span) -> u32 {
    // `max_by_key` gives the last of equals.
    idxs.max_by_key(|idx| (span_of(*idx as usize).dur_ns(), std::cmp::Reverse(*idx))).unwrap_or(0)
}

/// The first of `from..to` that is not so.
fn partition(from: usize, to: usize, is_so: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (from, to);
    while low < high {
        let middle = low + (high - low) / 2;
        if is_so(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// As [`partition`], quicker when the answer is near.
fn gallop(from: usize, to: usize, is_so: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut step) = (from, 1);
    while low + step < to && is_so(low + step) {
        low += step;
        step *= 2;
    }
    partition(low, (low + step).min(to), is_so)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(n: i64) -> Vec<Span> {
        // Uneven, side by side, one in eleven long.
        let mut at_ns = -50;
        (0..n)
            .map(|idx| {
                let dur_ns = if idx % 11 == 5 { 90 } else { (idx * 7) % 6 };
                let span = Span::from_start_dur_ns(at_ns, dur_ns);
                at_ns += dur_ns + (idx * 5) % 4;
                span
            })
            .collect()
    }

    fn marks(spans: &[Span], window: Span, min_ns: i64) -> String {
        let index = SpanIndex::new(spans.len(), |idx| spans[idx]);
        let mut marks = Vec::new();
        index.visit(
            window,
            min_ns,
            |idx| spans[idx],
            |mark| {
                marks.push(format!(
                    "{}..{}:{}×{} longest {}",
                    mark.span.start_ns, mark.span.end_ns, mark.busy_ns, mark.count, mark.longest
                ));
            },
        );
        marks.join(" ")
    }

    #[test]
    fn narrow_spans_of_a_cell_are_one_mark() {
        let text = [(0, 1), (2, 5), (6, 7), (8, 40), (41, 42)];
        let spans: Vec<Span> = text.iter().map(|(a, b)| Span::new(*a, *b)).collect();
        assert_eq!(
            marks(&spans, Span::new(0, 100), 8),
            "0..7:5×3 longest 1 8..40:32×1 longest 3 41..42:1×1 longest 4"
        );
        assert_eq!(marks(&spans, Span::new(3, 4), 1), "2..5:3×1 longest 1");
        assert_eq!(marks(&[], Span::new(0, 100), 8), "");
        assert_eq!(marks(&spans, Span::new(200, 300), 8), "");
    }

    #[test]
    fn marks_keep_count_sum_and_longest_at_every_level() {
        let spans = spans(500);
        let index = SpanIndex::new(spans.len(), |idx| spans[idx]);
        for log2 in 0..12 {
            let mut next = 0;
            index.visit(
                Span::new(-100, 100_000),
                1 << log2,
                |idx| spans[idx],
                |mark| {
                    assert_eq!(mark.first, next);
                    let part = &spans[next..next + mark.count];
                    next += mark.count;
                    let busy_ns: i64 = part.iter().map(|span| span.dur_ns()).sum();
                    let longest = part.iter().map(|span| span.dur_ns()).max().unwrap();
                    assert_eq!((mark.busy_ns, spans[mark.longest].dur_ns()), (busy_ns, longest));
                    assert_eq!(mark.span, Span::new(part[0].start_ns, part[mark.count - 1].end_ns));
                },
            );
            assert_eq!(next, spans.len());
        }
    }

    #[test]
    fn cover_is_exact_for_every_window() {
        let spans = spans(60);
        let index = SpanIndex::new(spans.len(), |idx| spans[idx]);
        for start_ns in -60..200 {
            for dur_ns in [1, 4, 30, 500] {
                let window = Span::from_start_dur_ns(start_ns, dur_ns);
                let expected: i64 = spans.iter().map(|span| span.intersect(window).dur_ns()).sum();
                assert_eq!(index.within_ns(window, |idx| spans[idx]), expected, "{window:?}");
            }
        }
    }
}
