//! The seven numbers that tables give about many durations or sizes.

use crate::{Column, Unit};

/// Count, sum, extremes, and where the middle lies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stats {
    /// How many.
    pub(crate) count: i64,
    /// Their sum; saturates.
    pub(crate) total: i64,
    /// The smallest.
    pub(crate) min: i64,
    /// The largest.
    pub(crate) max: i64,
    /// Sum over count.
    pub(crate) mean: f64,
    /// The middle one, or the mean of the two middle ones.
    pub(crate) median: f64,
    /// Of the sample (n − 1); 0 for a single one, as NVIDIA's reports have it.
    pub(crate) stddev: f64,
}

impl Stats {
    /// The numbers about `values`, whose order is changed; `None` for no values. O(n).
    pub(crate) fn of(values: &mut [i64]) -> Option<Self> {
        let count = values.len();
        let min = *values.iter().min()?;
        let max = *values.iter().max()?;
        let total: i128 = values.iter().map(|v| i128::from(*v)).sum();
        let mean = total as f64 / count as f64;
        let stddev = if count < 2 {
            0.0
        } else {
            let squares: f64 = values.iter().map(|v| (*v as f64 - mean).powi(2)).sum();
            (squares / (count - 1) as f64).sqrt()
        };
        let total = i64::try_from(total).unwrap_or(if total < 0 { i64::MIN } else { i64::MAX });
        Some(Self { count: count as i64, total, min, max, mean, median: median(values)?, stddev })
    }
}

#[expect(clippy::needless_pass_by_value, reason = "a cheap iterator, cloned for each column")]
/// The seven columns about durations, one row a group: `count`, `total_ns`, `mean_ns`, `median_ns`, `min_ns`,
/// `max_ns`, `stddev_ns`.
pub(crate) fn duration_columns<'a>(rows: impl Iterator<Item = &'a Stats> + Clone) -> Vec<Column> {
    let ints = |id, title, unit, doc, value: fn(&Stats) -> i64| {
        Column::ints(id, title, unit, doc, rows.clone().map(|stats| Some(value(stats))))
    };
    let reals = |id, title, doc, value: fn(&Stats) -> f64| {
        Column::reals(id, title, Unit::Ns, doc, rows.clone().map(|stats| Some(value(stats))))
    };
    vec![
        ints("count", "Count", Unit::Count, "How many", |s| s.count),
        ints("total_ns", "Total", Unit::Ns, "Sum of the durations; what runs at once counts twice", |s| {
            s.total
        }),
        reals("mean_ns", "Mean", "Total over count", |s| s.mean),
        reals("median_ns", "Median", "The middle duration, or the mean of the two middle ones", |s| s.median),
        ints("min_ns", "Min", Unit::Ns, "The shortest", |s| s.min),
        ints("max_ns", "Max", Unit::Ns, "The longest", |s| s.max),
        reals(
            "stddev_ns",
            "Std dev",
            "Standard deviation of the sample (n − 1); 0 for a single one",
            |s| s.stddev,
        ),
    ]
}

/// The middle value, or the mean of the two middle ones. Changes the order. O(n).
pub(crate) fn median(values: &mut [i64]) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    let is_odd = values.len() % 2 == 1;
    let (below, upper, _) = values.select_nth_unstable(values.len() / 2);
    let upper = *upper as f64;
    if is_odd {
        return Some(upper);
    }
    below.iter().max().map(|lower| (*lower as f64 + upper) / 2.0)
}

/// The smallest value that at least this fraction of all are at or below (nearest rank). Changes the
/// order. O(n).
pub(crate) fn percentile(values: &mut [i64], frac: f64) -> Option<i64> {
    if values.is_empty() {
        return None;
    }
    let rank = (values.len() as f64 * frac).ceil() as usize;
    let idx = rank.clamp(1, values.len()) - 1;
    Some(*values.select_nth_unstable(idx).1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(values: &[i64], expected: &str) {
        let text = match Stats::of(&mut values.to_vec()) {
            Some(s) => format!(
                "n={} sum={} min={} max={} mean={} median={} sd={:.3}",
                s.count, s.total, s.min, s.max, s.mean, s.median, s.stddev
            ),
            None => "none".to_owned(),
        };
        assert_eq!(text, expected);
    }

    #[test]
    fn the_usual_case() {
        // Mean 5, squares 9 + 1 + 1 + 9 = 20, 20 / 3 = 6.667, root 2.582; middle two 4 and 6.
        check(&[8, 2, 6, 4], "n=4 sum=20 min=2 max=8 mean=5 median=5 sd=2.582");
        check(&[3, 1, 2], "n=3 sum=6 min=1 max=3 mean=2 median=2 sd=1.000");
    }

    #[test]
    fn one_value_does_not_spread_and_none_has_no_numbers() {
        check(&[7], "n=1 sum=7 min=7 max=7 mean=7 median=7 sd=0.000");
        check(&[], "none");
    }

    #[test]
    fn a_sum_that_does_not_fit_saturates() {
        assert_eq!(Stats::of(&mut [i64::MAX, i64::MAX]).unwrap().total, i64::MAX);
    }

    #[test]
    fn percentiles_are_values_that_occur() {
        let mut hundred: Vec<i64> = (1..=100).rev().collect();
        assert_eq!(percentile(&mut hundred, 0.95), Some(95));
        assert_eq!(percentile(&mut hundred, 0.99), Some(99));
        assert_eq!(percentile(&mut [10, 30, 20], 0.95), Some(30));
        assert_eq!(percentile(&mut [10, 30, 20], 0.0), Some(10));
        assert_eq!(percentile(&mut [], 0.95), None);
    }
}
