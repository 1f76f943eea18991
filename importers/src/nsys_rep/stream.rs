//! The data section: messages about the capture, then blocks of events, then texts, threads, the machine.
//!
//! ```text
//! "QDTEXT00"
//! n, session message        n, layout message
//! blocks of events: packed bytes c, unpacked bytes u, c bytes   … to the block of texts
//! block of texts            n, thread names (if the layout counts any)
//! n, message about the machine           a block of NVTX payload schemas, if bytes are left
//! ```
//! Blocks are packed one by one, so that they can be unpacked in parallel. Every length is checked against
//! the file before anything is allocated.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};

use tracecard_model::Progress;

use super::container::{Container, unknown_layout};
use super::message::{Damaged, take_varint};
use crate::{ImportError, Input};

const MAGIC: &[u8] = b"QDTEXT00";

/// LZ4 makes at most 255 bytes of one, and tiny blocks a few more.
const LARGEST_RATIO: u64 = 256;

/// The largest block seen unpacks to 3.7 MB.
const LARGEST_BLOCK_BYTES: u64 = 256 << 20;

/// Messages outside blocks: session, layout, threads, machine. The largest seen has 300 KB.
const LARGEST_MESSAGE_BYTES: u64 = 256 << 20;

/// What is read at once between blocks: two lengths.
const HEADER_BYTES: usize = 64;

/// What a walk looks for.
#[derive(Clone, Copy)]
pub(super) enum Wanted<'a> {
    /// The blocks of events, too: as many reads as there are blocks.
    All(&'a Progress),
    /// What lies around them.
    Rest,
}

/// A packed block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// Where its bytes lie in the file.
    pub(super) offset: u64,
    pub(super) packed_bytes: u64,
    pub(super) unpacked_bytes: u64,
}

/// Where everything is.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) session: Vec<u8>,
    pub(super) layout: Layout,
    pub(super) events: Vec<Block>,
    pub(super) strings: Block,
    pub(super) threads: Vec<u8>,
    pub(super) machine: Vec<u8>,
}

/// What the layout message counts, and what it describes.
#[derive(Debug, Default)]
pub(super) struct Layout {
    pub(super) n_events: u64,
    pub(super) n_strings: u64,
    pub(super) n_threads: u64,
    pub(super) n_generic_events: u64,
    /// The message itself, for descriptions of generic events.
    pub(super) message: Vec<u8>,
}

impl Stream {
    /// Walk through the section without unpacking blocks; `events` stays empty where only the rest is wanted.
    pub(super) fn open(
        input: &Input,
        container: &Container,
        file: &File,
        wanted: Wanted<'_>,
    ) -> Result<Self, ImportError> {
        let file = file.try_clone().map_err(|source| input.io_error(source))?;
        let mut walk = Walk { input, container, reader: BufReader::with_capacity(HEADER_BYTES, file), at: 0 };
        walk.seek(container.data.offset)?;
        let mut magic = [0; 8];
        if walk.left() < 8 || walk.reader.read_exact(&mut magic).is_err() || magic != *MAGIC {
            return Err(walk.unknown("its data do not begin with QDTEXT00"));
        }
        walk.at += 8;
        if container.compression != "lz4" {
            let name: String = container.compression.chars().take(20).collect();
            return Err(walk.unknown(&format!("its data are compressed with “{name}”, not lz4")));
        }
        let session = walk.message()?;
        let layout = Layout::read(walk.message()?)
            .map_err(|Damaged| walk.unknown("the message that counts its parts cannot be read"))?;
        let strings_at = container
            .data
            .offset
            .checked_add(container.strings_at)
            .filter(|at| walk.at <= *at && *at < walk.end())
            .ok_or_else(|| walk.unknown("its texts lie outside its data"))?;
        let mut events = Vec::new();
        match wanted {
            Wanted::Rest => walk.seek(strings_at)?,
            Wanted::All(progress) => {
                while walk.at < strings_at {
                    progress.check()?;
                    events.push(walk.block()?);
                }
            }
        }
        if walk.at != strings_at {
            return Err(walk.unknown("its blocks of events do not end where its texts begin"));
        }
        let strings = walk.block()?;
        let threads = if 0 < layout.n_threads { walk.message()? } else { Vec::new() };
        let machine = walk.message()?;
        if 0 < walk.left() {
            // Schemas of NVTX payloads.
            walk.block()?;
        }
        if walk.left() != 0 {
            return Err(walk.unknown("its data do not end where their last part does"));
        }
        Ok(Self { session, layout, events, strings, threads, machine })
    }
}

