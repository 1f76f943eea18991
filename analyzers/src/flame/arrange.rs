//! The same stacks seen from another side.

use rustc_hash::FxHashMap;

use super::builder::{Builder, Growing};
use super::edit::focused;
use super::tree::{FlameTree, Frame, FrameId, NodeId, Order};

/// Callers farther away than this from where the time was spent are left out of a tree turned around: a
/// stack of n frames has n² / 2 nodes there.
const MAX_CALLERS: usize = 256;

/// The same tree with its siblings in another order.
pub fn reordered(tree: &FlameTree, order: Order) -> FlameTree {
    let mut builder = Builder::like(tree);
    let mut moved = vec![Growing::TOP; tree.len()];
    for (idx, row) in tree.rows.iter().enumerate() {
        let above = moved.get(row.parent as usize).copied().unwrap_or(Growing::TOP);
        moved[idx] = builder.child(above, row.frame, row.first_ns);
        builder.absorb(moved[idx], row);
    }
    builder.finish(order)
}

/// Upside down: the roots are the frames that spent the weight themselves, below them their callers. The sum
/// of the roots stays.
pub fn bottom_up(tree: &FlameTree, order: Order) -> FlameTree {
    let mut builder = Builder::turned(tree);
    for node in tree.nodes() {
        let row = &tree.rows[node.idx()];
        if row.own != 0 {
            climb(&mut builder, tree, node, row.own, row.n_own);
        }
    }
    builder.finish(order)
}

/// Who called a frame: it is the only root, below it its callers. Where it calls itself, the outermost call
/// counts, with all its weight. Empty where the tree has no such frame.
pub fn callers(tree: &FlameTree, frame: &Frame, order: Order) -> FlameTree {
    let mut builder = Builder::turned(tree);
    if let Some(frame) = tree.id_of(frame) {
        for node in outermost(tree, frame) {
            let row = &tree.rows[node.idx()];
            climb(&mut builder, tree, node, row.total, row.count);
        }
    }
    builder.finish(order)
}

/// What a frame called: it is the only root. Empty where the tree has no such frame.
pub fn callees(tree: &FlameTree, frame: &Frame, order: Order) -> FlameTree {
    match tree.id_of(frame) {
        Some(frame) => reordered(&focused(tree, frame), order),
        None => Builder::like(tree).finish(order),
    }
}

/// Add a weight to the path from a node up to its root.
fn climb(builder: &mut Builder, tree: &FlameTree, from: NodeId, weight: i64, n_slices: u64) {
    let mut at = Growing::TOP;
    let mut node = Some(from);
    for _ in 0..MAX_CALLERS {
        let Some(here) = node else { break };
        let row = &tree.rows[here.idx()];
        let is_new = at == Growing::TOP;
        at = builder.child(at, row.frame, row.first_ns);
        if let (true, Some((dur_ns, slice))) = (is_new, row.example) {
            builder.show(at, dur_ns, slice);
        }
        node = tree.parent(here);
    }
    builder.weigh(at, weight);
    builder.count(at, n_slices);
}

/// The nodes of a frame that lie under no other node of it.
fn outermost(tree: &FlameTree, frame: FrameId) -> Vec<NodeId> {
    let mut found = Vec::new();
    let mut idx = 0;
    while idx < tree.len() {
        if tree.rows[idx].frame == frame {
            found.push(NodeId::from_idx(idx));
            idx = tree.rows[idx].end as usize;
        } else {
            idx += 1;
        }
    }
    found
}

/// Each frame in use with its total (of its outermost nodes, so that recursion does not count twice) and
/// what it spent itself; heaviest first, then by name.
pub fn totals_by_frame(tree: &FlameTree) -> Vec<(FrameId, i64, i64)> {
    let mut sums: Vec<(i64, i64)> = vec![(0, 0); tree.frames.len()];
    let mut is_used = vec![false; tree.frames.len()];
    let mut path: Vec<(usize, FrameId)> = Vec::new();
    let mut n_open: FxHashMap<FrameId, u32> = FxHashMap::default();
    for (idx, row) in tree.rows.iter().enumerate() {
        while let Some((_, frame)) = path.pop_if(|(old, _)| tree.rows[*old].end as usize <= idx) {
            n_open.entry(frame).and_modify(|n| *n -= 1);
        }
        let n_above = n_open.entry(row.frame).or_default();
        let sum = &mut sums[row.frame.idx()];
        if *n_above == 0 {
            sum.0 += row.total;
        }
        sum.1 += row.own;
        *n_above += 1;
        is_used[row.frame.idx()] = true;
        path.push((idx, row.frame));
    }
    let rows = sums.iter().zip(&is_used).enumerate().filter(|(_, (_, is_used))| **is_used);
    let mut rows: Vec<(FrameId, i64, i64)> =
        rows.map(|(idx, (sum, _))| (FrameId(idx as u32), sum.0, sum.1)).collect();
    rows.sort_by(|a, b| {
        let key = |row: &(FrameId, i64, i64)| (-row.1, -row.2);
        key(a).cmp(&key(b)).then_with(|| tree.frames[a.0.idx()].cmp(&tree.frames[b.0.idx()]))
    });
    rows
}
