//! Reads JSON values out of bytes without copying, as profilers write them rather than as the standard wants.
//!
//! What is accepted beyond JSON: raw control characters, escapes that do not exist, `N/A`, `inf` and other
//! bare words, missing values, trailing commas, keys whose opening quote is missing. Each is noted in
//! [`Repairs`]. Only where a string ends is a guess at times; that is [`super::lenient`].

use super::lenient;
use super::repairs::Repairs;

/// Why a value could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// The bytes end before the value does.
    Cut,
    /// What stands there makes no sense.
    Bad,
}

/// A string between its quotes, not decoded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RawStr<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) has_backslash: bool,
}

/// A value as it stands in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Value<'a> {
    /// Nothing where a value should be, or the key is absent.
    #[default]
    Missing,
    Text(RawStr<'a>),
    Number(&'a [u8]),
    /// `true`, `null`, `N/A`, `inf`, …
    Word(&'a [u8]),
    /// With its brackets.
    List(&'a [u8]),
    /// With its braces.
    Object(&'a [u8]),
}

/// Where a string stands that may hold quotes of its own; what may follow it depends on that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    /// Directly in an event.
    Event,
    /// In its `args`.
    Args,
}

/// A place in the bytes, moving forward.
#[derive(Clone, Debug)]
pub(super) struct Scanner<'a> {
    text: &'a [u8],
    pub(super) at: usize,
    pub(super) repairs: Repairs,
    /// Set while the ends of strings are guessed.
    pub(super) guess: Option<Level>,
}

/// Deeper nesting is refused; real traces have 4 levels.
const MAX_DEPTH: u32 = 64;

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a [u8], at: usize) -> Self {
        Self { text, at, repairs: Repairs::default(), guess: None }
    }

    pub(super) fn text(&self) -> &'a [u8] {
        self.text
    }

    /// The byte here.
    pub(super) fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// Go on to the next byte that is no blank, and look at it.
    pub(super) fn peek_solid(&mut self) -> Option<u8> {
        loop {
            match self.text.get(self.at) {
                Some(b' ' | b'\n' | b'\t' | b'\r') => self.at += 1,
                other => return other.copied(),
            }
        }
    }

    /// Any value.
    pub(super) fn value(&mut self) -> Result<Value<'a>, Trouble> {
        match self.peek_solid().ok_or(Trouble::Cut)? {
            b'"' => self.string().map(Value::Text),
            b'[' => self.container().map(Value::List),
            b'{' => self.container().map(Value::Object),
            b',' | b'}' | b']' => {
                self.repairs |= Repairs::MISSING_VALUE;
                Ok(Value::Missing)
            }
            b'-' | b'+' | b'.' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => self.bare(),
            _ => Err(Trouble::Bad),
        }
    }

    /// The string whose opening quote is here.
    pub(super) fn string(&mut self) -> Result<RawStr<'a>, Trouble> {
        match self.guess {
            None => self.plain_string(),
            Some(level) => lenient::string(self, level),
        }
    }

    /// As [`Self::string`], ending at the first quote without a backslash.
    pub(super) fn plain_string(&mut self) -> Result<RawStr<'a>, Trouble> {
        let start = self.at + 1;
        let mut at = start;
        let mut has_backslash = false;
        loop {
            let rest = self.text.get(at..).ok_or(Trouble::Cut)?;
            at += special(rest).ok_or(Trouble::Cut)?;
            match self.text.get(at) {
                Some(b'"') => break,
                Some(b'\\') => has_backslash = true,
                _ => {
                    self.repairs |= Repairs::CONTROL;
                    at += 1;
                    continue;
                }
            }
            match self.text.get(at + 1).ok_or(Trouble::Cut)? {
                b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => {}
                b'u' if has_hex_digits(self.text.get(at + 2..)) => {}
                _ => self.repairs |= Repairs::ILLEGAL_ESCAPE,
            }
            at += 2;
        }
        self.at = at + 1;
        let bytes = self.text.get(start..at).unwrap_or_default();
        Ok(RawStr { bytes, has_backslash })
    }

    /// A list or an object, skipped as a whole: brackets must match, and a string must be followed by what
    /// may follow one in JSON, else it holds quotes of its own.
    pub(super) fn container(&mut self) -> Result<&'a [u8], Trouble> {
        let start = self.at;
        let mut is_object_bits = 0_u64;
        let mut depth = 0_u32;
        loop {
            let byte = self.peek().ok_or(Trouble::Cut)?;
            match byte {
                b'"' => {
                    self.plain_string()?;
                    match self.peek_solid().ok_or(Trouble::Cut)? {
                        b',' | b']' | b'}' => {}
                        b':' if is_object_bits & 1 == 1 => {}
                        _ => return Err(Trouble::Bad),
                    }
                }
                b'[' | b'{' => {
                    if depth == MAX_DEPTH {
                        return Err(Trouble::Bad);
                    }
                    depth += 1;
                    is_object_bits = is_object_bits << 1 | u64::from(byte == b'{');
                    self.at += 1;
                }
                b']' | b'}' => {
                    if (is_object_bits & 1 == 1) != (byte == b'}') {
                        return Err(Trouble::Bad);
                    }
                    depth -= 1;
                    is_object_bits >>= 1;
                    self.at += 1;
                    if depth == 0 {
                        return Ok(self.text.get(start..self.at).unwrap_or_default());
                    }
                }
                _ => self.at += 1,
            }
        }
    }

    /// A number or a word without quotes.
    fn bare(&mut self) -> Result<Value<'a>, Trouble> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let mut is_number = true;
        let mut len = 0;
        for byte in rest {
            match byte {
                b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E' => {}
                b'A'..=b'Z' | b'a'..=b'z' | b'/' | b'_' | b'%' => is_number = false,
                _ => break,
            }
            len += 1;
        }
        if len == rest.len() {
            return Err(Trouble::Cut);
        }
        self.at += len;
        let token = rest.get(..len).unwrap_or_default();
        if is_number && token != b"e" && token != b"E" {
            return Ok(Value::Number(token));
        }
        if !matches!(token, b"true" | b"false" | b"null") {
            self.repairs |= Repairs::BARE_WORD;
        }
        Ok(Value::Word(token))
    }

    /// The members of the object whose brace is here: `each` is called at each value and must read it.
    pub(super) fn members(
        &mut self,
        mut each: impl FnMut(&mut Self, RawStr<'a>) -> Result<(), Trouble>,
    ) -> Result<(), Trouble> {
        self.at += 1;
        loop {
            let key = match self.peek_solid().ok_or(Trouble::Cut)? {
                b'"' => self.plain_string()?,
                b'}' => break,
                b',' => {
                    self.repairs |= Repairs::STRAY_COMMA;
                    self.at += 1;
                    continue;
                }
                b'A'..=b'Z' | b'a'..=b'z' | b'_' => self.bare_key()?,
                _ => return Err(Trouble::Bad),
            };
            match self.peek_solid().ok_or(Trouble::Cut)? {
                b':' => self.at += 1,
                _ => return Err(Trouble::Bad),
            }
            each(self, key)?;
            match self.peek_solid().ok_or(Trouble::Cut)? {
                b',' => {
                    self.at += 1;
                    // `"a": 1, }` is a comma too many.
                    if self.peek_solid() == Some(b'}') {
                        self.repairs |= Repairs::STRAY_COMMA;
                    }
                }
                b'}' => break,
                _ => return Err(Trouble::Bad),
            }
        }
        self.at += 1;
        Ok(())
    }

    /// A key without its opening quote, or without both.
    fn bare_key(&mut self) -> Result<RawStr<'a>, Trouble> {
        self.repairs |= Repairs::BARE_KEY;
        let rest = self.text.get(self.at..).unwrap_or_default();
        let len =
            rest.iter().position(|b| matches!(b, b'"' | b':' | b',' | b'}' | b'\n')).ok_or(Trouble::Cut)?;
        self.at += len + usize::from(rest.get(len) == Some(&b'"'));
        Ok(RawStr { bytes: rest.get(..len).unwrap_or_default().trim_ascii_end(), has_backslash: false })
    }
}

