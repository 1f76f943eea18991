//! The pixel grid: the roundings of epaint 0.37's tessellator (`tessellate_rect`,
//! `tessellate_line_segment`), so that lines are as crisp as in the window.

use egui::emath::GuiRounding as _;
use egui::{Pos2, Rect, Stroke, StrokeKind};

/// A rectangle on the grid, as the tessellator moves it for its stroke.
pub(super) fn rect(rect: Rect, stroke: Stroke, kind: StrokeKind, pixels_per_point: f32) -> Rect {
    let is_centered = kind == StrokeKind::Middle && has_center_pixel(stroke, pixels_per_point);
    if is_centered {
        rect.round_to_pixel_center(pixels_per_point)
    } else {
        rect.round_to_pixels(pixels_per_point)
    }
}

/// A stroke whose middle lies in a pixel, not between two.
fn has_center_pixel(stroke: Stroke, pixels_per_point: f32) -> bool {
    let width_px = stroke.width * pixels_per_point;
    0.0 < width_px && (width_px <= 1.0 || (0.5 * width_px + 0.25).fract() > 0.5)
}

/// A line that is horizontal or vertical, on the grid and with its end pixels whole;
/// any other line as it is.
pub(super) fn line([mut a, mut b]: [Pos2; 2], stroke: Stroke, pixels_per_point: f32) -> [Pos2; 2] {
    if a.x == b.x {
        stroke.round_center_to_pixel(pixels_per_point, &mut a.x);
        b.x = a.x;
        (a.y, b.y) = ends(a.y, b.y, pixels_per_point);
    } else if a.y == b.y {
        stroke.round_center_to_pixel(pixels_per_point, &mut a.y);
        b.y = a.y;
        (a.x, b.x) = ends(a.x, b.x, pixels_per_point);
    }
    [a, b]
}

/// The tessellator moves the ends to pixel centres, a quarter pixel inwards first, and
/// then paints half a pixel more at each end.
fn ends(a: f32, b: f32, pixels_per_point: f32) -> (f32, f32) {
    let pixel = 1.0 / pixels_per_point;
    let forward = if a < b { pixel } else { -pixel };
    let start = (a + 0.25 * forward).round_to_pixel_center(pixels_per_point);
    let end = (b - 0.25 * forward).round_to_pixel_center(pixels_per_point);
    (start - 0.5 * forward, end + 0.5 * forward)
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui::{Color32, pos2};

    #[test]
    fn a_thin_line_fills_whole_pixels() {
        let stroke = Stroke::new(1.0, Color32::WHITE);
        let [a, b] = line([pos2(10.0, 5.2), pos2(20.0, 5.2)], stroke, 1.0);
        assert_eq!([a, b], [pos2(10.0, 5.5), pos2(20.0, 5.5)]);
        let [a, b] = line([pos2(3.3, 8.0), pos2(3.3, 2.0)], stroke, 2.0);
        assert_eq!([a, b], [pos2(3.5, 8.0), pos2(3.5, 2.0)]);
    }
}
