//! What the selected stretch of time is made of: slices by name, devices, counters, gaps.

mod devices;
mod model;

use egui::{RichText, Ui};
use tracecard_analyzers::Cell;
use tracecard_analyzers::selection::Selected;
use tracecard_model::SliceId;

pub use model::{Key, text};

use super::table::{self, Spec};
use super::{Cx, ViewId};
use crate::command::Command;
use crate::memo::Memo;
use crate::run::Run;
use crate::theme::Theme;
use crate::{fonts, format, widgets};

/// What is looked at of the stretch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tab {
    /// Slices by name.
    #[default]
    Slices,
    /// What devices do.
    Devices,
    /// Counters and metrics.
    Counters,
    /// Idle time, gap by gap.
    Gaps,
}

/// What the view remembers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// The open tab.
    pub tab: Tab,
    /// Sort order, filter and scroll of the slices.
    pub slices: table::State,
    /// The same of the gaps.
    pub gaps: table::State,
}

/// What is kept between frames and can be made again at any time.
#[derive(Debug, Default)]
pub struct Cache {
    /// What the stretch is made of, once it is known.
    pub(crate) selected: Memo<Key, Selected>,
    /// Why it is not known.
    pub(crate) failed: Option<String>,
    orders: [Memo<OrderKey, Vec<u32>>; 2],
}

type OrderKey = (Key, Option<table::Sort>, String);

const SLICES: Spec = Spec {
    view: ViewId::Selection,
    table: "selection_slices",
    analyzer: "",
    columns: &["name", "self_ns", "share_frac", "count", "total_ns", "kind"],
    empty: "No slice touches the selection.",
};

const GAPS: Spec = Spec {
    view: ViewId::Selection,
    table: "selection_gaps",
    analyzer: "",
    columns: &["cause", "dur_ns", "device", "start_ns"],
    empty: "The devices of the selection are never idle in it, or it holds none.",
};

/// Show what the selected stretch is made of.
pub fn ui(
    ui: &mut Ui,
    cx: &Cx<'_>,
    state: &mut State,
    cache: &mut Cache,
    wanted: Option<&Key>,
) -> Vec<Command> {
    let mut commands = Vec::new();
    let Some(run) = cx.run else {
        widgets::empty_ui(ui, "No trace is open", "What a stretch of time is made of is shown here.");
        return commands;
    };
    let Some(wanted) = wanted else {
        widgets::empty_ui(
            ui,
            "No stretch of time is selected",
            "Drag along the time axis, Shift + drag over lanes, or press R to take that of the selected slice.",
        );
        return commands;
    };
    if let Some(reason) = &cache.failed {
        widgets::empty_ui(ui, "The selection could not be summed up", reason);
        return commands;
    }
    let theme = Theme::of_ui(ui);
    let Cache { selected, orders, .. } = cache;
    let is_current = selected.is_for(wanted);
    let Some((key, selected)) = selected.last_with_key().filter(|(key, _)| key.run == wanted.run) else {
        widgets::empty_ui(ui, "Summing up the selection…", "");
        return commands;
    };
    let frame = egui::Frame::new().inner_margin(theme.space.m);
    frame.show(ui, |ui| commands.extend(head_ui(ui, theme, run, wanted, selected, is_current)));
    frame_ui(ui, theme, |ui| tabs_ui(ui, state, selected));
    let [slice_order, gap_order] = orders;
    match state.tab {
        Tab::Slices => {
            let order = order(slice_order, key, &state.slices, &selected.slices);
            let of_table = table::of_table_ui(
                ui,
                cx.selection,
                &SLICES,
                &selected.slices,
                &mut state.slices,
                Some(order),
            );
            commands.extend(of_table.into_iter().map(|command| match command {
                Command::CopyTable(_) => copy(&SLICES, &selected.slices, &state.slices, order),
                other => other,
            }));
        }
        Tab::Gaps => {
            let order = order(gap_order, key, &state.gaps, &selected.gaps);
            let of_table =
                table::of_table_ui(ui, cx.selection, &GAPS, &selected.gaps, &mut state.gaps, Some(order));
            commands.extend(of_table.into_iter().map(|command| match command {
                Command::CopyTable(_) => copy(&GAPS, &selected.gaps, &state.gaps, order),
                other => other,
            }));
        }
        Tab::Devices => devices::devices_ui(ui, theme, run, selected),
        Tab::Counters => devices::counters_ui(ui, theme, run, selected),
    }
    commands
}

