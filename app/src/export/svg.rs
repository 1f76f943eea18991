//! Shapes → SVG.
//!
//! Text stays text: one `<tspan x>` a word, so that searching and copying work and words
//! stand where egui put them even when a viewer has other fonts. Boxes and lines are
//! moved onto the pixel grid as egui's tessellator does. The same shapes give the same
//! bytes.
//!
//! What SVG cannot say: colours that add light (shown as translucent ones) and meshes
//! whose corners differ in colour (left to right and top to bottom become gradients,
//! all others their average). Textures and paint callbacks are left out and counted.

mod document;
mod ellipse;
mod glyphs;
mod line;
mod mesh;
mod number;
mod paint;
mod path;
mod rect;
mod snap;
mod text;

use egui::emath::TSTransform;
use egui::epaint::ClippedShape;
use egui::{Rect, Shape};

use super::Frame;
use document::Document;

/// The SVG document of a frame. Its size is in points; `viewBox` and `width` agree, so
/// one SVG unit is one point.
pub fn write(frame: &Frame) -> String {
    let mut document = Document::new(frame.size_pt, frame.pixels_per_point);
    for clipped in &frame.shapes {
        write_clipped(&mut document, clipped);
    }
    document.finish(frame.background)
}

fn write_clipped(document: &mut Document, clipped: &ClippedShape) {
    let transform = clipped.transform_after_tessellation;
    let clip = document.clip(clipped.clip_rect);
    if transform == TSTransform::IDENTITY {
        write_shape(document, &clip, &clipped.shape);
        return;
    }
    let bounds = transform * clipped.shape.visual_bounding_rect();
    if transform.is_valid() && clip.intersects(bounds) {
        document.transformed(&clip, bounds, transform, |document| {
            write_shape(document, &Rect::EVERYTHING, &clipped.shape);
        });
    }
}

/// Writes what is seen of a shape through a clip rectangle.
fn write_shape(document: &mut Document, clip: &Rect, shape: &Shape) {
    match shape {
        Shape::Noop => {}
        Shape::Vec(children) => {
            for child in children {
                write_shape(document, clip, child);
            }
        }
        Shape::Callback(_) => document.leave_out(),
        Shape::Mesh(mesh) => mesh::write(document, clip, mesh),
        Shape::Text(text) => text::write(document, clip, text),
        Shape::Rect(shape) => rect::write(document, clip, shape),
        Shape::Circle(circle) => ellipse::write_circle(document, clip, circle),
        Shape::Ellipse(shape) => ellipse::write(document, clip, shape),
        Shape::LineSegment { points, stroke } => line::write(document, clip, *points, *stroke),
        Shape::Path(shape) => path::write(document, clip, shape),
        Shape::Band(band) => path::write_band(document, clip, band),
        Shape::QuadraticBezier(curve) => path::write_quadratic(document, clip, curve),
        Shape::CubicBezier(curve) => path::write_cubic(document, clip, curve),
    }
}
