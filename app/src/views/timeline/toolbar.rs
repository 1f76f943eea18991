//! The line above the axis: where the view comes from, what is hidden, and the search.
//!
//! ```text
//! Whole run › 1.2 s › 30 ms          [hiding 24 013 slices ✕]  [gemm        ] 3 of 124 ‹ › ☐ Hide others ✕
//! ```

use egui::{Align, Button, Key, Layout, Rect, RichText, TextEdit, Ui, UiBuilder, vec2};
use tracecard_analyzers::search::{Hits, Pattern};
use tracecard_model::{SliceId, Span, Trace};

use super::search::{Others, count_text};
use super::state::State;
use crate::command::{Command, Direction};
use crate::format;
use crate::theme::Theme;
use crate::time_scale::View;

/// Everything that the toolbar speaks of.
pub(super) struct Toolbar<'a> {
    pub(super) theme: &'a Theme,
    pub(super) trace: &'a Trace,
    pub(super) run: Span,
    pub(super) view: View,
    /// The hits of the search; `None` while they are looked for.
    pub(super) hits: Option<&'a Hits>,
    pub(super) selection: Option<SliceId>,
}

/// Width of the text field, in points.
const FIELD_PT: f32 = 190.0;

impl Toolbar<'_> {
    pub(super) fn ui(&self, ui: &mut Ui, rect: Rect, state: &mut State, wants_focus: bool) -> Vec<Command> {
        let mut commands = Vec::new();
        ui.painter().rect_filled(rect, 0.0, self.theme.color.panel);
        let inner = rect.shrink2(vec2(self.theme.space.m, 1.0));
        let builder = UiBuilder::new().max_rect(inner).layout(Layout::right_to_left(Align::Center));
        ui.scope_builder(builder, |ui| {
            ui.shrink_clip_rect(rect);
            ui.spacing_mut().item_spacing.x = self.theme.space.s;
            commands.extend(self.search_ui(ui, state, wants_focus));
            commands.extend(self.chips_ui(ui, state));
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                commands.extend(self.crumbs_ui(ui, state));
            });
        });
        commands
    }

    fn search_ui(&self, ui: &mut Ui, state: &mut State, wants_focus: bool) -> Vec<Command> {
        let mut commands = Vec::new();
        let Some(search) = &mut state.search else {
            let text = RichText::new("Search  /").color(self.theme.color.text_muted);
            let button = Button::new(text).small();
            if ui.add(button).on_hover_text("Look for slices by name, with regular expressions").clicked() {
                commands.push(Command::Search);
            }
            return commands;
        };
        let is_closed = small(ui, "✕", "Close the search").on_hover_text("Close the search (Esc)").clicked();
        let mut is_hiding = search.others == Others::Hidden;
        if ui.checkbox(&mut is_hiding, "Hide others").changed() {
            search.others = if is_hiding { Others::Hidden } else { Others::Dimmed };
        }
        for (sign, name, direction) in
            [("›", "Next match", Direction::Next), ("‹", "Previous match", Direction::Previous)]
        {
            let key = if direction == Direction::Next { "Enter" } else { "Shift + Enter" };
            if small(ui, sign, name).on_hover_text(format!("{name} ({key})")).clicked() {
                commands.push(Command::SelectHit(direction));
            }
        }
        let count = match self.hits {
            _ if search.text.trim().is_empty() => String::new(),
            Some(hits) => count_text(self.trace, hits, self.selection),
            None => "searching…".to_owned(),
        };
        ui.label(RichText::new(count).color(self.theme.color.text_muted));
        let trouble = Pattern::new(&search.text).and_then(|pattern| pattern.trouble);
        let edit = TextEdit::singleline(&mut search.text).hint_text("Name or regex").desired_width(FIELD_PT);
        let edit = match &trouble {
            Some(_) => edit.text_color(self.theme.color.warning),
            None => edit,
        };
        let response = ui.add(edit).accessible_name("Search slices by name");
        if wants_focus {
            response.request_focus();
        }
        if response.lost_focus() {
            // Esc ends typing, and closes the search as it does anywhere.
            let (enter, shift) = ui.input(|i| (i.key_pressed(Key::Enter), i.modifiers.shift));
            if enter {
                response.request_focus();
                let direction = if shift { Direction::Previous } else { Direction::Next };
                commands.push(Command::SelectHit(direction));
            }
        }
        if let Some(reason) = trouble {
            response.on_hover_text(format!(
                "No regular expression ({reason}): looking for the text as it stands"
            ));
        }
        if is_closed {
            state.search = None;
        }
        commands
    }

    /// What is not shown, and the way back.
    fn chips_ui(&self, ui: &mut Ui, state: &mut State) -> Vec<Command> {
        if let (Some(hits), Some(search)) = (self.hits, &mut state.search)
            && search.others == Others::Hidden
            && !search.text.trim().is_empty()
        {
            let n_hidden = self.trace.slices.len().saturating_sub(hits.len());
            let text = format!("hiding {}", format::counted(n_hidden, "slice"));
            if chip_ui(ui, self.theme, &text, "Slices that do not match the search. Click to show them again")
                .clicked()
            {
                search.others = Others::Dimmed;
            }
        }
        Vec::new()
    }

    /// The stretches zoomed into, outermost first; a click leads back.
    fn crumbs_ui(&self, ui: &mut Ui, state: &mut State) -> Vec<Command> {
        let mut commands = Vec::new();
        state.forget_crumbs(self.view);
        let is_whole = self.run.dur_ns() as f64 <= self.view.width_ns;
        let text = if is_whole {
            "Whole run".to_owned()
        } else {
            format!("Whole run {}", format::ns(self.run.dur_ns() as f64))
        };
        if crumb(ui, self.theme, &text, "Show the whole run (0)") {
            commands.push(Command::FitAll);
        }
        let mut back = None;
        for (idx, span) in state.crumbs.iter().enumerate() {
            ui.label(RichText::new("›").color(self.theme.color.text_muted));
            if crumb(ui, self.theme, &format::ns(span.dur_ns() as f64), "Go back to this stretch") {
                back = Some((idx, *span));
            }
        }
        if let Some((idx, span)) = back {
            state.crumbs.truncate(idx);
            commands.push(Command::ShowSpan(span));
        }
        commands
    }
}

/// A small button with a sign, and a name for those who cannot see it.
fn small(ui: &mut Ui, sign: &str, name: &str) -> egui::Response {
    ui.add(Button::new(sign).small().frame_when_inactive(false)).accessible_name(name)
}

fn crumb(ui: &mut Ui, theme: &Theme, text: &str, hint: &str) -> bool {
    let text = RichText::new(text).size(theme.font.small).color(theme.color.text_muted);
    ui.add(Button::new(text).small().frame_when_inactive(false)).on_hover_text(hint).clicked()
}

/// A rounded note with a cross: something is not as usual, and a click makes it so again.
pub(super) fn chip_ui(ui: &mut Ui, theme: &Theme, text: &str, hint: &str) -> egui::Response {
    let text = RichText::new(format!("{text}  ✕")).size(theme.font.small).color(theme.color.warning);
    let button = Button::new(text).small().corner_radius(8.0);
    ui.add(button).on_hover_text(hint)
}
