//! The keyboard over the frames.
//!
//! Arrows move between frames, Enter zooms, Backspace and Esc go back, `/` filters; F shows only this frame,
//! X hides stacks with it, H takes it out, C collapses its recursion, U takes the last of these back.

use egui::{EventFilter, Key, Response, Ui};
use tracecard_analyzers::flame::{Edit, FlameTree, NodeId};

use super::layout::Items;
use super::model::Shown;
use super::state::{Cursor, Side, State, View};

/// Arrow keys, Enter and so on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Move {
    Up,
    Down,
    Left,
    Right,
}

/// What keys ask for beside changes of the state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Asked {
    /// Bring the cursor into sight.
    pub(super) is_moved: bool,
    /// Type into the filter.
    pub(super) is_filter: bool,
}

pub(super) fn keys(ui: &Ui, response: &Response, shown: &Shown, items: &Items, state: &mut State) -> Asked {
    let mut asked = Asked::default();
    if !response.has_focus() {
        return asked;
    }
    let filter = EventFilter {
        horizontal_arrows: true,
        vertical_arrows: true,
        escape: true,
        ..EventFilter::default()
    };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
    let pressed = |key| ui.input(|input| input.modifiers.is_none() && input.key_pressed(key));
    for (key, to) in [
        (Key::ArrowUp, Move::Up),
        (Key::ArrowDown, Move::Down),
        (Key::ArrowLeft, Move::Left),
        (Key::ArrowRight, Move::Right),
    ] {
        if pressed(key)
            && let Some((side, node)) = moved(shown, items, state.cursor.as_ref(), to)
        {
            state.cursor = Some(cursor_at(shown.tree(side), side, node));
            asked.is_moved = true;
        }
    }
    if pressed(Key::Backspace) || pressed(Key::Escape) {
        state.zoom_out();
    }
    if pressed(Key::U) && !state.edits.is_empty() {
        state.undo_edit();
    }
    asked.is_filter = pressed(Key::Slash);
    let Some(cursor) = state.cursor.clone() else { return asked };
    if pressed(Key::Enter) {
        state.zoom(&cursor);
        asked.is_moved = true;
    }
    let Some(frame) = cursor.path.last() else { return asked };
    for (key, edit) in [
        (Key::F, Edit::Focus as fn(_) -> _),
        (Key::X, Edit::HideStacks),
        (Key::H, Edit::HideFrame),
        (Key::C, Edit::CollapseRecursion),
    ] {
        if pressed(key) {
            state.edit(edit(frame.clone()));
        }
    }
    asked
}

/// A node as a cursor.
pub(super) fn cursor_at(tree: &FlameTree, side: Side, node: NodeId) -> Cursor {
    Cursor { side, path: tree.path(node).into_iter().cloned().collect() }
}

/// The node of a cursor, where the tree still has it.
pub(super) fn node_of(shown: &Shown, cursor: &Cursor) -> Option<NodeId> {
    shown.tree(cursor.side).find(&cursor.path)
}

/// Where a move leads; `None`: nowhere.
pub(super) fn moved(shown: &Shown, items: &Items, from: Option<&Cursor>, to: Move) -> Option<(Side, NodeId)> {
    let at = from.and_then(|cursor| Some((cursor.side, node_of(shown, cursor)?)));
    let Some((side, node)) = at else {
        return heaviest(&shown.below, None).map(|node| (Side::Below, node));
    };
    let tree = shown.tree(side);
    let is_sandwich = shown.key.view == View::Sandwich;
    match (side, to) {
        (Side::Below, Move::Down) | (Side::Above, Move::Up) => {
            heaviest(tree, Some(node)).map(|node| (side, node))
        }
        (Side::Below, Move::Up) => match tree.parent(node) {
            Some(parent) => Some((side, parent)),
            None if is_sandwich => {
                let above = shown.above.as_deref()?;
                heaviest(above, above.children(None).next()).map(|node| (Side::Above, node))
            }
            None => None,
        },
        (Side::Above, Move::Down) => {
            let parent = tree.parent(node)?;
            let is_middle = tree.parent(parent).is_none();
            if is_middle {
                heaviest(&shown.below, None).map(|node| (Side::Below, node))
            } else {
                Some((side, parent))
            }
        }
        (_, Move::Left | Move::Right) => {
            let bar = items.bar_of(side, Some(node))?;
            let beside = items.beside(bar, to == Move::Right)?;
            Some((beside.side, beside.node?))
        }
    }
}

/// The heaviest node right below; of equals the first.
fn heaviest(tree: &FlameTree, of: Option<NodeId>) -> Option<NodeId> {
    tree.children(of).max_by_key(|node| (tree.weight(*node), std::cmp::Reverse(*node)))
}
