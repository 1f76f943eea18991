//! Call stacks as a tree of frames: what two stacks have in common at their roots is kept once.

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

use crate::{NameId, StackId};

/// One frame of a stack and what called it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StackRow {
    /// The stack without this frame; `None` at the root.
    pub parent: Option<StackId>,
    /// The function.
    pub frame: NameId,
    /// Library or program that holds the function; `None` where the file does not say.
    pub module: Option<NameId>,
}

/// Stacks by id. A stack has a larger id than its parent; texts are those of the Trace's names.
#[derive(Clone, Debug, Default)]
pub struct Stacks(IndexSet<StackRow, FxBuildHasher>);

impl Stacks {
    /// The id of a stack, new if unseen.
    pub fn intern(&mut self, row: StackRow) -> StackId {
        StackId::from_idx(self.0.insert_full(row).0)
    }

    /// The innermost frame of a stack; `None` for an id of another interner.
    pub fn get(&self, id: StackId) -> Option<StackRow> {
        self.0.get_index(id.idx()).copied()
    }

    /// The frames of a stack, innermost first. O(depth).
    pub fn frames(&self, id: StackId) -> impl Iterator<Item = StackRow> + '_ {
        // Ids fall from child to parent, so this ends.
        std::iter::successors(self.get(id), |row| self.get(row.parent?))
    }

    /// All frames in id order.
    pub fn rows(&self) -> impl Iterator<Item = StackRow> + '_ {
        self.0.iter().copied()
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// None?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Take over the stacks of another interner whose name `n` is `name[n]` here: the id here of each id
    /// there.
    pub(crate) fn absorb(&mut self, other: &Self, name: &[NameId]) -> Vec<StackId> {
        let mut here: Vec<StackId> = Vec::with_capacity(other.len());
        for row in &other.0 {
            let parent = row.parent.map(|parent| here[parent.idx()]);
            let module = row.module.map(|module| name[module.idx()]);
            here.push(self.intern(StackRow { parent, frame: name[row.frame.idx()], module }));
        }
        here
    }
}
