//! Nsight Systems SQLite exports (`nsys export --type sqlite`), of nsys 2020 to 2026.2 and newer.
//!
//! Found out from public exports of 23 schema versions and from the comments in their own table
//! definitions. Every table and every column is optional: what is missing is unknown. The file is opened
//! read-only and immutable, and read in parallel by ranges of row ids.
//!
//! Read: kernels, copies, memory sets, CUDA API calls, synchronisation, whole graphs, NVTX, system calls,
//! overheads, memory usage, GPU metrics, diagnostics, and what the file says about processes, threads,
//! GPUs and streams. Left out so far: scheduling, CPU samples, call chains, other APIs, network and SoC
//! metrics; a table with rows that is not read is named in the issues. Never read: host and user names,
//! command lines, environment, captured output.

mod api;
mod cells;
mod columns;
mod copies;
mod diagnostics;
mod found;
mod fragment;
mod gpu_metrics;
mod graphs;
mod info;
mod kernels;
mod memory;
mod meta_data;
mod nvtx;
mod open;
mod osrt;
mod overheads;
mod read;
mod scan;
mod small_tables;
mod strings;
mod sync;
mod tables;
mod target;
#[cfg(test)]
mod tests;

use crate::{Importer, Input};

/// Reads SQLite exports.
pub(crate) const IMPORTER: Importer = Importer {
    id: "nsys-sqlite",
    title: "Nsight Systems SQLite export",
    sniff,
    read: read::read,
    info: info::info,
};

/// Any SQLite file: reading says what is missing if it is no export.
fn sniff(input: &Input) -> bool {
    open::looks_like_sqlite(input.head())
}
