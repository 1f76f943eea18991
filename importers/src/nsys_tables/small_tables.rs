//! The joint to the readers of files, for tables that are read from start to end before the events.

use tracecard_model::IssueLog;

use super::cells::Cells;

/// A capture whose tables can be read by name.
pub(crate) trait SmallTables {
    /// Call `each` with the wanted columns of every row of a table, in file order, until it returns `false`.
    /// A missing table has no rows, a missing column is null; damage ends the table and is counted.
    fn each_row(
        &self,
        issues: &mut IssueLog,
        table: &str,
        columns: &[&str],
        each: &mut dyn FnMut(&Cells<'_>) -> bool,
    );
}
