//! Paths, bands and curves.

use egui::epaint::{BandShape, ColorMode, CubicBezierShape, PathShape, PathStroke, QuadraticBezierShape};
use egui::{Color32, Pos2, Rect, Stroke, Vec2};

use super::document::Document;
use super::{line, number, paint};

/// Writes a path of straight lines, open or closed.
pub(super) fn write(document: &mut Document, clip: &Rect, path: &PathShape) {
    let points: Vec<Pos2> = path.points.iter().copied().filter(|p| p.is_finite()).collect();
    let bounds = Rect::from_points(&points);
    if points.len() < 2 {
        return;
    }
    let fill = if path.closed { path.fill } else { Color32::TRANSPARENT };
    if let ColorMode::UV(color_at) = &path.stroke.color {
        if !paint::is_invisible(fill) {
            write_polygon(document, clip, &points, fill, &PathStroke::NONE);
        }
        let last = path.closed.then(|| [points.last(), points.first()]);
        let pairs = points.windows(2).map(|pair| [pair.first(), pair.last()]);
        for pair in pairs.chain(last) {
            if let [Some(a), Some(b)] = pair {
                let color = color_at(bounds, a.lerp(*b, 0.5));
                let stroke = Stroke::new(path.stroke.width, color);
                line::write(document, clip, [*a, *b], stroke);
            }
        }
    } else if path.closed {
        write_polygon(document, clip, &points, fill, &path.stroke);
    } else {
        write_polyline(document, clip, &points, &path.stroke);
    }
}

fn write_polygon(document: &mut Document, clip: &Rect, points: &[Pos2], fill: Color32, stroke: &PathStroke) {
    let bounds = Rect::from_points(points).expand(0.5 * stroke.width);
    if let Some(out) = document.visible(clip, bounds) {
        out.push_str("<polygon");
        write_points(out, points);
        paint::fill(out, fill);
        write_path_stroke(out, stroke);
        out.push_str("/>\n");
    }
}

fn write_polyline(document: &mut Document, clip: &Rect, points: &[Pos2], stroke: &PathStroke) {
    if stroke.is_empty() {
        return;
    }
    let bounds = Rect::from_points(points).expand(0.5 * stroke.width);
    if let Some(out) = document.visible(clip, bounds) {
        out.push_str("<polyline");
        write_points(out, points);
        out.push_str(" fill=\"none\"");
        write_path_stroke(out, stroke);
        out.push_str("/>\n");
    }
}

fn write_points(out: &mut String, points: &[Pos2]) {
    out.push_str(" points=\"");
    for (idx, point) in points.iter().enumerate() {
        if 0 < idx {
            out.push(' ');
        }
        number::push(out, point.x);
        out.push(',');
        number::push(out, point.y);
    }
    out.push('"');
}

/// A solid stroke. Where it lies relative to the path is not kept: egui's own widgets
/// only use the middle.
fn write_path_stroke(out: &mut String, stroke: &PathStroke) {
    if let (ColorMode::Solid(color), false) = (&stroke.color, stroke.is_empty()) {
        paint::stroke(out, stroke.width, *color);
        out.push_str(" stroke-linejoin=\"round\"");
    }
}

/// Writes a band as polygons: one for each run of points with growing x.
pub(super) fn write_band(document: &mut Document, clip: &Rect, band: &BandShape) {
    let is_valid = |p: &egui::epaint::BandPoint| p.is_finite() && p.y.min <= p.y.max;
    let rotation = egui::emath::Rot2::from_angle(band.angle);
    let stroke = PathStroke::from(band.stroke);
    let turned = |x: f32, y: f32| (rotation * Vec2::new(x, y)).to_pos2();
    let runs = band.points.chunk_by(|a, b| is_valid(a) && is_valid(b) && a.x < b.x);
    for run in runs.filter(|run| 1 < run.len()) {
        let top = run.iter().map(|p| turned(p.x, p.y.min));
        let bottom = run.iter().rev().map(|p| turned(p.x, p.y.max));
        let outline: Vec<Pos2> = top.chain(bottom).collect();
        write_polygon(document, clip, &outline, band.fill, &stroke);
    }
}

/// Writes a curve with one control point.
pub(super) fn write_quadratic(document: &mut Document, clip: &Rect, curve: &QuadraticBezierShape) {
    let [a, control, b] = curve.points;
    let bounds = curve.visual_bounding_rect();
    let style = (curve.fill, &curve.stroke, curve.closed);
    write_curve(document, clip, bounds, style, |out| {
        out.push('M');
        number::pair(out, a.x, a.y);
        out.push('Q');
        number::pair(out, control.x, control.y);
        out.push(' ');
        number::pair(out, b.x, b.y);
    });
}

/// Writes a curve with two control points.
pub(super) fn write_cubic(document: &mut Document, clip: &Rect, curve: &CubicBezierShape) {
    let [a, first, second, b] = curve.points;
    let bounds = curve.visual_bounding_rect();
    let style = (curve.fill, &curve.stroke, curve.closed);
    write_curve(document, clip, bounds, style, |out| {
        out.push('M');
        number::pair(out, a.x, a.y);
        out.push('C');
        for point in [first, second] {
            number::pair(out, point.x, point.y);
            out.push(' ');
        }
        number::pair(out, b.x, b.y);
    });
}

fn write_curve(
    document: &mut Document,
    clip: &Rect,
    bounds: Rect,
    (fill, stroke, is_closed): (Color32, &PathStroke, bool),
    data: impl FnOnce(&mut String),
) {
    if let Some(out) = document.visible(clip, bounds) {
        out.push_str("<path d=\"");
        data(out);
        out.push_str(if is_closed { "Z\"" } else { "\"" });
        paint::fill(out, fill);
        write_path_stroke(out, stroke);
        out.push_str("/>\n");
    }
}
