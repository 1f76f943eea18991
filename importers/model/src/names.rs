//! Interned texts: what repeats is kept once.
//!
//! Traces with millions of different texts are common (`emit_nvtx` numbers each operator), so all texts lie
//! in one piece of memory. While names are read, a text costs its bytes and about 20 more; in a finished
//! Trace its bytes and 8.

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
    /// The hash of each text, so that growing and joining tables does not read the texts again. Empty once
    /// the texts are complete.
    hashes: Vec<u32>,
    ids: Ids,
}

/// How the id of a text is found.
#[derive(Clone, Debug)]
enum Ids {
    /// Every text has one id.
    All(HashTable<u32>),
    /// Only ids given lately are found again, one for each of [`N_RECENT`] remainders of hashes.
    Recent(Box<[u32]>),
}

/// Ids that a fragment remembers; most texts of a fragment are either few or different each time.
const N_RECENT: usize = 1 << 12;

impl Default for Ids {
    fn default() -> Self {
        Self::All(HashTable::new())
    }
}

impl Names {
    /// For a fragment that is absorbed soon: quicker, but a text may get several ids.
    pub(crate) fn of_fragment() -> Self {
        Self { ids: Ids::Recent(vec![u32::MAX; N_RECENT].into()), ..Self::default() }
    }

    /// The id of a text, new if unseen.
    pub fn intern(&mut self, text: &str) -> NameId {
        self.intern_hashed(text, hash(text))
    }

    fn intern_hashed(&mut self, text: &str, hash: u32) -> NameId {
        if self.hashes.len() < self.ends.len() {
            self.index_again();
        }
        let Self { texts, ends, hashes, ids } = self;
        let is_it =
            |id: &u32| hashes.get(*id as usize) == Some(&hash) && text_at(texts, ends, *id as usize) == text;
        let id = ends.len() as u32;
        match ids {
            Ids::All(ids) => {
                if let Some(id) = ids.find(spread(hash), is_it) {
                    return NameId(*id);
                }
                ids.insert_unique(spread(hash), id, |id| spread(hashes[*id as usize]));
            }
            Ids::Recent(recent) => {
                let recent = &mut recent[hash as usize % N_RECENT];
                if is_it(recent) {
                    return NameId(*recent);
                }
                *recent = id;
            }
        }
        texts.push_str(text);
        ends.push(texts.len());
        hashes.push(hash);
        NameId(id)
    }

    /// Make again what [`Self::complete`] gave back.
    fn index_again(&mut self) {
        self.hashes = (0..self.len()).map(|idx| hash(text_at(&self.texts, &self.ends, idx))).collect();
        let mut ids = HashTable::with_capacity(self.len());
        for (id, hash) in (0..).zip(&self.hashes) {
            ids.insert_unique(spread(*hash), id, |id: &u32| spread(self.hashes[*id as usize]));
        }
        self.ids = Ids::All(ids);
    }

    /// Take over the texts of another interner, in its order: the id here of each id there.
    pub(crate) fn absorb(&mut self, other: &Self) -> Vec<NameId> {
        debug_assert!(
            matches!(self.ids, Ids::All(_)),
            "a fragment absorbs no others: a text would get several ids"
        );
        other.iter().zip(&other.hashes).map(|((_, text), hash)| self.intern_hashed(text, *hash)).collect()
    }

    /// The id of a text that is there already. O(texts) in a finished Trace.
    pub fn find(&self, text: &str) -> Option<NameId> {
        let is_it = |id: &u32| self.text(NameId(*id)) == text;
        match &self.ids {
            Ids::All(ids) if self.hashes.len() == self.len() => {
                ids.find(spread(hash(text)), is_it).map(|id| NameId(*id))
            }
            _ => (0..self.len() as u32).find(is_it).map(NameId),
        }
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

    /// Forget all texts, but keep the memory.
    pub(crate) fn clear(&mut self) {
        self.texts.clear();
        self.ends.clear();
        self.hashes.clear();
        match &mut self.ids {
            Ids::All(ids) => ids.clear(),
            Ids::Recent(recent) => recent.fill(u32::MAX),
        }
    }

    /// Give back the memory that only interning needs.
    pub(crate) fn complete(&mut self) {
        debug_assert!(
            matches!(self.ids, Ids::All(_)),
            "a fragment is no Trace: a text would have several ids"
        );
        self.texts.shrink_to_fit();
        self.ends.shrink_to_fit();
        self.hashes = Vec::new();
        self.ids = Ids::default();
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

    #[test]
    fn completed_texts_keep_their_ids() {
        let mut names = Names::default();
        names.intern("a");
        names.intern("b");
        names.complete();
        assert_eq!((names.find("b"), names.find("c")), (Some(NameId(1)), None));
        assert_eq!((names.intern("b"), names.intern("c")), (NameId(1), NameId(2)));
        assert_eq!(names.find("c"), Some(NameId(2)));
    }

    #[test]
    fn texts_of_fragments_meet_when_they_are_absorbed() {
        let mut fragment = Names::of_fragment();
        let texts: Vec<String> = (0..3 * N_RECENT).map(|number| (number % 5000).to_string()).collect();
        let ids: Vec<NameId> = texts.iter().map(|text| fragment.intern(text)).collect();
        assert!(ids.iter().zip(&texts).all(|(id, text)| fragment.text(*id) == text));
        let mut names = Names::default();
        let to_names = names.absorb(&fragment);
        assert!(ids.iter().zip(&texts).all(|(id, text)| names.text(to_names[id.idx()]) == text));
        assert_eq!(names.len(), 5000);
    }
}
