//! `StringIds`: all names of the file by number. Numbers have gaps; a missing one must not drop a row.

use rustc_hash::FxHashMap;
use tracecard_model::{Cancelled, IssueLog, Progress};

use super::small_tables::SmallTables;

/// Texts by number; shared by all workers. All lie in one piece of memory.
#[derive(Debug, Default)]
pub(crate) struct Strings {
    texts: String,
    /// Where each text ends.
    ends: Vec<usize>,
    /// Number → place in `ends`; `None` where the number is the place.
    places: Option<FxHashMap<i64, u32>>,
}

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
        let mut strings = Self::numbered();
        let mut places = FxHashMap::default();
        let mut n_read = 0_u64;
        let mut is_cancelled = Ok(());
        tables.each_row(issues, "StringIds", &["id", "value"], &mut |cells| {
            if let (Some(id), Some(text)) = (cells.int(0), cells.text(1)) {
                places.insert(id, strings.ends.len() as u32);
                strings.push(&text);
            }
            n_read += 1;
            if n_read.is_multiple_of(ROWS_A_STEP) {
                is_cancelled = progress.advance(ROWS_A_STEP);
            }
            is_cancelled.is_ok()
        });
        is_cancelled.map(|()| Self { places: Some(places), ..strings })
    }

    /// None yet; the first to be pushed has number 0.
    pub(crate) fn numbered() -> Self {
        Self::default()
    }

    /// The text with the next number.
    pub(crate) fn push(&mut self, text: &str) {
        self.texts.push_str(text);
        self.ends.push(self.texts.len());
    }

    /// The text of a number.
    pub(crate) fn get(&self, id: i64) -> Option<&str> {
        let place = match &self.places {
            Some(places) => *places.get(&id)? as usize,
            None => usize::try_from(id).ok()?,
        };
        let end = *self.ends.get(place)?;
        let start = place.checked_sub(1).map_or(Some(0), |before| self.ends.get(before).copied())?;
        self.texts.get(start..end)
    }
}
