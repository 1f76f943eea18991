//! All about the selected slice: what it is, when, where, with what, and what it is tied to.

use egui::{RichText, Ui};
use tracecard_analyzers::{Cell, Table};
use tracecard_model::{SliceId, Trace};

use super::Cx;
use crate::command::Command;
use crate::run::Run;
use crate::theme::Theme;
use crate::{describe, fonts, format, short_name, widgets};

/// Ties shown before the rest is only counted.
const MAX_TIES_SHOWN: usize = 12;

/// Show the selected slice.
pub fn ui(ui: &mut Ui, cx: &Cx<'_>) -> Vec<Command> {
    let mut commands = Vec::new();
    let Some(run) = cx.run else {
        widgets::empty_ui(ui, "No trace is open", "Details of the selected slice are shown here.");
        return commands;
    };
    let Some(slice) = cx.selection.filter(|slice| slice.idx() < run.trace.slices.len()) else {
        widgets::empty_ui(ui, "Nothing is selected", "Click a slice in the timeline or a row of a table.");
        return commands;
    };
    let theme = Theme::of_ui(ui);
    egui::ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        egui::Frame::new().inner_margin(theme.space.l).show(ui, |ui| {
            head_ui(ui, theme, &run.trace, slice, &mut commands);
            ties_ui(ui, theme, &run.trace, slice, &mut commands);
            for section in describe::sections(&run.trace, slice) {
                section_ui(ui, theme, section.title, &section.fields);
            }
            if let Some(fields) = of_its_kind(run, slice) {
                section_ui(ui, theme, "All of this name", &fields);
            }
        });
    });
    commands
}

fn head_ui(ui: &mut Ui, theme: &Theme, trace: &Trace, slice: SliceId, commands: &mut Vec<Command>) {
    let name = trace.name(slice);
    let short = short_name::short(name);
    let kind = trace.slices.kinds().get(slice.idx()).map_or("", |kind| describe::kind_title(*kind));
    ui.label(RichText::new(kind).color(theme.color.text_muted));
    ui.label(
        RichText::new(cut(&short, 200))
            .font(fonts::semibold(theme.font.heading))
            .color(theme.color.text_strong),
    );
    if short != name {
        let full = RichText::new(cut(name, 2_000)).font(egui::FontId::monospace(theme.font.small));
        ui.label(full.color(theme.color.text_muted));
    }
    ui.add_space(theme.space.s);
    ui.horizontal_wrapped(|ui| {
        if ui.button("Show").on_hover_text("Bring it into view in the timeline").clicked() {
            commands.push(Command::Reveal(slice));
        }
        if ui.button("Fit").on_hover_text("Fill the timeline with it (F)").clicked() {
            commands.push(Command::FitSelection);
        }
        if ui.button("Copy name").clicked() {
            commands.push(Command::Copy(name.to_owned()));
        }
        if ui.button("Copy all").on_hover_text("Copy all fields as text").clicked() {
            commands.push(Command::Copy(describe::text(trace, slice)));
        }
    });
}

fn ties_ui(ui: &mut Ui, theme: &Theme, trace: &Trace, slice: SliceId, commands: &mut Vec<Command>) {
    let ties = describe::ties(trace, slice);
    if ties.is_empty() {
        return;
    }
    heading_ui(ui, theme, "Tied to");
    for tie in ties.iter().take(MAX_TIES_SHOWN) {
        ui.horizontal(|ui| {
            ui.label(RichText::new(tie.role).color(theme.color.text_muted));
            let name = cut(&short_name::short(trace.name(tie.slice)), 60);
            let dur = format::ns(trace.slices.span(tie.slice).dur_ns() as f64);
            let text = RichText::new(format!("{name} · {dur}")).color(theme.color.accent);
            let response = ui.add(egui::Button::new(text).frame(false).truncate());
            let full = cut(trace.name(tie.slice), 300);
            if response.on_hover_text(full).on_hover_cursor(egui::CursorIcon::PointingHand).clicked() {
                commands.push(Command::Reveal(tie.slice));
            }
        });
    }
    let n_more = ties.len().saturating_sub(MAX_TIES_SHOWN);
    if 0 < n_more {
        ui.label(RichText::new(format!("and {n_more} or more others")).color(theme.color.text_muted));
    }
}

fn section_ui(ui: &mut Ui, theme: &Theme, title: &str, fields: &[describe::Field]) {
    heading_ui(ui, theme, title);
    for (name, value) in fields {
        ui.horizontal_top(|ui| {
            let width_pt = (ui.available_width() * 0.42).min(170.0);
            ui.allocate_ui_with_layout(
                egui::vec2(width_pt, theme.size.row),
                egui::Layout::left_to_right(egui::Align::Min),
                |ui| {
                    ui.set_min_width(width_pt);
                    ui.add(egui::Label::new(RichText::new(*name).color(theme.color.text_muted)).truncate());
                },
            );
            ui.add(egui::Label::new(cut(value, 1_000)).wrap());
        });
    }
}

fn heading_ui(ui: &mut Ui, theme: &Theme, title: &str) {
    ui.add_space(theme.space.l);
    ui.label(RichText::new(title).font(fonts::semibold(theme.font.body)).color(theme.color.text));
    ui.add_space(theme.space.xs);
}

/// How often the name occurs and how long it takes, from the table that lists it.
fn of_its_kind(run: &Run, slice: SliceId) -> Option<Vec<describe::Field>> {
    let name = run.trace.name(slice);
    let device = run.trace.track_of(slice).key.device.and_then(|id| run.trace.devices.get(id.idx()));
    let number = device.map(|row| i64::from(row.number));
    ["kernels", "operators", "apis"].iter().find_map(|id| {
        let table = run.table(id)?;
        let is_row = |row: &usize| {
            let of_device = table.int(*row, "device");
            table.text(*row, "name") == Some(name)
                && (of_device.is_none() || number.is_none() || of_device == number)
        };
        // A name has one row, or one a device or shape; the first is the one with most time.
        let row = (0..table.n_rows()).find(is_row)?;
        Some(statistics(table, row))
    })
}

fn statistics(table: &Table, row: usize) -> Vec<describe::Field> {
    let wanted =
        ["count", "total_ns", "self_device_ns", "share_frac", "mean_ns", "median_ns", "min_ns", "max_ns"];
    let columns = wanted.iter().filter_map(|id| table.column(id));
    columns
        .filter(|column| column.data.cell(row) != Cell::Unknown)
        .map(|column| (column.title, format::cell(column.data.cell(row), column.unit)))
        .collect()
}

/// The first signs of a text, with `…` when there are more.
fn cut(text: &str, n_chars: usize) -> String {
    match text.char_indices().nth(n_chars) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or(text)),
        None => text.to_owned(),
    }
}
