//! One row, read leniently: any column may hold any type.
//!
//! SQLite does not enforce column types, and exports that scripts rewrote do have text in integer columns.

use std::borrow::Cow;

use rusqlite::Row;
use rusqlite::types::ValueRef;

/// A row of a query built by [`super::columns::Table::select`]: the row id, then the wanted columns.
pub(super) struct Cells<'a> {
    row: &'a Row<'a>,
}

impl<'a> Cells<'a> {
    pub(super) fn new(row: &'a Row<'a>) -> Self {
        Self { row }
    }

    /// The row id; 0 for tables without.
    pub(super) fn row_id(&self) -> i64 {
        match self.row.get_ref(0) {
            Ok(ValueRef::Integer(id)) => id,
            _ => 0,
        }
    }

    /// The first `N` wanted columns as integers; `None` for null and for what is no integer.
    pub(super) fn ints<const N: usize>(&self) -> [Option<i64>; N] {
        std::array::from_fn(|idx| self.int(idx))
    }

    /// A wanted column as an integer.
    pub(super) fn int(&self, idx: usize) -> Option<i64> {
        match self.value(idx) {
            ValueRef::Integer(value) => Some(value),
            other => odd_int(other),
        }
    }

    /// A wanted column as text; `None` for null and blobs.
    pub(super) fn text(&self, idx: usize) -> Option<Cow<'a, str>> {
        match self.value(idx) {
            ValueRef::Text(bytes) => Some(String::from_utf8_lossy(bytes)),
            ValueRef::Integer(value) => Some(value.to_string().into()),
            ValueRef::Real(value) => Some(value.to_string().into()),
            ValueRef::Null | ValueRef::Blob(_) => None,
        }
    }

    /// A wanted column as a number.
    pub(super) fn number(&self, idx: usize) -> Option<f64> {
        match self.value(idx) {
            ValueRef::Integer(value) => Some(value as f64),
            ValueRef::Real(value) => Some(value),
            ValueRef::Text(text) => std::str::from_utf8(text).ok()?.trim().parse().ok(),
            ValueRef::Null | ValueRef::Blob(_) => None,
        }
    }

    /// Is a wanted column text that is no number?
    pub(super) fn word(&self, idx: usize) -> Option<Cow<'a, str>> {
        match self.value(idx) {
            value @ ValueRef::Text(bytes) if odd_int(value).is_none() => Some(String::from_utf8_lossy(bytes)),
            _ => None,
        }
    }

    fn value(&self, idx: usize) -> ValueRef<'a> {
        self.row.get_ref(idx + 1).unwrap_or(ValueRef::Null)
    }
}

/// Whole numbers stored as text or real; unsigned ones above 2⁶³ wrap as exports do it.
fn odd_int(value: ValueRef<'_>) -> Option<i64> {
    match value {
        ValueRef::Integer(value) => Some(value),
        // 2⁵³: above it a real no longer holds every whole number.
        ValueRef::Real(value) if value.fract() == 0.0 && value.abs() <= 9_007_199_254_740_992.0 => {
            Some(value as i64)
        }
        ValueRef::Text(text) => {
            let text = std::str::from_utf8(text).ok()?.trim();
            text.parse::<i64>().ok().or_else(|| text.parse::<u64>().ok().map(|value| value as i64))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_read_from_any_type() {
        assert_eq!(odd_int(ValueRef::Text(b" 12 ")), Some(12));
        assert_eq!(odd_int(ValueRef::Text(b"18302628885633695744")), Some(-144_115_188_075_855_872));
        assert_eq!(odd_int(ValueRef::Real(3.0)), Some(3));
        assert_eq!(odd_int(ValueRef::Real(3.5)), None);
        assert_eq!(odd_int(ValueRef::Real(f64::NAN)), None);
        assert_eq!(odd_int(ValueRef::Text(b"x")), None);
        assert_eq!(odd_int(ValueRef::Null), None);
    }
}
