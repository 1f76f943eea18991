//! One thread reads and cuts, workers parse, the calling thread joins in file order.
//!
//! A fixed number of buffers goes round, so memory is bounded whatever the speed of each; the result is the
//! same whatever the order in which workers finish.

use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use tracecard_model::{Cancelled, Progress};

use super::blocks::{self, Block, Ending};
use super::fragment::Fragment;
use super::join::{Joined, Parsed};
use super::string::Backslashes;
use super::walk::{List, Place, Stretch, walk};
use crate::input::InputReader;

/// How the work is divided.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    pub(super) block_bytes: usize,
    pub(super) n_workers: usize,
}

impl Plan {
    /// Two MiB a block: about 5 000 events, a few ms of work.
    pub(super) fn new() -> Self {
        const MAX_WORKERS: usize = 8;
        let n_cores = thread::available_parallelism().map_or(1, usize::from);
        Self { block_bytes: 2 << 20, n_workers: n_cores.min(MAX_WORKERS) }
    }
}

/// What came out.
#[derive(Debug)]
pub(super) enum Outcome {
    /// The whole file, and the error that ended it early, if one did.
    Read(Box<Fragment>, Option<std::io::Error>),
    /// A backslash escapes nothing, so none does in this file: read it again that way.
    NotEscaped,
}

/// Read a file into one fragment.
pub(super) fn run(
    reader: InputReader,
    whole: Fragment,
    backslashes: Backslashes,
    plan: Plan,
    progress: &Progress,
) -> Result<Outcome, Cancelled> {
    let is_stopped = AtomicBool::new(false);
    let (buffer_sender, buffers) = channel();
    for _ in 0..2 * plan.n_workers + 2 {
        // The receiver lives.
        let _ = buffer_sender.send(Vec::new());
    }
    let (block_sender, blocks) = channel();
    let blocks = Mutex::new(blocks);
    let (parsed_sender, parsed) = channel();
    thread::scope(|scope| {
        let is_stopped = &is_stopped;
        let reading = scope.spawn(move || {
            blocks::read(reader, plan.block_bytes, &buffers, &block_sender, is_stopped, progress)
        });
        for _ in 0..plan.n_workers {
            let (blocks, parsed_sender) = (&blocks, parsed_sender.clone());
            scope.spawn(move || parse_blocks(blocks, &parsed_sender, backslashes, is_stopped));
        }
        drop(parsed_sender);
        let joined = join(Joined::new(whole, backslashes), &parsed, &buffer_sender, backslashes, progress);
        is_stopped.store(true, Relaxed);
        drop((buffer_sender, parsed));
        let ending = reading.join().unwrap_or_else(|panic| resume_unwind(panic));
        let Some(joined) = joined? else { return Ok(Outcome::NotEscaped) };
        match ending {
            Ending::Cancelled => Err(Cancelled),
            Ending::Complete => Ok(Outcome::Read(Box::new(joined.finish()), None)),
            Ending::Broken(error) => Ok(Outcome::Read(Box::new(joined.finish()), Some(error))),
        }
    })
}

fn parse_blocks(
    blocks: &Mutex<Receiver<Block>>,
    parsed: &Sender<Parsed>,
    backslashes: Backslashes,
    is_stopped: &AtomicBool,
) {
    loop {
        let block = blocks.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let (Ok(Block { idx, offset, bytes }), false) = (block, is_stopped.load(Relaxed)) else { return };
        let assumed = if idx == 0 { Place::Start } else { Place::Events(List::Unknown) };
        let mut fragment = Fragment::new();
        let stretch = Stretch { text: &bytes, offset, is_last: false };
        let walked = walk(stretch, assumed, &mut fragment, backslashes);
        if parsed.send(Parsed { idx, offset, bytes, fragment, assumed, walked }).is_err() {
            return;
        }
    }
}

/// Join the blocks in order as they come; `None` when the file has to be read with other eyes.
fn join(
    mut joined: Joined,
    parsed: &Receiver<Parsed>,
    buffers: &Sender<Vec<u8>>,
    backslashes: Backslashes,
    progress: &Progress,
) -> Result<Option<Joined>, Cancelled> {
    let mut waiting: BTreeMap<u64, Parsed> = BTreeMap::new();
    let mut next_idx = 0;
    for block in parsed {
        progress.check()?;
        waiting.insert(block.idx, block);
        while let Some(block) = waiting.remove(&next_idx) {
            next_idx += 1;
            let buffer = joined.add(block);
            if backslashes == Backslashes::Escape && joined.whole.found.has_illegal_escape {
                return Ok(None);
            }
            // The reader may have finished already.
            let _ = buffers.send(buffer);
        }
    }
    Ok(Some(joined))
}
