//! Rows straight from the pages of the file, for tables as exports have them.
//!
//! Through its C interface SQLite hands out one value of one row with three calls; for the 24 columns of a kernel
//! they take longer than all else that reading does. The rows of a plain table lie one behind the other in the
//! leaves of a tree, in a format that is specified and has not changed since 2004
//! (<https://www.sqlite.org/fileformat2.html>). What is here reads just that: rows in the leaves of plain tables
//! of UTF-8 databases. Whatever is different (tables without row ids, generated columns, defaults, anything that
//! looks damaged) is [`NotPlain`], and SQLite reads that part of the table instead, so that nothing is ever read
//! differently, and damage is reported as SQLite sees it.

mod leaf;
mod plan;
mod tree;

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

pub(super) use leaf::{Buffers, each_row};
pub(super) use plan::{Plan, TableColumn};
pub(super) use tree::{Leaves, leaves};

/// SQLite has to read this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NotPlain;

/// How the file is cut into pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// Size of a page.
    page_bytes: usize,
    /// Bytes of a page that SQLite uses; some extensions keep the rest.
    usable_bytes: usize,
    /// Pages that the file has and the header counts.
    n_pages: u32,
}

impl Layout {
    /// From the first bytes of the file.
    pub(super) fn read(head: &[u8], size_bytes: u64) -> Result<Self, NotPlain> {
        const UTF8: u32 = 1;
        let page_bytes = match be16(head, 16)? {
            1 => 65_536,
            bytes @ 512.. if bytes.is_power_of_two() => usize::from(bytes),
            _ => return Err(NotPlain),
        };
        let unused_bytes = usize::from(*head.get(20).ok_or(NotPlain)?);
        let usable_bytes = page_bytes.checked_sub(unused_bytes).filter(|n| 480 <= *n).ok_or(NotPlain)?;
        let counted = be32(head, 28)?;
        let is_counted = 0 < counted && be32(head, 24)? == be32(head, 92)?;
        if be32(head, 56)? != UTF8 {
            return Err(NotPlain);
        }
        let in_file = u32::try_from(size_bytes / page_bytes as u64).map_err(|_| NotPlain)?;
        let n_pages = if is_counted { counted.min(in_file) } else { in_file };
        Ok(Self { page_bytes, usable_bytes, n_pages })
    }

    /// Pages of about so many bytes.
    pub(super) fn pages_of(self, n_bytes: usize) -> usize {
        (n_bytes / self.page_bytes).max(1)
    }

    /// Bytes of all pages.
    fn n_bytes(self) -> u64 {
        u64::from(self.n_pages) * self.page_bytes as u64
    }

    /// How many bytes of a row of `n_bytes` lie in its leaf; the rest follows in pages of its own.
    fn n_bytes_in_leaf(self, n_bytes: u64) -> usize {
        let usable = self.usable_bytes as u64;
        if n_bytes <= usable - 35 {
            return n_bytes as usize;
        }
        let least = (usable - 12) * 32 / 255 - 23;
        let best = least + (n_bytes - least) % (usable - 4);
        (if best <= usable - 35 { best } else { least }) as usize
    }

    /// Is there a page with this number? The first holds the header, and never the rows of a user's table.
    fn has(self, page: u32) -> bool {
        2 <= page && page <= self.n_pages
    }

    /// Pages that lie one behind the other, in place of what the buffer held.
    fn read_pages(self, file: &mut File, first: u32, n_pages: usize, into: &mut Vec<u8>) -> io::Result<()> {
        let n_bytes = n_pages * self.page_bytes;
        into.clear();
        file.seek(SeekFrom::Start(u64::from(first - 1) * self.page_bytes as u64))?;
        let n_read = file.take(n_bytes as u64).read_to_end(into)?;
        if n_read < n_bytes { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
    }
}

impl From<io::Error> for NotPlain {
    fn from(_: io::Error) -> Self {
        Self
    }
}

fn be16(bytes: &[u8], at: usize) -> Result<u16, NotPlain> {
    let bytes = bytes.get(at..).and_then(<[u8]>::first_chunk).ok_or(NotPlain)?;
    Ok(u16::from_be_bytes(*bytes))
}

fn be32(bytes: &[u8], at: usize) -> Result<u32, NotPlain> {
    let bytes = bytes.get(at..).and_then(<[u8]>::first_chunk).ok_or(NotPlain)?;
    Ok(u32::from_be_bytes(*bytes))
}

/// A number of one to nine bytes, seven bits in each but the ninth, which has eight.
#[inline]
fn varint(bytes: &mut &[u8]) -> Result<i64, NotPlain> {
    // Most take one byte.
    match *bytes {
        [first @ ..0x80, rest @ ..] => {
            *bytes = rest;
            Ok(i64::from(*first))
        }
        [first, second @ ..0x80, rest @ ..] => {
            *bytes = rest;
            Ok(i64::from(first & 0x7f) << 7 | i64::from(*second))
        }
        _ => long_varint(bytes),
    }
}

fn long_varint(bytes: &mut &[u8]) -> Result<i64, NotPlain> {
    let mut value = 0_u64;
    for (idx, byte) in bytes.iter().take(9).enumerate() {
        let is_last = idx == 8 || *byte < 0x80;
        value = if idx == 8 { value << 8 | u64::from(*byte) } else { value << 7 | u64::from(byte & 0x7f) };
        if is_last {
            *bytes = &bytes[idx + 1..];
            return Ok(value as i64);
        }
    }
    Err(NotPlain)
}

#[cfg(test)]
mod tests;
