//! All tracks over time: pan, zoom, select.
//!
//! ```text
//! ┌ start and width of the view ┬ axis ───────────────────────────┐
//! │                             │ steps                           │
//! ├ labels ─────────────────────┼ lanes ────────────────────────┬─┤
//! │ ▾ GPU 0 · H100              │                               │s│
//! │   Stream 7                  │ ▇▇▇▇ ▇▇ ▇▇▇▇▇▇▇               │c│
//! └─────────────────────────────┴───────────────────────────────┴─┘
//! ```

mod area;
mod axis;
mod colors;
mod counter_lod;
mod frame;
mod input;
mod labels;
mod layout;
mod metric_curves;
mod metric_lanes;
mod metric_paint;
mod metric_tooltip;
mod model;
mod paint;
pub mod search;
mod state;
mod steps;
mod toolbar;
mod tooltip;

use egui::{Rect, Sense, Ui, WidgetInfo, pos2};
use tracecard_analyzers::search::Hits;
use tracecard_model::{SliceId, Trace};

pub use area::Area;
pub use counter_lod::CounterLod;
pub use layout::{Items, Mark};
pub use model::{GroupKey, LaneKey, Model};
pub use state::State;

use self::frame::Frame;
use self::layout::{Canvas, LabelCache};
use self::model::Heights;
use super::Cx;
use crate::command::Command;
use crate::memo::Memo;
use crate::run::RunId;
use crate::text_width::TextWidth;
use crate::theme::{Mode, Theme};
use crate::time_scale::{TimeScale, View};
use crate::widgets;

/// Height of the line above the axis, in points.
const TOOLBAR_PT: f32 = 24.0;
/// Height of the axis in points.
const AXIS_PT: f32 = 22.0;
/// Height of the strip that names the steps, in points.
const STEPS_PT: f32 = 16.0;
/// Width of the scroll bar in points.
const SCROLL_BAR_PT: f32 = 10.0;

/// What is kept between frames and can be made again at any time.
#[derive(Debug, Default)]
pub struct Cache {
    model: Memo<(RunId, bool, std::collections::BTreeSet<GroupKey>), Model>,
    frame: Memo<FrameKey, Frame>,
    labels: Option<(u32, LabelCache)>,
    colors: colors::NameColors,
    steps: Memo<(RunId, bool), Vec<steps::Step>>,
    /// What the search found, by run and text.
    pub(crate) hits: Memo<(RunId, String), Hits>,
    /// The search is to be typed into.
    pub(crate) focus_search: bool,
    /// A hit that is wanted as soon as there are any.
    pub(crate) wanted_hit: Option<crate::command::Direction>,
    /// The stretch of time that is being dragged.
    drag: Option<area::Drag>,
    /// Where the pointer was over the canvas in the last frame, as a share of its width.
    pub(crate) pointer_frac: Option<f64>,
}

/// What a laid-out frame depends on.
#[derive(Clone, Debug, PartialEq)]
struct FrameKey {
    run: RunId,
    toggled: std::collections::BTreeSet<GroupKey>,
    view: View,
    canvas: Canvas,
    mode: Mode,
    is_analysed: bool,
    /// What is searched, and whether the rest is hidden.
    search: Option<(String, search::Others)>,
}

