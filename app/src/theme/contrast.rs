//! Contrast after WCAG 2.2, and the text colour that is readable on a given fill.

use egui::{Color32, Rgba};

use super::Theme;

/// Relative luminance of an opaque colour, 0 for black to 1 for white
/// (WCAG 2.2, "relative luminance").
fn luminance(color: Color32) -> f32 {
    let linear = Rgba::from(color.to_opaque());
    0.2126 * linear.r() + 0.7152 * linear.g() + 0.0722 * linear.b()
}

/// Contrast ratio of two opaque colours, 1 (equal) to 21 (black on white).
pub fn contrast(a: Color32, b: Color32) -> f32 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// Nearly black, so that text on bright slices does not look cut out.
/// Any lighter, and there are fills on which neither white nor ink reaches 4.5.
const INK: Color32 = Color32::from_rgb(5, 5, 8);

impl Theme {
    /// The text colour for an opaque fill: white or ink, whichever can be read.
    /// The contrast is 4.5 at the least (fills of luminance 0.18), mostly far more.
    pub fn text_on(&self, fill: Color32) -> Color32 {
        if contrast(Color32::WHITE, fill) < contrast(INK, fill) { INK } else { Color32::WHITE }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Mode, Theme};
    use super::*;

    #[test]
    fn black_on_white_is_21() {
        assert!((contrast(Color32::BLACK, Color32::WHITE) - 21.0).abs() < 0.01);
        assert!((contrast(Color32::RED, Color32::RED) - 1.0).abs() < 1e-6);
    }

    #[test]
    fn text_is_readable_on_every_surface() {
        for mode in [Mode::Dark, Mode::Light] {
            let color = &Theme::of(mode).color;
            let surfaces = [
                color.sunken,
                color.canvas,
                color.panel,
                color.raised,
                color.hovered,
                color.stripe,
                color.selection,
            ];
            let texts = [
                color.text,
                color.text_strong,
                color.text_muted,
                color.accent,
                color.warning,
                color.error,
                color.ok,
            ];
            for surface in surfaces {
                for text in texts {
                    let ratio = contrast(text, surface);
                    assert!(ratio >= 4.5, "{mode:?}: {text:?} on {surface:?} is {ratio}");
                }
            }
            assert!(contrast(color.axis_text, color.canvas) >= 4.5);
            assert!(contrast(color.axis_text, color.panel) >= 4.5);
            assert!(contrast(color.on_accent, color.accent_fill) >= 4.5);
        }
    }

    #[test]
    fn marks_stand_out_from_the_canvas() {
        for mode in [Mode::Dark, Mode::Light] {
            let theme = Theme::of(mode);
            let color = &theme.color;
            let parts = [color.compute, color.communication, color.copy, color.idle, color.host_wait];
            for mark in parts.into_iter().chain(color.palette) {
                let ratio = contrast(mark, color.canvas);
                assert!(ratio >= 2.4, "{mode:?}: {mark:?} on the canvas is {ratio}");
                assert!(contrast(theme.text_on(mark), mark) >= 4.5, "text on {mark:?}");
            }
        }
    }
}
