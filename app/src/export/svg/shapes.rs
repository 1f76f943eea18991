//! Rectangles, circles, lines, paths and curves.

use egui::epaint::{
    BandShape, CircleShape, ColorMode, CubicBezierShape, EllipseShape, PathShape, PathStroke,
    QuadraticBezierShape, RectShape,
};
use egui::{Color32, CornerRadius, Pos2, Rect, Shape, Stroke, StrokeKind, TextureId, Vec2};

use super::document::{Document, rect_attributes};
use super::{number, paint, snap};

/// Writes any shape but text and meshes.
pub(super) fn write(document: &mut Document, clip: &Rect, shape: &Shape) {
    match shape {
        Shape::Rect(rect) => write_rect(document, clip, rect),
        Shape::Circle(circle) => write_circle(document, clip, circle),
        Shape::Ellipse(ellipse) => write_ellipse(document, clip, ellipse),
        Shape::LineSegment { points, stroke } => write_line(document, clip, *points, *stroke),
        Shape::Path(path) => write_path(document, clip, path),
        Shape::Band(band) => write_band(document, clip, band),
        Shape::QuadraticBezier(curve) => write_quadratic(document, clip, curve),
        Shape::CubicBezier(curve) => write_cubic(document, clip, curve),
        Shape::Noop | Shape::Vec(_) | Shape::Text(_) | Shape::Mesh(_) | Shape::Callback(_) => {}
    }
}

fn write_rect(document: &mut Document, clip: &Rect, shape: &RectShape) {
    if shape.fill_texture_id() != TextureId::default() {
        document.leave_out();
        return;
    }
    let bounds = shape.visual_bounding_rect();
    let (stroke, kind) = (shape.stroke, shape.stroke_kind);
    let pixel = 1.0 / document.pixels_per_point;
    if stroke.is_empty() && shape.angle == 0.0 && shape.blur_width <= 0.0 {
        // The tessellator draws thin boxes as lines.
        let Rect { min, max } = shape.rect;
        let center = shape.rect.center();
        if shape.rect.width() <= 2.0 * pixel {
            let ends = [Pos2::new(center.x, min.y), Pos2::new(center.x, max.y)];
            let stroke = Stroke::new(shape.rect.width(), shape.fill);
            return write_line(document, clip, ends, stroke);
        }
        if shape.rect.height() <= 2.0 * pixel {
            let ends = [Pos2::new(min.x, center.y), Pos2::new(max.x, center.y)];
            let stroke = Stroke::new(shape.rect.height(), shape.fill);
            return write_line(document, clip, ends, stroke);
        }
    }
    let mut rect = shape.rect;
    if shape.round_to_pixels.unwrap_or(true) && shape.angle == 0.0 {
        rect = snap::rect(rect, stroke, kind, document.pixels_per_point);
    }
    let is_plain = stroke.is_empty()
        && shape.angle == 0.0
        && shape.blur_width <= 0.0
        && shape.corner_radius == CornerRadius::ZERO;
    if is_plain {
        return write_box(document, clip, rect, shape.fill);
    }
    if !clip.intersects(bounds) {
        return;
    }
    let filter = (0.0 < shape.blur_width).then(|| define_blur(document, bounds, shape.blur_width));
    let Some(out) = document.visible(clip, bounds) else {
        return;
    };
    // SVG paints a stroke around the edge: put the edge into the middle of the stroke.
    let expand = match kind {
        _ if stroke.is_empty() => 0.0,
        StrokeKind::Inside => -0.5 * stroke.width,
        StrokeKind::Middle => 0.0,
        StrokeKind::Outside => 0.5 * stroke.width,
    };
    write_rounded(out, rect.expand(expand), shape.corner_radius, expand);
    paint::fill(out, shape.fill);
    if !stroke.is_empty() {
        paint::stroke(out, stroke.width, stroke.color);
    }
    if shape.angle != 0.0 {
        rotate(out, shape.angle, rect.center());
    }
    if let Some(id) = filter {
        out.push_str(&format!(" filter=\"url(#{id})\""));
    }
    out.push_str("/>\n");
}

/// A filled box without anything else: cut by arithmetic, so that it needs no clip.
pub(super) fn write_box(document: &mut Document, clip: &Rect, rect: Rect, fill: Color32) {
    let rect = rect.intersect(*clip);
    if paint::is_invisible(fill) || !rect.is_positive() {
        return;
    }
    if let Some(out) = document.visible(clip, rect) {
        out.push_str("<rect");
        rect_attributes(out, rect);
        paint::color(out, "fill", fill);
        out.push_str("/>\n");
    }
}

