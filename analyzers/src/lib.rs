//! Turns a [`Trace`] into tables.
//!
//! A good analyzer answers one question, says what it needs, and abstains with a reason where the trace does
//! not hold it. It does no I/O; the same trace and parameters give the same tables, to the byte.
//! Times are ns, shares are unions of spans and never above 1, unknown is null.

mod analyzer;
mod derived;
mod table;

use tracecard_model::{Progress, Trace};

pub use analyzer::{Analysis, AnalyzeError, Analyzer, Input, Outcome, Params, StepRule};
pub use derived::Derived;
pub use table::{Cell, Column, Data, Table, Unit};

/// Every analyzer, in the order shown to the user.
pub const ALL: &[Analyzer] = &[];

/// Run every analyzer.
///
/// # Errors
/// Only when cancelled.
pub fn run_all(trace: &Trace, params: &Params, progress: &Progress) -> Result<Analysis, AnalyzeError> {
    let _ = (trace, params, progress);
    Ok(Analysis::default())
}
