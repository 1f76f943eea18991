//! Makes what the flame graph wants to show, in a job.

use std::sync::Arc;

use tracecard_analyzers::AnalyzeError;

use super::App;
use super::open::Output;
use crate::jobs::Failure;
use crate::state::Slot;
use crate::views::flame;

impl App {
    /// Start merging where the flame graph wants what it has not.
    pub(super) fn prepare_flame(&mut self) {
        let Some(run) = &self.run else { return };
        let Some(key) = self.flame.missing().filter(|key| key.run == run.id) else { return };
        if self.flame.started.as_ref() == Some(key) && self.jobs.status(Slot::Flame).is_some() {
            return;
        }
        let key = key.clone();
        self.flame.started = Some(key.clone());
        let (trace, analysis) = (Arc::clone(&run.trace), run.analysis().cloned());
        let old = self.flame.shown().cloned();
        self.jobs.start(Slot::Flame, "Merging stacks", move |progress| {
            // Gaps of a part of the run are not those of all of it.
            let is_whole = |part: &tracecard_analyzers::DevicePartition| Some(part.window) == trace.span();
            let partitions = analysis.as_deref().map(|analysis| analysis.partitions.as_slice());
            let partitions = partitions.filter(|partitions| partitions.iter().all(is_whole));
            match flame::model(&trace, partitions, key, old.as_deref(), progress) {
                Ok(shown) => Ok(Output::Merged(Box::new(shown))),
                Err(AnalyzeError::Cancelled(_)) => Err(Failure::Cancelled),
                Err(error) => Err(Failure::Error(error.to_string())),
            }
        });
    }
}
