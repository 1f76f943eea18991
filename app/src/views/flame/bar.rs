//! The line of choices above the frames, and the chips of what was changed.

use egui::{Align, Layout, RichText, ScrollArea, Ui};
use tracecard_analyzers::flame::{Layer, Thread, Weight, folded, tsv};
use tracecard_model::{Span, Trace, TrackFamily};

use super::model::Shown;
use super::state::{Scope, State, View};
use super::{layer_title, menu, weight_text};
use crate::command::Command;
use crate::run::Run;
use crate::theme::Theme;
use crate::{format, widgets};

/// What a run offers to choose from.
#[derive(Debug)]
pub(super) struct Facts {
    /// Weights that the trace holds.
    pub(super) weights: Vec<Weight>,
    /// Threads with a title.
    pub(super) threads: Vec<(Thread, String)>,
    /// Layers that may have frames.
    pub(super) layers: Vec<Layer>,
    /// Steps on the slowest device.
    pub(super) steps: Vec<(String, Span)>,
}

impl Facts {
    pub(super) fn of(run: &Run) -> Self {
        let trace = &*run.trace;
        let titled = |thread: Thread| {
            let title = thread_title(trace, &thread);
            (thread, title)
        };
        Self {
            weights: Weight::ALL.into_iter().filter(|weight| weight.is_in(trace)).collect(),
            threads: tracecard_analyzers::flame::threads(trace).into_iter().map(titled).collect(),
            layers: layers(trace),
            steps: steps(run),
        }
    }

    /// The weight shown: what is chosen, else the first of device time, CPU time, samples that there is.
    pub(super) fn weight(&self, state: &State) -> Weight {
        let usual = [Weight::Device, Weight::Cpu, Weight::Samples];
        let chosen = state.weight.into_iter().chain(usual);
        chosen.into_iter().find(|weight| self.weights.contains(weight)).unwrap_or(Weight::Cpu)
    }
}

fn layers(trace: &Trace) -> Vec<Layer> {
    let has = |families: &[TrackFamily]| {
        trace.tracks.iter().any(|track| 0 < track.n_slices && families.contains(&track.key.family))
    };
    let code = [TrackFamily::Nvtx, TrackFamily::Ops];
    [
        (Layer::Python, &[TrackFamily::Python][..]),
        (Layer::Module, &[TrackFamily::Python]),
        (Layer::Range, &code),
        (Layer::Op, &code),
        (Layer::Library, &[TrackFamily::Library]),
        (Layer::Other, &[TrackFamily::Other, TrackFamily::Overhead]),
        (Layer::Api, &[TrackFamily::Api]),
        (Layer::OsRuntime, &[TrackFamily::OsRuntime]),
    ]
    .into_iter()
    .filter(|(_, families)| has(families))
    .map(|(layer, _)| layer)
    .collect()
}

fn thread_title(trace: &Trace, thread: &Thread) -> String {
    let of_thread = |track: &&tracecard_model::Track| {
        track.key.process == thread.process && track.key.thread == thread.id && !track.key.family.is_device()
    };
    let name = trace.tracks.iter().find(of_thread).map_or("", |track| track.name.as_str());
    let id = thread.id.as_deref().unwrap_or("no thread");
    let process = thread.process.and_then(|id| trace.processes.get(id.idx()));
    let process = match process {
        Some(process) if 1 < trace.processes.len() => match &process.name {
            Some(name) => format!(" · {name} {}", process.os_pid),
            None => format!(" · process {}", process.os_pid),
        },
        _ => String::new(),
    };
    if name.contains(id) { format!("{name}{process}") } else { format!("{name} · {id}{process}") }
}

/// The steps of the slowest device by start, as the timeline shows them.
fn steps(run: &Run) -> Vec<(String, Span)> {
    let Some(table) = run.table("step_list") else { return Vec::new() };
    let slowest = run.table("steps").and_then(|summary| summary.int(0, "device"));
    let device = slowest.or_else(|| table.int(0, "device"));
    let rows = (0..table.n_rows()).filter(|row| table.int(*row, "device") == device);
    let step = |row: usize| {
        let span = Span::new(table.int(row, "start_ns")?, table.int(row, "end_ns")?);
        Some((table.text(row, "name").unwrap_or_default().to_owned(), span))
    };
    let mut steps: Vec<(String, Span)> = rows.filter_map(step).collect();
    steps.sort_by_key(|(_, span)| (span.start_ns, span.end_ns));
    steps
}

fn weight_title(weight: Weight) -> &'static str {
    match weight {
        Weight::Cpu => "CPU time",
        Weight::Device => "Device time",
        Weight::Samples => "CPU samples",
    }
}

