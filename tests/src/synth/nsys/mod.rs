//! Writes the run as an nsys SQLite export of schema 3.24.
//!
//! A real export is written table by table. So is this one: the run is simulated again for each large
//! table, which costs less than keeping ten million rows in memory, and gives the pages of a table the
//! same order in the file.

mod activity;
mod capture;
mod ranges;
mod strings;

use std::path::Path;

use rusqlite::Connection;

use super::config::Config;
use super::description::{PID, Thread};
use super::gpu_metrics::METRICS;
use super::training::Training;
use super::{SynthError, Written};
use strings::Strings;

/// Hardware 0, virtual machine 1: the upper bits of every global id.
const GLOBAL_VID: i64 = 1 << 48;
/// The process in nsys's packing: VM, process, and no thread.
const GLOBAL_PID: i64 = GLOBAL_VID | (PID << 24);
/// The type of GPU metric rows of the first GPU.
const GPU_METRICS_TYPE: i64 = 0x1_0001_0000_0000;

pub(super) fn write(config: &Config, path: &Path) -> Result<Written, SynthError> {
    if path.exists() {
        std::fs::remove_file(path)?;
    }
    let mut conn = Connection::open(path)?;
    // Nobody reads a half-written trace: no journal, no waiting for the disk.
    conn.execute_batch(
        "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -65536;
         PRAGMA locking_mode = EXCLUSIVE;",
    )?;
    let transaction = conn.transaction()?;
    transaction.execute_batch(include_str!("schema.sql"))?;
    let mut written = Written { n_steps: u64::from(config.n_steps), ..Written::default() };
    let mut strings = Strings::default();
    let pass = || Training::new(config).without_metrics();
    activity::write_kernels(&transaction, &mut pass(), &mut strings, &mut written)?;
    activity::write_calls(&transaction, &mut pass(), &mut strings, &mut written)?;
    ranges::write(&transaction, &mut pass(), &mut strings, &mut written)?;
    let end_ns = activity::write_small(&transaction, &mut pass(), &mut strings, &mut written)?;
    if 0 < config.gpu_metrics_hz {
        transaction.execute_batch(include_str!("metrics_schema.sql"))?;
        write_metrics(&transaction, &mut Training::new(config), &mut written)?;
    }
    capture::write(&transaction, config, end_ns, &mut strings)?;
    strings.write(&transaction)?;
    transaction.commit()?;
    Ok(written)
}

/// The thread in nsys's packing: VM, process, thread.
fn global_tid(thread: Thread) -> i64 {
    GLOBAL_PID | thread.tid()
}

fn write_metrics(
    conn: &Connection,
    training: &mut Training,
    written: &mut Written,
) -> Result<(), SynthError> {
    let mut name = conn.prepare("INSERT INTO TARGET_INFO_GPU_METRICS VALUES (?1, ?1, '', ?2, ?3)")?;
    for (metric_id, metric) in (0_i64..).zip(METRICS) {
        name.execute((GPU_METRICS_TYPE, metric_id, metric))?;
    }
    let mut insert = conn.prepare("INSERT INTO GPU_METRICS VALUES (?1, ?2, ?3, ?4)")?;
    // The first sample of a capture lies before its start and is garbage; so it is here.
    for (metric_id, _) in (0_i64..).zip(METRICS) {
        let value = if metric_id < 2 { 811_203_577 } else { 100 * (metric_id % 2) };
        insert.execute((-38_211, GPU_METRICS_TYPE, metric_id, value))?;
    }
    while training.next_step() {
        for sample in &training.step().metrics {
            for (metric_id, value) in (0_i64..).zip(sample.values) {
                insert.execute((sample.time_ns, GPU_METRICS_TYPE, metric_id, value))?;
                written.n_points += 1;
            }
        }
    }
    Ok(())
}
