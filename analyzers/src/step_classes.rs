//! Which steps do the same work, and which of them are steady (SIG-1, SIG-17).
//!
//! Steps may alternate between kinds (gradient accumulation, evaluation, a second optimizer every other
//! step): they are compared only with steps that launch the same kernels.

use rustc_hash::FxHashMap;
use tracecard_model::NameId;

use crate::stats::median;

/// The kernels of one step: (name, how many), by name.
pub(crate) type KernelCounts = Vec<(NameId, u32)>;

/// Steps whose kernels differ by no more than this are of one class, where hardly any two are equal.
const TOLERANCE_FRAC: f64 = 0.05;

/// The class of each step, numbered in the order they first occur. Steps are of one class when they launch
/// the same kernels equally often. Where less than half of the steps find an equal one that way (shapes
/// vary from step to step), steps whose kernels differ by at most 5 % are of one class.
pub(crate) fn classes(steps: &[KernelCounts]) -> Vec<u32> {
    let mut class_from_counts: FxHashMap<&[(NameId, u32)], u32> = FxHashMap::default();
    let mut sizes: Vec<usize> = Vec::new();
    let mut classes = Vec::with_capacity(steps.len());
    for counts in steps {
        let class = *class_from_counts.entry(counts.as_slice()).or_insert(sizes.len() as u32);
        if class as usize == sizes.len() {
            sizes.push(0);
        }
        sizes[class as usize] += 1;
        classes.push(class);
    }
    let n_alone = sizes.iter().filter(|size| **size == 1).count();
    if n_alone * 2 <= steps.len() || steps.len() < 3 { classes } else { tolerant_classes(steps) }
}

fn tolerant_classes(steps: &[KernelCounts]) -> Vec<u32> {
    let mut firsts: Vec<&KernelCounts> = Vec::new();
    let mut classes = Vec::with_capacity(steps.len());
    for counts in steps {
        let near = firsts.iter().position(|first| difference_frac(first, counts) <= TOLERANCE_FRAC);
        let class = near.unwrap_or_else(|| {
            firsts.push(counts);
            firsts.len() - 1
        });
        classes.push(class as u32);
    }
    classes
}

/// Kernels that only one of two steps has, over those of the larger. Both by name.
fn difference_frac(a: &KernelCounts, b: &KernelCounts) -> f64 {
    let total = |counts: &KernelCounts| counts.iter().map(|c| u64::from(c.1)).sum::<u64>();
    let (mut i, mut j, mut n_different) = (0, 0, 0_u64);
    loop {
        match (a.get(i), b.get(j)) {
            (None, None) => break,
            (Some(x), Some(y)) if x.0 == y.0 => {
                n_different += u64::from(x.1.abs_diff(y.1));
                i += 1;
                j += 1;
            }
            (Some(x), y) if y.is_none_or(|y| x.0 < y.0) => {
                n_different += u64::from(x.1);
                i += 1;
            }
            (_, Some(y)) => {
                n_different += u64::from(y.1);
                j += 1;
            }
            (Some(_), None) => unreachable!("the arm above takes what is left of the first"),
        }
    }
    let larger = total(a).max(total(b));
    if larger == 0 { 0.0 } else { n_different as f64 / larger as f64 }
}

/// How far a step of a steady run may be from the median.
const STEADY_FRAC: f64 = 0.1;
/// How many steps in a row must be that near before the run counts as steady.
const STEADY_RUN: usize = 3;

/// Which steps of one class, in time order, are past warming up: from the first of 3 in a row (all, where
/// there are fewer) whose lengths are within 10 % of the median.
pub(crate) fn past_warm_up(durs_ns: &[i64]) -> Vec<bool> {
    let Some(median_ns) = median(&mut durs_ns.to_vec()) else { return Vec::new() };
    let is_near = |dur_ns: &i64| (*dur_ns as f64 - median_ns).abs() < STEADY_FRAC * median_ns;
    let run = STEADY_RUN.min(durs_ns.len());
    let first = durs_ns.windows(run).position(|window| window.iter().all(is_near));
    (0..durs_ns.len()).map(|idx| first.is_some_and(|first| first <= idx)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(steps: &[&str], expected: &[u32]) {
        // "aab" is a step with two kernels a and one b.
        let steps: Vec<KernelCounts> = steps
            .iter()
            .map(|text| {
                let mut counts: KernelCounts = Vec::new();
                let mut letters: Vec<char> = text.chars().collect();
                letters.sort_unstable();
                for run in letters.chunk_by(|a, b| a == b) {
                    counts.push((NameId(run[0] as u32), run.len() as u32));
                }
                counts
            })
            .collect();
        assert_eq!(classes(&steps), expected);
    }

    #[test]
    fn equal_kernels_are_one_class() {
        check(&["aab", "aab", "aab"], &[0, 0, 0]);
        check(&["aab", "ab", "aab", "ab"], &[0, 1, 0, 1]);
        check(&["ab", "aab", "aab", "aab"], &[0, 1, 1, 1]);
        check(&[], &[]);
        check(&["", "a"], &[0, 1]);
    }

    #[test]
    fn steps_that_all_differ_a_little_are_one_class() {
        // 20 and 21 kernels: 1 of 21 differs, 4.8 %. "z": everything differs.
        let twenty = "a".repeat(20);
        let (one, two, three) = (format!("{twenty}b"), format!("{twenty}c"), twenty.clone());
        check(&[&three, &one, "z", &two], &[0, 0, 1, 0]);
    }

    #[test]
    fn warm_up_ends_where_three_in_a_row_are_near_the_median() {
        // Median 10: 30 and 12 are too far (12 is 20 % off).
        assert_eq!(
            past_warm_up(&[30, 10, 12, 10, 10, 10, 10]),
            [false, false, false, true, true, true, true]
        );
        // A slow step in a steady run stays: it is what the run does.
        assert_eq!(past_warm_up(&[100, 100, 100, 200, 100]), [true; 5]);
        assert_eq!(past_warm_up(&[100, 200, 300, 400]), [false; 4]);
        assert_eq!(past_warm_up(&[100, 101]), [true; 2]);
        assert_eq!(past_warm_up(&[100]), [true]);
        assert_eq!(past_warm_up(&[]), [false; 0]);
    }
}
