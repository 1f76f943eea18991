//! Opening the file without touching it: read-only, immutable, with the header checked first.
//!
//! `immutable=1` makes SQLite take no locks and write no `-wal`, `-shm` or `-journal` beside the user's
//! data; it works from read-only folders and on file systems without locks. It also means that changes
//! waiting in a `-wal` or `-journal` file are not seen, which is reported as data loss.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use rusqlite::{Connection, OpenFlags};
use tracecard_model::{IssueLog, Severity};

use crate::{Compression, ImportError, Input};

/// The first bytes of every SQLite database.
pub(super) const MAGIC: &[u8] = b"SQLite format 3\0";

/// No export is smaller: SQLite allocates whole pages and NVIDIA's exports use pages of 4096 bytes.
const SMALLEST_EXPORT_BYTES: u64 = 4096;

/// A connection of its own for one thread.
pub(super) fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(uri(path), flags)?;
    // A made-up file must not run functions through its schema.
    connection.execute_batch("PRAGMA trusted_schema = OFF; PRAGMA query_only = ON; PRAGMA mmap_size = 0;")?;
    Ok(connection)
}

/// Does the file begin like a database, or like one whose export was interrupted before the header?
pub(super) fn looks_like_sqlite(head: &[u8]) -> bool {
    head.starts_with(MAGIC) || has_zeroed_header(head)
}

/// Check what the header says before SQLite sees the file, for messages that tell what to do.
pub(super) fn check_header(input: &Input) -> Result<(), ImportError> {
    match input.compression() {
        Compression::Plain => {}
        Compression::Gzip => return Err(packed(input, "gzip", "gunzip --keep")),
        Compression::Zstd => return Err(packed(input, "zstd", "zstd --decompress")),
        Compression::Zip => return Err(packed(input, "zip", "unzip")),
    }
    let head = input.head();
    if has_zeroed_header(head) {
        return Err(input.unreadable(
            "the header of this SQLite file is zeros: the export was interrupted; run nsys export again",
        ));
    }
    let size_bytes = input.size_bytes();
    if size_bytes < SMALLEST_EXPORT_BYTES {
        return Err(input.unreadable(format!(
            "the export was cut short: {size_bytes} bytes are less than one page; run nsys export or the copy again"
        )));
    }
    let (Some(page_bytes), Some(n_pages)) = (page_bytes(head), n_pages(head)) else { return Ok(()) };
    let expected_bytes = page_bytes.saturating_mul(n_pages);
    if size_bytes < expected_bytes && has_journal(input.path()) {
        return Err(input.unreadable(format!(
            "the export is still being written, or was interrupted: the file has {size_bytes} of {expected_bytes} bytes \
             and a journal beside it; open it again when nsys export is done"
        )));
    }
    if size_bytes < expected_bytes {
        return Err(input.unreadable(format!(
            "the export was cut short: the file has {size_bytes} of {expected_bytes} bytes; run nsys export or the \
             copy again"
        )));
    }
    Ok(())
}

/// Does a change wait beside the file that was not completed?
pub(super) fn has_journal(path: &Path) -> bool {
    side_files(path).next().is_some()
}

/// Report a file that is longer than SQLite believes: rows are written before the header counts them.
pub(super) fn note_growth(input: &Input, issues: &mut IssueLog) {
    let head = input.head();
    let (Some(page_bytes), Some(n_pages)) = (page_bytes(head), n_pages(head)) else { return };
    let counted_bytes = page_bytes.saturating_mul(n_pages);
    if counted_bytes < input.size_bytes() {
        let text = "the file is longer than its header says: it is still being written, or the export was interrupted; \
                    only what the header counts is read";
        let example = || format!("{counted_bytes} of {} bytes", input.size_bytes());
        issues.count(Severity::DataLoss, "file_longer_than_counted", text, example);
    }
}

/// Report changes that wait beside the file and are not read.
pub(super) fn note_side_files(path: &Path, issues: &mut IssueLog) {
    for suffix in side_files(path) {
        let text = "another program left unfinished changes beside the file; they are not read";
        let example = || format!("…{suffix}");
        issues.count(Severity::DataLoss, "unfinished_changes_beside_the_file", text, example);
    }
}

/// Ends of the names of files with unfinished changes.
fn side_files(path: &Path) -> impl Iterator<Item = &'static str> {
    ["-wal", "-journal"].into_iter().filter(move |suffix| {
        let mut name = OsString::from(path);
        name.push(suffix);
        std::fs::metadata(PathBuf::from(name)).is_ok_and(|meta| 0 < meta.len())
    })
}

/// Bytes that stand for themselves in the path of a URI.
const PATH_BYTES: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// SQLite's name for the file; `?`, `#` and `%` in a path would end or change it.
fn uri(path: &Path) -> String {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let bytes = path_bytes(&absolute);
    // `C:/x` becomes `/C:/x`; the empty authority keeps `//server/x` a path.
    let slash = if bytes.starts_with(b"/") { "" } else { "/" };
    format!("file://{slash}{}?mode=ro&immutable=1", percent_encode(&bytes, PATH_BYTES))
}

#[cfg(unix)]
fn path_bytes(path: &Path) -> Vec<u8> {
    use std::os::unix::ffi::OsStrExt;
    path.as_os_str().as_bytes().to_vec()
}

#[cfg(not(unix))]
fn path_bytes(path: &Path) -> Vec<u8> {
    path.to_string_lossy().replace('\\', "/").into_bytes()
}

fn packed(input: &Input, format: &str, command: &str) -> ImportError {
    input.unreadable(format!(
        "this is an SQLite file packed with {format}; SQLite needs to jump in the file, so unpack it first: \
         {command} {}",
        input.path().display(),
    ))
}

/// Zeros where the magic should be, but B-tree pages behind: SQLite writes the first page last.
fn has_zeroed_header(head: &[u8]) -> bool {
    /// First bytes of the four kinds of B-tree pages.
    const PAGE_KINDS: [u8; 4] = [2, 5, 10, 13];
    let header_is_zero = head.get(..100).is_some_and(|header| header.iter().all(|b| *b == 0));
    let page_starts = head.iter().step_by(4096).skip(1);
    header_is_zero
        && page_starts.clone().next().is_some()
        && page_starts.clone().any(|b| PAGE_KINDS.contains(b))
}

fn page_bytes(head: &[u8]) -> Option<u64> {
    match u16::from_be_bytes([*head.get(16)?, *head.get(17)?]) {
        1 => Some(65_536),
        bytes if bytes.is_power_of_two() => Some(u64::from(bytes)),
        _ => None,
    }
}

/// Pages of the file; `None` when an old program wrote it without keeping the number.
fn n_pages(head: &[u8]) -> Option<u64> {
    let number = |at: usize| Some(u32::from_be_bytes(head.get(at..at + 4)?.try_into().ok()?));
    let is_current = number(24)? == number(92)?;
    number(28).filter(|n| is_current && 0 < *n).map(u64::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_of_uris_are_encoded() {
        assert_eq!(
            uri(Path::new("/a/t?x#1%20.sqlite")),
            "file:///a/t%3Fx%231%2520.sqlite?mode=ro&immutable=1"
        );
        assert_eq!(uri(Path::new("/ü b")), "file:///%C3%BC%20b?mode=ro&immutable=1");
    }
}
