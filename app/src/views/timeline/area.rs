//! A stretch of time on some lanes: how it is drawn up with the mouse, and what lies in it.
//!
//! Shift + drag over the lanes selects on the lanes it touches, a drag along the axis on all lanes. Edges can
//! be dragged, and snap to those of slices unless Alt is down.

use std::collections::BTreeSet;

use egui::{Align2, CursorIcon, FontId, Pos2, Rect, Response, Stroke, Ui, pos2, vec2};
use tracecard_analyzers::{Metrics, selection};
use tracecard_model::{DeviceId, Span, Trace, TrackId};

use super::layout::Mark;
use super::model::{GroupKey, LaneKey, LaneKind, Model, groups_of};
use super::paint::Drawing;
use crate::format;
use crate::time_scale::TimeScale;

/// A stretch of time on some lanes.
#[derive(Clone, Debug, PartialEq)]
pub struct Area {
    /// When.
    pub span: Span,
    /// Where; `None`: on all lanes.
    pub lanes: Option<BTreeSet<LaneKey>>,
}

/// What is being dragged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Drag {
    /// A new stretch, from this instant on, and from this y of the lanes; without one on all lanes.
    New { anchor_ns: i64, anchor_y_pt: Option<f32> },
    /// The start of a stretch that is there.
    Start,
    /// The end of it.
    End,
}

/// An edge can be taken from so far away, in points.
const EDGE_REACH_PT: f32 = 4.0;
/// Edges of slices attract from so far away, in points.
const SNAP_REACH_PT: f32 = 6.0;

impl Area {
    /// On all lanes.
    pub fn of_all_lanes(span: Span) -> Self {
        Self { span, lanes: None }
    }

    /// The tracks, metrics and devices in it. A group stands for all that is in it; a device is looked at when
    /// any of its lanes is.
    pub fn resolved(&self, trace: &Trace, metrics: Option<&Metrics>) -> selection::Area {
        let holds = |key: &LaneKey| self.lanes.as_ref().is_none_or(|lanes| lanes.contains(key));
        let holds_group = |group: GroupKey| holds(&LaneKey::Group(group));
        let tracks = trace.tracks.iter().enumerate().map(|(idx, track)| (TrackId::from_idx(idx), track));
        let is_chosen = |(id, track): &(TrackId, &tracecard_model::Track)| {
            holds(&LaneKey::Track(*id)) || groups_of(track).into_iter().any(holds_group)
        };
        let tracks: Vec<TrackId> = tracks.filter(is_chosen).map(|(id, _)| id).collect();
        let all_metrics = metrics.map_or(&[][..], |metrics| metrics.tracks.as_slice());
        let of_device = |device: DeviceId| {
            [GroupKey::Device(device), GroupKey::Metrics(device), GroupKey::MoreMetrics(device)]
        };
        let chosen = all_metrics.iter().enumerate().filter(|(idx, track)| {
            holds(&LaneKey::Metric(*idx)) || of_device(track.device).into_iter().any(holds_group)
        });
        let metrics: Vec<usize> = chosen.map(|(idx, _)| idx).collect();
        let mut devices: BTreeSet<DeviceId> = BTreeSet::new();
        if self.lanes.is_none() {
            devices.extend((0..trace.devices.len()).map(DeviceId::from_idx));
        }
        let of_track = |track: &TrackId| trace.tracks.get(track.idx()).and_then(|row| row.key.device);
        devices.extend(tracks.iter().filter_map(of_track));
        devices.extend(metrics.iter().filter_map(|idx| all_metrics.get(*idx).map(|track| track.device)));
        devices.extend(self.lanes.iter().flatten().filter_map(|key| match key {
            LaneKey::Group(GroupKey::Device(device)) => Some(*device),
            _ => None,
        }));
        selection::Area { span: self.span, tracks, metrics, devices: devices.into_iter().collect() }
    }
}

/// Everything a drag looks at.
pub(super) struct Dragging<'a> {
    pub(super) model: &'a Model,
    pub(super) scale: &'a TimeScale,
    /// The marks of the last frame: what edges snap to.
    pub(super) marks: &'a [Mark],
    /// Top of the lanes less what is scrolled: turns an y of the window into one of the lanes.
    pub(super) lanes_top_pt: f32,
}

