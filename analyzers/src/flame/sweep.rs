//! The call stack of one thread at each instant, over all its tracks.
//!
//! A thread's Python frames, ranges, operators and calls lie on tracks of their own; its stack at an instant
//! is every slice that is open then, the earlier started outside. So crossing slices are no trouble: where
//! `A` is open from 0 to 10 and `B` from 5 to 15, the stack is `A`, then `A;B`, then `B`, and no instant
//! counts twice. (An NVTX range that is pushed inside one Python function and popped inside another crosses
//! both.) What many tools do, which is to nest or to drop, loses time or counts it double.

use std::cmp::Reverse;
use std::ops::Range;

use tracecard_model::{Cancelled, ProcessId, Progress, SliceId, Trace, Track, TrackFamily, TrackId};

use super::builder::{Builder, Growing};
use super::names::FrameNames;
use super::tree::{FrameId, Layer};
use super::{Layers, Thread};

/// Tracks whose slices are stacks, the outermost first.
const FAMILIES: [TrackFamily; 8] = [
    TrackFamily::Python,
    TrackFamily::Nvtx,
    TrackFamily::Ops,
    TrackFamily::Library,
    TrackFamily::Other,
    TrackFamily::Overhead,
    TrackFamily::Api,
    TrackFamily::OsRuntime,
];

/// A slice that crosses more open ones than this closes the outermost of them early; the instants they lose
/// are those of the slices which cross them. Bounds the work on traces where everything crosses everything.
const MAX_CROSSED: usize = 64;
/// Slices deeper than this get no frame; their time is that of the frame above.
const MAX_DEPTH: usize = 2_000;
/// Slices between two looks at the cancel button.
const SLICES_A_CHECK: usize = 1 << 13;

/// The tracks of one thread.
#[derive(Debug)]
pub(super) struct ThreadTracks {
    pub(super) thread: Thread,
    /// Rank of the family, and the track.
    tracks: Vec<(usize, TrackId)>,
}

impl ThreadTracks {
    /// The slices of its API calls, one range a track.
    pub(super) fn calls<'a>(&'a self, trace: &'a Trace) -> impl Iterator<Item = Range<usize>> + 'a {
        let tracks = self.tracks.iter().filter_map(|(_, track)| trace.tracks.get(track.idx()));
        tracks.filter(|track| track.key.family == TrackFamily::Api).map(Track::range)
    }
}

/// Threads with tracks that can be stacked, by (process, thread).
pub(super) fn threads(trace: &Trace) -> Vec<ThreadTracks> {
    let mut found: std::collections::BTreeMap<(Option<ProcessId>, Option<&str>), ThreadTracks> =
        std::collections::BTreeMap::new();
    for (idx, track) in trace.tracks.iter().enumerate() {
        let Some(rank) = FAMILIES.iter().position(|family| *family == track.key.family) else { continue };
        let key = (track.key.process, track.key.thread.as_deref());
        let thread = Thread { process: track.key.process, id: track.key.thread.clone() };
        let tracks = found.entry(key).or_insert_with(|| ThreadTracks { thread, tracks: Vec::new() });
        tracks.tracks.push((rank, TrackId::from_idx(idx)));
    }
    found
        .into_values()
        .map(|mut tracks| {
            tracks.tracks.sort_unstable();
            tracks
        })
        .collect()
}

/// An open slice.
struct Open {
    frame: FrameId,
    end_ns: i64,
    /// The least end of this and all outside it.
    least_end_ns: i64,
    /// Its node, once somebody asked.
    node: Option<Growing>,
}

/// The stack of one thread, moved forward in time.
pub(super) struct Stack {
    /// Where all frames hang.
    root: Growing,
    open: Vec<Open>,
    at_ns: i64,
    /// May a child end that much after its parent? The resolution of rounded stamps, else 0.
    tolerance_ns: i64,
}

impl Stack {
    pub(super) fn new(root: Growing, tolerance_ns: i64) -> Self {
        Self { root, open: Vec::new(), at_ns: i64::MIN, tolerance_ns }
    }

    /// Move on to an instant, and close what has ended by then.
    pub(super) fn advance(&mut self, to_ns: i64) {
        self.advance_telling(to_ns, |_, _| ());
    }

    /// The same; each instant on the way is weight of the frame that is innermost then.
    pub(super) fn advance_weighing(&mut self, builder: &mut Builder, to_ns: i64) {
        self.advance_telling(to_ns, |stack, dur_ns| {
            let node = stack.node(builder);
            builder.weigh(node, dur_ns);
        });
    }

    /// `spent` is told of each stretch without a change.
    fn advance_telling(&mut self, to_ns: i64, mut spent: impl FnMut(&mut Self, i64)) {
        while let Some(top) = self.open.last() {
            let end_ns = top.least_end_ns;
            if to_ns < end_ns {
                break;
            }
            let is_top = top.end_ns == end_ns;
            if self.at_ns < end_ns {
                spent(self, end_ns - self.at_ns);
                self.at_ns = end_ns;
            }
            if is_top {
                self.open.pop();
            } else if let Some(at) = self.open.iter().rposition(|open| open.end_ns == end_ns) {
                self.take_out(at);
            }
        }
        if self.at_ns < to_ns {
            if !self.open.is_empty() {
                spent(self, to_ns - self.at_ns);
            }
            self.at_ns = to_ns;
        }
    }

