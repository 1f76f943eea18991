//! One event: its own fields and those of its `args`, borrowed from the block they stand in.

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

    /// Read the event whose brace is where the scanner stands. On trouble the fields read so far are there.
    pub(super) fn read(&mut self, scanner: &mut Scanner<'a>) -> Result<(), Trouble> {
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
                    self.name = text(scanner)?;
                    return Ok(());
                }
                b"args" => return self.read_args(scanner),
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
        let outer = scanner.guess;
        scanner.guess = outer.map(|_| Level::Args);
        let args = &mut self.args;
        let result = scanner.members(|scanner, key| {
            args.push((key, scanner.value()?));
            Ok(())
        });
        scanner.guess = outer;
        result
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

/// What came of an attempt to read an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Attempt {
    /// Read; it ends here.
    Read { end: usize },
    /// Read with a guess where its strings end, or without its `args`.
    Guessed { end: usize },
    /// Cannot be read; the next event begins here.
    Hopeless { resume: usize },
    /// The bytes end before the event does, or before it can be told where the next one begins.
    Cut,
}

/// Longer events are taken for broken ones.
const MAX_EVENT_BYTES: usize = 16 << 20;

/// Read the event whose brace is at `at`: strictly, then with guesses.
pub(super) fn read<'a>(scanner: &mut Scanner<'a>, event: &mut Event<'a>) -> Attempt {
    let text = scanner.text();
    let start = scanner.at;
    match event.read(scanner) {
        Ok(()) if super::lenient::ends_event(text, scanner.at) => return Attempt::Read { end: scanner.at },
        Err(Trouble::Cut) if text.len() - start < MAX_EVENT_BYTES => return Attempt::Cut,
        Ok(()) | Err(_) => {}
    }
    guess(scanner, event, start)
}

/// Read the event at `start` with guesses: all of it, else what stands before its `args`.
pub(super) fn guess<'a>(scanner: &mut Scanner<'a>, event: &mut Event<'a>, start: usize) -> Attempt {
    let text = scanner.text();
    scanner.at = start;
    scanner.guess = Some(Level::Event);
    let result = event.read(scanner);
    scanner.guess = None;
    if result.is_ok() && super::lenient::ends_event(text, scanner.at) {
        return Attempt::Guessed { end: scanner.at };
    }
    let Some(resume) = super::lenient::next_event(text, start + 1) else { return Attempt::Cut };
    if event.phase != 0 && !event.name.bytes.is_empty() && event.ts != Value::Missing {
        event.args.clear();
        return Attempt::Guessed { end: resume };
    }
    Attempt::Hopeless { resume }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, attempt: Attempt, name: &str, n_args: usize) {
        let mut scanner = Scanner::new(text.as_bytes(), 0);
        let mut event = Event::default();
        assert_eq!(read(&mut scanner, &mut event), attempt, "{text}");
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
        check(&format!("{text}, {{"), Attempt::Guessed { end: text.len() }, r#"a "b" c"#, 1);
    }

    #[test]
    fn broken_args_do_not_lose_the_event() {
        let text = r#"{"ph": "X", "name": "a", "ts": 1, "args": {"x": "b"c"}"d"}}, "#;
        check(&format!(r#"{text}{{"ph": "X"}}"#), Attempt::Guessed { end: text.len() }, "a", 0);
    }

    #[test]
    fn hopeless_events_are_passed_over() {
        let text = r#"{"ph": ~ "X"}, "#;
        check(&format!(r#"{text}{{"ph": "X"}}"#), Attempt::Hopeless { resume: text.len() }, "", 0);
    }

    #[test]
    fn half_an_event_is_cut() {
        check(r#"{"ph": "X", "name": "a", "ts": 1"#, Attempt::Cut, "a", 0);
    }
}
