//! Laid-out text → `<text>` with one `<tspan x>` a word.
//!
//! egui places glyphs on quarter pixels and remembers only whole ones; the exact place of
//! a word is the sum of the advances before it. Within a word the viewer shapes by itself:
//! with the bundled fonts it finds the same advances as egui, ligatures and all.

use egui::emath::GuiRounding as _;
use egui::epaint::text::{Glyph, PlacedRow, TextFormat};
use egui::epaint::{Mesh, TextShape};
use egui::{Color32, FontFamily, Pos2, Rect, Stroke, Vec2, pos2, vec2};

use super::document::{Document, font_class};
use super::{glyphs, line, number, paint};

/// What all words of one `<text>` have in common.
#[derive(Clone, PartialEq)]
struct Look {
    family: FontFamily,
    size_pt: f32,
    letter_spacing_pt: f32,
    color: Color32,
    is_italic: bool,
}

/// A word with its escaped text and the whitespace after it.
struct Word {
    look: Look,
    baseline: Pos2,
    text: String,
}

/// egui leans italics by a quarter of the height.
const ITALIC_LEAN: f32 = 0.25;

/// Writes text with its backgrounds, underlines and strikethroughs.
pub(super) fn write(document: &mut Document, clip: &Rect, shape: &TextShape) {
    if shape.galley.is_empty() || shape.opacity_factor <= 0.0 || !shape.pos.is_finite() {
        return;
    }
    let origin = shape.pos.round_to_pixels(document.pixels_per_point);
    if shape.angle == 0.0 {
        write_upright(document, clip, shape, origin);
        return;
    }
    let mut bounds = shape.visual_bounding_rect();
    if !bounds.is_finite() {
        return;
    }
    bounds = bounds.expand(1.0);
    let Some(out) = document.visible(clip, bounds) else {
        return;
    };
    out.push_str("<g transform=\"translate(");
    number::pair(out, origin.x, origin.y);
    out.push_str(") rotate(");
    number::push(out, shape.angle.to_degrees());
    out.push_str(")\">\n");
    document.in_group(|document| {
        write_upright(document, &Rect::EVERYTHING, shape, Pos2::ZERO);
    });
}

fn write_upright(document: &mut Document, clip: &Rect, shape: &TextShape, origin: Pos2) {
    let bounds = shape.galley.mesh_bounds.translate(origin.to_vec2());
    for row in &shape.galley.rows {
        let row_origin = origin + row.pos.to_vec2();
        write_backgrounds(document, clip, shape, row, row_origin);
    }
    let words = words(shape, origin, document.pixels_per_point);
    for run in words.chunk_by(|a, b| a.look == b.look && !a.look.is_italic) {
        if let Some(out) = document.visible(clip, bounds) {
            write_run(out, run);
        }
    }
    write_lines(document, clip, shape, origin);
}

/// Backgrounds of code and of selected text: what the row's mesh has before the glyphs.
fn write_backgrounds(
    document: &mut Document,
    clip: &Rect,
    shape: &TextShape,
    row: &PlacedRow,
    row_origin: Pos2,
) {
    let visuals = &row.row.visuals;
    let indices = visuals.mesh.indices.get(..visuals.glyph_index_start);
    let mut behind = Mesh::default();
    for idx in indices.unwrap_or_default() {
        let Some(vertex) = visuals.mesh.vertices.get(*idx as usize) else {
            return;
        };
        let color = resolve(vertex.color, shape);
        behind.indices.push(behind.vertices.len() as u32);
        behind.colored_vertex(row_origin + vertex.pos.to_vec2(), color);
    }
    if !behind.is_empty() {
        super::mesh::write(document, clip, &behind);
    }
}

/// A colour of the galley as it is painted.
fn resolve(color: Color32, shape: &TextShape) -> Color32 {
    let color = if color == Color32::PLACEHOLDER { shape.fallback_color } else { color };
    faded(color, shape)
}

fn faded(color: Color32, shape: &TextShape) -> Color32 {
    if shape.opacity_factor < 1.0 { color.gamma_multiply(shape.opacity_factor) } else { color }
}

/// The colour of a glyph: its first corner in the mesh knows about selection; a glyph
/// without pixels has none and takes the colour of its section.
fn glyph_color(glyph: &Glyph, row: &PlacedRow, format: &TextFormat, shape: &TextShape) -> Color32 {
    if let Some(color) = shape.override_text_color {
        return faded(color, shape);
    }
    let vertices = &row.row.visuals.mesh.vertices;
    let painted = vertices.get(glyph.first_vertex as usize).filter(|_| !glyph.uv_rect.is_nothing());
    resolve(painted.map_or(format.color, |vertex| vertex.color), shape)
}

