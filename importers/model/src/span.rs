//! Half-open stretches of time and their algebra: union, intersection, gaps.

/// `[start_ns, end_ns)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// First instant inside.
    pub start_ns: i64,
    /// First instant after.
    pub end_ns: i64,
}

impl Span {
    /// From start (inside) to end (outside). An end before the start gives an empty span at the start.
    pub fn new(start_ns: i64, end_ns: i64) -> Self {
        Self { start_ns, end_ns: end_ns.max(start_ns) }
    }

    /// From start and duration; saturates at the ends of `i64`.
    pub fn from_start_dur_ns(start_ns: i64, dur_ns: i64) -> Self {
        Self::new(start_ns, start_ns.saturating_add(dur_ns))
    }

    /// Length in ns; 0 when empty. Saturates where the ends lie further apart than `i64` holds.
    pub fn dur_ns(self) -> i64 {
        self.end_ns.saturating_sub(self.start_ns)
    }

    /// No instant inside?
    pub fn is_empty(self) -> bool {
        self.end_ns <= self.start_ns
    }

    /// Is the instant inside?
    pub fn contains(self, t_ns: i64) -> bool {
        self.start_ns <= t_ns && t_ns < self.end_ns
    }

    /// Do the two share an instant?
    pub fn overlaps(self, other: Self) -> bool {
        self.start_ns < other.end_ns && other.start_ns < self.end_ns
    }

    /// What both have; empty where they do not meet.
    pub fn intersect(self, other: Self) -> Self {
        Self::new(self.start_ns.max(other.start_ns), self.end_ns.min(other.end_ns))
    }

    /// The smallest span that holds both.
    pub fn hull(self, other: Self) -> Self {
        Self { start_ns: self.start_ns.min(other.start_ns), end_ns: self.end_ns.max(other.end_ns) }
    }
}

/// Disjoint, sorted, non-empty, non-touching spans: a set of instants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spans(Vec<Span>);

impl Spans {
    /// The union of spans in any order. O(n log n), O(n) when sorted by start already.
    pub fn union_of(spans: impl IntoIterator<Item = Span>) -> Self {
        let mut all: Vec<Span> = spans.into_iter().filter(|s| !s.is_empty()).collect();
        if !all.is_sorted_by_key(|s| s.start_ns) {
            all.sort_unstable();
        }
        let mut merged: Vec<Span> = Vec::new();
        for span in all {
            match merged.last_mut() {
                Some(last) if span.start_ns <= last.end_ns => last.end_ns = last.end_ns.max(span.end_ns),
                _ => merged.push(span),
            }
        }
        Self(merged)
    }

    /// The spans, sorted and disjoint.
    pub fn as_slice(&self) -> &[Span] {
        &self.0
    }

    /// Total length in ns.
    pub fn total_ns(&self) -> i64 {
        self.0.iter().map(|s| s.dur_ns()).sum()
    }

    /// Instants that are in either.
    pub fn union(&self, other: &Self) -> Self {
        Self::union_of(self.0.iter().chain(&other.0).copied())
    }

    /// Instants that are in both. O(n + m).
    pub fn intersect(&self, other: &Self) -> Self {
        let (mut i, mut j) = (0, 0);
        let mut both = Vec::new();
        while let (Some(&a), Some(&b)) = (self.0.get(i), other.0.get(j)) {
            let shared = a.intersect(b);
            if !shared.is_empty() {
                both.push(shared);
            }
            if a.end_ns < b.end_ns {
                i += 1;
            } else {
                j += 1;
            }
        }
        Self(both)
    }

    /// Instants of `window` that are in none of the spans. O(n).
    pub fn gaps(&self, window: Span) -> Self {
        let mut at_ns = window.start_ns;
        let mut gaps = Vec::new();
        for span in &self.0 {
            if at_ns < span.start_ns {
                let gap = Span::new(at_ns, span.start_ns.min(window.end_ns));
                if !gap.is_empty() {
                    gaps.push(gap);
                }
            }
            at_ns = at_ns.max(span.end_ns);
        }
        if at_ns < window.end_ns {
            gaps.push(Span::new(at_ns, window.end_ns));
        }
        Self(gaps)
    }

    /// Instants that are here and not in `other`. O(n + m).
    pub fn subtract(&self, other: &Self) -> Self {
        let (Some(first), Some(last)) = (self.0.first(), self.0.last()) else { return Self::default() };
        self.intersect(&other.gaps(Span::new(first.start_ns, last.end_ns)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(text: &str) -> Spans {
        Spans::union_of(text.split_whitespace().map(|s| {
            let (a, b) = s.split_once("..").unwrap();
            Span::new(a.parse().unwrap(), b.parse().unwrap())
        }))
    }

    fn text(spans: &Spans) -> String {
        let all: Vec<_> = spans.as_slice().iter().map(|s| format!("{}..{}", s.start_ns, s.end_ns)).collect();
        all.join(" ")
    }

    #[test]
    fn union_merges_touching_and_drops_empty() {
        assert_eq!(text(&spans("5..9 0..3 3..4 8..12 20..20")), "0..4 5..12");
    }

    #[test]
    fn intersection_keeps_what_both_have() {
        assert_eq!(text(&spans("0..10 20..30").intersect(&spans("5..22 25..40"))), "5..10 20..22 25..30");
        assert_eq!(text(&spans("0..10").intersect(&spans("10..20"))), "");
    }

    #[test]
    fn gaps_are_the_complement_inside_the_window() {
        assert_eq!(text(&spans("2..4 6..8").gaps(Span::new(0, 10))), "0..2 4..6 8..10");
        assert_eq!(text(&spans("2..4 6..8").gaps(Span::new(3, 7))), "4..6");
        assert_eq!(text(&spans("0..10").gaps(Span::new(2, 5))), "");
        assert_eq!(text(&Spans::default().gaps(Span::new(2, 5))), "2..5");
        assert_eq!(text(&spans("20..30").gaps(Span::new(0, 10))), "0..10");
    }

    #[test]
    fn subtraction_leaves_what_the_other_lacks() {
        assert_eq!(text(&spans("0..10 20..30").subtract(&spans("5..25"))), "0..5 25..30");
    }
}
