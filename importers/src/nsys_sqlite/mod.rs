//! Nsight Systems SQLite exports (`nsys export --type sqlite`), of nsys 2020 to 2026.2 and newer.
//!
//! What the tables mean is in [`crate::nsys_tables`]; here is how they are found and read. Tables and columns
//! are asked for, never assumed. The file is opened read-only and immutable, and read in parallel: plain tables
//! page by page, all others through SQLite by ranges of row ids. A table with rows that is not read is named in the
//! issues.

mod columns;
mod database;
mod info;
mod open;
mod pages;
mod parts;
mod read;
mod scan;
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
