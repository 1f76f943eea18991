//! One event: its own fields and those of its `args`, borrowed from the block they stand in.

use super::ahead::Ahead;
use super::lenient;
use super::repairs::Repairs;
use super::scan::{Level, RawStr, Scanner, Trouble, Value};

/// The fields of an event that are read. Of equal keys the last one wins.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Event<'a> {
    /// `X`, `i`, …; 0 when absent.
    pub(super) phase: u8,
    pub(super) category: RawStr<'a>,
    pub(super) name: RawStr<'a>,
    pub(super) pid: Value<'a>,
    pub(super) tid: Value<'a>,
    pub(super) ts: Value<'a>,
    pub(super) dur: Value<'a>,
    pub(super) id: Value<'a>,
    /// The members of `args` in file order.
    pub(super) args: Vec<(RawStr<'a>, Value<'a>)>,
}

impl<'a> Event<'a> {
    /// Ready for the next event; keeps the allocation.
    pub(super) fn clear(&mut self) {
        let mut args = std::mem::take(&mut self.args);
        args.clear();
        *self = Self { args, ..Self::default() };
    }

    /// Read the event whose brace is where the scanner stands, guessing the ends of strings in its name and its
    /// `args` if so told. On trouble the fields read so far are there.
    fn read(&mut self, scanner: &mut Scanner<'a>, strings: Strings) -> Result<(), Trouble> {
        self.clear();
        scanner.members(|scanner, key| {
            let field = match key.bytes {
                b"ph" => {
                    self.phase = match text(scanner)?.bytes {
                        [phase] => *phase,
                        _ => 0,
                    };
                    return Ok(());
                }
                b"cat" => {
                    self.category = text(scanner)?;
                    return Ok(());
                }
                b"name" => {
                    scanner.guess = (strings == Strings::Guessed).then_some(Level::Event);
                    let name = text(scanner);
                    scanner.guess = None;
                    self.name = name?;
                    return Ok(());
                }
                b"args" => {
                    scanner.guess = (strings == Strings::Guessed).then_some(Level::Args);
                    let result = self.read_args(scanner);
                    scanner.guess = None;
                    return result;
                }
                b"pid" => &mut self.pid,
                b"tid" => &mut self.tid,
                b"ts" => &mut self.ts,
                b"dur" => &mut self.dur,
                b"id" => &mut self.id,
                _ => return scanner.value().map(|_| ()),
            };
            *field = scanner.value()?;
            Ok(())
        })
    }

    fn read_args(&mut self, scanner: &mut Scanner<'a>) -> Result<(), Trouble> {
        self.args.clear();
        if scanner.peek_solid() != Some(b'{') {
            return scanner.value().map(|_| ());
        }
        let args = &mut self.args;
        scanner.members(|scanner, key| {
            args.push((key, scanner.value()?));
            Ok(())
        })
    }
}

/// A text; numbers and words count as texts, other values as the empty one.
fn text<'a>(scanner: &mut Scanner<'a>) -> Result<RawStr<'a>, Trouble> {
    Ok(match scanner.value()? {
        Value::Text(text) => text,
        Value::Number(bytes) | Value::Word(bytes) => RawStr { bytes, has_backslash: false },
        Value::Missing | Value::List(_) | Value::Object(_) => RawStr::default(),
    })
}

/// Where strings end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Strings {
    /// At the first quote without a backslash.
    Plain,
    /// Where the text makes sense afterwards.
    Guessed,
}

/// What came of an attempt to read an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Attempt {
    /// Read; it ends here.
    Read { end: usize },
    /// Read with a guess where its strings end.
    Guessed { end: usize },
    /// Read but for its `args`.
    WithoutArgs { end: usize },
    /// Cannot be read; go on here.
    Hopeless { resume: usize },
    /// The bytes end before the event does.
    Cut,
    /// It is broken, and the bytes end before it can be told where the next one begins.
    Lost,
}

/// Longer events are taken for broken ones.
const MAX_EVENT_BYTES: usize = 16 << 20;

/// Read the event at which the scanner stands: strictly, then with guesses.
pub(super) fn read<'a>(
    scanner: &mut Scanner<'a>,
    event: &mut Event<'a>,
    ahead: &mut Ahead,
    is_last: bool,
) -> Attempt {
    let text = scanner.text();
    let start = scanner.at;
    let in_sight = ahead.in_sight(text, start);
    if in_sight.len() < text.len() {
        let mut inner = Scanner::new(in_sight, start);
        match event.read(&mut inner, Strings::Plain) {
            Err(Trouble::Cut) => {
                if ahead.next_event(text, start + 1).is_some_and(|next| next < in_sight.len()) {
                    return guess(scanner, event, ahead, start, is_last);
                }
            }
            // As below.
            Ok(()) | Err(Trouble::Bad) => {}
        }
    }
    match event.read(scanner, Strings::Plain) {
        Ok(()) if lenient::ends_event(text, scanner.at) => return Attempt::Read { end: scanner.at },
        Err(Trouble::Cut) if text.len() - start < MAX_EVENT_BYTES => {
            ahead.note_in_vain(text.len() - start);
            // Unless another event follows: then not the end of the file is missing, but that of this event.
            if !is_last || ahead.next_event(text, start + 1).is_none() {
                return Attempt::Cut;
            }
        }
        Ok(()) | Err(_) => {}
    }
    guess(scanner, event, ahead, start, is_last)
}

