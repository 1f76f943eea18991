//! Mouse over the timeline → movement and commands.

use egui::{Rect, Response, Ui};
use tracecard_model::Trace;

use super::Areas;
use super::layout::Mark;
use super::model::{Heights, LaneKind, Model};
use super::state::State;
use crate::command::Command;
use crate::state::Wheel;
use crate::time_scale::{TimeScale, View};

/// Where the timeline is now.
#[derive(Clone, Copy, Debug)]
pub(super) struct Now {
    pub(super) view: View,
    pub(super) scroll_pt: f32,
}

/// Points of wheel that double the detail: a notch of 40–50 points zooms by about a quarter, as in Tracy.
const ZOOM_PT: f64 = 140.0;

/// Wheel, and drag where it does not select.
pub(super) fn mouse(
    ui: &Ui,
    areas: &Areas,
    response: &Response,
    wheel: Wheel,
    is_selecting: bool,
    now: &mut Now,
) {
    let scale = TimeScale::new(now.view, areas.canvas.left(), areas.canvas.width());
    let drag = response.drag_delta();
    if drag != egui::Vec2::ZERO && !is_selecting {
        now.view = now.view.moved_ns(f64::from(-drag.x) * scale.ns_per_pt());
        now.scroll_pt -= drag.y;
    }
    let whole = areas.labels.union(areas.canvas).union(areas.axis).union(areas.scroll_bar);
    if !ui.rect_contains_pointer(whole) {
        return;
    }
    let Some(pointer) = ui.input(|i| i.pointer.hover_pos()) else { return };
    let (delta, zoom) = ui.input(|i| (i.smooth_scroll_delta(), f64::from(i.zoom_delta())));
    let at_frac = scale.frac_from_x(pointer.x).clamp(0.0, 1.0);
    if zoom != 1.0 {
        now.view = now.view.zoomed(zoom, at_frac);
    }
    if delta.x.abs() > delta.y.abs() {
        now.view = now.view.moved_ns(f64::from(-delta.x) * scale.ns_per_pt());
    } else if delta.y != 0.0 {
        let is_over_lanes = areas.canvas.union(areas.axis).contains(pointer);
        if is_over_lanes && wheel == Wheel::Zooms {
            now.view = now.view.zoomed((f64::from(delta.y) / ZOOM_PT).exp2(), at_frac);
        } else {
            now.scroll_pt -= delta.y;
        }
    }
}

/// Click selects, double click fits.
pub(super) fn clicks(response: &Response, hovered: Option<&Mark>) -> Vec<Command> {
    let slice = hovered.map(|mark| mark.slice);
    if response.clicked() || response.double_clicked() {
        response.request_focus();
    }
    if response.double_clicked() && slice.is_some() {
        return vec![Command::Select(slice), Command::FitSelection];
    }
    if response.clicked() {
        return vec![Command::Select(slice)];
    }
    Vec::new()
}

/// Scroll so that the row of a slice that was asked for is in view.
pub(super) fn reveal(
    state: &mut State,
    model: &Model,
    trace: &Trace,
    canvas: Rect,
    heights: &Heights,
    now: &mut Now,
) {
    let Some(slice) = state.reveal.take() else { return };
    let Some(lane) = trace.slices.tracks().get(slice.idx()).and_then(|track| model.lane_of(*track)) else {
        return;
    };
    let LaneKind::Slices { n_rows, .. } = lane.kind else { return };
    let row = trace.slices.depths().get(slice.idx()).map_or(0, |depth| u32::from(*depth)).min(n_rows);
    let top_pt = lane.y_pt + row as f32 * heights.row_pt;
    let bottom_pt = top_pt + heights.row_pt;
    let air_pt = (canvas.height() * 0.25).min(3.0 * heights.row_pt);
    if top_pt - air_pt < now.scroll_pt || now.scroll_pt + canvas.height() < bottom_pt + air_pt {
        now.scroll_pt = (top_pt + bottom_pt - canvas.height()) / 2.0;
    }
}
