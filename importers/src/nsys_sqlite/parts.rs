//! Tables cut into parts that are read in parallel: leaves where the table is plain, else ranges of row ids.

use std::fs::File;
use std::ops::Range;
use std::sync::Arc;

use tracecard_model::{IssueLog, Severity};

use super::columns::{PlainTable, RowIds, Table};
use super::database::Database;
use super::pages::{Layout, Leaves, NotPlain, Plan, leaves};
use crate::Input;
use crate::nsys_tables::TableReader;

/// A part of a table.
pub(super) struct Part {
    pub(super) reader: &'static TableReader,
    pub(super) sql: String,
    /// First and last row id; `None` for the whole table.
    pub(super) range: Option<(i64, i64)>,
    /// Rows at most, for the progress bar.
    pub(super) n_rows: u64,
    /// Rows that cannot be more: row ids of the range, or what fits into the file.
    pub(super) rows_at_most: u64,
    /// Its leaves, where its rows can be read without SQLite.
    pub(super) leaves: Option<(Arc<PlainRows>, Range<usize>)>,
}

/// Where the rows of a plain table lie, and what is wanted of them.
pub(super) struct PlainRows {
    pub(super) leaves: Leaves,
    pub(super) plan: Plan,
    pub(super) layout: Layout,
}

impl PlainRows {
    fn new(file: &mut File, layout: Layout, table: &PlainTable, wanted: &[&str]) -> Result<Self, NotPlain> {
        let plan = Plan::new(&table.columns, wanted)?;
        Ok(Self { leaves: leaves(file, layout, table.root)?, plan, layout })
    }
}

/// Bytes of leaves in one part: some 10 000 rows.
const BYTES_A_PART: usize = 1 << 20;

/// Row ids in one part: enough that a fragment's own cost is small, few enough that all workers finish
/// together. It must not depend on the number of workers.
const ROWS_A_PART: u64 = 1 << 14;

/// Bytes that a row of an event table takes at least; bounds the number of parts where row ids have gaps.
pub(super) const SMALLEST_ROW_BYTES: u64 = 8;

/// Cut the tables of a list into parts; tables that are missing or cannot be read have none.
pub(super) fn parts(
    readers: &[&'static TableReader],
    database: &Database,
    input: &Input,
    issues: &mut IssueLog,
) -> Vec<Part> {
    let rows_at_most = input.size_bytes() / SMALLEST_ROW_BYTES;
    let mut file = File::open(input.path()).ok();
    let layout = Layout::read(input.head(), input.size_bytes());
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
        let RowIds::Range(first, last) = table.rows else {
            let sql = table.select(reader.columns);
            parts.push(Part { reader, sql, range: None, n_rows: 0, rows_at_most, leaves: None });
            continue;
        };
        let n_rows = last.abs_diff(first).saturating_add(1).min(rows_at_most);
        let plain = file
            .as_mut()
            .and_then(|file| PlainRows::new(file, layout.ok()?, table.plain.as_ref()?, reader.columns).ok());
        match plain {
            Some(rows) => parts.extend(leaf_parts(reader, table, rows, (first, last), n_rows)),
            None => parts.extend(row_id_parts(reader, table.select(reader.columns), (first, last), n_rows)),
        }
    }
    parts
}

fn leaf_parts(
    reader: &'static TableReader,
    table: &Table,
    rows: PlainRows,
    (first, last): (i64, i64),
    n_rows: u64,
) -> Vec<Part> {
    let sql = format!("{}{BETWEEN}", table.select(reader.columns));
    let n_leaves = rows.leaves.len();
    let step = rows.layout.pages_of(BYTES_A_PART);
    let rows = Arc::new(rows);
    let mut from = first;
    let part = |start: usize| {
        let end = (start + step).min(n_leaves);
        let to = rows.leaves.last_row_id(end - 1).filter(|_| end < n_leaves).unwrap_or(last);
        let range = (from, to);
        from = to.saturating_add(1);
        Part {
            reader,
            sql: sql.clone(),
            range: Some(range),
            n_rows: n_rows * (end - start) as u64 / n_leaves as u64,
            rows_at_most: range.1.abs_diff(range.0).saturating_add(1),
            leaves: Some((Arc::clone(&rows), start..end)),
        }
    };
    (0..n_leaves).step_by(step).map(part).collect()
}

fn row_id_parts(
    reader: &'static TableReader,
    sql: String,
    (first, last): (i64, i64),
    n_rows: u64,
) -> Vec<Part> {
    let sql = sql + BETWEEN;
    let n_parts = n_rows.div_ceil(ROWS_A_PART).max(1);
    let step = last.abs_diff(first).saturating_add(1).div_ceil(n_parts);
    let part = |idx: u64| {
        let from = first.saturating_add_unsigned(idx.saturating_mul(step));
        let is_last = idx + 1 == n_parts;
        let to =
            if is_last { last } else { first.saturating_add_unsigned((idx + 1).saturating_mul(step) - 1) };
        Part {
            reader,
            sql: sql.clone(),
            range: Some((from, to)),
            n_rows: n_rows / n_parts,
            rows_at_most: to.abs_diff(from).saturating_add(1),
            leaves: None,
        }
    };
    (0..n_parts).map(part).collect()
}

/// Restricts a query to a range of row ids.
const BETWEEN: &str = " WHERE rowid BETWEEN ?1 AND ?2";
