//! Slices that come in two halves: `B` … `E` on one thread, `b` … `e` (older: `S` … `F`) under one id.
//!
//! The halves may lie in different blocks and in any order, so they are joined when the whole file is read.

use rustc_hash::FxHashMap;
use tracecard_model::{
    NameId, Severity, SliceFlags, SliceKind, SliceRow, TraceBuilder, TrackFamily, TrackId, TrackKey,
};

use super::event::Event;
use super::fragment::{Found, PairLane};
use super::mapper::Mapper;

/// One half of a slice.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    /// Index into the lanes of the fragment.
    pub(super) lane: usize,
    pub(super) is_end: bool,
    /// The empty name on many ends.
    pub(super) name: NameId,
    pub(super) time_ns: i64,
    pub(super) offset: i64,
}

impl<'a> Mapper<'a, '_> {
    /// Keep half a slice.
    pub(super) fn push_half(&mut self, event: &Event<'a>, offset: i64) {
        let Some(time_ns) = self.time_ns(event) else { return };
        let (pid, tid) = (self.label(&event.pid).into_owned(), self.label(&event.tid).into_owned());
        let is_asynchronous = !matches!(event.phase, b'B' | b'E');
        let asynchronous = is_asynchronous
            .then(|| (self.text(event.category).into_owned(), self.label(&event.id).into_owned()));
        // An asynchronous slice may end on another thread.
        let tid = if is_asynchronous { String::new() } else { tid };
        let lane = self.fragment.found.pair_lanes.insert_full(PairLane { pid, tid, asynchronous }).0;
        let name = self.name(event.name);
        let is_end = matches!(event.phase, b'E' | b'e' | b'F');
        self.fragment.found.pairs.push(Pair { lane, is_end, name, time_ns, offset });
    }
}

/// Join the halves to slices. What never ends ends with the trace.
pub(super) fn join(found: &mut Found, builder: &mut TraceBuilder) {
    let mut pairs = std::mem::take(&mut found.pairs);
    for pair in &pairs {
        found.widen(pair.time_ns, pair.time_ns);
    }
    pairs.sort_by_key(|pair| (pair.lane, pair.time_ns));
    let Some((_, end_ns)) = found.span_ns else { return };
    for halves in pairs.chunk_by(|a, b| a.lane == b.lane) {
        if let Some(lane) = halves.first().and_then(|half| found.pair_lanes.get_index(half.lane)) {
            let track = track(lane, builder);
            join_lane(halves, track, end_ns, builder);
        }
    }
}

fn track(lane: &PairLane, builder: &mut TraceBuilder) -> TrackId {
    let process = builder.process(&lane.pid);
    let mut key = TrackKey::thread(TrackFamily::Other, process, lane.tid.as_str());
    if let Some((category, _)) = &lane.asynchronous {
        let label =
            if category.is_empty() { "asynchronous".to_owned() } else { format!("asynchronous {category}") };
        key = TrackKey { thread: None, label: Some(label), ..key };
    }
    builder.track(key)
}

/// The halves of one lane by time.
fn join_lane(halves: &[Pair], track: TrackId, end_ns: i64, builder: &mut TraceBuilder) {
    let mut open = Open::default();
    for half in halves {
        if !half.is_end {
            open.push(*half);
            continue;
        }
        let has_name = !builder.names.text(half.name).is_empty();
        // What was opened later and is still open crosses this one: some accelerators write such lanes.
        let begin = if has_name { open.take_named(half.name) } else { open.take_last() };
        if let Some(begin) = begin {
            push(begin, half.time_ns, SliceFlags::NONE, track, builder);
        } else {
            let text = "slices end that never began; they began before the recording and are left out";
            let name = builder.names.text(half.name).to_owned();
            builder.issues.count(Severity::Warning, "unmatched_ends", text, || name);
        }
    }
    for begin in open.halves.into_iter().flatten() {
        push(begin, end_ns, SliceFlags::UNCLOSED, track, builder);
    }
}

/// Begins without an end yet, the latest last, to be found by name without a search.
#[derive(Debug, Default)]
struct Open {
    halves: Vec<Option<Pair>>,
    /// Where in `halves` a name was put; entries may be out of date.
    from_name: FxHashMap<NameId, Vec<usize>>,
}

impl Open {
    fn push(&mut self, begin: Pair) {
        self.from_name.entry(begin.name).or_default().push(self.halves.len());
        self.halves.push(Some(begin));
    }

    fn take_last(&mut self) -> Option<Pair> {
        while let Some(half) = self.halves.pop() {
            if half.is_some() {
                return half;
            }
        }
        None
    }

    fn take_named(&mut self, name: NameId) -> Option<Pair> {
        let idxs = self.from_name.get_mut(&name)?;
        while let Some(idx) = idxs.pop() {
            if let Some(half) = self.halves.get_mut(idx)
                && half.is_some_and(|begin| begin.name == name)
            {
                return half.take();
            }
        }
        None
    }
}

fn push(begin: Pair, end_ns: i64, flags: SliceFlags, track: TrackId, builder: &mut TraceBuilder) {
    if flags.has(SliceFlags::UNCLOSED) {
        let text = "slices begin and never end; they end with the trace";
        let name = builder.names.text(begin.name).to_owned();
        builder.issues.count(Severity::Info, "unclosed_slices", text, || name);
    }
    builder.push_slice(SliceRow {
        track,
        kind: SliceKind::Other,
        flags,
        name: begin.name,
        start_ns: begin.time_ns,
        dur_ns: end_ns.saturating_sub(begin.time_ns),
        correlation: 0,
        source_table: 0,
        source_row: begin.offset,
    });
}
