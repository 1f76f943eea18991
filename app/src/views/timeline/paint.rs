//! Puts a laid-out frame onto the screen. Shapes are rectangles, lines, texts and meshes only, so that
//! pictures can be exported.

use std::sync::Arc;

use egui::epaint::CubicBezierShape;
use egui::{Align2, Color32, FontId, Painter, Pos2, Rect, Shape, Stroke, StrokeKind, Ui, pos2, vec2};
use tracecard_analyzers::Metrics;
use tracecard_analyzers::search::Hits;
use tracecard_model::{SliceId, Trace, TrackId};

use super::Areas;
use super::axis::axis;
use super::colors::NameColors;
use super::counter_lod::CounterLod;
use super::frame::Frame;
use super::layout::{Canvas, Mark, rect_of_slice};
use super::model::{GroupKey, LaneKind, Model, groups_of};
use super::steps::{self, Step};
use crate::follow::TIES;
use crate::format;
use crate::theme::Theme;
use crate::time_scale::TimeScale;

/// Everything that painting looks at.
pub(super) struct Drawing<'a> {
    pub(super) theme: &'a Theme,
    pub(super) trace: &'a Trace,
    pub(super) counters: &'a CounterLod,
    pub(super) metrics: Option<&'a Metrics>,
    pub(super) model: &'a Model,
    pub(super) scale: &'a TimeScale,
    pub(super) canvas: &'a Canvas,
    pub(super) areas: &'a Areas,
}

/// More arrows than this say nothing.
const MAX_ARROWS: usize = 100;
/// How far an arrow leaves its slice sideways before it turns, as Perfetto draws flows.
const ARROW_BEND_PT: f32 = 30.0;

