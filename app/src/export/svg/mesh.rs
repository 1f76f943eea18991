//! Meshes without textures.
//!
//! A track of a timeline is one mesh of many single-colour boxes. They become one path a
//! colour, with touching boxes merged, when no two of them overlap; otherwise the order
//! of painting is kept. Edges are not smoothed (`crispEdges`), as on the GPU: smoothed
//! edges of touching boxes would let the ground shine through.

use egui::epaint::{Mesh, TextureId, Vertex, WHITE_UV};
use egui::{Color32, Pos2, Rect};

use super::document::Document;
use super::{number, paint};

/// Overlaps below this come from rounding, in points.
const TOUCH_PT: f32 = 0.005;

/// A colour that changes into another one.
struct Gradient {
    from: Color32,
    to: Color32,
    direction: Direction,
}

enum Direction {
    ToRight,
    ToBottom,
}

/// What a mesh is made of, in the order of painting.
enum Piece {
    Box(Rect, Color32),
    Gradient(Rect, Gradient),
    Triangle([Pos2; 3], Color32),
}

/// Writes a mesh. A textured one is left out.
pub(super) fn write(document: &mut Document, clip: &Rect, mesh: &Mesh) {
    let is_textured =
        mesh.texture_id != TextureId::default() || mesh.vertices.iter().any(|vertex| vertex.uv != WHITE_UV);
    if is_textured {
        document.leave_out();
        return;
    }
    let mut boxes = Vec::new();
    let mut triangles = Vec::new();
    for piece in pieces(mesh) {
        // Neighbours of one kind are written together.
        if !matches!(piece, Piece::Box(..)) {
            write_boxes(document, clip, &mut boxes);
        }
        if !matches!(piece, Piece::Triangle(..)) {
            write_triangles(document, clip, &mut triangles);
        }
        match piece {
            Piece::Box(rect, color) => boxes.push((rect, color)),
            Piece::Triangle(corners, color) => triangles.push((corners, color)),
            Piece::Gradient(rect, gradient) => write_gradient(document, clip, rect, &gradient),
        }
    }
    write_boxes(document, clip, &mut boxes);
    write_triangles(document, clip, &mut triangles);
}

fn pieces(mesh: &Mesh) -> Vec<Piece> {
    let corner = |idx: &u32| {
        let vertex = mesh.vertices.get(*idx as usize).copied();
        vertex.filter(|vertex| vertex.pos.is_finite())
    };
    let triangles: Vec<Option<[Vertex; 3]>> = mesh
        .indices
        .chunks_exact(3)
        .map(|chunk| match chunk {
            [a, b, c] => Some([corner(a)?, corner(b)?, corner(c)?]),
            _ => None,
        })
        .collect();
    let mut pieces = Vec::with_capacity(triangles.len());
    let mut rest = triangles.as_slice();
    while let [first, after @ ..] = rest {
        rest = after;
        let Some(first) = first else {
            continue;
        };
        if let [Some(second), after @ ..] = after
            && let Some(piece) = box_of(first, second)
        {
            pieces.push(piece);
            rest = after;
        } else {
            let corners = first.map(|vertex| vertex.pos);
            pieces.push(Piece::Triangle(corners, average(first)));
        }
    }
    pieces
}

/// The box that two triangles fill, if they do: each has three corners of their common
/// bounds, and the corner that one lacks is opposite to the one that the other lacks.
fn box_of(first: &[Vertex; 3], second: &[Vertex; 3]) -> Option<Piece> {
    let mut rect = Rect::NOTHING;
    for vertex in first.iter().chain(second) {
        rect.extend_with(vertex.pos);
    }
    let corners = [rect.left_top(), rect.right_top(), rect.right_bottom(), rect.left_bottom()];
    let lacks = |triangle: &[Vertex; 3]| {
        let has = corners.map(|corner| triangle.iter().any(|vertex| vertex.pos == corner));
        let n_has = has.iter().filter(|has| **has).count();
        has.iter().position(|has| !has).filter(|_| n_has == 3)
    };
    let (first_lacks, second_lacks) = (lacks(first)?, lacks(second)?);
    if first_lacks.abs_diff(second_lacks) != 2 {
        return None;
    }
    let color_at = |corner: Pos2| {
        let mut both = first.iter().chain(second);
        both.find(|vertex| vertex.pos == corner).map(|v| v.color)
    };
    let [Some(nw), Some(ne), Some(se), Some(sw)] = corners.map(color_at) else {
        return None;
    };
    Some(if nw == ne && ne == se && se == sw {
        Piece::Box(rect, nw)
    } else if nw == sw && ne == se {
        let direction = Direction::ToRight;
        Piece::Gradient(rect, Gradient { from: nw, to: ne, direction })
    } else if nw == ne && sw == se {
        let direction = Direction::ToBottom;
        Piece::Gradient(rect, Gradient { from: nw, to: sw, direction })
    } else {
        Piece::Box(rect, mean([nw, ne, se, sw]))
    })
}

