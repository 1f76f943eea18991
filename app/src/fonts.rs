//! The bundled fonts: one list for the window, the off-screen context and the
//! SVG → PNG renderer, so that all three lay text out alike.
//!
//! Where the files come from and what is changed in them: `assets/fonts/README.md`.
//! No font has a `FontTweak`: the SVG only knows the font size.

use std::sync::Arc;

use egui::{FontData, FontDefinitions, FontFamily, FontId};

/// One font file with what an SVG needs to name it.
#[derive(Clone, Copy, Debug)]
pub struct Face {
    /// Key in egui's `FontDefinitions`.
    pub key: &'static str,
    /// Family name inside the font file.
    pub family: &'static str,
    /// CSS weight, 400 is regular.
    pub weight: u16,
    /// The TrueType file.
    pub bytes: &'static [u8],
}

const INTER: Face = Face {
    key: "Inter",
    family: "Inter",
    weight: 400,
    bytes: include_bytes!("../../assets/fonts/Inter-Regular.ttf"),
};

const INTER_SEMIBOLD: Face = Face {
    key: "Inter SemiBold",
    family: "Inter",
    weight: 600,
    bytes: include_bytes!("../../assets/fonts/Inter-SemiBold.ttf"),
};

const JETBRAINS_MONO: Face = Face {
    key: "JetBrains Mono",
    family: "JetBrains Mono",
    weight: 400,
    bytes: include_bytes!("../../assets/fonts/JetBrainsMono-Regular.ttf"),
};

/// All bundled faces; a sign that the wanted face lacks is taken from the first
/// one here that has it.
pub const FACES: [Face; 3] = [INTER, JETBRAINS_MONO, INTER_SEMIBOLD];

const SEMIBOLD_NAME: &str = "semibold";

/// The faces of a family, the wanted one first, then the fallbacks.
fn chain(family: &FontFamily) -> [Face; 3] {
    match family {
        FontFamily::Monospace => [JETBRAINS_MONO, INTER, INTER_SEMIBOLD],
        FontFamily::Name(name) if name.as_ref() == SEMIBOLD_NAME => [INTER_SEMIBOLD, JETBRAINS_MONO, INTER],
        FontFamily::Proportional | FontFamily::Name(_) => FACES,
    }
}

/// The face that shows the text of a family; an unknown family is shown as the
/// proportional one.
pub fn face(family: &FontFamily) -> Face {
    let [first, ..] = chain(family);
    first
}

/// The semibold family, for headings and for the one number that matters.
pub fn semibold_family() -> FontFamily {
    FontFamily::Name(SEMIBOLD_NAME.into())
}

/// A font id of the semibold family; `size_pt` in points.
pub fn semibold(size_pt: f32) -> FontId {
    FontId::new(size_pt, semibold_family())
}

/// The bundled fonts for egui. Install them with `ctx.set_fonts` before the first
/// frame: a family that egui does not know draws boxes.
pub fn definitions() -> FontDefinitions {
    let mut definitions = FontDefinitions::empty();
    for face in FACES {
        let data = Arc::new(FontData::from_static(face.bytes));
        definitions.font_data.insert(face.key.to_owned(), data);
    }
    for family in [FontFamily::Proportional, FontFamily::Monospace, semibold_family()] {
        let keys = chain(&family).map(|face| face.key.to_owned()).to_vec();
        definitions.families.insert(family, keys);
    }
    definitions
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every sign that the program writes itself; names in traces are another matter.
    const SIGNS: &str = "▲▼▶◀⏵⏴⏶⏷▸▾◂▴…·→←↑↓×÷±≤≥≈≠µμσΔΣ∑–—−✓✕✗⚠●○■□◆•⌘⇧°²³\u{2009}\u{202f}\u{a0}";

    fn laid_out(check: impl Fn(&mut egui::epaint::FontsView<'_>)) {
        let mut fonts = egui::epaint::Fonts::new(egui::epaint::TextOptions::default(), definitions());
        check(&mut fonts.with_pixels_per_point(1.0));
    }

    #[test]
    fn every_sign_of_the_program_is_in_the_bundled_fonts() {
        laid_out(|fonts| {
            for font in [FontId::proportional(13.0), FontId::monospace(12.0), semibold(15.0)] {
                for sign in SIGNS.chars() {
                    assert!(fonts.has_glyph(&font, sign), "{font:?} lacks {sign:?}");
                }
            }
        });
    }

    #[test]
    fn digits_are_equally_wide_so_columns_line_up() {
        laid_out(|fonts| {
            for font in [FontId::proportional(13.0), FontId::monospace(12.0), semibold(15.0)] {
                let zero = fonts.glyph_width(&font, '0');
                for digit in '1'..='9' {
                    assert_eq!(fonts.glyph_width(&font, digit), zero, "{font:?} {digit}");
                }
            }
        });
    }

    #[test]
    fn arrows_in_names_stay_as_written() {
        laid_out(|fonts| {
            let job = |text: &str| {
                fonts
                    .layout_no_wrap(text.to_owned(), FontId::proportional(16.0), egui::Color32::WHITE)
                    .rows
                    .iter()
                    .flat_map(|row| row.row.glyphs.iter().map(|glyph| glyph.advance_width))
                    .sum::<f32>()
            };
            let mut job = job;
            let apart = job("-") + job(">");
            assert!((job("->") - apart).abs() < 2.0, "no ligature for ->");
        });
    }
}
