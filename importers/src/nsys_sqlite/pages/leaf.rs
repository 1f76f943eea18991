//! The rows of leaves.

use std::fs::File;

use rusqlite::types::ValueRef;

use super::plan::{MAX_VALUES, Plan, Values};
use super::tree::LEAF;
use super::{Layout, NotPlain, be16, be32, varint};

/// Pages read at once where they lie one behind the other.
const PAGES_A_READ: usize = 64;

/// Call `each` for every row of some leaves, with its row id and the wanted values. All row ids must ascend and lie
/// in `row_ids`.
///
/// # Errors
/// Where SQLite has to read these leaves instead; rows before were handed out already. The first error of `each`.
pub(crate) fn each_row<E: From<NotPlain>>(
    file: &mut File,
    layout: Layout,
    pages: &[u32],
    plan: &Plan,
    row_ids: std::ops::RangeInclusive<i64>,
    buffers: &mut Buffers,
    mut each: impl FnMut(i64, &[ValueRef<'_>]) -> Result<(), E>,
) -> Result<(), E> {
    let Buffers { pages: run, long, page: one } = buffers;
    // Rows that share their long parts are damage; read again for each they take very long.
    let mut long_bytes_left = layout.n_bytes();
    let mut last = None;
    let mut rest = pages;
    while let [first, ..] = rest {
        let n_run =
            rest.iter().zip(*first..).take(PAGES_A_READ).take_while(|(page, next)| *page == next).count();
        layout.read_pages(file, *first, n_run, run).map_err(NotPlain::from)?;
        for page in run.chunks_exact(layout.page_bytes) {
            let page = page.get(..layout.usable_bytes).ok_or(NotPlain)?;
            if page.first() != Some(&LEAF) {
                return Err(NotPlain.into());
            }
            let n_rows = usize::from(be16(page, 3)?);
            if n_rows == 0 {
                return Err(NotPlain.into());
            }
            for idx in 0..n_rows {
                let mut cell = page.get(usize::from(be16(page, 8 + 2 * idx)?)..).ok_or(NotPlain)?;
                let n_bytes = u64::try_from(varint(&mut cell)?).map_err(|_| NotPlain)?;
                let row_id = varint(&mut cell)?;
                let here = layout.n_bytes_in_leaf(n_bytes);
                let mut record = cell.get(..here).ok_or(NotPlain)?;
                if (here as u64) < n_bytes {
                    long_bytes_left = long_bytes_left.checked_sub(n_bytes).ok_or(NotPlain)?;
                    let next = be32(cell, here)?;
                    read_long(file, layout, record, n_bytes, next, one, long)?;
                    record = long;
                }
                let mut values = [ValueRef::Null; MAX_VALUES];
                read_record(record, row_id, plan, &mut values)?;
                if !row_ids.contains(&row_id) || last.is_some_and(|last| row_id <= last) {
                    return Err(NotPlain.into());
                }
                last = Some(row_id);
                each(row_id, &values[..plan.n_wanted])?;
            }
        }
        rest = rest.get(n_run..).unwrap_or_default();
    }
    Ok(())
}

/// Memory for pages, used again and again.
#[derive(Default)]
pub(crate) struct Buffers {
    pages: Vec<u8>,
    /// A row that is too long for its leaf.
    long: Vec<u8>,
    /// A page of such a row.
    page: Vec<u8>,
}

/// Put together a row that goes on in pages of its own: each has the number of the next, then its bytes.
fn read_long(
    file: &mut File,
    layout: Layout,
    start: &[u8],
    n_bytes: u64,
    mut next: u32,
    page: &mut Vec<u8>,
    into: &mut Vec<u8>,
) -> Result<(), NotPlain> {
    into.clear();
    into.extend_from_slice(start);
    while (into.len() as u64) < n_bytes {
        if !layout.has(next) {
            return Err(NotPlain);
        }
        layout.read_pages(file, next, 1, page)?;
        next = be32(page, 0)?;
        let n_left = usize::try_from(n_bytes - into.len() as u64).map_err(|_| NotPlain)?;
        let bytes = page.get(4..layout.usable_bytes).ok_or(NotPlain)?;
        into.extend_from_slice(bytes.get(..n_left).unwrap_or(bytes));
    }
    // The last page has no next one.
    if next == 0 { Ok(()) } else { Err(NotPlain) }
}

/// The values of a row that the plan wants.
fn read_record<'a>(
    record: &'a [u8],
    row_id: i64,
    plan: &Plan,
    values: &mut Values<'a>,
) -> Result<(), NotPlain> {
    let mut rest = record;
    let n_header = usize::try_from(varint(&mut rest)?).map_err(|_| NotPlain)?;
    let (header, mut body) = record.split_at_checked(n_header).ok_or(NotPlain)?;
    let mut kinds = header.get(record.len() - rest.len()..).ok_or(NotPlain)?;
    for place in &plan.places {
        // A row from before a column was added ends early; what it lacks is null.
        if kinds.is_empty() {
            break;
        }
        let kind = varint(&mut kinds)?;
        let n_bytes = size_of(kind)?;
        let (bytes, after) = body.split_at_checked(n_bytes).ok_or(NotPlain)?;
        body = after;
        if let Some(place) = place {
            values[usize::from(*place) % MAX_VALUES] = value(kind, bytes);
        }
    }
    // The kinds and the values must end together; SQLite takes anything else for damage.
    while !kinds.is_empty() {
        body = body.get(size_of(varint(&mut kinds)?)?..).ok_or(NotPlain)?;
    }
    if !body.is_empty() {
        return Err(NotPlain);
    }
    if let Some(place) = plan.row_id {
        let value = &mut values[usize::from(place) % MAX_VALUES];
        if *value != ValueRef::Null {
            return Err(NotPlain);
        }
        *value = ValueRef::Integer(row_id);
    }
    for (place, several) in &plan.choices {
        let filled = several.iter().map(|place| values[usize::from(*place) % MAX_VALUES]);
        values[usize::from(*place) % MAX_VALUES] =
            filled.into_iter().find(|value| *value != ValueRef::Null).unwrap_or(ValueRef::Null);
    }
    Ok(())
}

/// Bytes that a value of a kind takes.
fn size_of(kind: i64) -> Result<usize, NotPlain> {
    Ok(match kind {
        0 | 8 | 9 => 0,
        1..=4 => kind as usize,
        5 => 6,
        6 | 7 => 8,
        12.. => usize::try_from((kind - 12) / 2).map_err(|_| NotPlain)?,
        _ => return Err(NotPlain),
    })
}

/// A value, from exactly the bytes that its kind takes.
fn value(kind: i64, bytes: &[u8]) -> ValueRef<'_> {
    match kind {
        8 => ValueRef::Integer(0),
        9 => ValueRef::Integer(1),
        1..=6 => ValueRef::Integer(integer(bytes)),
        7 => real(f64::from_bits(integer(bytes) as u64)),
        12.. if kind % 2 == 0 => ValueRef::Blob(bytes),
        12.. => ValueRef::Text(bytes),
        _ => ValueRef::Null,
    }
}

/// SQLite gives null for what is no number.
fn real<'a>(value: f64) -> ValueRef<'a> {
    if value.is_nan() { ValueRef::Null } else { ValueRef::Real(value) }
}

/// A signed number of one to eight bytes, the highest first.
fn integer(bytes: &[u8]) -> i64 {
    match *bytes {
        [a] => i64::from(i8::from_be_bytes([a])),
        [a, b] => i64::from(i16::from_be_bytes([a, b])),
        [a, b, c, d] => i64::from(i32::from_be_bytes([a, b, c, d])),
        [a, b, c, d, e, f, g, h] => i64::from_be_bytes([a, b, c, d, e, f, g, h]),
        _ => {
            let start = if bytes.first().is_some_and(|first| 0x80 <= *first) { -1 } else { 0 };
            bytes.iter().fold(start, |value, byte| value << 8 | i64::from(*byte))
        }
    }
}
