//! Which pages hold the rows of a table, in the order of the row ids.

use std::fs::File;

use super::{Layout, NotPlain, be16, be32, varint};

/// First byte of a page with rows, and of one with pages below it.
pub(super) const LEAF: u8 = 13;
const INTERIOR: u8 = 5;

/// More levels than any tree of 2³² pages has.
const MAX_DEPTH: usize = 24;

/// The leaves of a table.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Leaves {
    /// Their pages.
    pub(super) pages: Vec<u32>,
    /// For every leaf but the last, the largest row id that may be in it.
    pub(super) last_row_ids: Vec<i64>,
}

impl Leaves {
    /// How many.
    pub(crate) fn len(&self) -> usize {
        self.pages.len()
    }

    /// The largest row id that may be in a leaf; `None` in the last one.
    pub(crate) fn last_row_id(&self, idx: usize) -> Option<i64> {
        self.last_row_ids.get(idx).copied()
    }

    /// Some of the pages.
    pub(crate) fn pages(&self, range: std::ops::Range<usize>) -> &[u32] {
        self.pages.get(range).unwrap_or_default()
    }
}

/// Walk the tree below a page. Reads the pages above the leaves only, about one in 300.
pub(crate) fn leaves(file: &mut File, layout: Layout, root: u32) -> Result<Leaves, NotPlain> {
    let mut walk = Walk { file, layout, n_visited: 0, leaves: Leaves::default() };
    let depth = walk.depth(root)?;
    walk.below(root, depth)?;
    let is_ascending = walk.leaves.last_row_ids.is_sorted_by(|a, b| a < b);
    if is_ascending { Ok(walk.leaves) } else { Err(NotPlain) }
}

struct Walk<'a> {
    file: &'a mut File,
    layout: Layout,
    /// A tree visits no page twice; pages that point in a circle do.
    n_visited: u32,
    leaves: Leaves,
}

impl Walk<'_> {
    /// Levels above the leaves: the same everywhere in a tree, so leaves need not be read to be known.
    fn depth(&mut self, root: u32) -> Result<usize, NotPlain> {
        let mut page = root;
        for depth in 0..MAX_DEPTH {
            let bytes = self.read(page)?;
            match bytes.first() {
                Some(&LEAF) => return Ok(depth),
                Some(&INTERIOR) => page = be32(&bytes, 8)?,
                _ => return Err(NotPlain),
            }
        }
        Err(NotPlain)
    }

    fn below(&mut self, page: u32, depth: usize) -> Result<(), NotPlain> {
        self.n_visited += 1;
        if self.layout.n_pages < self.n_visited || !self.layout.has(page) {
            return Err(NotPlain);
        }
        let Some(below) = depth.checked_sub(1) else {
            self.leaves.pages.push(page);
            return Ok(());
        };
        let bytes = self.read(page)?;
        if bytes.first() != Some(&INTERIOR) {
            return Err(NotPlain);
        }
        let n_cells = usize::from(be16(&bytes, 3)?);
        if n_cells == 0 {
            return Err(NotPlain);
        }
        for idx in 0..n_cells {
            let cell = usize::from(be16(&bytes, 12 + 2 * idx)?);
            let child = be32(&bytes, cell)?;
            self.below(child, below)?;
            let last_row_id = varint(&mut bytes.get(cell + 4..).ok_or(NotPlain)?)?;
            self.leaves.last_row_ids.push(last_row_id);
        }
        self.below(be32(&bytes, 8)?, below)
    }

    fn read(&mut self, page: u32) -> Result<Vec<u8>, NotPlain> {
        if !self.layout.has(page) {
            return Err(NotPlain);
        }
        let mut bytes = Vec::with_capacity(self.layout.page_bytes);
        self.layout.read_pages(self.file, page, 1, &mut bytes)?;
        bytes.truncate(self.layout.usable_bytes);
        Ok(bytes)
    }
}
