//! One row, read leniently: any column may hold any type.
//!
//! SQLite does not enforce column types, and exports that scripts rewrote do have text in integer columns.

use std::borrow::Cow;

use rusqlite::Row;
use rusqlite::types::ValueRef;

/// A row with the wanted columns of a table.
pub(crate) struct Cells<'a>(Source<'a>);

enum Source<'a> {
    /// A row of an SQLite query: the row id, then the wanted columns.
    Row(&'a Row<'a>),
    /// A record of a report.
    Record(Record<'a>),
}

/// A record of a report, laid out as a row.
#[derive(Clone, Copy)]
pub(crate) struct Record<'a> {
    /// Where in the report it lies: what tells it from all others.
    pub(crate) row_id: i64,
    /// The wanted columns; what lies behind the end is null.
    pub(crate) values: &'a [ValueRef<'a>],
    /// Its call stack, innermost frame first; exports keep stacks in tables of their own.
    pub(crate) frames: &'a [Frame],
}

/// A frame of a call stack: numbers of texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    /// The function.
    pub(crate) symbol: i64,
    /// The library or program that holds it.
    pub(crate) module: Option<i64>,
}

impl<'a> Cells<'a> {
    /// A row of a query for the row id and the wanted columns.
    pub(crate) fn of_row(row: &'a Row<'a>) -> Self {
        Self(Source::Row(row))
    }

    /// A record of a report.
    pub(crate) fn of_record(record: Record<'a>) -> Self {
        Self(Source::Record(record))
    }

    /// What tells the row from all others of its table; 0 for SQLite tables without row ids.
    pub(crate) fn row_id(&self) -> i64 {
        match &self.0 {
            Source::Row(row) => match row.get_ref(0) {
                Ok(ValueRef::Integer(id)) => id,
                _ => 0,
            },
            Source::Record(record) => record.row_id,
        }
    }

    /// The call stack of a record, innermost frame first; empty for rows of SQLite tables.
    pub(crate) fn frames(&self) -> &'a [Frame] {
        match &self.0 {
            Source::Row(_) => &[],
            Source::Record(record) => record.frames,
        }
    }

    /// The first `N` wanted columns as integers; `None` for null and for what is no integer.
    pub(crate) fn ints<const N: usize>(&self) -> [Option<i64>; N] {
        std::array::from_fn(|idx| self.int(idx))
    }

    /// A wanted column as an integer.
    pub(crate) fn int(&self, idx: usize) -> Option<i64> {
        match self.value(idx) {
            ValueRef::Integer(value) => Some(value),
            other => odd_int(other),
        }
    }

    /// A wanted column as text; `None` for null and blobs.
    pub(crate) fn text(&self, idx: usize) -> Option<Cow<'a, str>> {
        match self.value(idx) {
            ValueRef::Text(bytes) => Some(lossy(bytes)),
            ValueRef::Integer(value) => Some(value.to_string().into()),
            ValueRef::Real(value) => Some(value.to_string().into()),
            ValueRef::Null | ValueRef::Blob(_) => None,
        }
    }

    /// A wanted column as a number.
    pub(crate) fn number(&self, idx: usize) -> Option<f64> {
        match self.value(idx) {
            ValueRef::Integer(value) => Some(value as f64),
            ValueRef::Real(value) => Some(value),
            ValueRef::Text(text) => std::str::from_utf8(text).ok()?.trim().parse().ok(),
            ValueRef::Null | ValueRef::Blob(_) => None,
        }
    }

    /// A wanted column as bytes, whatever the file calls them; `None` for null and numbers.
    pub(crate) fn bytes(&self, idx: usize) -> Option<&'a [u8]> {
        match self.value(idx) {
            ValueRef::Blob(bytes) | ValueRef::Text(bytes) => Some(bytes),
            ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => None,
        }
    }

    /// Does a wanted column hold anything?
    pub(crate) fn has(&self, idx: usize) -> bool {
        self.value(idx) != ValueRef::Null
    }

    /// Is a wanted column text that is no number?
    pub(crate) fn word(&self, idx: usize) -> Option<Cow<'a, str>> {
        match self.value(idx) {
            value @ ValueRef::Text(bytes) if odd_int(value).is_none() => Some(lossy(bytes)),
            _ => None,
        }
    }

    fn value(&self, idx: usize) -> ValueRef<'a> {
        match &self.0 {
            Source::Row(row) => row.get_ref(idx + 1).unwrap_or(ValueRef::Null),
            Source::Record(record) => record.values.get(idx).copied().unwrap_or(ValueRef::Null),
        }
    }
}

/// Valid text, the usual case, is checked faster than it is repaired.
fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
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
