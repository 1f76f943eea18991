//! The column beside the lanes: names, what opens and closes them, and the scroll bar.

use egui::{Align2, CursorIcon, FontId, Rect, Sense, Stroke, Ui, WidgetInfo, pos2, vec2};

use super::layout::shown_range;
use super::model::{Lane, LaneKind};
use super::paint::Drawing;
use super::state::State;
use crate::{fonts, format};

/// Width of one level of the tree, in points.
const INDENT_PT: f32 = 10.0;
/// Room for the sign that opens and closes, in points.
const SIGN_PT: f32 = 14.0;

pub(super) fn ui(ui: &mut Ui, drawing: &Drawing<'_>, state: &mut State) {
    let labels = drawing.areas.labels;
    for lane in drawing.visible_lanes() {
        let top_pt = drawing.lane_y(lane.y_pt);
        let rect = Rect::from_min_size(pos2(labels.left(), top_pt), vec2(labels.width(), lane.height_pt));
        lane_ui(ui, drawing, state, lane, rect);
    }
    divider_ui(ui, drawing, state);
}

fn lane_ui(ui: &mut Ui, drawing: &Drawing<'_>, state: &mut State, lane: &Lane, rect: Rect) {
    let theme = drawing.theme;
    let visible = rect.intersect(drawing.areas.labels);
    if visible.height() < 1.0 {
        return;
    }
    let painter = ui.painter_at(visible);
    let left_pt = rect.left() + theme.space.s + f32::from(lane.indent) * INDENT_PT;
    // The name stays in sight as long as a part of its lane is, and stands on the first row.
    let line_pt = theme.size.row.min(lane.height_pt);
    let line_top_pt = rect.top().max(drawing.areas.labels.top()).min(rect.bottom() - line_pt);
    let middle_pt = line_top_pt + line_pt / 2.0;
    if let Some((group, is_open)) = &lane.toggle {
        let line =
            Rect::from_min_max(pos2(rect.left(), line_top_pt), pos2(rect.right(), line_top_pt + line_pt));
        let id = ui.make_persistent_id(group);
        let line = line.intersect(drawing.areas.labels);
        let response = ui.interact(line, id, Sense::click()).on_hover_cursor(CursorIcon::PointingHand);
        let verb = if *is_open { "Close" } else { "Open" };
        response.widget_info(|| {
            WidgetInfo::selected(
                egui::Role::Button,
                true,
                *is_open,
                format!("{verb} {} {}", lane.label, lane.detail),
            )
        });
        if response.hovered() {
            painter.rect_filled(line, 0.0, theme.color.hovered);
        }
        if response.has_focus() {
            let stroke = Stroke::new(1.0, theme.color.accent);
            painter.rect_stroke(line.shrink(1.0), 2.0, stroke, egui::StrokeKind::Inside);
        }
        let sign = if *is_open { "▾" } else { "▸" };
        let at = pos2(left_pt + SIGN_PT / 2.0, middle_pt);
        painter.text(at, Align2::CENTER_CENTER, sign, FontId::proportional(12.0), theme.color.text_muted);
        if response.clicked() {
            state.toggle(group.clone());
            ui.ctx().request_repaint();
        }
        response.on_hover_text(format!("{}\n{}", lane.label, lane.detail).trim().to_owned());
    }
    let is_header = matches!(lane.kind, LaneKind::Header { .. });
    let font = if is_header && lane.indent == 0 {
        fonts::semibold(theme.font.body)
    } else {
        FontId::proportional(theme.font.label + 1.0)
    };
    let text_left_pt = left_pt + SIGN_PT + theme.space.xs;
    let room_pt = rect.right() - theme.space.m - text_left_pt;
    let used_pt =
        text_ui(&painter, &lane.label, font, theme.color.text, pos2(text_left_pt, middle_pt), room_pt);
    let detail = match lane.kind {
        LaneKind::Counter { track } => counter_detail(drawing, lane, track),
        _ => lane.detail.clone(),
    };
    let small = FontId::proportional(theme.font.small);
    let muted = theme.color.text_muted;
    if theme.size.row * 2.0 <= visible.height() && !is_header {
        let at = pos2(text_left_pt, middle_pt + theme.size.row * 0.8);
        text_ui(&painter, &detail, small, muted, at, room_pt);
    } else {
        let gap_pt = theme.space.m;
        let at = pos2(text_left_pt + used_pt + gap_pt, middle_pt);
        text_ui(&painter, &detail, small, muted, at, room_pt - used_pt - gap_pt);
    }
}