fn weight_explained(weight: Weight) -> &'static str {
    match weight {
        Weight::Cpu => "Time of host threads inside slices; threads add up",
        Weight::Device => {
            "Durations of kernels and copies under the host stack that launched them; what runs at the same \
             time counts each for itself. Beside them the idle time of the devices by cause"
        }
        Weight::Samples => "CPU samples under the call stack they were taken with",
    }
}

/// The line of choices; the response of the filter.
pub(super) fn ui(
    ui: &mut Ui,
    facts: &Facts,
    shown: Option<&Shown>,
    state: &mut State,
    commands: &mut Vec<Command>,
) -> egui::Response {
    weight_ui(ui, facts, state);
    for view in View::ALL {
        let button = ui.selectable_label(state.view == view, view.title());
        if button.on_hover_text(view.explained()).clicked() {
            state.turn(view);
        }
    }
    scope_ui(ui, facts, state);
    if 1 < facts.threads.len() {
        threads_ui(ui, facts, state);
    }
    layers_ui(ui, facts, state);
    let filter = widgets::filter_ui(ui, &mut state.filter, "Filter frames", 150.0);
    let filter = filter.on_hover_text("A regular expression, upper and lower case alike");
    if let Some(shown) = shown {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.menu_button("Copy", |ui| copy_ui(ui, shown, state, commands));
            ui.menu_button("Frame", |ui| commands.extend(menu::frame_ui(ui, shown, state)));
            // What is left over is for the numbers; they give way.
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| facts_ui(ui, shown));
        });
    }
    filter
}

fn weight_ui(ui: &mut Ui, facts: &Facts, state: &mut State) {
    let now = facts.weight(state);
    let menu = ui.menu_button(format!("{} ▾", weight_title(now)), |ui| {
        for weight in Weight::ALL {
            let is_there = facts.weights.contains(&weight);
            let button = egui::Button::selectable(weight == now, weight_title(weight));
            let response = ui.add_enabled(is_there, button).on_hover_text(weight_explained(weight));
            if response.on_disabled_hover_text("The file has none").clicked() {
                *state = State {
                    weight: Some(weight),
                    layers: None,
                    zooms: Vec::new(),
                    cursor: None,
                    ..state.clone()
                };
                ui.close();
            }
        }
    });
    menu.response.on_hover_text(weight_explained(now));
}

fn scope_ui(ui: &mut Ui, facts: &Facts, state: &mut State) {
    let title = match state.scope {
        Scope::Run => "Whole run".to_owned(),
        Scope::Window => "Timeline window".to_owned(),
        Scope::Selection => {
            format!(
                "Selection {}",
                state.span.map_or_else(String::new, |span| format::ns(span.dur_ns() as f64))
            )
        }
        Scope::Step(at) => facts.steps.get(at).map_or_else(|| "Whole run".to_owned(), |step| step.0.clone()),
    };
    ui.menu_button(format!("{title} ▾"), |ui| {
        let mut choose = |ui: &mut Ui, scope: Scope, title: &str| {
            if ui.selectable_label(state.scope == scope, title).clicked() {
                state.scope = scope;
                ui.close();
            }
        };
        choose(ui, Scope::Run, "Whole run");
        choose(ui, Scope::Window, "Timeline window");
        if let Some(span) = state.span {
            choose(ui, Scope::Selection, &format!("Selection {}", format::ns(span.dur_ns() as f64)));
        }
        if facts.steps.is_empty() {
            return;
        }
        ui.separator();
        let row_pt = ui.spacing().interact_size.y;
        ScrollArea::vertical().max_height(300.0).show_rows(ui, row_pt, facts.steps.len(), |ui, rows| {
            ui.set_min_width(220.0);
            for at in rows {
                let Some((name, span)) = facts.steps.get(at) else { continue };
                choose(ui, Scope::Step(at), &format!("{name} · {}", format::ns(span.dur_ns() as f64)));
            }
        });
    });
}

fn threads_ui(ui: &mut Ui, facts: &Facts, state: &mut State) {
    let n_all = facts.threads.len();
    let title = match &state.threads {
        None => "All threads".to_owned(),
        Some(threads) => format!("{} of {}", threads.len(), format::counted(n_all, "thread")),
    };
    ui.menu_button(format!("{title} ▾"), |ui| {
        ui.horizontal(|ui| {
            if ui.button("All").clicked() {
                state.threads = None;
            }
            if ui.button("None").clicked() {
                state.threads = Some(std::collections::BTreeSet::new());
            }
        });
        ui.separator();
        ScrollArea::vertical().max_height(300.0).show(ui, |ui| {
            for (thread, title) in &facts.threads {
                let mut is_chosen = state.threads.as_ref().is_none_or(|threads| threads.contains(thread));
                if !ui.checkbox(&mut is_chosen, title).changed() {
                    continue;
                }
                let all = || facts.threads.iter().map(|(thread, _)| thread.clone()).collect();
                let mut chosen: std::collections::BTreeSet<Thread> = state.threads.take().unwrap_or_else(all);
                if is_chosen {
                    chosen.insert(thread.clone());
                } else {
                    chosen.remove(thread);
                }
                state.threads = (chosen.len() < n_all).then_some(chosen);
            }
        });
    });
}