fn average(triangle: &[Vertex; 3]) -> Color32 {
    mean(triangle.map(|vertex| vertex.color))
}

fn mean<const N: usize>(colors: [Color32; N]) -> Color32 {
    let channel = |idx: usize| {
        let channels = colors.iter().map(Color32::to_array);
        let sum: usize = channels.map(|color| color.get(idx).copied().map_or(0, usize::from)).sum();
        u8::try_from(sum / N.max(1)).unwrap_or(u8::MAX)
    };
    Color32::from_rgba_premultiplied(channel(0), channel(1), channel(2), channel(3))
}

/// Writes boxes and empties the list.
fn write_boxes(document: &mut Document, clip: &Rect, boxes: &mut Vec<(Rect, Color32)>) {
    let seen: Vec<(Rect, Color32)> = boxes
        .drain(..)
        .map(|(rect, color)| (rect.intersect(*clip), color))
        .filter(|(rect, color)| rect.is_positive() && !paint::is_invisible(*color))
        .collect();
    let mut groups: Vec<(Color32, Vec<Rect>)> = Vec::new();
    if is_disjoint(&seen) {
        let mut by_color = std::collections::BTreeMap::new();
        for (rect, color) in seen {
            let idx = *by_color.entry(color.to_array()).or_insert(groups.len());
            match groups.get_mut(idx) {
                Some((_, rects)) => rects.push(rect),
                None => groups.push((color, vec![rect])),
            }
        }
        for (_, rects) in &mut groups {
            merge_touching(rects);
        }
    } else {
        for (rect, color) in seen {
            match groups.last_mut() {
                // Where translucent boxes overlap, one path would paint them once.
                Some((last, rects)) if *last == color && color.is_opaque() => rects.push(rect),
                _ => groups.push((color, vec![rect])),
            }
        }
    }
    for (color, rects) in groups {
        let bounds = rects.iter().fold(Rect::NOTHING, |all, rect| all | *rect);
        let Some(out) = document.visible(clip, bounds) else {
            continue;
        };
        out.push_str("<path d=\"");
        for rect in rects {
            out.push('M');
            number::pair(out, rect.min.x, rect.min.y);
            out.push('H');
            number::push(out, rect.max.x);
            out.push('V');
            number::push(out, rect.max.y);
            out.push('H');
            number::push(out, rect.min.x);
            out.push('z');
        }
        out.push('"');
        paint::color(out, "fill", color);
        out.push_str(" shape-rendering=\"crispEdges\"/>\n");
    }
}

/// Whether no two boxes overlap: a sweep from left to right. Cost: the number of boxes
/// times how many share one x.
fn is_disjoint(boxes: &[(Rect, Color32)]) -> bool {
    let mut rects: Vec<Rect> = boxes.iter().map(|(rect, _)| *rect).collect();
    rects.sort_by(|a, b| a.min.x.total_cmp(&b.min.x));
    let mut open: Vec<Rect> = Vec::new();
    for rect in rects {
        open.retain(|other| rect.min.x + TOUCH_PT < other.max.x);
        let is_hit =
            |other: &Rect| rect.min.y + TOUCH_PT < other.max.y && other.min.y + TOUCH_PT < rect.max.y;
        if open.iter().any(is_hit) {
            return false;
        }
        open.push(rect);
    }
    true
}

