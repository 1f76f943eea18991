//! A run: one loaded trace with what is known about it so far.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tracecard_analyzers::{Analysis, Table};
use tracecard_model::{SliceId, Trace};

use crate::views::timeline::CounterLod;

/// Which of the loaded runs. Ids of slices mean something only together with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(pub u32);

/// How far the analysis of a run is.
#[derive(Clone, Debug, Default)]
pub enum Analysed {
    /// It is being analysed.
    #[default]
    Running,
    /// All tables are there.
    Done(Arc<Analysis>),
    /// No tables, and why.
    Failed(String),
}

/// What views show: shared by reference, never changed but for the analysis that comes later.
#[derive(Clone, Debug)]
pub struct Run {
    /// Which one.
    pub id: RunId,
    /// Where it came from; `None` for a trace made in memory.
    pub path: Option<PathBuf>,
    /// The trace.
    pub trace: Arc<Trace>,
    /// Extremes of its counters, for drawing.
    pub counters: Arc<CounterLod>,
    /// The tables.
    pub analysed: Analysed,
}

impl Run {
    /// File name, for titles.
    pub fn name(&self) -> String {
        let name = self.path.as_deref().and_then(Path::file_name);
        name.map_or_else(|| "Trace".to_owned(), |name| name.to_string_lossy().into_owned())
    }

    /// The analysis; `None` until it is done, or when it failed.
    pub fn analysis(&self) -> Option<&Arc<Analysis>> {
        match &self.analysed {
            Analysed::Done(analysis) => Some(analysis),
            Analysed::Running | Analysed::Failed(_) => None,
        }
    }

    /// A table of the analysis.
    pub fn table(&self, id: &str) -> Option<&Table> {
        self.analysis().and_then(|analysis| analysis.table(id))
    }
}

/// A slice of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selection {
    /// The run.
    pub run: RunId,
    /// The slice in it.
    pub slice: SliceId,
}
