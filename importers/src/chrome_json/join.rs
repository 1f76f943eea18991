//! Puts the blocks together again, in the order of the file.
//!
//! Workers read each block as if it lay in the list of events. Where that is wrong (before and behind the
//! list, or when a cut went through an event) the block is read again here, together with what was left of
//! the one before. So the result does not depend on where the cuts lie.

use tracecard_model::Severity;

use super::fragment::Fragment;
use super::repairs::Repairs;
use super::string::Backslashes;
use super::walk::{List, Place, Stretch, Walked, walk};

/// A block as a worker read it.
#[derive(Debug)]
pub(super) struct Parsed {
    pub(super) idx: u64,
    pub(super) offset: u64,
    pub(super) bytes: Vec<u8>,
    pub(super) fragment: Fragment,
    /// Where the worker assumed the block to begin.
    pub(super) assumed: Place,
    pub(super) walked: Walked,
}

/// The trace so far.
#[derive(Debug)]
pub(super) struct Joined {
    pub(super) whole: Fragment,
    backslashes: Backslashes,
    place: Place,
    list: List,
    /// Bytes that could not be read yet, because what they begin does not end.
    carry: Vec<u8>,
    /// Is a brace the last byte so far?
    ends_in_brace: bool,
    /// Where the next byte lies in the unpacked file.
    offset: u64,
}

impl Joined {
    pub(super) fn new(whole: Fragment, backslashes: Backslashes) -> Self {
        Self {
            whole,
            backslashes,
            place: Place::Start,
            list: List::Bare,
            carry: Vec::new(),
            ends_in_brace: false,
            offset: 0,
        }
    }

    /// Add the next block; gives its buffer back.
    pub(super) fn add(&mut self, parsed: Parsed) -> Vec<u8> {
        let Parsed { offset, bytes, fragment, assumed, walked, .. } = parsed;
        self.offset = offset + bytes.len() as u64;
        let is_as_assumed = match (self.place, assumed) {
            (Place::Events(_), Place::Events(_)) => true,
            (here, assumed) => here == assumed,
        };
        let starts_with_brace = bytes.trim_ascii_start().first() == Some(&b'{');
        let has_touching_braces = self.ends_in_brace && starts_with_brace;
        self.ends_in_brace = bytes.trim_ascii_end().last() == Some(&b'}');
        if self.carry.is_empty() && is_as_assumed {
            if has_touching_braces && matches!(self.place, Place::Events(_)) {
                let example = || format!("at byte {offset}");
                Repairs::MISSING_COMMA.count(&mut self.whole.builder.issues, example);
            }
            self.whole.absorb(fragment);
            self.arrive(walked.place);
            let rest = bytes.get(walked.consumed..).unwrap_or_default();
            self.walk_rest(rest, walked.place);
        } else {
            let mut text = std::mem::take(&mut self.carry);
            text.extend_from_slice(&bytes);
            self.walk_on(&text, false);
        }
        bytes
    }

    fn arrive(&mut self, place: Place) {
        self.place = match place {
            // The worker did not know which list this is.
            Place::Events(List::Unknown) | Place::ListEnd => Place::Events(self.list),
            place => place,
        };
        if let Place::Events(list) = self.place {
            self.list = list;
        }
    }

    /// What the worker left: the end of the list is read on here, half an event waits for the next block.
    fn walk_rest(&mut self, rest: &[u8], place: Place) {
        if place == Place::ListEnd {
            self.walk_on(rest, false);
        } else {
            self.carry.extend_from_slice(rest);
        }
    }

    fn walk_on(&mut self, text: &[u8], is_last: bool) {
        let stretch = Stretch { text, offset: self.offset - text.len() as u64, is_last };
        let mut fragment = Fragment::new();
        let walked = walk(stretch, self.place, &mut fragment, self.backslashes);
        self.whole.absorb(fragment);
        self.arrive(walked.place);
        self.carry.clear();
        self.carry.extend_from_slice(text.get(walked.consumed..).unwrap_or_default());
    }

    /// The file ends here: read what was left, and say whether something is missing.
    pub(super) fn finish(mut self) -> Fragment {
        let rest = std::mem::take(&mut self.carry);
        self.walk_on(&rest, true);
        let n_events = self.whole.found.n_events;
        let issues = &mut self.whole.builder.issues;
        match self.place {
            Place::End | Place::Start => {}
            // The format allows to leave the bracket out.
            Place::Events(List::Bare) if self.carry.is_empty() => {
                let text = "the list of events has no end mark; if the recording was stopped hard, its end is missing";
                issues.count(Severity::Info, "list_not_closed", text, String::new);
            }
            _ => {
                let offset = self.offset;
                let text = format!(
                    "the file is cut off at byte {offset}; {n_events} events were read and are kept; \
                     if it is still being written, open it again when it is complete"
                );
                issues.count(Severity::DataLoss, "file_truncated", &text, String::new);
            }
        }
        self.whole
    }
}
