//! Guesses for text that no JSON parser accepts: where a string with unescaped quotes ends, where the next
//! event begins.
//!
//! Kineto wrote names without escaping until torch 2.14 and Python file names to this day
//! (`"CallFrom": "{"device": "cpu"}:3", "Python id": 24`). The writer puts one known key after another, so a
//! quote ends a string only where a known key, or the end of the object and then something sensible, follows.

use memchr::{memchr, memmem};

use super::repairs::Repairs;
use super::scan::{Level, RawStr, Scanner, Trouble};

/// The keys of an event itself.
const EVENT_KEYS: &[&[u8]] = &[
    b"ph", b"name", b"cat", b"pid", b"tid", b"ts", b"dur", b"args", b"id", b"s", b"bp", b"attr", b"tts",
    b"tdur", b"id2", b"func", b"cname", b"sf", b"scope", b"bind_id",
];

/// The keys of `args` that may follow a text which the writer did not escape. The names of collectives and
/// kernels (`dtype`, `device`, …) are left out: they occur inside such texts.
const ARGS_KEYS: &[&[u8]] = &[
    b"External id",
    b"external id",
    b"Record function id",
    b"Sequence number",
    b"Fwd thread id",
    b"Ev Idx",
    b"Profiler Event Index",
    b"Input Dims",
    b"Input dims",
    b"Input type",
    b"Input Strides",
    b"Input names",
    b"Concrete Inputs",
    b"Output dims",
    b"Output type",
    b"Output names",
    b"Extra arguments",
    b"Call stack",
    b"CallFrom",
    b"Module Hierarchy",
    b"Overload name",
    b"Kwinputs",
    b"Trace name",
    b"Trace iteration",
    b"Python id",
    b"Python parent id",
    b"Python module id",
    b"Python thread",
    b"python_caller_id",
    b"finished",
    b"Device",
    b"sort_index",
    b"labels",
];

/// Keys beside `traceEvents`, to find the way back after one whose value is broken.
const TOP_KEYS: &[&[u8]] = &[
    b"traceEvents",
    b"schemaVersion",
    b"deviceProperties",
    b"distributedInfo",
    b"displayTimeUnit",
    b"baseTimeNanoseconds",
    b"traceName",
    b"trace_id",
    b"record_shapes",
    b"with_stack",
    b"with_flops",
    b"with_modules",
    b"profile_memory",
    b"cupti_version",
    b"cuda_runtime_version",
    b"cuda_driver_version",
    b"hip_runtime_version",
    b"hip_driver_version",
    b"host_name",
    b"otherData",
    b"metadata",
];

/// Longer strings are not searched for their end: it bounds the work on hopeless text.
const MAX_STRING_BYTES: usize = 256 * 1024;

/// The string whose opening quote is here, ending at the first quote after which the text makes sense.
pub(super) fn string<'a>(scanner: &mut Scanner<'a>, level: Level) -> Result<RawStr<'a>, Trouble> {
    let text = scanner.text();
    let start = scanner.at + 1;
    let end = text.len().min(start.saturating_add(MAX_STRING_BYTES));
    let mut at = start;
    while let Some(found) = text.get(at..end).and_then(|rest| memchr(b'"', rest)) {
        let quote = at + found;
        if ends_string(text, quote + 1, level) {
            let bytes = text.get(start..quote).unwrap_or_default();
            scanner.at = quote + 1;
            if bytes.iter().any(|b| *b < b' ') {
                scanner.repairs |= Repairs::CONTROL;
            }
            return Ok(RawStr { bytes, has_backslash: bytes.contains(&b'\\') });
        }
        at = quote + 1;
    }
    Err(if end == text.len() { Trouble::Cut } else { Trouble::Bad })
}

/// Does the text go on at `at` as it must after a string of this level?
fn ends_string(text: &[u8], at: usize, level: Level) -> bool {
    let at = skip_blanks(text, at);
    match (text.get(at), level) {
        (Some(b','), Level::Event) => is_key(text, at + 1, EVENT_KEYS),
        (Some(b','), Level::Args) => is_key(text, at + 1, ARGS_KEYS),
        (Some(b'}'), Level::Event) => ends_event(text, at + 1),
        (Some(b'}'), Level::Args) => {
            let at = skip_blanks(text, at + 1);
            match text.get(at) {
                Some(b'}') => ends_event(text, at + 1),
                Some(b',') => is_key(text, at + 1, EVENT_KEYS),
                _ => false,
            }
        }
        _ => false,
    }
}

