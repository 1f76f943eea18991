//! Interned texts: what repeats is kept once.

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

use crate::NameId;

/// Texts by id and ids by text. Ids count up in the order of first interning.
#[derive(Clone, Debug, Default)]
pub struct Names(IndexSet<Box<str>, FxBuildHasher>);

impl Names {
    /// The id of a text, new if unseen.
    pub fn intern(&mut self, text: &str) -> NameId {
        if let Some(idx) = self.0.get_index_of(text) {
            return NameId::from_idx(idx);
        }
        NameId::from_idx(self.0.insert_full(text.into()).0)
    }

    /// Take over the texts of another interner, in its order: the id here of each id there.
    pub(crate) fn absorb(&mut self, other: Self) -> Vec<NameId> {
        // Texts are moved, not copied: traces with millions of different names are common.
        other.0.into_iter().map(|text| NameId::from_idx(self.0.insert_full(text).0)).collect()
    }

    /// The id of a text that is there already.
    pub fn find(&self, text: &str) -> Option<NameId> {
        self.0.get_index_of(text).map(NameId::from_idx)
    }

    /// The text of an id that this interner gave.
    pub fn text(&self, id: NameId) -> &str {
        self.0.get_index(id.idx()).map_or("", |t| t)
    }

    /// How many texts.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// None yet?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All texts in id order.
    pub fn iter(&self) -> impl Iterator<Item = (NameId, &str)> {
        self.0.iter().enumerate().map(|(idx, text)| (NameId::from_idx(idx), &**text))
    }
}
