//! An open file: the connection and what tables it has.

use rusqlite::Connection;
use tracecard_model::{IssueLog, Severity};

use super::columns::{RowIds, Schema};
use crate::nsys_tables::{Cells, SmallTables};

/// An export that can be queried.
pub(super) struct Database {
    pub(super) connection: Connection,
    pub(super) schema: Schema,
    /// No table can have more rows: pages that point in a circle are damage.
    pub(super) rows_at_most: u64,
}

impl SmallTables for Database {
    fn each_row(
        &self,
        issues: &mut IssueLog,
        table: &str,
        columns: &[&str],
        each: &mut dyn FnMut(&Cells<'_>) -> bool,
    ) {
        let Some(table) = self.schema.table(table).filter(|table| table.rows != RowIds::Empty) else {
            return;
        };
        let mut read = || -> rusqlite::Result<()> {
            let mut statement = self.connection.prepare(&table.select(columns))?;
            let mut rows = statement.query([])?;
            let mut n_read = 0;
            while let Some(row) = rows.next()? {
                n_read += 1;
                if self.rows_at_most < n_read {
                    return Err(too_many_rows());
                }
                if !each(&Cells::of_row(row)) {
                    return Ok(());
                }
            }
            Ok(())
        };
        if let Err(error) = read() {
            note_damage(issues, &table.name, &error);
        }
    }
}

/// Report a table that could not be read to its end.
pub(super) fn note_damage(issues: &mut IssueLog, table: &str, error: &rusqlite::Error) {
    let text = "parts of tables are damaged and could not be read; rows are missing";
    issues.count(Severity::DataLoss, "table_damaged", text, || format!("{table}: {error}"));
}

/// The error for a table that gives more rows than can be in it: its pages point in a circle.
pub(super) fn too_many_rows() -> rusqlite::Error {
    let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
    rusqlite::Error::SqliteFailure(code, Some("it gives more rows than it can hold".to_owned()))
}