/// Does what stands at `at` fit behind the closing brace of an event?
pub(super) fn ends_event(text: &[u8], at: usize) -> bool {
    matches!(text.get(skip_blanks(text, at)), None | Some(b',' | b']' | b'{'))
}

/// Is there one of these keys, with its colon?
fn is_key(text: &[u8], at: usize, keys: &[&[u8]]) -> bool {
    key_at(text, at).is_some_and(|key| keys.contains(&key))
}

/// Is the next solid thing a key of an event?
fn is_event_key(text: &[u8], at: usize) -> bool {
    is_key(text, at, EVENT_KEYS)
}

/// Is the object whose brace is at `at` an event rather than a trace? Both may begin with `name`.
pub(super) fn is_event(text: &[u8], at: usize) -> bool {
    // Further than the phase of an event that was ever seen; many objects may ask this one after the other.
    const FAR_BYTES: usize = 16 << 10;
    let rest = text.get(at..).unwrap_or_default();
    let rest = rest.get(..FAR_BYTES).unwrap_or(rest);
    let before_phase = || memmem::find(rest, PHASE).and_then(|phase| rest.get(..phase));
    is_event_key(rest, 1)
        && before_phase().is_some_and(|before| memmem::find(before, b"\"traceEvents\"").is_none())
}

/// Is the object whose brace is here a trace rather than an event?
pub(super) fn begins_trace(text: &[u8], at: usize) -> bool {
    let rest = text.get(skip_blanks(text, at + 1)..).unwrap_or_default();
    // Most events begin otherwise: one comparison each.
    matches!(rest, [b'"', b's' | b't' | b'd', b'c' | b'r' | b'i', ..])
        && [b"\"schemaVersion\"".as_slice(), b"\"traceEvents\"", b"\"displayTimeUnit\""]
            .iter()
            .any(|key| rest.starts_with(key))
}

/// The key whose quote is the next solid byte, if a colon follows it.
fn key_at(text: &[u8], at: usize) -> Option<&[u8]> {
    const LONGEST_KEY: usize = 40;
    let rest = text.get(skip_blanks(text, at)..)?.strip_prefix(b"\"")?;
    let len = memchr(b'"', rest.get(..LONGEST_KEY).unwrap_or(rest))?;
    let colon = skip_blanks(rest, len + 1);
    if rest.get(colon) != Some(&b':') {
        return None;
    }
    rest.get(..len)
}

fn skip_blanks(text: &[u8], at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    at + rest.iter().take_while(|b| b.is_ascii_whitespace()).count()
}

/// Is the brace at `at` the start of an event that follows another one or opens the list?
fn is_event_start(text: &[u8], at: usize) -> bool {
    // One byte tells most braces of hopeless text, of which there may be a hundred million.
    if !text.get(at + 1).is_some_and(|b| *b == b'"' || b.is_ascii_whitespace()) {
        return false;
    }
    let before = text.get(..at).unwrap_or_default().trim_ascii_end();
    let is_after_event = match before.strip_suffix(b",") {
        Some(before) => before.trim_ascii_end().ends_with(b"}"),
        None => before.is_empty() || before.ends_with(b"["),
    };
    is_after_event && is_key(text, at + 1, EVENT_KEYS)
}

/// Where the next event begins, searching from `from`: a brace after `},` or `[`, before a key of an event,
/// of an object with a phase. Inside a valid string this cannot match: its second quote would end it.
pub(super) fn next_event(text: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    while let Some(found) = text.get(at..).and_then(|rest| memchr(b'{', rest)) {
        at += found;
        if is_event_start(text, at) && has_phase(text, at) {
            return Some(at);
        }
        at += 1;
    }
    None
}

/// Where a trace or a list of events begins on a line of its own, after a few lines of something else.
pub(super) fn trace_after_lines(text: &[u8], from: usize) -> Option<usize> {
    const FEW_BYTES: usize = 4096;
    let rest = text.get(from..)?;
    let lines = rest.get(..FEW_BYTES).unwrap_or(rest);
    memchr::memchr_iter(b'\n', lines).map(|end| from + end + 1).find(|at| match text.get(*at) {
        Some(b'{') => begins_trace(text, *at) || is_key(text, at + 1, EVENT_KEYS) && has_phase(text, *at),
        Some(b'[') => text.get(skip_blanks(text, at + 1)) == Some(&b'{'),
        _ => false,
    })
}

