//! What moves through memory: copies and sets by direction and kind of memory (SIG-11).

use std::collections::BTreeMap;

use tracecard_model::{Copy, CopyKind, MemoryKind, Progress, SliceId, SliceKind};

use crate::kernels::NO_DEVICE_WORK;
use crate::stats::{Stats, duration_columns};
use crate::{AnalyzeError, Analyzer, Column, Input, Outcome, Table, Unit};

/// Copies by direction and memory; and by direction alone with the spread of sizes.
pub(crate) const ANALYZER: Analyzer = Analyzer { id: "copies", title: "Copies and memsets", run };

/// What copies are grouped by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    kind: CopyKind,
    src: Option<MemoryKind>,
    dst: Option<MemoryKind>,
    is_migration: bool,
}

#[derive(Default)]
struct Group {
    durs_ns: Vec<i64>,
    /// Of those whose size the file has.
    bytes: Vec<i64>,
    longest: Option<(i64, SliceId)>,
}

struct Row {
    key: Key,
    time: Stats,
    /// `None` where the size of any is unknown: a sum of some would be called a sum of all.
    size: Option<Stats>,
    longest: Option<SliceId>,
}

fn run(input: &Input<'_>, progress: &Progress) -> Result<Outcome, AnalyzeError> {
    let (trace, derived) = (input.trace, input.derived);
    let work = derived.work();
    if work.rows.is_empty() {
        return Ok(Outcome::Abstained(NO_DEVICE_WORK.to_owned()));
    }
    let unknown = Copy { kind: CopyKind::Unknown, src: None, dst: None, bytes: None, is_migration: false };
    let mut by_memory: BTreeMap<Key, Group> = BTreeMap::new();
    let mut by_kind: BTreeMap<Key, Group> = BTreeMap::new();
    for (idx, _) in derived.shown_work() {
        let slice = work.rows[idx].slice;
        let unknown = match trace.slices.kinds()[slice.idx()] {
            SliceKind::Memcpy => unknown,
            SliceKind::Memset => Copy { kind: CopyKind::Memset, ..unknown },
            _ => continue,
        };
        let copy = trace.copies.get(slice).copied().unwrap_or(unknown);
        let key = Key { kind: copy.kind, src: copy.src, dst: copy.dst, is_migration: copy.is_migration };
        let dur_ns = work.rows[idx].span.dur_ns();
        for group in [
            by_memory.entry(key).or_default(),
            by_kind.entry(Key { src: None, dst: None, ..key }).or_default(),
        ] {
            group.durs_ns.push(dur_ns);
            group.bytes.extend(copy.bytes.and_then(|bytes| i64::try_from(bytes).ok()));
            if group.longest.is_none_or(|(longest_ns, _)| longest_ns < dur_ns) {
                group.longest = Some((dur_ns, slice));
            }
        }
    }
    progress.check()?;
    Ok(Outcome::Done(vec![memory_table(&ranked(by_memory)), kind_table(&ranked(by_kind))]))
}

fn ranked(groups: BTreeMap<Key, Group>) -> Vec<Row> {
    let mut rows: Vec<Row> = groups
        .into_iter()
        .filter_map(|(key, mut group)| {
            let size =
                if group.bytes.len() == group.durs_ns.len() { Stats::of(&mut group.bytes) } else { None };
            let longest = group.longest.map(|longest| longest.1);
            Some(Row { key, time: Stats::of(&mut group.durs_ns)?, size, longest })
        })
        .collect();
    rows.sort_by(|a, b| b.time.total.cmp(&a.time.total).then(a.key.cmp(&b.key)));
    rows
}

fn memory_table(rows: &[Row]) -> Table {
    let memory = |m: Option<MemoryKind>| m.map(|m| m.text().to_owned());
    let mut columns = vec![
        kind_column(rows),
        Column::texts(
            "src",
            "From",
            "Memory on the source side: pageable, pinned, device, array, managed; unknown where the file does not say",
            rows.iter().map(|r| memory(r.key.src)),
        ),
        Column::texts("dst", "To", "Memory on the destination side", rows.iter().map(|r| memory(r.key.dst))),
    ];
    columns.extend(duration_columns(rows.iter().map(|r| &r.time)));
    columns.extend(size_columns(rows));
    columns.push(migration_column(rows));
    columns.push(example_column(rows));
    Table { id: "copies", title: "Copies and memsets", columns }
}