/// Where the first quote, backslash or control character is: eight bytes at a time, because most strings are
/// too short for a call to a vector search to pay.
fn special(text: &[u8]) -> Option<usize> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const TOPS: u64 = 0x8080_8080_8080_8080;
    // The top bit of each byte below `n`; above the first such byte there may be false ones.
    let below = |word: u64, n: u64| word.wrapping_sub(ONES * n) & !word & TOPS;
    let mut at = 0;
    let mut rest = text;
    while let Some((chunk, tail)) = rest.split_first_chunk::<8>() {
        let word = u64::from_le_bytes(*chunk);
        let is_equal = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
        let found = below(word, 0x20) | is_equal(b'"') | is_equal(b'\\');
        if found != 0 {
            return Some(at + found.trailing_zeros() as usize / 8);
        }
        at += 8;
        rest = tail;
    }
    rest.iter().position(|b| matches!(b, b'"' | b'\\' | 0..0x20)).map(|found| at + found)
}

fn has_hex_digits(text: Option<&[u8]>) -> bool {
    text.and_then(|t| t.get(..4)).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_value(text: &str, expected: Result<Value<'_>, Trouble>, repairs: Repairs) {
        let mut scanner = Scanner::new(text.as_bytes(), 0);
        assert_eq!(scanner.value(), expected, "{text}");
        assert_eq!(scanner.repairs, repairs, "{text}");
    }

    #[test]
    fn values_are_read_as_they_stand() {
        let text = |bytes| Value::Text(RawStr { bytes, has_backslash: false });
        check_value(r#" "a" "#, Ok(text(b"a")), Repairs::NONE);
        check_value("\"a\u{1}\nb\"", Ok(text(b"a\x01\nb")), Repairs::CONTROL);
        check_value("-1.5e3,", Ok(Value::Number(b"-1.5e3")), Repairs::NONE);
        check_value("18446744073709551616}", Ok(Value::Number(b"18446744073709551616")), Repairs::NONE);
        check_value("true,", Ok(Value::Word(b"true")), Repairs::NONE);
        check_value("N/A,", Ok(Value::Word(b"N/A")), Repairs::BARE_WORD);
        check_value("-inf,", Ok(Value::Word(b"-inf")), Repairs::BARE_WORD);
        check_value("NaN}", Ok(Value::Word(b"NaN")), Repairs::BARE_WORD);
        check_value(",", Ok(Value::Missing), Repairs::MISSING_VALUE);
        check_value(
            r#"[[1, "]"], {"a": [2]}],"#,
            Ok(Value::List(br#"[[1, "]"], {"a": [2]}]"#)),
            Repairs::NONE,
        );
    }

    #[test]
    fn special_bytes_are_found_wherever_they_are() {
        for len in 0..40 {
            let plain = vec![0xc3; len];
            assert_eq!(special(&plain), None);
            for at in 0..len {
                for byte in [b'"', b'\\', 0, 0x1f, b'\n'] {
                    let mut text = plain.clone();
                    text[at] = byte;
                    // What follows must not matter.
                    text.extend_from_slice(b"!\x7f\x20\"");
                    assert_eq!(special(&text), Some(at), "{text:?}");
                }
            }
        }
    }

    #[test]
    fn cut_is_told_from_bad() {
        check_value("12", Err(Trouble::Cut), Repairs::NONE);
        check_value("\"ab", Err(Trouble::Cut), Repairs::NONE);
        check_value("\"ab\\", Err(Trouble::Cut), Repairs::NONE);
        check_value("[1, {", Err(Trouble::Cut), Repairs::NONE);
        check_value("[1}", Err(Trouble::Bad), Repairs::NONE);
        check_value(r#"["a"b"]"#, Err(Trouble::Bad), Repairs::NONE);
        check_value(&"[".repeat(100), Err(Trouble::Bad), Repairs::NONE);
        check_value("\u{7f}", Err(Trouble::Bad), Repairs::NONE);
    }

    #[test]
    fn escapes_that_do_not_exist_are_noticed() {
        for (text, is_illegal) in [(r#""a\n\u00e9""#, false), (r#""C:\Users""#, true), (r#""\u12g4""#, true)]
        {
            let mut scanner = Scanner::new(text.as_bytes(), 0);
            assert!(scanner.value().is_ok());
            assert_eq!(scanner.repairs.has(Repairs::ILLEGAL_ESCAPE), is_illegal, "{text}");
        }
    }

    #[test]
    fn members_forgive_commas_and_half_keys() {
        let mut scanner = Scanner::new(br#"{"a": 1,, tid": 2, b: 3, }"#, 0);
        let mut keys = Vec::new();
        let result = scanner.members(|scanner, key| {
            keys.push(String::from_utf8_lossy(key.bytes).into_owned());
            scanner.value().map(|_| ())
        });
        assert_eq!(result, Ok(()));
        assert_eq!(keys, ["a", "tid", "b"]);
        assert!(scanner.repairs.has(Repairs::STRAY_COMMA) && scanner.repairs.has(Repairs::BARE_KEY));
        assert_eq!(scanner.peek(), None);
    }
}
