//! What was wrong in the input: by severity, counted, with an example.

use egui::{RichText, Ui};
use tracecard_model::{Issue, Severity};

use super::Cx;
use crate::command::Command;
use crate::theme::Theme;
use crate::{fonts, format, widgets};

/// The state of a trace in one word, with its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Badge {
    /// The gravest severity; `None` when there are no issues.
    pub severity: Option<Severity>,
    /// How many kinds of issue have it.
    pub n_kinds: usize,
}

impl Badge {
    /// Of these issues.
    pub fn of(issues: &[Issue]) -> Self {
        let severity = issues.iter().map(|issue| issue.severity).max();
        let n_kinds = issues.iter().filter(|issue| Some(issue.severity) == severity).count();
        Self { severity, n_kinds }
    }

    /// `2 warnings`, `No issues`.
    pub fn text(self) -> String {
        match self.severity {
            None => "No issues".to_owned(),
            Some(Severity::Info) => format::counted(self.n_kinds, "note"),
            Some(Severity::Warning) => format::counted(self.n_kinds, "warning"),
            Some(Severity::DataLoss) => {
                if self.n_kinds == 1 {
                    "Data is missing".to_owned()
                } else {
                    format!("Data is missing · {}", self.n_kinds)
                }
            }
        }
    }

    /// Colour of the word.
    pub fn color(self, theme: &Theme) -> egui::Color32 {
        match self.severity {
            None => theme.color.ok,
            Some(severity) => severity_color(severity, theme),
        }
    }
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
        Severity::DataLoss => "Data loss",
    }
}

/// Show the issues.
pub fn ui(ui: &mut Ui, cx: &Cx<'_>) -> Vec<Command> {
    let mut commands = Vec::new();
    let Some(run) = cx.run else {
        widgets::empty_ui(ui, "No trace is open", "Its health is shown here.");
        return commands;
    };
    let theme = Theme::of_ui(ui);
    let issues = &run.trace.issues;
    if issues.is_empty() {
        widgets::empty_ui(
            ui,
            "No issues",
            "Everything in the file was understood, and nothing was left out.",
        );
        return commands;
    }
    egui::ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        egui::Frame::new().inner_margin(theme.space.l).show(ui, |ui| {
            for issue in issues {
                issue_ui(ui, theme, issue);
                ui.add_space(theme.space.l);
            }
            if ui.button("Copy all").on_hover_text("Copy the issues as text").clicked() {
                commands.push(Command::Copy(text(issues)));
            }
        });
    });
    commands
}

fn issue_ui(ui: &mut Ui, theme: &Theme, issue: &Issue) {
    let color = severity_color(issue.severity, theme);
    ui.horizontal_wrapped(|ui| {
        ui.label(
            RichText::new(severity_title(issue.severity)).font(fonts::semibold(theme.font.body)).color(color),
        );
        let count = i64::try_from(issue.count).unwrap_or(i64::MAX);
        ui.label(RichText::new(format!("× {}", format::count(count))).color(theme.color.text_muted));
    });
    ui.label(&issue.text);
    if let Some(example) = &issue.example {
        let shown: String = example.chars().take(400).collect();
        ui.label(RichText::new(format!("e.g. {shown}")).color(theme.color.text_muted));
    }
    ui.label(
        RichText::new(issue.code)
            .font(egui::FontId::monospace(theme.font.small))
            .color(theme.color.text_muted),
    );
}

fn text(issues: &[Issue]) -> String {
    let line = |issue: &Issue| {
        let example = issue.example.as_deref().unwrap_or_default().replace(['\t', '\n'], " ");
        format!("{}\t{}\t{}\t{}\t{example}\n", issue.severity.text(), issue.code, issue.count, issue.text)
    };
    issues.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn badge(severities: &[Severity]) -> String {
        let issue = |severity: &Severity| Issue {
            severity: *severity,
            code: "code",
            text: String::new(),
            count: 1,
            example: None,
        };
        Badge::of(&severities.iter().map(issue).collect::<Vec<_>>()).text()
    }

    #[test]
    fn the_badge_names_the_gravest() {
        assert_eq!(badge(&[]), "No issues");
        assert_eq!(badge(&[Severity::Info, Severity::Warning, Severity::Warning]), "2 warnings");
        assert_eq!(badge(&[Severity::DataLoss, Severity::Warning]), "Data is missing");
    }
}
