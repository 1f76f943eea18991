//! Progress of long work, and the one way to cancel it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// The work was cancelled by the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cancelled")]
pub struct Cancelled;

/// Shared between the worker (which steps) and the watcher (which reads and cancels).
#[derive(Debug, Default)]
pub struct Progress {
    cancelled: AtomicBool,
    done: AtomicU64,
    total: AtomicU64,
    phase: Mutex<&'static str>,
}

impl Progress {
    /// Nothing done, nothing known of the total.
    pub fn new() -> Self {
        Self::default()
    }

    /// Start a named phase of `total` units of work (bytes, rows; 0 when unknown).
    pub fn begin(&self, phase: &'static str, total: u64) -> Result<(), Cancelled> {
        *self.phase.lock().unwrap_or_else(PoisonError::into_inner) = phase;
        self.done.store(0, Relaxed);
        self.total.store(total, Relaxed);
        self.check()
    }

    /// `n` more units are done. Call at least every 50 ms of work; costs one atomic add.
    pub fn advance(&self, n: u64) -> Result<(), Cancelled> {
        self.done.fetch_add(n, Relaxed);
        self.check()
    }

    /// An error once [`Self::cancel`] was called.
    pub fn check(&self) -> Result<(), Cancelled> {
        if self.cancelled.load(Relaxed) { Err(Cancelled) } else { Ok(()) }
    }

    /// Ask the worker to stop at its next step.
    pub fn cancel(&self) {
        self.cancelled.store(true, Relaxed);
    }

    /// The phase in words, and the share done 0–1 where the total is known.
    pub fn state(&self) -> (&'static str, Option<f32>) {
        let phase = *self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        let total = self.total.load(Relaxed);
        let frac = (0 < total).then(|| (self.done.load(Relaxed) as f64 / total as f64).min(1.0) as f32);
        (phase, frac)
    }
}
