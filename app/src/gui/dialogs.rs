//! What lies over the dock: the command palette, the list of shortcuts, the hint while a file is dragged.

use egui::{Align2, Id, Key, Modal, RichText, Ui};

use super::App;
use crate::command::{self, ACTIONS, Command, HELD, MOUSE};
use crate::fonts;
use crate::theme::Theme;
use crate::views::ViewId;

impl App {
    pub(super) fn dialogs_ui(&mut self, ui: &mut Ui) -> Vec<Command> {
        let mut commands = self.palette_ui(ui);
        commands.extend(self.help_ui(ui));
        drop_hint_ui(ui);
        commands
    }

    fn palette_ui(&mut self, ui: &mut Ui) -> Vec<Command> {
        let mut commands = Vec::new();
        let has_run = self.run.is_some();
        let Some(words) = &mut self.state.palette else { return commands };
        let theme = Theme::of_ui(ui);
        let mut chosen = None;
        let modal = dialog(theme, "palette").show(ui.ctx(), |ui| {
            ui.set_width(420.0);
            let edit =
                egui::TextEdit::singleline(words).hint_text("Find a command").desired_width(f32::INFINITY);
            let response = ui.add(edit).accessible_name("Find a command");
            response.request_focus();
            ui.add_space(theme.space.s);
            let found = entries(words, has_run);
            if found.is_empty() {
                ui.label(RichText::new("No command has these words.").color(theme.color.text_muted));
            }
            egui::ScrollArea::vertical().max_height(360.0).show(ui, |ui| {
                for entry in &found {
                    let mut button =
                        egui::Button::new(entry.title.as_str()).frame(false).min_size(egui::vec2(400.0, 0.0));
                    if let Some(key) = entry.action.and_then(|action| action.shown_key(ui.ctx())) {
                        button = button.shortcut_text(key);
                    }
                    if ui.add(button).clicked() {
                        chosen = Some(entry.command.clone());
                    }
                }
            });
            if ui.input(|input| input.key_pressed(Key::Enter)) {
                chosen = chosen.take().or_else(|| found.first().map(|entry| entry.command.clone()));
            }
        });
        if chosen.is_some() || modal.should_close() {
            self.state.palette = None;
        }
        commands.extend(chosen);
        commands
    }

    fn help_ui(&mut self, ui: &mut Ui) -> Vec<Command> {
        if !self.state.is_help_open {
            return Vec::new();
        }
        let theme = Theme::of_ui(ui);
        let keys: Vec<(String, &str)> =
            ACTIONS.iter().filter_map(|action| Some((action.shown_key(ui.ctx())?, action.title))).collect();
        let modal = dialog(theme, "shortcuts").show(ui.ctx(), |ui| {
            ui.set_width(440.0);
            ui.label(RichText::new("Keyboard and mouse").font(fonts::semibold(theme.font.heading)));
            ui.add_space(theme.space.m);
            egui::Grid::new("shortcuts").num_columns(2).spacing([theme.space.xl, theme.space.s]).show(
                ui,
                |ui| {
                    let mut row = |keys: String, what: &str| {
                        ui.label(RichText::new(keys).color(theme.color.text_muted));
                        ui.label(what);
                        ui.end_row();
                    };
                    for (key, what, _) in HELD {
                        row(key.name().to_owned(), what);
                    }
                    for (key, title) in keys {
                        row(key, title);
                    }
                    for (how, what) in MOUSE {
                        row((*how).to_owned(), what);
                    }
                },
            );
            ui.add_space(theme.space.m);
            ui.button("Close").clicked()
        });
        if modal.inner || modal.should_close() {
            self.state.is_help_open = false;
        }
        Vec::new()
    }
}

/// A dialog over the dimmed window.
fn dialog(theme: &Theme, id: &str) -> Modal {
    Modal::new(Id::unique(id)).frame(theme.card_frame().fill(theme.color.raised))
}

/// A line of the palette.
struct Entry {
    title: String,
    action: Option<&'static command::Action>,
    command: Command,
}

/// Actions and views whose title holds the words.
fn entries(words: &str, has_run: bool) -> Vec<Entry> {
    let actions = command::find(words).into_iter().filter(|action| has_run || !action.needs_run);
    let actions = actions.map(|action| Entry {
        title: action.title.to_owned(),
        action: Some(action),
        command: (action.command)(),
    });
    let lower = words.to_lowercase();
    let is_match = |title: &str| lower.split_whitespace().all(|word| title.to_lowercase().contains(word));
    let views = ViewId::ALL.iter().filter(|_| has_run).map(|view| Entry {
        title: format!("Show {}", view.title()),
        action: None,
        command: Command::Show(*view),
    });
    actions.chain(views.filter(|entry| is_match(&entry.title))).collect()
}

/// While a file is dragged over the window: that it may be dropped.
fn drop_hint_ui(ui: &Ui) {
    if ui.ctx().input(|input| input.raw.hovered_files.is_empty()) {
        return;
    }
    let theme = Theme::of_ui(ui);
    let layer = egui::LayerId::new(egui::Order::Foreground, Id::unique("drop hint"));
    let painter = ui.ctx().layer_painter(layer);
    let rect = ui.ctx().content_rect();
    painter.rect_filled(rect, 0.0, theme.color.canvas.gamma_multiply(0.8));
    let font = fonts::semibold(theme.font.title);
    painter.text(rect.center(), Align2::CENTER_CENTER, "Drop to open", font, theme.color.text_strong);
}
