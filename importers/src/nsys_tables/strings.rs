//! `StringIds`: all names of the file by number. Numbers have gaps; a missing one must not drop a row.

use rustc_hash::FxHashMap;
use tracecard_model::{Cancelled, IssueLog, Progress};

use super::small_tables::SmallTables;

/// Texts by number; shared by all workers.
#[derive(Debug, Default)]
pub(crate) struct Strings(FxHashMap<i64, Box<str>>);

/// How many rows are read between two looks at the cancel button.
const ROWS_A_STEP: u64 = 4096;

impl Strings {
    /// Load them all; `n_rows` is for the progress bar.
    pub(crate) fn read(
        tables: &dyn SmallTables,
        issues: &mut IssueLog,
        n_rows: u64,
        progress: &Progress,
    ) -> Result<Self, Cancelled> {
        progress.begin("Reading names", n_rows)?;
        let mut texts = FxHashMap::default();
        let mut n_read = 0_u64;
        let mut is_cancelled = Ok(());
        tables.each_row(issues, "StringIds", &["id", "value"], &mut |cells| {
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

    /// Texts numbered from 0.
    pub(crate) fn from_texts(texts: impl Iterator<Item = Box<str>>) -> Self {
        Self((0..).zip(texts).collect())
    }

    /// The text of a number.
    pub(crate) fn get(&self, id: i64) -> Option<&str> {
        self.0.get(&id).map(|text| &**text)
    }
}
