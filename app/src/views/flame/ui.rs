//! The view: choices, frames, and the list beside a sandwich.

use std::sync::Arc;

use egui::{Rect, Sense, Ui, WidgetInfo, vec2};
use tracecard_analyzers::flame::{Frame, NodeId, Options};

use super::bar::{self, Facts};
use super::keys::{self, cursor_at, node_of};
use super::layout::{Bar, Canvas, layout};
use super::model::{Key, Shown};
use super::paint::{Painted, mark_cursor};
use super::state::{Scope, Side, State, View};
use super::{list, menu, tooltip, weight_text};
use crate::command::Command;
use crate::memo::Memo;
use crate::run::{Run, RunId};
use crate::text_width::TextWidth;
use crate::theme::{Mode, Theme};
use crate::views::{Cx, timeline};
use crate::{format, widgets};

/// A frame that is brought into sight has its own row and some below it.
const ROWS_BELOW: f32 = 4.0;

/// What is kept between frames and can be made again at any time.
#[derive(Debug, Default)]
pub struct Cache {
    facts: Memo<(RunId, bool), Facts>,
    /// What the view wanted to show when it was last drawn.
    wanted: Option<Key>,
    /// What a job makes now.
    pub(crate) started: Option<Key>,
    shown: Option<Arc<Shown>>,
    failed: Option<(Key, String)>,
    /// Counts what was shown, so that frames are laid out anew.
    n_shown: u64,
    painted: Memo<FrameKey, Painted>,
    text_width: Option<(u32, TextWidth)>,
    focus_id: Option<egui::Id>,
    /// The middle of the sandwich that was scrolled to.
    revealed: Option<Frame>,
}

impl Cache {
    /// What is to be made, if anything is.
    pub(crate) fn missing(&self) -> Option<&Key> {
        let wanted = self.wanted.as_ref()?;
        let is_shown = self.shown.as_ref().is_some_and(|shown| shown.key == *wanted);
        let is_failed = self.failed.as_ref().is_some_and(|(key, _)| key == wanted);
        (!is_shown && !is_failed).then_some(wanted)
    }

    /// What is on screen.
    pub fn shown(&self) -> Option<&Arc<Shown>> {
        self.shown.as_ref()
    }

    pub(crate) fn set(&mut self, made: Shown) {
        self.shown = Some(Arc::new(made));
        self.started = None;
        self.n_shown += 1;
    }

    pub(crate) fn fail(&mut self, reason: String) {
        self.failed = self.started.take().map(|key| (key, reason));
    }

    /// Do keys belong to the frames?
    pub(crate) fn has_keys(&self, ctx: &egui::Context) -> bool {
        self.focus_id.is_some_and(|id| ctx.memory(|memory| memory.has_focus(id)))
    }
}

/// What laid-out frames depend on.
#[derive(Clone, Debug, PartialEq)]
struct FrameKey {
    n_shown: u64,
    zoom: Vec<Frame>,
    canvas: Canvas,
    mode: Mode,
}

/// Show the flame graph.
pub fn ui(
    ui: &mut Ui,
    cx: &Cx<'_>,
    state: &mut State,
    timeline: &timeline::State,
    cache: &mut Cache,
) -> Vec<Command> {
    let mut commands = Vec::new();
    cache.focus_id = None;
    let Some(run) = cx.run else {
        widgets::empty_ui(ui, "No trace is open", "Open a file to see its stacks.");
        return commands;
    };
    let facts = cache.facts.get((run.id, run.analysis().is_some()), |_| Facts::of(run));
    if facts.weights.is_empty() {
        widgets::empty_ui(
            ui,
            "No stacks here",
            "The file has no slices of threads or devices and no CPU samples.",
        );
        return commands;
    }
    commands.extend(choices_and_frames_ui(ui, run, state, cache));
    // What was chosen just now counts at once.
    let facts = cache.facts.get((run.id, run.analysis().is_some()), |_| Facts::of(run));
    let wanted = key(run, facts, state, timeline);
    if cache.wanted.as_ref() != Some(&wanted) {
        // The job is started before the next frame.
        ui.ctx().request_repaint();
        cache.wanted = Some(wanted);
    }
    commands
}

