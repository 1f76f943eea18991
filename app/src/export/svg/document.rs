//! The growing SVG: elements in paint order, definitions, and clip groups that are only
//! opened when a clip cuts something off.

use std::collections::BTreeMap;

use egui::emath::{GuiRounding as _, TSTransform};
use egui::{Color32, FontFamily, Rect, Vec2};

use super::{number, paint};
use crate::fonts;

/// Cutting off less than this is not seen, in points.
const CLIP_TOLERANCE_PT: f32 = 0.02;

/// An SVG under construction.
pub(super) struct Document {
    pub(super) pixels_per_point: f32,
    screen: Rect,
    body: String,
    definitions: String,
    /// Edges of a clip in hundredths of a point → its number.
    clip_ids: BTreeMap<[i64; 4], usize>,
    n_definitions: usize,
    open_clip: Option<Rect>,
    /// Inside of a transformed group no clip may be opened or closed.
    is_in_transform: bool,
    n_left_out: usize,
}

impl Document {
    pub(super) fn new(size_pt: Vec2, pixels_per_point: f32) -> Self {
        Self {
            pixels_per_point,
            screen: Rect::from_min_size(egui::Pos2::ZERO, size_pt),
            body: String::new(),
            definitions: String::new(),
            clip_ids: BTreeMap::new(),
            n_definitions: 0,
            open_clip: None,
            is_in_transform: false,
            n_left_out: 0,
        }
    }

    /// The part of a clip rectangle that lies in the picture, on whole pixels as the
    /// window's scissor is. Not positive when nothing can be seen.
    pub(super) fn clip(&self, clip: Rect) -> Rect {
        let clip = clip.intersect(self.screen);
        clip.round_to_pixels(self.pixels_per_point)
    }

    /// Counts a shape that has no vector form.
    pub(super) fn leave_out(&mut self) {
        self.n_left_out += 1;
    }

    /// Where to append an element that covers `bounds`, seen through `clip`. `None` when
    /// nothing of it can be seen.
    pub(super) fn visible(&mut self, clip: &Rect, bounds: Rect) -> Option<&mut String> {
        let is_seen =
            bounds.is_finite() && !bounds.is_negative() && clip.is_positive() && bounds.intersects(*clip);
        if !is_seen {
            return None;
        }
        if !self.is_in_transform {
            self.go_to_clip(clip, bounds);
        }
        Some(&mut self.body)
    }

    fn go_to_clip(&mut self, clip: &Rect, bounds: Rect) {
        let is_inside = |outer: &Rect| outer.expand(CLIP_TOLERANCE_PT).contains_rect(bounds);
        // The edge of the picture clips by itself.
        let is_cut = !is_inside(clip) && !clip.contains_rect(self.screen);
        match (self.open_clip, is_cut) {
            (None, false) => {}
            (Some(open), false) if is_inside(&open) => {}
            (Some(open), true) if open == *clip => {}
            (open, _) => {
                if open.is_some() {
                    self.body.push_str("</g>\n");
                }
                self.open_clip = is_cut.then_some(*clip);
                if is_cut {
                    let id = self.clip_id(clip);
                    self.body.push_str(&format!("<g clip-path=\"url(#c{id})\">\n"));
                }
            }
        }
    }

    fn clip_id(&mut self, clip: &Rect) -> usize {
        let key = [clip.min.x, clip.min.y, clip.max.x, clip.max.y]
            .map(|edge| (f64::from(edge) * 100.0).round() as i64);
        let n_clips = self.clip_ids.len();
        let id = *self.clip_ids.entry(key).or_insert(n_clips);
        if id == n_clips {
            let out = &mut self.definitions;
            out.push_str(&format!("<clipPath id=\"c{id}\"><rect"));
            rect_attributes(out, *clip);
            out.push_str("/></clipPath>\n");
        }
        id
    }

