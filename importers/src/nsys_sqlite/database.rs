//! An open file: the connection and what tables it has.

use rusqlite::Connection;
use tracecard_model::{IssueLog, Severity};

use super::columns::{RowIds, Schema};
use crate::nsys_tables::{Cells, SmallTables};

/// An export that can be queried.
pub(super) struct Database {
    pub(super) connection: Connection,
    pub(super) schema: Schema,
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
            while let Some(row) = rows.next()? {
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
