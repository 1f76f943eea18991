//! `StringIds`: all names of the file by number. Numbers have gaps; a missing one must not drop a row.

use rusqlite::Connection;
use rustc_hash::FxHashMap;
use tracecard_model::{Cancelled, IssueLog, Progress};

use super::columns::Schema;
use super::small_tables::each_row;

/// Texts by number; shared by all workers.
#[derive(Debug, Default)]
pub(super) struct Strings(FxHashMap<i64, Box<str>>);

/// How many rows are read between two looks at the cancel button.
const ROWS_A_STEP: u64 = 4096;

impl Strings {
    /// Load them all.
    pub(super) fn read(
        connection: &Connection,
        schema: &Schema,
        issues: &mut IssueLog,
        progress: &Progress,
    ) -> Result<Self, Cancelled> {
        let n_rows = schema.table("StringIds").and_then(super::columns::Table::n_rows_at_most);
        progress.begin("Reading names", n_rows.unwrap_or(0))?;
        let mut texts = FxHashMap::default();
        let mut n_read = 0_u64;
        let mut is_cancelled = Ok(());
        each_row(connection, schema, issues, "StringIds", &["id", "value"], |cells| {
            if let (Some(id), Some(text)) = (cells.int(0), cells.text(1)) {
                texts.insert(id, text.into());
            }
            n_read += 1;
            if n_read.is_multiple_of(ROWS_A_STEP) {
                is_cancelled = progress.advance(ROWS_A_STEP);
            }
            is_cancelled.is_ok()
        });
        is_cancelled.map(|()| Self(texts))
    }

    /// The text of a number.
    pub(super) fn get(&self, id: i64) -> Option<&str> {
        self.0.get(&id).map(|text| &**text)
    }
}
