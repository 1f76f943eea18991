//! The trace synthesiser: one made-up training run, written as nsys SQLite, as nsys report, as chrome JSON.
//!
//! ```text
//! Config ──▶ Training ──▶ Step, Step, …  ──▶ nsys::write    ──▶ run.sqlite
//!              (simulation, one step            chrome::write ──▶ run.json[.gz]
//!               in memory at a time)                    run.sqlite ──▶ report ──▶ run.nsys-rep
//! ```
//!
//! The run is rank 0 of an 8-GPU job on H100 SXM that trains a GPT-like network with bf16, DDP and
//! AdamW. Both writers describe the same run: equal kernel names, launches and times. Nothing here is
//! measured; durations come from a roofline (see `hardware.rs`) and a seeded generator (`rng.rs`), so
//! that the same configuration gives the same bytes on every machine.

mod allocator;
mod api;
mod backward;
#[cfg(test)]
mod checks;
mod chrome;
mod collectives;
mod config;
mod description;
mod forward;
mod gpu_metrics;
mod hardware;
mod kernel_catalog;
mod loader;
mod machine;
mod network;
mod nsys;
mod optimizer;
mod report;
mod rng;
mod signature;
mod training;

use std::path::Path;

pub use config::{Config, Faults};
pub use report::report_from_export;

/// Why a synthetic trace could not be written.
#[derive(Debug, thiserror::Error)]
pub enum SynthError {
    /// The file could not be created or written.
    #[error("cannot write the trace: {0}")]
    Io(#[from] std::io::Error),
    /// SQLite refused a statement.
    #[error("cannot write the SQLite export: {0}")]
    Sqlite(#[from] rusqlite::Error),
}

/// How much a written trace holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Training steps.
    pub n_steps: u64,
    /// Kernels.
    pub n_kernels: u64,
    /// Everything with a start and a duration: kernels, copies, CUDA calls, operators, annotations.
    pub n_slices: u64,
    /// GPU metric values, allocations and other things without a duration.
    pub n_points: u64,
}

/// Writes the run as an nsys SQLite export of schema 3.24. An existing file is replaced.
///
/// # Errors
/// When the file cannot be written.
pub fn write_nsys(config: &Config, path: &Path) -> Result<Written, SynthError> {
    nsys::write(config, path)
}

/// Writes the run as an nsys report, with what [`write_nsys`] would put into the export of that report. An
/// existing file is replaced.
///
/// # Errors
/// When the file cannot be written.
pub fn write_report(config: &Config, path: &Path) -> Result<Written, SynthError> {
    let dir = tempfile::tempdir_in(path.parent().filter(|dir| dir.is_dir()).unwrap_or(Path::new(".")))?;
    let export = dir.path().join("run.sqlite");
    let written = nsys::write(config, &export)?;
    report_from_export(&export, path)?;
    Ok(written)
}

/// Writes the run as a chrome trace of torch 2.9, compressed where the name ends in `.gz`. An existing
/// file is replaced.
///
/// # Errors
/// When the file cannot be written.
pub fn write_chrome(config: &Config, path: &Path) -> Result<Written, SynthError> {
    chrome::write(config, path)
}