/// Show the timeline.
pub fn ui(ui: &mut Ui, cx: &Cx<'_>, state: &mut State, cache: &mut Cache) -> Vec<Command> {
    let mut commands = Vec::new();
    let Some(run) = cx.run else {
        widgets::empty_ui(ui, "No trace is open", "Open a file to see its timeline.");
        return commands;
    };
    let Some(run_span) = run.trace.span() else {
        widgets::empty_ui(
            ui,
            "Nothing to show",
            "The file has no slices and no counters. Its health says more.",
        );
        return commands;
    };
    let theme = Theme::of_ui(ui);
    let heights = heights(theme);
    let metrics = run.analysis().map(|analysis| &analysis.metrics);
    let model_key = (run.id, metrics.is_some(), state.toggled.clone());
    let Cache {
        model, frame, labels, colors, steps: step_cache, hits, focus_search, drag, pointer_frac, ..
    } = cache;
    let model = model.get(model_key, |(_, _, toggled)| model::model(&run.trace, metrics, toggled, &heights));
    let steps = step_cache.get((run.id, run.analysis().is_some()), |_| steps::of_run(run));

    let areas = Areas::new(ui, state, !steps.is_empty());
    let view = state.view.unwrap_or_else(|| View::around(run_span)).within(run_span);
    let mut now = input::Now { view, scroll_pt: state.scroll_pt };
    let id = ui.make_persistent_id("timeline");
    let response = ui.interact(areas.canvas, id, Sense::click_and_drag());
    let axis = ui.interact(areas.axis, id.with("axis"), Sense::click_and_drag());
    let dragging = area::Dragging {
        model,
        scale: &TimeScale::new(view, areas.canvas.left(), areas.canvas.width()),
        marks: frame.last().map_or(&[], |frame| frame.items.marks.as_slice()),
        lanes_top_pt: areas.canvas.top() - state.scroll_pt,
    };
    let had_area = state.area.is_some();
    let is_dragging_area = dragging.ui(ui, &response, &axis, &mut state.area, drag);
    if !had_area && state.area.is_some() {
        commands.push(Command::Show(super::ViewId::Selection));
    }
    input::mouse(ui, &areas, &response, state.wheel, is_dragging_area, &mut now);
    input::reveal(state, model, &run.trace, areas.canvas, &heights, &mut now);
    now.view = now.view.within(run_span);
    now.scroll_pt = now.scroll_pt.clamp(0.0, (model.height_pt - areas.canvas.height()).max(0.0));
    state.scroll_pt = now.scroll_pt;
    if now.view != view {
        state.view = Some(now.view);
    }

    let scale = TimeScale::new(now.view, areas.canvas.left(), areas.canvas.width());
    let pixel_pt = 1.0 / ui.pixels_per_point();
    let canvas = Canvas { rect: areas.canvas, scroll_pt: now.scroll_pt, pixel_pt, row_pt: heights.row_pt };
    let label_cache = label_cache(ui, theme, labels);
    colors.prepare(run.id, theme.mode, &run.trace);
    let is_analysed = metrics.is_some();
    let toggled = state.toggled.clone();
    let searched = state.search.as_ref().map(|search| (search.text.trim().to_owned(), search.others));
    let searched = searched.filter(|(text, _)| !text.is_empty());
    let hits_key = searched.as_ref().map(|(text, _)| (run.id, text.clone()));
    let hits = hits_key.filter(|key| hits.is_for(key)).and_then(|_| hits.last());
    let only =
        hits.filter(|_| searched.as_ref().is_some_and(|(_, others)| *others == search::Others::Hidden));
    let key = FrameKey {
        run: run.id,
        toggled,
        view: now.view,
        canvas,
        mode: theme.mode,
        is_analysed,
        search: searched.clone().filter(|_| hits.is_some()),
    };
    let frame = frame.get(key, |_| {
        let items = layout::layout(model, &run.trace, &run.counters, &scale, &canvas, only, label_cache);
        let curves = metric_curves::curves(model, metrics, &run.trace, &scale, &canvas);
        let pills = metric_curves::pills(model, &items, &run.trace, &run.counters, &scale, &canvas);
        Frame::new(items, &run.trace, theme, colors, hits.filter(|_| only.is_none()))
            .with_metrics(curves, metrics, pills, theme)
    });

    let pointer = response.hover_pos().filter(|_| !response.dragged());
    *pointer_frac = response.hover_pos().map(|pos| scale.frac_from_x(pos.x));
    let hovered = pointer.and_then(|pos| frame.items.mark_at(pos, 2.0)).copied();
    let (trace, counters) = (&*run.trace, &*run.counters);
    let drawing = paint::Drawing {
        theme,
        trace,
        counters,
        metrics,
        model,
        scale: &scale,
        canvas: &canvas,
        areas: &areas,
    };
    drawing.background(ui);
    drawing.axis(ui, steps);
    drawing.frame(ui, frame, colors, hits);
    commands.extend(metric_paint::ui(ui, &drawing, frame, metrics, pointer));
    drawing.highlight(ui, frame, hovered.as_ref(), cx.selection);
    if let Some(area) = &state.area {
        area::paint(ui, &drawing, area);
    }
    drawing.pointer(ui, pointer);
    describe_axis(axis);
    commands.extend(steps::ui(ui, &areas, &scale, steps));
    labels::ui(ui, &drawing, state);
    let toolbar =
        toolbar::Toolbar { theme, trace, run: run_span, view: now.view, hits, selection: cx.selection };
    commands.extend(toolbar.ui(ui, areas.toolbar, state, std::mem::take(focus_search)));
    labels::scroll_bar_ui(ui, &drawing, state);

    if let Some(pos) = pointer {
        tooltip::ui(ui, &response, run, frame, hovered.as_ref(), &scale, pos);
    }
    commands.extend(input::clicks(&response, hovered.as_ref()));
    describe(&response, &run.trace, model, now.view, cx.selection);
    commands
}

