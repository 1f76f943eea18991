//! The search of the timeline: hits are found between frames, in a job when there is much to look at.

use std::sync::Arc;

use tracecard_analyzers::search::{Hits, Pattern, find};
use tracecard_model::Progress;

use super::App;
use super::open::Output;
use crate::command::Direction;
use crate::jobs::Failure;
use crate::run::RunId;
use crate::state::Slot;
use crate::views::timeline::search::next_hit;

/// Looking at more slices could be felt, so it happens in a job.
const MAX_SLICES_AT_ONCE: usize = 100_000;

impl App {
    /// Look for what is typed, unless that is done or under way. What is typed next takes the place of it.
    pub(super) fn prepare_search(&mut self) {
        let (Some(search), Some(run)) = (&self.state.timeline.search, &self.run) else { return };
        let text = search.text.trim();
        let key = (run.id, text.to_owned());
        if self.timeline.hits.is_for(&key) {
            return;
        }
        let Some(pattern) = Pattern::new(text) else { return };
        if run.trace.slices.len() <= MAX_SLICES_AT_ONCE {
            if let Ok(hits) = find(&run.trace, &pattern, &Progress::new()) {
                self.found(key.0, key.1, hits);
            }
            return;
        }
        let title = format!("Searching “{text}”");
        if self.jobs.status(Slot::Search).is_some_and(|(running, ..)| running == title) {
            return;
        }
        let trace = Arc::clone(&run.trace);
        self.jobs.start(Slot::Search, title, move |progress| {
            let hits = find(&trace, &pattern, progress).map_err(|_| Failure::Cancelled)?;
            Ok(Output::Found { run: key.0, text: key.1, hits: Box::new(hits) })
        });
    }

    pub(super) fn found(&mut self, run: RunId, text: String, hits: Hits) {
        self.timeline.hits.set((run, text), hits);
        if let Some(direction) = self.timeline.wanted_hit.take() {
            self.select_hit(direction);
        }
    }

    /// Select the next hit and show it; when they are being looked for still, as soon as they are there.
    pub(super) fn select_hit(&mut self, direction: Direction) {
        let (Some(search), Some(run)) = (&self.state.timeline.search, &self.run) else { return };
        let text = search.text.trim().to_owned();
        if text.is_empty() {
            return;
        }
        let trace = Arc::clone(&run.trace);
        let Some(span) = trace.span() else { return };
        let is_found = self.timeline.hits.is_for(&(run.id, text));
        let Some(hits) = self.timeline.hits.last().filter(|_| is_found) else {
            self.timeline.wanted_hit = Some(direction);
            return;
        };
        let view = self.state.timeline.current_view(span).span();
        if let Some(slice) = next_hit(&trace, hits, self.selected(), view, direction) {
            self.select(Some(slice));
            self.state.timeline.reveal(&trace, slice);
        }
    }
}
