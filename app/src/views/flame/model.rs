//! What is shown: which trees, for which choices. Made in a job; each stage is kept while it stays the same.
//!
//! ```text
//! run, options ─▶ merged ─ edits ─▶ edited ─ view, chosen ─▶ below, above
//!                                         └─ filter ─▶ matches
//! ```

use std::sync::Arc;

use regex::{Regex, RegexBuilder};
use tracecard_analyzers::flame::{
    Edit, FlameTree, Frame, FrameId, Matches, NodeId, Options, Order, bottom_up, callees, callers, edited,
    flame, matches, reordered, totals_by_frame,
};
use tracecard_analyzers::{AnalyzeError, DevicePartition};
use tracecard_model::{Progress, Trace};

use super::state::{Side, View};
use crate::run::RunId;

/// Everything a flame graph depends on.
#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    /// Which run.
    pub run: RunId,
    /// What is merged.
    pub options: Options,
    /// What is changed then.
    pub edits: Vec<Edit>,
    /// From which side it is seen.
    pub view: View,
    /// The middle of a sandwich.
    pub chosen: Option<Frame>,
    /// What names are to match.
    pub filter: String,
}

/// A frame of the list beside a sandwich, with its total and what it spent itself.
pub type Listed = (FrameId, i64, i64);

/// A flame graph as shown. All its trees number their frames alike.
#[derive(Clone, Debug)]
pub struct Shown {
    /// What it was made for.
    pub key: Key,
    merged: Arc<FlameTree>,
    /// After all edits, as merged: callers above.
    pub edited: Arc<FlameTree>,
    /// The tree that hangs down.
    pub below: Arc<FlameTree>,
    /// The callers of a sandwich.
    pub above: Option<Arc<FlameTree>>,
    /// What the filter matches in `edited`; `None` without a filter.
    pub matches: Option<Matches>,
    /// In a sandwich the frames of `edited` that match, heaviest first.
    pub listed: Arc<Vec<Listed>>,
}

impl Shown {
    /// The tree of a side.
    pub fn tree(&self, side: Side) -> &FlameTree {
        match (side, &self.above) {
            (Side::Above, Some(above)) => above,
            _ => &self.below,
        }
    }

    /// All weight before any edit.
    pub fn merged_total(&self) -> i64 {
        self.merged.total()
    }

    /// Is nothing filtered out, or does the frame match, or one it lies in? O(depth).
    pub fn is_lit(&self, side: Side, node: NodeId) -> bool {
        let Some(matches) = &self.matches else { return true };
        let tree = self.tree(side);
        let is_match = |frame: FrameId| matches.is_match.get(frame.idx()).copied().unwrap_or_default();
        std::iter::successors(Some(node), |node| tree.parent(*node)).any(|node| is_match(tree.frame_id(node)))
    }
}

/// Make what is wanted; what `old` has already is taken from there.
///
/// # Errors
/// Only when cancelled.
pub fn model(
    trace: &Trace,
    partitions: Option<&[DevicePartition]>,
    key: Key,
    old: Option<&Shown>,
    progress: &Progress,
) -> Result<Shown, AnalyzeError> {
    let old = old.filter(|old| old.key.run == key.run && old.key.options == key.options);
    let merged = match old {
        Some(old) => Arc::clone(&old.merged),
        None => Arc::new(flame(trace, partitions, &key.options, progress)?),
    };
    let old = old.filter(|old| old.key.edits == key.edits);
    let edited = match old {
        Some(old) => Arc::clone(&old.edited),
        None if key.edits.is_empty() => Arc::clone(&merged),
        None => Arc::new(edited(&merged, &key.edits)),
    };
    progress.check()?;
    let matches = find(&key.filter).map(|regex| matches(&edited, |name| regex.is_match(name)));
    let is_same_side = |old: &&Shown| old.key.view == key.view && old.key.chosen == key.chosen;
    let (below, above) = match old.filter(is_same_side) {
        Some(old) => (Arc::clone(&old.below), old.above.clone()),
        None => turned(&edited, key.view, key.chosen.as_ref()),
    };
    progress.check()?;
    let mut listed = Vec::new();
    if key.view == View::Sandwich {
        listed = totals_by_frame(&edited);
        listed.retain(|(frame, ..)| {
            matches.as_ref().is_none_or(|m| m.is_match.get(frame.idx()) == Some(&true))
        });
    }
    Ok(Shown { key, merged, edited, below, above, matches, listed: Arc::new(listed) })
}

/// The trees of a view: below, and above where it is a sandwich.
fn turned(
    tree: &Arc<FlameTree>,
    view: View,
    chosen: Option<&Frame>,
) -> (Arc<FlameTree>, Option<Arc<FlameTree>>) {
    match (view, chosen) {
        (View::TopDown, _) => (Arc::clone(tree), None),
        (View::LeftHeavy, _) => (Arc::new(reordered(tree, Order::Weight)), None),
        (View::BottomUp, _) => (Arc::new(bottom_up(tree, Order::Weight)), None),
        (View::Sandwich, Some(frame)) => {
            let below = callees(tree, frame, Order::Weight);
            (Arc::new(below), Some(Arc::new(callers(tree, frame, Order::Weight))))
        }
        (View::Sandwich, None) => (Arc::new(FlameTree::default()), None),
    }
}

/// What a filter looks for: a regular expression, upper and lower case alike; a text that is none is looked
/// for as it is. `None` where it is empty.
fn find(filter: &str) -> Option<Regex> {
    let regex = |text: &str| RegexBuilder::new(text).case_insensitive(true).size_limit(1 << 20).build().ok();
    (!filter.is_empty()).then(|| regex(filter).or_else(|| regex(&regex::escape(filter)))).flatten()
}
