//! From the bytes between two quotes to text.

use std::borrow::Cow;

use super::scan::RawStr;

/// What a backslash in a string means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Backslashes {
    /// An escape, as in JSON.
    Escape,
    /// Itself: the writer of this file does not escape (Windows paths in torch before 2.1).
    Literal,
}

/// The text of a string. Bytes that are no UTF-8 become U+FFFD, escapes that do not exist stay as they are.
pub(super) fn decode<'a>(raw: RawStr<'a>, backslashes: Backslashes) -> Cow<'a, str> {
    if !raw.has_backslash || backslashes == Backslashes::Literal {
        return lossy(raw.bytes);
    }
    let mut out: Vec<u8> = Vec::with_capacity(raw.bytes.len());
    let mut rest = raw.bytes;
    while let Some((byte, tail)) = rest.split_first() {
        rest = tail;
        if *byte != b'\\' {
            out.push(*byte);
            continue;
        }
        let Some((escaped, tail)) = rest.split_first() else {
            out.push(b'\\');
            break;
        };
        let plain = match escaped {
            b'"' | b'\\' | b'/' => *escaped,
            b'b' => 8,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => {
                if let Some((character, tail)) = unicode_escape(rest) {
                    let mut buffer = [0; 4];
                    out.extend_from_slice(character.encode_utf8(&mut buffer).as_bytes());
                    rest = tail;
                } else {
                    out.push(b'\\');
                }
                continue;
            }
            _ => {
                out.push(b'\\');
                continue;
            }
        };
        out.push(plain);
        rest = tail;
    }
    match String::from_utf8(out) {
        Ok(text) => Cow::Owned(text),
        Err(error) => Cow::Owned(String::from_utf8_lossy(error.as_bytes()).into_owned()),
    }
}

/// The character of `u1234` or of a surrogate pair `ud83d\ude00`, and what follows it. Half a pair is U+FFFD.
fn unicode_escape(text: &[u8]) -> Option<(char, &[u8])> {
    let unit = |text: &[u8]| -> Option<u32> {
        let digits = text.strip_prefix(b"u")?.get(..4).filter(|d| d.iter().all(u8::is_ascii_hexdigit))?;
        u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let high = unit(text)?;
    let tail = text.get(5..)?;
    if let (0xd800..0xdc00, Some(second)) = (high, tail.strip_prefix(b"\\"))
        && let Some(low @ 0xdc00..0xe000) = unit(second)
    {
        let code = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
        return Some((char::from_u32(code)?, second.get(5..)?));
    }
    Some((char::from_u32(high).unwrap_or(char::REPLACEMENT_CHARACTER), tail))
}

/// A JSON value without the blanks outside its strings, for comparing and for showing.
pub(super) fn compact<'a>(value: &'a [u8], buffer: &'a mut Vec<u8>) -> Cow<'a, str> {
    if !value.iter().any(u8::is_ascii_whitespace) {
        return lossy(value);
    }
    buffer.clear();
    let mut is_in_string = false;
    let mut is_escaped = false;
    for byte in value {
        if is_in_string || !byte.is_ascii_whitespace() {
            buffer.push(*byte);
        }
        match byte {
            b'"' if !is_escaped => is_in_string = !is_in_string,
            b'\\' if is_in_string => {
                is_escaped = !is_escaped;
                continue;
            }
            _ => {}
        }
        is_escaped = false;
    }
    lossy(buffer)
}

/// As [`String::from_utf8_lossy`], quicker for what is UTF-8.
fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let raw = RawStr { bytes: text.as_bytes(), has_backslash: text.contains('\\') };
        assert_eq!(decode(raw, Backslashes::Escape), expected, "{text}");
    }

    #[test]
    fn escapes_are_decoded() {
        check("plain", "plain");
        check(r#"a\"b\\c\/d\n\t\r\b\f"#, "a\"b\\c/d\n\t\r\u{8}\u{c}");
        check(r"\u00e9\u6f22\ud83d\ude00", "é漢😀");
    }

    #[test]
    fn what_is_no_escape_stays() {
        check(r"C:\Users\q", r"C:\Users\q");
        check(r"\u12g4\", r"\u12g4\");
        check(r"\ud83d!", "\u{fffd}!");
        check(r"\ud83d\u0041", "\u{fffd}A");
    }

    #[test]
    fn literal_backslashes_stay() {
        let raw = RawStr { bytes: br"C:\new\table", has_backslash: true };
        assert_eq!(decode(raw, Backslashes::Literal), r"C:\new\table");
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced() {
        let raw = RawStr { bytes: b"a\xffb\\n\xfe", has_backslash: true };
        assert_eq!(decode(raw, Backslashes::Escape), "a\u{fffd}b\n\u{fffd}");
    }

    #[test]
    fn blanks_outside_strings_go() {
        let mut buffer = Vec::new();
        assert_eq!(compact(b"[[8, 10],\n []]", &mut buffer), "[[8,10],[]]");
        assert_eq!(compact(br#"["", "[1, 1]", "a\" b"]"#, &mut buffer), r#"["","[1, 1]","a\" b"]"#);
    }
}
