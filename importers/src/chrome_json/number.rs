//! Integers out of values: profilers write them as numbers, as texts, at times with a point, at times as 2⁶⁴ − 1.

use super::scan::Value;
use super::time;

/// The bytes of a number, also when it stands in quotes.
fn digits<'a>(value: &Value<'a>) -> Option<&'a [u8]> {
    match value {
        Value::Number(bytes) => Some(bytes),
        Value::Text(text) => Some(text.bytes.trim_ascii()),
        _ => None,
    }
}

/// A time or duration in ns from its value in µs.
pub(super) fn ns(value: &Value<'_>) -> Option<i64> {
    time::ns_from_us(digits(value)?)
}

/// A whole number; what has decimals is rounded.
pub(super) fn integer(value: &Value<'_>) -> Option<i64> {
    let digits = digits(value)?;
    let is_short = digits.len() <= 18 && !digits.is_empty();
    if is_short && digits.iter().all(u8::is_ascii_digit) {
        return Some(digits.iter().fold(0, |value, digit| value * 10 + i64::from(digit - b'0')));
    }
    time::scaled(digits, 0)
}

/// An identifier of 64 bits: what lies above [`i64::MAX`] keeps its bits. Also as `0x1f`.
pub(super) fn id(value: &Value<'_>) -> Option<i64> {
    integer(value).or_else(|| {
        let text = std::str::from_utf8(digits(value)?).ok()?;
        match text.strip_prefix("0x") {
            Some(hex) => u64::from_str_radix(hex, 16).ok(),
            None => text.parse::<u64>().ok(),
        }
        .map(u64::cast_signed)
    })
}

/// A count or size that cannot be negative.
pub(super) fn count(value: &Value<'_>) -> Option<u64> {
    u64::try_from(integer(value)?).ok()
}

/// As [`count`], where it fits into 32 bits.
pub(super) fn count_u32(value: &Value<'_>) -> Option<u32> {
    u32::try_from(integer(value)?).ok()
}

/// Any number.
pub(super) fn real(value: &Value<'_>) -> Option<f64> {
    std::str::from_utf8(digits(value)?).ok()?.parse().ok()
}

/// Three counts: `[128, 1, 1]`.
pub(super) fn shape(value: &Value<'_>) -> Option<[u32; 3]> {
    let bytes = match value {
        Value::List(bytes) => bytes,
        Value::Text(text) => text.bytes,
        _ => return None,
    };
    let inner = bytes.trim_ascii().strip_prefix(b"[").and_then(|rest| rest.strip_suffix(b"]"))?;
    let mut parts = inner.split(|b| *b == b',').map(|part| count_u32(&Value::Number(part.trim_ascii())));
    let shape = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(shape)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chrome_json::scan::RawStr;

    fn text(bytes: &[u8]) -> Value<'_> {
        Value::Text(RawStr { bytes, has_backslash: false })
    }

    #[test]
    fn integers_come_in_many_clothes() {
        for (value, expected) in [
            (Value::Number(b"12"), Some(12)),
            (Value::Number(b"-1"), Some(-1)),
            (Value::Number(b"12.0"), Some(12)),
            (text(b" 7 "), Some(7)),
            (text(b"stream 7"), None),
            (text(b""), None),
            (Value::Number(b"18446744073709551615"), None),
            (Value::Word(b"N/A"), None),
            (Value::Missing, None),
        ] {
            assert_eq!(integer(&value), expected, "{value:?}");
        }
    }

    #[test]
    fn ids_keep_64_bits() {
        assert_eq!(id(&Value::Number(b"18446744073709551615")), Some(-1));
        assert_eq!(id(&text(b"0x1f")), Some(31));
        assert_eq!(id(&text(b"abc")), None);
    }

    #[test]
    fn shapes_have_three_counts() {
        assert_eq!(shape(&Value::List(b"[128, 1,1]")), Some([128, 1, 1]));
        assert_eq!(shape(&Value::List(b"[128, 1]")), None);
        assert_eq!(shape(&Value::List(b"[128, 1, -1]")), None);
        assert_eq!(shape(&text(b"grid(1,)")), None);
    }

    #[test]
    fn times_may_be_texts() {
        assert_eq!(ns(&text(b"1700000000123456.789")), Some(1_700_000_000_123_456_789));
        assert_eq!(ns(&Value::Word(b"null")), None);
    }
}