fn choices_and_frames_ui(ui: &mut Ui, run: &Run, state: &mut State, cache: &mut Cache) -> Vec<Command> {
    let mut commands = Vec::new();
    let theme = Theme::of_ui(ui);
    let facts = cache.facts.get((run.id, run.analysis().is_some()), |_| Facts::of(run));
    let shown = cache.shown.clone().filter(|shown| shown.key.run == run.id);
    let frame =
        egui::Frame::new().inner_margin(egui::Margin::symmetric(theme.space.m as i8, theme.space.s as i8));
    let filter = frame
        .show(ui, |ui| {
            let filter =
                ui.horizontal_wrapped(|ui| bar::ui(ui, facts, shown.as_deref(), state, &mut commands)).inner;
            if !state.edits.is_empty() || !state.zooms.is_empty() {
                ui.horizontal_wrapped(|ui| bar::chips_ui(ui, shown.as_deref(), state));
            }
            filter
        })
        .inner;

    let failed = cache.failed.as_ref().filter(|(key, _)| cache.wanted.as_ref() == Some(key));
    if let Some((_, reason)) = failed {
        widgets::empty_ui(ui, "The stacks could not be merged", reason);
        return commands;
    }
    let Some(shown) = shown else {
        widgets::empty_ui(ui, "Merging stacks…", "");
        return commands;
    };
    let mut rect = ui.available_rect_before_wrap();
    ui.advance_cursor_after_rect(rect);
    if shown.key.view == View::Sandwich {
        rect.min.x = list::ui(ui, &shown, state, rect);
    }
    let mut rest = ui.new_child(egui::UiBuilder::new().id_salt("rest").max_rect(rect));
    if shown.below.is_empty() {
        let (title, text) = nothing(&shown);
        widgets::empty_ui(&mut rest, title, text);
        return commands;
    }
    commands.extend(canvas_ui(&mut rest, &shown, state, cache, &filter));
    commands
}

/// What is to be shown.
fn key(run: &Run, facts: &Facts, state: &State, timeline: &timeline::State) -> Key {
    let weight = facts.weight(state);
    let run_span = run.trace.span();
    let span = match state.scope {
        Scope::Run => None,
        Scope::Window => run_span.filter(|_| timeline.view.is_some()).map(|run| {
            // What lies beside the run is in the view, too.
            timeline.current_view(run).span().intersect(run)
        }),
        Scope::Step(at) => facts.steps.get(at).map(|step| step.1),
        Scope::Selection => state.span,
    };
    let layers = state.layers.unwrap_or_else(|| weight.usual_layers());
    Key {
        run: run.id,
        options: Options { weight, layers, span, threads: state.threads.clone() },
        edits: state.edits.clone(),
        view: state.view,
        chosen: state.chosen.clone().filter(|_| state.view == View::Sandwich),
        filter: state.filter.clone(),
    }
}

/// Why there are no frames, and what helps.
fn nothing(shown: &Shown) -> (&'static str, &'static str) {
    if shown.key.view == View::Sandwich && shown.key.chosen.is_none() {
        return (
            "No frame is chosen",
            "Click one at the left: its callers come above it, what it called below.",
        );
    }
    if !shown.key.edits.is_empty() && 0 < shown.merged_total() {
        return ("Nothing is left", "Undo the last change to see frames again.");
    }
    if shown.key.view == View::Sandwich {
        return ("The chosen frame is not here", "Click another one at the left.");
    }
    ("No stacks here", "This part of the run has none of these threads and frames.")
}

fn canvas_ui(
    ui: &mut Ui,
    shown: &Arc<Shown>,
    state: &mut State,
    cache: &mut Cache,
    filter: &egui::Response,
) -> Vec<Command> {
    let mut commands = Vec::new();
    let theme = Theme::of_ui(ui);
    let rect = ui.available_rect_before_wrap();
    ui.advance_cursor_after_rect(rect);
    let id = ui.make_persistent_id("frames");
    cache.focus_id = Some(id);
    let response = ui.interact(rect, id, Sense::click());
    if ui.rect_contains_pointer(rect) {
        state.scroll_pt -= ui.input(|input| input.smooth_scroll_delta().y);
    }
    if let Some(last) = cache.painted.last() {
        let most_pt = (last.items.height_pt - rect.height()).max(0.0);
        state.scroll_pt = state.scroll_pt.clamp(0.0, most_pt);
    }
    let pixel_pt = 1.0 / ui.pixels_per_point();
    let canvas = Canvas { rect, scroll_pt: state.scroll_pt, row_pt: theme.size.slice, pixel_pt };
    let zoom = state.zooms.last().cloned().unwrap_or_default();
    let text_width = text_width(ui, theme, &mut cache.text_width);
    let key = FrameKey { n_shown: cache.n_shown, zoom: zoom.clone(), canvas, mode: theme.mode };
    let painted =
        cache.painted.get(key, |_| Painted::new(layout(shown, &zoom, &canvas, text_width), shown, theme));

    let painter = ui.painter_at(rect);
    painter.rect_filled(rect, 0.0, theme.color.canvas);
    painted.paint(&painter, shown, theme);
    let items = &painted.items;
    let pointed = response.hover_pos().and_then(|pos| items.bar_at(pos.x, pos.y)).copied();
    let cursor = state.cursor.as_ref().and_then(|cursor| Some((cursor.side, node_of(shown, cursor)?)));
    let frame_of =
        |bar: Bar| bar.node.filter(|_| bar.n_folded == 0).map(|node| shown.tree(bar.side).frame_id(node));
    let outlined =
        pointed.and_then(frame_of).or_else(|| cursor.map(|(side, node)| shown.tree(side).frame_id(node)));
    if let Some(frame) = outlined {
        painted.outline(&painter, shown, frame, theme);
    }
    if let Some(bar) = cursor.and_then(|(side, node)| items.bar_of(side, Some(node))) {
        mark_cursor(&painter, bar.rect, theme);
    }
    hidden_ui(ui, &painter, rect, items.n_folded);

    clicks(&response, shown, pointed, state);
    response.context_menu(|ui| commands.extend(menu::frame_ui(ui, shown, state)));
    if let Some(bar) = pointed.filter(|_| !response.context_menu_opened()) {
        tooltip::ui(ui, &response, shown, &bar);
    }
    let asked = keys::keys(ui, &response, shown, items, state);
    if asked.is_filter {
        filter.request_focus();
    }
    let is_new_middle = cache.revealed != shown.key.chosen;
    if is_new_middle {
        cache.revealed.clone_from(&shown.key.chosen);
    }
    if asked.is_moved || is_new_middle {
        bring_into_sight(ui, shown, items.top_row, &canvas, state);
    }
    if response.has_focus() {
        let stroke = egui::Stroke::new(1.0, theme.color.accent);
        painter.rect_stroke(rect.shrink(0.5), 0.0, stroke, egui::StrokeKind::Inside);
    }
    describe(&response, shown, cursor);
    commands
}

