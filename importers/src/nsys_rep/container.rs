//! The file around the data: a text header, sections, a table of contents, an end mark.
//!
//! ```text
//! "NVIDIA Tegra Profiler Report " version "."
//! sections …
//! table of contents: repeated 1 = {1: name, 2: offset, 3: bytes}
//! offset of the table (8 bytes)  "U3w[END]"
//! ```

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use super::message::{Damaged, Value, each_field, field, repeated};
use crate::{ImportError, Input};

/// The first bytes of every report.
pub(super) const MAGIC: &[u8] = b"NVIDIA Tegra Profiler Report ";

/// The last bytes of every complete report.
const END_MARK: &[u8] = b"U3w[END]";

/// Offset of the table of contents, and the end mark.
const TRAILER_BYTES: u64 = 16;

/// Larger tables of contents and small sections are no real ones: they take a few hundred bytes.
const SMALL_BYTES: u64 = 64 << 20;

/// A part of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Section {
    pub(super) offset: u64,
    pub(super) n_bytes: u64,
}

/// An opened report.
#[derive(Debug)]
pub(super) struct Container {
    /// Events, texts, facts about the machine.
    pub(super) data: Section,
    /// How the blocks in the data are packed.
    pub(super) compression: String,
    /// Where the block of texts starts, in bytes after the start of the data.
    pub(super) strings_at: u64,
    /// The version of nsys that captured: `2026.1.1.204`; `None` where the file does not say.
    pub(super) version: Option<String>,
    /// Clocks and how they lie to each other (2025.6 on); empty in older reports.
    pub(super) clocks: Vec<u8>,
}

impl Container {
    /// Find the sections.
    pub(super) fn open(input: &Input, file: &mut File) -> Result<Self, ImportError> {
        let size_bytes = input.size_bytes();
        let header_version = header_version(input.head());
        let cut_short = |what: &str| {
            let version =
                header_version.as_ref().map_or_else(String::new, |version| format!(" of nsys {version}"));
            input.unreadable(format!(
                "the report{version} is incomplete or damaged: {what}; the capture or the copy did not finish"
            ))
        };
        let trailer_at = size_bytes
            .checked_sub(TRAILER_BYTES)
            .ok_or_else(|| cut_short("it ends right behind its header"))?;
        let trailer = read_at(input, file, trailer_at, TRAILER_BYTES)?;
        let (toc_at, mark) = trailer.split_at(8);
        if mark != END_MARK {
            return Err(cut_short("its end mark is missing"));
        }
        let toc_at = u64::from_le_bytes(toc_at.try_into().unwrap_or_default());
        let toc_bytes = trailer_at
            .checked_sub(toc_at)
            .filter(|n| 0 < *n && *n <= SMALL_BYTES)
            .ok_or_else(|| cut_short("its table of contents lies outside the file"))?;
        let toc = read_at(input, file, toc_at, toc_bytes)?;
        let sections = sections(&toc).map_err(|Damaged| cut_short("its table of contents cannot be read"))?;
        for (name, section) in &sections {
            let end = section.offset.checked_add(section.n_bytes);
            if end.is_none_or(|end| toc_at < end) {
                let name: String = name.chars().filter(|c| !c.is_control()).take(40).collect();
                return Err(cut_short(&format!("its section “{name}” lies outside the file")));
            }
        }
        let find =
            |wanted: &str| sections.iter().find(|(name, _)| name == wanted).map(|(_, section)| *section);
        let version = match find("UI Data").filter(|section| section.n_bytes <= SMALL_BYTES) {
            Some(section) => version(&read_at(input, file, section.offset, section.n_bytes)?),
            None => None,
        };
        let version = version.or_else(|| header_version.clone());
        let unknown = |what: &str| unknown_layout(input, version.as_deref(), what);
        let need = |name: &str| find(name).ok_or_else(|| unknown(&format!("it has no section “{name}”")));
        let (data, offsets) = (need("Raw Sampling Data")?, need("Sampling Data Offsets")?);
        need("UI Data")?;
        if SMALL_BYTES < offsets.n_bytes {
            return Err(unknown("its section “Sampling Data Offsets” is too large"));
        }
        let offsets = read_at(input, file, offsets.offset, offsets.n_bytes)?;
        let (compression, strings_at) = block_offsets(&offsets)
            .map_err(|Damaged| unknown("its section “Sampling Data Offsets” cannot be read"))?;
        let clocks = match find("Time Conversion Data").filter(|section| section.n_bytes <= SMALL_BYTES) {
            Some(section) => read_at(input, file, section.offset, section.n_bytes)?,
            None => Vec::new(),
        };
        Ok(Self { data, compression, strings_at, version, clocks })
    }
}

