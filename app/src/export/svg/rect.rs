//! Rectangles.

use egui::epaint::RectShape;
use egui::{Color32, CornerRadius, Pos2, Rect, Stroke, StrokeKind, TextureId};

use super::document::{Document, rect_attributes};
use super::{line, number, paint, snap};

/// Writes a rectangle: rounded, stroked, turned, blurred or plain.
pub(super) fn write(document: &mut Document, clip: &Rect, shape: &RectShape) {
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
            return line::write(document, clip, ends, stroke);
        }
        if shape.rect.height() <= 2.0 * pixel {
            let ends = [Pos2::new(min.x, center.y), Pos2::new(max.x, center.y)];
            let stroke = Stroke::new(shape.rect.height(), shape.fill);
            return line::write(document, clip, ends, stroke);
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

/// Appends a rotation by `angle` radians clockwise.
pub(super) fn rotate(out: &mut String, angle: f32, center: Pos2) {
    out.push_str(" transform=\"rotate(");
    number::push(out, angle.to_degrees());
    out.push(' ');
    number::pair(out, center.x, center.y);
    out.push_str(")\"");
}
