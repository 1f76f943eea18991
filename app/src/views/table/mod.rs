//! A table of the analysis: sorted by a click on a heading, filtered by a word, a click on a row shows its
//! example in the timeline. Only the rows in sight are formatted.

mod model;
mod spec;

use egui::{Align, Button, EventFilter, Key, Layout, RichText, Sense, Ui, WidgetInfo, vec2};
use egui_extras::{Column as TableColumn, TableBuilder, TableRow};
use tracecard_analyzers::{Analysis, Cell, Column, Table, Unit};
use tracecard_model::SliceId;

pub use model::{order, tsv};
pub use spec::{SPECS, Spec, spec};

use super::{Cx, ViewId};
use crate::command::Command;
use crate::text_width::TextWidth;
use crate::theme::Theme;
use crate::{format, short_name, widgets};

/// By what a table is sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sort {
    /// Id of the column.
    pub column: &'static str,
    /// Largest first?
    pub is_descending: bool,
}

/// What a table view remembers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// `None`: the order of the table itself.
    pub sort: Option<Sort>,
    /// Only rows with this in one of their texts.
    pub filter: String,
    /// Columns shown, in the order of the table; `None`: those of the [`Spec`].
    pub columns: Option<Vec<&'static str>>,
    /// The chosen row, by its number in the table.
    pub row: Option<u32>,
    /// How far the rows are scrolled, in points.
    pub scroll_pt: f32,
    /// Widths of the shown columns in points; empty until they were laid out once.
    pub widths_pt: Vec<f32>,
}

/// Narrower columns cannot be read, in points.
const MIN_COLUMN_PT: f32 = 44.0;
/// The first column gives way down to this width, in points.
const MIN_NAME_PT: f32 = 180.0;

impl State {
    /// Forget what belongs to a run; keep what belongs to the user.
    pub fn reset_for_new_run(&mut self) {
        self.row = None;
        self.scroll_pt = 0.0;
    }

    /// Columns shown.
    pub fn shown<'t>(&self, spec: &Spec, table: &'t Table) -> Vec<&'t Column> {
        match &self.columns {
            Some(ids) => table.columns.iter().filter(|column| ids.contains(&column.id)).collect(),
            None => {
                let first: Vec<_> = spec.columns.iter().filter_map(|id| table.column(id)).collect();
                let rest = table.columns.iter().filter(|column| column.unit != Unit::Slice);
                if first.is_empty() { rest.collect() } else { first }
            }
        }
    }

    /// Next sort order when a heading is clicked: largest first, smallest first, as it was; texts begin
    /// with A.
    fn click(&mut self, column: &Column) {
        let begins_descending = column.unit != Unit::Text;
        self.sort = match self.sort {
            Some(sort) if sort.column == column.id => (sort.is_descending == begins_descending)
                .then_some(Sort { column: column.id, is_descending: !begins_descending }),
            _ => Some(Sort { column: column.id, is_descending: begins_descending }),
        };
        self.scroll_pt = 0.0;
    }
}

/// Show a table. `order` are the rows to show, made by [`order`]; `None` while they are being ordered for
/// the first time.
pub fn ui(ui: &mut Ui, cx: &Cx<'_>, spec: &Spec, state: &mut State, order: Option<&[u32]>) -> Vec<Command> {
    let Some((_, analysis)) = super::analysis_ui(ui, cx) else { return Vec::new() };
    let Some(table) = analysis.table(spec.table) else {
        widgets::empty_ui(ui, "No answer", &format::sentence(abstained(analysis, spec)));
        return Vec::new();
    };
    of_table_ui(ui, cx.selection, spec, table, state, order)
}

