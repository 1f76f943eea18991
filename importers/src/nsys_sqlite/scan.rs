//! Reading tables in parallel: ranges of row ids are work items, each made into a fragment by some worker
//! and joined in the order of the list, so that the Trace does not depend on which thread was faster.

use std::path::Path;

use rusqlite::Connection;
use tracecard_model::{Cancelled, IssueLog, Progress, Severity, TraceBuilder};

use super::columns::RowIds;
use super::database::{Database, note_damage, too_many_rows};
use super::open::connect;
use crate::in_order::in_order;
use crate::nsys_tables::{Cells, Found, Fragment, Known, TableReader, absorb};

/// A part of a table.
pub(super) struct Part {
    reader: &'static TableReader,
    sql: String,
    /// First and last row id; `None` for the whole table.
    range: Option<(i64, i64)>,
    /// Rows at most, for the progress bar.
    n_rows: u64,
    /// Rows that cannot be more: row ids of the range, or what fits into the file.
    rows_at_most: u64,
}

/// Why a scan ended early.
pub(super) enum ScanError {
    /// The user stopped it.
    Cancelled(Cancelled),
    /// A worker could not open the file.
    Open(rusqlite::Error),
}

/// Row ids in one part: enough that a fragment's own cost is small, few enough that all workers finish
/// together. It must not depend on the number of workers.
const ROWS_A_PART: u64 = 1 << 14;

/// Rows between two looks at the cancel button: a few milliseconds.
const ROWS_A_STEP: u64 = 4096;

/// Bytes that a row of an event table takes at least; bounds the number of parts where row ids have gaps.
pub(super) const SMALLEST_ROW_BYTES: u64 = 8;

/// Cut the tables of a list into parts; tables that are missing or cannot be read have none.
pub(super) fn parts(
    readers: &[&'static TableReader],
    database: &Database,
    size_bytes: u64,
    issues: &mut IssueLog,
) -> Vec<Part> {
    let mut parts = Vec::new();
    for reader in readers {
        let Some(table) = database.schema.table(reader.table).filter(|table| table.rows != RowIds::Empty)
        else {
            continue;
        };
        if let Some(missing) = reader.required.iter().find(|column| !table.has(column)) {
            let text = "tables lack columns that are needed; they are left out";
            let example = || format!("{} has no column {missing}", table.name);
            issues.count(Severity::DataLoss, "table_without_columns", text, example);
            continue;
        }
        let is_worth_asking =
            |column: &str| !column.contains('|') || table.is_filled(&database.connection, column);
        let columns: Vec<&str> =
            reader.columns.iter().map(|c| if is_worth_asking(c) { *c } else { "" }).collect();
        let sql = table.select(&columns);
        let RowIds::Range(first, last) = table.rows else {
            let rows_at_most = size_bytes / SMALLEST_ROW_BYTES;
            parts.push(Part { reader, sql, range: None, n_rows: 0, rows_at_most });
            continue;
        };
        let width = last.abs_diff(first).saturating_add(1);
        let n_rows = width.min(size_bytes / SMALLEST_ROW_BYTES);
        let n_parts = n_rows.div_ceil(ROWS_A_PART).max(1);
        let step = width.div_ceil(n_parts);
        for idx in 0..n_parts {
            let from = first.saturating_add_unsigned(idx.saturating_mul(step));
            let is_last = idx + 1 == n_parts;
            let to = if is_last {
                last
            } else {
                first.saturating_add_unsigned((idx + 1).saturating_mul(step) - 1)
            };
            let sql = format!("{sql} WHERE rowid BETWEEN ?1 AND ?2");
            let rows_at_most = to.abs_diff(from).saturating_add(1);
            parts.push(Part { reader, sql, range: Some((from, to)), n_rows: n_rows / n_parts, rows_at_most });
        }
    }
    parts
}

/// Read all parts into the builder, on all cores.
pub(super) fn scan(
    path: &Path,
    parts: &[Part],
    known: &Known,
    into: &mut TraceBuilder,
    found: &mut Found,
    progress: &Progress,
) -> Result<(), ScanError> {
    progress
        .begin("Reading events", parts.iter().map(|part| part.n_rows).sum())
        .map_err(ScanError::Cancelled)?;
    let work = |connection: &mut rusqlite::Result<Connection>, idx: usize| match connection {
        Ok(connection) => read_part(connection, &parts[idx], known, progress).map_err(ScanError::Cancelled),
        Err(error) => Err(ScanError::Open(clone_error(error))),
    };
    in_order(parts.len(), || connect(path), work, |fragment| absorb(fragment, into, found))
}

fn read_part<'a>(
    connection: &Connection,
    part: &Part,
    known: &'a Known,
    progress: &Progress,
) -> Result<Fragment<'a>, Cancelled> {
    let mut fragment = Fragment::new(known);
    let mut n_read = 0_u64;
    let mut is_cancelled = Ok(());
    let mut read_rows = || -> rusqlite::Result<()> {
        let mut statement = connection.prepare(&part.sql)?;
        let mut rows = match part.range {
            Some(range) => statement.query(range)?,
            None => statement.query([])?,
        };
        while let Some(row) = rows.next()? {
            n_read += 1;
            if part.rows_at_most < n_read {
                return Err(too_many_rows());
            }
            fragment.read(part.reader, &Cells::of_row(row));
            if n_read.is_multiple_of(ROWS_A_STEP) {
                is_cancelled = progress.advance(ROWS_A_STEP);
                if is_cancelled.is_err() {
                    return Ok(());
                }
            }
        }
        Ok(())
    };
    if let Err(error) = read_rows() {
        note_damage(&mut fragment.out.issues, part.reader.table, &error);
    }
    is_cancelled?;
    // Gaps between row ids count as done.
    progress.advance(part.n_rows.saturating_sub(n_read / ROWS_A_STEP * ROWS_A_STEP))?;
    Ok(fragment)
}

/// rusqlite's errors cannot be cloned; every worker may meet the same one.
fn clone_error(error: &rusqlite::Error) -> rusqlite::Error {
    match error.sqlite_error() {
        Some(code) => rusqlite::Error::SqliteFailure(*code, Some(error.to_string())),
        None => rusqlite::Error::InvalidQuery,
    }
}