impl Dragging<'_> {
    /// Takes part in a drag over the lanes or the axis; is one going on?
    pub(super) fn ui(
        &self,
        ui: &Ui,
        canvas: &Response,
        axis: &Response,
        area: &mut Option<Area>,
        drag: &mut Option<Drag>,
    ) -> bool {
        let is_free = ui.input(|input| input.modifiers.alt);
        for (response, is_axis) in [(canvas, false), (axis, true)] {
            if response.drag_started_by(egui::PointerButton::Primary) {
                *drag = self.begun(ui, is_axis, area.as_ref());
            }
            if drag.is_some()
                && response.dragged()
                && let Some(pos) = response.interact_pointer_pos()
            {
                let t_ns = self.snapped(pos, is_axis, is_free);
                *area = drag.and_then(|drag| self.dragged(drag, t_ns, pos, area.take()));
            }
            if response.drag_stopped() {
                *drag = None;
                area.take_if(|area| area.span.is_empty());
            }
        }
        if drag.is_none() {
            let pos = ui.input(|input| input.pointer.hover_pos());
            let is_here = canvas.hovered() || axis.hovered();
            if pos.is_some_and(|pos| is_here && self.edge_at(pos, area.as_ref()).is_some()) {
                ui.ctx().set_cursor_icon(CursorIcon::ResizeHorizontal);
            }
        } else {
            ui.ctx().set_cursor_icon(CursorIcon::ResizeHorizontal);
        }
        drag.is_some()
    }

    fn begun(&self, ui: &Ui, is_axis: bool, area: Option<&Area>) -> Option<Drag> {
        let (origin, shift) = ui.input(|input| (input.pointer.press_origin(), input.modifiers.shift));
        let origin = origin?;
        if let Some(edge) = self.edge_at(origin, area) {
            return Some(edge);
        }
        if !is_axis && !shift {
            return None;
        }
        let anchor_y_pt = (!is_axis).then_some(origin.y - self.lanes_top_pt);
        let is_free = ui.input(|input| input.modifiers.alt);
        Some(Drag::New { anchor_ns: self.snapped(origin, is_axis, is_free), anchor_y_pt })
    }

    fn edge_at(&self, pos: Pos2, area: Option<&Area>) -> Option<Drag> {
        let span = area?.span;
        let distance_pt = |t_ns: i64| (self.scale.x_from_ns(t_ns) - pos.x).abs();
        let (start_pt, end_pt) = (distance_pt(span.start_ns), distance_pt(span.end_ns));
        if start_pt.min(end_pt) > EDGE_REACH_PT {
            return None;
        }
        Some(if start_pt < end_pt { Drag::Start } else { Drag::End })
    }

    /// The instant under the pointer, or the edge of a slice near to it: of those under the pointer's height,
    /// or, on the axis, of any in view.
    fn snapped(&self, pos: Pos2, is_axis: bool, is_free: bool) -> i64 {
        let plain_ns = self.scale.ns_from_x(pos.x);
        if is_free {
            return plain_ns;
        }
        let on_row = |mark: &&Mark| mark.count == 1 && (is_axis || mark.rect.y_range().contains(pos.y));
        let edges = self.marks.iter().filter(on_row);
        let edges = edges.flat_map(|mark| [mark.span.start_ns, mark.span.end_ns]);
        let near = edges.map(|t_ns| ((self.scale.x_from_ns(t_ns) - pos.x).abs(), t_ns));
        let nearest = near.filter(|(pt, _)| *pt <= SNAP_REACH_PT).min_by(|a, b| a.0.total_cmp(&b.0));
        nearest.map_or(plain_ns, |(_, t_ns)| t_ns)
    }

    fn dragged(&self, drag: Drag, t_ns: i64, pos: Pos2, area: Option<Area>) -> Option<Area> {
        let between = |a: i64, b: i64| Span::new(a.min(b), a.max(b));
        match drag {
            Drag::New { anchor_ns, anchor_y_pt } => {
                let lanes = anchor_y_pt.and_then(|y_pt| self.lanes(y_pt, pos.y - self.lanes_top_pt));
                Some(Area { span: between(anchor_ns, t_ns), lanes })
            }
            Drag::Start => area
                .map(|area| Area { span: Span::new(t_ns.min(area.span.end_ns), area.span.end_ns), ..area }),
            Drag::End => area.map(|area| Area { span: Span::new(area.span.start_ns, t_ns), ..area }),
        }
    }

    /// The lanes between two heights. An open header counts only where nothing else is touched.
    fn lanes(&self, from_pt: f32, to_pt: f32) -> Option<BTreeSet<LaneKey>> {
        let touched =
            self.model.visible(from_pt.min(to_pt), from_pt.max(to_pt).max(from_pt.min(to_pt) + 0.5));
        let touched = self.model.lanes.get(touched).unwrap_or_default();
        let is_open_header = |lane: &&super::model::Lane| {
            matches!((&lane.kind, &lane.toggle), (LaneKind::Header { .. }, Some((_, true))))
        };
        let keys: BTreeSet<LaneKey> =
            touched.iter().filter(|lane| !is_open_header(lane)).filter_map(super::model::Lane::key).collect();
        if !keys.is_empty() {
            return Some(keys);
        }
        let headers: BTreeSet<LaneKey> = touched.iter().filter_map(super::model::Lane::key).collect();
        (!headers.is_empty()).then_some(headers)
    }
}

