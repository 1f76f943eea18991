//! One colour per name, the same in every run and every view.
//!
//! Names that differ only in digits (`layer12`, `s16816gemm_128x64`) mean the same
//! thing to the reader, so digits do not count.

use egui::Color32;

use super::{Mode, Theme};

/// FNV-1a over the bytes that are no digits. Written out so that a library's next
/// version cannot recolour everybody's timelines.
fn hash_without_digits(name: &str) -> u64 {
    name.bytes().filter(|byte| !byte.is_ascii_digit()).fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// Number of shades of each palette colour, so that fewer names share one: 12 × 3.
const N_SHADES: u64 = 3;

impl Theme {
    /// The colour of a name: a palette colour in one of three shades, chosen by a hash
    /// of the name without its digits. [`Theme::text_on`] gives a readable text colour.
    pub fn color_of_name(&self, name: &str) -> Color32 {
        let hash = hash_without_digits(name);
        let n_colors = self.color.palette.len() as u64;
        let base = self.category((hash % n_colors) as usize);
        let shade = (hash / n_colors % N_SHADES) as f32;
        // On white, whole tracks of full colours would be too heavy.
        let to_canvas = match self.mode {
            Mode::Dark => 0.14 * shade,
            Mode::Light => 0.18 + 0.14 * shade,
        };
        base.lerp_to_gamma(self.color.canvas, to_canvas)
    }
}

#[cfg(test)]
mod tests {
    use super::super::contrast;
    use super::*;

    #[test]
    fn digits_do_not_change_the_colour() {
        let theme = Theme::of(Mode::Dark);
        assert_eq!(theme.color_of_name("layer1"), theme.color_of_name("layer27"));
        assert_eq!(theme.color_of_name(""), theme.color_of_name("42"));
    }

    /// Guards against a change of the hash: colours are part of what people remember.
    #[test]
    fn a_name_keeps_its_colour_for_ever() {
        assert_eq!(hash_without_digits("aten::mm"), 0x983b_9200_d566_222d);
    }

    #[test]
    fn text_is_readable_on_every_name_colour() {
        let names: Vec<String> =
            ('a'..='z').flat_map(|a| ('a'..='z').map(move |b| format!("{a}{b}_kernel"))).collect();
        for mode in [Mode::Dark, Mode::Light] {
            let theme = Theme::of(mode);
            let mut seen = std::collections::BTreeSet::new();
            for name in &names {
                let fill = theme.color_of_name(name);
                seen.insert(fill.to_array());
                assert!(contrast(theme.text_on(fill), fill) >= 4.5, "{fill:?}");
            }
            assert_eq!(seen.len(), 36, "all shades are used");
        }
    }
}