fn kind_table(rows: &[Row]) -> Table {
    let ints = |id, title, doc, value: fn(&Stats) -> i64| {
        Column::ints(id, title, Unit::Bytes, doc, rows.iter().map(|r| r.size.as_ref().map(value)))
    };
    let reals = |id, title, doc, value: fn(&Stats) -> f64| {
        Column::reals(id, title, Unit::Bytes, doc, rows.iter().map(|r| r.size.as_ref().map(value)))
    };
    let mut columns = vec![kind_column(rows), migration_column(rows)];
    columns.extend(duration_columns(rows.iter().map(|r| &r.time)));
    columns.extend(size_columns(rows));
    columns.extend([
        reals("mean_bytes", "Mean size", "Bytes over count", |s| s.mean),
        reals("median_bytes", "Median size", "The middle size, or the mean of the two middle ones", |s| {
            s.median
        }),
        ints("min_bytes", "Min size", "The smallest", |s| s.min),
        ints("max_bytes", "Max size", "The largest", |s| s.max),
        reals(
            "stddev_bytes",
            "Std dev of size",
            "Standard deviation of the sample (n − 1); 0 for a single one",
            |s| s.stddev,
        ),
    ]);
    columns.push(example_column(rows));
    Table { id: "copy_kinds", title: "Copies and memsets by direction", columns }
}

fn kind_column(rows: &[Row]) -> Column {
    let doc = "Direction: h2d, d2h, d2d (inside a device), p2p (between devices), h2h, memset, unknown";
    Column::texts("kind", "Kind", doc, rows.iter().map(|r| Some(r.key.kind.text().to_owned())))
}

fn migration_column(rows: &[Row]) -> Column {
    let doc = "Pages of unified memory that moved by themselves; no API call stands behind them";
    Column::flags("migration", "Migration", doc, rows.iter().map(|r| Some(r.key.is_migration)))
}

fn example_column(rows: &[Row]) -> Column {
    Column::slices("example", "Longest", "The longest one", rows.iter().map(|r| r.longest))
}

fn size_columns(rows: &[Row]) -> [Column; 2] {
    let rate = |row: &Row| row.size.as_ref().map(|size| size.total as f64 * 1e9 / row.time.total as f64);
    [
        Column::ints(
            "bytes",
            "Bytes",
            Unit::Bytes,
            "Sum of the sizes; unknown where the file lacks any of them",
            rows.iter().map(|r| r.size.as_ref().map(|size| size.total)),
        ),
        Column::reals(
            "bytes_per_s",
            "Rate",
            Unit::BytesPerS,
            "Bytes over total time; the rate that profilers print beside a copy is wrong in some versions and not used",
            rows.iter().map(rate),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{check_abstains, check_table};

    fn check(text: &str, expected: &str) {
        let columns = ["kind", "src", "dst", "count", "total_ns", "bytes", "bytes_per_s"];
        check_table(&ANALYZER, text, "copies", &columns, expected);
    }

    #[test]
    fn copies_are_grouped_by_direction_and_memory() {
        // 4000 bytes in 40 ns = 1e11 bytes/s.
        check(
            "stream 0:7\n  h2d c 0 10 bytes=1000 src=pageable dst=device\n  h2d c 10 30 bytes=3000 src=pageable dst=device\n\
             \x20 h2d c 50 5 bytes=10 src=pinned dst=device\n  memset m 60 1 bytes=64\n  kernel k 70 5",
            "h2d | pageable | device | 2 | 40 | 4000 | 100000000000\n\
             h2d | pinned | device | 1 | 5 | 10 | 2000000000\n\
             memset | - | - | 1 | 1 | 64 | 64000000000",
        );
    }

    #[test]
    fn a_size_that_is_not_known_makes_the_sum_unknown() {
        check(
            "stream 0:7\n  d2h c 0 10 bytes=1000\n  d2h c 10 10\n  d2d c 20 0 bytes=5",
            "d2h | - | - | 2 | 20 | - | -\nd2d | - | - | 1 | 0 | 5 | -",
        );
    }

    #[test]
    fn equal_times_go_by_kind_and_memory() {
        check(
            "stream 0:7\n  d2h c 0 10 dst=pinned\n  h2d c 10 10\n  d2h c 20 10 dst=pageable",
            "h2d | - | - | 1 | 10 | - | -\nd2h | - | pageable | 1 | 10 | - | -\nd2h | - | pinned | 1 | 10 | - | -",
        );
    }

    #[test]
    fn by_direction_sizes_have_their_spread() {
        check_table(
            &ANALYZER,
            "stream 0:7\n  h2d c 0 10 bytes=10 src=pinned\n  h2d c 10 10 bytes=30 src=pageable",
            "copy_kinds",
            &[
                "kind",
                "count",
                "total_ns",
                "bytes",
                "mean_bytes",
                "median_bytes",
                "min_bytes",
                "max_bytes",
                "stddev_bytes",
            ],
            "h2d | 2 | 20 | 40 | 20 | 20 | 10 | 30 | 14.142135623730951",
        );
    }

    #[test]
    fn no_copies_is_an_empty_table_and_no_device_work_none() {
        check("stream 0:7\n  kernel k 0 5", "");
        check_abstains(&ANALYZER, "thread 1 ops\n  op x 0 5", "no device work");
    }
}