/// The stretch over lanes and axis, with its length.
pub(super) fn paint(ui: &Ui, drawing: &Drawing<'_>, area: &Area) {
    let (theme, areas, scale) = (drawing.theme, drawing.areas, drawing.scale);
    let color = &theme.color;
    let x = scale.x_from_ns(area.span.start_ns)..=scale.x_from_ns(area.span.end_ns);
    let canvas = drawing.canvas.rect;
    let painter = ui.painter_at(canvas);
    let fill = color.selection_line.gamma_multiply(0.14);
    match &area.lanes {
        None => {
            painter.rect_filled(Rect::from_x_y_ranges(x.clone(), canvas.y_range()), 0.0, fill);
        }
        Some(lanes) => {
            let is_chosen = |lane: &super::model::Lane| {
                lane.key().is_some_and(|key| lanes.contains(&key))
                    || drawing.groups_around(lane).any(|group| lanes.contains(&LaneKey::Group(group)))
            };
            for lane in drawing.visible_lanes().filter(|lane| is_chosen(lane)) {
                let top_pt = drawing.lane_y(lane.y_pt);
                let y = top_pt..=top_pt + lane.height_pt - 1.0;
                painter.rect_filled(Rect::from_x_y_ranges(x.clone(), y), 0.0, fill);
            }
        }
    }
    let edge = Stroke::new(1.0, color.selection_line);
    for x in [*x.start(), *x.end()] {
        painter.vline(painter.round_to_pixel_center(x), canvas.y_range(), edge);
    }
    let axis = ui.painter_at(areas.axis);
    let bar = Rect::from_x_y_ranges(x, areas.axis.y_range()).intersect(areas.axis);
    if bar.width() <= 0.0 {
        return;
    }
    axis.rect_filled(bar, 0.0, color.selection);
    axis.hline(bar.x_range(), bar.bottom() - 1.0, Stroke::new(2.0, color.selection_line));
    let font = FontId::proportional(theme.font.label);
    let text = axis.layout_no_wrap(format::ns(area.span.dur_ns() as f64), font, color.text_strong);
    if text.size().x + 8.0 <= bar.width() {
        let at = Align2::CENTER_CENTER.align_size_within_rect(text.size(), bar).min;
        axis.galley(at, text, color.text_strong);
        return;
    }
    // Beside it, where it is too narrow.
    let size = text.size() + vec2(8.0, 0.0);
    let left_pt = if bar.right() + size.x < areas.axis.right() { bar.right() } else { bar.left() - size.x };
    let plate = Rect::from_min_size(pos2(left_pt, bar.top()), vec2(size.x, bar.height()));
    axis.rect_filled(plate, 0.0, color.panel);
    axis.galley(
        Align2::CENTER_CENTER.align_size_within_rect(text.size(), plate).min,
        text,
        color.text_strong,
    );
}

#[cfg(test)]
mod tests {
    use super::super::model::{Heights, model};
    use super::*;
    use crate::time_scale::View;
    use tracecard_model::fixture;

