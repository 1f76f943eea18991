//! Devices and counters of the stretch.

use egui::{Align, Color32, Layout, RichText, Ui};
use tracecard_analyzers::Cause;
use tracecard_analyzers::selection::{DeviceInside, Selected};

use crate::run::Run;
use crate::theme::Theme;
use crate::widgets::{self, Part};
use crate::{fonts, format};

/// What each device does, as a bar and in words.
pub(super) fn devices_ui(ui: &mut Ui, theme: &Theme, run: &Run, selected: &Selected) {
    if selected.devices.is_empty() {
        let text = if run.analysis().is_some() {
            "The selection holds no device that has work."
        } else {
            "What devices do is known as soon as the run is analysed."
        };
        widgets::empty_ui(ui, "No device", text);
        return;
    }
    egui::ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        egui::Frame::new().inner_margin(theme.space.l).show(ui, |ui| {
            for inside in &selected.devices {
                device_ui(ui, theme, run, inside);
                ui.add_space(theme.space.l);
            }
        });
    });
}

fn device_ui(ui: &mut Ui, theme: &Theme, run: &Run, inside: &DeviceInside) {
    let row = run.trace.devices.get(inside.device.idx());
    let number = row.map_or_else(String::new, |row| row.number.to_string());
    ui.horizontal(|ui| {
        let title = RichText::new(format!("GPU {number}")).font(fonts::semibold(theme.font.body));
        ui.label(title);
        let name = row.and_then(|row| row.name.as_deref()).unwrap_or_default();
        ui.add(egui::Label::new(RichText::new(name).color(theme.color.text_muted)).truncate());
    });
    let all_ns = inside.span.dur_ns();
    if all_ns <= 0 {
        ui.label(RichText::new("Outside of what was analysed").color(theme.color.text_muted));
        return;
    }
    let parts: Vec<(String, i64, Color32)> = parts(inside, theme);
    let bar: Vec<Part> = parts
        .iter()
        .map(|(label, ns, color)| Part {
            frac: *ns as f64 / all_ns as f64,
            color: *color,
            label: label.clone(),
        })
        .collect();
    widgets::stacked_bar_ui(ui, ("selected device", inside.device.0), &bar, 14.0);
    for (label, ns, color) in &parts {
        ui.horizontal(|ui| {
            let (rect, _) = ui.allocate_exact_size(egui::vec2(8.0, 8.0), egui::Sense::hover());
            ui.painter().rect_filled(rect, 2.0, *color);
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                let share = format!("{:>7}", format::percent(*ns as f64 / all_ns as f64));
                ui.label(RichText::new(share).color(theme.color.text_muted));
                ui.label(format::ns(*ns as f64));
                ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                    ui.add(egui::Label::new(label).truncate());
                });
            });
        });
    }
    if 0 < inside.n_gaps {
        let text = format!(
            "{}, the longest {}",
            format::counted(inside.n_gaps, "gap"),
            format::ns(inside.longest_gap_ns as f64)
        );
        ui.label(RichText::new(text).color(theme.color.text_muted));
    }
}

/// What the time goes to; what takes none is left out.
fn parts(inside: &DeviceInside, theme: &Theme) -> Vec<(String, i64, Color32)> {
    let (split, color) = (&inside.split, &theme.color);
    let mut parts = vec![
        ("Compute".to_owned(), split.compute_ns, color.compute),
        ("Communication".to_owned(), split.exposed_comm_ns, color.communication),
        ("Copies".to_owned(), split.exposed_copy_ns, color.copy),
    ];
    for (cause, ns) in Cause::ALL.iter().zip(split.idle_by_cause_ns) {
        let shade = if *cause == Cause::HostWait { color.host_wait } else { color.idle };
        parts.push((format!("Idle: {}", crate::describe::cause_title(*cause)), ns, shade));
    }
    parts.retain(|(_, ns, _)| 0 < *ns);
    parts
}

/// Counters and metrics with least, mean and greatest value.
pub(super) fn counters_ui(ui: &mut Ui, theme: &Theme, run: &Run, selected: &Selected) {
    if selected.counters.is_empty() {
        widgets::empty_ui(ui, "No counter", "No counter or metric of the selection has a value in it.");
        return;
    }
    let several = 1 < run.trace.devices.len();
    egui::ScrollArea::both().auto_shrink(false).show(ui, |ui| {
        egui::Frame::new().inner_margin(theme.space.l).show(ui, |ui| {
            egui::Grid::new("counters inside")
                .num_columns(4)
                .striped(true)
                .spacing([theme.space.l, theme.space.s])
                .show(ui, |ui| {
                    for heading in ["Counter", "Mean", "Min", "Max"] {
                        ui.label(RichText::new(heading).color(theme.color.text_muted));
                    }
                    ui.end_row();
                    for counter in &selected.counters {
                        let device = counter.device.filter(|_| several);
                        let number =
                            device.and_then(|id| run.trace.devices.get(id.idx())).map(|row| row.number);
                        let suffix = number.map_or_else(String::new, |number| format!(" · GPU {number}"));
                        ui.label(format!("{}{suffix}", counter.name));
                        let summary = &counter.summary;
                        for value in [summary.mean, summary.min, summary.max] {
                            ui.label(format::counter_value(value, counter.unit));
                        }
                        ui.end_row();
                    }
                });
        });
    });
}
