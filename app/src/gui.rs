//! The window: keeps state and runs, drains jobs, carries out commands, lays out bars and dock.
//!
//! ```text
//! frame:  jobs ─▶ update() ─▶ ui(): bars, dock of views ─▶ commands ─▶ apply()
//! ```
//! Views return commands and never touch anything but their own state; everything else happens here,
//! between frames. [`App`] knows no window: tests and pictures run [`App::ui`] in a context of their own.

mod apply;
mod bars;
mod dialogs;
mod flames;
mod keys;
mod open;
mod search;
mod selection;
mod tables;

use std::path::PathBuf;
use std::sync::Arc;

use egui::{Context, ThemePreference, Ui};
use tracecard_analyzers::Analysis;
use tracecard_model::{Span, Trace};

use self::keys::HeldKeys;
use self::open::Output;
use self::tables::{OrderKey, Orders};
use crate::command::Command;
use crate::jobs::Jobs;
use crate::run::{Analysed, Run, RunId};
use crate::state::{Appearance, Slot, State};
use crate::theme::{Mode, Theme};
use crate::views::timeline::CounterLod;
use crate::views::{self, Cx, ViewId, start::Waiting};
use crate::{dock::Dock, fonts};

/// A message under the menu bar until it is dismissed.
#[derive(Clone, Debug, PartialEq)]
pub struct Notice {
    /// What happened, and what to try.
    pub text: String,
    /// Did something fail?
    pub is_error: bool,
}

/// Everything the window is made of.
pub struct App {
    state: State,
    run: Option<Run>,
    n_runs: u32,
    jobs: Jobs<Slot, Output>,
    timeline: views::timeline::Cache,
    overview: views::overview::Cache,
    selection: views::selection::Cache,
    flame: views::flame::Cache,
    orders: Orders,
    orders_wanted: std::collections::BTreeMap<ViewId, OrderKey>,
    held: HeldKeys,
    notice: Option<Notice>,
    /// Files opened in this window, the latest first.
    recent: Vec<PathBuf>,
    /// One view instead of the dock.
    only: Option<ViewId>,
    /// What the title bar says.
    title: String,
}

impl App {
    /// An empty window. Workers wake `ctx` when they are done.
    pub fn new(ctx: &Context) -> Self {
        let ctx = ctx.clone();
        Self {
            state: State::default(),
            run: None,
            n_runs: 0,
            jobs: Jobs::new(move || ctx.request_repaint()),
            timeline: views::timeline::Cache::default(),
            overview: views::overview::Cache::default(),
            selection: views::selection::Cache::default(),
            flame: views::flame::Cache::default(),
            orders: Orders::default(),
            orders_wanted: std::collections::BTreeMap::new(),
            held: HeldKeys::default(),
            notice: None,
            recent: Vec::new(),
            only: None,
            title: String::new(),
        }
    }

    /// What is shown, as values.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// What is shown, to change it.
    pub fn state_mut(&mut self) -> &mut State {
        &mut self.state
    }

    /// The run on screen.
    pub fn run(&self) -> Option<&Run> {
        self.run.as_ref()
    }

    /// The message under the menu bar.
    pub fn notice(&self) -> Option<&Notice> {
        self.notice.as_ref()
    }

    /// Put a run on screen that is loaded already.
    pub fn load_trace(&mut self, trace: Arc<Trace>, analysis: Arc<Analysis>) {
        let counters = Arc::new(CounterLod::new(&trace));
        self.show_run(None, trace, counters, Analysed::Done(analysis));
    }

    /// As [`Self::load_trace`], with the path it was read from, for the title.
    pub fn load_file(&mut self, path: PathBuf, trace: Arc<Trace>, analysis: Arc<Analysis>) {
        let counters = Arc::new(CounterLod::new(&trace));
        self.show_run(Some(path), trace, counters, Analysed::Done(analysis));
    }

    fn show_run(
        &mut self,
        path: Option<PathBuf>,
        trace: Arc<Trace>,
        counters: Arc<CounterLod>,
        analysed: Analysed,
    ) {
        let id = RunId(self.n_runs);
        self.n_runs += 1;
        self.state.selection = None;
        self.state.timeline.reset_for_new_run();
        self.state.flame.reset_for_new_run();
        self.flame = views::flame::Cache::default();
        self.state.tables.values_mut().for_each(views::table::State::reset_for_new_run);
        self.orders = Orders::default();
        self.selection = views::selection::Cache::default();
        self.jobs.cancel(Slot::Selection);
        self.jobs.cancel(Slot::Search);
        self.run = Some(Run { id, path, trace, counters, analysed });
    }

