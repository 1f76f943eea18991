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

/// A number of things with its noun: `1 slice`, `2 345 slices`.
pub fn counted(n: usize, noun: &str) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", count(i64::try_from(n).unwrap_or(i64::MAX)))
}

/// With a capital at the start: reasons and notes are clauses, alone they are sentences.
pub fn sentence(clause: &str) -> String {
    let mut signs = clause.chars();
    signs.next().map_or_else(String::new, |first| first.to_uppercase().chain(signs).collect())
}

/// A duration or instant to the ns: `1 234 567 ns`.
pub fn exact_ns(ns: i64) -> String {
    format!("{} ns", count(ns))
}

/// A plain number, four significant digits.
pub fn number(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 { count(value as i64) } else { significant(value) }
}

/// Units of time, smallest first: (power of ten in ns, sign).
const TIME_UNITS: [(u32, &str); 4] = [(0, "ns"), (3, "µs"), (6, "ms"), (9, "s")];

/// A time on an axis whose ticks are `step_ns` apart, in the unit that fits `largest_ns`, with just the
/// decimals that tell ticks apart: `12.5 ms`. `None` where that takes more than four decimals.
pub fn tick(t_ns: i64, step_ns: i64, largest_ns: u64) -> Option<String> {
    let step_power = step_ns.max(1).ilog10();
    let is_fitting = |(power, _): &&(u32, &str)| 10_u64.pow(*power) <= largest_ns;
    let (power, sign) = *TIME_UNITS.iter().rev().find(is_fitting).unwrap_or(&TIME_UNITS[0]);
    let decimals = power.saturating_sub(step_power);
    let value = t_ns as f64 / 10_f64.powi(power as i32);
    (decimals <= 4).then(|| format!("{value:.*} {sign}", decimals as usize))
}

/// A sample of a counter in the unit of its track.
pub fn counter_value(value: f64, unit: Option<tracecard_model::Unit>) -> String {
    use tracecard_model::Unit as U;
    match unit {
        Some(U::Frac) => percent(value),
        Some(U::BytesPerS) => bytes_per_s(value),
        Some(U::Bytes) => bytes(value),
        Some(U::Ns) => ns(value),
        Some(U::Hz) => scaled(value, "Hz"),
        Some(U::W) => format!("{} W", significant(value)),
        Some(U::C) => format!("{} °C", significant(value)),
        Some(U::Count) | None => number(value),
    }
}

/// A cell as it is, for the clipboard: no unit, no rounding; unknown is empty.
pub fn raw_cell(cell: Cell<'_>) -> String {
    match cell {
        Cell::Unknown => String::new(),
        Cell::Int(value) => value.to_string(),
        Cell::Real(value) => value.to_string(),
        // Tabs and line ends would break the row.
        Cell::Text(text) => text.replace(['\t', '\n', '\r'], " "),
        Cell::Flag(flag) => flag.to_string(),
        Cell::Slice(slice) => slice.0.to_string(),
    }
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
    fn things_are_counted_with_their_noun() {
        assert_eq!(counted(1, "slice"), "1 slice");
        assert_eq!(counted(2_345, "slice"), "2 345 slices");
        assert_eq!(exact_ns(1_234_567), "1 234 567 ns");
        assert_eq!(number(0.5), "0.5");
        assert_eq!(counter_value(0.25, Some(tracecard_model::Unit::Frac)), "25.0 %");
    }

    #[test]
    fn ticks_show_what_tells_them_apart() {
        assert_eq!(tick(12_500_000, 500_000, 20_000_000).unwrap(), "12.5 ms");
        assert_eq!(tick(0, 500_000, 20_000_000).unwrap(), "0.0 ms");
        assert_eq!(tick(3_000_000_000, 1_000_000_000, 9_000_000_000).unwrap(), "3 s");
        assert_eq!(tick(40, 5, 60).unwrap(), "40 ns");
        assert_eq!(tick(12_345_678_901, 100, 12_345_679_000), None);
    }

    #[test]
    fn copied_cells_keep_every_digit() {
        assert_eq!(raw_cell(Cell::Unknown), "");
        assert_eq!(raw_cell(Cell::Int(1500)), "1500");
        assert_eq!(raw_cell(Cell::Text("a\tb")), "a b");
    }

    #[test]
    fn unknown_is_never_a_number() {
        assert_eq!(cell(Cell::Unknown, Unit::Ns), UNKNOWN);
        assert_eq!(cell(Cell::Real(0.5), Unit::Frac), "50.0 %");
        assert_eq!(cell(Cell::Int(1500), Unit::Count), "1 500");
        assert_eq!(cell(Cell::Int(1500), Unit::Ns), "1.5 µs");
    }
}
