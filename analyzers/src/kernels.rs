//! Which kernels take the device's time: one row a (name, device).

use rustc_hash::FxHashMap;
use tracecard_model::{DeviceId, NameId, Progress, SliceId, SliceKind};

use crate::grouped::Grouped;
use crate::kernel_names::{family, short_name, tensor_core};
use crate::metrics::{KernelRow, kernel_columns};
use crate::stats::{Stats, duration_columns};
use crate::{AnalyzeError, Analyzer, Column, Input, Outcome, Table, Unit};

/// Kernels by name and device.
pub(crate) const ANALYZER: Analyzer = Analyzer { id: "kernels", title: "Kernels by device time", run };

/// One row of the table while it is being collected.
struct Row {
    name: NameId,
    device: DeviceId,
    wall_ns: i64,
    longest: SliceId,
    longest_ns: i64,
}

fn run(input: &Input<'_>, progress: &Progress) -> Result<Outcome, AnalyzeError> {
    let (trace, derived) = (input.trace, input.derived);
    let work = derived.work();
    if work.rows.is_empty() {
        return Ok(Outcome::Abstained(NO_DEVICE_WORK.to_owned()));
    }
    let names = trace.slices.names();
    let mut row_from_key: FxHashMap<(NameId, DeviceId), u32> = FxHashMap::default();
    let mut rows: Vec<Row> = Vec::new();
    let mut values: Vec<(u32, i64)> = Vec::new();
    let is_kernel = |slice: SliceId| trace.slices.kinds()[slice.idx()] == SliceKind::Kernel;
    for (idx, device) in derived.shown_work().filter(|(idx, _)| is_kernel(work.rows[*idx].slice)) {
        let (slice, dur_ns) = (work.rows[idx].slice, work.rows[idx].span.dur_ns());
        let name = names[slice.idx()];
        let key = *row_from_key.entry((name, device)).or_insert_with(|| {
            rows.push(Row { name, device, wall_ns: 0, longest: slice, longest_ns: -1 });
            (rows.len() - 1) as u32
        });
        let row = &mut rows[key as usize];
        row.wall_ns += derived.wall_ns()[idx];
        if row.longest_ns < dur_ns {
            (row.longest, row.longest_ns) = (slice, dur_ns);
        }
        values.push((key, dur_ns));
    }
    progress.check()?;
    let mut grouped = Grouped::new(rows.len(), values.iter().copied());
    let mut ranked: Vec<(Row, Stats)> = rows
        .into_iter()
        .enumerate()
        .filter_map(|(key, row)| Some((row, Stats::of(grouped.group_mut(key))?)))
        .collect();
    let text = |row: &Row| trace.names.text(row.name);
    ranked.sort_by(|(a, a_stats), (b, b_stats)| {
        let by_total = b_stats.total.cmp(&a_stats.total);
        by_total
            .then_with(|| text(a).cmp(text(b)))
            .then(derived.device_rank(a.device).cmp(&derived.device_rank(b.device)))
    });
    Ok(Outcome::Done(vec![table(input, &ranked)]))
}

/// Why tables about devices are empty, and what to do about it.
pub(crate) const NO_DEVICE_WORK: &str = "the file has no device work (kernels, copies): record with CUDA activities \
     (torch.profiler with ProfilerActivity.CUDA, or nsys profile --trace=cuda)";

