//! From pushed rows to columns, in slice order: every row is read once, all its columns are written.

use rayon::prelude::*;

use crate::narrow::{Narrow, NarrowPart, is_small};
use crate::trace::NO_PARENT;
use crate::{Cancelled, NameId, Progress, SliceFlags, SliceKind, SliceRow, Slices, TrackId};

/// Rows in one part: few enough that all cores finish together.
const ROWS_A_PART: usize = 1 << 16;

/// The columns of some slices.
struct Part<'a> {
    order: &'a [u32],
    track: &'a mut [TrackId],
    kind: &'a mut [SliceKind],
    flags: &'a mut [SliceFlags],
    name: &'a mut [NameId],
    start_ns: &'a mut [i64],
    dur_ns: &'a mut [i64],
    correlation: NarrowPart<'a>,
    source_table: &'a mut [u8],
    source_row: NarrowPart<'a>,
}

/// The columns of `rows` in the order `order`; nesting is left to be filled in.
pub(crate) fn gather(rows: &[SliceRow], order: &[u32], progress: &Progress) -> Result<Slices, Cancelled> {
    let n = order.len();
    let fit = |value: fn(&SliceRow) -> i64| {
        rows.par_iter().with_min_len(ROWS_A_PART).all(|row| is_small(value(row)))
    };
    let mut slices = Slices {
        track: vec![TrackId(0); n],
        kind: vec![SliceKind::Op; n],
        flags: vec![SliceFlags::NONE; n],
        name: vec![NameId(0); n],
        start_ns: vec![0; n],
        dur_ns: vec![0; n],
        self_ns: vec![0; n],
        depth: vec![0; n],
        parent: vec![NO_PARENT; n],
        correlation: Narrow::zeros(n, fit(|row| row.correlation)),
        source_table: vec![0; n],
        source_row: Narrow::zeros(n, fit(|row| row.source_row)),
    };
    parts(&mut slices, order).into_par_iter().try_for_each(|mut part| {
        progress.check()?;
        fill(rows, &mut part);
        Ok(())
    })?;
    Ok(slices)
}

fn fill(rows: &[SliceRow], part: &mut Part<'_>) {
    for (idx, row) in part.order.iter().enumerate() {
        let row = &rows[*row as usize];
        part.track[idx] = row.track;
        part.kind[idx] = row.kind;
        part.flags[idx] = row.flags;
        part.name[idx] = row.name;
        part.start_ns[idx] = row.start_ns;
        part.dur_ns[idx] = row.dur_ns;
        part.correlation.set(idx, row.correlation);
        part.source_table[idx] = row.source_table;
        part.source_row.set(idx, row.source_row);
    }
}

fn parts<'a>(slices: &'a mut Slices, order: &'a [u32]) -> Vec<Part<'a>> {
    let mut track = slices.track.chunks_mut(ROWS_A_PART);
    let mut kind = slices.kind.chunks_mut(ROWS_A_PART);
    let mut flags = slices.flags.chunks_mut(ROWS_A_PART);
    let mut name = slices.name.chunks_mut(ROWS_A_PART);
    let mut start_ns = slices.start_ns.chunks_mut(ROWS_A_PART);
    let mut dur_ns = slices.dur_ns.chunks_mut(ROWS_A_PART);
    let mut correlation = slices.correlation.chunks_mut(ROWS_A_PART);
    let mut source_table = slices.source_table.chunks_mut(ROWS_A_PART);
    let mut source_row = slices.source_row.chunks_mut(ROWS_A_PART);
    let part = |order| {
        Some(Part {
            order,
            track: track.next()?,
            kind: kind.next()?,
            flags: flags.next()?,
            name: name.next()?,
            start_ns: start_ns.next()?,
            dur_ns: dur_ns.next()?,
            correlation: correlation.next()?,
            source_table: source_table.next()?,
            source_row: source_row.next()?,
        })
    };
    order.chunks(ROWS_A_PART).map_while(part).collect()
}
