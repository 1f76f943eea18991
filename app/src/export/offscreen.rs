//! Runs a UI in an egui context of its own, without a window, until it stands still.

use egui::epaint::ClippedShape;
use egui::{Color32, Context, Pos2, RawInput, Rect, Ui, Vec2, ViewportId};

use crate::fonts;
use crate::theme::Theme;

/// Layout in immediate mode needs a second pass where a size depends on contents; more
/// are needed when sizes depend on each other. A UI that never stands still (a spinner)
/// is taken as it is after this many.
const MAX_PASSES: usize = 8;

/// Sizes outside of this are moved to its ends, in points.
const SIZE_PT: std::ops::RangeInclusive<f32> = 1.0..=100_000.0;

/// Scales outside of this are moved to its ends.
const PIXELS_PER_POINT: std::ops::RangeInclusive<f32> = 0.25..=16.0;

/// What a UI painted, ready to be written as SVG.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The shapes in the order of painting, in points.
    pub shapes: Vec<ClippedShape>,
    /// Size of the picture in points.
    pub size_pt: Vec2,
    /// Pixels a point; lines and boxes lie on the grid of these pixels.
    pub pixels_per_point: f32,
    /// Behind everything.
    pub background: Color32,
    /// Whether the last two passes were equal and no further one was asked for.
    pub is_settled: bool,
}

/// Runs `ui` at a size in points and gives back what it painted last.
///
/// Nothing from outside gets in: the time stands still, there is no pointer, no
/// animation, no system font and no memory of earlier runs. `ui` is called at least
/// twice, so it must not change what it shows.
pub fn run(size_pt: Vec2, pixels_per_point: f32, theme: &Theme, mut ui: impl FnMut(&mut Ui)) -> Frame {
    let size_pt = Vec2::new(within(size_pt.x, SIZE_PT), within(size_pt.y, SIZE_PT));
    let pixels_per_point = within(pixels_per_point, PIXELS_PER_POINT);
    let ctx = context(theme);
    let mut frame = Frame {
        shapes: Vec::new(),
        size_pt,
        pixels_per_point,
        background: theme.color.canvas,
        is_settled: false,
    };
    for pass in 0..MAX_PASSES {
        let mut output = ctx.run_ui(input(size_pt, pixels_per_point), &mut ui);
        // egui panics when texture changes are dropped unseen; we need none.
        output.textures_delta.clear();
        let asks_for_more = output
            .viewport_output
            .get(&ViewportId::ROOT)
            .is_some_and(|viewport| viewport.repaint_delay.is_zero());
        let is_equal = 0 < pass && output.shapes == frame.shapes;
        frame.shapes = output.shapes;
        if is_equal && !asks_for_more {
            frame.is_settled = true;
            break;
        }
    }
    frame
}

/// A context with our fonts and style in which nothing moves.
pub(super) fn context(theme: &Theme) -> Context {
    let ctx = Context::default();
    ctx.set_fonts(fonts::definitions());
    theme.apply(&ctx);
    ctx.all_styles_mut(|style| {
        style.animation_time = 0.0;
        style.visuals.text_cursor.blink = false;
    });
    ctx.options_mut(|options| {
        options.zoom_with_keyboard = false;
        // Red frames of debug builds have no place in a picture.
        options.warn_on_id_clash = false;
    });
    ctx
}

pub(super) fn input(size_pt: Vec2, pixels_per_point: f32) -> RawInput {
    let mut input = RawInput {
        screen_rect: Some(Rect::from_min_size(Pos2::ZERO, size_pt)),
        time: Some(0.0),
        ..RawInput::default()
    };
    if let Some(viewport) = input.viewports.get_mut(&ViewportId::ROOT) {
        viewport.native_pixels_per_point = Some(pixels_per_point);
    }
    input
}

/// The nearest value in the range; its start for what is no number.
fn within(value: f32, range: std::ops::RangeInclusive<f32>) -> f32 {
    if value.is_nan() { *range.start() } else { value.clamp(*range.start(), *range.end()) }
}
