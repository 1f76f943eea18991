//! What the window shows, as plain values: small, and equal when they look the same, so that undo and
//! sessions can keep it. Runs are data and live beside it.

use std::collections::BTreeMap;

use crate::dock::Dock;
use crate::run::Selection;
use crate::views::{ViewId, flame, selection, table, timeline};

/// Kinds of background work; the latest of a kind wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Slot {
    /// A file dialog is open.
    Dialog,
    /// A file is being read.
    Import,
    /// A run is being analysed.
    Analysis,
    /// The rows of a table are being ordered.
    Order(ViewId),
    /// Slices are being looked for by name.
    Search,
    /// The selected stretch of time is being summed up.
    Selection,
    /// Stacks are being merged.
    Flame,
}

/// Dark or light.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Appearance {
    /// As the system says.
    #[default]
    System,
    /// Dark.
    Dark,
    /// Light.
    Light,
}

/// What the wheel does over the timeline, without a modifier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wheel {
    /// Zoom, as in Tracy and Chrome's tools.
    #[default]
    Zooms,
    /// Scroll up and down, as in Perfetto.
    Scrolls,
}

/// The window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// Which views are where.
    pub dock: Dock,
    /// The selected slice.
    pub selection: Option<Selection>,
    /// Dark or light.
    pub appearance: Appearance,
    /// The timeline.
    pub timeline: timeline::State,
    /// Sort order, filter and scroll of each table that was touched.
    pub tables: BTreeMap<ViewId, table::State>,
    /// What is shown of the selected stretch of time.
    pub area: selection::State,
    /// The flame graph.
    pub flame: flame::State,
    /// What is typed in the command palette; `None` when it is closed.
    pub palette: Option<String>,
    /// Is the list of shortcuts open?
    pub is_help_open: bool,
}
