//! Values sorted into groups by a small dense key: what a group-by needs, without a hash map of rows.

/// The values of each group, contiguous, groups in key order, values in the order pushed.
#[derive(Debug)]
pub(crate) struct Grouped {
    /// Start of each group in `values`, and the end of the last.
    offsets: Vec<usize>,
    values: Vec<i64>,
}

impl Grouped {
    /// Groups `0..n_groups` of (key, value). Two counting passes over `rows`: O(n).
    pub(crate) fn new(n_groups: usize, rows: impl Iterator<Item = (u32, i64)> + Clone) -> Self {
        let mut offsets = vec![0_usize; n_groups + 1];
        for (key, _) in rows.clone() {
            offsets[key as usize + 1] += 1;
        }
        for idx in 1..offsets.len() {
            offsets[idx] += offsets[idx - 1];
        }
        let mut next = offsets.clone();
        let mut values = vec![0; offsets.last().copied().unwrap_or(0)];
        for (key, value) in rows {
            let at = &mut next[key as usize];
            values[*at] = value;
            *at += 1;
        }
        Self { offsets, values }
    }

    /// The values of one group, free to be reordered.
    pub(crate) fn group_mut(&mut self, key: usize) -> &mut [i64] {
        match self.offsets.get(key..key + 2) {
            Some([start, end]) => &mut self.values[*start..*end],
            _ => &mut [],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_keep_their_order_inside_their_group() {
        let rows = [(1, 10), (0, 5), (1, 20), (3, 7)];
        let mut grouped = Grouped::new(4, rows.into_iter());
        assert_eq!(grouped.group_mut(0), [5]);
        assert_eq!(grouped.group_mut(1), [10, 20]);
        assert_eq!(grouped.group_mut(2), []);
        assert_eq!(grouped.group_mut(3), [7]);
        assert_eq!(grouped.group_mut(4), []);
    }
}
