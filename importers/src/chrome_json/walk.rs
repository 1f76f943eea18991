//! Walks through the bytes of a file: the members of the top level, the list of events, what stands behind.
//!
//! ```text
//! { "schemaVersion": 1, "traceEvents": [ {…}, {…} ], "traceName": "…" }
//! Members               Events(InObject)           Members            End
//! [ {…}, {…} ]        or        {…}, {…}
//! Events(Bare) End              Events(Bare)
//! ```
//!
//! A walk may stop anywhere and go on with the next bytes. Where the list of events ends is found by reading it,
//! never by searching for a bracket: names and paths hold brackets too.

use tracecard_model::Severity;

use super::ahead::Ahead;
use super::event::{self, Attempt, Event};
use super::fragment::Fragment;
use super::lenient;
use super::mapper::Mapper;
use super::repairs::Repairs;
use super::scan::{Scanner, Trouble, Value};
use super::skip::Skip;
use super::string::Backslashes;

/// Where a walk stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Before anything.
    Start,
    /// In the top-level object, before a key or its end.
    Members,
    /// In the list of events, before an event or its end.
    Events(List),
    /// At the bracket that ends a list of which the walk does not know where it lies.
    ListEnd,
    /// In a long value of the top level that is passed over.
    Skip(Skip),
    /// Behind the trace.
    End,
}

/// Where a list of events lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum List {
    /// `"traceEvents"` of the top-level object.
    InObject,
    /// The list is the whole file, with or without its brackets.
    Bare,
    /// The walk began inside.
    Unknown,
}

/// Longer values of the top level are passed over, and longer stretches of garbage dropped.
const MAX_MEMBER_BYTES: usize = 16 << 20;

/// How far a walk got.
#[derive(Clone, Copy, Debug)]
pub(super) struct Walked {
    pub(super) place: Place,
    /// Bytes that need not be seen again.
    pub(super) consumed: usize,
}

/// Some bytes of the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stretch<'a> {
    pub(super) text: &'a [u8],
    /// Where they begin in the unpacked file.
    pub(super) offset: u64,
    /// Does the file end with them?
    pub(super) is_last: bool,
}

/// Walk through a stretch from a place, adding to the fragment what is found.
pub(super) fn walk(
    stretch: Stretch<'_>,
    place: Place,
    fragment: &mut Fragment,
    backslashes: Backslashes,
) -> Walked {
    let scanner = Scanner::new(stretch.text, 0);
    let mapper = Mapper::new(fragment, backslashes);
    // Looked at as a whole, because it costs next to nothing that way.
    let is_utf8 = std::str::from_utf8(stretch.text).is_ok();
    let mut walker =
        Walker { stretch, is_utf8, place, scanner, mapper, event: Event::default(), ahead: Ahead::new() };
    while walker.step() {}
    Walked { place: walker.place, consumed: walker.scanner.at }
}

/// What a comma at the end of a stretch means.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Comma {
    /// What follows it decides, so it waits for more bytes.
    MayWait,
    /// Files are cut before events, so one follows.
    IsBeforeEvent,
}

struct Walker<'a, 'f> {
    stretch: Stretch<'a>,
    is_utf8: bool,
    place: Place,
    scanner: Scanner<'a>,
    mapper: Mapper<'a, 'f>,
    event: Event<'a>,
    ahead: Ahead,
}

