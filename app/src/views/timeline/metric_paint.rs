//! Puts metrics onto the screen: curves as meshes, limits, what they are like in view, values at the cursor.

use std::sync::Arc;

use egui::{
    Align2, CursorIcon, FontId, Mesh, Painter, Pos2, Rect, Role, Sense, Shape, Ui, WidgetInfo, pos2, vec2,
};
use tracecard_analyzers::Metrics;
use tracecard_analyzers::metrics::{MetricKind, MetricTrack, Series, Summary, Verdict};
use tracecard_model::{Trace, Unit};

use super::frame::Frame;
use super::metric_curves::MetricCurve;
use super::paint::Drawing;
use crate::command::Command;
use crate::format;
use crate::mesh::quad;
use crate::theme::Theme;

/// Columns from this width on have a line on top in any case, in points.
const MIN_LINED_PT: f32 = 4.0;

/// Solid up to the least value, lighter between least and greatest, with a line on top. What is computed from
/// limits and not measured is a line without an area.
pub(super) fn mesh(curve: &MetricCurve, track: &MetricTrack, theme: &Theme) -> Mesh {
    let canvas = theme.color.canvas;
    // Colour is for verdicts; what has none says only where it comes from.
    let plain = match track.kind {
        MetricKind::Measured | MetricKind::Theoretical => theme.color.compute,
        MetricKind::Derived => theme.color.copy,
    };
    let mut mesh = Mesh::default();
    mesh.reserve_vertices(curve.steps.len() * 8);
    mesh.reserve_triangles(curve.steps.len() * 4);
    for limit_y_pt in curve.limits_y_pt.iter().flatten() {
        let rect = Rect::from_x_y_ranges(curve.rect.x_range(), *limit_y_pt..=limit_y_pt + 1.0);
        quad(&mut mesh, rect, theme.color.outline);
    }
    let is_area = track.kind != MetricKind::Theoretical;
    let mut before: Option<(f32, f32)> = None;
    for step in &curve.steps {
        let line = match step.verdict {
            Verdict::Good => theme.color.ok,
            Verdict::Plain => plain,
            Verdict::Look => theme.color.warning,
        };
        let rect =
            |a: f32, b: f32| Rect::from_min_max(pos2(step.left_pt, a.min(b)), pos2(step.right_pt, a.max(b)));
        if is_area {
            quad(&mut mesh, rect(curve.base_y_pt, step.min_y_pt), canvas.lerp_to_gamma(line, 0.5));
            quad(&mut mesh, rect(step.min_y_pt, step.max_y_pt), canvas.lerp_to_gamma(line, 0.28));
            // Between narrow columns with a spread, a line on top would only be a haze.
            if MIN_LINED_PT <= step.right_pt - step.left_pt || step.min_y_pt - step.max_y_pt < 1.0 {
                quad(&mut mesh, rect(step.max_y_pt, step.max_y_pt + 1.0), line);
            }
        } else {
            quad(&mut mesh, rect(step.max_y_pt, step.min_y_pt), canvas.lerp_to_gamma(line, 0.28));
            quad(&mut mesh, rect(step.mean_y_pt, step.mean_y_pt + 1.5), line);
            // The riser between two neighbours makes it a step line.
            if let Some((right_pt, y_pt)) = before.filter(|(right_pt, _)| step.left_pt - right_pt < 0.5) {
                let (top, bottom) = (y_pt.min(step.mean_y_pt), y_pt.max(step.mean_y_pt) + 1.5);
                quad(
                    &mut mesh,
                    Rect::from_min_max(pos2(right_pt - 0.5, top), pos2(right_pt + 0.5, bottom)),
                    line,
                );
            }
            before = Some((step.right_pt, step.mean_y_pt));
        }
    }
    mesh
}