/// Read the event at `start` with guesses: all of it, else what stands before its `args`. It is never read
/// beyond the next event, so that a broken one does not swallow others.
fn guess<'a>(
    scanner: &mut Scanner<'a>,
    event: &mut Event<'a>,
    ahead: &mut Ahead,
    start: usize,
    is_last: bool,
) -> Attempt {
    let text = scanner.text();
    let next = ahead.next_event(text, start + 1);
    if next.is_none() && !is_last {
        return Attempt::Lost;
    }
    let bounded = text.get(..next.unwrap_or(text.len())).unwrap_or_default();
    let in_sight = ahead.in_sight(text, start);
    let bounded = if in_sight.len() < bounded.len() { in_sight } else { bounded };
    ahead.note_in_vain(bounded.len() - start);
    let mut inner = Scanner::new(bounded, start);
    let result = event.read(&mut inner, Strings::Guessed);
    scanner.repairs = inner.repairs;
    if result.is_ok() && lenient::ends_event(bounded, inner.at) {
        return Attempt::Guessed { end: inner.at };
    }
    if let Some(end) = end_before_braces(event, bounded, start) {
        scanner.repairs = Repairs::NONE;
        return Attempt::Read { end };
    }
    let Some(resume) = end_by_braces(bounded, start).or(next) else { return Attempt::Lost };
    if event.phase != 0 && !event.name.bytes.is_empty() && event.ts != Value::Missing {
        event.args.clear();
        return Attempt::WithoutArgs { end: resume };
    }
    Attempt::Hopeless { resume }
}

/// Where the event at `start` ends if only braces too many follow it. Reads it again, without guesses.
fn end_before_braces<'a>(event: &mut Event<'a>, text: &'a [u8], start: usize) -> Option<usize> {
    let mut scanner = Scanner::new(text, start);
    let mut again = Event::default();
    again.read(&mut scanner, Strings::Plain).ok()?;
    let end = scanner.at;
    while scanner.peek_solid() == Some(b'}') {
        scanner.at += 1;
    }
    (end < scanner.at && lenient::ends_event(text, scanner.at)).then(|| {
        *event = again;
        end
    })
}

/// Where the event at `start` ends if its brackets match, whatever stands between them.
fn end_by_braces(text: &[u8], start: usize) -> Option<usize> {
    let mut scanner = Scanner::new(text, start);
    scanner.container().ok().filter(|_| lenient::ends_event(text, scanner.at))?;
    Some(scanner.at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, attempt: Attempt, name: &str, n_args: usize) {
        let mut scanner = Scanner::new(text.as_bytes(), 0);
        let mut event = Event::default();
        assert_eq!(read(&mut scanner, &mut event, &mut Ahead::new(), false), attempt, "{text}");
        assert_eq!(String::from_utf8_lossy(event.name.bytes), name);
        assert_eq!(event.args.len(), n_args);
    }

    #[test]
    fn good_events_are_read_strictly() {
        let text = r#"{"ph": "X", "name": "a", "ts": 1, "args": {"b": [1, {"c": 2}], "d": "e"}}"#;
        check(&format!("{text},"), Attempt::Read { end: text.len() }, "a", 2);
    }

    #[test]
    fn unescaped_quotes_are_guessed() {
        let text = r#"{"ph": "X", "name": "a "b" c", "pid": 1, "ts": 1, "args": {"Python id": 1}}"#;
        check(&format!("{text}, {{\"ph\": \"i\"}}"), Attempt::Guessed { end: text.len() }, r#"a "b" c"#, 1);
    }

    #[test]
    fn broken_args_do_not_lose_the_event() {
        let text = r#"{"ph": "X", "name": "a", "ts": 1, "args": {"x": ["b"c"]}}, "#;
        check(&format!(r#"{text}{{"ph": "X"}}"#), Attempt::WithoutArgs { end: text.len() }, "a", 0);
    }

    #[test]
    fn braces_too_many_do_not_cost_arguments() {
        let text = r#"{"ph": "X", "name": "a", "ts": 1, "args": {"x": 1}}"#;
        check(&format!(r#"{text}}}, {{"ph": "X"}}"#), Attempt::Read { end: text.len() }, "a", 1);
    }

    #[test]
    fn hopeless_events_are_passed_over() {
        let text = r#"{"ph": ~ "X"}, "#;
        check(&format!(r#"{text}{{"ph": "X"}}"#), Attempt::Hopeless { resume: text.len() - 2 }, "", 0);
    }

    #[test]
    fn half_an_event_is_cut() {
        check(r#"{"ph": "X", "name": "a", "ts": 1"#, Attempt::Cut, "a", 0);
    }
}
