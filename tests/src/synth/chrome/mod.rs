//! Writes the run as the chrome trace of Kineto in torch 2.9: shapes and memory, no stacks.
//!
//! Kineto writes all CPU events, then all events of the device, then the names of processes and threads.
//! So does this writer, simulating the run once for either half.

mod cpu;
mod device;
mod frame;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::config::Config;
use super::training::{SESSION_START_UTC_NS, Training};
use super::{SynthError, Written};

/// Kineto gives times from here, so that they fit an f64: wall time rounded down to a quarter of a year
/// (7 889 238 s).
const BASE_NS: i64 = 224 * 7_889_238 * 1_000_000_000;

pub(super) fn write(config: &Config, path: &Path) -> Result<Written, SynthError> {
    let file = File::create(path)?;
    if path.extension().is_some_and(|ending| ending == "gz") {
        let mut out = BufWriter::with_capacity(1 << 20, GzEncoder::new(file, Compression::default()));
        let written = write_trace(config, &mut out)?;
        out.into_inner().map_err(std::io::IntoInnerError::into_error)?.finish()?;
        Ok(written)
    } else {
        let mut out = BufWriter::with_capacity(1 << 20, file);
        let written = write_trace(config, &mut out)?;
        out.flush()?;
        Ok(written)
    }
}

fn write_trace(config: &Config, out: &mut impl Write) -> Result<Written, SynthError> {
    let mut written = Written { n_steps: u64::from(config.n_steps), ..Written::default() };
    frame::write_head(config, out)?;
    cpu::write(&mut Training::new(config).without_metrics(), out, &mut written)?;
    let end_ns = device::write(&mut Training::new(config).without_metrics(), out, &mut written)?;
    frame::write_tail(end_ns, out)?;
    Ok(written)
}

/// A length of time in µs with three decimals.
struct Micros(i64);

impl std::fmt::Display for Micros {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{:03}", self.0 / 1_000, self.0 % 1_000)
    }
}

/// A point in time of the run as Kineto writes it.
fn timestamp(time_ns: i64) -> Micros {
    Micros(time_ns + SESSION_START_UTC_NS - BASE_NS)
}
