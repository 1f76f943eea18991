//! Looking ahead in broken text without looking at the same bytes again and again.
//!
//! An event without an end is read to the end of the bytes before it is given up, and the next event is searched
//! from there. One such event costs nothing worth speaking of; a million of them would never be done. So where
//! the next event begins is remembered, and once much was looked at for nothing, events are short.

use super::lenient;

/// What is known about the bytes ahead of a walk; of one stretch of text only.
#[derive(Debug)]
pub(super) struct Ahead {
    /// From here on the next event was searched, and there it begins.
    searched: Option<(usize, Option<usize>)>,
    /// Bytes that may still be looked at in vain.
    patience_bytes: usize,
}

/// About 50 ms of looking in vain in a stretch: thirty events without an end in a block of usual size.
const PATIENCE_BYTES: usize = 32 << 20;

/// How far is looked once patience is gone: further than the fields of nearly all events reach.
const SHORT_BYTES: usize = 4096;

impl Ahead {
    pub(super) fn new() -> Self {
        Self { searched: None, patience_bytes: PATIENCE_BYTES }
    }

    /// As [`lenient::next_event`] of the same text.
    pub(super) fn next_event(&mut self, text: &[u8], from: usize) -> Option<usize> {
        if let Some((searched_from, found)) = self.searched
            && searched_from <= from
            && found.is_none_or(|found| from <= found)
        {
            return found;
        }
        let found = lenient::next_event(text, from);
        self.searched = Some((from, found));
        found
    }

    /// The text as far as it makes sense to look at what begins at `start`.
    pub(super) fn in_sight<'a>(&self, text: &'a [u8], start: usize) -> &'a [u8] {
        if 0 < self.patience_bytes {
            return text;
        }
        text.get(..start.saturating_add(SHORT_BYTES)).unwrap_or(text)
    }

    /// So many bytes were looked at in vain.
    pub(super) fn note_in_vain(&mut self, n_bytes: usize) {
        self.patience_bytes = self.patience_bytes.saturating_sub(n_bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_remembered_is_what_a_search_finds() {
        let text = br#"[{"ph": "X"}, {"x": 1}, {"ph": "i"}, {"name": "#;
        let mut ahead = Ahead::new();
        for from in 0..text.len() {
            assert_eq!(ahead.next_event(text, from), lenient::next_event(text, from), "from {from}");
        }
        // Back again: what was found further on says nothing.
        assert_eq!(ahead.next_event(text, 0), Some(1));
    }

    #[test]
    fn patience_ends() {
        let text = vec![b' '; 2 * SHORT_BYTES];
        let mut ahead = Ahead::new();
        ahead.note_in_vain(PATIENCE_BYTES - 1);
        assert_eq!(ahead.in_sight(&text, 1).len(), text.len());
        ahead.note_in_vain(2);
        assert_eq!(ahead.in_sight(&text, 1).len(), SHORT_BYTES + 1);
        assert_eq!(ahead.in_sight(&text, text.len()).len(), text.len());
    }
}
