//! Where a slice stands on its track: nested in a call stack, or on a lane beside others.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::SliceFlags;
use crate::trace::NO_PARENT;

/// One track's part of the slice columns, sorted by (start, longest first). `base` is the id of its first.
pub(crate) struct TrackColumns<'a> {
    pub(crate) base: u32,
    pub(crate) start_ns: &'a [i64],
    pub(crate) dur_ns: &'a [i64],
    pub(crate) self_ns: &'a mut [i64],
    pub(crate) depth: &'a mut [u16],
    pub(crate) parent: &'a mut [u32],
    pub(crate) flags: &'a mut [SliceFlags],
}

/// A crossing slice tries this many rows below its parent before it opens a new one: it bounds the cost
/// on tracks where everything crosses everything.
const MAX_ROWS_TRIED: usize = 256;

/// Call-stack nesting; returns the number of rows.
///
/// The rule is that of `torch.autograd.profiler_util`: a slice is the child of the innermost open slice that
/// starts before it and ends not before it ends; others are closed. `tolerance_ns` (the resolution of
/// rounded time stamps, 0 when exact) lets a child end that much after its parent.
/// A slice that crosses its neighbour is kept, flagged, and moved down to a free row.
pub(crate) fn nest(columns: &mut TrackColumns<'_>, tolerance_ns: i64) -> u32 {
    struct Open {
        idx: usize,
        end_ns: i64,
        depth: usize,
    }
    let mut open: Vec<Open> = Vec::new();
    let mut row_end_ns: Vec<i64> = Vec::new();
    for idx in 0..columns.start_ns.len() {
        let start_ns = columns.start_ns[idx];
        let mut end_ns = start_ns + columns.dur_ns[idx];
        let mut is_crossing = false;
        while let Some(top) = open.last() {
            if start_ns < top.end_ns && end_ns <= top.end_ns.saturating_add(tolerance_ns) {
                break;
            }
            is_crossing |= start_ns.saturating_add(tolerance_ns) < top.end_ns;
            open.pop();
        }
        columns.self_ns[idx] = columns.dur_ns[idx];
        let mut depth = 0;
        if let Some(top) = open.last() {
            end_ns = end_ns.min(top.end_ns);
            columns.parent[idx] = columns.base + top.idx as u32;
            columns.self_ns[top.idx] = (columns.self_ns[top.idx] - (end_ns - start_ns)).max(0);
            depth = top.depth + 1;
        }
        let first = depth;
        while row_end_ns.get(depth).is_some_and(|row_end| start_ns < row_end.saturating_sub(tolerance_ns)) {
            depth = if depth - first < MAX_ROWS_TRIED { depth + 1 } else { row_end_ns.len() };
        }
        let depth = depth.min(usize::from(u16::MAX));
        if row_end_ns.len() <= depth {
            row_end_ns.resize(depth + 1, i64::MIN);
        }
        row_end_ns[depth] = row_end_ns[depth].max(end_ns);
        columns.depth[idx] = depth as u16;
        if is_crossing {
            columns.flags[idx] = columns.flags[idx].with(SliceFlags::CROSSING);
        }
        open.push(Open { idx, end_ns, depth });
    }
    row_end_ns.len() as u32
}

/// Lanes for slices that overlap freely: each takes the lowest free one. Returns the number of lanes.
/// A slice that could not take the first lane is flagged as crossing.
pub(crate) fn lanes(columns: &mut TrackColumns<'_>) -> u32 {
    let mut free: BinaryHeap<Reverse<u32>> = BinaryHeap::new();
    let mut busy: BinaryHeap<Reverse<(i64, u32)>> = BinaryHeap::new();
    let mut n_lanes = 0;
    for idx in 0..columns.start_ns.len() {
        let start_ns = columns.start_ns[idx];
        while let Some(&Reverse((end_ns, lane))) = busy.peek() {
            if start_ns < end_ns {
                break;
            }
            busy.pop();
            free.push(Reverse(lane));
        }
        let lane = free.pop().map_or_else(
            || {
                n_lanes += 1;
                n_lanes - 1
            },
            |Reverse(lane)| lane,
        );
        busy.push(Reverse((start_ns + columns.dur_ns[idx], lane)));
        columns.depth[idx] = lane.min(u32::from(u16::MAX)) as u16;
        columns.self_ns[idx] = columns.dur_ns[idx];
        columns.parent[idx] = NO_PARENT;
        if 0 < lane {
            columns.flags[idx] = columns.flags[idx].with(SliceFlags::CROSSING);
        }
    }
    n_lanes.min(u32::from(u16::MAX) + 1)
}