fn table(input: &Input<'_>, ranked: &[(Row, Stats)]) -> Table {
    let trace = input.trace;
    let mut device_total_ns: FxHashMap<DeviceId, i64> = FxHashMap::default();
    for (row, stats) in ranked {
        *device_total_ns.entry(row.device).or_default() += stats.total;
    }
    // One name may stand in rows of several devices; patterns are matched once a name.
    let mut known: FxHashMap<NameId, (String, &'static str, Option<bool>)> = FxHashMap::default();
    for (row, _) in ranked {
        known.entry(row.name).or_insert_with(|| {
            let name = trace.names.text(row.name);
            (short_name(name), family(name), tensor_core(name))
        });
    }
    let share = |(row, stats): &(Row, Stats)| {
        let total_ns = *device_total_ns.get(&row.device)?;
        (0 < total_ns).then(|| stats.total as f64 / total_ns as f64)
    };
    let rows = || ranked.iter().map(|(row, _)| row);
    let mut columns = vec![
        Column::texts(
            "name",
            "Kernel",
            "Full name as the file has it",
            rows().map(|r| Some(trace.names.text(r.name).to_owned())),
        ),
        Column::texts(
            "short_name",
            "Short name",
            "The function itself, with the one template argument that says what it does",
            rows().map(|r| known.get(&r.name).map(|k| k.0.clone())),
        ),
        Column::texts(
            "family",
            "Family",
            "What kind of work it is, by its name: gemm, conv, attention, norm, elementwise, reduce, copy, comm, optimizer, other",
            rows().map(|r| known.get(&r.name).map(|k| k.1.to_owned())),
        ),
        Column::ints(
            "device",
            "Device",
            Unit::Number,
            "Number of the device",
            rows().map(|r| input.derived.device_number(r.device)),
        ),
    ];
    let mut stats = duration_columns(ranked.iter().map(|(_, stats)| stats));
    let rest = stats.split_off(2);
    columns.extend(stats);
    columns.push(Column::ints(
        "wall_ns",
        "Wall",
        Unit::Ns,
        "Time that is its own: of kernels that run at once, the earliest started one counts; adds up to the device's compute and exposed communication",
        rows().map(|r| Some(r.wall_ns)),
    ));
    columns.push(Column::reals(
        "share_frac",
        "Share",
        Unit::Frac,
        "Total over the total of all kernels of the device",
        ranked.iter().map(share),
    ));
    columns.extend(rest);
    columns.push(Column::flags(
        "tensor_core",
        "Tensor cores",
        "Does it run on tensor cores, by its name? Unknown where the name does not tell",
        rows().map(|r| known.get(&r.name).and_then(|k| k.2)),
    ));
    let metric_rows: Vec<KernelRow> =
        rows().map(|r| KernelRow { name: r.name, device: r.device, longest: r.longest }).collect();
    columns.extend(kernel_columns(input.derived, &metric_rows));
    columns.push(Column::slices("example", "Longest", "The longest call", rows().map(|r| Some(r.longest))));
    Table { id: "kernels", title: "Kernels", columns }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{check_abstains, check_table, in_window};

    const COLUMNS: &[&str] = &[
        "name",
        "device",
        "family",
        "count",
        "total_ns",
        "wall_ns",
        "mean_ns",
        "median_ns",
        "min_ns",
        "max_ns",
        "stddev_ns",
        "share_frac",
    ];

    fn check(text: &str, expected: &str) {
        check_table(&ANALYZER, text, "kernels", COLUMNS, expected);
    }

    #[test]
    fn kernels_are_ranked_by_total_time() {
        // gemm: 10 + 30 = 40 of 50, mean 20, deviation (10² + 10²) / 1 = 200, root 14.142…
        check(
            "stream 0:7\n  kernel sgemm 0 10\n  kernel relu_kernel 10 10\n  kernel sgemm 20 30\n  h2d copy 60 10",
            "sgemm | 0 | gemm | 2 | 40 | 40 | 20 | 20 | 10 | 30 | 14.142135623730951 | 0.8\n\
             relu_kernel | 0 | elementwise | 1 | 10 | 10 | 10 | 10 | 10 | 10 | 0 | 0.2",
        );
    }

    #[test]
    fn shares_are_of_the_device_and_equal_totals_go_by_name() {
        check(
            "stream 0:7\n  kernel b 0 10\n  kernel a 10 10\nstream 1:7\n  kernel a 0 10",
            "a | 0 | other | 1 | 10 | 10 | 10 | 10 | 10 | 10 | 0 | 0.5\n\
             a | 1 | other | 1 | 10 | 10 | 10 | 10 | 10 | 10 | 0 | 1\n\
             b | 0 | other | 1 | 10 | 10 | 10 | 10 | 10 | 10 | 0 | 0.5",
        );
    }

    #[test]
    fn concurrent_kernels_share_the_wall() {
        // a 0..10 owns its time, b 5..15 only 10..15.
        check(
            "stream 0:7\n  kernel a 0 10\nstream 0:8\n  kernel b 5 10",
            "a | 0 | other | 1 | 10 | 10 | 10 | 10 | 10 | 10 | 0 | 0.5\n\
             b | 0 | other | 1 | 10 | 5 | 10 | 10 | 10 | 10 | 0 | 0.5",
        );
    }

    #[test]
    fn a_window_keeps_what_overlaps_it_whole() {
        let params = in_window(5, 12);
        crate::testing::check_table_with(
            &ANALYZER,
            "stream 0:7\n  kernel a 0 10\n  kernel a 10 10\n  kernel a 20 10",
            &params,
            "kernels",
            &["count", "total_ns", "wall_ns"],
            "2 | 20 | 7",
        );
    }

    #[test]
    fn only_copies_give_an_empty_table_and_no_device_work_none() {
        check("stream 0:7\n  h2d copy 0 10", "");
        check_abstains(&ANALYZER, "thread 1 ops\n  op x 0 10", "no device work");
        check_abstains(&ANALYZER, "", "no device work");
    }

    #[test]
    fn names_are_explained_and_the_longest_call_is_the_example() {
        check_table(
            &ANALYZER,
            "stream 0:7\n  kernel \"void ns::my_wmma_gemm<int>(int)\" 0 10\n  kernel \"void ns::my_wmma_gemm<int>(int)\" 10 20",
            "kernels",
            &["short_name", "tensor_core", "example"],
            "my_wmma_gemm | yes | 1",
        );
    }
}
