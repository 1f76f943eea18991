//! Looking for slices by name: what is typed, what happens to the others, and which hit is next.

use tracecard_analyzers::search::Hits;
use tracecard_model::{SliceId, Span, Trace};

use crate::command::Direction;

/// What happens to slices that do not match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Others {
    /// They are painted fainter.
    #[default]
    Dimmed,
    /// They are not painted, and the toolbar says how many.
    Hidden,
}

/// A search.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Search {
    /// What is typed: a regular expression.
    pub text: String,
    /// What happens to the rest.
    pub others: Others,
}

/// The hit after or before the selected slice. Where none is selected that matches, the first one in view;
/// beyond the last comes the first again. O(log hits).
pub fn next_hit(
    trace: &Trace,
    hits: &Hits,
    selected: Option<SliceId>,
    view: Span,
    direction: Direction,
) -> Option<SliceId> {
    let n = hits.len();
    let last = n.checked_sub(1)?;
    let at = match (selected.and_then(|slice| hits.position(trace, slice)), direction) {
        (Some(at), Direction::Next) => at + 1,
        (Some(at), Direction::Previous) => at.checked_sub(1).unwrap_or(last),
        (None, Direction::Next) => hits.first_at(trace, view.start_ns),
        (None, Direction::Previous) => hits.first_at(trace, view.end_ns).checked_sub(1).unwrap_or(last),
    };
    hits.get(if at < n { at } else { 0 })
}

/// What the toolbar says: `3 of 124`, or how many there are.
pub fn count_text(trace: &Trace, hits: &Hits, selected: Option<SliceId>) -> String {
    let n = crate::format::count(i64::try_from(hits.len()).unwrap_or(i64::MAX));
    match selected.and_then(|slice| hits.position(trace, slice)) {
        Some(at) => format!("{} of {n}", crate::format::count(at as i64 + 1)),
        None if hits.is_empty() => "no match".to_owned(),
        None => crate::format::counted(hits.len(), "match").replace("matchs", "matches"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracecard_analyzers::search::{Pattern, find};
    use tracecard_model::{Progress, fixture};

    #[test]
    fn the_search_begins_in_view_and_goes_round() {
        let trace = fixture(
            "thread 1 ops\n op mm 0 10\n op relu 20 10\n op mm 40 10\n op mm 60 10\nstream 0:7\n kernel mm 50 5",
        )
        .unwrap();
        let hits = find(&trace, &Pattern::new("mm").unwrap(), &Progress::new()).unwrap();
        let view = Span::new(30, 45);
        let starts = |selected: Option<SliceId>, direction| {
            let hit = next_hit(&trace, &hits, selected, view, direction).unwrap();
            (hit, trace.slices.span(hit).start_ns)
        };
        let (first, start_ns) = starts(None, Direction::Next);
        assert_eq!((start_ns, count_text(&trace, &hits, Some(first))), (40, "2 of 4".to_owned()));
        let (second, start_ns) = starts(Some(first), Direction::Next);
        assert_eq!(start_ns, 50, "on another track");
        let (third, _) = starts(Some(second), Direction::Next);
        assert_eq!(starts(Some(third), Direction::Next).1, 0, "from the last to the first");
        let (zero, _) = starts(Some(third), Direction::Next);
        assert_eq!(starts(Some(zero), Direction::Previous).1, 60);
        assert_eq!(starts(None, Direction::Previous).1, 40, "the last that begins in view");
        let relu = trace.slice_ids().find(|id| trace.name(*id) == "relu");
        assert_eq!(count_text(&trace, &hits, relu), "4 matches");
    }
}
