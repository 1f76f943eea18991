//! Carries out commands.

use egui::{Context, ViewportCommand};
use tracecard_model::{SliceId, Trace};

use super::{App, apply_appearance};
use crate::command::{Command, Direction, Scale};
use crate::dock::Dock;
use crate::run::Selection;
use crate::views::{ViewId, table};

impl App {
    /// Carry out a command.
    pub fn apply(&mut self, ctx: &Context, command: Command) {
        match command {
            Command::OpenDialog => self.open_dialog(),
            Command::Open(path) => self.open(path),
            Command::Cancel(slot) => self.cancel(slot),
            Command::DismissNotice => self.notice = None,
            Command::Show(view) => self.state.dock.show(view),
            Command::ShowTable(view, filter) => {
                self.state.tables.entry(view).or_default().filter = filter;
                self.state.dock.show(view);
            }
            Command::Close(view) => self.state.dock.close(view),
            Command::ResetLayout => self.state.dock = Dock::default(),
            Command::SetAppearance(appearance) => {
                self.state.appearance = appearance;
                apply_appearance(ctx, appearance);
            }
            Command::SetWheel(wheel) => self.state.timeline.wheel = wheel,
            Command::Copy(text) => ctx.copy_text(text),
            Command::CopyTable(view) => self.copy_table(ctx, view),
            Command::FlameOf(span) => {
                self.state.flame.show_span(span);
                self.state.dock.show(ViewId::Flame);
            }
            Command::TogglePalette => {
                self.state.palette = if self.state.palette.is_some() { None } else { Some(String::new()) };
            }
            Command::ToggleHelp => self.state.is_help_open = !self.state.is_help_open,
            Command::Scale(Scale::Larger) => egui::gui_zoom::zoom_in(ctx),
            Command::Scale(Scale::Smaller) => egui::gui_zoom::zoom_out(ctx),
            Command::Scale(Scale::Normal) => ctx.set_zoom_factor(1.0),
            Command::Quit => ctx.send_viewport_cmd(ViewportCommand::Close),
            Command::Select(slice) => self.select(slice),
            Command::Reveal(_)
            | Command::ShowSpan(_)
            | Command::FitSelection
            | Command::FitAll
            | Command::SelectNeighbour(_)
            | Command::Navigate(_) => self.navigate(&command),
        }
    }

    fn select(&mut self, slice: Option<SliceId>) {
        let run = self.run.as_ref();
        self.state.selection = slice.zip(run).map(|(slice, run)| Selection { run: run.id, slice });
    }

    fn selected(&self) -> Option<SliceId> {
        let run = self.run.as_ref()?;
        self.state.selection.filter(|selection| selection.run == run.id).map(|selection| selection.slice)
    }

    /// Commands that need a run.
    fn navigate(&mut self, command: &Command) {
        let Some(run) = &self.run else { return };
        let trace = std::sync::Arc::clone(&run.trace);
        let Some(span) = trace.span() else { return };
        match *command {
            Command::Reveal(slice) if slice.idx() < trace.slices.len() => {
                self.select(Some(slice));
                self.state.timeline.reveal(&trace, slice);
                self.state.dock.show(ViewId::Timeline);
            }
            Command::ShowSpan(span) => {
                self.state.timeline.show(span);
                self.state.dock.show(ViewId::Timeline);
            }
            Command::FitSelection => {
                if let Some(slice) = self.selected() {
                    self.state.timeline.show(trace.slices.span(slice));
                    self.state.timeline.reveal = Some(slice);
                }
            }
            Command::FitAll => self.state.timeline.view = None,
            Command::SelectNeighbour(direction) => {
                if let Some(slice) = self.selected().and_then(|slice| neighbour(&trace, slice, direction)) {
                    self.select(Some(slice));
                    self.state.timeline.reveal(&trace, slice);
                }
            }
            Command::Navigate(motion) => {
                let at_frac = self.timeline.pointer_frac.unwrap_or(0.5);
                self.state.timeline.navigate(motion, span, at_frac);
            }
            _ => {}
        }
    }

    fn copy_table(&self, ctx: &Context, view: ViewId) {
        let Some(spec) = table::spec(view) else { return };
        let Some(rows) = self.run.as_ref().and_then(|run| run.table(spec.table)) else { return };
        let default = table::State::default();
        let state = self.state.tables.get(&view).unwrap_or(&default);
        let columns: Vec<&str> = state.shown(spec, rows).iter().map(|column| column.id).collect();
        ctx.copy_text(table::tsv(rows, &columns, self.orders.of(view).unwrap_or_default()));
    }
}

/// The slice before or after on the same row of the same track. O(slices of the track).
fn neighbour(trace: &Trace, slice: SliceId, direction: Direction) -> Option<SliceId> {
    let (tracks, depths) = (trace.slices.tracks(), trace.slices.depths());
    let (track, depth) = (*tracks.get(slice.idx())?, *depths.get(slice.idx())?);
    let is_on_row = |id: &SliceId| depths.get(id.idx()) == Some(&depth);
    let range = trace.tracks.get(track.idx())?.range();
    let mut ids = match direction {
        Direction::Previous => (range.start..slice.idx()).rev().map(SliceId::from_idx).find(is_on_row),
        Direction::Next => (slice.idx() + 1..range.end).map(SliceId::from_idx).find(is_on_row),
    };
    ids.take()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracecard_model::fixture;

    #[test]
    fn neighbours_are_on_the_same_row() {
        let trace = fixture("thread 1 ops\n op a 0 10\n op inner 2 3\n op b 20 10").unwrap();
        let id = |name: &str| trace.slice_ids().find(|id| trace.name(*id) == name).unwrap();
        assert_eq!(neighbour(&trace, id("a"), Direction::Next), Some(id("b")));
        assert_eq!(neighbour(&trace, id("b"), Direction::Previous), Some(id("a")));
        assert_eq!(neighbour(&trace, id("inner"), Direction::Next), None);
    }
}