impl Drawing<'_> {
    fn label_font(&self) -> FontId {
        FontId::proportional(self.theme.font.label)
    }

    /// Fills, and the lines between lanes.
    pub(super) fn background(&self, ui: &Ui) {
        let (color, areas) = (&self.theme.color, self.areas);
        let painter = ui.painter();
        painter.rect_filled(areas.canvas.union(areas.scroll_bar), 0.0, color.canvas);
        painter.rect_filled(areas.labels, 0.0, color.panel);
        let lanes = ui.painter_at(areas.canvas.union(areas.labels).union(areas.scroll_bar));
        for lane in self.visible_lanes() {
            let (top, bottom) = (self.lane_y(lane.y_pt), self.lane_y(lane.y_pt + lane.height_pt));
            let x = areas.labels.left()..=areas.scroll_bar.right();
            if matches!(lane.kind, LaneKind::Header { .. }) {
                let rect = Rect::from_x_y_ranges(x.clone(), top..=bottom);
                lanes.rect_filled(rect, 0.0, if lane.indent == 0 { color.raised } else { color.panel });
            }
            lanes.hline(x, bottom - 0.5, Stroke::new(1.0, color.separator));
        }
    }

    /// Ticks, their labels, vertical grid lines, and the strip of steps.
    pub(super) fn axis(&self, ui: &Ui, steps: &[Step]) {
        let (color, areas) = (&self.theme.color, self.areas);
        let axis = axis(self.scale, areas.canvas.width());
        let painter = ui.painter();
        painter.rect_filled(areas.corner.union(areas.axis).union(areas.steps), 0.0, color.panel);
        let right =
            Rect::from_min_max(areas.axis.right_top(), pos2(areas.scroll_bar.right(), areas.canvas.top()));
        painter.rect_filled(right, 0.0, color.panel);
        let (axis_painter, grid) = (ui.painter_at(areas.axis), ui.painter_at(areas.canvas));
        for tick in &axis.ticks {
            let (height_pt, line) = match tick.label {
                Some(_) => (7.0, color.grid),
                None => (3.0, color.grid_minor),
            };
            let x = grid.round_to_pixel_center(tick.x_pt);
            grid.vline(x, areas.canvas.y_range(), Stroke::new(1.0, line));
            let foot = areas.axis.bottom() - height_pt..=areas.axis.bottom();
            axis_painter.vline(x, foot, Stroke::new(1.0, color.axis_text.gamma_multiply(0.6)));
            if let Some(label) = &tick.label {
                let at = pos2(x + 4.0, areas.axis.center().y - 1.0);
                axis_painter.text(at, Align2::LEFT_CENTER, label, self.label_font(), color.axis_text);
            }
        }
        let corner = ui.painter_at(areas.corner.shrink2(vec2(self.theme.space.m, 0.0)));
        let width = format::ns(self.scale.view().width_ns);
        let text = match &axis.base {
            Some(base) => format!("{base} + …   {width} in view"),
            None => format!("{width} in view"),
        };
        let at = pos2(areas.corner.left() + self.theme.space.m, areas.axis.center().y);
        corner.text(at, Align2::LEFT_CENTER, text, self.label_font(), color.axis_text);
        steps::paint(ui, self.theme, areas, self.scale, steps);
        painter.hline(
            areas.corner.left()..=areas.scroll_bar.right(),
            areas.canvas.top() - 0.5,
            Stroke::new(1.0, color.separator),
        );
    }

    /// Marks, curves and labels.
    pub(super) fn frame(&self, ui: &Ui, frame: &Frame, colors: &mut NameColors, hits: Option<&Hits>) {
        let painter = ui.painter_at(self.canvas.rect);
        painter.extend(frame.meshes.iter().map(|mesh| Shape::Mesh(Arc::clone(mesh))));
        for label in &frame.items.labels {
            let color = match label.name {
                Some(name) if hits.is_some_and(|hits| !hits.is_match(name)) => self.theme.color.text_disabled,
                Some(name) => colors.of_name(self.theme, self.trace, name).1,
                None => self.theme.color.text,
            };
            let galley = painter.layout_no_wrap(label.text.to_string(), self.label_font(), color);
            match label.name {
                Some(_) => {
                    let at = Align2::LEFT_CENTER.align_size_within_rect(galley.size(), label.rect).min;
                    painter.galley(at, galley, color);
                }
                None => self.count(&painter, label.rect, galley),
            }
        }
    }

    /// The count of a run of folds, on a plate so that it can be read on many colours.
    fn count(&self, painter: &Painter, room: Rect, galley: Arc<egui::Galley>) {
        let size = galley.size();
        let plate = Rect::from_center_size(room.center(), size + vec2(8.0, 0.0)).intersect(room);
        painter.rect_filled(
            plate,
            self.theme.size.radius_control,
            self.theme.color.canvas.gamma_multiply(0.85),
        );
        painter.galley(
            Align2::CENTER_CENTER.align_size_within_rect(size, room).min,
            galley,
            self.theme.color.text,
        );
    }

    /// Slices of the hovered name, the hovered mark, the selection with its arrows.
    pub(super) fn highlight(
        &self,
        ui: &Ui,
        frame: &Frame,
        hovered: Option<&Mark>,
        selected: Option<SliceId>,
    ) {
        let painter = ui.painter_at(self.canvas.rect);
        let color = &self.theme.color;
        // Of the hovered name, else of the selected one, every slice is outlined.
        let selected_name = selected.and_then(|slice| self.trace.slices.names().get(slice.idx()).copied());
        if let Some(name) = hovered.map(|mark| mark.name).or(selected_name) {
            let same = frame.items.marks.iter().filter(|mark| mark.name == name && mark.count == 1);
            let stroke = Stroke::new(1.0, color.text.gamma_multiply(0.55));
            // As many outlines as there are labels at the most: more would only be a grey haze.
            for mark in same.filter(|mark| 4.0 < mark.rect.width()).take(800) {
                painter.rect_stroke(mark.rect, 0.0, stroke, StrokeKind::Inside);
            }
        }
        if let Some(hovered) = hovered {
            painter.rect_stroke(hovered.rect, 0.0, Stroke::new(1.5, color.text_strong), StrokeKind::Inside);
        }
        let Some(selected) = selected else { return };
        let Some(rect) = self.rect_of(selected) else { return };
        self.arrows(&painter, selected, rect);
        painter.rect_stroke(rect, 1.0, Stroke::new(3.0, color.canvas), StrokeKind::Outside);
        painter.rect_stroke(rect, 1.0, Stroke::new(2.0, color.selection_line), StrokeKind::Outside);
    }

    fn arrows(&self, painter: &Painter, slice: SliceId, rect: Rect) {
        let links = &self.trace.links;
        for kind in TIES {
            if let Some(from) = links.source(kind, slice).and_then(|from| self.anchor_of(from)) {
                self.arrow(painter, from, rect);
            }
            for to in links.targets(kind, slice).take(MAX_ARROWS).filter_map(|to| self.anchor_of(to)) {
                self.arrow(painter, rect, to);
            }
        }
    }

    fn arrow(&self, painter: &Painter, from: Rect, to: Rect) {
        let (start, end) = (from.left_center(), to.left_center());
        let bend = vec2(ARROW_BEND_PT.min((end.x - start.x).abs() + 8.0), 0.0);
        let points = [start, start + bend, end - bend, end];
        let stroke = Stroke::new(1.5, self.theme.color.selection_line);
        painter.add(CubicBezierShape::from_points_stroke(points, false, Color32::TRANSPARENT, stroke));
        let head = [end, end + vec2(-5.0, -3.5), end + vec2(-5.0, 3.5)];
        painter.add(Shape::convex_polygon(head.to_vec(), stroke.color, Stroke::NONE));
    }

    /// A thin line under the pointer, with the time on the axis.
    pub(super) fn pointer(&self, ui: &Ui, pointer: Option<Pos2>) {
        let Some(pos) = pointer else { return };
        let color = &self.theme.color;
        let painter = ui.painter_at(self.areas.axis.union(self.areas.canvas));
        let x = painter.round_to_pixel_center(pos.x);
        painter.vline(x, self.areas.canvas.y_range(), Stroke::new(1.0, color.cursor.gamma_multiply(0.35)));
        let text = self.pointer_time(pos.x);
        let galley = painter.layout_no_wrap(text, self.label_font(), color.text_strong);
        let size = galley.size() + vec2(10.0, 2.0);
        let left = (x - size.x / 2.0).clamp(self.areas.axis.left(), self.areas.axis.right() - size.x);
        let plate = Rect::from_min_size(pos2(left, self.areas.axis.center().y - size.y / 2.0), size);
        painter.rect_filled(plate, self.theme.size.radius_control, color.hovered);
        painter.galley(
            Align2::CENTER_CENTER.align_size_within_rect(galley.size(), plate).min,
            galley,
            color.text,
        );
    }

    /// The time at an x with as many digits as a pixel is worth.
    fn pointer_time(&self, x_pt: f32) -> String {
        let (t_ns, span) = (self.scale.ns_from_x(x_pt), self.scale.view().span());
        let largest_ns = span.start_ns.unsigned_abs().max(span.end_ns.unsigned_abs());
        let pixel_ns = self.scale.ns_per_pt() as i64;
        format::tick(t_ns, pixel_ns, largest_ns).unwrap_or_else(|| format::exact_ns(t_ns))
    }

    pub(super) fn visible_lanes(&self) -> impl Iterator<Item = &super::model::Lane> {
        let visible =
            self.model.visible(self.canvas.scroll_pt, self.canvas.scroll_pt + self.canvas.rect.height());
        self.model.lanes.get(visible).unwrap_or_default().iter()
    }

    /// The groups that a lane is in, as far as they have a header of their own.
    pub(super) fn groups_around(&self, lane: &super::model::Lane) -> impl Iterator<Item = GroupKey> {
        let of_track = |track: TrackId| self.trace.tracks.get(track.idx()).map_or_else(Vec::new, groups_of);
        let groups = match &lane.kind {
            LaneKind::Slices { track, .. } | LaneKind::Counter { track } => of_track(*track),
            LaneKind::Metric { metric } => {
                self.metrics.and_then(|metrics| metrics.tracks.get(*metric)).map_or_else(Vec::new, |track| {
                    vec![GroupKey::Device(track.device), GroupKey::Metrics(track.device)]
                })
            }
            LaneKind::Header { .. } => Vec::new(),
        };
        groups.into_iter()
    }

    pub(super) fn lane_y(&self, y_pt: f32) -> f32 {
        self.canvas.rect.top() + y_pt - self.canvas.scroll_pt
    }

    /// Where an arrow ends: at the slice, or at the header of the group that is closed around it.
    fn anchor_of(&self, slice: SliceId) -> Option<Rect> {
        self.rect_of(slice).or_else(|| {
            let track = *self.trace.slices.tracks().get(slice.idx())?;
            let lane = self.model.lane_of(track).or_else(|| {
                let groups = groups_of(self.trace.tracks.get(track.idx())?);
                groups.iter().rev().find_map(|group| self.model.header_of(group))
            })?;
            let x = self.scale.x_from_ns(self.trace.slices.span(slice).start_ns);
            let bottom_pt = self.lane_y(lane.y_pt + lane.height_pt);
            Some(Rect::from_x_y_ranges(x..=x, self.lane_y(lane.y_pt)..=bottom_pt))
        })
    }

    fn rect_of(&self, slice: SliceId) -> Option<Rect> {
        rect_of_slice(self.model, self.trace, self.scale, self.canvas, slice)
    }
}