fn copy(spec: &Spec, rows: &tracecard_analyzers::Table, state: &table::State, order: &[u32]) -> Command {
    let columns: Vec<&str> = state.shown(spec, rows).iter().map(|column| column.id).collect();
    Command::Copy(table::tsv(rows, &columns, order))
}

fn order<'a>(
    memo: &'a mut Memo<OrderKey, Vec<u32>>,
    key: &Key,
    state: &table::State,
    rows: &tracecard_analyzers::Table,
) -> &'a [u32] {
    memo.get((key.clone(), state.sort, state.filter.clone()), |(_, sort, filter)| {
        table::order(rows, filter, sort.as_ref())
    })
}

fn frame_ui(ui: &mut Ui, theme: &Theme, add: impl FnOnce(&mut Ui)) {
    let margin = egui::Margin::symmetric(theme.space.m as i8, 0);
    egui::Frame::new().inner_margin(margin).show(ui, add);
}

fn head_ui(
    ui: &mut Ui,
    theme: &Theme,
    run: &Run,
    key: &Key,
    selected: &Selected,
    is_current: bool,
) -> Vec<Command> {
    let mut commands = Vec::new();
    let span = key.area.span;
    ui.horizontal(|ui| {
        let length =
            RichText::new(format::ns(span.dur_ns() as f64)).font(fonts::semibold(theme.font.heading));
        ui.label(length.color(theme.color.text_strong));
        let lanes = match &key.area.lanes {
            None => "all lanes".to_owned(),
            Some(lanes) => format::counted(lanes.len(), "lane"),
        };
        let n_slices = format::counted(usize::try_from(selected.n_slices).unwrap_or(usize::MAX), "slice");
        let text =
            if is_current { format!("{lanes} · {n_slices}") } else { format!("{lanes} · summing up…") };
        ui.add(egui::Label::new(RichText::new(text).color(theme.color.text_muted)).truncate());
    });
    let from_to = format!("{} to {}", format::exact_ns(span.start_ns), format::exact_ns(span.end_ns));
    ui.add(egui::Label::new(RichText::new(from_to).color(theme.color.text_muted)).truncate());
    ui.horizontal_wrapped(|ui| {
        if ui.button("Zoom to it").clicked() {
            commands.push(Command::ShowSpan(span));
        }
        if ui.button("Copy all").on_hover_text("Copy everything known about it as text").clicked() {
            commands.push(Command::Copy(text(&run.trace, &key.area, selected)));
        }
        if ui.button("Clear").on_hover_text("Esc").clicked() {
            commands.push(Command::SetArea(None));
        }
    });
    commands
}

fn tabs_ui(ui: &mut Ui, state: &mut State, selected: &Selected) {
    ui.horizontal_wrapped(|ui| {
        for (tab, title, n) in [
            (Tab::Slices, "Slices", selected.slices.n_rows()),
            (Tab::Devices, "Devices", selected.devices.len()),
            (Tab::Counters, "Counters", selected.counters.len()),
            (Tab::Gaps, "Gaps", selected.gaps.n_rows()),
        ] {
            let text = if n == 0 { title.to_owned() } else { format!("{title} {}", format::count(n as i64)) };
            ui.selectable_value(&mut state.tab, tab, text);
        }
    });
}

/// The slice of a row, to show it.
pub fn example(rows: &tracecard_analyzers::Table, row: usize) -> Option<SliceId> {
    match rows.column("example")?.data.cell(row) {
        Cell::Slice(slice) => Some(slice),
        _ => None,
    }
}