impl<'a> Walker<'a, '_> {
    /// One step; false when more bytes are needed.
    fn step(&mut self) -> bool {
        match self.place {
            Place::Start => self.start(),
            Place::Members => self.member(),
            Place::Events(list) => self.element(list),
            Place::ListEnd => false,
            Place::Skip(skip) => self.skip(skip),
            Place::End => self.end(),
        }
    }

    fn rest_len(&self) -> usize {
        self.stretch.text.len() - self.scanner.at
    }

    fn start(&mut self) -> bool {
        match self.scanner.peek_solid() {
            None => return false,
            // A byte order mark.
            Some(0xef | 0xbb | 0xbf) => self.scanner.at += 1,
            Some(b',' | 0) => {
                self.count(Repairs::OUTSIDE);
                self.scanner.at += 1;
            }
            Some(b'[') => {
                self.scanner.at += 1;
                self.place = Place::Events(List::Bare);
            }
            Some(b'{') => {
                const LONGEST_KEY: usize = 64;
                if self.rest_len() < LONGEST_KEY && !self.stretch.is_last {
                    return false;
                }
                // A list of events without its bracket.
                if lenient::is_event(self.stretch.text, self.scanner.at) {
                    self.place = Place::Events(List::Bare);
                } else {
                    self.scanner.at += 1;
                    self.place = Place::Members;
                }
            }
            Some(_) => return self.start_in_something(),
        }
        true
    }

    /// The file begins with lines of something else, or within an event of a cut-out piece of a list.
    fn start_in_something(&mut self) -> bool {
        // Enough to see both a line and an event.
        const ENOUGH_BYTES: usize = 8192;
        let (text, at) = (self.stretch.text, self.scanner.at);
        if self.rest_len() < ENOUGH_BYTES && !self.stretch.is_last {
            return false;
        }
        let event = lenient::next_event(text, at);
        let line =
            lenient::trace_after_lines(text, at).filter(|line| event.is_none_or(|event| *line < event));
        match (line, event) {
            (Some(line), _) => {
                self.count(Repairs::OUTSIDE);
                self.scanner.at = line;
            }
            (None, Some(event)) => {
                self.count_skipped(at);
                self.scanner.at = event;
                self.place = Place::Events(List::Bare);
            }
            (None, None) if self.stretch.is_last || MAX_MEMBER_BYTES < self.rest_len() => {
                self.scanner.at = text.len();
                self.place = Place::End;
            }
            (None, None) => return false,
        }
        true
    }

    fn member(&mut self) -> bool {
        let start = match self.scanner.peek_solid() {
            None => return false,
            Some(b'}') => {
                self.scanner.at += 1;
                self.place = Place::End;
                return true;
            }
            Some(b',') => return self.comma(Comma::MayWait),
            Some(_) => self.scanner.at,
        };
        self.scanner.repairs = Repairs::NONE;
        match self.key_and_value(start) {
            Ok(()) => {
                self.count_repairs(start, self.scanner.at);
                true
            }
            Err(Trouble::Cut) if self.rest_len_from(start) < MAX_MEMBER_BYTES => {
                self.scanner.at = start;
                false
            }
            Err(Trouble::Cut) => {
                // The scanner stands at the value.
                let about = "facts beside the events are longer than 16 MiB; they are left out";
                let issues = &mut self.mapper.fragment.builder.issues;
                let text = self.stretch.text;
                issues.count(Severity::Info, "metadata_too_long", about, || excerpt(text, start));
                self.place = Place::Skip(Skip::default());
                true
            }
            Err(Trouble::Bad) => self.find_next_member(start),
        }
    }

    fn rest_len_from(&self, start: usize) -> usize {
        self.stretch.text.len() - start
    }

    /// Read a member. When its value is cut, the scanner stands where the value begins.
    fn key_and_value(&mut self, start: usize) -> Result<(), Trouble> {
        self.scanner.at = start;
        if self.scanner.peek() != Some(b'"') {
            return Err(Trouble::Bad);
        }
        let key = self.scanner.plain_string()?;
        if self.scanner.peek_solid().ok_or(Trouble::Cut)? != b':' {
            return Err(Trouble::Bad);
        }
        self.scanner.at += 1;
        let first = self.scanner.peek_solid().ok_or(Trouble::Cut)?;
        let value_at = self.scanner.at;
        let key = self.mapper.text(key).into_owned();
        let members = &mut self.mapper.fragment.found.members;
        if key == "traceEvents" && first == b'[' {
            members.push((key, Vec::new()));
            self.scanner.at += 1;
            self.place = Place::Events(List::InObject);
            return Ok(());
        }
        match self.scanner.value() {
            Ok(value) => {
                let raw = match value {
                    Value::Missing => &[],
                    _ => self.stretch.text.get(value_at..self.scanner.at).unwrap_or_default(),
                };
                members.push((key, raw.to_vec()));
                Ok(())
            }
            Err(trouble) => {
                self.scanner.at = value_at;
                Err(trouble)
            }
        }
    }

    fn find_next_member(&mut self, from: usize) -> bool {
        let text = self.stretch.text;
        match lenient::next_member(text, from + 1) {
            Some(found) => {
                let about = "facts beside the events are no JSON; they are left out";
                let issues = &mut self.mapper.fragment.builder.issues;
                issues.count(Severity::Info, "metadata_unreadable", about, || excerpt(text, from));
                self.scanner.at = found;
                true
            }
            None if self.stretch.is_last || MAX_MEMBER_BYTES < self.rest_len_from(from) => {
                // What opens the list of events may be cut in two at the end.
                const KEPT_BYTES: usize = 64;
                self.scanner.at = if self.stretch.is_last { text.len() } else { text.len() - KEPT_BYTES };
                false
            }
            None => {
                self.scanner.at = from;
                false
            }
        }
    }

    fn element(&mut self, list: List) -> bool {
        match self.scanner.peek_solid() {
            None => return false,
            Some(b'{') if lenient::begins_trace(self.stretch.text, self.scanner.at) => {
                // The one before was cut off and written again, or files were joined.
                self.count_concatenated();
                self.scanner.at += 1;
                self.place = Place::Members;
            }
            Some(b'{') => return self.read_event(),
            Some(b',') => return self.comma(Comma::IsBeforeEvent),
            Some(b'[') => self.scanner.at += 1,
            Some(b'}') => return self.stray_brace(list),
            Some(b']') if list == List::Unknown => self.place = Place::ListEnd,
            Some(b']') => {
                self.scanner.at += 1;
                self.place = if list == List::InObject { Place::Members } else { Place::End };
            }
            Some(_) => {
                let start = self.scanner.at;
                match self.scanner.value() {
                    Ok(_) => self.count_skipped(start),
                    Err(Trouble::Cut)
                        if !self.stretch.is_last && self.rest_len_from(start) < MAX_MEMBER_BYTES =>
                    {
                        self.scanner.at = start;
                        return false;
                    }
                    Err(_) => return self.skip_to_next_event(start),
                }
            }
        }
        true
    }

    /// A comma, which must not be followed by another one or by an end.
    fn comma(&mut self, at_cut: Comma) -> bool {
        let at = self.scanner.at;
        self.scanner.at += 1;
        match self.scanner.peek_solid() {
            None if !self.stretch.is_last && at_cut == Comma::MayWait => {
                self.scanner.at = at;
                return false;
            }
            Some(b',' | b']' | b'}') => self.count(Repairs::STRAY_COMMA),
            _ => {}
        }
        true
    }

    /// A brace that closes nothing: the end of the object whose list lacks its bracket, or of a broken event.
    fn stray_brace(&mut self, list: List) -> bool {
        let at = self.scanner.at;
        self.scanner.at += 1;
        match (self.scanner.peek_solid(), list) {
            (None, _) if !self.stretch.is_last => {
                self.scanner.at = at;
                return false;
            }
            (Some(b','), _) | (_, List::Bare) => self.count(Repairs::STRAY_BRACE),
            (_, List::InObject) => {
                self.count(Repairs::STRAY_BRACE);
                self.place = Place::End;
            }
            (_, List::Unknown) => {
                self.scanner.at = at;
                self.place = Place::ListEnd;
            }
        }
        true
    }

    fn read_event(&mut self) -> bool {
        let start = self.scanner.at;
        self.scanner.repairs = Repairs::NONE;
        let attempt = event::read(&mut self.scanner, &mut self.event, &mut self.ahead, self.stretch.is_last);
        match attempt {
            Attempt::Read { end } => self.push_event(start, end),
            Attempt::Guessed { end } => {
                let about = "events hold quotes that were not escaped; where their texts end is a guess";
                self.warn("unescaped_quotes", about, start);
                self.push_event(start, end);
            }
            Attempt::WithoutArgs { end } => {
                let about =
                    "the arguments of events cannot be read; these events have no shapes and no launches";
                self.warn("arguments_unreadable", about, start);
                self.push_event(start, end);
            }
            Attempt::Hopeless { resume } => {
                self.count_skipped(start);
                self.scanner.at = resume;
            }
            Attempt::Cut => {
                self.scanner.at = start;
                return false;
            }
            Attempt::Lost => return self.skip_to_next_event(start),
        }
        true
    }

    /// Pass what cannot be read, to the next event or to the end of the list.
    fn skip_to_next_event(&mut self, start: usize) -> bool {
        let text = self.stretch.text;
        let is_last = self.stretch.is_last;
        let end = || lenient::end_of_events(text, start + 1).filter(|_| is_last);
        let next = self.ahead.next_event(text, start + 1).or_else(end);
        if next.is_none() && !is_last && self.rest_len_from(start) < MAX_MEMBER_BYTES {
            self.scanner.at = start;
            return false;
        }
        self.count_skipped(start);
        self.scanner.at = next.unwrap_or(text.len());
        next.is_some()
    }

    fn push_event(&mut self, start: usize, end: usize) {
        self.count_repairs(start, end);
        self.mapper.fragment.found.has_illegal_escape |= self.scanner.repairs.has(Repairs::ILLEGAL_ESCAPE);
        self.scanner.at = end;
        let offset = self.stretch.offset.saturating_add(start as u64);
        let is_hollow = || {
            let inner = self.stretch.text.get(start + 1..end - 1).unwrap_or_default();
            inner.trim_ascii().is_empty()
        };
        // XLA closes its lists with an empty object.
        if self.event.phase != 0 || !is_hollow() {
            self.mapper.push(&self.event, offset.cast_signed());
        }
        let ends_in_brace = self.stretch.text.get(end - 1) == Some(&b'}');
        if ends_in_brace && self.scanner.peek_solid() == Some(b'{') {
            self.count(Repairs::MISSING_COMMA);
        }
    }

    fn warn(&mut self, code: &'static str, about: &str, at: usize) {
        let text = self.stretch.text;
        let issues = &mut self.mapper.fragment.builder.issues;
        issues.count(Severity::Warning, code, about, || excerpt(text, at));
    }

    /// Count a repair at this place.
    fn count(&mut self, repair: Repairs) {
        let (text, at) = (self.stretch.text, self.scanner.at);
        repair.count(&mut self.mapper.fragment.builder.issues, || excerpt(text, at));
    }

    /// Count what was repaired in an event or a fact that lies here.
    fn count_repairs(&mut self, start: usize, end: usize) {
        let text = self.stretch.text;
        if !self.is_utf8 && text.get(start..end).is_some_and(|bytes| std::str::from_utf8(bytes).is_err()) {
            self.scanner.repairs |= Repairs::NO_UTF8;
        }
        let issues = &mut self.mapper.fragment.builder.issues;
        self.scanner.repairs.count(issues, || excerpt(text, start));
    }

    fn count_concatenated(&mut self) {
        let about = "the file holds several traces one after the other; they are read as one";
        let issues = &mut self.mapper.fragment.builder.issues;
        issues.count(Severity::Warning, "concatenated_traces", about, String::new);
    }

    fn count_skipped(&mut self, at: usize) {
        let about = "events cannot be read; they are left out";
        let text = self.stretch.text;
        self.mapper
            .fragment
            .builder
            .issues
            .count(Severity::DataLoss, "events_skipped", about, || excerpt(text, at));
    }

    fn skip(&mut self, mut skip: Skip) -> bool {
        let rest = self.stretch.text.get(self.scanner.at..).unwrap_or_default();
        let end = skip.pass(rest);
        self.scanner.at += end.unwrap_or(rest.len());
        self.place = if end.is_some() { Place::Members } else { Place::Skip(skip) };
        end.is_some()
    }

    fn end(&mut self) -> bool {
        match self.scanner.peek_solid() {
            None => return false,
            Some(b'{' | b'[') => {
                self.count_concatenated();
                self.place = Place::Start;
            }
            Some(_) => {
                self.count(Repairs::OUTSIDE);
                self.scanner.at += 1;
            }
        }
        true
    }
}

