//! What many analyzers need, computed once on first use.

use tracecard_model::Trace;

/// Results shared by analyzers, each computed on first use.
#[derive(Debug)]
pub struct Derived<'a> {
    /// The run.
    pub trace: &'a Trace,
}
