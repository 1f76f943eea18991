//! Slices by name: which match, in the order of time and by row.
//!
//! Names are looked at once each, then slices only by the number of their name: ten million slices take
//! as long as counting them.

use rayon::prelude::*;
use regex::{Regex, RegexBuilder};
use rustc_hash::FxHashMap;
use tracecard_model::{Cancelled, NameId, Progress, SliceId, Span, Trace, TrackId};

use crate::span_index::{FoldedSpan, SpanIndex};

/// What is looked for.
#[derive(Clone, Debug)]
pub struct Pattern {
    regex: Regex,
    /// Why the text is no regular expression; it is looked for as it stands then.
    pub trouble: Option<String>,
}

impl Pattern {
    /// A regular expression, upper and lower case alike; `(?-i)` tells them apart. A text that is none is
    /// looked for as it stands. `None` for an empty text.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.is_empty() {
            return None;
        }
        let build = |text: &str| RegexBuilder::new(text).case_insensitive(true).size_limit(1 << 22).build();
        match build(text) {
            Ok(regex) => Some(Self { regex, trouble: None }),
            Err(error) => {
                let regex = build(&regex::escape(text)).ok()?;
                // The last line says what; those before point into the text.
                let reason = error.to_string().lines().last().unwrap_or_default().to_owned();
                Some(Self { regex, trouble: Some(reason) })
            }
        }
    }
}

/// The matching slices of one row of a track.
#[derive(Clone, Debug, Default)]
struct RowHits {
    /// By start.
    ids: Vec<u32>,
    index: SpanIndex,
}

/// What matches.
#[derive(Clone, Debug, Default)]
pub struct Hits {
    /// Matching slices by start, then id.
    slices: Vec<u32>,
    /// By name: does it match?
    names: Vec<bool>,
    rows: FxHashMap<(TrackId, u16), RowHits>,
}

/// Find the slices whose name matches.
///
/// # Errors
/// Only when cancelled.
pub fn find(trace: &Trace, pattern: &Pattern, progress: &Progress) -> Result<Hits, Cancelled> {
    progress.begin("Looking at names", 3)?;
    let texts: Vec<&str> = trace.names.iter().map(|(_, text)| text).collect();
    let names: Vec<bool> = texts.par_iter().map(|text| pattern.regex.is_match(text)).collect();
    progress.advance(1)?;
    let slices = &trace.slices;
    let is_hit =
        |id: &u32| slices.names().get(*id as usize).is_some_and(|name| names.get(name.idx()) == Some(&true));
    // Ids are sorted by track and start: what is kept stays so.
    let by_track: Vec<u32> = (0..slices.len() as u32).into_par_iter().filter(is_hit).collect();
    progress.advance(1)?;
    let depths = slices.depths();
    let mut ids: FxHashMap<(TrackId, u16), Vec<u32>> = FxHashMap::default();
    for id in &by_track {
        let at = *id as usize;
        if let (Some(track), Some(depth)) = (slices.tracks().get(at), depths.get(at)) {
            ids.entry((*track, *depth)).or_default().push(*id);
        }
    }
    let rows = ids
        .into_par_iter()
        .map(|(key, ids)| {
            let index = SpanIndex::new(ids.len(), |at| span_at(trace, &ids, at));
            (key, RowHits { ids, index })
        })
        .collect();
    let mut by_time = by_track;
    by_time.par_sort_unstable_by_key(|id| (slices.starts_ns().get(*id as usize).copied(), *id));
    progress.advance(1)?;
    Ok(Hits { slices: by_time, names, rows })
}

fn span_at(trace: &Trace, ids: &[u32], at: usize) -> Span {
    ids.get(at).map_or(Span::new(0, 0), |id| trace.slices.span(SliceId(*id)))
}

/// In [`Hits::visit`]: one or more hits of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoldedHits {
    /// Count, sum and span.
    pub folded: FoldedSpan,
    /// The longest of them.
    pub longest: SliceId,
}

impl Hits {
    /// How many slices match.
    pub fn len(&self) -> usize {
        self.slices.len()
    }

    /// None?
    pub fn is_empty(&self) -> bool {
        self.slices.is_empty()
    }

    /// The nth hit in the order of time.
    pub fn get(&self, n: usize) -> Option<SliceId> {
        self.slices.get(n).map(|id| SliceId(*id))
    }

    /// Does a name match?
    pub fn is_match(&self, name: NameId) -> bool {
        self.names.get(name.idx()) == Some(&true)
    }

    /// Where a slice stands among the hits; `None` when it is none. O(log n).
    pub fn position(&self, trace: &Trace, slice: SliceId) -> Option<usize> {
        let at = self.first_from(trace, trace.slices.starts_ns().get(slice.idx()).copied()?, slice);
        (self.slices.get(at) == Some(&slice.0)).then_some(at)
    }

