//! Reading tables in parallel: parts are work items, each made into a fragment by some worker
//! and joined in the order of the list, so that the Trace does not depend on which thread was faster.

use std::fs::File;
use std::path::Path;

use rusqlite::Connection;
use tracecard_model::{Cancelled, Progress, TraceBuilder};

use super::database::{note_damage, too_many_rows};
use super::open::connect;
use super::pages::{Buffers, NotPlain, each_row};
use super::parts::{Part, PlainRows};
use crate::in_order::in_order;
use crate::nsys_tables::{Cells, Found, Fragment, Known, Record, Spare};

/// Why a scan ended early.
pub(super) enum ScanError {
    /// The user stopped it.
    Cancelled(Cancelled),
    /// A worker could not open the file.
    Open(rusqlite::Error),
}

/// Rows between two looks at the cancel button: a few milliseconds.
const ROWS_A_STEP: u64 = 4096;

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
    let spare = Spare::default();
    let work = |worker: &mut Worker, idx: usize| {
        let part = &parts[idx];
        match read_leaves(worker, part, known, &spare, progress) {
            Ok(fragment) => return Ok(fragment),
            Err(Stop::Cancelled(cancelled)) => return Err(ScanError::Cancelled(cancelled)),
            Err(Stop::NotPlain) => {}
        }
        match &worker.connection {
            Ok(connection) => {
                read_part(connection, part, known, &spare, progress).map_err(ScanError::Cancelled)
            }
            Err(error) => Err(ScanError::Open(clone_error(error))),
        }
    };
    let worker =
        || Worker { connection: connect(path), file: File::open(path).ok(), buffers: Buffers::default() };
    in_order(parts.len(), worker, work, |fragment| spare.absorb(fragment, into, found))
}

/// What each thread has of its own.
struct Worker {
    connection: rusqlite::Result<Connection>,
    file: Option<File>,
    buffers: Buffers,
}

/// Why the rows of a part were not read from its leaves.
enum Stop {
    Cancelled(Cancelled),
    NotPlain,
}

impl From<NotPlain> for Stop {
    fn from(NotPlain: NotPlain) -> Self {
        Self::NotPlain
    }
}

/// Read a part without SQLite.
fn read_leaves<'a>(
    worker: &mut Worker,
    part: &Part,
    known: &'a Known,
    spare: &Spare,
    progress: &Progress,
) -> Result<Fragment<'a>, Stop> {
    let (Some((rows, leaves)), Some(file)) = (&part.leaves, &mut worker.file) else {
        return Err(Stop::NotPlain);
    };
    let PlainRows { leaves: all, plan, layout } = &**rows;
    let pages = all.pages(leaves.clone());
    let (first, last) = part.range.ok_or(Stop::NotPlain)?;
    let mut fragment = Fragment::new(known, spare.take());
    progress.check().map_err(Stop::Cancelled)?;
    each_row(file, *layout, pages, plan, first..=last, &mut worker.buffers, |row_id, values| {
        let record = Record { row_id, values, frames: &[] };
        fragment.read(part.reader, &Cells::of_record(record));
        progress.check().map_err(Stop::Cancelled)
    })?;
    progress.advance(part.n_rows).map_err(Stop::Cancelled)?;
    Ok(fragment)
}

/// Read a part through SQLite.
fn read_part<'a>(
    connection: &Connection,
    part: &Part,
    known: &'a Known,
    spare: &Spare,
    progress: &Progress,
) -> Result<Fragment<'a>, Cancelled> {
    let mut fragment = Fragment::new(known, spare.take());
    let mut n_read = 0_u64;
    let mut is_cancelled = Ok(());
    let mut read_rows = || -> rusqlite::Result<()> {
        let mut statement = connection.prepare_cached(&part.sql)?;
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
