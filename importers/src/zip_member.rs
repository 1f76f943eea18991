//! The one member of a zip archive that is a trace: which it is, and a reader for it.
//!
//! The directory at the end of the archive is read by the `zip` crate; the member's bytes are read here, because
//! a reader must own its file. An archive that is cut off has no directory; then its first member is read from
//! the header before it, as far as it goes.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use zip::{CompressionMethod, ZipArchive};

use crate::unpack::{Compression, CountedFile, Limited, unpack};

/// A file in an archive.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    /// As the archive has it; what is no text is replaced.
    pub(crate) name: String,
    data_start: u64,
    packed_bytes: u64,
    is_deflated: bool,
    /// How its own bytes are packed: archives of `.json.gz` are common.
    inner: Compression,
    /// What the directory says of the unpacked bytes; `None` where the archive is cut off and has none.
    promised: Option<Promised>,
}

#[derive(Clone, Copy, Debug)]
struct Promised {
    size_bytes: u64,
    crc: u32,
}

/// Why no member can be read.
#[derive(Debug)]
pub(crate) enum Refusal {
    Io(io::Error),
    /// A sentence without a full stop.
    Reason(String),
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Find the member to read: the only one, or of several the only one whose first bytes are a trace.
pub(crate) fn choose(path: &Path, is_trace: fn(&[u8]) -> bool) -> Result<Member, Refusal> {
    let file = File::open(path)?;
    let mut members = match ZipArchive::new(BufReader::new(file)) {
        Ok(archive) => members(archive)?,
        Err(zip::result::ZipError::Io(error)) if error.kind() != io::ErrorKind::UnexpectedEof => {
            return Err(error.into());
        }
        Err(_) => vec![first_member(path)?],
    };
    if members.iter().any(|(name, _)| name.ends_with("data.pkl")) {
        let reason = "this is a PyTorch checkpoint (torch.save), not a trace; \
                      export a profile with prof.export_chrome_trace(\"trace.json\")";
        return Err(Refusal::Reason(reason.to_owned()));
    }
    if let [_] = members.as_slice()
        && let Some((_, member)) = members.pop()
    {
        return member?.looked_into(path);
    }
    choose_of_several(members, path, is_trace)
}

type Named = (String, Result<Member, Refusal>);

fn choose_of_several(
    members: Vec<Named>,
    path: &Path,
    is_trace: fn(&[u8]) -> bool,
) -> Result<Member, Refusal> {
    /// Looking into each takes a seek and some unpacking.
    const MAX_LOOKED_AT: usize = 200;
    let names: Vec<String> = members.iter().map(|(name, _)| name.clone()).collect();
    let mut traces = Vec::new();
    let mut refusal = None;
    for (_, member) in members.into_iter().take(MAX_LOOKED_AT) {
        match member.and_then(|member| member.looked_into(path)) {
            Ok(member) if is_trace(&member.head(path)) => traces.push(member),
            Ok(_) => {}
            Err(error) => refusal = refusal.or(Some(error)),
        }
    }
    if let ([_], Some(member)) = (traces.as_slice(), traces.first()) {
        return Ok(member.clone());
    }
    let what = match (names.len(), traces.len()) {
        (0, _) => return Err(Refusal::Reason("the zip archive holds no file".to_owned())),
        (n, 0) => format!("none of the {n} files in the zip archive is a PyTorch or chrome trace"),
        (_, n) => format!("{n} files in the zip archive are traces"),
    };
    if let (true, Some(refusal)) = (traces.is_empty(), refusal) {
        return Err(refusal);
    }
    let shown: Vec<String> =
        if traces.is_empty() { names } else { traces.into_iter().map(|member| member.name).collect() };
    Err(Refusal::Reason(format!("{what}; unpack the one to open: {}", listed(&shown))))
}

/// The first names of a list.
fn listed(names: &[String]) -> String {
    const N_SHOWN: usize = 8;
    let shown: Vec<String> = names.iter().take(N_SHOWN).map(|name| name.escape_debug().to_string()).collect();
    match names.len().checked_sub(N_SHOWN) {
        Some(n_more @ 1..) => format!("{} and {n_more} more", shown.join(", ")),
        _ => shown.join(", "),
    }
}

/// All files of the archive but what macOS adds.
fn members(mut archive: ZipArchive<BufReader<File>>) -> Result<Vec<Named>, Refusal> {
    let mut members = Vec::new();
    for idx in 0..archive.len() {
        let Ok(file) = archive.by_index_raw(idx) else { continue };
        let name = String::from_utf8_lossy(file.name_raw()).into_owned();
        let base = name.rsplit('/').next().unwrap_or_default();
        if file.is_dir() || name.starts_with("__MACOSX/") || base.starts_with("._") || base == ".DS_Store" {
            continue;
        }
        let member = method(file.encrypted(), file.compression()).and_then(|is_deflated| {
            let damaged = || Refusal::Reason("the zip archive is damaged: a file has no start".to_owned());
            Ok(Member {
                name: name.clone(),
                data_start: file.data_start().ok_or_else(damaged)?,
                packed_bytes: file.compressed_size(),
                is_deflated,
                inner: Compression::Plain,
                promised: Some(Promised { size_bytes: file.size(), crc: file.crc32() }),
            })
        });
        members.push((name, member));
    }
    Ok(members)
}

/// Is a member deflated, or stored as it is? Other methods are refused.
fn method(is_encrypted: bool, method: CompressionMethod) -> Result<bool, Refusal> {
    if is_encrypted {
        let reason = "the zip archive is encrypted; unpack it with its password and open the file in it";
        return Err(Refusal::Reason(reason.to_owned()));
    }
    match method {
        CompressionMethod::Deflated => Ok(true),
        CompressionMethod::Stored => Ok(false),
        other => Err(unknown_method(other)),
    }
}

fn unknown_method(method: impl Display) -> Refusal {
    Refusal::Reason(format!(
        "the zip archive is packed by a method that Tracecard does not read ({method}); \
         unpack it and open the file in it"
    ))
}

/// The first member of an archive without a directory, by the header before it:
///
/// ```text
/// 0 "PK\3\4"  6 flags  8 method  18 packed size  26 name length  28 extra length  30 name, extra, data
/// ```
fn first_member(path: &Path) -> Result<Named, Refusal> {
    const IS_ENCRYPTED: u16 = 1;
    let damaged = || {
        let reason = "the zip archive is cut off or damaged: it has neither a directory nor a whole header; \
                      copy or download it again";
        Refusal::Reason(reason.to_owned())
    };
    let mut file = File::open(path)?;
    let end = file.metadata()?.len();
    let mut header = [0_u8; 30];
    file.read_exact(&mut header).map_err(|_| damaged())?;
    let number =
        |at: usize| header.get(at..at + 2).and_then(|b| b.try_into().ok()).map_or(0, u16::from_le_bytes);
    if !header.starts_with(b"PK\x03\x04") {
        return Err(damaged());
    }
    let (n_name, n_extra) = (number(26), number(28));
    let mut name = Vec::new();
    file.by_ref().take(n_name.into()).read_to_end(&mut name)?;
    let packing = match number(8) {
        0 => CompressionMethod::Stored,
        8 => CompressionMethod::Deflated,
        other => return Err(unknown_method(other)),
    };
    let is_deflated = method(number(6) & IS_ENCRYPTED != 0, packing)?;
    let data_start = 30 + u64::from(n_name) + u64::from(n_extra);
    let packed_bytes = end.checked_sub(data_start).ok_or_else(damaged)?;
    let name = String::from_utf8_lossy(&name).into_owned();
    let member = Member {
        name: name.clone(),
        data_start,
        packed_bytes,
        is_deflated,
        inner: Compression::Plain,
        promised: None,
    };
    Ok((name, Ok(member)))
}

impl Member {
    /// All its bytes, unpacked, from the start.
    pub(crate) fn reader(
        &self,
        path: &Path,
        bytes_read: &Arc<AtomicU64>,
    ) -> io::Result<Box<dyn Read + Send>> {
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(self.data_start))?;
        let counted = CountedFile::new(file, self.packed_bytes, bytes_read);
        let unpacked: Box<dyn Read + Send> = if self.is_deflated {
            let buffered = BufReader::with_capacity(1 << 18, counted);
            let inflated = flate2::bufread::DeflateDecoder::new(buffered);
            Box::new(Checked::new(Limited::of_packed(inflated, self.packed_bytes), self.promised))
        } else {
            Box::new(Checked::new(counted, self.promised))
        };
        unpack(unpacked, self.inner, self.packed_bytes)
    }