    /// The first hit that starts at or after an instant; [`Self::len`] when none does. O(log n).
    pub fn first_at(&self, trace: &Trace, t_ns: i64) -> usize {
        self.first_from(trace, t_ns, SliceId(0))
    }

    fn first_from(&self, trace: &Trace, t_ns: i64, slice: SliceId) -> usize {
        let starts_ns = trace.slices.starts_ns();
        let start_ns = |id: u32| starts_ns.get(id as usize).copied().unwrap_or(i64::MAX);
        self.slices.partition_point(|id| (start_ns(*id), *id) < (t_ns, slice.0))
    }

    /// Does any slice of a row match?
    pub fn has_row(&self, track: TrackId, row: u16) -> bool {
        self.rows.contains_key(&(track, row))
    }

    /// Does any slice that starts in `[from_ns, to_ns)` on a row match? O(log n).
    pub fn any_between(&self, trace: &Trace, track: TrackId, row: u16, from_ns: i64, to_ns: i64) -> bool {
        let Some(hits) = self.rows.get(&(track, row)) else { return false };
        let starts_ns = trace.slices.starts_ns();
        let start_ns = |id: &u32| starts_ns.get(*id as usize).copied().unwrap_or(i64::MAX);
        let at = hits.ids.partition_point(|id| start_ns(id) < from_ns);
        hits.ids.get(at).is_some_and(|id| start_ns(id) < to_ns)
    }

    /// Hits of a row that touch a window, in time order; what is narrower than `min_ns` comes folded.
    pub fn visit(
        &self,
        trace: &Trace,
        (track, row): (TrackId, u16),
        window: Span,
        min_ns: i64,
        mut emit: impl FnMut(FoldedHits),
    ) {
        let Some(hits) = self.rows.get(&(track, row)) else { return };
        let span_of = |at: usize| span_at(trace, &hits.ids, at);
        hits.index.visit(window, min_ns, span_of, |folded| {
            if let Some(id) = hits.ids.get(folded.longest) {
                emit(FoldedHits { folded, longest: SliceId(*id) });
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracecard_model::fixture;

    const TRACE: &str = "
        thread 1 ops
          op aten::mm 10 30
          op aten::addmm 50 20
          op aten::relu 80 0
        stream 0:7
          kernel gemm_128 20 30
          kernel \"void relu(float*)\" 60 5
          kernel gemm_64 70 8";

    fn found(text: &str) -> String {
        let trace = fixture(TRACE).unwrap();
        let hits = find(&trace, &Pattern::new(text).unwrap(), &Progress::new()).unwrap();
        (0..hits.len()).map(|n| trace.name(hits.get(n).unwrap())).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn hits_come_in_the_order_of_time_over_all_tracks() {
        assert_eq!(found("mm"), "aten::mm gemm_128 aten::addmm gemm_64");
        assert_eq!(found("RELU"), "void relu(float*) aten::relu");
        assert_eq!(found("^aten::.*mm$"), "aten::mm aten::addmm");
        assert_eq!(found("nothing"), "");
    }

    #[test]
    fn what_is_no_expression_is_looked_for_as_it_stands() {
        assert_eq!(found("relu("), "void relu(float*)");
        assert!(Pattern::new("relu(").unwrap().trouble.unwrap().contains("unclosed group"));
        assert!(Pattern::new("  ").is_none());
    }

    #[test]
    fn positions_and_instants_are_found() {
        let trace = fixture(TRACE).unwrap();
        let hits = find(&trace, &Pattern::new("mm").unwrap(), &Progress::new()).unwrap();
        let id = |name: &str| trace.slice_ids().find(|id| trace.name(*id) == name).unwrap();
        assert_eq!(hits.position(&trace, id("aten::addmm")), Some(2));
        assert_eq!(hits.position(&trace, id("aten::relu")), None);
        assert_eq!(
            [hits.first_at(&trace, 0), hits.first_at(&trace, 21), hits.first_at(&trace, 99)],
            [0, 2, 4]
        );
        let track = *trace.slices.tracks().get(id("gemm_64").idx()).unwrap();
        assert!(hits.any_between(&trace, track, 0, 60, 71));
        assert!(!hits.any_between(&trace, track, 0, 51, 70));
    }

    #[test]
    fn hits_of_a_row_are_folded() {
        let trace = fixture(TRACE).unwrap();
        let hits = find(&trace, &Pattern::new("gemm").unwrap(), &Progress::new()).unwrap();
        let track = trace.slices.tracks()[trace.slices.len() - 1];
        let mut marks = Vec::new();
        hits.visit(&trace, (track, 0), Span::new(0, 100), 128, |mark| {
            marks.push((mark.folded.count, mark.folded.busy_ns, trace.name(mark.longest).to_owned()));
        });
        assert_eq!(marks, [(2, 38, "gemm_128".to_owned())]);
    }
}
