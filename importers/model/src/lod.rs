//! The drawing pyramid: per row of each track, slices folded by powers of two of time.
//!
//! Drawing must cost pixels, not slices. What is narrower than a cell is merged with its small neighbours
//! in the same cell into one [`Folded`] mark that says how many it hides and how much of it is busy.
//! Cells of level k are 2ᵏ ns, aligned, so that a level can be folded from any finer one. A level is
//! stored only where it has at most a quarter of the marks of the one before: the pyramid costs at most a
//! third of the row again, and drawing a level between two stored ones scans at most four times its marks.

use rayon::prelude::*;

use crate::{Cancelled, Progress, SliceId, Slices, Span, Track, TrackId};

/// One mark to draw: a slice, or several narrow ones in one cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Folded {
    /// From the first start.
    pub start_ns: i64,
    /// To the last end.
    pub end_ns: i64,
    /// How much of it slices cover; equal to the length when `count` is 1.
    pub busy_ns: i64,
    /// How many slices it stands for.
    pub count: u32,
    /// The longest of them (the first of equals).
    pub longest: SliceId,
}

impl Folded {
    fn of_slice(slices: &Slices, id: u32) -> Self {
        let (start_ns, dur_ns) = (slices.start_ns[id as usize], slices.dur_ns[id as usize]);
        Self { start_ns, end_ns: start_ns + dur_ns, busy_ns: dur_ns, count: 1, longest: SliceId(id) }
    }

    /// Narrower than a cell of 2^`log2_ns` ns? What was merged once is narrow at every coarser level.
    fn is_narrow(&self, log2_ns: u32) -> bool {
        1 < self.count || self.busy_ns < 1_i64 << log2_ns
    }
}

/// Merges marks in time order into cells of one level.
struct Folder<'a, F> {
    log2_ns: u32,
    slices: &'a Slices,
    pending: Option<Folded>,
    emit: F,
}

impl<F: FnMut(Folded)> Folder<'_, F> {
    fn push(&mut self, mark: Folded) {
        if let Some(last) = &mut self.pending {
            let is_same_cell = last.start_ns >> self.log2_ns == mark.start_ns >> self.log2_ns;
            if is_same_cell && last.is_narrow(self.log2_ns) && mark.is_narrow(self.log2_ns) {
                last.end_ns = last.end_ns.max(mark.end_ns);
                last.busy_ns += mark.busy_ns;
                last.count += mark.count;
                let dur_ns = |id: SliceId| self.slices.dur_ns[id.idx()];
                if dur_ns(last.longest) < dur_ns(mark.longest) {
                    last.longest = mark.longest;
                }
                return;
            }
            (self.emit)(*last);
        }
        self.pending = Some(mark);
    }

    fn finish(mut self) {
        if let Some(last) = self.pending.take() {
            (self.emit)(last);
        }
    }
}

#[derive(Clone, Debug)]
struct Level {
    log2_ns: u32,
    marks: Vec<Folded>,
}

/// The slices of one row (one depth or lane of a track) by start, with their pyramid.
#[derive(Clone, Debug, Default)]
pub struct RowIndex {
    ids: Vec<u32>,
    levels: Vec<Level>,
}

/// Cells wider than 2⁶¹ ns (73 years) cannot occur.
const MAX_LOG2_NS: u32 = 61;

/// The coarsest time stamps of any format: slices of a row overlap by no more.
const MAX_RESOLUTION_NS: i64 = 1_000;

/// Marks that are folded to see whether a level is worth keeping.
const TRIED_MARKS: usize = 4096;

impl RowIndex {
    fn new(slices: &Slices, ids: Vec<u32>) -> Self {
        let mut row = Self { ids, levels: Vec::new() };
        let mut n_stored = row.ids.len();
        for log2_ns in 4..=MAX_LOG2_NS {
            if n_stored < 64 {
                break;
            }
            // Most levels of sparse rows fold little: look at a stretch before folding the whole row.
            if TRIED_MARKS < n_stored && !row.folds_well(slices, log2_ns, n_stored) {
                continue;
            }
            let mut marks = Vec::new();
            row.fold(slices, log2_ns, 0..usize::MAX, |mark| marks.push(mark));
            if marks.len() * 4 <= n_stored {
                marks.shrink_to_fit();
                n_stored = marks.len();
                row.levels.push(Level { log2_ns, marks });
            }
        }
        row
    }

    /// Does a level fold the middle of the row to less than a third? Whole rows must fold to a quarter; a
    /// stretch may differ a little.
    fn folds_well(&self, slices: &Slices, log2_ns: u32, n_stored: usize) -> bool {
        let first = (n_stored - TRIED_MARKS) / 2;
        let mut n_marks = 0;
        self.fold(slices, log2_ns, first..first + TRIED_MARKS, |_| n_marks += 1);
        n_marks * 3 <= TRIED_MARKS
    }

