//! The views: one file or folder each, all of the same shape.
//!
//! `State` (what undo and sessions keep) · `model(…)` (what to show) · `layout(…)` (where it lies) ·
//! `ui(ui, cx, state, …) -> Vec<Command>` (paints it and turns input into commands).
//! `model` and `layout` know no egui context, so that they are tested as text.

pub mod details;
pub mod flame;
pub mod health;
pub mod overview;
pub mod selection;
pub mod start;
pub mod table;
pub mod timeline;

use tracecard_model::SliceId;

use crate::run::{Analysed, Run};
use crate::widgets;

/// A view that can be put into the dock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ViewId {
    /// The answer: where the time went.
    Overview,
    /// All tracks over time.
    Timeline,
    /// Operators of the framework by device time.
    Operators,
    /// Kernels by total time.
    Kernels,
    /// CUDA API calls.
    Apis,
    /// Copies by direction.
    Copies,
    /// NVTX ranges and annotations.
    Ranges,
    /// Counters with their extremes.
    Counters,
    /// Steps.
    Steps,
    /// Idle time of the devices by its cause.
    Idle,
    /// Merged stacks.
    Flame,
    /// All about the selected slice.
    Details,
    /// What the selected stretch of time is made of.
    Selection,
    /// What was wrong in the input.
    Health,
}

impl ViewId {
    /// Every view, in the order of the View menu.
    pub const ALL: &'static [Self] = &[
        Self::Overview,
        Self::Timeline,
        Self::Operators,
        Self::Kernels,
        Self::Apis,
        Self::Copies,
        Self::Ranges,
        Self::Counters,
        Self::Steps,
        Self::Idle,
        Self::Flame,
        Self::Details,
        Self::Selection,
        Self::Health,
    ];

    /// What its tab says.
    pub fn title(self) -> &'static str {
        match self {
            Self::Overview => "Overview",
            Self::Timeline => "Timeline",
            Self::Operators => "Operators",
            Self::Kernels => "Kernels",
            Self::Apis => "CUDA API",
            Self::Copies => "Copies",
            Self::Ranges => "Ranges",
            Self::Counters => "Counters",
            Self::Steps => "Steps",
            Self::Idle => "Idle",
            Self::Flame => "Flame graph",
            Self::Details => "Details",
            Self::Selection => "Selection",
            Self::Health => "Health",
        }
    }

    /// Its name on the command line (`--view`): the title in lower case, `api` for CUDA API.
    pub fn name(self) -> &'static str {
        match self {
            Self::Overview => "overview",
            Self::Timeline => "timeline",
            Self::Operators => "operators",
            Self::Kernels => "kernels",
            Self::Apis => "api",
            Self::Copies => "copies",
            Self::Ranges => "ranges",
            Self::Counters => "counters",
            Self::Steps => "steps",
            Self::Idle => "idle",
            Self::Flame => "flame",
            Self::Details => "details",
            Self::Selection => "selection",
            Self::Health => "health",
        }
    }

    /// The view of this name on the command line.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|view| view.name() == name)
    }
}

/// What a view may look at.
#[derive(Clone, Copy, Debug)]
pub struct Cx<'a> {
    /// The run on screen; `None` before the first one.
    pub run: Option<&'a Run>,
    /// The selected slice of that run.
    pub selection: Option<SliceId>,
}

/// The analysis, or in its place a sentence about why there is none yet.
pub(crate) fn analysis_ui<'a>(
    ui: &mut egui::Ui,
    cx: &Cx<'a>,
) -> Option<(&'a Run, &'a tracecard_analyzers::Analysis)> {
    let Some(run) = cx.run else {
        widgets::empty_ui(ui, "No trace is open", "Open a file to see where its time went.");
        return None;
    };
    match &run.analysed {
        Analysed::Done(analysis) => Some((run, analysis)),
        Analysed::Running => {
            widgets::empty_ui(ui, "Analysing…", "The timeline is ready; the tables follow.");
            None
        }
        Analysed::Failed(reason) => {
            widgets::empty_ui(ui, "The analysis failed", reason);
            None
        }
    }
}
