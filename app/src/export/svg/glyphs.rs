//! The glyphs of laid-out text with what epaint forgets about them: their section and
//! their exact place.

use egui::epaint::TextShape;
use egui::epaint::text::{Glyph, LayoutJob, PlacedRow, TextFormat};

/// The section of each glyph, found by counting characters: epaint forgets which section
/// a glyph came from.
struct Sections<'a> {
    job: &'a LayoutJob,
    byte_idx: usize,
    section_idx: usize,
}

impl<'a> Sections<'a> {
    /// The index and format of the section of the next character.
    fn next(&mut self, character: char) -> Option<(usize, &'a TextFormat)> {
        while let Some(section) = self.job.sections.get(self.section_idx)
            && section.byte_range.end.0 <= self.byte_idx
            && self.section_idx + 1 < self.job.sections.len()
        {
            self.section_idx += 1;
        }
        self.byte_idx += character.len_utf8();
        let section = self.job.sections.get(self.section_idx)?;
        Some((self.section_idx, &section.format))
    }
}

/// Where the next glyph of a paragraph begins, had it never been wrapped or aligned.
/// epaint keeps only the whole pixels of that, but paints the fraction too.
#[derive(Default)]
pub(super) struct Pen {
    x_pt: f32,
    is_moved: bool,
}

impl Pen {
    /// Leaves the space before a section.
    pub(super) fn indent(&mut self, leading_space_pt: f32) {
        self.x_pt += leading_space_pt;
    }

    /// The exact place of a glyph in its row; moves on by its advance.
    pub(super) fn place(&mut self, glyph: &Glyph, letter_spacing_pt: f32, pixels_per_point: f32) -> f32 {
        if self.is_moved && 0.0 < glyph.advance_width {
            self.x_pt += letter_spacing_pt;
        }
        self.is_moved = true;
        let x_px = self.x_pt * pixels_per_point;
        // epaint's `SubpixelBin` takes the last eighth of a pixel to the next one.
        let fraction_px = x_px - (x_px + 0.125).floor();
        self.x_pt += glyph.advance_width;
        glyph.pos.x + fraction_px / pixels_per_point
    }
}

/// Calls back with every glyph of the galley, its row and its section, in order.
pub(super) fn for_each<'a>(
    shape: &'a TextShape,
    mut visit: impl FnMut(usize, &'a PlacedRow, &'a Glyph, (usize, &'a TextFormat)),
) {
    let mut sections = Sections { job: &shape.galley.job, byte_idx: 0, section_idx: 0 };
    for (row_idx, row) in shape.galley.rows.iter().enumerate() {
        for glyph in &row.row.glyphs {
            if let Some(section) = sections.next(glyph.chr) {
                visit(row_idx, row, glyph, section);
            }
        }
        if row.ends_with_newline {
            sections.byte_idx += '\n'.len_utf8();
        }
    }
}