/// As [`ui`], of a table that is at hand.
pub fn of_table_ui(
    ui: &mut Ui,
    selection: Option<SliceId>,
    spec: &Spec,
    table: &Table,
    state: &mut State,
    order: Option<&[u32]>,
) -> Vec<Command> {
    if table.n_rows() == 0 {
        widgets::empty_ui(ui, "Nothing here", spec.empty);
        return Vec::new();
    }
    let Some(order) = order else {
        widgets::empty_ui(ui, "Ordering the rows…", "");
        return Vec::new();
    };
    let theme = Theme::of_ui(ui);
    let mut commands = Vec::new();
    let frame =
        egui::Frame::new().inner_margin(egui::Margin::symmetric(theme.space.m as i8, theme.space.s as i8));
    frame.show(ui, |ui| {
        ui.horizontal(|ui| commands.extend(bar_ui(ui, spec, state, table, order.len())));
    });
    if order.is_empty() {
        widgets::empty_ui(
            ui,
            "No row matches the filter",
            &format!("“{}” is in none of the texts.", state.filter),
        );
        return commands;
    }
    commands.extend(Rows { theme, spec, table, order, selection }.ui(ui, state));
    commands
}

/// Why an analyzer has no table.
fn abstained<'a>(analysis: &'a Analysis, spec: &Spec) -> &'a str {
    let reason = analysis.abstained.iter().find(|(id, _)| *id == spec.analyzer);
    reason.map_or("This trace does not hold what the table needs.", |(_, reason)| reason)
}

/// Room beside the filter for the buttons, in points.
const BUTTONS_PT: f32 = 150.0;

fn bar_ui(ui: &mut Ui, spec: &Spec, state: &mut State, table: &Table, n_shown: usize) -> Vec<Command> {
    let mut commands = Vec::new();
    let theme = Theme::of_ui(ui);
    let label = format!("Filter {}", spec.view.title().to_lowercase());
    let filter_pt = (ui.available_width() - BUTTONS_PT).clamp(70.0, 220.0);
    if widgets::filter_ui(ui, &mut state.filter, &label, filter_pt).changed() {
        state.scroll_pt = 0.0;
    }
    let n_rows = table.n_rows();
    let count = if n_shown == n_rows {
        format::counted(n_rows, "row")
    } else {
        format!("{} of {}", format::count(n_shown as i64), format::counted(n_rows, "row"))
    };
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        if ui.button("Copy").on_hover_text("Copy these rows as tab-separated text").clicked() {
            commands.push(Command::CopyTable(spec.view));
        }
        ui.menu_button("Columns", |ui| columns_ui(ui, spec, state, table));
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            ui.add(egui::Label::new(RichText::new(count).color(theme.color.text_muted)).truncate());
        });
    });
    commands
}

fn columns_ui(ui: &mut Ui, spec: &Spec, state: &mut State, table: &Table) {
    let mut shown: Vec<&'static str> = state.shown(spec, table).iter().map(|column| column.id).collect();
    for column in table.columns.iter().filter(|column| column.unit != Unit::Slice) {
        let mut is_shown = shown.contains(&column.id);
        if ui.checkbox(&mut is_shown, column.title).on_hover_text(column.doc).changed() {
            if is_shown {
                shown.push(column.id);
            } else if 1 < shown.len() {
                shown.retain(|id| *id != column.id);
            }
            state.columns = Some(shown.clone());
            state.widths_pt.clear();
        }
    }
    ui.separator();
    if ui.button("As at first").clicked() {
        state.columns = None;
        state.widths_pt.clear();
    }
}

struct Rows<'a> {
    theme: &'a Theme,
    spec: &'a Spec,
    table: &'a Table,
    order: &'a [u32],
    selection: Option<SliceId>,
}

