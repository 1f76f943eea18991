//! Values over time: each holds for a stretch, and between stretches nothing is known.

use tracecard_model::{SliceId, Span};

/// Computed values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Steps {
    /// Where each value begins to hold, ascending.
    pub starts_ns: Vec<i64>,
    /// The values, all finite.
    pub values: Vec<f64>,
    /// Where each ends, not beyond the next start. Empty where each holds until the next.
    pub ends_ns: Vec<i64>,
    /// Where the last one ends, if `ends_ns` is empty.
    pub last_ns: i64,
    /// The slice that each value speaks of; empty where they speak of none.
    pub slices: Vec<SliceId>,
}

impl Steps {
    /// The values in order of time. O(1).
    pub fn view(&self) -> SeriesView<'_> {
        let ends = if self.ends_ns.is_empty() {
            Ends::Next { last_ns: self.last_ns, hole_ns: i64::MAX, after_hole_ns: 0 }
        } else {
            Ends::Each(&self.ends_ns)
        };
        SeriesView { starts_ns: &self.starts_ns, values: &self.values, ends }
    }

    /// Add a value that holds until the next; one of the same instant takes the place of the last, and one
    /// that changes nothing is not kept.
    pub(crate) fn push_change(&mut self, t_ns: i64, value: f64) {
        if self.starts_ns.last() == Some(&t_ns) {
            if let Some(last) = self.values.last_mut() {
                *last = value;
            }
            let before = self.values.iter().rev().nth(1).copied();
            if before == Some(value) {
                self.starts_ns.pop();
                self.values.pop();
            }
        } else if self.values.last() != Some(&value) {
            self.starts_ns.push(t_ns);
            self.values.push(value);
        }
    }
}

/// Where values end.
#[derive(Clone, Copy, Debug)]
pub enum Ends<'a> {
    /// Each holds until the next.
    Next {
        /// Where the last one ends.
        last_ns: i64,
        /// A next value further away than this is beyond a hole.
        hole_ns: i64,
        /// How long a value holds before a hole.
        after_hole_ns: i64,
    },
    /// Each has its own end.
    Each(&'a [i64]),
}

/// Values in order of time, by reference.
#[derive(Clone, Copy, Debug)]
pub struct SeriesView<'a> {
    /// Where each value begins to hold, ascending.
    pub starts_ns: &'a [i64],
    /// The values.
    pub values: &'a [f64],
    /// Where they end.
    pub ends: Ends<'a>,
}

impl SeriesView<'_> {
    /// No values.
    pub const EMPTY: Self =
        Self { starts_ns: &[], values: &[], ends: Ends::Next { last_ns: 0, hole_ns: 0, after_hole_ns: 0 } };

    /// How many values.
    pub fn len(&self) -> usize {
        self.starts_ns.len().min(self.values.len())
    }

    /// None?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where the value with this index holds; empty for one that covers nobody knows what.
    pub fn span(&self, idx: usize) -> Span {
        let start_ns = self.starts_ns.get(idx).copied().unwrap_or(0);
        let end_ns = match self.ends {
            Ends::Each(ends_ns) => ends_ns.get(idx).copied().unwrap_or(start_ns),
            Ends::Next { last_ns, hole_ns, after_hole_ns } => match self.starts_ns.get(idx + 1) {
                Some(next_ns) if next_ns.saturating_sub(start_ns) <= hole_ns => *next_ns,
                Some(_) => start_ns.saturating_add(after_hole_ns),
                None if last_ns.saturating_sub(start_ns) <= hole_ns => last_ns,
                None => start_ns.saturating_add(after_hole_ns),
            },
        };
        Span::new(start_ns, end_ns.max(start_ns))
    }

    /// The value that holds at an instant. O(log n).
    pub fn index_at(&self, t_ns: i64) -> Option<usize> {
        let idx = self.starts_ns.partition_point(|start_ns| *start_ns <= t_ns).checked_sub(1)?;
        (idx < self.len() && self.span(idx).contains(t_ns)).then_some(idx)
    }

    /// From the first start to the last end; `None` without values.
    pub fn extent(&self) -> Option<Span> {
        let last = self.len().checked_sub(1)?;
        Some(Span::new(*self.starts_ns.first()?, self.span(last).end_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_of_one_instant_are_one_and_what_changes_nothing_is_none() {
        let mut steps = Steps::default();
        for (t_ns, value) in [(0, 0.0), (5, 1.0), (5, 2.0), (7, 2.0), (9, 3.0), (9, 2.0), (12, 0.0)] {
            steps.push_change(t_ns, value);
        }
        assert_eq!((steps.starts_ns, steps.values), (vec![0, 5, 12], vec![0.0, 2.0, 0.0]));
    }

    #[test]
    fn between_stretches_nothing_is_known() {
        let steps = Steps {
            starts_ns: vec![0, 20],
            values: vec![1.0, 2.0],
            ends_ns: vec![10, 30],
            ..Steps::default()
        };
        let view = steps.view();
        let at = |t_ns| view.index_at(t_ns);
        assert_eq!(
            [at(-1), at(0), at(9), at(10), at(20), at(30)],
            [None, Some(0), Some(0), None, Some(1), None]
        );
        assert_eq!(view.extent(), Some(Span::new(0, 30)));
        assert_eq!(SeriesView::EMPTY.extent(), None);
    }
}