/// How many frames are too narrow, in the corner.
fn hidden_ui(ui: &Ui, painter: &egui::Painter, rect: Rect, n_folded: usize) {
    if n_folded == 0 {
        return;
    }
    let theme = Theme::of_ui(ui);
    let text = format!("{} too narrow to show", format::counted(n_folded, "frame"));
    let font = egui::FontId::proportional(theme.font.small);
    let galley = painter.layout_no_wrap(text, font, theme.color.text_muted);
    let at = rect.right_bottom() - galley.size() - vec2(theme.space.m, theme.space.s);
    let plate = Rect::from_min_size(at, galley.size()).expand(2.0);
    painter.rect_filled(plate, 2.0, theme.color.canvas.gamma_multiply(0.85));
    painter.galley(at, galley, theme.color.text_muted);
}

/// A click chooses the frame for keys, a second one zooms.
fn clicks(response: &egui::Response, shown: &Shown, pointed: Option<Bar>, state: &mut State) {
    // Enter counts as a click for egui, and has its own meaning here.
    let is_primary = response.clicked_by(egui::PointerButton::Primary);
    if !is_primary && !response.secondary_clicked() {
        return;
    }
    response.request_focus();
    let Some(bar) = pointed else {
        state.cursor = None;
        return;
    };
    let Some(node) = bar.node else {
        if response.double_clicked() {
            state.zooms.clear();
        }
        state.cursor = None;
        return;
    };
    let tree = shown.tree(bar.side);
    // A click on a fold means the frame that it lies in.
    let node = if bar.n_folded == 0 { Some(node) } else { tree.parent(node) };
    state.cursor = node.map(|node| cursor_at(tree, bar.side, node));
    if let Some(cursor) = state.cursor.clone().filter(|_| response.double_clicked()) {
        state.zoom(&cursor);
    }
}

fn bring_into_sight(ui: &Ui, shown: &Shown, top_row: i64, canvas: &Canvas, state: &mut State) {
    let Some(cursor) = &state.cursor else { return };
    let n_above = cursor.path.len() as i64 - 1;
    let row = match (shown.key.view, cursor.side) {
        (View::Sandwich, Side::Above) => -n_above,
        (View::Sandwich, Side::Below) => n_above,
        _ => n_above + 1,
    };
    let top_pt = (row - top_row) as f32 * canvas.row_pt;
    let lowest_pt = top_pt + ROWS_BELOW * canvas.row_pt - canvas.rect.height();
    let scroll_pt = state.scroll_pt.clamp(lowest_pt.min(top_pt), top_pt);
    if scroll_pt != state.scroll_pt {
        state.scroll_pt = scroll_pt;
        ui.ctx().request_repaint();
    }
}

/// What a screen reader says about the frames.
fn describe(response: &egui::Response, shown: &Shown, cursor: Option<(Side, NodeId)>) {
    response.widget_info(|| {
        let tree = &shown.below;
        let at = cursor.map_or_else(String::new, |(side, node)| {
            let tree = shown.tree(side);
            format!(", at {}, {}", tree.frame(node).name, weight_text(tree.measure(), tree.weight(node)))
        });
        let n_frames = format::counted(tree.len(), "frame");
        let total = weight_text(tree.measure(), tree.total());
        WidgetInfo::labeled(egui::Role::Canvas, true, format!("Flame graph of {n_frames}, {total}{at}"))
    });
}

fn text_width<'a>(ui: &Ui, theme: &Theme, kept: &'a mut Option<(u32, TextWidth)>) -> &'a TextWidth {
    let pixels_bits = ui.pixels_per_point().to_bits();
    let make = || {
        let font = egui::FontId::proportional(theme.font.label);
        let width =
            ui.ctx().fonts_mut(|fonts| TextWidth::from_advances(|sign| fonts.glyph_width(&font, sign)));
        (pixels_bits, width)
    };
    if kept.as_ref().is_some_and(|(bits, _)| *bits != pixels_bits) {
        *kept = None;
    }
    &kept.get_or_insert_with(make).1
}