/// Does the object at `at` have a phase? Objects in the arguments of events have none.
fn has_phase(text: &[u8], at: usize) -> bool {
    // Where the object has no end, as far as a phase is likely.
    const LIKELY_BYTES: usize = 256;
    // Further than the phase of an event that was ever seen; the search must not look at all text each time.
    const FAR_BYTES: usize = 8192;
    let far = text.get(..at.saturating_add(FAR_BYTES)).unwrap_or(text);
    let rest = far.get(at..).unwrap_or_default();
    if memmem::find(rest, PHASE).is_none() {
        return false;
    }
    let object = Scanner::new(far, at).container().unwrap_or(rest.get(..LIKELY_BYTES).unwrap_or(rest));
    memmem::find(object, PHASE).is_some()
}

/// The key of an event's phase.
const PHASE: &[u8] = b"\"ph\"";

/// Where the last event begins as far as can be seen, searching back from the end but not below `down_to`.
pub(super) fn last_event(text: &[u8], down_to: usize) -> Option<usize> {
    let mut end = text.len();
    while let Some(found) = text.get(down_to..end).and_then(|rest| memchr::memrchr(b'{', rest)) {
        let at = down_to + found;
        if is_event_start(text, at) {
            return Some(at);
        }
        end = at;
    }
    None
}

/// Where the next member of the top level begins (its quote), searching from `from`: a known key after a comma.
pub(super) fn next_member(text: &[u8], from: usize) -> Option<usize> {
    let mut quotes = memchr::memchr_iter(b'"', text.get(from..)?).map(|at| from + at);
    quotes.find(|at| {
        let is_after_member = || {
            let before = text.get(..*at).unwrap_or_default().trim_ascii_end();
            matches!(before.last(), Some(b',' | b'{'))
        };
        is_key(text, *at, TOP_KEYS) && is_after_member()
    })
}

/// Where the list of events ends, if its end can be told from what follows: `]` and then the end of the
/// object, of the file, or a known key. Searched from `from` on; gives the place of the bracket.
pub(super) fn end_of_events(text: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    while let Some(found) = text.get(at..).and_then(|rest| memchr(b']', rest)) {
        at += found;
        let after = skip_blanks(text, at + 1);
        let fits = match text.get(after) {
            None | Some(b'}') => text.get(..at).is_some_and(|before| before.trim_ascii_end().ends_with(b"}")),
            Some(b',') => is_key(text, after + 1, TOP_KEYS),
            _ => false,
        };
        if fits {
            return Some(at);
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_string(text: &str, level: Level, expected: &str) {
        let mut scanner = Scanner::new(text.as_bytes(), 0);
        let found = string(&mut scanner, level).map(|s| String::from_utf8_lossy(s.bytes).into_owned());
        assert_eq!(found.as_deref(), Ok(expected));
    }

    #[test]
    fn quotes_inside_names_do_not_end_them() {
        check_string(r#""has "double" quotes", "pid": 1}"#, Level::Event, r#"has "double" quotes"#);
        check_string(r#""{"device": "cpu"}", "pid": 1}"#, Level::Event, r#"{"device": "cpu"}"#);
        let name = r#"{"device": "cpu", "dtype": "float32"}(12): run"#;
        check_string(&format!("\"{name}\"\n, \"args\": {{}}}}"), Level::Event, name);
        check_string(&format!("\"{name}\", \"Python id\": 3}}}},"), Level::Args, name);
        check_string(&format!("\"{name}\"\n}}\n}}\n]"), Level::Args, name);
        check_string(r#""C:\dir\", "ts": 1}"#, Level::Event, r"C:\dir\");
    }

    #[test]
    fn a_string_without_an_end_is_cut() {
        let mut scanner = Scanner::new(br#""abc"def"#, 0);
        assert_eq!(string(&mut scanner, Level::Event), Err(Trouble::Cut));
    }

    #[test]
    fn events_are_found_again() {
        let text = br#"{"ph": "X", "args": {"a": {"b": 1}}}, {"x": 1}, {"ph": "i"}"#;
        assert_eq!(next_event(text, 1), Some(48));
        assert_eq!(next_event(text, 49), None);
        assert_eq!(last_event(text, 0), Some(48));
        assert_eq!(last_event(text, 49), None);
    }

    #[test]
    fn members_are_found_again() {
        let text = br#"["he said "hi", [x"], "deviceProperties": [], "traceEvents": ["#;
        assert_eq!(next_member(text, 0), Some(22));
        assert_eq!(next_member(text, 23), Some(46));
    }

    #[test]
    fn the_end_of_the_list_is_told_from_other_brackets() {
        assert_eq!(end_of_events(br#"{"a": [1]}, "traceName": "fit-[x]" }"#, 0), None);
        assert_eq!(end_of_events(br#"{"a": [1]} ], "traceName": "fit-[x]" }"#, 0), Some(11));
    }
}
