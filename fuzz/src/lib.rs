//! What the fuzz targets share: makers of odd files, and the check that an importer bears them.
//!
//! ```text
//! bytes of libFuzzer ──▶ report, events, export, packing ──▶ a file ──▶ check: info, open, draw, dump
//! ```
//! Each maker turns any bytes into a file, so that a mutation of the bytes reaches what lies behind
//! lengths, counts and checksums.

pub mod check;
pub mod choices;
pub mod export;
pub mod export_tables;
pub mod input;
pub mod message;
pub mod packing;
pub mod report;
pub mod report_events;
