//! The answer: where the time went.

use egui::Ui;

use super::Cx;
use crate::command::Command;

/// Show it.
pub fn ui(ui: &mut Ui, cx: &Cx<'_>) -> Vec<Command> {
    let _ = super::analysis_ui(ui, cx);
    Vec::new()
}
