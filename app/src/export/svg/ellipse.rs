//! Circles and ellipses. egui paints their strokes outside of the radius.

use egui::epaint::{CircleShape, EllipseShape};
use egui::{Rect, Vec2};

use super::document::Document;
use super::{number, paint, rect};

/// Writes a circle.
pub(super) fn write_circle(document: &mut Document, clip: &Rect, circle: &CircleShape) {
    let ellipse = EllipseShape {
        center: circle.center,
        radius: Vec2::splat(circle.radius),
        fill: circle.fill,
        stroke: circle.stroke,
        angle: 0.0,
    };
    write(document, clip, &ellipse);
}

/// Writes an ellipse.
pub(super) fn write(document: &mut Document, clip: &Rect, ellipse: &EllipseShape) {
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
        rect::rotate(out, angle, center);
    }
    out.push_str("/>\n");
}