/// Paints a line of text, its end cut off with `…` when there is no room; its width.
fn text_ui(
    painter: &egui::Painter,
    text: &str,
    font: FontId,
    color: egui::Color32,
    left_middle: egui::Pos2,
    room_pt: f32,
) -> f32 {
    if text.is_empty() || room_pt < 12.0 {
        return 0.0;
    }
    let mut job = egui::text::LayoutJob::simple_singleline(text.to_owned(), font, color);
    job.wrap = egui::text::TextWrapping::truncate_at_width(room_pt);
    let galley = painter.layout_job(job);
    let size = galley.size();
    painter.galley(left_middle - vec2(0.0, size.y / 2.0), galley, color);
    size.x
}

/// What the top of a counter's lane stands for, and whose it is.
fn counter_detail(drawing: &Drawing<'_>, lane: &Lane, track: tracecard_model::TrackId) -> String {
    let Some(row) = drawing.trace.tracks.get(track.idx()) else { return String::new() };
    let Some(range) = drawing.counters.range(track) else { return String::new() };
    let (_, high) = shown_range(range, row.unit);
    let top = format!("top {}", format::counter_value(high, row.unit));
    if lane.detail.is_empty() { top } else { format!("{} · {top}", lane.detail) }
}

/// The line between labels and lanes, to drag.
fn divider_ui(ui: &mut Ui, drawing: &Drawing<'_>, state: &mut State) {
    let areas = drawing.areas;
    let x = areas.canvas.left();
    let line = areas.corner.top()..=areas.canvas.bottom();
    let grip = Rect::from_x_y_ranges(x - 3.0..=x + 2.0, line.clone());
    let id = ui.make_persistent_id("timeline labels width");
    let response =
        ui.interact(grip, id, Sense::drag()).on_hover_and_drag_cursor(CursorIcon::ResizeHorizontal);
    response.widget_info(|| WidgetInfo::labeled(egui::Role::Splitter, true, "Width of the labels"));
    let color = if response.hovered() || response.dragged() {
        drawing.theme.color.accent
    } else {
        drawing.theme.color.separator
    };
    ui.painter().vline(x - 0.5, line, Stroke::new(1.0, color));
    if response.dragged() {
        state.labels_pt = (state.labels_pt + response.drag_delta().x).clamp(60.0, 600.0);
    }
}

/// The bar at the right: how much of the lanes is in view, and where.
pub(super) fn scroll_bar_ui(ui: &mut Ui, drawing: &Drawing<'_>, state: &mut State) {
    let area = drawing.areas.scroll_bar;
    let (all_pt, shown_pt) = (drawing.model.height_pt, drawing.areas.canvas.height());
    if all_pt <= shown_pt {
        return;
    }
    let handle_pt = (area.height() * shown_pt / all_pt).max(24.0).min(area.height());
    let travel_pt = area.height() - handle_pt;
    let last_pt = all_pt - shown_pt;
    let id = ui.make_persistent_id("timeline scroll bar");
    let response = ui.interact(area, id, Sense::click_and_drag());
    response.widget_info(|| WidgetInfo::slider(true, f64::from(state.scroll_pt), "Scroll the timeline"));
    if let Some(pos) = response.interact_pointer_pos() {
        let frac = ((pos.y - area.top() - handle_pt / 2.0) / travel_pt.max(1.0)).clamp(0.0, 1.0);
        state.scroll_pt = frac * last_pt;
    }
    let top_pt = area.top() + travel_pt * (state.scroll_pt / last_pt).clamp(0.0, 1.0);
    let handle = Rect::from_min_size(pos2(area.left() + 2.0, top_pt), vec2(area.width() - 4.0, handle_pt));
    let color = &drawing.theme.color;
    let fill = if response.hovered() || response.dragged() { color.text_muted } else { color.outline };
    ui.painter().rect_filled(handle, 3.0, fill);
}
