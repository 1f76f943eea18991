//! A merged flame graph: frames of one name under one caller are one node.
//!
//! Nodes lie in preorder, so that the subtree of node `n` is the range `n .. end(n)`: nothing here recurses,
//! and a stack of any depth is only a long range.

use std::ops::Range;

use tracecard_model::SliceId;

/// A node of a [`FlameTree`], counted in preorder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

impl NodeId {
    /// As an index.
    pub fn idx(self) -> usize {
        self.0 as usize
    }

    /// From an index; trees hold fewer than 2³² nodes.
    pub fn from_idx(idx: usize) -> Self {
        Self(idx as u32)
    }
}

/// A row of [`FlameTree::frames`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FrameId(pub u32);

impl FrameId {
    /// As an index.
    pub fn idx(self) -> usize {
        self.0 as usize
    }
}

/// Where a frame comes from. Of slices that start and end together the first in this order is the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    /// A note of ours in brackets: `(not attributed)`, `(hidden)`.
    Note,
    /// The time in which a device had nothing to do, and its causes.
    Idle,
    /// A Python function.
    Python,
    /// A `torch.nn.Module`, as Kineto writes it among the Python frames.
    Module,
    /// An NVTX push/pop range, or an annotation (`record_function`).
    Range,
    /// A framework's operator.
    Op,
    /// A call of another library (cuDNN, MPI …).
    Library,
    /// A slice of no known family.
    Other,
    /// A CUDA or HIP call.
    Api,
    /// A call of the operating system's runtime.
    OsRuntime,
    /// A function on the call stack of a CPU sample.
    Sampled,
    /// A kernel, copy, memset or graph of a device.
    Device,
}

impl Layer {
    /// Every layer, in declared order.
    pub const ALL: [Self; 12] = [
        Self::Note,
        Self::Idle,
        Self::Python,
        Self::Module,
        Self::Range,
        Self::Op,
        Self::Library,
        Self::Other,
        Self::Api,
        Self::OsRuntime,
        Self::Sampled,
        Self::Device,
    ];

    /// The stable text used in copies.
    pub fn text(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Idle => "idle",
            Self::Python => "python",
            Self::Module => "module",
            Self::Range => "range",
            Self::Op => "op",
            Self::Library => "library",
            Self::Other => "other",
            Self::Api => "api",
            Self::OsRuntime => "os_runtime",
            Self::Sampled => "sampled",
            Self::Device => "device",
        }
    }
}

/// What merges: slices whose frames are equal, under equal callers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Frame {
    /// Its name: counters of ranges and versions of API calls taken off, else whole.
    pub name: Box<str>,
    /// Where it comes from.
    pub layer: Layer,
}

impl Frame {
    /// A frame.
    pub fn new(layer: Layer, name: &str) -> Self {
        Self { name: name.into(), layer }
    }
}

/// What the weights of a tree count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Measure {
    /// Ns of host threads inside slices.
    #[default]
    CpuNs,
    /// Ns of device slices, and of idle devices.
    DeviceNs,
    /// CPU samples.
    Samples,
}

/// How siblings are ordered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// By when the first slice of each came.
    #[default]
    FirstSeen,
    /// Heaviest first.
    Weight,
}

/// What a tree keeps of one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) frame: FrameId,
    /// `u32::MAX` at a root.
    pub(super) parent: u32,
    /// One past the last node below it.
    pub(super) end: u32,
    pub(super) depth: u32,
    pub(super) total: i64,
    pub(super) own: i64,
    /// Slices of this very node.
    pub(super) n_own: u64,
    /// Slices as shown.
    pub(super) count: u64,
    pub(super) first_ns: i64,
    /// The longest of its slices, with its duration.
    pub(super) example: Option<(i64, SliceId)>,
}

/// In [`Row::parent`]: none.
pub(super) const NO_PARENT: u32 = u32::MAX;

