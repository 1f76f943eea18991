//! Numbers and text as SVG wants them: short, and the same on every machine.

/// Digits after the point: a hundredth of a point is finer than any pixel.
const HUNDRED: f64 = 100.0;

/// Larger than any picture; keeps absurd numbers from breaking a viewer.
const LIMIT: f64 = 1e7;

/// Appends a coordinate with at most two decimals, without `-0` and trailing zeros.
/// What is no number becomes 0: callers leave such shapes out before.
pub(super) fn push(out: &mut String, value: f32) {
    let value = f64::from(value);
    let value = if value.is_finite() { value } else { 0.0 };
    let hundredths = (value.clamp(-LIMIT, LIMIT) * HUNDRED).round() as i64;
    if hundredths < 0 {
        out.push('-');
    }
    let hundredths = hundredths.unsigned_abs();
    out.push_str(&(hundredths / 100).to_string());
    let (tenth, hundredth) = (hundredths / 10 % 10, hundredths % 10);
    if tenth != 0 || hundredth != 0 {
        out.push('.');
        push_digit(out, tenth);
        if hundredth != 0 {
            push_digit(out, hundredth);
        }
    }
}

fn push_digit(out: &mut String, digit: u64) {
    out.push(char::from_digit(digit as u32, 10).unwrap_or('0'));
}

/// Appends ` name="value"`.
pub(super) fn attribute(out: &mut String, name: &str, value: f32) {
    out.push(' ');
    out.push_str(name);
    out.push_str("=\"");
    push(out, value);
    out.push('"');
}

/// Appends `x y`.
pub(super) fn pair(out: &mut String, x: f32, y: f32) {
    push(out, x);
    out.push(' ');
    push(out, y);
}

/// Appends a character of text, escaped. False for what XML 1.0 forbids, which is left
/// out.
pub(super) fn character(out: &mut String, character: char) -> bool {
    match character {
        '&' => out.push_str("&amp;"),
        '<' => out.push_str("&lt;"),
        '>' => out.push_str("&gt;"),
        '"' => out.push_str("&quot;"),
        '\'' => out.push_str("&#39;"),
        '\u{fffe}' | '\u{ffff}' => return false,
        _ if character.is_control() => return false,
        _ => out.push(character),
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_never_minus_zero() {
        let cases = [
            (0.0, "0"),
            (-0.001, "0"),
            (1.0, "1"),
            (1.5, "1.5"),
            (-2.25, "-2.25"),
            (0.05, "0.05"),
            (99.999, "100"),
            (f32::NAN, "0"),
            (f32::INFINITY, "0"),
            (-1e30, "-10000000"),
        ];
        for (value, expected) in cases {
            let mut out = String::new();
            push(&mut out, value);
            assert_eq!(out, expected, "{value}");
        }
    }

    #[test]
    fn text_is_escaped_and_control_characters_go() {
        let mut out = String::new();
        let kept = "a&<>\"'\u{1}\u{ffff}\u{85}é中".chars().filter(|c| character(&mut out, *c)).count();
        assert_eq!(out, "a&amp;&lt;&gt;&quot;&#39;é中");
        assert_eq!(kept, 8);
    }
}