/// Joins boxes of one row where one ends and the next begins.
fn merge_touching(rects: &mut Vec<Rect>) {
    rects.sort_by(|a, b| {
        let key = |rect: &Rect| [rect.min.y, rect.max.y, rect.min.x];
        let (a, b) = (key(a), key(b));
        a.iter()
            .zip(&b)
            .map(|(a, b)| a.total_cmp(b))
            .find(|order| order.is_ne())
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    rects.dedup_by(|next, kept| {
        let is_same_row = next.min.y == kept.min.y && next.max.y == kept.max.y;
        let is_touching = is_same_row && (next.min.x - kept.max.x).abs() < TOUCH_PT;
        if is_touching {
            kept.max.x = next.max.x;
        }
        is_touching
    });
}

/// Writes triangles and empties the list: one path for neighbours of one colour.
fn write_triangles(document: &mut Document, clip: &Rect, triangles: &mut Vec<([Pos2; 3], Color32)>) {
    let triangles = std::mem::take(triangles);
    for run in triangles.chunk_by(|(_, a), (_, b)| a == b && a.is_opaque()) {
        let points: Vec<Pos2> = run.iter().flat_map(|(corners, _)| *corners).collect();
        let color = run.first().map_or(Color32::TRANSPARENT, |(_, color)| *color);
        if paint::is_invisible(color) {
            continue;
        }
        let Some(out) = document.visible(clip, Rect::from_points(&points)) else {
            continue;
        };
        out.push_str("<path d=\"");
        for ([a, b, c], _) in run {
            out.push('M');
            number::pair(out, a.x, a.y);
            out.push('L');
            number::pair(out, b.x, b.y);
            out.push(' ');
            number::pair(out, c.x, c.y);
            out.push('z');
        }
        out.push('"');
        paint::color(out, "fill", color);
        out.push_str("/>\n");
    }
}

fn write_gradient(document: &mut Document, clip: &Rect, rect: Rect, gradient: &Gradient) {
    if !clip.intersects(rect) {
        return;
    }
    let end = match gradient.direction {
        Direction::ToRight => "x2=\"1\" y2=\"0\"",
        Direction::ToBottom => "x2=\"0\" y2=\"1\"",
    };
    let id = document.define(|out, id| {
        out.push_str(&format!("<linearGradient id=\"{id}\" x1=\"0\" y1=\"0\" {end}>"));
        // egui mixes premultiplied colours: what fades in or out keeps its hue.
        let ends = [(gradient.from, gradient.to), (gradient.to, gradient.from)];
        for (offset, (color, other)) in ["0", "1"].into_iter().zip(ends) {
            let (rgb, opacity) = match color {
                Color32::TRANSPARENT => (paint::unmultiplied(other).0, 0.0),
                color => paint::unmultiplied(color),
            };
            out.push_str(&format!("<stop offset=\"{offset}\" stop-color=\"{rgb}\""));
            if opacity < 1.0 {
                number::attribute(out, "stop-opacity", opacity);
            }
            out.push_str("/>");
        }
        out.push_str("</linearGradient>");
    });
    if let Some(out) = document.visible(clip, rect) {
        out.push_str("<rect");
        super::document::rect_attributes(out, rect);
        out.push_str(&format!(" fill=\"url(#{id})\" shape-rendering=\"crispEdges\"/>\n"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui::{pos2, vec2};

    fn check(mesh: &Mesh, expected: &str) {
        let mut document = Document::new(vec2(100.0, 100.0), 1.0);
        let clip = Rect::from_min_size(Pos2::ZERO, vec2(100.0, 100.0));
        write(&mut document, &clip, mesh);
        let svg = document.finish(Color32::BLACK);
        let body = svg.split_once("fill=\"#000000\"/>\n").map(|(_, body)| body);
        assert_eq!(body.map(|body| body.trim_end_matches("</svg>\n")), Some(expected));
    }

    fn at(x: f32, y: f32, width: f32) -> Rect {
        Rect::from_min_size(pos2(x, y), vec2(width, 5.0))
    }

    #[test]
    fn touching_boxes_of_a_colour_are_one_path() {
        let mut mesh = Mesh::default();
        mesh.add_colored_rect(at(0.0, 0.0, 10.0), Color32::RED);
        mesh.add_colored_rect(at(20.0, 0.0, 4.0), Color32::BLUE);
        mesh.add_colored_rect(at(10.0, 0.0, 10.0), Color32::RED);
        mesh.add_colored_rect(at(30.0, 0.0, 400.0), Color32::RED);
        check(
            &mesh,
            "<path d=\"M0 0H20V5H0zM30 0H100V5H30z\" fill=\"#ff0000\" shape-rendering=\"crispEdges\"/>\n\
             <path d=\"M20 0H24V5H20z\" fill=\"#0000ff\" shape-rendering=\"crispEdges\"/>\n",
        );
    }

    #[test]
    fn overlapping_boxes_keep_their_order() {
        let mut mesh = Mesh::default();
        mesh.add_colored_rect(at(0.0, 0.0, 10.0), Color32::RED);
        mesh.add_colored_rect(at(5.0, 0.0, 10.0), Color32::BLUE);
        mesh.add_colored_rect(at(8.0, 0.0, 10.0), Color32::RED);
        check(
            &mesh,
            "<path d=\"M0 0H10V5H0z\" fill=\"#ff0000\" shape-rendering=\"crispEdges\"/>\n\
             <path d=\"M5 0H15V5H5z\" fill=\"#0000ff\" shape-rendering=\"crispEdges\"/>\n\
             <path d=\"M8 0H18V5H8z\" fill=\"#ff0000\" shape-rendering=\"crispEdges\"/>\n",
        );
    }

    #[test]
    fn a_broken_mesh_is_no_panic() {
        let mut mesh = Mesh::default();
        mesh.colored_vertex(pos2(f32::NAN, 0.0), Color32::RED);
        mesh.add_triangle(0, 7, 9);
        mesh.indices.push(3);
        check(&mesh, "");
    }

    #[test]
    fn a_box_that_changes_colour_sideways_is_a_gradient() {
        let mut mesh = Mesh::default();
        mesh.add_colored_rect(at(0.0, 0.0, 10.0), Color32::RED);
        for vertex in mesh.vertices.iter_mut().filter(|v| 5.0 < v.pos.x) {
            vertex.color = Color32::BLUE;
        }
        check(
            &mesh,
            "<rect x=\"0\" y=\"0\" width=\"10\" height=\"5\" fill=\"url(#d0)\" shape-rendering=\"crispEdges\"/>\n",
        );
    }
}