/// A merged flame graph; see the module.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlameTree {
    pub(super) measure: Measure,
    pub(super) frames: Vec<Frame>,
    pub(super) rows: Vec<Row>,
    pub(super) total: i64,
    pub(super) n_simplified: u64,
}

impl FlameTree {
    /// What weights count.
    pub fn measure(&self) -> Measure {
        self.measure
    }

    /// The sum of all roots, in the unit of the measure.
    pub fn total(&self) -> i64 {
        self.total
    }

    /// Slices whose place was simplified because they cross very many others or lie very deep; their time is
    /// counted with a caller. 0 but for traces that are broken.
    pub fn n_simplified(&self) -> u64 {
        self.n_simplified
    }

    /// How many nodes.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// No nodes?
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// All frames; which of them are in use is for the nodes to say.
    pub fn frames(&self) -> &[Frame] {
        &self.frames
    }

    /// All nodes in preorder.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.rows.len()).map(NodeId::from_idx)
    }

    /// The frame of a node, as a number.
    pub fn frame_id(&self, node: NodeId) -> FrameId {
        self.rows[node.idx()].frame
    }

    /// The frame of a node.
    pub fn frame(&self, node: NodeId) -> &Frame {
        &self.frames[self.frame_id(node).idx()]
    }

    /// The node above; `None` at a root.
    pub fn parent(&self, node: NodeId) -> Option<NodeId> {
        Some(self.rows[node.idx()].parent).filter(|parent| *parent != NO_PARENT).map(NodeId)
    }

    /// How many nodes are above it.
    pub fn depth(&self, node: NodeId) -> usize {
        self.rows[node.idx()].depth as usize
    }

    /// Weight with all below.
    pub fn weight(&self, node: NodeId) -> i64 {
        self.rows[node.idx()].total
    }

    /// Weight that is in no node below.
    pub fn own_weight(&self, node: NodeId) -> i64 {
        self.rows[node.idx()].own
    }

    /// Slices: those merged into the node (CPU time), device slices below it (device time), or samples.
    pub fn count(&self, node: NodeId) -> u64 {
        self.rows[node.idx()].count
    }

    /// The longest slice that was merged into the node, else the longest below it; `None` for samples.
    pub fn example(&self, node: NodeId) -> Option<SliceId> {
        self.rows[node.idx()].example.map(|(_, slice)| slice)
    }

    /// The node and all below it.
    pub fn subtree(&self, node: NodeId) -> Range<usize> {
        node.idx()..self.rows[node.idx()].end as usize
    }

    /// The nodes right below, or the roots, in their order.
    pub fn children(&self, of: Option<NodeId>) -> impl Iterator<Item = NodeId> + '_ {
        let range = of.map_or(0..self.rows.len(), |node| node.idx() + 1..self.rows[node.idx()].end as usize);
        let first = (!range.is_empty()).then_some(range.start);
        let next = move |at: &usize| Some(self.rows[*at].end as usize).filter(|next| *next < range.end);
        std::iter::successors(first, next).map(NodeId::from_idx)
    }

    /// The frames from the root to the node.
    pub fn path(&self, node: NodeId) -> Vec<&Frame> {
        let nodes = std::iter::successors(Some(node), |node| self.parent(*node));
        let mut path: Vec<&Frame> = nodes.map(|node| self.frame(node)).collect();
        path.reverse();
        path
    }

    /// The node at the end of this path of frames. O(children on the way).
    pub fn find(&self, path: &[Frame]) -> Option<NodeId> {
        let mut at = None;
        for frame in path {
            at = Some(self.children(at).find(|child| self.frame(*child) == frame)?);
        }
        at
    }

    /// The number of a frame; `None` where the tree has none such.
    pub(super) fn id_of(&self, frame: &Frame) -> Option<FrameId> {
        self.frames.iter().position(|other| other == frame).map(|idx| FrameId(idx as u32))
    }
}
