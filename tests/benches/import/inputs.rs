//! The files to read: one made-up run as nsys export, as report, as chrome trace, plain and packed.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};
use tracecard_tests::synth::{Config, report_from_export, write_chrome, write_nsys};

use crate::floor_report;

/// Where the files lie, and how much is in them.
pub(crate) struct Inputs {
    pub(crate) export: PathBuf,
    pub(crate) report: PathBuf,
    pub(crate) json: PathBuf,
    pub(crate) json_gz: PathBuf,
    /// Rows of the tables of kernels, CUDA calls and NVTX ranges.
    pub(crate) n_core_rows: u64,
    /// Rows of all tables that the report has records of.
    pub(crate) n_rows: u64,
    /// Events as the report counts them.
    pub(crate) n_events: u64,
    /// Bytes of the plain JSON.
    pub(crate) json_bytes: u64,
}

/// Tables that gates are about.
const CORE_TABLES: &[&str] = &["CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS"];

/// What else the report has records of.
const OTHER_TABLES: &[&str] = &[
    "CUPTI_ACTIVITY_KIND_MEMCPY",
    "CUPTI_ACTIVITY_KIND_MEMSET",
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
    "CUPTI_ACTIVITY_KIND_CUDA_EVENT",
    "OSRT_API",
    "DIAGNOSTIC_EVENT",
    "PROCESSES",
    "GPU_METRICS",
];

/// Make what is not there yet. A file appears under its name when it is complete.
pub(crate) fn make(
    dir: &Path,
    n_kernels: u64,
    metrics_hz: i64,
) -> Result<Inputs, Box<dyn Error + Send + Sync>> {
    fs::create_dir_all(dir)?;
    let dir = dir.canonicalize()?;
    let config = Config { gpu_metrics_hz: metrics_hz, ..Config::default() }.with_kernels(n_kernels);
    let metrics = if metrics_hz == 0 { String::new() } else { format!("-{metrics_hz}hz") };
    let export = once(&dir, &format!("run-{n_kernels}{metrics}.sqlite"), |path| {
        write_nsys(&config, path)?;
        Ok(())
    })?;
    let report = once(&dir, &format!("run-{n_kernels}{metrics}.nsys-rep"), |path| {
        report_from_export(&export, path)?;
        Ok(())
    })?;
    let write_json = |path: &Path| {
        write_chrome(&config, path)?;
        Ok(())
    };
    let json = once(&dir, &format!("run-{n_kernels}.json"), write_json)?;
    let json_gz = once(&dir, &format!("run-{n_kernels}.json.gz"), write_json)?;

    let n_core_rows = count_rows(&export, CORE_TABLES)?;
    let n_rows = n_core_rows + count_rows(&export, OTHER_TABLES)?;
    let n_events = floor_report::n_events(&report)?;
    let json_bytes = fs::metadata(&json)?.len();
    Ok(Inputs { export, report, json, json_gz, n_core_rows, n_rows, n_events, json_bytes })
}

fn once(
    dir: &Path,
    name: &str,
    write: impl FnOnce(&Path) -> Result<(), Box<dyn Error + Send + Sync>>,
) -> Result<PathBuf, Box<dyn Error + Send + Sync>> {
    let path = dir.join(name);
    if !path.exists() {
        eprintln!("writing {}", path.display());
        // The ending stays, for it says whether to compress.
        let partial = dir.join(format!("partial-{name}"));
        write(&partial)?;
        fs::rename(&partial, &path)?;
    }
    Ok(path)
}

fn count_rows(export: &Path, tables: &[&str]) -> rusqlite::Result<u64> {
    let conn = Connection::open_with_flags(export, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let mut sum = 0;
    for table in tables {
        let is_there = conn.prepare(&format!("SELECT 1 FROM {table}")).is_ok();
        if is_there {
            let n: i64 = conn.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0))?;
            sum += n as u64;
        }
    }
    Ok(sum)
}
