//! Where the host's time in CUDA and HIP calls goes: one row a call.

use rustc_hash::FxHashMap;
use tracecard_model::{Progress, SliceId, SliceKind};

use crate::grouped::Grouped;
use crate::normalise::api_name;
use crate::stats::{Stats, duration_columns};
use crate::{AnalyzeError, Analyzer, Column, Input, Outcome, Table, Unit};

/// API calls by name. A device choice does not restrict it: calls belong to threads.
pub(crate) const ANALYZER: Analyzer = Analyzer { id: "apis", title: "CUDA and HIP calls", run };

struct Row<'a> {
    name: &'a str,
    errors: i64,
    longest: SliceId,
    longest_ns: i64,
}

fn run(input: &Input<'_>, progress: &Progress) -> Result<Outcome, AnalyzeError> {
    let trace = input.trace;
    let mut row_from_name: FxHashMap<&str, u32> = FxHashMap::default();
    let mut row_of_name: Vec<Option<u32>> = vec![None; trace.names.len()];
    let mut rows: Vec<Row<'_>> = Vec::new();
    let mut values: Vec<(u32, i64)> = Vec::new();
    let mut is_recorded = false;
    for (idx, kind) in trace.slices.kinds().iter().enumerate() {
        let slice = SliceId::from_idx(idx);
        if *kind != SliceKind::Api {
            continue;
        }
        is_recorded = true;
        if !input.derived.is_in_window(trace.slices.span(slice)) {
            continue;
        }
        let name = trace.slices.names()[idx];
        let key = *row_of_name[name.idx()].get_or_insert_with(|| {
            let name = api_name(trace.names.text(name));
            *row_from_name.entry(name).or_insert_with(|| {
                rows.push(Row { name, errors: 0, longest: slice, longest_ns: -1 });
                (rows.len() - 1) as u32
            })
        });
        let dur_ns = trace.slices.durs_ns()[idx];
        let row = &mut rows[key as usize];
        if row.longest_ns < dur_ns {
            (row.longest, row.longest_ns) = (slice, dur_ns);
        }
        values.push((key, dur_ns));
    }
    if !is_recorded {
        let reason = "the file has no CUDA or HIP calls: record with nsys profile --trace=cuda or torch.profiler's CUDA activities";
        return Ok(Outcome::Abstained(reason.to_owned()));
    }
    for (slice, _) in
        trace.api_errors.iter().filter(|(s, _)| input.derived.is_in_window(trace.slices.span(*s)))
    {
        let key = row_of_name[trace.slices.names()[slice.idx()].idx()];
        if let Some(row) = key.and_then(|key| rows.get_mut(key as usize)) {
            row.errors += 1;
        }
    }
    progress.check()?;
    let mut grouped = Grouped::new(rows.len(), values.iter().copied());
    let mut ranked: Vec<(Row<'_>, Stats)> = rows
        .into_iter()
        .enumerate()
        .filter_map(|(key, row)| Some((row, Stats::of(grouped.group_mut(key))?)))
        .collect();
    ranked.sort_by(|(a, a_stats), (b, b_stats)| b_stats.total.cmp(&a_stats.total).then(a.name.cmp(b.name)));
    let rows = || ranked.iter().map(|(row, _)| row);
    let doc = "Runtime or driver call, without CUPTI's version suffix";
    let mut columns = vec![Column::texts("name", "Call", doc, rows().map(|r| Some(r.name.to_owned())))];
    columns.extend(duration_columns(ranked.iter().map(|(_, stats)| stats)));
    columns.push(Column::ints(
        "errors",
        "Errors",
        Unit::Count,
        "Calls that returned an error; \"not ready\" of a query is none; unknown where the file records no results",
        rows().map(|r| input.trace.meta.has_return_values.then_some(r.errors)),
    ));
    columns.push(Column::slices("example", "Longest", "The longest call", rows().map(|r| Some(r.longest))));
    Ok(Outcome::Done(vec![Table { id: "apis", title: "CUDA and HIP calls", columns }]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{check_abstains, check_table};

    fn check(text: &str, expected: &str) {
        let columns = ["name", "count", "total_ns", "mean_ns", "max_ns", "errors", "example"];
        check_table(&ANALYZER, text, "apis", &columns, expected);
    }

    #[test]
    fn calls_are_one_whatever_their_version() {
        check(
            "thread 1 api\n  api cudaMalloc_v3020 0 10 error=2\n  api cudaMalloc 10 30\n  api cudaFree 50 5",
            "cudaMalloc | 2 | 40 | 20 | 30 | 1 | 1\ncudaFree | 1 | 5 | 5 | 5 | 0 | 2",
        );
    }

    #[test]
    fn equal_totals_go_by_name() {
        check(
            "thread 1 api\n  api b 0 10\n  api a 10 10",
            "a | 1 | 10 | 10 | 10 | 0 | 1\nb | 1 | 10 | 10 | 10 | 0 | 0",
        );
    }

    #[test]
    fn no_calls_no_answer() {
        check_abstains(&ANALYZER, "stream 0:7\n  kernel a 0 5", "no CUDA or HIP calls");
        check_abstains(&ANALYZER, "", "no CUDA or HIP calls");
    }

    #[test]
    fn a_window_without_calls_is_an_empty_table() {
        let params = crate::testing::in_window(50, 60);
        let text = "thread 1 api\n  api a 0 10\nthread 1 ops\n  op x 0 100";
        crate::testing::check_table_with(&ANALYZER, text, &params, "apis", &["name"], "");
    }
}