/// The parts of the view.
#[derive(Clone, Copy, Debug)]
struct Areas {
    toolbar: Rect,
    corner: Rect,
    axis: Rect,
    steps: Rect,
    labels: Rect,
    canvas: Rect,
    scroll_bar: Rect,
}

impl Areas {
    fn new(ui: &mut Ui, state: &State, has_steps: bool) -> Self {
        let rect = ui.available_rect_before_wrap();
        ui.advance_cursor_after_rect(rect);
        let labels_pt = state.labels_pt.clamp(60.0, (rect.width() * 0.6).max(60.0));
        let left_pt = rect.left() + labels_pt;
        let right_pt = (rect.right() - SCROLL_BAR_PT).max(left_pt + 1.0);
        let toolbar_pt = rect.top() + TOOLBAR_PT;
        let axis_pt = toolbar_pt + AXIS_PT;
        let top_pt = axis_pt + if has_steps { STEPS_PT } else { 0.0 };
        let bottom_pt = rect.bottom().max(top_pt + 1.0);
        let area = |x0, y0, x1, y1| Rect::from_min_max(pos2(x0, y0), pos2(x1, y1));
        Self {
            toolbar: area(rect.left(), rect.top(), rect.right(), toolbar_pt),
            corner: area(rect.left(), toolbar_pt, left_pt, top_pt),
            axis: area(left_pt, toolbar_pt, right_pt, axis_pt),
            steps: area(left_pt, axis_pt, right_pt, top_pt),
            labels: area(rect.left(), top_pt, left_pt, bottom_pt),
            canvas: area(left_pt, top_pt, right_pt, bottom_pt),
            scroll_bar: area(right_pt, top_pt, rect.right(), bottom_pt),
        }
    }
}

fn heights(theme: &Theme) -> Heights {
    Heights {
        row_pt: theme.size.slice,
        header_pt: theme.size.row,
        counter_pt: theme.size.counter,
        gap_pt: theme.space.s,
    }
}

/// The cache of shortened names, made anew when the size of a pixel changes and with it all advances.
fn label_cache<'a>(ui: &Ui, theme: &Theme, kept: &'a mut Option<(u32, LabelCache)>) -> &'a mut LabelCache {
    let pixels_bits = ui.pixels_per_point().to_bits();
    if kept.as_ref().is_none_or(|(bits, _)| *bits != pixels_bits) {
        let font = egui::FontId::proportional(theme.font.label);
        let advances =
            ui.ctx().fonts_mut(|fonts| TextWidth::from_advances(|sign| fonts.glyph_width(&font, sign)));
        *kept = Some((pixels_bits, LabelCache::new(advances)));
    }
    match kept {
        Some((_, cache)) => cache,
        None => unreachable!("it was set above"),
    }
}

/// What the axis is good for.
fn describe_axis(axis: egui::Response) {
    axis.widget_info(|| {
        WidgetInfo::labeled(egui::Role::Canvas, true, "Time axis: drag to select a stretch of time")
    });
    axis.on_hover_text_at_pointer(
        "Drag to select a stretch of time on all lanes\nShift + drag over lanes selects on those",
    );
}

/// What a screen reader says about the canvas.
fn describe(response: &egui::Response, trace: &Trace, model: &Model, view: View, selection: Option<SliceId>) {
    response.widget_info(|| {
        let span = view.span();
        let (from, to) = (crate::format::ns(span.start_ns as f64), crate::format::ns(span.end_ns as f64));
        let n_lanes = crate::format::counted(model.lanes.len(), "lane");
        let selected =
            selection.map_or_else(String::new, |slice| format!(", selected: {}", trace.name(slice)));
        let label = format!("Timeline of {n_lanes} from {from} to {to}{selected}");
        WidgetInfo::labeled(egui::Role::Canvas, true, label)
    });
}
