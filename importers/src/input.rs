//! The file to read: path, size, first bytes, and a reader that sees through gzip and zstd.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::SystemTime;

use tracecard_model::{IssueLog, Severity};

use crate::ImportError;

/// How the bytes on disk are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// As they are.
    Plain,
    /// gzip, one or several members.
    Gzip,
    /// Zstandard.
    Zstd,
}

/// An opened trace file. Holds no descriptor; every [`Input::reader`] opens its own, for reading only.
#[derive(Debug)]
pub struct Input {
    path: PathBuf,
    size_bytes: u64,
    modified: Option<SystemTime>,
    compression: Compression,
    head: Vec<u8>,
}

/// How much of the (unpacked) start importers may sniff at.
const HEAD_BYTES: u64 = 64 * 1024;

impl Input {
    /// Look at a file: metadata and the first 64 KiB, unpacked.
    ///
    /// # Errors
    /// When it cannot be read, is a directory or empty.
    pub fn open(path: &Path) -> Result<Self, ImportError> {
        let io_error = |source| ImportError::Io { path: path.to_owned(), source };
        let meta = std::fs::metadata(path).map_err(io_error)?;
        if meta.is_dir() {
            let reason =
                "this is a directory; a directory of ranks is not supported, open one file".to_owned();
            return Err(ImportError::Unreadable { path: path.to_owned(), reason });
        }
        let mut magic = Vec::new();
        File::open(path).map_err(io_error)?.take(4).read_to_end(&mut magic).map_err(io_error)?;
        if magic.is_empty() {
            return Err(ImportError::Empty { path: path.to_owned() });
        }
        let compression = match magic.as_slice() {
            [0x1f, 0x8b, ..] => Compression::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd] => Compression::Zstd,
            _ => Compression::Plain,
        };
        let (size_bytes, modified) = (meta.len(), meta.modified().ok());
        let mut input = Self { path: path.to_owned(), size_bytes, modified, compression, head: Vec::new() };
        let mut head = Vec::new();
        // A damaged archive still has what could be unpacked before the damage.
        let result = input.reader()?.take(HEAD_BYTES).read_to_end(&mut head);
        if let (Err(source), true) = (result, head.is_empty()) {
            return Err(io_error(source));
        }
        input.head = head;
        Ok(input)
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Size on disk in bytes.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// How it is packed.
    pub fn compression(&self) -> Compression {
        self.compression
    }

    /// The first bytes, unpacked; at most 64 KiB.
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// All bytes, unpacked, from the start.
    ///
    /// # Errors
    /// When the file cannot be opened any more.
    pub fn reader(&self) -> Result<InputReader, ImportError> {
        let file = File::open(&self.path).map_err(|source| self.io_error(source))?;
        let bytes_read = Arc::new(AtomicU64::new(0));
        let counted = CountedFile { file, bytes_read: Arc::clone(&bytes_read) };
        let unpacked: Box<dyn Read + Send> = match self.compression {
            Compression::Plain => Box::new(counted),
            Compression::Gzip => {
                Box::new(flate2::read::MultiGzDecoder::new(io::BufReader::with_capacity(1 << 18, counted)))
            }
            Compression::Zstd => {
                Box::new(zstd::stream::read::Decoder::new(counted).map_err(|source| self.io_error(source))?)
            }
        };
        Ok(InputReader { unpacked, bytes_read })
    }

    /// An error of the operating system, with the path.
    pub fn io_error(&self, source: io::Error) -> ImportError {
        ImportError::Io { path: self.path.clone(), source }
    }

    /// An error in words, with the path.
    pub fn unreadable(&self, reason: impl Into<String>) -> ImportError {
        ImportError::Unreadable { path: self.path.clone(), reason: reason.into() }
    }

    /// How many bytes the file may unpack to: a small file that claims more is broken or made to fill memory.
    pub(crate) fn unpacked_bytes_at_most(&self) -> u64 {
        self.size_bytes.saturating_mul(200).saturating_add(64 << 20)
    }

    /// The error for a file that would unpack to more.
    pub(crate) fn unpacks_to_too_much(&self, unpacked_bytes: u64) -> ImportError {
        self.unreadable(format!(
            "the file would unpack to {unpacked_bytes} bytes, more than 200 times its size"
        ))
    }

    /// The error for a file that no importer knows, with what its first bytes look like.
    pub(crate) fn unrecognised(&self) -> ImportError {
        let looks_like = match self.head() {
            [0x89, b'P', b'N', b'G', ..] => "this is a PNG picture",
            [0xff, 0xd8, 0xff, ..] => "this is a JPEG picture",
            [b'P', b'K', 3 | 5, ..] => "this is a zip archive; unpack it first",
            [b'%', b'P', b'D', b'F', ..] => "this is a PDF document",
            [0x7f, b'E', b'L', b'F', ..] => "this is a program",
            head if head.iter().all(|b| *b == 0) => {
                "the file starts with zeros; the export or the copy was cut short"
            }
            head if head.starts_with(b"<") => "this is an HTML or XML text",
            _ => "this is no profile that Tracecard knows",
        };
        ImportError::Unrecognised { path: self.path.clone(), looks_like: looks_like.to_owned() }
    }

    /// Note when the file changed while it was read: what was read may not fit together.
    pub(crate) fn note_changes(&self, issues: &mut IssueLog) {
        let now = std::fs::metadata(&self.path).ok().map(|meta| (meta.len(), meta.modified().ok()));
        if now != Some((self.size_bytes, self.modified)) {
            let text = "the file changed while it was read; open it again when it is complete";
            issues.count(Severity::DataLoss, "file_changed", text, String::new);
        }
    }
}

/// Unpacked bytes of an [`Input`].
pub struct InputReader {
    unpacked: Box<dyn Read + Send>,
    bytes_read: Arc<AtomicU64>,
}

impl InputReader {
    /// How many bytes on disk were read so far: for progress against [`Input::size_bytes`].
    pub fn bytes_read(&self) -> u64 {
        self.bytes_read.load(Relaxed)
    }
}

impl Read for InputReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.unpacked.read(buffer)
    }
}

struct CountedFile {
    file: File,
    bytes_read: Arc<AtomicU64>,
}

impl Read for CountedFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.file.read(buffer)?;
        self.bytes_read.fetch_add(n as u64, Relaxed);
        Ok(n)
    }
}
