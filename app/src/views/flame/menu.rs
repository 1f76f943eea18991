//! What can be done with a frame, by right click or from the bar.

use egui::{Button, Ui};
use tracecard_analyzers::flame::{Edit, Layer, stack_text};

use super::keys::node_of;
use super::model::Shown;
use super::state::{State, View};
use crate::command::Command;

/// The actions for the frame under the cursor.
pub(super) fn frame_ui(ui: &mut Ui, shown: &Shown, state: &mut State) -> Vec<Command> {
    let mut commands = Vec::new();
    let item = |ui: &mut Ui, text: &str, key: &str| {
        let is_clicked = ui.add(Button::new(text).shortcut_text(key)).clicked();
        if is_clicked {
            ui.close();
        }
        is_clicked
    };
    if item(ui, "Collapse all recursion", "") {
        state.edit(Edit::CollapseAllRecursion);
    }
    let has_modules = shown.edited.frames().iter().any(|frame| frame.layer == Layer::Module);
    if has_modules && item(ui, "Merge modules of one class", "") {
        state.edit(Edit::MergeModules);
    }
    ui.separator();
    let Some(cursor) = state.cursor.clone() else {
        ui.weak("Click a frame for more");
        return commands;
    };
    let (Some(node), Some(frame)) = (node_of(shown, &cursor), cursor.path.last()) else { return commands };
    let tree = shown.tree(cursor.side);
    if shown.key.view != View::Sandwich && item(ui, "Zoom to it", "Enter") {
        state.zoom(&cursor);
    }
    if item(ui, "Callers and callees", "") {
        state.choose(frame.clone());
    }
    ui.separator();
    if item(ui, "Only this frame", "F") {
        state.edit(Edit::Focus(frame.clone()));
    }
    if item(ui, "Hide stacks with it", "X") {
        state.edit(Edit::HideStacks(frame.clone()));
    }
    if item(ui, "Take the frame out", "H") {
        state.edit(Edit::HideFrame(frame.clone()));
    }
    if item(ui, "Collapse its recursion", "C") {
        state.edit(Edit::CollapseRecursion(frame.clone()));
    }
    ui.separator();
    if item(ui, "Filter by its name", "") {
        state.filter = format!("^{}$", regex::escape(&frame.name));
    }
    if let Some(slice) = tree.example(node)
        && item(ui, "Show its longest slice in the timeline", "")
    {
        commands.push(Command::Reveal(slice));
    }
    if item(ui, "Copy stack", "") {
        commands.push(Command::Copy(stack_text(&tree.path(node))));
    }
    commands
}

/// An edit in a few words.
pub(super) fn edit_text(edit: &Edit) -> String {
    match edit {
        Edit::Focus(frame) => format!("Only {}", short(&frame.name)),
        Edit::HideStacks(frame) => format!("No stacks with {}", short(&frame.name)),
        Edit::HideFrame(frame) => format!("Without {}", short(&frame.name)),
        Edit::CollapseRecursion(frame) => format!("{} collapsed", short(&frame.name)),
        Edit::CollapseAllRecursion => "Recursion collapsed".to_owned(),
        Edit::MergeModules => "Modules by class".to_owned(),
    }
}

/// Longer names do not fit into a chip.
const MAX_CHIP_CHARS: usize = 40;

fn short(name: &str) -> String {
    let name = crate::short_name::short(name);
    if name.chars().count() <= MAX_CHIP_CHARS {
        return name.into_owned();
    }
    name.chars().take(MAX_CHIP_CHARS).chain(['…']).collect()
}
