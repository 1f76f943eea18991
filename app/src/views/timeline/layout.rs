//! Where everything of the timeline lies on the canvas: O(pixels), not O(slices).

use std::ops::Range;
use std::sync::Arc;

use egui::{Rect, pos2, vec2};
use rustc_hash::FxHashMap;
use tracecard_analyzers::search::Hits;
use tracecard_model::{Folded, NameId, SliceId, Span, Trace, TrackId};

use super::counter_lod::CounterLod;
use super::model::{Lane, LaneKind, Model};
use crate::text_width::TextWidth;
use crate::time_scale::TimeScale;
use crate::{format, short_name};

/// Slices narrower than this come folded, in pixels.
const MIN_WIDTH_PX: f32 = 3.0;
/// Nothing is painted narrower, or it would not be seen, in pixels.
const MIN_PAINTED_PX: f32 = 2.0;
/// From this width on, neighbours are parted by a pixel, in pixels.
const MIN_PARTED_PX: f32 = 4.0;
/// More labels a frame cost more time than they tell.
const MAX_LABELS: usize = 800;
/// Left and right of a label.
const LABEL_MARGIN_PT: f32 = 4.0;
/// Narrower slices get no label.
const MIN_LABELLED_PT: f32 = 26.0;
/// Folds closer than this read as one run, in pixels.
const MAX_RUN_GAP_PX: f32 = 3.0;

/// The part of the window that slices are drawn on, without axis and labels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Canvas {
    /// Where it lies.
    pub rect: Rect,
    /// How far the lanes are scrolled up.
    pub scroll_pt: f32,
    /// Size of a pixel in points.
    pub pixel_pt: f32,
    /// Height of one depth of slices.
    pub row_pt: f32,
}

/// A rectangle that stands for one slice, or for several.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mark {
    /// Where; reaches beyond the canvas where the slice does, by a little.
    pub rect: Rect,
    /// The slice, or the longest of the folded ones.
    pub slice: SliceId,
    /// Its name: decides the colour.
    pub name: NameId,
    /// When: from the first start to the last end.
    pub span: Span,
    /// How many slices it stands for.
    pub count: u32,
    /// Share of it that slices cover, 0–1.
    pub busy_frac: f32,
}

/// A text on a mark, or on a run of folded ones.
#[derive(Clone, Debug, PartialEq)]
pub struct Label {
    /// Room for it; it starts at the left edge.
    pub rect: Rect,
    /// What it says.
    pub text: Arc<str>,
    /// The mark's name, for the colour; `None` for the count of a run of folds.
    pub name: Option<NameId>,
}

/// The marks of a lane.
#[derive(Clone, Debug, PartialEq)]
pub struct LaneMarks {
    /// Which lane of the model.
    pub lane: usize,
    /// Its marks in [`Items::marks`].
    pub marks: Range<usize>,
}

/// The marks of one row of a track.
#[derive(Clone, Debug, PartialEq)]
pub struct RowMarks {
    /// The track.
    pub track: TrackId,
    /// Its row.
    pub row: u16,
    /// Its marks in [`Items::marks`].
    pub marks: Range<usize>,
}

/// A part of a counter's curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Left edge.
    pub left_pt: f32,
    /// Right edge.
    pub right_pt: f32,
    /// y of the least value in it.
    pub min_y_pt: f32,
    /// y of the greatest value in it; not below `min_y_pt`.
    pub max_y_pt: f32,
}

/// The curve of a counter.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Which lane of the model.
    pub lane: usize,
    /// The counter.
    pub track: TrackId,
    /// y of the bottom of the area.
    pub base_y_pt: f32,
    /// From left to right.
    pub steps: Vec<Step>,
}

/// Everything to paint.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Items {
    /// Marks of all visible lanes.
    pub marks: Vec<Mark>,
    /// Which marks belong to which lane.
    pub lanes: Vec<LaneMarks>,
    /// Which marks belong to which row.
    pub rows: Vec<RowMarks>,
    /// Texts.
    pub labels: Vec<Label>,
    /// Counters.
    pub curves: Vec<Curve>,
}

/// Shortened names by name and room, so that a name is shortened once and not every frame.
#[derive(Debug)]
pub struct LabelCache {
    text_width: TextWidth,
    fitted: FxHashMap<(NameId, u16), Option<Arc<str>>>,
}

/// Room for labels comes in such steps, so that zooming does not make a new text every frame.
const ROOM_STEP_PT: f32 = 6.0;
/// More shortened names than this are forgotten together.
const MAX_CACHED: usize = 50_000;

