//! Interned texts: what repeats is kept once.
//!
//! Traces with millions of different texts are common (`emit_nvtx` numbers each operator), so all texts lie
//! in one piece of memory, and a text costs its bytes and about 20 more.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use crate::NameId;

/// Texts by id and ids by text. Ids count up in the order of first interning.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// All texts, one after the other.
    texts: String,
    /// Where each text ends.
    ends: Vec<usize>,
    /// The hash of each text, so that growing and joining tables does not read the texts again.
    hashes: Vec<u32>,
    ids: HashTable<u32>,
}

impl Names {
    /// The id of a text, new if unseen.
    pub fn intern(&mut self, text: &str) -> NameId {
        self.intern_hashed(text, hash(text))
    }

    fn intern_hashed(&mut self, text: &str, hash: u32) -> NameId {
        let Self { texts, ends, hashes, ids } = self;
        let is_it = |id: &u32| hashes[*id as usize] == hash && text_at(texts, ends, *id as usize) == text;
        if let Some(id) = ids.find(spread(hash), is_it) {
            return NameId(*id);
        }
        let id = ends.len() as u32;
        ids.insert_unique(spread(hash), id, |id| spread(hashes[*id as usize]));
        texts.push_str(text);
        ends.push(texts.len());
        hashes.push(hash);
        NameId(id)
    }

    /// Take over the texts of another interner, in its order: the id here of each id there.
    pub(crate) fn absorb(&mut self, other: &Self) -> Vec<NameId> {
        other.iter().zip(&other.hashes).map(|((_, text), hash)| self.intern_hashed(text, *hash)).collect()
    }

    /// The id of a text that is there already.
    pub fn find(&self, text: &str) -> Option<NameId> {
        let id = self.ids.find(spread(hash(text)), |id| self.text(NameId(*id)) == text);
        id.map(|id| NameId(*id))
    }

    /// The text of an id that this interner gave.
    pub fn text(&self, id: NameId) -> &str {
        text_at(&self.texts, &self.ends, id.idx())
    }

    /// How many texts.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// None yet?
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// All texts in id order.
    pub fn iter(&self) -> impl Iterator<Item = (NameId, &str)> {
        (0..self.len()).map(NameId::from_idx).map(|id| (id, self.text(id)))
    }

    /// Give back memory that only growing needs.
    pub(crate) fn shrink(&mut self) {
        self.texts.shrink_to_fit();
        self.ends.shrink_to_fit();
        self.hashes.shrink_to_fit();
    }
}

fn hash(text: &str) -> u32 {
    (FxBuildHasher.hash_one(text) >> 32) as u32
}

/// The table looks at the uppermost and the lowest bits of 64.
fn spread(hash: u32) -> u64 {
    u64::from(hash) << 32 | u64::from(hash)
}

/// Text number `idx`; nothing for a number that is not there.
fn text_at<'a>(texts: &'a str, ends: &[usize], idx: usize) -> &'a str {
    let start = idx.checked_sub(1).map_or(Some(0), |before| ends.get(before).copied());
    start.zip(ends.get(idx)).and_then(|(start, end)| texts.get(start..*end)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_one_id_and_an_id_one_text() {
        let mut names = Names::default();
        let ids: Vec<u32> = ["a", "", "bc", "a", "", "ü"].iter().map(|text| names.intern(text).0).collect();
        assert_eq!(ids, [0, 1, 2, 0, 1, 3]);
        let texts: Vec<&str> = names.iter().map(|(_, text)| text).collect();
        assert_eq!(texts, ["a", "", "bc", "ü"]);
        assert_eq!((names.find("bc"), names.find("b")), (Some(NameId(2)), None));
        assert_eq!(names.text(NameId(9)), "");
    }

    #[test]
    fn texts_keep_their_ids_while_the_table_grows() {
        let mut names = Names::default();
        for number in 0..10_000 {
            assert_eq!(names.intern(&format!("op_id = {number}")).0, number);
        }
        assert_eq!(names.find("op_id = 4711"), Some(NameId(4711)));
        let mut other = Names::default();
        other.intern("x");
        assert_eq!(other.absorb(&names)[9_999], NameId(10_000));
    }
}
