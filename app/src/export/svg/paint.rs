//! egui's colours and strokes as SVG attributes.

use egui::Color32;

use super::number;

/// Appends ` name="#rrggbb"` and, unless opaque, ` name-opacity="…"`.
pub(super) fn color(out: &mut String, name: &str, color: Color32) {
    let (rgb, opacity) = unmultiplied(color);
    out.push_str(&format!(" {name}=\"{rgb}\""));
    if opacity < 1.0 {
        number::attribute(out, &format!("{name}-opacity"), opacity);
    }
}

/// `#rrggbb` and the opacity. A colour that adds light (alpha below its channels) becomes
/// the translucent colour that comes closest on a dark ground.
pub(super) fn unmultiplied(color: Color32) -> (String, f32) {
    let [r, g, b, a] = color.to_array();
    let alpha = a.max(r).max(g).max(b);
    let channel = |premultiplied: u8| match u32::from(alpha) {
        0 => 0,
        alpha => (u32::from(premultiplied) * 255 + alpha / 2) / alpha,
    };
    let rgb = format!("#{:02x}{:02x}{:02x}", channel(r), channel(g), channel(b));
    (rgb, f32::from(alpha) / 255.0)
}

/// Whether nothing would be seen.
pub(super) fn is_invisible(color: Color32) -> bool {
    color == Color32::TRANSPARENT
}

/// Appends fill, or ` fill="none"`.
pub(super) fn fill(out: &mut String, fill: Color32) {
    if is_invisible(fill) {
        out.push_str(" fill=\"none\"");
    } else {
        color(out, "fill", fill);
    }
}

/// Appends colour and width of a line.
pub(super) fn stroke(out: &mut String, width_pt: f32, stroke: Color32) {
    color(out, "stroke", stroke);
    number::attribute(out, "stroke-width", width_pt);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn translucent_colours_are_unmultiplied() {
        let mut out = String::new();
        color(&mut out, "fill", Color32::from_rgba_unmultiplied(255, 0, 0, 128));
        assert_eq!(out, " fill=\"#ff0000\" fill-opacity=\"0.5\"");
    }

    #[test]
    fn added_light_becomes_translucent() {
        let (rgb, opacity) = unmultiplied(Color32::from_additive_luminance(51));
        assert_eq!((rgb.as_str(), opacity), ("#ffffff", 0.2));
    }
}
