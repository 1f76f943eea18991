//! Small parts that several views share.

use egui::{Align, Button, Color32, Layout, Rect, Response, RichText, Sense, Ui, WidgetInfo, pos2, vec2};

use crate::fonts;
use crate::theme::Theme;

/// Wider lines of a sentence are hard to read, in points.
const MAX_SENTENCE_PT: f32 = 460.0;

/// A sentence in the middle of a view that has nothing else to show: what is the matter, and what helps.
pub fn empty_ui(ui: &mut Ui, title: &str, text: &str) {
    let theme = Theme::of_ui(ui);
    let margin_pt = ((ui.available_width() - MAX_SENTENCE_PT) / 2.0).clamp(theme.space.l, 4_000.0);
    let all = ui.available_rect_before_wrap();
    let rect = all.shrink2(vec2(margin_pt, 0.0));
    let mut centred = ui.new_child(egui::UiBuilder::new().max_rect(rect).layout(Layout::top_down(Align::Center)));
    centred.add_space((rect.height() * 0.3).max(theme.space.l));
    centred.label(RichText::new(title).font(fonts::semibold(theme.font.heading)).color(theme.color.text));
    centred.label(RichText::new(text).color(theme.color.text_muted));
    ui.advance_cursor_after_rect(all);
}

/// A button that reads as a part of a sentence.
pub fn link_ui(ui: &mut Ui, text: RichText, color: Color32) -> Response {
    let response = ui.add(Button::new(text.color(color)).frame(false).min_size(vec2(0.0, 0.0)));
    if response.hovered() || response.has_focus() {
        let rect = response.rect;
        ui.painter().hline(rect.x_range(), rect.bottom() - 1.0, egui::Stroke::new(1.0, color));
    }
    response.on_hover_cursor(egui::CursorIcon::PointingHand)
}

/// A rounded word on a coloured ground: a count of warnings, a state.
pub fn badge_ui(ui: &mut Ui, text: &str, color: Color32) -> Response {
    let theme = Theme::of_ui(ui);
    let galley =
        ui.painter().layout_no_wrap(text.to_owned(), egui::FontId::proportional(theme.font.body), color);
    let size = galley.size() + vec2(2.0 * theme.space.m, theme.space.s);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    response.widget_info(|| WidgetInfo::labeled(egui::Role::Button, true, text));
    let ground = if response.hovered() { theme.color.hovered } else { theme.color.raised };
    ui.painter().rect(
        rect,
        rect.height() / 2.0,
        ground,
        egui::Stroke::new(1.0, color.gamma_multiply(0.6)),
        egui::StrokeKind::Inside,
    );
    ui.painter().galley(rect.center() - galley.size() / 2.0, galley, color);
    response.on_hover_cursor(egui::CursorIcon::PointingHand)
}

/// One part of a stacked bar.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Share of the bar, 0–1.
    pub frac: f64,
    /// Fill.
    pub color: Color32,
    /// What it is, for tool-tip and screen reader.
    pub label: String,
}

/// A bar of parts side by side; the index of the part that was clicked.
pub fn stacked_bar_ui(
    ui: &mut Ui,
    id_salt: impl egui::AsIdSalt,
    parts: &[Part],
    height_pt: f32,
) -> Option<usize> {
    let theme = Theme::of_ui(ui);
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), height_pt), Sense::hover());
    ui.painter().rect_filled(rect, 2.0, theme.color.sunken);
    let base = ui.make_persistent_id(id_salt);
    let mut left_pt = rect.left();
    let mut clicked = None;
    for (idx, part) in parts.iter().enumerate() {
        let width_pt = rect.width() * part.frac.clamp(0.0, 1.0) as f32;
        let right_pt = (left_pt + width_pt).min(rect.right());
        let piece = Rect::from_min_max(pos2(left_pt, rect.top()), pos2(right_pt, rect.bottom()));
        left_pt = right_pt;
        if piece.width() < 0.5 {
            continue;
        }
        let response = ui.interact(piece, base.with(idx), Sense::click());
        response.widget_info(|| WidgetInfo::labeled(egui::Role::Button, true, &part.label));
        let gap_pt = if 3.0 < piece.width() { 1.0 } else { 0.0 };
        let painted = Rect::from_min_max(piece.min, pos2(piece.right() - gap_pt, piece.bottom()));
        ui.painter().rect_filled(painted, 0.0, part.color);
        if response.hovered() {
            ui.painter().rect_stroke(
                painted,
                0.0,
                egui::Stroke::new(1.0, theme.color.text_strong),
                egui::StrokeKind::Inside,
            );
        }
        if response.clicked() {
            clicked = Some(idx);
        }
        response.on_hover_text(&part.label).on_hover_cursor(egui::CursorIcon::PointingHand);
    }
    clicked
}

/// A name on the left, a value on the right, on one line; the name gives way.
pub fn pair_ui(ui: &mut Ui, name: RichText, value: RichText) {
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        ui.label(value);
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            ui.add(egui::Label::new(name).truncate());
        });
    });
}

/// A box to type a filter in; true when it changed.
pub fn filter_ui(ui: &mut Ui, text: &mut String, label: &str, width_pt: f32) -> Response {
    let edit = egui::TextEdit::singleline(text).hint_text(label).desired_width(width_pt);
    ui.add(edit).accessible_name(label)
}