    /// How many bytes the reader gives, where that is known.
    pub(crate) fn unpacked_bytes(&self) -> Option<u64> {
        let is_plain = self.inner == Compression::Plain;
        self.promised.filter(|_| is_plain).map(|promised| promised.size_bytes)
    }

    /// The same with its own packing known.
    fn looked_into(mut self, path: &Path) -> Result<Self, Refusal> {
        self.inner = match Compression::of(&self.head(path)) {
            Compression::Zip => {
                let reason = "the zip archive holds another zip archive; unpack it and open that one";
                return Err(Refusal::Reason(reason.to_owned()));
            }
            inner => inner,
        };
        Ok(self)
    }

    /// What can be read of its first 64 KiB.
    fn head(&self, path: &Path) -> Vec<u8> {
        const HEAD_BYTES: u64 = 64 * 1024;
        let mut head = Vec::new();
        if let Ok(reader) = self.reader(path, &Arc::default()) {
            // What comes before an error is there.
            let _ = reader.take(HEAD_BYTES).read_to_end(&mut head);
        }
        head
    }
}

/// A reader that compares what it gave with what the directory promised, at the end.
struct Checked<R> {
    inner: flate2::CrcReader<BufReader<R>>,
    n_bytes: u64,
    promised: Option<Promised>,
}

impl<R: Read> Checked<R> {
    fn new(inner: R, promised: Option<Promised>) -> Self {
        let inner = flate2::CrcReader::new(BufReader::with_capacity(1 << 16, inner));
        Self { inner, n_bytes: 0, promised }
    }
}

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.n_bytes += n as u64;
        if 0 < n || buffer.is_empty() {
            return Ok(n);
        }
        match self.promised {
            Some(promised) if promised.size_bytes <= self.n_bytes => {
                if promised.crc == self.inner.crc().sum() {
                    return Ok(0);
                }
                Err(io::Error::new(io::ErrorKind::InvalidData, "the checksum differs"))
            }
            _ => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }
}
