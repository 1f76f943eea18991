//! What the pointer points at, in words.

use egui::{PopupAnchor, Response, RichText, Tooltip, Ui};
use tracecard_analyzers::flame::{Measure, NodeId};

use super::layout::Bar;
use super::model::Shown;
use super::state::View;
use super::{layer_title, weight_text};
use crate::format;
use crate::theme::Theme;

/// Names longer than this are cut; "Copy stack" has them whole.
const MAX_NAME_CHARS: usize = 600;

pub(super) fn ui(ui: &Ui, response: &Response, shown: &Shown, bar: &Bar) {
    let tooltip =
        Tooltip::always_open(ui.ctx().clone(), ui.layer_id(), response.id, PopupAnchor::Pointer).gap(14.0);
    tooltip.show(|ui| {
        ui.set_max_width(520.0);
        match bar.node {
            Some(_) if 0 < bar.n_folded => fold_ui(ui, shown, bar),
            Some(node) => frame_ui(ui, shown, bar, node),
            None => {
                ui.label(RichText::new("All that is counted").strong());
                ui.label(weight_text(shown.below.measure(), bar.weight));
            }
        }
    });
}

fn fold_ui(ui: &mut Ui, shown: &Shown, bar: &Bar) {
    let theme = Theme::of_ui(ui);
    let what = format!("{} too narrow to show", format::counted(bar.n_folded, "frame"));
    ui.label(RichText::new(what).strong());
    ui.label(format!("{} together", weight_text(shown.below.measure(), bar.weight)));
    ui.label(RichText::new("Zoom to their caller to see them").color(theme.color.text_muted));
}

fn frame_ui(ui: &mut Ui, shown: &Shown, bar: &Bar, node: NodeId) {
    let theme = Theme::of_ui(ui);
    let frame = shown.tree(bar.side).frame(node);
    let mut name: String = frame.name.chars().take(MAX_NAME_CHARS).collect();
    if name.len() < frame.name.len() {
        name.push('…');
    }
    ui.label(RichText::new(name).strong());
    ui.label(RichText::new(layer_title(frame.layer)).color(theme.color.text_muted));
    egui::Grid::new("tooltip").num_columns(2).spacing([theme.space.l, theme.space.xs]).show(ui, |ui| {
        for (title, value) in fields(shown, bar, node) {
            ui.label(RichText::new(title).color(theme.color.text_muted));
            ui.label(value);
            ui.end_row();
        }
    });
}

/// Title and value of each line.
pub(super) fn fields(shown: &Shown, bar: &Bar, node: NodeId) -> Vec<(&'static str, String)> {
    let tree = shown.tree(bar.side);
    let measure = tree.measure();
    let share = |of: i64| (0 < of).then(|| format::percent(tree.weight(node) as f64 / of as f64));
    let mut fields = vec![("Total", weight_text(measure, tree.weight(node)))];
    if matches!(shown.key.view, View::TopDown | View::LeftHeavy)
        || bar.side == super::Side::Below && shown.key.view == View::Sandwich
    {
        fields.push(("Self", weight_text(measure, tree.own_weight(node))));
    }
    fields.extend(share(shown.edited.total()).map(|share| ("Share of all", share)));
    if let Some(parent) = tree.parent(node) {
        let title = match shown.key.view {
            View::TopDown | View::LeftHeavy => "Share of its caller",
            View::BottomUp | View::Sandwich => "Share of the frame before",
        };
        fields.extend(share(tree.weight(parent)).map(|share| (title, share)));
    }
    let count = format::count(i64::try_from(tree.count(node)).unwrap_or(i64::MAX));
    match measure {
        Measure::CpuNs => fields.push(("Slices", count)),
        Measure::DeviceNs if tree.frame(node).layer == tracecard_analyzers::flame::Layer::Idle => {
            fields.push(("Gaps", count));
        }
        Measure::DeviceNs => fields.push(("Device slices", count)),
        Measure::Samples => {}
    }
    fields
}
