//! What was wrong in the input: by severity, counted, with an example.

use egui::{RichText, Ui};
use tracecard_analyzers::Cell;
use tracecard_model::{Issue, Severity, SliceId};

use super::Cx;
use crate::command::Command;
use crate::run::Run;
use crate::theme::Theme;
use crate::{fonts, format, widgets};

/// One kind of trouble.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Row<'a> {
    severity: Severity,
    code: &'a str,
    count: i64,
    text: &'a str,
    example: Option<&'a str>,
    slice: Option<SliceId>,
}

/// The state of a trace in a few words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Badge {
    /// The gravest severity; `None` when there is no trouble.
    pub severity: Option<Severity>,
    /// How many kinds of trouble have it.
    pub n_kinds: usize,
}

impl Badge {
    /// Of a run as far as it is known.
    pub fn of(run: &Run) -> Self {
        Self::of_severities(rows(run).iter().map(|row| row.severity))
    }

    fn of_severities(severities: impl Iterator<Item = Severity> + Clone) -> Self {
        let severity = severities.clone().max();
        Self { severity, n_kinds: severities.filter(|other| Some(*other) == severity).count() }
    }

    /// `2 warnings`, `No issues`.
    pub fn text(self) -> String {
        match self.severity {
            None => "No issues".to_owned(),
            Some(Severity::Info) => format::counted(self.n_kinds, "note"),
            Some(Severity::Warning) => format::counted(self.n_kinds, "warning"),
            Some(Severity::DataLoss) => "Data is missing".to_owned(),
        }
    }

    /// Colour of the words.
    pub fn color(self, theme: &Theme) -> egui::Color32 {
        self.severity.map_or(theme.color.ok, |severity| severity_color(severity, theme))
    }
}

/// What the analysis doubts, which has what the importer met; before the analysis, that alone.
fn rows(run: &Run) -> Vec<Row<'_>> {
    let Some(table) = run.table("health") else {
        return run.trace.issues.iter().map(Row::of).collect();
    };
    let row = |row: usize| {
        Some(Row {
            severity: severity_of(table.text(row, "severity")?)?,
            code: table.text(row, "code")?,
            count: table.int(row, "count")?,
            text: table.text(row, "text")?,
            example: table.text(row, "example"),
            slice: match table.cell(row, "slice") {
                Cell::Slice(slice) => Some(slice),
                _ => None,
            },
        })
    };
    (0..table.n_rows()).filter_map(row).collect()
}

impl<'a> Row<'a> {
    fn of(issue: &'a Issue) -> Self {
        Self {
            severity: issue.severity,
            code: issue.code,
            count: i64::try_from(issue.count).unwrap_or(i64::MAX),
            text: &issue.text,
            example: issue.example.as_deref(),
            slice: None,
        }
    }
}

fn severity_of(text: &str) -> Option<Severity> {
    [Severity::Info, Severity::Warning, Severity::DataLoss].into_iter().find(|severity| severity.text() == text)
}

fn severity_color(severity: Severity, theme: &Theme) -> egui::Color32 {
    match severity {
        Severity::Info => theme.color.text_muted,
        Severity::Warning => theme.color.warning,
        Severity::DataLoss => theme.color.error,
    }
}

/// What a severity means for the reader.
fn severity_title(severity: Severity) -> &'static str {
    match severity {
        Severity::Info => "Note",
        Severity::Warning => "Warning",
        Severity::DataLoss => "Data is missing",
    }
}

/// Show the troubles.
pub fn ui(ui: &mut Ui, cx: &Cx<'_>) -> Vec<Command> {
    let mut commands = Vec::new();
    let Some(run) = cx.run else {
        widgets::empty_ui(ui, "No trace is open", "Its health is shown here.");
        return commands;
    };
    let theme = Theme::of_ui(ui);
    let rows = rows(run);
    if rows.is_empty() {
        widgets::empty_ui(ui, "No issues", "Everything in the file was understood, and nothing was left out.");
        return commands;
    }
    egui::ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        egui::Frame::new().inner_margin(theme.space.l).show(ui, |ui| {
            for row in &rows {
                ui.push_id(row.code, |ui| row_ui(ui, theme, row, &mut commands));
                ui.add_space(theme.space.l);
            }
            if ui.button("Copy all").on_hover_text("Copy them as tab-separated text").clicked() {
                commands.push(Command::Copy(text(&rows)));
            }
        });
    });
    commands
}

fn row_ui(ui: &mut Ui, theme: &Theme, row: &Row<'_>, commands: &mut Vec<Command>) {
    ui.horizontal(|ui| {
        let title = RichText::new(severity_title(row.severity)).font(fonts::semibold(theme.font.body));
        ui.label(title.color(severity_color(row.severity, theme)));
        ui.label(RichText::new(format!("× {}", format::count(row.count))).color(theme.color.text_muted));
        if let Some(slice) = row.slice {
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                let response = widgets::link_ui(ui, RichText::new("Show"), theme.color.accent);
                if response.on_hover_text("Show an example in the timeline").clicked() {
                    commands.push(Command::Reveal(slice));
                }
            });
        }
    });
    ui.label(format::sentence(row.text));
    if let Some(example) = row.example {
        let shown: String = example.chars().take(300).collect();
        ui.label(RichText::new(format!("e.g. {shown}")).color(theme.color.text_muted));
    }
    let code = RichText::new(row.code).font(egui::FontId::monospace(theme.font.small));
    ui.label(code.color(theme.color.text_muted));
}

fn text(rows: &[Row<'_>]) -> String {
    let line = |row: &Row<'_>| {
        let example = row.example.unwrap_or_default().replace(['\t', '\n'], " ");
        format!("{}\t{}\t{}\t{}\t{example}\n", row.severity.text(), row.code, row.count, row.text)
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_badge_names_the_gravest() {
        let badge = |severities: &[Severity]| Badge::of_severities(severities.iter().copied()).text();
        assert_eq!(badge(&[]), "No issues");
        assert_eq!(badge(&[Severity::Info, Severity::Warning, Severity::Warning]), "2 warnings");
        assert_eq!(badge(&[Severity::DataLoss, Severity::Warning]), "Data is missing");
    }
}
