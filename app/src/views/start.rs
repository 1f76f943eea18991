//! What stands in the window before a trace is open: how to open one, what is being opened, what failed.

use std::path::PathBuf;

use egui::{Button, ProgressBar, RichText, Ui, vec2};

use crate::command::Command;
use crate::fonts;
use crate::state::Slot;
use crate::theme::Theme;

/// What happens while no trace is on screen.
#[derive(Clone, Debug, PartialEq)]
pub enum Waiting<'a> {
    /// Nothing: the user chooses.
    ForChoice,
    /// A file is being read.
    ForImport {
        /// What is being done, with the name of the file.
        title: &'a str,
        /// Which part of it.
        phase: &'a str,
        /// Share done; `None` when not known.
        frac: Option<f32>,
    },
    /// It could not be read.
    Failed {
        /// Why, and what to try.
        reason: &'a str,
    },
}

/// Show the start page.
pub fn ui(ui: &mut Ui, waiting: &Waiting<'_>, recent: &[PathBuf]) -> Vec<Command> {
    let mut commands = Vec::new();
    let theme = Theme::of_ui(ui);
    ui.painter().rect_filled(ui.max_rect(), 0.0, theme.color.canvas);
    ui.vertical_centered(|ui| {
        ui.add_space((ui.available_height() * 0.24).max(theme.space.xl));
        ui.set_max_width(560.0_f32.min(ui.available_width()));
        ui.label(RichText::new("Tracecard").font(fonts::semibold(28.0)).color(theme.color.text_strong));
        ui.add_space(theme.space.s);
        ui.label(
            RichText::new("Opens a GPU profile and says where the time went.").color(theme.color.text_muted),
        );
        ui.add_space(theme.space.xl * 1.5);
        match waiting {
            Waiting::ForImport { title, phase, frac } => {
                commands.extend(import_ui(ui, theme, title, phase, *frac));
            }
            Waiting::Failed { reason } => {
                failure_ui(ui, theme, reason);
                ui.add_space(theme.space.l);
                commands.extend(open_ui(ui, theme));
            }
            Waiting::ForChoice => commands.extend(open_ui(ui, theme)),
        }
        if !matches!(waiting, Waiting::ForImport { .. }) {
            commands.extend(recent_ui(ui, theme, recent));
        }
    });
    commands
}

fn open_ui(ui: &mut Ui, theme: &Theme) -> Vec<Command> {
    let mut commands = Vec::new();
    let text = RichText::new("Open a file…").color(theme.color.on_accent).size(theme.font.heading);
    let button = Button::new(text).fill(theme.color.accent_fill).min_size(vec2(170.0, 34.0));
    if ui.add(button).clicked() {
        commands.push(Command::OpenDialog);
    }
    ui.add_space(theme.space.m);
    ui.label(RichText::new("or drop it onto this window").color(theme.color.text_muted));
    ui.add_space(theme.space.xl);
    for (what, how) in [
        ("Nsight Systems", ".nsys-rep, .qdrep, or .sqlite from nsys export"),
        ("PyTorch profiler", ".json, .json.gz, .json.zst, from export_chrome_trace"),
    ] {
        ui.horizontal(|ui| {
            // Centred as a whole: the two columns meet in the middle.
            let half_pt = ui.available_width() * 0.32;
            ui.allocate_ui_with_layout(
                vec2(half_pt, theme.size.row),
                egui::Layout::right_to_left(egui::Align::Center),
                |ui| ui.label(RichText::new(what).color(theme.color.text)),
            );
            ui.label(RichText::new(how).color(theme.color.text_muted));
        });
    }
    commands
}

fn import_ui(ui: &mut Ui, theme: &Theme, title: &str, phase: &str, frac: Option<f32>) -> Vec<Command> {
    let mut commands = Vec::new();
    ui.label(RichText::new(title).font(fonts::semibold(theme.font.heading)).color(theme.color.text));
    ui.add_space(theme.space.m);
    let bar = ProgressBar::new(frac.unwrap_or(0.0)).desired_width(360.0).desired_height(8.0);
    ui.add(bar).accessible_name("Progress");
    ui.add_space(theme.space.s);
    let percent = frac.map_or_else(String::new, |frac| format!(" · {:.0} %", frac * 100.0));
    let phase = if phase.is_empty() { "Starting" } else { phase };
    ui.label(RichText::new(format!("{phase}{percent}")).color(theme.color.text_muted));
    ui.add_space(theme.space.l);
    if ui.button("Cancel").clicked() {
        commands.push(Command::Cancel(Slot::Import));
    }
    commands
}

fn failure_ui(ui: &mut Ui, theme: &Theme, reason: &str) {
    theme.card_frame().show(ui, |ui| {
        ui.set_min_width(ui.available_width());
        ui.vertical(|ui| {
            let title =
                RichText::new("This file could not be opened").font(fonts::semibold(theme.font.heading));
            ui.label(title.color(theme.color.error));
            ui.add_space(theme.space.s);
            ui.label(crate::format::sentence(reason));
        });
    });
}

fn recent_ui(ui: &mut Ui, theme: &Theme, recent: &[PathBuf]) -> Vec<Command> {
    let mut commands = Vec::new();
    if recent.is_empty() {
        return commands;
    }
    ui.add_space(theme.space.xl);
    ui.label(RichText::new("Opened before").color(theme.color.text_muted));
    ui.add_space(theme.space.s);
    for path in recent {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let response = crate::widgets::link_ui(ui, RichText::new(name), theme.color.accent);
        if response.on_hover_text(path.display().to_string()).clicked() {
            commands.push(Command::Open(path.clone()));
        }
    }
    commands
}
