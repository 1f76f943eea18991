//! What the selected stretch of time is made of: summed up between frames, in a job when it is much.

use std::sync::Arc;

use tracecard_analyzers::selection;
use tracecard_model::Progress;

use super::App;
use super::open::Output;
use crate::jobs::Failure;
use crate::state::Slot;
use crate::views::selection::Key;

/// Summing up more slices than this could be felt, so it happens in a job.
const MAX_SLICES_AT_ONCE: usize = 20_000;

impl App {
    /// What a summary of the selected stretch depends on; `None` when none is selected.
    pub(super) fn selection_key(&self) -> Option<Key> {
        let run = self.run.as_ref()?;
        let area = self.state.timeline.area.clone()?;
        (!area.span.is_empty()).then(|| Key { run: run.id, is_analysed: run.analysis().is_some(), area })
    }

    /// Sum up what is selected, unless that is done or under way. A job for another stretch runs on until it
    /// is done: while the edge is dragged, summaries follow as fast as they can be made.
    pub(super) fn prepare_selection(&mut self) {
        let Some(key) = self.selection_key() else { return };
        let Some(run) = &self.run else { return };
        if self.selection.selected.is_for(&key) || self.jobs.status(Slot::Selection).is_some() {
            return;
        }
        let metrics = run.analysis().map(|analysis| &analysis.metrics);
        let area = key.area.resolved(&run.trace, metrics);
        let (trace, analysis) = (Arc::clone(&run.trace), run.analysis().map(Arc::clone));
        self.selection.failed = None;
        let select = move |progress: &Progress| {
            let partitions = analysis.as_ref().map_or(&[][..], |analysis| analysis.partitions.as_slice());
            let metrics = analysis.as_ref().map(|analysis| &analysis.metrics);
            selection::select(&trace, partitions, metrics, &area, progress)
        };
        if selection::n_touching(&run.trace, &key.area.resolved(&run.trace, metrics)) <= MAX_SLICES_AT_ONCE {
            if let Ok(selected) = select(&Progress::new()) {
                self.selection.selected.set(key, selected);
            }
            return;
        }
        self.jobs.start(Slot::Selection, "Summing up the selection", move |progress| {
            let selected = select(progress).map_err(|_| Failure::Cancelled)?;
            Ok(Output::Selected { key: Box::new(key), selected: Box::new(selected) })
        });
    }
}