impl Rows<'_> {
    fn ui(&self, ui: &mut Ui, state: &mut State) -> Vec<Command> {
        let columns = state.shown(self.spec, self.table);
        let mut commands = Vec::new();
        let focus_id = ui.make_persistent_id("rows");
        let scroll_to = self.keys(ui, focus_id, state, &mut commands);
        let least_pt: f32 = columns.iter().enumerate().map(|(idx, column)| self.least_pt(idx, column)).sum();
        let body_font = egui::FontId::proportional(self.theme.font.body);
        let text_width =
            ui.ctx().fonts_mut(|fonts| TextWidth::from_advances(|sign| fonts.glyph_width(&body_font, sign)));
        let least_pt = least_pt + 8.0 * columns.len() as f32;
        let margin = egui::Margin::symmetric(self.theme.space.m as i8, 0);
        egui::ScrollArea::horizontal().auto_shrink(false).content_margin(margin).show(ui, |ui| {
            ui.set_min_width(least_pt.max(ui.available_width()));
            ui.spacing_mut().item_spacing = vec2(self.theme.space.m, 0.0);
            let mut builder = TableBuilder::new(ui)
                .id_salt((self.spec.table, columns.len()))
                .striped(true)
                .resizable(true)
                .sense(Sense::click())
                .auto_shrink(false)
                .min_scrolled_height(40.0)
                .vertical_scroll_offset(state.scroll_pt)
                .cell_layout(Layout::left_to_right(Align::Center));
            for (idx, column) in columns.iter().enumerate() {
                builder = builder.column(match (idx, state.widths_pt.get(idx)) {
                    (0, _) => {
                        TableColumn::remainder().at_least(self.name_pt(column)).clip(true).resizable(false)
                    }
                    (_, Some(width_pt)) => TableColumn::initial(*width_pt).at_least(MIN_COLUMN_PT).clip(true),
                    (_, None) => {
                        TableColumn::initial(self.least_pt(idx, column)).at_least(MIN_COLUMN_PT).clip(true)
                    }
                });
            }
            builder = match scroll_to {
                Some(row) => builder.scroll_to_row(row, None),
                None => builder,
            };
            let table = builder.header(self.theme.size.header, |mut row| {
                for column in &columns {
                    row.col(|ui| self.heading_ui(ui, state, column));
                }
            });
            let output = table.body(|body| {
                state.widths_pt = body.widths().to_vec();
                body.rows(self.theme.size.row, self.order.len(), |mut row| {
                    let Some(number) = self.order.get(row.index()).copied() else { return };
                    row.set_selected(self.is_selected(state, number));
                    self.row_ui(&mut row, &columns, number, &text_width);
                    if row.response().clicked() {
                        self.choose(state, number, &mut commands);
                        row.response().ctx.memory_mut(|memory| memory.request_focus(focus_id));
                    }
                });
            });
            state.scroll_pt = output.state.clamped_offset().y;
        });
        commands
    }

    /// Arrow keys move the chosen row while the table has the focus; the index to scroll to.
    fn keys(&self, ui: &Ui, id: egui::Id, state: &mut State, commands: &mut Vec<Command>) -> Option<usize> {
        let rect = ui.available_rect_before_wrap();
        let response = ui.interact(rect, id, Sense::focusable_noninteractive());
        response.widget_info(|| {
            let label = format!("{}, {}", self.spec.view.title(), format::counted(self.order.len(), "row"));
            WidgetInfo::labeled(egui::Role::Table, true, label)
        });
        if !response.has_focus() {
            return None;
        }
        let filter = EventFilter { vertical_arrows: true, ..EventFilter::default() };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(id, filter));
        let presses = |key| ui.input(|input| input.num_presses(key)) as isize;
        let step = presses(Key::ArrowDown) - presses(Key::ArrowUp);
        if step == 0 {
            return None;
        }
        let at = state.row.and_then(|row| self.order.iter().position(|other| *other == row));
        let last = self.order.len().saturating_sub(1);
        let next = at.map_or(0, |at| at.saturating_add_signed(step).min(last));
        let number = *self.order.get(next)?;
        self.choose(state, number, commands);
        Some(next)
    }

    fn choose(&self, state: &mut State, number: u32, commands: &mut Vec<Command>) {
        state.row = Some(number);
        if let Some(slice) = self.example(number) {
            commands.push(Command::Reveal(slice));
        }
    }

    fn example(&self, number: u32) -> Option<SliceId> {
        let column = self.table.columns.iter().find(|column| column.unit == Unit::Slice)?;
        match column.data.cell(number as usize) {
            Cell::Slice(slice) => Some(slice),
            _ => None,
        }
    }

    fn is_selected(&self, state: &State, number: u32) -> bool {
        state.row == Some(number) || (self.selection.is_some() && self.example(number) == self.selection)
    }

    fn heading_ui(&self, ui: &mut Ui, state: &mut State, column: &Column) {
        let arrow = match state.sort {
            Some(sort) if sort.column == column.id => {
                if sort.is_descending {
                    " ▼"
                } else {
                    " ▲"
                }
            }
            _ => "",
        };
        let layout = if is_right_aligned(column) {
            Layout::right_to_left(Align::Center)
        } else {
            Layout::left_to_right(Align::Center)
        };
        ui.with_layout(layout, |ui| {
            let text = RichText::new(format!("{}{arrow}", column.title)).color(self.theme.color.text_muted);
            let button = Button::new(text).frame(false).truncate();
            if ui.add(button).on_hover_text(format!("{}\n{}", column.title, column.doc)).clicked() {
                state.click(column);
                ui.ctx().request_repaint();
            }
        });
    }

    fn row_ui(&self, row: &mut TableRow<'_, '_>, columns: &[&Column], number: u32, text_width: &TextWidth) {
        for column in columns {
            let cell = column.data.cell(number as usize);
            let (_, response) = row.col(|ui| self.cell_ui(ui, column, cell, text_width));
            if let Cell::Text(text) = cell {
                response.on_hover_ui(|ui| {
                    ui.set_max_width(600.0);
                    let shown: String = text.chars().take(2_000).collect();
                    ui.label(shown);
                });
            }
        }
    }

    fn cell_ui(&self, ui: &mut Ui, column: &Column, cell: Cell<'_>, text_width: &TextWidth) {
        let color = match cell {
            Cell::Unknown => self.theme.color.text_disabled,
            _ => self.theme.color.text,
        };
        if let Cell::Text(text) = cell {
            let fitted = short_name::fit(text, ui.available_width(), text_width);
            let shown = fitted.as_deref().unwrap_or("…").replace(['\n', '\r', '\t'], " ");
            ui.add(egui::Label::new(RichText::new(shown).color(color)).selectable(false).truncate());
            return;
        }
        if let (Unit::Frac, Cell::Real(frac)) = (column.unit, cell) {
            let rect = ui.max_rect().shrink2(vec2(0.0, 3.0));
            let bar = egui::Rect::from_min_size(
                rect.min,
                vec2(rect.width() * frac.clamp(0.0, 1.0) as f32, rect.height()),
            );
            ui.painter().rect_filled(bar, 2.0, self.theme.color.accent.gamma_multiply(0.3));
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let text = RichText::new(format::cell(cell, column.unit)).color(color);
            ui.add(egui::Label::new(text).selectable(false).extend());
        });
    }

    /// The least width of the first column, by what stands in it.
    fn name_pt(&self, column: &Column) -> f32 {
        let chars = |row: usize| match column.data.cell(row) {
            Cell::Text(text) => text.chars().count(),
            _ => 0,
        };
        let longest = (0..NAMES_MEASURED).map(|row| chars(row as usize)).max().unwrap_or(0);
        (longest as f32 * 7.5).clamp(90.0, MIN_NAME_PT)
    }

    /// Width that a column should have at first.
    fn least_pt(&self, idx: usize, column: &Column) -> f32 {
        let heading_pt = column.title.chars().count() as f32 * 7.0 + 16.0;
        match column.unit {
            _ if idx == 0 => self.name_pt(column),
            Unit::Text if column.id == "shapes" => 170.0,
            Unit::Text => heading_pt.max(96.0),
            _ => heading_pt.clamp(64.0, 120.0),
        }
    }
}

/// The longest of so many names decides how narrow their column may be.
const NAMES_MEASURED: u32 = 30;

fn is_right_aligned(column: &Column) -> bool {
    column.unit != Unit::Text
}

/// Which views are tables.
pub fn is_table(view: ViewId) -> bool {
    spec(view).is_some()
}