    /// Writes elements inside of a group that moves and scales them.
    pub(super) fn transformed(
        &mut self,
        clip: &Rect,
        bounds: Rect,
        transform: TSTransform,
        contents: impl FnOnce(&mut Self),
    ) {
        let Some(out) = self.visible(clip, bounds) else {
            return;
        };
        out.push_str("<g transform=\"translate(");
        number::pair(out, transform.translation.x, transform.translation.y);
        out.push_str(&format!(") scale({:.4})\">\n", transform.scaling));
        self.in_group(contents);
    }

    /// Writes into a group whose start tag was just written, and closes it. Coordinates
    /// inside are the group's own, so clips may not begin or end there.
    pub(super) fn in_group(&mut self, contents: impl FnOnce(&mut Self)) {
        let was_in_transform = std::mem::replace(&mut self.is_in_transform, true);
        contents(self);
        self.is_in_transform = was_in_transform;
        self.body.push_str("</g>\n");
    }

    /// Adds a definition that is referred to by the id given to `write`.
    pub(super) fn define(&mut self, write: impl FnOnce(&mut String, &str)) -> String {
        let id = format!("d{}", self.n_definitions);
        self.n_definitions += 1;
        write(&mut self.definitions, &id);
        self.definitions.push('\n');
        id
    }

    /// The finished document on an opaque ground.
    pub(super) fn finish(mut self, background: Color32) -> String {
        if self.open_clip.is_some() {
            self.body.push_str("</g>\n");
        }
        let mut out = String::with_capacity(self.body.len() + self.definitions.len() + 1024);
        out.push_str("<svg xmlns=\"http://www.w3.org/2000/svg\" xml:space=\"preserve\"");
        let Vec2 { x, y } = self.screen.size();
        number::attribute(&mut out, "width", x);
        number::attribute(&mut out, "height", y);
        out.push_str(" viewBox=\"0 0 ");
        number::pair(&mut out, x, y);
        out.push_str("\">\n<style>");
        out.push_str(&style());
        out.push_str("</style>\n");
        if !self.definitions.is_empty() {
            out.push_str(&format!("<defs>\n{}</defs>\n", self.definitions));
        }
        out.push_str("<rect");
        rect_attributes(&mut out, self.screen);
        paint::color(&mut out, "fill", background);
        out.push_str("/>\n");
        out.push_str(&self.body);
        if 0 < self.n_left_out {
            let n = self.n_left_out;
            out.push_str(&format!("<!-- {n} shapes without a vector form are left out -->\n"));
        }
        out.push_str("</svg>\n");
        out
    }
}

/// Appends ` x y width height`.
pub(super) fn rect_attributes(out: &mut String, rect: Rect) {
    number::attribute(out, "x", rect.min.x);
    number::attribute(out, "y", rect.min.y);
    number::attribute(out, "width", rect.width());
    number::attribute(out, "height", rect.height());
}

/// The class of a text's font family.
pub(super) fn font_class(family: &FontFamily) -> &'static str {
    match (family, fonts::face(family).weight) {
        (FontFamily::Monospace, _) => "m",
        (_, 400) => "p",
        _ => "b",
    }
}

/// One class a family. Viewers with the unchanged fonts are asked for what ours do by
/// themselves: digits of equal width, no ligatures.
fn style() -> String {
    let class = |family: FontFamily| {
        let name = font_class(&family);
        let face = fonts::face(&family);
        let generic = match family {
            FontFamily::Monospace => "monospace",
            _ => "sans-serif",
        };
        let mut families = format!("'{}'", face.family);
        for other in fonts::FACES {
            let quoted = format!("'{}'", other.family);
            if !families.contains(&quoted) {
                families.push(',');
                families.push_str(&quoted);
            }
        }
        let weight = face.weight;
        format!(".{name}{{font-family:{families},{generic};font-weight:{weight}}}")
    };
    let families = [FontFamily::Proportional, FontFamily::Monospace, fonts::semibold_family()];
    let classes: String = families.into_iter().map(class).collect();
    format!("text{{font-variant:tabular-nums no-common-ligatures no-contextual}}{classes}")
}
