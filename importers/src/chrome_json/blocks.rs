//! Cuts the unpacked bytes into blocks that begin with an event, so that workers can read them independently.
//!
//! A cut is a guess: it may lie inside a list of objects in some `args`. [`super::join`] notices, because the
//! block before then ends within an event, and reads the two as one.

use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, Sender};

use tracecard_model::{Cancelled, Progress};

use super::lenient;
use crate::input::InputReader;

/// A piece of the file.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) idx: u64,
    /// Where it begins in the unpacked file.
    pub(super) offset: u64,
    pub(super) bytes: Vec<u8>,
}

/// How reading ended.
#[derive(Debug)]
pub(super) enum Ending {
    /// At the end of the file, or because nobody wants more.
    Complete,
    /// The archive or the disk gave an error; what came before is good.
    Broken(io::Error),
    Cancelled,
}

/// A block without a place to cut grows up to this.
const MAX_BLOCK_BYTES: usize = 16 << 20;
/// An event shows within so many bytes that it is one.
const LONGEST_START_BYTES: usize = 4096;

/// Read everything, in blocks of about `block_bytes`, into the buffers that come back from the workers.
pub(super) fn read(
    mut reader: InputReader,
    block_bytes: usize,
    buffers: &Receiver<Vec<u8>>,
    blocks: &Sender<Block>,
    is_stopped: &AtomicBool,
    progress: &Progress,
) -> Ending {
    let mut rest: Vec<u8> = Vec::new();
    let (mut idx, mut offset, mut n_seen) = (0, 0_u64, 0);
    while let (Ok(mut bytes), false) = (buffers.recv(), is_stopped.load(Relaxed)) {
        bytes.clear();
        bytes.append(&mut rest);
        let filled = fill(&mut reader, block_bytes, &mut bytes, &mut n_seen, progress);
        let is_more = match filled {
            Ok(Filled::ToCutAt(cut)) => {
                rest.extend_from_slice(bytes.get(cut..).unwrap_or_default());
                bytes.truncate(cut);
                true
            }
            Ok(Filled::ToEnd) | Err(Stop::Broken(_)) => false,
            Err(Stop::Cancelled) => return Ending::Cancelled,
        };
        let len = bytes.len() as u64;
        let is_sent = bytes.is_empty() || blocks.send(Block { idx, offset, bytes }).is_ok();
        idx += 1;
        offset += len;
        match filled {
            Err(Stop::Broken(error)) => return Ending::Broken(error),
            _ if !is_more || !is_sent => break,
            _ => {}
        }
    }
    Ending::Complete
}

#[derive(Clone, Copy)]
enum Filled {
    /// There may be more; the block should end here.
    ToCutAt(usize),
    /// The file ends with the block.
    ToEnd,
}

enum Stop {
    Cancelled,
    Broken(io::Error),
}

impl From<Cancelled> for Stop {
    fn from(_: Cancelled) -> Self {
        Self::Cancelled
    }
}

/// Fill a block, and on until it can be cut. What was searched once is not searched again.
fn fill(
    reader: &mut InputReader,
    block_bytes: usize,
    bytes: &mut Vec<u8>,
    n_seen: &mut u64,
    progress: &Progress,
) -> Result<Filled, Stop> {
    let mut searched = 1;
    loop {
        let wanted = block_bytes.max(1) as u64;
        let n_read = reader.by_ref().take(wanted).read_to_end(bytes);
        let n_now = reader.bytes_read();
        progress.advance(n_now - *n_seen)?;
        *n_seen = n_now;
        if (n_read.map_err(Stop::Broken)? as u64) < wanted {
            return Ok(Filled::ToEnd);
        }
        if let Some(cut) = lenient::last_event(bytes, searched) {
            return Ok(Filled::ToCutAt(cut));
        }
        if MAX_BLOCK_BYTES <= bytes.len() {
            return Ok(Filled::ToCutAt(bytes.len()));
        }
        // A brace near the end may turn out to begin an event once its first key is read.
        searched = bytes.len().saturating_sub(LONGEST_START_BYTES).max(1);
    }
}
