//! Grows a tree node by node, then puts its nodes into preorder.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;
use tracecard_model::SliceId;

use super::tree::{FlameTree, Frame, FrameId, Layer, Measure, NO_PARENT, Order, Row};

/// A node while the tree grows; nodes of the finished tree are numbered anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Growing(u32);

impl Growing {
    /// Above all roots.
    pub(super) const TOP: Self = Self(NO_PARENT);
}

/// A tree that grows.
#[derive(Debug, Default)]
pub(super) struct Builder {
    measure: Measure,
    frames: Vec<Frame>,
    frame_ids: FxHashMap<Frame, FrameId>,
    rows: Vec<Row>,
    nodes: FxHashMap<(u32, FrameId), u32>,
    n_simplified: u64,
    /// Does the count of a node hold those of the nodes below?
    counts_below: bool,
}

impl Builder {
    pub(super) fn new(measure: Measure) -> Self {
        Self { measure, counts_below: measure != Measure::CpuNs, ..Self::default() }
    }

    /// With the frames of another tree, under their numbers.
    pub(super) fn like(tree: &FlameTree) -> Self {
        let mut builder = Self { n_simplified: tree.n_simplified, ..Self::new(tree.measure) };
        for frame in &tree.frames {
            builder.frame(frame.clone());
        }
        builder
    }

    /// The same for a tree turned around, where a node counts the slices at the ends of its paths.
    pub(super) fn turned(tree: &FlameTree) -> Self {
        Self { counts_below: true, ..Self::like(tree) }
    }

    /// The number of a frame, new if unseen.
    pub(super) fn frame(&mut self, frame: Frame) -> FrameId {
        let next = FrameId(self.frames.len() as u32);
        let frames = &mut self.frames;
        *self.frame_ids.entry(frame).or_insert_with_key(|frame| {
            frames.push(frame.clone());
            next
        })
    }

    /// The layer of a frame.
    pub(super) fn layer(&self, frame: FrameId) -> Layer {
        self.frames[frame.idx()].layer
    }

    /// The node of this frame below another, new if unseen. `at_ns` is when it was seen.
    pub(super) fn child(&mut self, parent: Growing, frame: FrameId, at_ns: i64) -> Growing {
        let rows = &mut self.rows;
        let node = *self.nodes.entry((parent.0, frame)).or_insert_with(|| {
            rows.push(Row {
                frame,
                parent: parent.0,
                end: 0,
                depth: 0,
                total: 0,
                own: 0,
                n_own: 0,
                count: 0,
                first_ns: at_ns,
                example: None,
            });
            rows.len() as u32 - 1
        });
        let row = &mut self.rows[node as usize];
        row.first_ns = row.first_ns.min(at_ns);
        Growing(node)
    }

    /// More weight of the node itself; nothing at the top.
    pub(super) fn weigh(&mut self, node: Growing, weight: i64) {
        if let Some(row) = self.rows.get_mut(node.0 as usize) {
            row.own += weight;
        }
    }

    /// More slices of the node itself.
    pub(super) fn count(&mut self, node: Growing, n_slices: u64) {
        if let Some(row) = self.rows.get_mut(node.0 as usize) {
            row.n_own += n_slices;
        }
    }

    /// A slice of the node; the longest one is kept, of equals the first.
    pub(super) fn show(&mut self, node: Growing, dur_ns: i64, slice: SliceId) {
        if let Some(row) = self.rows.get_mut(node.0 as usize) {
            row.example = longer(row.example, Some((dur_ns, slice)));
        }
    }

    /// Note slices whose place was simplified.
    pub(super) fn simplify(&mut self, n_slices: u64) {
        self.n_simplified += n_slices;
    }

    /// Everything of a node of another tree that is about the node itself.
    pub(super) fn absorb(&mut self, node: Growing, row: &Row) {
        self.weigh(node, row.own);
        self.count(node, row.n_own);
        if let Some((dur_ns, slice)) = row.example {
            self.show(node, dur_ns, slice);
        }
    }

    /// The finished tree. O(n log n) in nodes.
    pub(super) fn finish(self, order: Order) -> FlameTree {
        let Self { measure, frames, mut rows, n_simplified, counts_below, .. } = self;
        for row in &mut rows {
            row.total = row.own;
            row.count = row.n_own;
        }
        // A node is younger than its parent.
        for idx in (0..rows.len()).rev() {
            let (total, count, example) = (rows[idx].total, rows[idx].count, rows[idx].example);
            if let Some(parent) = parent_of(&mut rows, idx) {
                parent.total += total;
                // A frame that stands for no slice of its own shows the longest below it.
                if parent.n_own == 0 {
                    parent.example = longer(parent.example, example);
                }
                if counts_below {
                    parent.count += count;
                }
            }
        }
        let siblings = sorted_siblings(&rows, &frames, order);
        let total = rows.iter().filter(|row| row.parent == NO_PARENT).map(|row| row.total).sum();
        FlameTree { measure, rows: preorder(&rows, &siblings), frames, total, n_simplified }
    }
}

/// The longer of two slices, of equals the first.
fn longer(a: Option<(i64, SliceId)>, b: Option<(i64, SliceId)>) -> Option<(i64, SliceId)> {
    let key = |(dur_ns, slice): (i64, SliceId)| (dur_ns, Reverse(slice));
    if a.map(key) < b.map(key) { b } else { a }
}

fn parent_of(rows: &mut [Row], idx: usize) -> Option<&mut Row> {
    let parent = rows[idx].parent;
    rows.get_mut(parent as usize)
}

/// All nodes by parent, then by the order wanted, then by name; with the top's children last.
fn sorted_siblings(rows: &[Row], frames: &[Frame], order: Order) -> Vec<u32> {
    let mut nodes: Vec<u32> = (0..rows.len() as u32).collect();
    let key = |node: u32| {
        let row = &rows[node as usize];
        let by = match order {
            Order::FirstSeen => (rank(&frames[row.frame.idx()]), row.first_ns),
            Order::Weight => (0, -row.total),
        };
        (row.parent, by, Reverse(row.total))
    };
    nodes.sort_unstable_by(|a, b| {
        let frame = |node: u32| &frames[rows[node as usize].frame.idx()];
        key(*a).cmp(&key(*b)).then_with(|| frame(*a).cmp(frame(*b)))
    });
    nodes
}

/// What is no stack comes behind what is.
fn rank(frame: &Frame) -> u8 {
    match frame.layer {
        Layer::Note => 1,
        Layer::Idle => 2,
        _ => 0,
    }
}

fn preorder(rows: &[Row], siblings: &[u32]) -> Vec<Row> {
    let children = |parent: u32| {
        let start = siblings.partition_point(|node| rows[*node as usize].parent < parent);
        let len = siblings[start..].partition_point(|node| rows[*node as usize].parent == parent);
        &siblings[start..start + len]
    };
    let mut ordered: Vec<Row> = Vec::with_capacity(rows.len());
    // (the node's children that are still to come, its new number).
    let mut open: Vec<(std::slice::Iter<'_, u32>, u32)> = vec![(children(NO_PARENT).iter(), NO_PARENT)];
    while let Some((rest, parent)) = open.last_mut() {
        let parent = *parent;
        if let Some(node) = rest.next() {
            let new = ordered.len() as u32;
            let depth = open.len() as u32 - 1;
            ordered.push(Row { parent, depth, ..rows[*node as usize] });
            open.push((children(*node).iter(), new));
        } else {
            open.pop();
            let end = ordered.len() as u32;
            if let Some(row) = ordered.get_mut(parent as usize) {
                row.end = end;
            }
        }
    }
    ordered
}
