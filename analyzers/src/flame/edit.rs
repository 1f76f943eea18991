//! What the user takes out of a tree or puts together, one step after the other.

use super::builder::{Builder, Growing};
use super::tree::{FlameTree, Frame, FrameId, Layer, Order};

/// One change of a tree. The weights of what stays do not change, only where they lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// Only what lies under the outermost of such frames, from there on.
    Focus(Frame),
    /// Nothing that lies under such a frame: its weight is gone from the total.
    HideStacks(Frame),
    /// Without such frames: what they called is called by their callers. What a root of this frame spent
    /// itself is `(hidden)`.
    HideFrame(Frame),
    /// A frame called again below itself is the same call: what the inner one called is called by the outer.
    CollapseRecursion(Frame),
    /// The same for every frame.
    CollapseAllRecursion,
    /// `nn.Module: Linear_0` and `nn.Module: Linear_1` are `nn.Module: Linear`: modules of one class are one.
    MergeModules,
}

/// The tree after all edits, in their order; siblings in the order they were first seen. O(nodes · edits).
pub fn edited(tree: &FlameTree, edits: &[Edit]) -> FlameTree {
    let mut edits = edits.iter();
    let Some(first) = edits.next() else { return tree.clone() };
    edits.fold(edited_once(tree, first), |tree, edit| edited_once(&tree, edit))
}

fn edited_once(tree: &FlameTree, edit: &Edit) -> FlameTree {
    match edit {
        Edit::Focus(frame) => match tree.id_of(frame) {
            Some(frame) => focused(tree, frame),
            None => Builder::like(tree).finish(Order::FirstSeen),
        },
        Edit::HideStacks(frame) => with_frame(tree, frame, without_stacks),
        Edit::HideFrame(frame) => with_frame(tree, frame, without_frame),
        Edit::CollapseRecursion(frame) => with_frame(tree, frame, |tree, frame| collapsed(tree, Some(frame))),
        Edit::CollapseAllRecursion => collapsed(tree, None),
        Edit::MergeModules => merged_modules(tree),
    }
}

/// A frame that is not there changes nothing.
fn with_frame(
    tree: &FlameTree,
    frame: &Frame,
    change: impl Fn(&FlameTree, FrameId) -> FlameTree,
) -> FlameTree {
    tree.id_of(frame).map_or_else(|| tree.clone(), |frame| change(tree, frame))
}

/// Where the nodes of the old tree went.
struct Moved(Vec<Growing>);

impl Moved {
    fn of(tree: &FlameTree) -> Self {
        Self(vec![Growing::TOP; tree.len()])
    }

    /// The new node of an old node's parent.
    fn above(&self, tree: &FlameTree, idx: usize) -> Growing {
        self.0.get(tree.rows[idx].parent as usize).copied().unwrap_or(Growing::TOP)
    }
}

/// What the outermost nodes of a frame hold, merged.
pub(super) fn focused(tree: &FlameTree, frame: FrameId) -> FlameTree {
    let mut builder = Builder::like(tree);
    let mut moved = Moved::of(tree);
    let mut idx = 0;
    while idx < tree.len() {
        if tree.rows[idx].frame != frame {
            idx += 1;
            continue;
        }
        let end = tree.rows[idx].end as usize;
        let first = idx;
        for idx in first..end {
            let row = &tree.rows[idx];
            let above = if idx == first { Growing::TOP } else { moved.above(tree, idx) };
            moved.0[idx] = builder.child(above, row.frame, row.first_ns);
            builder.absorb(moved.0[idx], row);
        }
        idx = end;
    }
    builder.finish(Order::FirstSeen)
}

fn without_stacks(tree: &FlameTree, frame: FrameId) -> FlameTree {
    let mut builder = Builder::like(tree);
    let mut moved = Moved::of(tree);
    let mut idx = 0;
    while idx < tree.len() {
        let row = &tree.rows[idx];
        if row.frame == frame {
            idx = row.end as usize;
            continue;
        }
        moved.0[idx] = builder.child(moved.above(tree, idx), row.frame, row.first_ns);
        builder.absorb(moved.0[idx], row);
        idx += 1;
    }
    builder.finish(Order::FirstSeen)
}

fn without_frame(tree: &FlameTree, frame: FrameId) -> FlameTree {
    let mut builder = Builder::like(tree);
    let mut moved = Moved::of(tree);
    for (idx, row) in tree.rows.iter().enumerate() {
        let above = moved.above(tree, idx);
        if row.frame != frame {
            moved.0[idx] = builder.child(above, row.frame, row.first_ns);
            builder.absorb(moved.0[idx], row);
            continue;
        }
        moved.0[idx] = above;
        if above != Growing::TOP {
            builder.weigh(above, row.own);
        } else if row.own != 0 {
            let hidden = builder.frame(Frame::new(Layer::Note, "(hidden)"));
            let hidden = builder.child(Growing::TOP, hidden, row.first_ns);
            builder.weigh(hidden, row.own);
        }
    }
    builder.finish(Order::FirstSeen)
}

fn merged_modules(tree: &FlameTree) -> FlameTree {
    let mut builder = Builder::like(tree);
    let merged: Vec<FrameId> = tree.frames.iter().map(|frame| builder.frame(class(frame))).collect();
    let mut moved = Moved::of(tree);
    for (idx, row) in tree.rows.iter().enumerate() {
        moved.0[idx] = builder.child(moved.above(tree, idx), merged[row.frame.idx()], row.first_ns);
        builder.absorb(moved.0[idx], row);
    }
    builder.finish(Order::FirstSeen)
}

/// A module without the number that torch appends to tell modules of one class apart.
fn class(frame: &Frame) -> Frame {
    let digits = |c: char| c.is_ascii_digit();
    let named = frame.name.trim_end_matches(digits);
    match named.strip_suffix('_') {
        Some(class) if frame.layer == Layer::Module && named.len() < frame.name.len() => {
            Frame::new(Layer::Module, class)
        }
        _ => frame.clone(),
    }
}

/// Inner nodes of a frame become its outermost one on their path; `None`: of every frame.
fn collapsed(tree: &FlameTree, only: Option<FrameId>) -> FlameTree {
    let mut builder = Builder::like(tree);
    let mut moved = Moved::of(tree);
    // By frame: its outermost node on the way to here, as (old, new).
    let mut outermost: Vec<Option<(usize, Growing)>> = vec![None; tree.frames.len()];
    let mut path: Vec<(usize, FrameId)> = Vec::new();
    for (idx, row) in tree.rows.iter().enumerate() {
        while let Some((old, frame)) = path.pop_if(|(old, _)| tree.rows[*old].end as usize <= idx) {
            if outermost[frame.idx()].is_some_and(|(first, _)| first == old) {
                outermost[frame.idx()] = None;
            }
        }
        path.push((idx, row.frame));
        let outer = outermost[row.frame.idx()].filter(|_| only.is_none_or(|frame| frame == row.frame));
        moved.0[idx] = match outer {
            Some((_, node)) => node,
            None => builder.child(moved.above(tree, idx), row.frame, row.first_ns),
        };
        if outermost[row.frame.idx()].is_none() {
            outermost[row.frame.idx()] = Some((idx, moved.0[idx]));
        }
        builder.absorb(moved.0[idx], row);
    }
    builder.finish(Order::FirstSeen)
}