impl LabelCache {
    /// Nothing shortened yet.
    pub fn new(text_width: TextWidth) -> Self {
        Self { text_width, fitted: FxHashMap::default() }
    }

    fn fit(&mut self, trace: &Trace, name: NameId, room_pt: f32) -> Option<Arc<str>> {
        if MAX_CACHED < self.fitted.len() {
            self.fitted.clear();
        }
        // Wider than any name is shown: all of it.
        let room = (room_pt / ROOM_STEP_PT).floor().clamp(0.0, 1000.0);
        let text_width = &self.text_width;
        let fitted = self.fitted.entry((name, room as u16)).or_insert_with(|| {
            let text = short_name::fit(trace.names.text(name), room * ROOM_STEP_PT, text_width)?;
            Some(Arc::from(text.replace(['\n', '\r', '\t'], " ")))
        });
        fitted.clone()
    }
}

/// Lay out what is visible; of slices only the hits, where `only` says so.
pub fn layout(
    model: &Model,
    trace: &Trace,
    counters: &CounterLod,
    scale: &TimeScale,
    canvas: &Canvas,
    only: Option<&Hits>,
    labels: &mut LabelCache,
) -> Items {
    let visible = model.visible(canvas.scroll_pt, canvas.scroll_pt + canvas.rect.height());
    let mut layouter = Layouter {
        trace,
        scale,
        canvas,
        only,
        items: Items::default(),
        candidates: Vec::new(),
        runs: Vec::new(),
    };
    for idx in visible {
        let Some(lane) = model.lanes.get(idx) else { continue };
        let first = layouter.items.marks.len();
        match &lane.kind {
            LaneKind::Header { preview } => layouter.preview(lane, preview),
            LaneKind::Slices { track, n_rows } => layouter.slices(lane, *track, *n_rows),
            LaneKind::Counter { track } => layouter.counter(idx, lane, *track, counters),
            // Laid out in `metric_curves`.
            LaneKind::Metric { .. } => {}
        }
        let marks = first..layouter.items.marks.len();
        if !marks.is_empty() {
            layouter.items.lanes.push(LaneMarks { lane: idx, marks });
        }
    }
    layouter.labels(labels);
    layouter.items
}

/// Where a slice lies, even when it is folded; `None` when its lane is closed.
pub fn rect_of_slice(
    model: &Model,
    trace: &Trace,
    scale: &TimeScale,
    canvas: &Canvas,
    slice: SliceId,
) -> Option<Rect> {
    let track = *trace.slices.tracks().get(slice.idx())?;
    let lane = model.lane_of(track)?;
    let LaneKind::Slices { n_rows, .. } = lane.kind else { return None };
    let row = u32::from(*trace.slices.depths().get(slice.idx())?);
    (row < n_rows).then(|| {
        let (left_pt, right_pt) = x_range(scale, canvas, trace.slices.span(slice));
        row_rect(canvas, lane, row, left_pt, right_pt)
    })
}

impl Items {
    /// The mark at a point: the topmost that holds it, else the nearest within `reach_pt` on the same row.
    pub fn mark_at(&self, point: egui::Pos2, reach_pt: f32) -> Option<&Mark> {
        let on_row = self.marks.iter().filter(|mark| mark.rect.y_range().contains(point.y));
        let distance_pt =
            |mark: &Mark| (mark.rect.left() - point.x).max(point.x - mark.rect.right()).max(0.0);
        on_row
            .map(|mark| (distance_pt(mark), mark))
            .filter(|(distance_pt, _)| *distance_pt <= reach_pt)
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, mark)| mark)
    }
}

struct Layouter<'a> {
    trace: &'a Trace,
    scale: &'a TimeScale,
    canvas: &'a Canvas,
    only: Option<&'a Hits>,
    items: Items,
    /// Marks wide enough for a label: (visible rect, name).
    candidates: Vec<(Rect, NameId)>,
    /// Runs of folds: (visible rect, slices).
    runs: Vec<(Rect, u64)>,
}

