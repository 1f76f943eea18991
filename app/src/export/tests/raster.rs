//! What the window would show: egui's own triangles, painted as a GPU does.

use egui::epaint::{ImageData, Primitive, Vertex};
use egui::{Color32, ColorImage, Pos2, Rect, TextureId, Ui, Vec2};

use crate::export::offscreen;
use crate::theme::Theme;

/// Runs a UI and paints it with the font texture, like egui_glow.
pub(super) fn paint(
    size_pt: Vec2,
    pixels_per_point: f32,
    theme: &Theme,
    mut ui: impl FnMut(&mut Ui),
) -> ColorImage {
    let ctx = offscreen::context(theme);
    let mut font = ColorImage::filled([1, 1], Color32::WHITE);
    let mut shapes = Vec::new();
    for _ in 0..8 {
        let mut output = ctx.run_ui(offscreen::input(size_pt, pixels_per_point), &mut ui);
        for delta in output.textures_delta.set.get(&TextureId::default()).into_iter().flatten() {
            let ImageData::Color(image) = &delta.image;
            match delta.pos {
                None => font = (**image).clone(),
                Some([x, y]) => {
                    for row in 0..image.height() {
                        for column in 0..image.width() {
                            font[(x + column, y + row)] = image[(column, row)];
                        }
                    }
                }
            }
        }
        output.textures_delta.clear();
        shapes = output.shapes;
    }
    let side = |points: f32| (points * pixels_per_point).round() as usize;
    let mut target = ColorImage::filled([side(size_pt.x), side(size_pt.y)], theme.color.canvas);
    for primitive in ctx.tessellate(shapes, pixels_per_point) {
        let clip = primitive.clip_rect * pixels_per_point;
        let Primitive::Mesh(mesh) = primitive.primitive else {
            panic!("no callbacks");
        };
        for [a, b, c] in mesh.triangles() {
            let corner = |idx: u32| {
                let mut vertex = mesh.vertices[idx as usize];
                vertex.pos = (vertex.pos.to_vec2() * pixels_per_point).to_pos2();
                vertex
            };
            paint_triangle(&mut target, clip, [corner(a), corner(b), corner(c)], &font);
        }
    }
    target
}

/// Twice the signed area of a triangle.
fn area(a: Pos2, b: Pos2, c: Pos2) -> f32 {
    (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x)
}

fn paint_triangle(target: &mut ColorImage, clip: Rect, corners: [Vertex; 3], font: &ColorImage) {
    let [a, mut b, mut c] = corners;
    let mut total = area(a.pos, b.pos, c.pos);
    if total < 0.0 {
        std::mem::swap(&mut b, &mut c);
        total = -total;
    }
    if total == 0.0 {
        return;
    }
    let bounds = Rect::from_points(&[a.pos, b.pos, c.pos])
        .intersect(Rect::from_min_max(clip.min.round(), clip.max.round()));
    let end = |edge: f32, limit: usize| (edge.ceil().max(0.0) as usize).min(limit);
    for y in bounds.min.y.floor().max(0.0) as usize..end(bounds.max.y, target.height()) {
        for x in bounds.min.x.floor().max(0.0) as usize..end(bounds.max.x, target.width()) {
            let p = Pos2::new(x as f32 + 0.5, y as f32 + 0.5);
            if !bounds.contains(p) {
                continue;
            }
            // Top-left rule, so that shared edges are painted once.
            let weights = [(b.pos, c.pos), (c.pos, a.pos), (a.pos, b.pos)].map(|(from, to)| {
                let weight = area(from, to, p);
                let is_top_left = to.y < from.y || (to.y == from.y && from.x < to.x);
                (weight / total, 0.0 < weight || (weight == 0.0 && is_top_left))
            });
            if weights.iter().any(|(_, is_inside)| !is_inside) {
                continue;
            }
            let [wa, wb, wc] = weights.map(|(weight, _)| weight);
            let uv = a.uv.to_vec2() * wa + b.uv.to_vec2() * wb + c.uv.to_vec2() * wc;
            let texel = font[(
                ((uv.x * font.width() as f32) as usize).min(font.width() - 1),
                ((uv.y * font.height() as f32) as usize).min(font.height() - 1),
            )];
            let below = target[(x, y)].to_array();
            let source: [f32; 4] = std::array::from_fn(|idx| {
                let color = |vertex: &Vertex| f32::from(vertex.color.to_array()[idx]);
                let tint = color(&a) * wa + color(&b) * wb + color(&c) * wc;
                tint * f32::from(texel.to_array()[idx]) / 255.0
            });
            let mixed: [u8; 4] = std::array::from_fn(|idx| {
                let below = f32::from(below[idx]);
                (source[idx] + below * (1.0 - source[3] / 255.0)).round() as u8
            });
            target[(x, y)] = Color32::from_rgba_premultiplied(mixed[0], mixed[1], mixed[2], mixed[3]);
        }
    }
}
