//! PyTorch's caching allocator, simplified: blocks of equal size are reused, segments never go back.
//!
//! Enough of `c10/cuda/CUDACachingAllocator.cpp` to give addresses that repeat from step to step, a
//! reserved total that grows in the first step and stays, and the sizes of its requests to the driver.
//! Not modelled: splitting and merging of free blocks, and everything about several streams.

use std::collections::BTreeMap;

/// Blocks are multiples of this.
const BLOCK_BYTES: i64 = 512;
/// Requests up to this size come from small segments.
const SMALL_LIMIT_BYTES: i64 = 1 << 20;
const SMALL_SEGMENT_BYTES: i64 = 2 << 20;
/// Requests from here on get a segment of their own.
const HUGE_LIMIT_BYTES: i64 = 10 << 20;
const LARGE_SEGMENT_BYTES: i64 = 20 << 20;
const HUGE_ROUND_BYTES: i64 = 2 << 20;
const FIRST_ADDRESS: i64 = 0x7f3a_c000_0000;

/// A block of device memory in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) addr: i64,
    pub(crate) size_bytes: i64,
}

/// A request that the driver had to serve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NewSegment {
    pub(crate) addr: i64,
    pub(crate) size_bytes: i64,
}

/// The unused end of the newest segment of a pool.
#[derive(Debug, Default)]
struct Tail {
    addr: i64,
    size_bytes: i64,
}

/// The allocator of one device.
#[derive(Debug)]
pub(crate) struct Allocator {
    free_from_size: BTreeMap<i64, Vec<i64>>,
    small_tail: Tail,
    large_tail: Tail,
    next_segment_addr: i64,
    allocated_bytes: i64,
    reserved_bytes: i64,
}

impl Allocator {
    /// An allocator that already holds `resident_bytes` of parameters and optimizer state.
    pub(crate) fn with_resident(resident_bytes: i64) -> Self {
        Self {
            free_from_size: BTreeMap::new(),
            small_tail: Tail::default(),
            large_tail: Tail::default(),
            next_segment_addr: FIRST_ADDRESS + round_up(resident_bytes, HUGE_ROUND_BYTES),
            allocated_bytes: resident_bytes,
            reserved_bytes: round_up(resident_bytes, HUGE_ROUND_BYTES),
        }
    }

    /// Bytes in blocks that are in use.
    pub(crate) fn allocated_bytes(&self) -> i64 {
        self.allocated_bytes
    }

    /// Bytes held from the driver.
    pub(crate) fn reserved_bytes(&self) -> i64 {
        self.reserved_bytes
    }

    /// Takes a block, and says which segment had to be requested for it.
    pub(crate) fn alloc(&mut self, size_bytes: i64) -> (Block, Option<NewSegment>) {
        let size_bytes = round_up(size_bytes.max(1), BLOCK_BYTES);
        self.allocated_bytes += size_bytes;
        if let Some(addr) = self.free_from_size.get_mut(&size_bytes).and_then(Vec::pop) {
            return (Block { addr, size_bytes }, None);
        }
        if HUGE_LIMIT_BYTES <= size_bytes {
            let segment = self.request(round_up(size_bytes, HUGE_ROUND_BYTES));
            return (Block { addr: segment.addr, size_bytes }, Some(segment));
        }
        let is_small = size_bytes <= SMALL_LIMIT_BYTES;
        let left_bytes = if is_small { self.small_tail.size_bytes } else { self.large_tail.size_bytes };
        let mut new_segment = None;
        if left_bytes < size_bytes {
            let segment = self.request(if is_small { SMALL_SEGMENT_BYTES } else { LARGE_SEGMENT_BYTES });
            let tail = Tail { addr: segment.addr, size_bytes: segment.size_bytes };
            *self.tail_mut(is_small) = tail;
            new_segment = Some(segment);
        }
        let tail = self.tail_mut(is_small);
        let block = Block { addr: tail.addr, size_bytes };
        tail.addr += size_bytes;
        tail.size_bytes -= size_bytes;
        (block, new_segment)
    }

    /// Gives a block back for reuse.
    pub(crate) fn free(&mut self, block: Block) {
        self.allocated_bytes -= block.size_bytes;
        self.free_from_size.entry(block.size_bytes).or_default().push(block.addr);
    }

    fn tail_mut(&mut self, is_small: bool) -> &mut Tail {
        if is_small { &mut self.small_tail } else { &mut self.large_tail }
    }

    fn request(&mut self, size_bytes: i64) -> NewSegment {
        let addr = self.next_segment_addr;
        self.next_segment_addr += size_bytes;
        self.reserved_bytes += size_bytes;
        NewSegment { addr, size_bytes }
    }
}

fn round_up(value: i64, multiple: i64) -> i64 {
    (value + multiple - 1) / multiple * multiple
}

#[cfg(test)]
mod tests {
    use super::Allocator;

    #[test]
    fn a_block_given_back_is_used_again() {
        let mut allocator = Allocator::with_resident(0);
        let (first, segment) = allocator.alloc(1000);
        assert_eq!(first.size_bytes, 1024);
        assert_eq!(segment.map(|s| s.size_bytes), Some(2 << 20));
        allocator.free(first);
        assert_eq!(allocator.allocated_bytes(), 0);
        assert_eq!(allocator.alloc(1024), (first, None));
        assert_eq!(allocator.reserved_bytes(), 2 << 20);
    }

    #[test]
    fn large_requests_get_segments_of_their_own() {
        let mut allocator = Allocator::with_resident(0);
        let (_, segment) = allocator.alloc((10 << 20) + 1);
        assert_eq!(segment.map(|s| s.size_bytes), Some(12 << 20));
    }
}