impl Layouter<'_> {
    fn slices(&mut self, lane: &Lane, track: TrackId, n_rows: u32) {
        let rows = self.trace.lod.rows(track);
        for (row, _) in (0..n_rows).zip(rows) {
            let rect = row_rect(self.canvas, lane, row, self.canvas.rect.left(), self.canvas.rect.right());
            if rect.bottom() < self.canvas.rect.top() || self.canvas.rect.bottom() < rect.top() {
                continue;
            }
            self.row(track, row as usize, rect.top(), rect.bottom(), Texts::Shown);
        }
    }

    fn preview(&mut self, lane: &Lane, tracks: &[TrackId]) {
        if tracks.is_empty() {
            return;
        }
        let top_pt = self.canvas.rect.top() + lane.y_pt - self.canvas.scroll_pt + 3.0;
        let room_pt = lane.height_pt - 6.0;
        let height_pt = (room_pt / tracks.len() as f32).min(6.0);
        for (idx, track) in tracks.iter().enumerate() {
            let y_pt = top_pt + height_pt * idx as f32;
            self.row(*track, 0, y_pt, y_pt + (height_pt - 1.0).max(1.0), Texts::Hidden);
        }
    }

    fn row(&mut self, track: TrackId, row: usize, top_pt: f32, bottom_pt: f32, texts: Texts) {
        let (trace, scale, canvas) = (self.trace, self.scale, self.canvas);
        let Some(index) = trace.lod.rows(track).get(row) else { return };
        // The pyramid folds by the power of two below; times √2 it is the nearest one.
        let min_ns =
            (f64::from(MIN_WIDTH_PX * canvas.pixel_pt) * scale.ns_per_pt() * std::f64::consts::SQRT_2) as i64;
        let names = trace.slices.names();
        let mut run: Option<(Rect, u64)> = None;
        let (marks, candidates, runs) = (&mut self.items.marks, &mut self.candidates, &mut self.runs);
        let mut close_run = |run: &mut Option<(Rect, u64)>| {
            if let Some(ended) = run.take() {
                runs.push(ended);
            }
        };
        let first = marks.len();
        let mut add = |folded: Folded| {
            let (left_pt, right_pt) = x_range(scale, canvas, Span::new(folded.start_ns, folded.end_ns));
            let rect = Rect::from_x_y_ranges(left_pt..=right_pt, top_pt..=bottom_pt);
            let length_ns = folded.end_ns.saturating_sub(folded.start_ns);
            let busy_frac =
                if length_ns <= 0 { 1.0 } else { (folded.busy_ns as f64 / length_ns as f64).min(1.0) as f32 };
            let name = names.get(folded.longest.idx()).copied().unwrap_or(NameId(0));
            let span = Span::new(folded.start_ns, folded.end_ns);
            marks.push(Mark { rect, slice: folded.longest, name, span, count: folded.count, busy_frac });
            if texts == Texts::Hidden {
                return;
            }
            let visible = rect.intersect(canvas.rect);
            if folded.count == 1 {
                close_run(&mut run);
                if MIN_LABELLED_PT <= visible.width() {
                    candidates.push((visible, name));
                }
                return;
            }
            match &mut run {
                Some((run_rect, n))
                    if visible.left() - run_rect.right() <= MAX_RUN_GAP_PX * canvas.pixel_pt =>
                {
                    run_rect.max.x = run_rect.max.x.max(visible.right());
                    *n += u64::from(folded.count);
                }
                _ => {
                    close_run(&mut run);
                    run = Some((visible, u64::from(folded.count)));
                }
            }
        };
        let (window, min_ns) = (scale.view().span(), min_ns.max(1));
        let depth = u16::try_from(row).unwrap_or(u16::MAX);
        match self.only {
            None => index.visit(&trace.slices, window, min_ns, &mut add),
            Some(hits) => hits.visit(trace, (track, depth), window, min_ns, |hit| {
                add(Folded {
                    start_ns: hit.folded.span.start_ns,
                    end_ns: hit.folded.span.end_ns,
                    busy_ns: hit.folded.busy_ns,
                    count: u32::try_from(hit.folded.count).unwrap_or(u32::MAX),
                    longest: hit.longest,
                });
            }),
        }
        close_run(&mut run);
        let marks = first..self.items.marks.len();
        if !marks.is_empty() {
            self.items.rows.push(RowMarks { track, row: depth, marks });
        }
    }

    fn labels(&mut self, cache: &mut LabelCache) {
        let runs = std::mem::take(&mut self.runs);
        for (rect, n_slices) in runs {
            let long = format::counted(usize::try_from(n_slices).unwrap_or(usize::MAX), "slice");
            let short = long.split_inclusive(' ').rev().skip(1).collect::<Vec<_>>();
            let short: String = short.into_iter().rev().collect();
            let room_pt = rect.width() - 4.0 * LABEL_MARGIN_PT;
            for text in [long.as_str(), short.trim_end()] {
                let width_pt = cache.text_width.of(text);
                if width_pt <= room_pt && self.items.labels.len() < MAX_LABELS {
                    let size = vec2(width_pt + 2.0 * LABEL_MARGIN_PT, rect.height());
                    let rect = Rect::from_center_size(rect.center(), size);
                    self.items.labels.push(Label { rect, text: Arc::from(text), name: None });
                    break;
                }
            }
        }
        let room = MAX_LABELS - self.items.labels.len().min(MAX_LABELS);
        if room < self.candidates.len() {
            // Widest first: what takes more time says more.
            self.candidates.select_nth_unstable_by(room, |a, b| b.0.width().total_cmp(&a.0.width()));
            self.candidates.truncate(room);
        }
        for (rect, name) in std::mem::take(&mut self.candidates) {
            let rect = rect.shrink2(vec2(LABEL_MARGIN_PT, 0.0));
            if let Some(text) = cache.fit(self.trace, name, rect.width()) {
                self.items.labels.push(Label { rect, text, name: Some(name) });
            }
        }
    }

    fn counter(&mut self, idx: usize, lane: &Lane, track: TrackId, counters: &CounterLod) {
        let Some(range) = counters.range(track) else { return };
        let unit = self.trace.tracks.get(track.idx()).and_then(|row| row.unit);
        let (low, high) = shown_range(range, unit);
        let top_pt = self.canvas.rect.top() + lane.y_pt - self.canvas.scroll_pt + 2.0;
        let bottom_pt = top_pt + lane.height_pt - 4.0;
        let y = |value: f64| bottom_pt - ((value - low) / (high - low)) as f32 * (bottom_pt - top_pt);
        let span = self.scale.view().span();
        let min_ns = f64::from(self.canvas.pixel_pt) * self.scale.ns_per_pt();
        let columns = counters.columns(self.trace, track, span.start_ns, span.end_ns, min_ns);
        let (left_pt, right_pt) = (self.canvas.rect.left(), self.canvas.rect.right());
        let steps = columns.iter().map(|column| Step {
            left_pt: self.scale.x_from_ns(column.start_ns).max(left_pt),
            right_pt: self.scale.x_from_ns(column.end_ns).min(right_pt),
            min_y_pt: y(column.min),
            max_y_pt: y(column.max),
        });
        let steps = steps.filter(|step| step.left_pt < step.right_pt).collect();
        self.items.curves.push(Curve { lane: idx, track, base_y_pt: y(0.0_f64.clamp(low, high)), steps });
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Texts {
    Shown,
    Hidden,
}

/// The values at the bottom and the top of a counter's lane: 0 is always in it, and shares go to 1.
pub fn shown_range((min, max): (f64, f64), unit: Option<tracecard_model::Unit>) -> (f64, f64) {
    let low = min.min(0.0);
    let high = if unit == Some(tracecard_model::Unit::Frac) { max.max(1.0) } else { max.max(0.0) };
    if low < high { (low, high) } else { (low, low + 1.0) }
}

/// Left and right edge on the pixel grid, cut a little beyond the canvas.
fn x_range(scale: &TimeScale, canvas: &Canvas, span: Span) -> (f32, f32) {
    let pixel_pt = canvas.pixel_pt;
    let beyond_pt = 8.0;
    let (first_pt, last_pt) = (canvas.rect.left() - beyond_pt, canvas.rect.right() + beyond_pt);
    let snapped = |t_ns: i64| {
        let x_pt = scale.x_from_ns(t_ns).clamp(first_pt, last_pt);
        (x_pt / pixel_pt).round() * pixel_pt
    };
    let (left_pt, mut right_pt) = (snapped(span.start_ns), snapped(span.end_ns));
    if MIN_PARTED_PX * pixel_pt <= right_pt - left_pt {
        right_pt -= pixel_pt;
    }
    (left_pt, right_pt.max(left_pt + MIN_PAINTED_PX * pixel_pt))
}

fn row_rect(canvas: &Canvas, lane: &Lane, row: u32, left_pt: f32, right_pt: f32) -> Rect {
    let top_pt = canvas.rect.top() + lane.y_pt - canvas.scroll_pt + row as f32 * canvas.row_pt;
    Rect::from_min_max(pos2(left_pt, top_pt), pos2(right_pt, top_pt + canvas.row_pt - 1.0))
}

#[cfg(test)]
mod tests;
