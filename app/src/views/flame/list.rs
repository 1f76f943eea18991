//! The frames beside a sandwich, heaviest first; a click puts one into the middle.

use egui::{Align2, Rect, Response, ScrollArea, Sense, Stroke, Ui, WidgetInfo, vec2};
use tracecard_analyzers::flame::{FlameTree, Frame};

use super::model::Shown;
use super::state::State;
use super::weight_text;
use crate::short_name;
use crate::text_width::TextWidth;
use crate::theme::Theme;

/// Width of the list in points, where there is room.
const LIST_PT: f32 = 320.0;
/// Longer names are cut in the tool-tip.
const MAX_NAME_CHARS: usize = 600;

/// Show the list at the left of `all`; where the rest begins.
pub(super) fn ui(ui: &mut Ui, shown: &Shown, state: &mut State, all: Rect) -> f32 {
    let theme = Theme::of_ui(ui);
    let width_pt = LIST_PT.min(all.width() * 0.4);
    let rect = Rect::from_min_size(all.min, vec2(width_pt, all.height()));
    ui.painter().rect_filled(rect, 0.0, theme.color.panel);
    ui.painter().vline(rect.right() - 0.5, rect.y_range(), Stroke::new(1.0, theme.color.separator));
    let inside = rect.shrink2(vec2(theme.space.s, 0.0));
    let mut list = ui.new_child(egui::UiBuilder::new().id_salt("list").max_rect(inside));
    let tree = &*shown.edited;
    let font = egui::FontId::proportional(theme.font.body);
    let text_width =
        list.ctx().fonts_mut(|fonts| TextWidth::from_advances(|sign| fonts.glyph_width(&font, sign)));
    list.spacing_mut().item_spacing.y = 0.0;
    let (row_pt, n_rows) = (theme.size.row, shown.listed.len());
    let mut chosen = None;
    ScrollArea::vertical().id_salt("listed").auto_shrink(false).show_rows(
        &mut list,
        row_pt,
        n_rows,
        |ui, rows| {
            for (frame, total, own) in rows.filter_map(|row| shown.listed.get(row)) {
                let Some(frame) = tree.frames().get(frame.idx()) else { continue };
                let is_chosen = shown.key.chosen.as_ref() == Some(frame);
                if row_ui(ui, tree, frame, (*total, *own), is_chosen, &text_width).clicked() {
                    chosen = Some(frame.clone());
                }
            }
        },
    );
    if let Some(frame) = chosen {
        state.choose(frame);
    }
    rect.right()
}

fn row_ui(
    ui: &mut Ui,
    tree: &FlameTree,
    frame: &Frame,
    (total, own): (i64, i64),
    is_chosen: bool,
    text_width: &TextWidth,
) -> Response {
    let theme = Theme::of_ui(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), theme.size.row), Sense::click());
    let (total, own) = (weight_text(tree.measure(), total), weight_text(tree.measure(), own));
    response.widget_info(|| {
        WidgetInfo::selected(egui::Role::Button, true, is_chosen, format!("Choose {}, {total}", frame.name))
    });
    let ground = match (is_chosen, response.hovered() || response.has_focus()) {
        (true, _) => Some(theme.color.selection),
        (false, true) => Some(theme.color.hovered),
        (false, false) => None,
    };
    if let Some(color) = ground {
        ui.painter().rect_filled(rect, 2.0, color);
    }
    let font = egui::FontId::proportional(theme.font.body);
    let margin = vec2(theme.space.s, 0.0);
    let right = rect.right_center() - margin;
    let text = ui.painter().text(right, Align2::RIGHT_CENTER, &total, font.clone(), theme.color.text_muted);
    let left = rect.left_center() + margin;
    if let Some(name) = short_name::fit(&frame.name, text.left() - left.x - theme.space.m, text_width) {
        let name = name.replace(['\n', '\r', '\t'], " ");
        ui.painter().text(left, Align2::LEFT_CENTER, name, font, theme.color.text);
    }
    let name: String = frame.name.chars().take(MAX_NAME_CHARS).collect();
    response.on_hover_text(format!("{name}\n{total} in all, {own} itself"))
}
