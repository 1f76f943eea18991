//! Work off the window's thread: one slot per kind of work, the latest job of a slot wins.
//!
//! ```text
//! start(slot, work) ──▶ thread: work(&Progress) ──▶ channel ──▶ drain(): Vec<Finished>
//!        │                                             ▲
//!        └─ cancels the job that held the slot ────────┘ what a cancelled job sends is dropped
//! ```
//! A panic in the work becomes a failed job with its message. The worker wakes the window once when it is
//! done; while a job runs, the window asks for a frame now and then to show the progress.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use tracecard_model::Progress;

/// How a job ended when it gave no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The user stopped it.
    Cancelled,
    /// It failed; the text is for the user.
    Error(String),
    /// A bug: the work panicked with this message.
    Panic(String),
}

/// A job that ended.
#[derive(Debug)]
pub struct Finished<S, T> {
    /// Where it ran.
    pub slot: S,
    /// What it gave.
    pub result: Result<T, Failure>,
}

struct Running {
    generation: u64,
    title: String,
    progress: Arc<Progress>,
}

/// All running jobs. `S` names the slots, `T` is what jobs give.
pub struct Jobs<S, T> {
    wake: Arc<dyn Fn() + Send + Sync>,
    running: BTreeMap<S, Running>,
    n_started: u64,
    sender: Sender<(S, u64, Result<T, Failure>)>,
    receiver: Receiver<(S, u64, Result<T, Failure>)>,
}

impl<S: Ord + Copy + Send + 'static, T: Send + 'static> Jobs<S, T> {
    /// No jobs; `wake` is called from workers when they are done.
    pub fn new(wake: impl Fn() + Send + Sync + 'static) -> Self {
        let (sender, receiver) = channel();
        Self { wake: Arc::new(wake), running: BTreeMap::new(), n_started: 0, sender, receiver }
    }

    /// Start work in a slot. A job that runs there already is cancelled and its result dropped.
    pub fn start(
        &mut self,
        slot: S,
        title: impl Into<String>,
        work: impl FnOnce(&Progress) -> Result<T, Failure> + Send + 'static,
    ) {
        self.cancel(slot);
        self.n_started += 1;
        let generation = self.n_started;
        let progress = Arc::new(Progress::new());
        let running = Running { generation, title: title.into(), progress: Arc::clone(&progress) };
        self.running.insert(slot, running);
        let (sender, wake) = (self.sender.clone(), Arc::clone(&self.wake));
        let run = move || {
            let result = catch_unwind(AssertUnwindSafe(|| work(&progress)))
                .unwrap_or_else(|panic| Err(Failure::Panic(panic_message(panic.as_ref()))));
            // The window is gone: nobody wants the result.
            if sender.send((slot, generation, result)).is_ok() {
                wake();
            }
        };
        let thread = std::thread::Builder::new().name("tracecard job".to_owned()).spawn(run);
        if let Err(error) = thread {
            let failure = Failure::Error(format!("cannot start a thread: {error}"));
            // The receiver lives as long as this does.
            let _ = self.sender.send((slot, generation, Err(failure)));
        }
    }

    /// Ask the job of a slot to stop and forget it.
    pub fn cancel(&mut self, slot: S) {
        if let Some(running) = self.running.remove(&slot) {
            running.progress.cancel();
        }
    }

    /// Jobs that ended since the last call, in the order they ended.
    pub fn drain(&mut self) -> Vec<Finished<S, T>> {
        let mut finished = Vec::new();
        while let Ok(message) = self.receiver.try_recv() {
            self.take(message, &mut finished);
        }
        finished
    }

    /// As [`Self::drain`], but waits until at least one job ended. Empty when none runs.
    pub fn wait(&mut self) -> Vec<Finished<S, T>> {
        let mut finished = Vec::new();
        while finished.is_empty() && !self.running.is_empty() {
            let Ok(message) = self.receiver.recv() else { break };
            self.take(message, &mut finished);
        }
        finished
    }

    fn take(
        &mut self,
        (slot, generation, result): (S, u64, Result<T, Failure>),
        into: &mut Vec<Finished<S, T>>,
    ) {
        let is_latest = self.running.get(&slot).is_some_and(|running| running.generation == generation);
        if is_latest {
            self.running.remove(&slot);
            into.push(Finished { slot, result });
        }
    }

    /// Title, phase and share done (`None`: not known) of the job in a slot.
    pub fn status(&self, slot: S) -> Option<(&str, &'static str, Option<f32>)> {
        let running = self.running.get(&slot)?;
        let (phase, frac) = running.progress.state();
        Some((&running.title, phase, frac))
    }

    /// Slots in which something runs, in order.
    pub fn running(&self) -> impl Iterator<Item = S> {
        self.running.keys().copied()
    }

    /// Does nothing run?
    pub fn is_idle(&self) -> bool {
        self.running.is_empty()
    }
}

impl<S, T> Drop for Jobs<S, T> {
    fn drop(&mut self) {
        for running in self.running.values() {
            running.progress.cancel();
        }
    }
}

fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jobs() -> Jobs<u8, &'static str> {
        Jobs::new(|| {})
    }

    fn results(finished: Vec<Finished<u8, &'static str>>) -> Vec<Result<&'static str, Failure>> {
        finished.into_iter().map(|f| f.result).collect()
    }

    #[test]
    fn a_result_arrives_once() {
        let mut jobs = jobs();
        jobs.start(0, "work", |_| Ok("done"));
        assert_eq!(results(jobs.wait()), [Ok("done")]);
        assert!(jobs.is_idle() && jobs.wait().is_empty());
    }

    #[test]
    fn the_latest_job_of_a_slot_wins() {
        let mut jobs = jobs();
        let (release, gate) = channel::<()>();
        jobs.start(0, "old", move |progress| {
            let _ = gate.recv();
            assert!(progress.check().is_err(), "the old job is told to stop");
            Ok("old")
        });
        jobs.start(0, "new", |_| Ok("new"));
        assert_eq!(results(jobs.wait()), [Ok("new")]);
        drop(release);
        jobs.start(1, "other", |_| Ok("other"));
        assert_eq!(results(jobs.wait()), [Ok("other")], "the old result was dropped");
    }

    #[test]
    fn a_panic_is_a_failed_job_with_its_message() {
        let mut jobs = jobs();
        jobs.start(0, "work", |_| panic!("row {} is odd", 7));
        assert_eq!(results(jobs.wait()), [Err(Failure::Panic("row 7 is odd".to_owned()))]);
    }

    #[test]
    fn progress_is_seen_while_it_runs_and_cancel_frees_the_slot() {
        let mut jobs = jobs();
        let (started, has_started) = channel();
        let (release, gate) = channel::<()>();
        jobs.start(0, "Opening a.sqlite", move |progress| {
            let _ = progress.begin("Reading", 4).and_then(|()| progress.advance(1));
            let _ = started.send(());
            let _ = gate.recv();
            Ok("done")
        });
        has_started.recv().unwrap();
        assert_eq!(jobs.status(0), Some(("Opening a.sqlite", "Reading", Some(0.25))));
        jobs.cancel(0);
        assert!(jobs.is_idle() && jobs.status(0).is_none());
        drop(release);
    }
}
