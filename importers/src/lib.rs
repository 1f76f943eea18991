//! Reads profiles into a [`Trace`]. Only this crate opens trace files, and it never writes to them.
//!
//! [`open`] recognises a file by its content, never by its name, and hands it to the one importer of
//! [`ALL`] that says yes. A bad event is counted and skipped; only an unreadable file is an error.

mod chrome_json;
mod importer;
mod in_order;
mod input;
mod nsys_rep;
mod nsys_sqlite;
mod nsys_tables;
mod nsys_terms;
mod unknown;
mod unpack;
mod zip_member;

use std::path::Path;

use tracecard_model::{Progress, Trace, TraceBuilder};

pub use importer::{ImportError, Importer, Info, TableInfo};
pub use input::Input;
pub use unpack::Compression;

/// Every format, in the order in which files are tried.
pub const ALL: &[Importer] = &[nsys_sqlite::IMPORTER, nsys_rep::IMPORTER, chrome_json::IMPORTER];

/// Read a file into a Trace. Blocks for as long as reading takes; call it in a job.
///
/// # Errors
/// [`ImportError`] when the file cannot be read at all, or when cancelled.
pub fn open(path: &Path, progress: &Progress) -> Result<Trace, ImportError> {
    Ok(read(path, progress)?.finish(progress)?)
}

/// The rows of a file before they are sorted, nested and linked: what [`open`] finishes.
///
/// # Errors
/// As [`open`].
pub fn read(path: &Path, progress: &Progress) -> Result<TraceBuilder, ImportError> {
    let input = Input::open(path)?;
    let importer = recognise(&input)?;
    let mut builder = TraceBuilder::new();
    builder.meta.format = importer.id;
    (importer.read)(&input, &mut builder, progress)?;
    input.note_changes(&mut builder.issues);
    Ok(builder)
}

/// What a file is, from its headers alone: well under a second, whatever its size.
///
/// # Errors
/// As [`open`].
pub fn info(path: &Path) -> Result<Info, ImportError> {
    let input = Input::open(path)?;
    (recognise(&input)?.info)(&input)
}

fn recognise(input: &Input) -> Result<&'static Importer, ImportError> {
    ALL.iter().find(|importer| (importer.sniff)(input)).ok_or_else(|| input.unrecognised())
}
