//! The file to read: path, size, first bytes, and a reader that sees through gzip, zstd and zip.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::SystemTime;

use tracecard_model::{IssueLog, Severity};

use crate::unpack::{Compression, CountedFile, LIMIT_VARIABLE, TooLarge, unpack};
use crate::zip_member::{self, Member, Refusal};
use crate::{ImportError, chrome_json, unknown};

/// An opened trace file. Holds no descriptor; every [`Input::reader`] opens its own, for reading only.
#[derive(Debug)]
pub struct Input {
    path: PathBuf,
    size_bytes: u64,
    modified: Option<SystemTime>,
    compression: Compression,
    /// What is read of a zip archive.
    member: Option<Member>,
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
        if !meta.is_file() {
            let reason = "this is no file but a pipe or a device, which cannot be read twice; \
                          save it to a file and open that"
                .to_owned();
            return Err(ImportError::Unreadable { path: path.to_owned(), reason });
        }
        let mut magic = Vec::new();
        File::open(path).map_err(io_error)?.take(4).read_to_end(&mut magic).map_err(io_error)?;
        if magic.is_empty() {
            return Err(ImportError::Empty { path: path.to_owned() });
        }
        let compression = Compression::of(&magic);
        let member = match compression {
            Compression::Zip => {
                Some(zip_member::choose(path, chrome_json::is_trace).map_err(|refusal| match refusal {
                    Refusal::Io(source) => io_error(source),
                    Refusal::Reason(reason) => ImportError::Unreadable { path: path.to_owned(), reason },
                })?)
            }
            _ => None,
        };
        let (size_bytes, modified) = (meta.len(), meta.modified().ok());
        let mut input =
            Self { path: path.to_owned(), size_bytes, modified, compression, member, head: Vec::new() };
        let mut head = Vec::new();
        // A damaged archive still has what could be unpacked before the damage.
        let result = input.reader()?.take(HEAD_BYTES).read_to_end(&mut head);
        if let (Err(source), true) = (result, head.is_empty()) {
            let Some(packing) = compression.name() else { return Err(io_error(source)) };
            return Err(input.unreadable(format!(
                "the {packing} archive is cut off or damaged, nothing can be unpacked ({source}); \
                 copy or download it again"
            )));
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
        let bytes_read = Arc::new(AtomicU64::new(0));
        let open = || -> io::Result<Box<dyn Read + Send>> {
            if let Some(member) = &self.member {
                return member.reader(&self.path, &bytes_read);
            }
            let file = File::open(&self.path)?;
            let counted = CountedFile::new(file, self.size_bytes, &bytes_read);
            unpack(counted, self.compression, self.size_bytes)
        };
        let unpacked = open().map_err(|source| self.io_error(source))?;
        Ok(InputReader { unpacked, bytes_read })
    }

    /// How many bytes [`Self::reader`] gives, as far as that can be known without unpacking; `None` where it
    /// cannot. A gzip file ends with its size, of its last member and modulo 4 GiB, so that is a guess.
    pub fn unpacked_bytes(&self) -> Option<u64> {
        match self.compression {
            Compression::Plain => Some(self.size_bytes),
            Compression::Gzip => {
                let mut file = File::open(&self.path).ok()?;
                let mut size = [0; 4];
                file.seek(SeekFrom::End(-4)).ok()?;
                file.read_exact(&mut size).ok()?;
                // Traces shrink 5 to 20 times; what seems to shrink less has passed 4 GiB.
                Some(u64::from(u32::from_le_bytes(size))).filter(|size| self.size_bytes <= *size)
            }
            Compression::Zstd => {
                const HEADER_BYTES: u64 = 18;
                let mut header = Vec::new();
                File::open(&self.path).ok()?.take(HEADER_BYTES).read_to_end(&mut header).ok()?;
                zstd::zstd_safe::get_frame_content_size(&header).ok()?
            }
            Compression::Zip => self.member.as_ref()?.unpacked_bytes(),
        }
    }

    /// Name of the member that is read of a zip archive.
    pub fn zip_member(&self) -> Option<&str> {
        self.member.as_ref().map(|member| member.name.as_str())
    }

    /// What an error of [`Self::reader`] means where it is the bound on unpacked sizes.
    pub(crate) fn too_large(&self, error: &io::Error) -> Option<ImportError> {
        let TooLarge { limit_bytes } = error.get_ref()?.downcast_ref()?;
        Some(self.unpacks_to_too_much(*limit_bytes))
    }

    /// The error for a file that unpacks to more than the limit: it is broken, or made to fill memory.
    pub(crate) fn unpacks_to_too_much(&self, limit_bytes: u64) -> ImportError {
        let size_bytes = self.size_bytes;
        self.unreadable(format!(
            "the file of {size_bytes} bytes unpacks to more than {limit_bytes} (the limit is 200 times its size and 64 MiB, \
             which no trace needs, or what {LIMIT_VARIABLE} says); if you trust it, set {LIMIT_VARIABLE} to a larger number"
        ))
    }

    /// An error of the operating system, with the path.
    pub fn io_error(&self, source: io::Error) -> ImportError {
        ImportError::Io { path: self.path.clone(), source }
    }

    /// An error in words, with the path.
    pub fn unreadable(&self, reason: impl Into<String>) -> ImportError {
        ImportError::Unreadable { path: self.path.clone(), reason: reason.into() }
    }

    /// The error for a file that no importer knows, with what its first bytes look like.
    pub(crate) fn unrecognised(&self) -> ImportError {
        let looks_like = unknown::looks_like(self.head()).to_owned();
        ImportError::Unrecognised { path: self.path.clone(), looks_like }
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
