//! Decimal µs → integer ns, exactly: no float in between.

/// A time or duration in ns from its decimal text in µs; digits below 1 ns round half away from zero.
/// `None` for what is no number or does not fit.
pub(super) fn ns_from_us(text: &[u8]) -> Option<i64> {
    ns_from_plain_us(text).or_else(|| scaled(text, 3))
}

/// What nearly all times look like, quicker: digits, and at most three after a point.
fn ns_from_plain_us(text: &[u8]) -> Option<i64> {
    // 18 digits fit into an i64.
    if 18 < text.len() {
        return None;
    }
    let mut value = 0_i64;
    let mut digits = text.iter();
    let mut to_ns = 1000;
    while let Some(byte) = digits.next() {
        match byte {
            b'0'..=b'9' => value = value * 10 + i64::from(byte - b'0'),
            b'.' if text.first() != Some(&b'.') => {
                let fraction = digits.as_slice();
                for byte in fraction {
                    if !byte.is_ascii_digit() || to_ns == 1 {
                        return None;
                    }
                    value = value * 10 + i64::from(byte - b'0');
                    to_ns /= 10;
                }
                return value.checked_mul(to_ns);
            }
            _ => return None,
        }
    }
    if text.is_empty() { None } else { value.checked_mul(to_ns) }
}

/// A decimal text × 10^`shift`, rounded half away from zero to an integer.
pub(super) fn scaled(text: &[u8], shift: i32) -> Option<i64> {
    let (is_negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    let mut mantissa = 0_u128;
    let mut exponent = shift;
    let mut n_digits = 0;
    let mut is_fraction = false;
    let mut rest = digits.iter();
    for byte in rest.by_ref() {
        match byte {
            b'0'..=b'9' => {
                n_digits += 1;
                // 10^30 leaves room for the digit; more digits are beyond any time and any rounding.
                if mantissa < 10_u128.pow(30) {
                    mantissa = mantissa * 10 + u128::from(byte - b'0');
                    exponent -= i32::from(is_fraction);
                } else {
                    exponent += i32::from(!is_fraction);
                }
            }
            b'.' if !is_fraction => is_fraction = true,
            b'e' | b'E' => {
                let text = std::str::from_utf8(rest.as_slice()).ok()?;
                exponent = exponent.checked_add(text.parse::<i32>().ok()?)?;
                break;
            }
            _ => return None,
        }
    }
    if n_digits == 0 {
        return None;
    }
    let magnitude = if mantissa == 0 || exponent < -40 {
        0
    } else if exponent < 0 {
        // At most 31 digits stand before this, so 10^40 does not overflow and rounds them to 0.
        let divisor = 10_u128.checked_pow(exponent.unsigned_abs()).unwrap_or(u128::MAX);
        mantissa / divisor + u128::from(divisor / 2 <= mantissa % divisor)
    } else {
        mantissa.checked_mul(10_u128.checked_pow(exponent.unsigned_abs())?)?
    };
    let magnitude = i64::try_from(magnitude).ok()?;
    Some(if is_negative { -magnitude } else { magnitude })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, ns: Option<i64>) {
        assert_eq!(ns_from_us(text.as_bytes()), ns, "{text}");
    }

    #[test]
    fn microseconds_become_nanoseconds_exactly() {
        check("0", Some(0));
        check("12", Some(12_000));
        check("5214190591262.746", Some(5_214_190_591_262_746));
        // An f64 would give …747 at best: 2^53 is about 9.0e15.
        check("1700000000123456.789", Some(1_700_000_000_123_456_789));
        check("1.5", Some(1500));
        check("0.001", Some(1));
        check("-0.25", Some(-250));
        check("+1", Some(1000));
    }

    #[test]
    fn digits_below_one_ns_round_half_away_from_zero() {
        check("8.160000000000025", Some(8160));
        check("0.5319999999999254", Some(532));
        check("0.0005", Some(1));
        check("-0.0005", Some(-1));
        check("0.00049", Some(0));
        check("0.000000000000000000000000000000000000000000000001", Some(0));
    }

    #[test]
    fn exponents_are_read() {
        check("1e3", Some(1_000_000));
        check("1.5E-3", Some(2));
        check("1.7e+15", Some(1_700_000_000_000_000_000));
        check("1e-60", Some(0));
    }

    #[test]
    fn what_does_not_fit_is_none() {
        for text in
            ["", "-", ".", "1e", "1e400", "inf", "1.2.3", "9223372036854775807", "1e99999999999", "12a"]
        {
            check(text, None);
        }
        check("9223372036854775.807", Some(i64::MAX));
        check("00000000000000000000000000000000000000000000000001", Some(1000));
    }
}