/// Everything of the metrics: curves, pills, reasons, and values at the pointer.
pub(super) fn ui(
    ui: &Ui,
    drawing: &Drawing<'_>,
    frame: &Frame,
    metrics: Option<&Metrics>,
    pointer: Option<Pos2>,
) -> Vec<Command> {
    let canvas = drawing.canvas.rect;
    let meshes = frame.metric_meshes.iter().map(|mesh| Shape::Mesh(Arc::clone(mesh)));
    ui.painter_at(canvas).extend(meshes);
    let commands = texts(ui, drawing.theme, canvas, frame, metrics, drawing.trace);
    values_at(ui, drawing, frame, metrics, pointer);
    commands
}

/// Texts on the lanes: pills at the right edge, and why a lane is empty.
fn texts(
    ui: &Ui,
    theme: &Theme,
    canvas: Rect,
    frame: &Frame,
    metrics: Option<&Metrics>,
    trace: &Trace,
) -> Vec<Command> {
    let mut commands = Vec::new();
    let painter = ui.painter_at(canvas);
    for curve in &frame.metrics {
        let Some(track) = metrics.and_then(|metrics| metrics.tracks.get(curve.metric)) else { continue };
        if curve.is_absent {
            commands.extend(absent(ui, theme, canvas, curve, track));
        } else if let Some(summary) = &curve.summary {
            pill(&painter, theme, curve.rect, &pill_text(summary, Some(track.unit)));
        }
    }
    for counter in &frame.pills {
        let unit = trace.tracks.get(counter.track.idx()).and_then(|track| track.unit);
        pill(&painter, theme, counter.rect, &pill_text(&counter.summary, unit));
    }
    commands
}

/// Mean, deviation, least and greatest: `ø 45.2 · σ 12.1 · 0–98 %`.
fn pill_text(summary: &Summary, unit: Option<Unit>) -> String {
    let value = |value: f64| format::counter_value(value, unit).replace(".0 %", " %");
    let all = [value(summary.min), value(summary.mean), value(summary.max), value(summary.deviation())];
    // The unit is said once where it is the same for all.
    let unit_of = |text: &str| text.split_once(' ').map(|(_, unit)| unit.to_owned());
    let shared = all.first().and_then(|text| unit_of(text));
    let is_shared = shared.is_some() && all.iter().all(|text| unit_of(text) == shared);
    let short = |text: &String| match text.split_once(' ') {
        Some((number, _)) if is_shared => number.to_owned(),
        _ => text.clone(),
    };
    let [min, mean, max, deviation] = [0, 1, 2, 3].map(|at| all.get(at).map(short).unwrap_or_default());
    let unit = shared.filter(|_| is_shared).map_or_else(String::new, |unit| format!(" {unit}"));
    format!("ø {mean} · σ {deviation} · {min}–{max}{unit}")
}

fn pill(painter: &Painter, theme: &Theme, lane: Rect, text: &str) {
    let font = FontId::proportional(theme.font.small);
    let galley = painter.layout_no_wrap(text.to_owned(), font, theme.color.text);
    let size = galley.size() + vec2(10.0, 2.0);
    if lane.width() < size.x * 1.5 || lane.height() < size.y {
        return;
    }
    let min = pos2(lane.right() - size.x - theme.space.s, lane.top() + theme.space.xs);
    let plate = Rect::from_min_size(min, size);
    painter.rect_filled(plate, theme.size.radius_control, theme.color.panel.gamma_multiply(0.75));
    let at = Align2::CENTER_CENTER.align_size_within_rect(galley.size(), plate).min;
    painter.galley(at, galley, theme.color.text);
}