    /// A slice begins now.
    pub(super) fn push(&mut self, frame: FrameId, mut end_ns: i64) -> Pushed {
        let mut n_crossed = 0;
        for open in self.open.iter().rev() {
            // Ends rise outwards where nothing crosses.
            if end_ns <= open.least_end_ns {
                break;
            }
            if open.end_ns < end_ns {
                if end_ns <= open.end_ns.saturating_add(self.tolerance_ns) {
                    end_ns = open.end_ns;
                } else {
                    n_crossed += 1;
                }
            }
        }
        let mut pushed = Pushed::InPlace;
        while MAX_CROSSED < n_crossed {
            let Some(at) = self.open.iter().position(|open| open.end_ns < end_ns) else { break };
            self.take_out(at);
            n_crossed -= 1;
            pushed = Pushed::Simplified;
        }
        if MAX_DEPTH <= self.open.len() {
            return Pushed::TooDeep;
        }
        let least_end_ns = self.open.last().map_or(end_ns, |top| top.least_end_ns.min(end_ns));
        self.open.push(Open { frame, end_ns, least_end_ns, node: None });
        pushed
    }

    /// Remove a slice from the middle: those inside it get another path.
    fn take_out(&mut self, at: usize) {
        self.open.remove(at);
        let mut least_end_ns =
            at.checked_sub(1).and_then(|at| self.open.get(at)).map_or(i64::MAX, |open| open.least_end_ns);
        for open in self.open.iter_mut().skip(at) {
            least_end_ns = least_end_ns.min(open.end_ns);
            open.least_end_ns = least_end_ns;
            open.node = None;
        }
    }

    /// The innermost node now; the root where nothing is open.
    pub(super) fn node(&mut self, builder: &mut Builder) -> Growing {
        let known = self.open.iter().rposition(|open| open.node.is_some());
        let mut node = known.and_then(|at| self.open[at].node).unwrap_or(self.root);
        for open in self.open.iter_mut().skip(known.map_or(0, |at| at + 1)) {
            node = builder.child(node, open.frame, self.at_ns);
            open.node = Some(node);
        }
        node
    }

    /// Begin anew with another thread.
    pub(super) fn clear(&mut self) {
        self.open.clear();
        self.at_ns = i64::MIN;
    }
}

/// Where a slice came to lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pushed {
    /// In its place.
    InPlace,
    /// In its place, but others were closed early for it.
    Simplified,
    /// Nowhere.
    TooDeep,
}

/// A slice of a thread whose time has come.
pub(super) struct Begin {
    pub(super) slice: SliceId,
    pub(super) start_ns: i64,
    pub(super) end_ns: i64,
    /// Its frame; `None` where its layer is not wanted.
    pub(super) frame: Option<FrameId>,
    /// Is it an API call, which may have launched work?
    pub(super) is_call: bool,
}

/// Visit the slices of one thread by (start, longest first, outermost family first).
pub(super) fn visit(
    trace: &Trace,
    thread: &ThreadTracks,
    layers: Layers,
    names: &mut FrameNames<'_>,
    builder: &mut Builder,
    progress: &Progress,
    mut begin: impl FnMut(&mut Builder, Begin),
) -> Result<(), Cancelled> {
    let slices = &trace.slices;
    let (starts_ns, durs_ns) = (slices.starts_ns(), slices.durs_ns());
    let head_of = |at: usize, rank: usize| (starts_ns[at], Reverse(durs_ns[at]), rank);
    struct Head {
        range: Range<usize>,
        key: (i64, Reverse<i64>, usize),
        is_call: bool,
        /// Is any layer of its family wanted?
        is_wanted: bool,
    }
    let mut heads: Vec<Head> = Vec::new();
    for (idx, (rank, track)) in thread.tracks.iter().enumerate() {
        let Some(track) = trace.tracks.get(track.idx()) else { continue };
        let range = track.range();
        let family = FAMILIES[*rank];
        let (is_call, is_wanted) = (family == TrackFamily::Api, layers.wants(family));
        if !range.is_empty() && (is_wanted || is_call) {
            // The tracks are in the order of their ranks.
            heads.push(Head { key: head_of(range.start, idx), range, is_call, is_wanted });
        }
    }
    let mut n_visited = 0;
    loop {
        let Some(at) = (0..heads.len()).min_by_key(|at| heads[*at].key) else { return Ok(()) };
        let head = &mut heads[at];
        let idx = head.range.start;
        let slice = SliceId::from_idx(idx);
        let start_ns = starts_ns[idx];
        let frame = head.is_wanted.then(|| names.frame(builder, slice));
        let frame = frame.filter(|frame| layers.has(builder.layer(*frame)));
        let is_call = head.is_call;
        head.range.start += 1;
        if head.range.is_empty() {
            heads.swap_remove(at);
        } else {
            head.key = head_of(head.range.start, head.key.2);
        }
        begin(
            builder,
            Begin { slice, start_ns, end_ns: start_ns.saturating_add(durs_ns[idx]), frame, is_call },
        );
        n_visited += 1;
        if n_visited % SLICES_A_CHECK == 0 {
            progress.advance(SLICES_A_CHECK as u64)?;
        }
    }
}

/// May slices of this layer be on tracks of this family?
pub(super) fn layers_of(family: TrackFamily) -> &'static [Layer] {
    match family {
        TrackFamily::Python => &[Layer::Python, Layer::Module],
        TrackFamily::Nvtx | TrackFamily::Ops => &[Layer::Range, Layer::Op],
        TrackFamily::Library => &[Layer::Library],
        TrackFamily::Api => &[Layer::Api],
        TrackFamily::OsRuntime => &[Layer::OsRuntime],
        TrackFamily::Other | TrackFamily::Overhead => &[Layer::Other],
        _ => &[],
    }
}