impl Layout {
    fn read(message: Vec<u8>) -> Result<Self, Damaged> {
        let mut layout = Self::default();
        super::message::each_field(&message, |number, value| {
            let Some(value) = value.int() else { return };
            match number {
                1 => layout.n_events = value as u64,
                3 => layout.n_strings = value as u64,
                5 => layout.n_threads = value as u64,
                15 => layout.n_generic_events = value as u64,
                _ => {}
            }
        })?;
        Ok(Self { message, ..layout })
    }
}

struct Walk<'a> {
    input: &'a Input,
    container: &'a Container,
    reader: BufReader<File>,
    /// Position in the file.
    at: u64,
}

impl Walk<'_> {
    fn end(&self) -> u64 {
        self.container.data.offset + self.container.data.n_bytes
    }

    fn left(&self) -> u64 {
        self.end().saturating_sub(self.at)
    }

    fn unknown(&self, what: &str) -> ImportError {
        unknown_layout(self.input, self.container.version.as_deref(), what)
    }

    fn seek(&mut self, to: u64) -> Result<(), ImportError> {
        self.at = to;
        self.reader.seek(SeekFrom::Start(to)).map(drop).map_err(|source| self.input.io_error(source))
    }

    fn varint(&mut self) -> Result<u64, ImportError> {
        let mut bytes = Vec::with_capacity(10);
        while bytes.len() < 10 && (bytes.len() as u64) < self.left() {
            let next = self.reader.fill_buf().map_err(|source| self.input.io_error(source))?;
            let Some(byte) = next.first().copied() else { break };
            self.reader.consume(1);
            bytes.push(byte);
            if byte < 0x80 {
                self.at += bytes.len() as u64;
                return take_varint(&mut &*bytes)
                    .map_err(|Damaged| self.unknown("a length in it cannot be read"));
            }
        }
        Err(self.unknown("a length in it cannot be read"))
    }

    fn message(&mut self) -> Result<Vec<u8>, ImportError> {
        let n_bytes = self.varint()?;
        if self.left() < n_bytes || LARGEST_MESSAGE_BYTES < n_bytes {
            return Err(self.unknown("a message in it claims to be longer than the data"));
        }
        let mut bytes = Vec::new();
        let n_read = Read::take(&mut self.reader, n_bytes)
            .read_to_end(&mut bytes)
            .map_err(|source| self.input.io_error(source))?;
        if n_read as u64 != n_bytes {
            return Err(self.input.unreadable("the report became shorter while it was read; open it again"));
        }
        self.at += n_bytes;
        Ok(bytes)
    }

    fn block(&mut self) -> Result<Block, ImportError> {
        let (packed_bytes, unpacked_bytes) = (self.varint()?, self.varint()?);
        if self.left() < packed_bytes {
            return Err(self.unknown("a block in it claims to be longer than the data"));
        }
        let possible_bytes = packed_bytes.saturating_mul(LARGEST_RATIO).saturating_add(64);
        if possible_bytes.min(LARGEST_BLOCK_BYTES) < unpacked_bytes {
            return Err(self.unknown(&format!(
                "a block of {packed_bytes} bytes claims to unpack to {unpacked_bytes}, which cannot be"
            )));
        }
        let offset = self.at;
        let skip = i64::try_from(packed_bytes).map_err(|_| self.unknown("a block in it is too long"))?;
        self.reader.seek_relative(skip).map_err(|source| self.input.io_error(source))?;
        self.at += packed_bytes;
        Ok(Block { offset, packed_bytes, unpacked_bytes })
    }
}
