//! Reads JSON values out of bytes without copying, as profilers write them rather than as the standard wants.
//!
//! What is accepted beyond JSON: raw control characters, escapes that do not exist, `N/A`, `inf` and other
//! bare words, missing values, trailing commas, keys whose opening quote is missing. Each is noted in
//! [`Repairs`]. Only where a string ends is a guess at times; that is [`super::lenient`].

use memchr::memchr2;

use super::lenient;

/// Why a value could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// The bytes end before the value does.
    Cut,
    /// What stands there makes no sense.
    Bad,
}

/// What was accepted although it is no JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Repairs {
    /// A backslash stands before a character that cannot be escaped: the writer did not escape at all.
    pub(super) illegal_escape: bool,
    /// A bare word, a missing value, a bare key or a comma too many.
    pub(super) syntax: bool,
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
                self.repairs.syntax = true;
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
            at += quote_or_backslash(rest).ok_or(Trouble::Cut)?;
            if self.text.get(at) == Some(&b'"') {
                break;
            }
            has_backslash = true;
            match self.text.get(at + 1).ok_or(Trouble::Cut)? {
                b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => {}
                b'u' if has_hex_digits(self.text.get(at + 2..)) => {}
                _ => self.repairs.illegal_escape = true,
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
        self.repairs.syntax |= !matches!(token, b"true" | b"false" | b"null");
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
                    self.repairs.syntax = true;
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
                    self.repairs.syntax |= self.peek_solid() == Some(b'}');
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
        self.repairs.syntax = true;
        let rest = self.text.get(self.at..).unwrap_or_default();
        let len =
            rest.iter().position(|b| matches!(b, b'"' | b':' | b',' | b'}' | b'\n')).ok_or(Trouble::Cut)?;
        self.at += len + usize::from(rest.get(len) == Some(&b'"'));
        Ok(RawStr { bytes: rest.get(..len).unwrap_or_default().trim_ascii_end(), has_backslash: false })
    }
}

/// Most strings are short: a plain loop finds their end faster than a call to the vector search.
fn quote_or_backslash(text: &[u8]) -> Option<usize> {
    const SHORT: usize = 24;
    let short = text.get(..SHORT).unwrap_or(text);
    match short.iter().position(|b| matches!(b, b'"' | b'\\')) {
        Some(at) => Some(at),
        None => memchr2(b'"', b'\\', text.get(short.len()..)?).map(|at| at + short.len()),
    }
}

fn has_hex_digits(text: Option<&[u8]>) -> bool {
    text.and_then(|t| t.get(..4)).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_value(text: &str, expected: Result<Value<'_>, Trouble>, is_repaired: bool) {
        let mut scanner = Scanner::new(text.as_bytes(), 0);
        assert_eq!(scanner.value(), expected, "{text}");
        assert_eq!(scanner.repairs.syntax, is_repaired, "{text}");
    }

    #[test]
    fn values_are_read_as_they_stand() {
        let text = |bytes| Value::Text(RawStr { bytes, has_backslash: false });
        check_value(r#" "a" "#, Ok(text(b"a")), false);
        check_value("\"a\u{1}\nb\"", Ok(text(b"a\x01\nb")), false);
        check_value("-1.5e3,", Ok(Value::Number(b"-1.5e3")), false);
        check_value("18446744073709551616}", Ok(Value::Number(b"18446744073709551616")), false);
        check_value("true,", Ok(Value::Word(b"true")), false);
        check_value("N/A,", Ok(Value::Word(b"N/A")), true);
        check_value("-inf,", Ok(Value::Word(b"-inf")), true);
        check_value("NaN}", Ok(Value::Word(b"NaN")), true);
        check_value(",", Ok(Value::Missing), true);
        check_value(r#"[[1, "]"], {"a": [2]}],"#, Ok(Value::List(br#"[[1, "]"], {"a": [2]}]"#)), false);
    }

    #[test]
    fn cut_is_told_from_bad() {
        check_value("12", Err(Trouble::Cut), false);
        check_value("\"ab", Err(Trouble::Cut), false);
        check_value("\"ab\\", Err(Trouble::Cut), false);
        check_value("[1, {", Err(Trouble::Cut), false);
        check_value("[1}", Err(Trouble::Bad), false);
        check_value(r#"["a"b"]"#, Err(Trouble::Bad), false);
        check_value(&"[".repeat(100), Err(Trouble::Bad), false);
        check_value("\u{7f}", Err(Trouble::Bad), false);
    }

    #[test]
    fn escapes_that_do_not_exist_are_noticed() {
        for (text, is_illegal) in [(r#""a\n\u00e9""#, false), (r#""C:\Users""#, true), (r#""\u12g4""#, true)]
        {
            let mut scanner = Scanner::new(text.as_bytes(), 0);
            assert!(scanner.value().is_ok());
            assert_eq!(scanner.repairs.illegal_escape, is_illegal, "{text}");
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
        assert!(scanner.repairs.syntax);
        assert_eq!(scanner.peek(), None);
    }
}
