//! Carries out commands.

use egui::{Context, ViewportCommand};
use tracecard_model::{SliceId, Trace};

use super::{App, apply_appearance};
use crate::command::{Command, Direction, Scale};
use crate::dock::Dock;
use crate::follow;
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
            Command::Select(slice) => {
                if slice.is_some() && self.state.dock.is_open(ViewId::Details) {
                    self.state.dock.show(ViewId::Details);
                }
                self.select(slice);
            }
            Command::SetArea(area) => self.set_area(area),
            Command::Search => {
                self.state.timeline.search.get_or_insert_default();
                self.timeline.focus_search = true;
                self.state.dock.show(ViewId::Timeline);
            }
            Command::SelectHit(direction) => self.select_hit(direction),
            Command::Escape => {
                let timeline = &mut self.state.timeline;
                if timeline.search.take().is_none() && timeline.area.take().is_none() {
                    self.select(None);
                }
            }
            Command::Reveal(_)
            | Command::ShowSpan(_)
            | Command::AreaOfSelection
            | Command::FitSelection
            | Command::FitAll
            | Command::SelectNeighbour(_)
            | Command::SelectTied(_)
            | Command::SelectSameName(_)
            | Command::Navigate(_) => self.navigate(&command),
        }
    }

    pub(super) fn select(&mut self, slice: Option<SliceId>) {
        let run = self.run.as_ref();
        self.state.selection = slice.zip(run).map(|(slice, run)| Selection { run: run.id, slice });
    }

    fn set_area(&mut self, area: Option<crate::views::timeline::Area>) {
        if area.is_some() {
            self.state.dock.show(ViewId::Selection);
        }
        self.state.timeline.area = area;
    }

    pub(super) fn selected(&self) -> Option<SliceId> {
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
            Command::AreaOfSelection => {
                let span = self.selected().map(|slice| trace.slices.span(slice));
                if let Some(span) = span.filter(|span| !span.is_empty()) {
                    self.set_area(Some(crate::views::timeline::Area::of_all_lanes(span)));
                }
            }
            Command::FitAll => self.state.timeline.view = None,
            Command::SelectNeighbour(direction) => self.follow(&trace, direction, follow::neighbour),
            Command::SelectTied(direction) => self.follow(&trace, direction, follow::tied),
            Command::SelectSameName(direction) => self.follow(&trace, direction, follow::of_same_name),
            Command::Navigate(motion) => {
                let at_frac = self.timeline.pointer_frac.unwrap_or(0.5);
                self.state.timeline.navigate(motion, span, at_frac);
            }
            _ => {}
        }
    }

    /// Select and show the slice that leads on from the selected one; where none does, stay.
    fn follow(
        &mut self,
        trace: &Trace,
        direction: Direction,
        lead: fn(&Trace, SliceId, Direction) -> Option<SliceId>,
    ) {
        if let Some(slice) = self.selected().and_then(|slice| lead(trace, slice, direction)) {
            self.select(Some(slice));
            self.state.timeline.reveal(trace, slice);
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