/// The error for a report that is whole, but laid out in a way that was never seen.
pub(super) fn unknown_layout(input: &Input, version: Option<&str>, what: &str) -> ImportError {
    let version = version.map_or_else(String::new, |version| format!(" (nsys {version})"));
    input.unreadable(format!(
        "the layout of this report is not known{version}: {what}; export it with nsys export --type sqlite and open \
         the export"
    ))
}

/// Bytes of the file.
pub(super) fn read_at(
    input: &Input,
    file: &mut File,
    offset: u64,
    n_bytes: u64,
) -> Result<Vec<u8>, ImportError> {
    let mut bytes = Vec::new();
    read_into(input, file, offset, n_bytes, &mut bytes)?;
    Ok(bytes)
}

/// As [`read_at`], in place of what the buffer held.
pub(super) fn read_into(
    input: &Input,
    file: &mut File,
    offset: u64,
    n_bytes: u64,
    bytes: &mut Vec<u8>,
) -> Result<(), ImportError> {
    let io_error = |source| input.io_error(source);
    bytes.clear();
    file.seek(SeekFrom::Start(offset)).map_err(io_error)?;
    // Grows with what is there, not with what is claimed.
    let n_read = Read::take(&mut *file, n_bytes).read_to_end(bytes).map_err(io_error)?;
    if (n_read as u64) < n_bytes {
        return Err(input.unreadable("the report became shorter while it was read; open it again"));
    }
    Ok(())
}

fn sections(toc: &[u8]) -> Result<Vec<(String, Section)>, Damaged> {
    let mut sections = Vec::new();
    for entry in repeated(toc, 1)? {
        let name = field(entry, 1)?.and_then(Value::bytes).ok_or(Damaged)?;
        let number = |wanted| -> Result<u64, Damaged> {
            Ok(field(entry, wanted)?.and_then(Value::int).unwrap_or(0) as u64)
        };
        let section = Section { offset: number(2)?, n_bytes: number(3)? };
        sections.push((String::from_utf8_lossy(name).into_owned(), section));
    }
    Ok(sections)
}

/// Compression, and where the block of texts starts.
fn block_offsets(section: &[u8]) -> Result<(String, u64), Damaged> {
    let mut compression = String::new();
    let mut strings_at = None;
    each_field(section, |number, value| match (number, value) {
        (1, Value::Bytes(name)) => compression = String::from_utf8_lossy(name).into_owned(),
        // Counted from behind the first 8 bytes of the data.
        (2, Value::Int(at)) => strings_at = (at as u64).checked_add(8),
        _ => {}
    })?;
    Ok((compression, strings_at.ok_or(Damaged)?))
}

/// `2026.1.1.204` from `2026.1.1.204-261137176666v0` in the section “UI Data”.
fn version(ui_data: &[u8]) -> Option<String> {
    let text = field(ui_data, 6).ok()??.bytes()?;
    let version = std::str::from_utf8(text).ok()?.split('-').next()?;
    is_version(version).then(|| version.to_owned())
}

/// Numbers and points, and few of them: a version is shown as it is.
fn is_version(text: &str) -> bool {
    (1..=32).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit() || b == b'.')
}

/// `2026.1.1.204` from `2026@1@1@204-261137176666v0`; `None` for reports before 2023.3, which have `1`.
fn header_version(head: &[u8]) -> Option<String> {
    let line = head.strip_prefix(MAGIC)?.split(|b| *b == b'\n').next()?;
    let numbers = std::str::from_utf8(line).ok()?.split('-').next()?;
    let version = numbers.replace('@', ".");
    (numbers.contains('@') && is_version(&version)).then_some(version)
}