fn words(shape: &TextShape, origin: Pos2, pixels_per_point: f32) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut pen = glyphs::Pen::default();
    let mut last: Option<(usize, usize, u32)> = None;
    // Whether the next character goes on with the last word.
    let mut is_in_word = false;
    glyphs::for_each(shape, |row_idx, row, glyph, (section_idx, format)| {
        let place = (row_idx, section_idx, glyph.pos.y.to_bits());
        if last.is_some_and(|(last_row, ..)| last_row != row_idx) {
            end_row(&mut words);
            let rows = shape.galley.rows.get(..row_idx).unwrap_or_default();
            if rows.last().is_some_and(|row| row.ends_with_newline) {
                pen = glyphs::Pen::default();
            }
        }
        if last.is_none_or(|(_, last_section, _)| last_section != section_idx) {
            let section = shape.galley.job.sections.get(section_idx);
            pen.indent(section.map_or(0.0, |section| section.leading_space));
        }
        if last != Some(place) {
            is_in_word = false;
        }
        last = Some(place);
        let x = pen.place(glyph, format.extra_letter_spacing, pixels_per_point);
        if glyph.chr.is_whitespace() {
            is_in_word = false;
            if let Some(word) = words.last_mut() {
                word.text.push(if glyph.chr.is_control() { ' ' } else { glyph.chr });
            }
            return;
        }
        let mut escaped = String::new();
        if !number::character(&mut escaped, glyph.chr) {
            is_in_word = false;
            return;
        }
        let color = glyph_color(glyph, row, format, shape);
        match words.last_mut() {
            Some(word) if is_in_word && word.look.color == color => word.text.push_str(&escaped),
            _ => words.push(Word {
                look: Look {
                    family: format.font_id.family.clone(),
                    size_pt: format.font_id.size,
                    letter_spacing_pt: format.extra_letter_spacing,
                    color,
                    is_italic: format.italics,
                },
                baseline: origin + row.pos.to_vec2() + vec2(x, glyph.pos.y),
                text: escaped,
            }),
        }
        is_in_word = true;
    });
    words.retain(|word| !paint::is_invisible(word.look.color));
    words
}

/// Keeps the last word of a row apart from the first of the next for whoever copies it.
fn end_row(words: &mut [Word]) {
    if let Some(word) = words.last_mut()
        && !word.text.ends_with(char::is_whitespace)
    {
        word.text.push(' ');
    }
}

/// Writes words of one look. Italic words come alone: each leans about its own baseline.
fn write_run(out: &mut String, run: &[Word]) {
    let [first, rest @ ..] = run else {
        return;
    };
    let look = &first.look;
    out.push_str(&format!("<text class=\"{}\"", font_class(&look.family)));
    number::attribute(out, "font-size", look.size_pt);
    if look.letter_spacing_pt != 0.0 {
        number::attribute(out, "letter-spacing", look.letter_spacing_pt);
    }
    let mut baseline = first.baseline;
    if look.is_italic {
        out.push_str(&format!(" transform=\"matrix(1 0 -{ITALIC_LEAN} 1 "));
        number::pair(out, baseline.x, baseline.y);
        out.push_str(")\"");
        baseline = Pos2::ZERO;
    }
    number::attribute(out, "x", baseline.x);
    number::attribute(out, "y", baseline.y);
    paint::color(out, "fill", look.color);
    out.push('>');
    // Nothing follows the last word.
    let text = |word: &Word| match rest.last() {
        Some(last) if !std::ptr::eq(last, word) => word.text.clone(),
        _ => word.text.trim_end().to_owned(),
    };
    if rest.is_empty() {
        out.push_str(&text(first));
    } else {
        let mut y = first.baseline.y;
        for word in run {
            out.push_str("<tspan");
            number::attribute(out, "x", word.baseline.x);
            if word.baseline.y != y {
                y = word.baseline.y;
                number::attribute(out, "y", y);
            }
            out.push('>');
            out.push_str(&text(word));
            out.push_str("</tspan>");
        }
    }
    out.push_str("</text>\n");
}

/// Underlines and strikethroughs of sections, as epaint's `add_row_hline` finds them, and
/// the underline of the whole shape.
fn write_lines(document: &mut Document, clip: &Rect, shape: &TextShape, origin: Pos2) {
    let mut lines: Vec<(usize, Stroke, Rect)> = Vec::new();
    glyphs::for_each(shape, |row_idx, row, glyph, (_, format)| {
        let logical = glyph.logical_rect();
        let row_origin = origin.to_vec2() + row.pos.to_vec2();
        let heights = [(format.underline, logical.bottom()), (format.strikethrough, logical.center().y)];
        for (stroke, y) in heights {
            if stroke.is_empty() {
                continue;
            }
            let ends = [pos2(glyph.pos.x, y), pos2(glyph.max_x(), y)];
            let piece = Rect::from_points(&ends).translate(row_origin);
            let open =
                lines.iter_mut().rev().take(2).find(|(idx, open, rect)| {
                    *idx == row_idx && *open == stroke && rect.min.y == piece.min.y
                });
            match open {
                Some((_, _, rect)) => rect.max.x = piece.max.x,
                None => lines.push((row_idx, stroke, piece)),
            }
        }
    });
    for (_, stroke, rect) in lines {
        let stroke = Stroke::new(stroke.width, resolve(stroke.color, shape));
        line::write(document, clip, [rect.min, rect.max], stroke);
    }
    if shape.underline.is_empty() {
        return;
    }
    for row in &shape.galley.rows {
        let bounds = row.row.visuals.mesh_bounds;
        if bounds.is_finite() {
            let offset: Vec2 = origin.to_vec2() + row.pos.to_vec2();
            let ends = [bounds.left_bottom() + offset, bounds.right_bottom() + offset];
            let color = faded(shape.underline.color, shape);
            let stroke = Stroke::new(shape.underline.width, color);
            line::write(document, clip, ends, stroke);
        }
    }
}
