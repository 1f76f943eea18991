//! Reading a small table from start to end on one connection.

use rusqlite::Connection;
use tracecard_model::{IssueLog, Severity};

use super::cells::Cells;
use super::columns::{RowIds, Schema};

/// Call `each` with every row of a table, in the order of its row ids, until it returns `false`. A missing
/// table has no rows; damage ends the table and is counted.
pub(super) fn each_row(
    connection: &Connection,
    schema: &Schema,
    issues: &mut IssueLog,
    table: &str,
    columns: &[&str],
    mut each: impl FnMut(&Cells<'_>) -> bool,
) {
    let Some(table) = schema.table(table).filter(|table| table.rows != RowIds::Empty) else { return };
    let mut read = || -> rusqlite::Result<()> {
        let mut statement = connection.prepare(&table.select(columns))?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            if !each(&Cells::new(row)) {
                return Ok(());
            }
        }
        Ok(())
    };
    if let Err(error) = read() {
        note_damage(issues, &table.name, &error);
    }
}

/// Report a table that could not be read to its end.
pub(super) fn note_damage(issues: &mut IssueLog, table: &str, error: &rusqlite::Error) {
    let text = "parts of tables are damaged and could not be read; rows are missing";
    issues.count(Severity::DataLoss, "table_damaged", text, || format!("{table}: {error}"));
}
