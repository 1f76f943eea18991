//! Which frames have a name that matches, and how much lies under them.

use super::tree::FlameTree;

/// What matches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matches {
    /// By frame of the tree.
    pub is_match: Vec<bool>,
    /// Weight under matching frames; what lies under two of them counts once.
    pub weight: i64,
}

/// The frames whose whole name `is_match`. O(frames + nodes).
pub fn matches(tree: &FlameTree, is_match: impl Fn(&str) -> bool) -> Matches {
    let is_match: Vec<bool> = tree.frames.iter().map(|frame| is_match(&frame.name)).collect();
    let mut weight = 0;
    let mut idx = 0;
    while let Some(row) = tree.rows.get(idx) {
        if is_match.get(row.frame.idx()).copied().unwrap_or_default() {
            weight += row.total;
            idx = row.end as usize;
        } else {
            idx += 1;
        }
    }
    Matches { is_match, weight }
}