    /// Fill the window with one view, without bars and dock; `None` shows everything again.
    pub fn show_only(&mut self, view: Option<ViewId>) {
        self.only = view;
    }

    /// Bring a view of the dock to the front.
    pub fn show_view(&mut self, view: ViewId) {
        self.state.dock.show(view);
    }

    /// Show this stretch in the timeline and the flame graph.
    pub fn show_span(&mut self, span: Span) {
        self.state.timeline.show(span);
        self.state.flame.show_span(span);
    }

    /// Is work going on in the background?
    pub fn is_busy(&self) -> bool {
        !self.jobs.is_idle()
    }

    /// Take in what jobs gave, until none runs. Blocks; for tests and pictures.
    pub fn wait(&mut self) {
        loop {
            self.prepare();
            let finished = self.jobs.wait();
            if finished.is_empty() {
                return;
            }
            for job in finished {
                self.finish(job);
            }
        }
    }

    /// Start what views want and do not have.
    fn prepare(&mut self) {
        self.prepare_search();
        self.prepare_selection();
        self.prepare_flame();
        self.prepare_tables();
    }

    /// Take in what jobs gave and make what views need. Costs nothing when nothing changed.
    pub fn update(&mut self, ctx: &Context) {
        for job in self.jobs.drain() {
            self.finish(job);
        }
        self.prepare();
        let title = self
            .run
            .as_ref()
            .map_or_else(|| "Tracecard".to_owned(), |run| format!("{} – Tracecard", run.name()));
        if title != self.title {
            ctx.send_viewport_cmd(egui::ViewportCommand::Title(title.clone()));
            self.title = title;
        }
        if self.is_busy() {
            // Progress is shown, so a frame now and then is needed while a job runs.
            ctx.request_repaint_after(std::time::Duration::from_millis(100));
        }
    }

    /// Show everything and carry out what the user asked for.
    pub fn ui(&mut self, ui: &mut Ui) {
        self.update(ui.ctx());
        let has_dialog = self.state.palette.is_some() || self.state.is_help_open;
        let is_covered = has_dialog || ui.ctx().any_popup_open() || self.flame.has_keys(ui.ctx());
        let mut commands = self.held.commands(ui.ctx(), self.run.is_some(), is_covered);
        commands.extend(self.dropped_files(ui.ctx()));
        if let Some(view) = self.only {
            ui.painter().rect_filled(ui.max_rect(), 0.0, Theme::of_ui(ui).color.canvas);
            let rect = ui.available_rect_before_wrap();
            let commands_of_view = Panes::of(self).ui(ui, view);
            ui.advance_cursor_after_rect(rect);
            commands.extend(commands_of_view);
        } else {
            commands.extend(self.whole_ui(ui));
        }
        if !commands.is_empty() {
            ui.ctx().request_repaint();
        }
        for command in commands {
            self.apply(ui.ctx(), command);
        }
    }

    fn whole_ui(&mut self, ui: &mut Ui) -> Vec<Command> {
        let mut commands = self.menu_bar_ui(ui);
        commands.extend(self.status_bar_ui(ui));
        commands.extend(self.notice_ui(ui));
        if self.run.is_some() {
            // The dock is taken out so that its panes can borrow the rest.
            let mut dock = std::mem::replace(&mut self.state.dock, Dock::empty());
            let mut panes = Panes::of(self);
            let frame = egui::CentralPanel::default().frame(egui::Frame::NONE);
            frame.show(ui, |ui| dock.ui(ui, |ui, view| commands.extend(panes.ui(ui, view))));
            self.state.dock = dock;
        } else {
            let waiting = self.waiting();
            let frame = egui::CentralPanel::default().frame(egui::Frame::NONE);
            let inner = frame.show(ui, |ui| views::start::ui(ui, &waiting, &self.recent));
            commands.extend(inner.inner);
        }
        commands.extend(self.dialogs_ui(ui));
        commands
    }

    /// What the start page says.
    fn waiting(&self) -> Waiting<'_> {
        if let Some((title, phase, frac)) = self.jobs.status(Slot::Import) {
            return Waiting::ForImport { title, phase, frac };
        }
        match &self.notice {
            Some(notice) if notice.is_error => Waiting::Failed { reason: &notice.text },
            _ => Waiting::ForChoice,
        }
    }
}

