//! Numbers as people read them: the only place, beside the importers, where units change.

use tracecard_analyzers::{Cell, Unit};

/// What stands where a number is not known.
pub const UNKNOWN: &str = "–";

/// A duration or time: `812 ns`, `12.34 µs`, `1.234 s`; four significant digits.
pub fn ns(ns: f64) -> String {
    let abs = ns.abs();
    // Limits lie where rounding would give a fifth digit.
    let (value, unit) = match abs {
        abs if abs < 999.95 => return format!("{} ns", trim(&format!("{ns:.1}"))),
        abs if abs < 999.95e3 => (ns / 1e3, "µs"),
        abs if abs < 999.95e6 => (ns / 1e6, "ms"),
        _ => (ns / 1e9, "s"),
    };
    format!("{} {unit}", significant(value))
}

/// A size: `4.096 kB`, `1.5 GB`; powers of ten, as `nsys stats` and vendors print them.
pub fn bytes(bytes: f64) -> String {
    scaled(bytes, "B")
}

/// A rate: `1.5 GB/s`.
pub fn bytes_per_s(rate: f64) -> String {
    scaled(rate, "B/s")
}

/// A fraction as a percentage: `12.3 %`.
pub fn percent(frac: f64) -> String {
    format!("{:.1} %", frac * 100.0)
}

/// A whole number in groups of three: `1 234 567`.
pub fn count(n: i64) -> String {
    let digits = n.unsigned_abs().to_string();
    let mut text = String::from(if n < 0 { "-" } else { "" });
    for (idx, digit) in digits.chars().enumerate() {
        if 0 < idx && (digits.len() - idx).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// A table cell in the unit of its column.
pub fn cell(cell: Cell<'_>, unit: Unit) -> String {
    let number = match cell {
        Cell::Unknown => return UNKNOWN.to_owned(),
        Cell::Text(text) => return text.to_owned(),
        Cell::Flag(flag) => return if flag { "yes" } else { "no" }.to_owned(),
        Cell::Slice(_) => return String::new(),
        Cell::Int(n) if matches!(unit, Unit::Count | Unit::Number) => return count(n),
        Cell::Int(n) => n as f64,
        Cell::Real(x) => x,
    };
    match unit {
        Unit::Ns => ns(number),
        Unit::Bytes => bytes(number),
        Unit::BytesPerS => bytes_per_s(number),
        Unit::Frac => percent(number),
        _ => significant(number),
    }
}

fn scaled(value: f64, unit: &str) -> String {
    const PREFIXES: &[(f64, &str)] = &[(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
    // Limits lie where rounding would give a fifth digit.
    match PREFIXES.iter().find(|(scale, _)| 0.999_95 * scale <= value.abs()) {
        Some((scale, prefix)) => format!("{} {prefix}{unit}", significant(value / scale)),
        None => format!("{} {unit}", trim(&format!("{value:.1}"))),
    }
}

/// Four significant digits, without zeros at the end.
fn significant(value: f64) -> String {
    let decimals = match value.abs() {
        abs if abs < 9.9995 => 3,
        abs if abs < 99.995 => 2,
        abs if abs < 999.95 => 1,
        _ => 0,
    };
    trim(&format!("{value:.decimals$}"))
}

fn trim(number: &str) -> String {
    if !number.contains('.') {
        return number.to_owned();
    }
    let trimmed = number.trim_end_matches('0').trim_end_matches('.');
    if trimmed == "-0" { "0".to_owned() } else { trimmed.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_keep_four_digits() {
        let check = |value: f64, text: &str| assert_eq!(ns(value), text);
        check(0.0, "0 ns");
        check(812.0, "812 ns");
        check(999.96, "1 µs");
        check(12_344.0, "12.34 µs");
        check(999_960.0, "1 ms");
        check(7_650_000.0, "7.65 ms");
        check(1_234_400_000.0, "1.234 s");
        check(-1_500.0, "-1.5 µs");
        check(7_200e9, "7200 s");
    }

    #[test]
    fn sizes_and_counts() {
        assert_eq!(bytes(12.0), "12 B");
        assert_eq!(bytes(4096.0), "4.096 kB");
        assert_eq!(bytes_per_s(3.35e12), "3.35 TB/s");
        assert_eq!(count(1_234_567), "1 234 567");
        assert_eq!(count(-123), "-123");
        assert_eq!(percent(0.1234), "12.3 %");
    }

    #[test]
    fn unknown_is_never_a_number() {
        assert_eq!(cell(Cell::Unknown, Unit::Ns), UNKNOWN);
        assert_eq!(cell(Cell::Real(0.5), Unit::Frac), "50.0 %");
        assert_eq!(cell(Cell::Int(1500), Unit::Count), "1 500");
        assert_eq!(cell(Cell::Int(1500), Unit::Ns), "1.5 µs");
    }
}
