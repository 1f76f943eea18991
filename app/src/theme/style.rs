//! Makes egui's widgets follow the tokens: quiet surfaces, one-pixel lines, one accent,
//! text that only changes colour when it means something.

use egui::epaint::{FontColorTransferFunction, TextOptions};
use egui::style::{ScrollAnimation, ScrollStyle, Selection, TextCursorStyle, WidgetVisuals, Widgets};
use egui::{
    Color32, Context, CornerRadius, FontFamily, FontId, Margin, Shadow, Stroke, Style, TextStyle, Visuals,
    vec2,
};

use super::{Mode, Theme};
use crate::fonts;

/// Width of all lines of the interface.
const LINE_PT: f32 = 1.0;

impl Theme {
    /// Makes a context look like this theme: both modes get their style, and the mode
    /// of this theme is shown. The fonts of [`fonts::definitions`] must be installed.
    pub fn apply(&self, ctx: &Context) {
        for (mode, egui_theme) in [(Mode::Dark, egui::Theme::Dark), (Mode::Light, egui::Theme::Light)] {
            ctx.set_style_of(egui_theme, Theme::of(mode).style());
        }
        ctx.set_theme(if self.is_dark() { egui::Theme::Dark } else { egui::Theme::Light });
    }

    /// The egui style of this theme.
    pub fn style(&self) -> Style {
        let mut style = Style {
            visuals: self.visuals(),
            animation_time: 0.08,
            scroll_animation: ScrollAnimation::none(),
            ..Style::default()
        };
        let font = &self.font;
        style.text_styles = [
            (TextStyle::Small, FontId::proportional(font.small)),
            (TextStyle::Body, FontId::proportional(font.body)),
            (TextStyle::Button, FontId::proportional(font.body)),
            (TextStyle::Monospace, FontId::new(font.mono, FontFamily::Monospace)),
            (TextStyle::Heading, fonts::semibold(font.heading)),
        ]
        .into();

        let space = &self.space;
        let spacing = &mut style.spacing;
        spacing.item_spacing = vec2(space.m, space.s);
        spacing.button_padding = vec2(space.control_x, space.control_y);
        spacing.interact_size = vec2(2.0 * self.size.control, self.size.control);
        spacing.window_margin = Margin::same(margin(space.l));
        spacing.menu_margin = Margin::same(margin(space.s));
        spacing.indent = space.l;
        spacing.icon_width = 14.0;
        spacing.icon_width_inner = 8.0;
        spacing.icon_spacing = space.s;
        spacing.slider_rail_height = space.s;
        spacing.tooltip_width = 420.0;
        spacing.scroll = ScrollStyle {
            bar_width: 8.0,
            floating_width: 4.0,
            bar_inner_margin: 2.0,
            ..ScrollStyle::floating()
        };

        // egui points at badly rounded widgets in debug builds; our pictures are to be
        // the same in every build.
        #[cfg(debug_assertions)]
        {
            style.debug.show_unaligned = false;
        }
        style
    }

    fn visuals(&self) -> Visuals {
        let color = &self.color;
        let base = match self.mode {
            Mode::Dark => Visuals::dark(),
            Mode::Light => Visuals::light(),
        };
        let radius_panel = CornerRadius::same(radius(self.size.radius_panel));
        let shadow = Shadow { offset: [0, 4], blur: 16, spread: 0, color: color.shadow };
        Visuals {
            text_options: self.text_options(base.text_options),
            weak_text_color: Some(color.text_muted),
            widgets: self.widgets(),
            selection: Selection {
                bg_fill: color.selection,
                stroke: Stroke::new(LINE_PT, color.text_strong),
            },
            hyperlink_color: color.accent,
            faint_bg_color: color.stripe,
            extreme_bg_color: color.sunken,
            text_edit_bg_color: Some(color.sunken),
            code_bg_color: color.sunken,
            warn_fg_color: color.warning,
            error_fg_color: color.error,
            window_corner_radius: radius_panel,
            window_shadow: shadow,
            window_fill: color.raised,
            window_stroke: Stroke::new(LINE_PT, color.outline),
            window_highlight_topmost: false,
            menu_corner_radius: radius_panel,
            panel_fill: color.panel,
            popup_shadow: shadow,
            text_cursor: TextCursorStyle {
                stroke: Stroke::new(1.5, color.accent),
                ..TextCursorStyle::default()
            },
            collapsing_header_frame: false,
            indent_has_left_vline: false,
            striped: false,
            slider_trailing_fill: true,
            ..base
        }
    }

    /// egui makes light text on dark grounds bold; half of that keeps small text open
    /// and close to what an exported picture shows.
    fn text_options(&self, base: TextOptions) -> TextOptions {
        match self.mode {
            Mode::Dark => {
                TextOptions { color_transfer_function: FontColorTransferFunction::Gamma(0.75), ..base }
            }
            Mode::Light => base,
        }
    }

    fn widgets(&self) -> Widgets {
        let color = &self.color;
        let visuals = |fill: Color32, line: Color32, text: Color32| WidgetVisuals {
            bg_fill: fill,
            weak_bg_fill: fill,
            bg_stroke: Stroke::new(LINE_PT, line),
            fg_stroke: Stroke::new(LINE_PT, text),
            corner_radius: CornerRadius::same(radius(self.size.radius_control)),
            expansion: 0.0,
        };
        Widgets {
            noninteractive: visuals(color.panel, color.separator, color.text),
            inactive: visuals(color.raised, color.outline, color.text),
            hovered: visuals(color.hovered, color.outline, color.text_strong),
            active: visuals(color.pressed, color.accent, color.text_strong),
            open: visuals(color.hovered, color.outline, color.text_strong),
        }
    }

    /// A plot with a quiet grid; egui_plot would draw it in the colour of text.
    pub fn plot<'a>(&self, id_salt: impl egui::AsIdSalt) -> egui_plot::Plot<'a> {
        egui_plot::Plot::new(id_salt)
            .grid_color(self.color.outline)
            .show_background(false)
            .show_crosshair(false)
    }

    /// The frame of a panel that touches its neighbours: fill and inner distance, no line;
    /// the panel's separator draws that.
    pub fn panel_frame(&self) -> egui::Frame {
        egui::Frame::new()
            .fill(self.color.panel)
            .inner_margin(Margin::symmetric(margin(self.space.m), margin(self.space.s)))
    }

    /// The frame of a canvas: plots, timelines, tables.
    pub fn canvas_frame(&self) -> egui::Frame {
        egui::Frame::new().fill(self.color.canvas)
    }

    /// The frame of a card on a canvas.
    pub fn card_frame(&self) -> egui::Frame {
        egui::Frame::new()
            .fill(self.color.panel)
            .stroke(Stroke::new(LINE_PT, self.color.separator))
            .corner_radius(CornerRadius::same(radius(self.size.radius_panel)))
            .inner_margin(Margin::same(margin(self.space.l)))
    }
}

/// egui keeps margins in whole points.
fn margin(points: f32) -> i8 {
    points.round().clamp(0.0, 127.0) as i8
}

/// egui keeps radii in whole points.
fn radius(points: f32) -> u8 {
    points.round().clamp(0.0, 255.0) as u8
}
