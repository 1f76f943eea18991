//! How files are packed, and the readers that see through it, with a bound on what may come out.

use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// How the bytes on disk are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// As they are.
    Plain,
    /// gzip, one or several members.
    Gzip,
    /// Zstandard.
    Zstd,
    /// One member of a zip archive.
    Zip,
}

impl Compression {
    /// As their first bytes say.
    pub(crate) fn of(magic: &[u8]) -> Self {
        match magic {
            [0x1f, 0x8b, ..] => Self::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Self::Zstd,
            // The second is an archive without members.
            [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => Self::Zip,
            _ => Self::Plain,
        }
    }

    /// Its name; `None` for bytes as they are.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Gzip => Some("gzip"),
            Self::Zstd => Some("zstd"),
            Self::Zip => Some("zip"),
        }
    }
}

/// The error of a reader whose packed bytes give more than any real trace does.
#[derive(Debug, thiserror::Error)]
#[error("it unpacks to more than {limit_bytes} bytes")]
pub(crate) struct TooLarge {
    pub(crate) limit_bytes: u64,
}

/// The variable that sets another limit, in bytes, for files that the user trusts.
pub(crate) const LIMIT_VARIABLE: &str = "TRACECARD_MAX_UNPACKED_BYTES";

/// How many bytes `packed_bytes` may give: 200 times as many, and 64 MiB for small files, unless
/// [`LIMIT_VARIABLE`] says otherwise. Kineto's traces shrink 5 to 20 times, reports 3 to 10 times.
pub(crate) fn limit_bytes(packed_bytes: u64) -> u64 {
    const MAX_RATIO: u64 = 200;
    const ALWAYS_BYTES: u64 = 64 << 20;
    let by_user = std::env::var(LIMIT_VARIABLE).ok().and_then(|bytes| bytes.trim().parse().ok());
    by_user.unwrap_or_else(|| packed_bytes.saturating_mul(MAX_RATIO).saturating_add(ALWAYS_BYTES))
}

/// Unpack what `packed` reads; [`Compression::Zip`] is seen to by [`crate::zip_member`].
pub(crate) fn unpack(
    packed: impl Read + Send + 'static,
    compression: Compression,
    packed_bytes: u64,
) -> io::Result<Box<dyn Read + Send>> {
    const BUFFER_BYTES: usize = 1 << 18;
    let limit_bytes = limit_bytes(packed_bytes);
    Ok(match compression {
        Compression::Plain | Compression::Zip => Box::new(packed),
        Compression::Gzip => {
            let buffered = io::BufReader::with_capacity(BUFFER_BYTES, packed);
            Box::new(Limited::new(flate2::read::MultiGzDecoder::new(buffered), limit_bytes))
        }
        Compression::Zstd => Box::new(Limited::new(zstd::stream::read::Decoder::new(packed)?, limit_bytes)),
    })
}

/// A reader that refuses to give more than its limit.
pub(crate) struct Limited<R> {
    inner: R,
    limit_bytes: u64,
    left_bytes: u64,
}

impl<R> Limited<R> {
    fn new(inner: R, limit_bytes: u64) -> Self {
        Self { inner, limit_bytes, left_bytes: limit_bytes }
    }

    /// With the limit of so many packed bytes.
    pub(crate) fn of_packed(inner: R, packed_bytes: u64) -> Self {
        Self::new(inner, limit_bytes(packed_bytes))
    }
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        match self.left_bytes.checked_sub(n as u64) {
            Some(left_bytes) => {
                self.left_bytes = left_bytes;
                Ok(n)
            }
            None => Err(io::Error::other(TooLarge { limit_bytes: self.limit_bytes })),
        }
    }
}

/// A file that counts what is read from it, and ends where it ended when it was opened: one that is still
/// being written may grow faster than it is read.
pub(crate) struct CountedFile {
    file: io::Take<File>,
    bytes_read: Arc<AtomicU64>,
}

impl CountedFile {
    /// From where the file stands, at most so many bytes.
    pub(crate) fn new(file: File, max_bytes: u64, bytes_read: &Arc<AtomicU64>) -> Self {
        Self { file: file.take(max_bytes), bytes_read: Arc::clone(bytes_read) }
    }
}

impl Read for CountedFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.file.read(buffer)?;
        self.bytes_read.fetch_add(n as u64, Relaxed);
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_gives_what_the_limit_allows_and_no_more() {
        let mut out = Vec::new();
        assert_eq!(Limited::new([1_u8; 10].as_slice(), 10).read_to_end(&mut out).unwrap(), 10);
        let error = Limited::new([1_u8; 11].as_slice(), 10).read_to_end(&mut out).unwrap_err();
        assert!(error.get_ref().and_then(|error| error.downcast_ref::<TooLarge>()).is_some(), "{error}");
    }

    #[test]
    fn small_files_may_hold_64_mib_and_large_ones_200_times_their_size() {
        assert_eq!(limit_bytes(0), 64 << 20);
        assert_eq!(limit_bytes(1 << 30), 200 * (1 << 30) + (64 << 20));
        assert_eq!(limit_bytes(u64::MAX), u64::MAX);
    }
}