    /// The slices of the row by start.
    pub fn slices(&self) -> impl Iterator<Item = SliceId> {
        self.ids.iter().map(|id| SliceId(*id))
    }

    /// The slices of the row that share an instant with `window`, or lie in it without a duration, by start.
    /// Cost: O(log slices of the row + those inside).
    pub fn touching<'a>(&'a self, slices: &'a Slices, window: Span) -> impl Iterator<Item = SliceId> + 'a {
        // Ends are sorted as starts are but for what coarse time stamps let overlap.
        let from_ns = window.start_ns.saturating_sub(2 * MAX_RESOLUTION_NS);
        let end_ns = |id: &u32| slices.start_ns[*id as usize] + slices.dur_ns[*id as usize];
        let first = self.ids.partition_point(|id| end_ns(id) < from_ns);
        let inside = self.ids[first..].iter().take_while(move |id| {
            let start_ns = slices.start_ns[**id as usize];
            start_ns < window.end_ns
        });
        let touches = move |id: &&u32| {
            window.start_ns < end_ns(id) || window.start_ns <= slices.start_ns[**id as usize]
        };
        inside.filter(touches).map(|id| SliceId(*id))
    }

    /// Marks that touch `window`, in time order; what is narrower than `min_ns` comes folded (a fold is
    /// narrower than twice `min_ns`). Cost: O(marks in the window), not O(slices).
    pub fn visit(&self, slices: &Slices, window: Span, min_ns: i64, mut emit: impl FnMut(Folded)) {
        let log2_ns = min_ns.max(1).ilog2().min(MAX_LOG2_NS);
        // Slices of a row do not overlap, so ends are sorted as starts are; a fold reaches at most one
        // cell beyond its own.
        let from_ns = window.start_ns.saturating_sub(2_i64 << log2_ns);
        let range = match self.level_below(log2_ns) {
            Some(level) => {
                let first = level.marks.partition_point(|m| m.end_ns <= from_ns);
                first..level.marks.partition_point(|m| m.start_ns < window.end_ns)
            }
            None => {
                let start = |id: u32| slices.start_ns[id as usize];
                let first =
                    self.ids.partition_point(|id| start(*id) + slices.dur_ns[*id as usize] <= from_ns);
                first..self.ids.partition_point(|id| start(*id) < window.end_ns)
            }
        };
        self.fold(slices, log2_ns, range, |mark| {
            if window.start_ns <= mark.end_ns && mark.start_ns < window.end_ns {
                emit(mark);
            }
        });
    }

    fn level_below(&self, log2_ns: u32) -> Option<&Level> {
        self.levels.iter().rev().find(|level| level.log2_ns <= log2_ns)
    }

    /// Fold the finest stored marks at or below a level, restricted to an index range of them.
    fn fold(&self, slices: &Slices, log2_ns: u32, range: std::ops::Range<usize>, emit: impl FnMut(Folded)) {
        let mut folder = Folder { log2_ns, slices, pending: None, emit };
        match self.level_below(log2_ns) {
            Some(level) => {
                let end = range.end.min(level.marks.len());
                for mark in &level.marks[range.start.min(end)..end] {
                    folder.push(*mark);
                }
            }
            None => {
                let end = range.end.min(self.ids.len());
                for id in &self.ids[range.start.min(end)..end] {
                    folder.push(Folded::of_slice(slices, *id));
                }
            }
        }
        folder.finish();
    }
}

/// The rows of all tracks.
#[derive(Clone, Debug, Default)]
pub struct Lod {
    rows: Vec<Vec<RowIndex>>,
}

impl Lod {
    pub(crate) fn new(slices: &Slices, tracks: &[Track], progress: &Progress) -> Result<Self, Cancelled> {
        let rows = tracks
            .par_iter()
            .map(|track| {
                progress.check()?;
                let mut ids: Vec<Vec<u32>> = vec![Vec::new(); track.n_rows as usize];
                for id in track.range() {
                    ids[usize::from(slices.depth[id])].push(id as u32);
                }
                Ok(ids.into_iter().map(|ids| RowIndex::new(slices, ids)).collect())
            })
            .collect::<Result<_, Cancelled>>()?;
        Ok(Self { rows })
    }

    /// The rows of a track, by depth or lane; empty for counters.
    pub fn rows(&self, track: TrackId) -> &[RowIndex] {
        self.rows.get(track.idx()).map_or(&[], Vec::as_slice)
    }
}
