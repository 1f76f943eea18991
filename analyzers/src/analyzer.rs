//! The joint between the model and its analyses.

use tracecard_model::{Cancelled, Progress, Span, Trace};

use crate::derived::Derived;
use crate::{DevicePartition, Metrics, Steps, Table};

/// One analysis.
#[derive(Debug)]
pub struct Analyzer {
    /// Stable id.
    pub id: &'static str,
    /// What it answers, in sentence case.
    pub title: &'static str,
    /// Answer it, or abstain with a reason.
    pub run: fn(&Input<'_>, &Progress) -> Result<Outcome, AnalyzeError>,
}

/// What every analyzer gets.
#[derive(Debug)]
pub struct Input<'a> {
    /// The run.
    pub trace: &'a Trace,
    /// The user's choices.
    pub params: &'a Params,
    /// What many need, computed once on first use.
    pub derived: &'a Derived<'a>,
}

/// The user's choices, the same for every analyzer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Params {
    /// The part of the run to look at; `None`: all of it. What devices do in it (`devices`, `idle_by_cause`,
    /// wall times) is cut at its ends to the ns; tables of slices count those that overlap it with their
    /// whole duration, as `nsys stats --filter-time` does; steps are those that lie wholly inside.
    pub window: Option<Span>,
    /// The device to look at, by its number; `None`: all. Calls, ranges and operators are the host's: their
    /// host times stay, their device times are those of the device.
    pub device: Option<u32>,
    /// What a step is; `None`: found by rule SIG-1.
    pub steps: Option<StepRule>,
    /// Samples or tokens a step, for throughput.
    pub items_per_step: Option<f64>,
}

/// What the user says a step is. The texts are regular expressions over whole names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepRule {
    /// `nvtx:REGEX`
    Nvtx(String),
    /// `annotation:REGEX`
    Annotation(String),
    /// `kernel:REGEX`: each such kernel starts a step.
    Kernel(String),
    /// `every:N`: every N kernels of a device are a step.
    Every(u32),
}

/// What an analyzer says.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// Its tables.
    Done(Vec<Table>),
    /// Why there is no answer, and what to capture to get one.
    Abstained(String),
}

/// What all analyzers say about one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Analysis {
    /// All tables, in the order of [`crate::ALL`].
    pub tables: Vec<Table>,
    /// (analyzer id, reason), in the order of [`crate::ALL`].
    pub abstained: Vec<(&'static str, String)>,
    /// What each device that has work did in the window, by device number, with all gaps: for the timeline.
    pub partitions: Vec<DevicePartition>,
    /// The steps of the whole run; `None` where there are none.
    pub steps: Option<Steps>,
    /// Metrics of the devices over the whole run, and what they are on average in the window.
    pub metrics: Metrics,
}

impl Analysis {
    /// The table with this id; `None` where its analyzer abstained.
    pub fn table(&self, id: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.id == id)
    }
}

/// Why an analysis failed.
#[derive(Debug, thiserror::Error)]
pub enum AnalyzeError {
    /// A choice of the user makes no sense; the text says which and why.
    #[error("{0}")]
    BadParams(String),
    /// The user stopped it.
    #[error("cancelled")]
    Cancelled(#[from] Cancelled),
}