fn layers_ui(ui: &mut Ui, facts: &Facts, state: &mut State) {
    let weight = facts.weight(state);
    if weight == Weight::Samples {
        return;
    }
    ui.menu_button("Frames ▾", |ui| {
        let mut layers = state.layers.unwrap_or_else(|| weight.usual_layers());
        let idle = [Layer::Idle];
        let idle = idle.iter().filter(|_| weight == Weight::Device);
        for layer in facts.layers.iter().chain(idle) {
            let mut is_shown = layers.has(*layer);
            if ui.checkbox(&mut is_shown, layer_title(*layer)).changed() {
                layers = if is_shown { layers.with(*layer) } else { layers.without(*layer) };
                state.layers = Some(layers);
            }
        }
        ui.separator();
        if ui.button("As at first").clicked() {
            state.layers = None;
        }
    });
}

/// How much is shown, what matches, what is not told.
fn facts_ui(ui: &mut Ui, shown: &Shown) {
    let theme = Theme::of_ui(ui);
    let total = shown.edited.total();
    let amount = |weight: i64| weight_text(shown.edited.measure(), weight);
    let (text, hint) = match &shown.matches {
        None => (amount(total), None),
        Some(matches) if 0 < total => (
            format!("{} match", format::percent(matches.weight as f64 / total as f64)),
            Some(format!("{} of {}", amount(matches.weight), amount(total))),
        ),
        Some(_) => (format!("{} match", format::UNKNOWN), None),
    };
    let label = ui.add(egui::Label::new(RichText::new(text).color(theme.color.text_muted)).truncate());
    if let Some(hint) = hint {
        label.on_hover_text(hint);
    }
    let n_simplified = shown.edited.n_simplified();
    if 0 < n_simplified {
        let text = format!("{} simplified", format::count(i64::try_from(n_simplified).unwrap_or(i64::MAX)));
        let label = ui.label(RichText::new(text).color(theme.color.warning));
        label.on_hover_text(
            "Slices that cross very many others or lie very deep; their time is counted with a caller",
        );
    }
}

fn copy_ui(ui: &mut Ui, shown: &Shown, state: &State, commands: &mut Vec<Command>) {
    let cursor = state.cursor.as_ref();
    let node = cursor.and_then(|cursor| Some((cursor.side, super::keys::node_of(shown, cursor)?)));
    if ui.add_enabled(node.is_some(), egui::Button::new("Copy stack")).clicked()
        && let Some((side, node)) = node
    {
        let tree = shown.tree(side);
        commands.push(Command::Copy(tracecard_analyzers::flame::stack_text(&tree.path(node))));
        ui.close();
    }
    let button = ui.button("Copy as folded text").on_hover_text("For flamegraph.pl, inferno and speedscope");
    if button.clicked() {
        commands.push(Command::Copy(folded(&shown.edited)));
        ui.close();
    }
    let button = ui.button("Copy as table").on_hover_text("All frames as shown, as tab-separated text");
    if button.clicked() {
        commands.push(Command::Copy(tsv(&shown.below)));
        ui.close();
    }
}

/// What was changed, and the way back; and the way out of a zoom.
pub(super) fn chips_ui(ui: &mut Ui, shown: Option<&Shown>, state: &mut State) {
    let theme = Theme::of_ui(ui);
    if let Some(zoom) = state.zooms.last() {
        let name = zoom.last().map_or("", |frame| &*frame.name);
        let name = crate::short_name::short(name).into_owned();
        if ui.button("Zoom out").on_hover_text("Esc or Backspace").clicked() {
            state.zoom_out();
        }
        ui.label(RichText::new(name).color(theme.color.text_muted));
    }
    if !state.edits.is_empty() {
        if ui.button("Undo").on_hover_text("Take back the last change (U)").clicked() {
            state.undo_edit();
        }
        if ui.button("Undo all").clicked() {
            while !state.edits.is_empty() {
                state.undo_edit();
            }
        }
        let texts: Vec<String> = state.edits.iter().map(menu::edit_text).collect();
        ui.label(RichText::new(texts.join(" · ")).color(theme.color.text));
        if let Some(shown) = shown.filter(|shown| shown.edited.total() != shown.merged_total()) {
            let measure = shown.edited.measure();
            let text = format!(
                "{} of {}",
                weight_text(measure, shown.edited.total()),
                weight_text(measure, shown.merged_total())
            );
            ui.label(RichText::new(text).color(theme.color.text_muted));
        }
    }
}