/// Opens `<rect` or, when the corners differ, `<path`. `grow` is what the corners' radii
/// gain.
fn write_rounded(out: &mut String, rect: Rect, corners: CornerRadius, grow: f32) {
    let half = 0.5 * rect.width().min(rect.height()).max(0.0);
    let radius = |corner: u8| match corner {
        0 => 0.0,
        corner => (f32::from(corner) + grow).clamp(0.0, half),
    };
    if corners.is_same() {
        out.push_str("<rect");
        rect_attributes(out, rect);
        let radius = radius(corners.nw);
        if 0.0 < radius {
            number::attribute(out, "rx", radius);
        }
        return;
    }
    let [nw, ne, se, sw] = [corners.nw, corners.ne, corners.se, corners.sw].map(radius);
    let Rect { min, max } = rect;
    let mut arc = |command: &str, from: Pos2, radius: f32, to: Pos2| {
        out.push_str(command);
        number::pair(out, from.x, from.y);
        if 0.0 < radius {
            out.push('A');
            number::pair(out, radius, radius);
            out.push_str(" 0 0 1 ");
            number::pair(out, to.x, to.y);
        }
    };
    arc("<path d=\"M", Pos2::new(min.x, min.y + nw), nw, Pos2::new(min.x + nw, min.y));
    arc("L", Pos2::new(max.x - ne, min.y), ne, Pos2::new(max.x, min.y + ne));
    arc("L", Pos2::new(max.x, max.y - se), se, Pos2::new(max.x - se, max.y));
    arc("L", Pos2::new(min.x + sw, max.y), sw, Pos2::new(min.x, max.y - sw));
    out.push_str("Z\"");
}

/// egui blurs an edge with a linear ramp; the ramp of a box filter of that width has this
/// standard deviation.
fn define_blur(document: &mut Document, bounds: Rect, blur_width: f32) -> String {
    let deviation = blur_width / 12.0_f32.sqrt();
    document.define(|out, id| {
        out.push_str(&format!("<filter id=\"{id}\" filterUnits=\"userSpaceOnUse\""));
        rect_attributes(out, bounds.expand(blur_width));
        out.push_str(" color-interpolation-filters=\"sRGB\"><feGaussianBlur");
        number::attribute(out, "stdDeviation", deviation);
        out.push_str("/></filter>");
    })
}

fn rotate(out: &mut String, angle: f32, center: Pos2) {
    out.push_str(" transform=\"rotate(");
    number::push(out, angle.to_degrees());
    out.push(' ');
    number::pair(out, center.x, center.y);
    out.push_str(")\"");
}

/// egui paints the strokes of circles outside of the radius.
fn write_circle(document: &mut Document, clip: &Rect, circle: &CircleShape) {
    let ellipse = EllipseShape {
        center: circle.center,
        radius: Vec2::splat(circle.radius),
        fill: circle.fill,
        stroke: circle.stroke,
        angle: 0.0,
    };
    write_ellipse(document, clip, &ellipse);
}

fn write_ellipse(document: &mut Document, clip: &Rect, ellipse: &EllipseShape) {
    let EllipseShape { center, radius, fill, stroke, angle } = *ellipse;
    let is_drawn = 0.0 < radius.x && 0.0 < radius.y;
    let bounds = ellipse.visual_bounding_rect().expand(0.5 * stroke.width);
    let Some(out) = document.visible(clip, bounds).filter(|_| is_drawn) else {
        return;
    };
    let grow = if stroke.is_empty() { 0.0 } else { 0.5 * stroke.width };
    let is_circle = radius.x == radius.y;
    out.push_str(if is_circle { "<circle" } else { "<ellipse" });
    number::attribute(out, "cx", center.x);
    number::attribute(out, "cy", center.y);
    if is_circle {
        number::attribute(out, "r", radius.x + grow);
    } else {
        number::attribute(out, "rx", radius.x + grow);
        number::attribute(out, "ry", radius.y + grow);
    }
    paint::fill(out, fill);
    if !stroke.is_empty() {
        paint::stroke(out, stroke.width, stroke.color);
    }
    if angle != 0.0 && !is_circle {
        rotate(out, angle, center);
    }
    out.push_str("/>\n");
}

/// A line; horizontal and vertical ones lie on the pixel grid.
pub(super) fn write_line(document: &mut Document, clip: &Rect, points: [Pos2; 2], stroke: Stroke) {
    if stroke.is_empty() {
        return;
    }
    let [a, b] = snap::line(points, stroke, document.pixels_per_point);
    let half = 0.5 * stroke.width;
    let bounds = Rect::from_two_pos(a, b);
    if a.x == b.x || a.y == b.y {
        // A box says the same and can be cut without a clip.
        let across = if a.x == b.x { Vec2::new(half, 0.0) } else { Vec2::new(0.0, half) };
        return write_box(document, clip, bounds.expand2(across), stroke.color);
    }
    if let Some(out) = document.visible(clip, bounds.expand(half)) {
        out.push_str("<path d=\"M");
        number::pair(out, a.x, a.y);
        out.push('L');
        number::pair(out, b.x, b.y);
        out.push('"');
        paint::stroke(out, stroke.width, stroke.color);
        out.push_str("/>\n");
    }
}

fn write_path(document: &mut Document, clip: &Rect, path: &PathShape) {
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
                write_line(document, clip, [*a, *b], stroke);
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

/// A band as polygons: each run of points with growing x.
fn write_band(document: &mut Document, clip: &Rect, band: &BandShape) {
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

fn write_quadratic(document: &mut Document, clip: &Rect, curve: &QuadraticBezierShape) {
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

fn write_cubic(document: &mut Document, clip: &Rect, curve: &CubicBezierShape) {
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