    const HEIGHTS: Heights = Heights { row_pt: 10.0, header_pt: 20.0, counter_pt: 40.0, gap_pt: 2.0 };
    /// GPU 0 at 0, stream 7 at 20, stream 8 at 32, process at 44, thread at 64, operators at 84..96.
    const TRACE: &str =
        "stream 0:7\n  kernel a 100 200\nstream 0:8\n  kernel b 400 100\nthread 1 ops\n  op x 0 1000";

    fn with_dragging<T>(use_it: impl FnOnce(&Dragging<'_>, &Trace) -> T) -> T {
        let trace = fixture(TRACE).unwrap();
        let model = model(&trace, None, &BTreeSet::new(), &HEIGHTS);
        let scale = TimeScale::new(View::of(Span::new(0, 1_000)), 0.0, 1_000.0);
        let mark = |name: &str, top_pt: f32| {
            let slice = trace.slice_ids().find(|id| trace.name(*id) == name).unwrap();
            let span = trace.slices.span(slice);
            let x = span.start_ns as f32..=span.end_ns as f32;
            let rect = Rect::from_x_y_ranges(x, top_pt..=top_pt + 9.0);
            Mark { rect, slice, name: trace.slices.names()[slice.idx()], span, count: 1, busy_frac: 1.0 }
        };
        let marks = [mark("a", 20.0), mark("b", 32.0)];
        use_it(&Dragging { model: &model, scale: &scale, marks: &marks, lanes_top_pt: 0.0 }, &trace)
    }

    #[test]
    fn edges_snap_to_slices_of_the_row_and_on_the_axis_to_any() {
        with_dragging(|dragging, _| {
            assert_eq!(dragging.snapped(pos2(104.0, 25.0), false, false), 100);
            assert_eq!(dragging.snapped(pos2(104.0, 36.0), false, false), 104, "another row");
            assert_eq!(dragging.snapped(pos2(104.0, 2.0), true, false), 100);
            assert_eq!(dragging.snapped(pos2(104.0, 25.0), false, true), 104, "Alt is down");
            assert_eq!(dragging.snapped(pos2(110.0, 25.0), false, false), 110, "too far");
        });
    }

    #[test]
    fn the_lanes_touched_are_chosen() {
        with_dragging(|dragging, _| {
            let text = |from_pt, to_pt| format!("{:?}", dragging.lanes(from_pt, to_pt).unwrap());
            assert_eq!(text(25.0, 22.0), "{Track(TrackId(1))}");
            assert_eq!(text(25.0, 50.0), "{Track(TrackId(1)), Track(TrackId(2))}");
            assert_eq!(text(5.0, 6.0), "{Group(Device(DeviceId(0)))}");
        });
    }

    #[test]
    fn a_group_stands_for_its_tracks() {
        with_dragging(|_, trace| {
            let resolved = |lanes: &[LaneKey]| {
                let lanes = Some(lanes.iter().cloned().collect());
                let area = Area { span: Span::new(0, 10), lanes }.resolved(trace, None);
                (area.tracks.len(), area.devices.len())
            };
            assert_eq!(resolved(&[LaneKey::Group(GroupKey::Device(DeviceId(0)))]), (2, 1));
            assert_eq!(resolved(&[LaneKey::Track(TrackId(1))]), (1, 1));
            let of_all = Area::of_all_lanes(Span::new(0, 10)).resolved(trace, None);
            assert_eq!((of_all.tracks.len(), of_all.devices.len()), (3, 1));
        });
    }

    #[test]
    fn an_edge_that_is_dragged_stops_at_the_other() {
        with_dragging(|dragging, _| {
            let area = Some(Area::of_all_lanes(Span::new(100, 200)));
            let after = |drag, t_ns| dragging.dragged(drag, t_ns, Pos2::ZERO, area.clone()).unwrap().span;
            assert_eq!(after(Drag::Start, 150), Span::new(150, 200));
            assert_eq!(after(Drag::Start, 300), Span::new(200, 200));
            assert_eq!(after(Drag::End, 300), Span::new(100, 300));
            let new = Drag::New { anchor_ns: 50, anchor_y_pt: None };
            assert_eq!(after(new, 20), Span::new(20, 50));
        });
    }
}