/// Why the lane is empty, and what fills it; a click copies the command.
fn absent(ui: &Ui, theme: &Theme, canvas: Rect, curve: &MetricCurve, track: &MetricTrack) -> Option<Command> {
    let painter = ui.painter_at(canvas);
    let (reason, command) = absent_text(track);
    let at = pos2(canvas.left() + theme.space.m, curve.rect.center().y);
    let small = FontId::proportional(theme.font.small);
    let reason = painter.layout_no_wrap(reason, small, theme.color.text_muted);
    let reason_size = reason.size();
    painter.galley(at - vec2(0.0, reason_size.y / 2.0), reason, theme.color.text_muted);
    let command = command?;
    let mono = FontId::monospace(theme.font.small);
    let galley = painter.layout_no_wrap(command.clone(), mono, theme.color.text);
    let at = at + vec2(reason_size.x + theme.space.m, -galley.size().y / 2.0);
    let plate = Rect::from_min_size(at, galley.size()).expand2(vec2(theme.space.s, theme.space.xs));
    let id = ui.make_persistent_id(("capture", track.device, &track.id));
    let response = ui.interact(plate.intersect(canvas), id, Sense::click()).on_hover_cursor(CursorIcon::Copy);
    response.widget_info(|| {
        WidgetInfo::labeled(Role::Button, true, format!("Copy the command that captures {}", track.title))
    });
    let fill =
        if response.hovered() || response.has_focus() { theme.color.hovered } else { theme.color.panel };
    painter.rect_filled(plate, theme.size.radius_control, fill);
    painter.galley(at, galley, theme.color.text);
    response.clicked().then_some(Command::Copy(command))
}

/// The reason and the command.
pub(super) fn absent_text(track: &MetricTrack) -> (String, Option<String>) {
    let Series::Absent { reason, command } = &track.series else { return (String::new(), None) };
    match command {
        Some(command) => (format!("{reason} To capture it:"), Some(command.clone())),
        None => (reason.clone(), None),
    }
}

/// What each metric is at the pointer's time, beside the line of the cursor.
fn values_at(
    ui: &Ui,
    drawing: &Drawing<'_>,
    frame: &Frame,
    metrics: Option<&Metrics>,
    pointer: Option<Pos2>,
) {
    let (Some(pointer), Some(metrics)) = (pointer, metrics) else { return };
    let (theme, trace, canvas) = (drawing.theme, drawing.trace, drawing.canvas.rect);
    let painter = ui.painter_at(canvas);
    let t_ns = drawing.scale.ns_from_x(pointer.x);
    for curve in frame.metrics.iter().filter(|curve| !curve.is_absent) {
        let Some(track) = metrics.tracks.get(curve.metric) else { continue };
        let view = track.view(trace);
        let value = view.index_at(t_ns).and_then(|idx| view.values.get(idx));
        let text =
            value.map_or(format::UNKNOWN.to_owned(), |value| format::counter_value(*value, Some(track.unit)));
        let font = FontId::proportional(theme.font.small);
        let galley = painter.layout_no_wrap(text, font, theme.color.text_strong);
        let size = galley.size() + vec2(8.0, 0.0);
        // The tool-tip opens to the right.
        let is_left = canvas.left() < pointer.x - 4.0 - size.x;
        let left = if is_left { pointer.x - 4.0 - size.x } else { pointer.x + 4.0 };
        let plate = Rect::from_min_size(pos2(left, curve.rect.bottom() - size.y - theme.space.s), size);
        painter.rect_filled(plate, theme.size.radius_control, theme.color.hovered.gamma_multiply(0.92));
        let at = Align2::CENTER_CENTER.align_size_within_rect(galley.size(), plate).min;
        painter.galley(at, galley, theme.color.text_strong);
    }
}

#[cfg(test)]
mod tests {
    use tracecard_analyzers::metrics::{Covers, Pyramid, counter_view};
    use tracecard_model::Span;

    use super::*;

    fn check(values: &[f64], unit: Unit, expected: &str) {
        let times_ns: Vec<i64> = (0..values.len() as i64).map(|i| i * 10).collect();
        let view = counter_view(&times_ns, values, Covers::UntilNext, 10);
        let summary = Pyramid::new(&view).within(&view, Span::new(0, 1_000)).unwrap();
        assert_eq!(pill_text(&summary, Some(unit)), expected);
    }

    #[test]
    fn pills_say_the_unit_once() {
        check(&[0.0, 0.5], Unit::Frac, "ø 25 · σ 25 · 0–50 %");
        check(&[1.0, 3.0], Unit::Count, "ø 2 · σ 1 · 1–3");
        check(&[0.0, 2e9], Unit::BytesPerS, "ø 1 GB/s · σ 1 GB/s · 0 B/s–2 GB/s");
    }
}