/// What is wrong, for the user to search for: the key of a member, or the name of an event. Not the bytes
/// themselves, which may tell users, hosts and command lines.
fn excerpt(text: &[u8], at: usize) -> String {
    const SEARCHED_BYTES: usize = 400;
    const SHOWN_BYTES: usize = 60;
    let rest = text.get(at..).unwrap_or_default();
    let rest = rest.get(..SEARCHED_BYTES).unwrap_or(rest);
    let quoted = |bytes: &[u8]| -> Option<String> {
        let start = bytes.iter().position(|b| *b == b'"')? + 1;
        let inside = bytes.get(start..)?;
        let end = inside.iter().position(|b| *b == b'"').unwrap_or(inside.len());
        let last_part = inside[..end].rsplit(|b| matches!(b, b'/' | b'\\')).next().unwrap_or_default();
        let shown = last_part.get(..SHOWN_BYTES).unwrap_or(last_part);
        Some(String::from_utf8_lossy(shown).split_whitespace().collect::<Vec<_>>().join(" "))
    };
    const NAME: &[u8] = b"\"name\"";
    let found = match rest.first() {
        Some(b'{') => memchr::memmem::find(rest, NAME).and_then(|idx| quoted(&rest[idx + NAME.len()..])),
        _ => quoted(rest),
    };
    found.unwrap_or_default()
}
