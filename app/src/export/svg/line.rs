//! Lines between two points.

use egui::{Pos2, Rect, Stroke, Vec2};

use super::document::Document;
use super::{number, paint, rect, snap};

/// Writes a line; horizontal and vertical ones lie on the pixel grid.
pub(super) fn write(document: &mut Document, clip: &Rect, points: [Pos2; 2], stroke: Stroke) {
    if stroke.is_empty() {
        return;
    }
    let [a, b] = snap::line(points, stroke, document.pixels_per_point);
    let half = 0.5 * stroke.width;
    let bounds = Rect::from_two_pos(a, b);
    if a.x == b.x || a.y == b.y {
        // A box says the same and can be cut without a clip.
        let across = if a.x == b.x { Vec2::new(half, 0.0) } else { Vec2::new(0.0, half) };
        return rect::write_box(document, clip, bounds.expand2(across), stroke.color);
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
