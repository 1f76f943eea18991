//! The bars around the dock: menus at the top, jobs and facts at the bottom, messages between.

use egui::{Align, Button, Layout, Panel, ProgressBar, RichText, Ui};

use super::App;
use crate::command::{ACTIONS, Command, Menu};
use crate::state::{Slot, Wheel};
use crate::theme::Theme;
use crate::views::ViewId;
use crate::views::health::Badge;
use crate::{fonts, format, widgets};

impl App {
    pub(super) fn menu_bar_ui(&self, ui: &mut Ui) -> Vec<Command> {
        let theme = Theme::of_ui(ui);
        let mut commands = Vec::new();
        let frame = theme.panel_frame();
        Panel::top("menu bar").frame(frame).exact_size(theme.size.bar).show(ui, |ui| {
            ui.horizontal_centered(|ui| {
                egui::MenuBar::new().ui(ui, |ui| {
                    for (menu, title) in [
                        (Menu::File, "File"),
                        (Menu::View, "View"),
                        (Menu::Navigate, "Navigate"),
                        (Menu::Help, "Help"),
                    ] {
                        ui.menu_button(title, |ui| commands.extend(self.menu_ui(ui, menu)));
                    }
                    commands.extend(self.title_ui(ui, theme));
                });
            });
        });
        commands
    }

    fn menu_ui(&self, ui: &mut Ui, menu: Menu) -> Vec<Command> {
        let mut commands = Vec::new();
        if menu == Menu::View {
            for view in ViewId::ALL {
                let mut is_open = self.state.dock.is_open(*view);
                if ui.checkbox(&mut is_open, view.title()).changed() {
                    commands.push(if is_open { Command::Show(*view) } else { Command::Close(*view) });
                }
            }
            ui.separator();
        }
        for action in ACTIONS.iter().filter(|action| action.menu == menu) {
            let is_enabled = self.run.is_some() || !action.needs_run;
            let command = (action.command)();
            let mut button = Button::selectable(self.is_chosen(&command), action.title);
            if let Some(key) = action.shown_key(ui.ctx()) {
                button = button.shortcut_text(key);
            }
            if ui.add_enabled(is_enabled, button).clicked() {
                commands.push(command);
                ui.close();
            }
        }
        commands
    }

    /// Is the command a choice that is in force now?
    fn is_chosen(&self, command: &Command) -> bool {
        match command {
            Command::SetAppearance(appearance) => *appearance == self.state.appearance,
            Command::SetWheel(wheel) => *wheel == self.state.timeline.wheel,
            _ => false,
        }
    }

    /// What is open, at the middle and the right of the menu bar.
    fn title_ui(&self, ui: &mut Ui, theme: &Theme) -> Vec<Command> {
        let mut commands = Vec::new();
        let Some(run) = &self.run else { return commands };
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let badge = Badge::of(run);
            let response = widgets::badge_ui(ui, &badge.text(), badge.color(theme));
            if response.on_hover_text("What was wrong in the file").clicked() {
                commands.push(Command::Show(ViewId::Health));
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                ui.add_space(theme.space.l);
                let name = RichText::new(run.name()).font(fonts::semibold(theme.font.body));
                let label = ui.add(egui::Label::new(name.color(theme.color.text)).truncate());
                if let Some(path) = &run.path {
                    label.on_hover_text(path.display().to_string());
                }
                let facts = facts(&run.trace);
                ui.add(egui::Label::new(RichText::new(facts).color(theme.color.text_muted)).truncate());
            });
        });
        commands
    }

    pub(super) fn status_bar_ui(&self, ui: &mut Ui) -> Vec<Command> {
        let theme = Theme::of_ui(ui);
        let mut commands = Vec::new();
        // Without a run the start page shows the progress.
        let slots = [Slot::Import, Slot::Analysis].into_iter().filter(|_| self.run.is_some());
        let shown = slots.filter_map(|slot| Some((slot, self.jobs.status(slot)?))).next();
        Panel::bottom("status bar").frame(theme.panel_frame()).exact_size(theme.size.bar - 4.0).show(
            ui,
            |ui| {
                ui.horizontal_centered(|ui| {
                    if let Some((slot, (title, phase, frac))) = shown {
                        ui.label(RichText::new(title).color(theme.color.text));
                        let bar =
                            ProgressBar::new(frac.unwrap_or(0.0)).desired_width(160.0).desired_height(6.0);
                        ui.add(bar).accessible_name("Progress");
                        let percent =
                            frac.map_or_else(String::new, |frac| format!(" · {:.0} %", frac * 100.0));
                        ui.label(RichText::new(format!("{phase}{percent}")).color(theme.color.text_muted));
                        if ui.button("Cancel").clicked() {
                            commands.push(Command::Cancel(slot));
                        }
                    } else if let Some(run) = &self.run {
                        let text = format!(
                            "{} on {}",
                            format::counted(run.trace.slices.len(), "slice"),
                            format::counted(run.trace.tracks.len(), "track"),
                        );
                        ui.label(RichText::new(text).color(theme.color.text_muted));
                    } else {
                        let text = if self.is_busy() { "Opening…" } else { "Ready" };
                        ui.label(RichText::new(text).color(theme.color.text_muted));
                    }
                    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                        let hint = match (&self.run, self.state.timeline.wheel) {
                            (None, _) => "",
                            (Some(_), Wheel::Zooms) => {
                                "Wheel zooms · drag moves · Shift + drag or the time axis selects · W A S D · ? for all keys"
                            }
                            (Some(_), Wheel::Scrolls) => {
                                "Ctrl + wheel zooms · wheel scrolls · Shift + drag or the time axis selects · ? for all keys"
                            }
                        };
                        ui.add(
                            egui::Label::new(RichText::new(hint).color(theme.color.text_muted)).truncate(),
                        );
                    });
                });
            },
        );
        commands
    }

    /// A message, when there is one and the start page does not say it already.
    pub(super) fn notice_ui(&self, ui: &mut Ui) -> Vec<Command> {
        let mut commands = Vec::new();
        let is_on_start_page = self.run.is_none();
        let Some(notice) = self.notice.as_ref().filter(|notice| !(is_on_start_page && notice.is_error))
        else {
            return commands;
        };
        let theme = Theme::of_ui(ui);
        let color = if notice.is_error { theme.color.error } else { theme.color.text };
        Panel::top("notice").frame(theme.panel_frame().fill(theme.color.raised)).show(ui, |ui| {
            ui.horizontal(|ui| {
                ui.with_layout(Layout::right_to_left(Align::Min), |ui| {
                    if ui.button("Dismiss").clicked() {
                        commands.push(Command::DismissNotice);
                    }
                    ui.with_layout(Layout::left_to_right(Align::Min), |ui| {
                        ui.add(egui::Label::new(RichText::new(&notice.text).color(color)).wrap());
                    });
                });
            });
        });
        commands
    }
}

/// Tool, devices and length of a run, in a line.
fn facts(trace: &tracecard_model::Trace) -> String {
    let mut facts: Vec<String> = Vec::new();
    facts.extend(trace.meta.tool.clone());
    let mut names: Vec<(String, usize)> = Vec::new();
    for device in &trace.devices {
        let name = device.name.clone().unwrap_or_else(|| "GPU".to_owned());
        match names.iter_mut().find(|(other, _)| *other == name) {
            Some((_, n)) => *n += 1,
            None => names.push((name, 1)),
        }
    }
    facts.extend(names.into_iter().map(|(name, n)| if n == 1 { name } else { format!("{n} × {name}") }));
    facts.extend(trace.span().map(|span| format::ns(span.dur_ns() as f64)));
    facts.join(" · ")
}
