//! From one slice to another: along its ties, to its neighbours, to others of its name.

use tracecard_model::{LinkKind, SliceId, Trace};

use crate::command::Direction;

/// Ties in the order in which they are followed.
pub const TIES: [LinkKind; 3] = [LinkKind::Launch, LinkKind::Sync, LinkKind::ForwardBackward];

/// The slice at the other end of an arrow: the first one a launch enqueued, the launch of a kernel, the
/// backward of a forward operator. `None` where no arrow leads on. O(log n).
pub fn tied(trace: &Trace, slice: SliceId, direction: Direction) -> Option<SliceId> {
    TIES.iter().find_map(|kind| match direction {
        Direction::Previous => trace.links.source(*kind, slice),
        Direction::Next => trace.links.targets(*kind, slice).next(),
    })
}

/// The slice before or after on the same row of the same track. O(slices of the track).
pub fn neighbour(trace: &Trace, slice: SliceId, direction: Direction) -> Option<SliceId> {
    let (tracks, depths) = (trace.slices.tracks(), trace.slices.depths());
    let (track, depth) = (*tracks.get(slice.idx())?, *depths.get(slice.idx())?);
    let is_on_row = |id: &SliceId| depths.get(id.idx()) == Some(&depth);
    let range = trace.tracks.get(track.idx())?.range();
    match direction {
        Direction::Previous => (range.start..slice.idx()).rev().map(SliceId::from_idx).find(is_on_row),
        Direction::Next => (slice.idx() + 1..range.end).map(SliceId::from_idx).find(is_on_row),
    }
}

/// The slice of the same name that starts before or after, on any track. Of those that start together the
/// order is that of the slices. O(n), a few ms for ten million slices.
pub fn of_same_name(trace: &Trace, slice: SliceId, direction: Direction) -> Option<SliceId> {
    let (names, starts_ns) = (trace.slices.names(), trace.slices.starts_ns());
    let name = *names.get(slice.idx())?;
    let at = (*starts_ns.get(slice.idx())?, slice);
    let of_name = names.iter().enumerate().filter(|(_, other)| **other == name);
    let keys = of_name.filter_map(|(idx, _)| Some((*starts_ns.get(idx)?, SliceId::from_idx(idx))));
    let found = match direction {
        Direction::Previous => keys.filter(|key| *key < at).max(),
        Direction::Next => keys.filter(|key| at < *key).min(),
    };
    found.map(|(_, slice)| slice)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracecard_model::fixture;

    const TRACE: &str = "
        thread 1 ops
          op a 0 10
          op inner 2 3
          op b 20 10
          op a 40 5
        thread 2 ops
          op a 30 5
        thread 1 api
          api launch 3 1 #1
        stream 0:7
          kernel k 50 10 #1
          kernel unlaunched 70 10";

    fn check(
        from: &str,
        n: usize,
        follow: fn(&Trace, SliceId, Direction) -> Option<SliceId>,
        expected: [&str; 2],
    ) {
        let trace = fixture(TRACE).unwrap();
        let id = trace.slice_ids().filter(|id| trace.name(*id) == from).nth(n).unwrap();
        let text = |direction| match follow(&trace, id, direction) {
            Some(found) => format!("{} {}", trace.name(found), trace.slices.span(found).start_ns),
            None => "-".to_owned(),
        };
        assert_eq!([text(Direction::Previous), text(Direction::Next)], expected);
    }

    #[test]
    fn neighbours_are_on_the_same_row() {
        check("a", 0, neighbour, ["-", "b 20"]);
        check("b", 0, neighbour, ["a 0", "a 40"]);
        check("inner", 0, neighbour, ["-", "-"]);
    }

    #[test]
    fn ties_lead_from_launch_to_kernel_and_back() {
        check("launch", 0, tied, ["-", "k 50"]);
        check("k", 0, tied, ["launch 3", "-"]);
        check("unlaunched", 0, tied, ["-", "-"]);
    }

    #[test]
    fn the_same_name_is_found_on_all_tracks_in_the_order_of_time() {
        check("a", 0, of_same_name, ["-", "a 30"]);
        check("a", 1, of_same_name, ["a 30", "-"]);
        check("b", 0, of_same_name, ["-", "-"]);
    }
}