/// Everything that panes borrow while the dock is shown.
struct Panes<'a> {
    cx: Cx<'a>,
    tables: &'a mut std::collections::BTreeMap<ViewId, views::table::State>,
    timeline: &'a mut views::timeline::State,
    timeline_cache: &'a mut views::timeline::Cache,
    overview_cache: &'a mut views::overview::Cache,
    area: &'a mut views::selection::State,
    area_cache: &'a mut views::selection::Cache,
    area_key: Option<views::selection::Key>,
    flame: &'a mut views::flame::State,
    flame_cache: &'a mut views::flame::Cache,
    orders: &'a Orders,
}

impl<'a> Panes<'a> {
    fn of(app: &'a mut App) -> Self {
        let area_key = app.selection_key();
        let run = app.run.as_ref();
        let is_of_run = |selection: &crate::run::Selection| run.is_some_and(|run| run.id == selection.run);
        let selection = app.state.selection.filter(is_of_run).map(|selection| selection.slice);
        Self {
            cx: Cx { run, selection },
            tables: &mut app.state.tables,
            timeline: &mut app.state.timeline,
            timeline_cache: &mut app.timeline,
            overview_cache: &mut app.overview,
            area: &mut app.state.area,
            area_cache: &mut app.selection,
            area_key,
            flame: &mut app.state.flame,
            flame_cache: &mut app.flame,
            orders: &app.orders,
        }
    }

    fn ui(&mut self, ui: &mut Ui, view: ViewId) -> Vec<Command> {
        match view {
            ViewId::Overview => views::overview::ui(ui, &self.cx, self.overview_cache),
            ViewId::Timeline => views::timeline::ui(ui, &self.cx, self.timeline, self.timeline_cache),
            ViewId::Flame => views::flame::ui(ui, &self.cx, self.flame, self.timeline, self.flame_cache),
            ViewId::Details => views::details::ui(ui, &self.cx),
            ViewId::Selection => {
                views::selection::ui(ui, &self.cx, self.area, self.area_cache, self.area_key.as_ref())
            }
            ViewId::Health => views::health::ui(ui, &self.cx),
            table => {
                let Some(spec) = views::table::spec(table) else { return Vec::new() };
                let state = self.tables.entry(table).or_default();
                views::table::ui(ui, &self.cx, spec, state, self.orders.of(table))
            }
        }
    }
}

/// The modes of egui and of the theme are told apart by what the user chose.
fn apply_appearance(ctx: &Context, appearance: Appearance) {
    ctx.set_theme(match appearance {
        Appearance::System => ThemePreference::System,
        Appearance::Dark => ThemePreference::Dark,
        Appearance::Light => ThemePreference::Light,
    });
}

impl eframe::App for App {
    fn logic(&mut self, ctx: &Context, _: &mut eframe::Frame) {
        self.update(ctx);
    }

    fn ui(&mut self, ui: &mut Ui, _: &mut eframe::Frame) {
        App::ui(self, ui);
    }

    fn clear_color(&self, visuals: &egui::Visuals) -> [f32; 4] {
        visuals.panel_fill.to_normalized_gamma_f32()
    }
}

/// Open the window and, in it, the first of these files.
///
/// # Errors
/// When no window can be opened.
pub fn run_window(paths: Vec<PathBuf>) -> anyhow::Result<()> {
    let viewport = egui::ViewportBuilder::default()
        .with_title("Tracecard")
        .with_app_id("tracecard")
        .with_inner_size([1280.0, 800.0])
        .with_min_inner_size([640.0, 400.0]);
    let options = eframe::NativeOptions { viewport, ..eframe::NativeOptions::default() };
    let create = move |creation: &eframe::CreationContext<'_>| {
        let ctx = &creation.egui_ctx;
        ctx.set_fonts(fonts::definitions());
        Theme::of(Mode::Dark).apply(ctx);
        apply_appearance(ctx, Appearance::System);
        ctx.options_mut(|options| options.zoom_with_keyboard = false);
        let mut app = App::new(ctx);
        app.open_all(paths);
        Ok(Box::new(app) as Box<dyn eframe::App>)
    };
    eframe::run_native("tracecard", options, Box::new(create)).map_err(|error| {
        // winit prefixes the place in its own source; the reason comes last.
        let text = error.to_string();
        let reason = text.rsplit(": ").next().unwrap_or(&text);
        anyhow::anyhow!(
            "the window cannot be opened: {reason}; without a display, `tracecard report` and `tracecard shot` work"
        )
    })
}
