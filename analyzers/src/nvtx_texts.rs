//! NVTX ranges by their raw text, as `nsys stats nvtx_sum` lists them, for comparison with it.

use tracecard_model::{NameId, Progress, SliceKind};

use crate::grouped::Grouped;
use crate::stats::{Stats, duration_columns};
use crate::{AnalyzeError, Analyzer, Column, Input, Outcome, Table};

/// Ranges by (domain, text, style).
pub(crate) const ANALYZER: Analyzer = Analyzer { id: "nvtx_texts", title: "NVTX ranges by raw text", run };

/// What ranges are grouped by; the order is that of equal totals before their texts are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key {
    domain: Option<NameId>,
    name: NameId,
    is_start_end: bool,
}

fn run(input: &Input<'_>, progress: &Progress) -> Result<Outcome, AnalyzeError> {
    let trace = input.trace;
    let mut key_ids: rustc_hash::FxHashMap<Key, u32> = rustc_hash::FxHashMap::default();
    let mut keys: Vec<Key> = Vec::new();
    let mut values: Vec<(u32, i64)> = Vec::new();
    let mut is_recorded = false;
    for slice in trace.slice_ids() {
        let idx = slice.idx();
        let kind = trace.slices.kinds()[idx];
        if !matches!(kind, SliceKind::NvtxPushPop | SliceKind::NvtxStartEnd) {
            continue;
        }
        is_recorded = true;
        if !input.derived.is_in_window(trace.slices.span(slice)) {
            continue;
        }
        let domain = trace.domains.get(slice).copied();
        let key = Key { domain, name: trace.slices.names()[idx], is_start_end: kind == SliceKind::NvtxStartEnd };
        let id = *key_ids.entry(key).or_insert_with(|| {
            keys.push(key);
            (keys.len() - 1) as u32
        });
        values.push((id, trace.slices.durs_ns()[idx]));
    }
    if !is_recorded {
        let reason = "the file has no NVTX ranges: record with nsys profile --trace=nvtx";
        return Ok(Outcome::Abstained(reason.to_owned()));
    }
    progress.check()?;
    let mut grouped = Grouped::new(keys.len(), values.iter().copied());
    let text = |key: &Key| match key.domain {
        Some(domain) => format!("{}:{}", trace.names.text(domain), trace.names.text(key.name)),
        None => trace.names.text(key.name).to_owned(),
    };
    let mut ranked: Vec<(String, Key, Stats)> = keys
        .iter()
        .enumerate()
        .filter_map(|(id, key)| Some((text(key), *key, Stats::of(grouped.group_mut(id))?)))
        .collect();
    ranked.sort_by(|(a, a_key, a_stats), (b, b_key, b_stats)| {
        b_stats.total.cmp(&a_stats.total).then_with(|| a.cmp(b)).then(a_key.is_start_end.cmp(&b_key.is_start_end))
    });
    let style = |key: &Key| if key.is_start_end { "StartEnd" } else { "PushPop" }.to_owned();
    let mut columns = vec![
        Column::texts("range", "Range", "domain:text as the program wrote it; no domain for the default one", ranked.iter().map(|(text, ..)| Some(text.clone()))),
        Column::texts("style", "Style", "PushPop or StartEnd", ranked.iter().map(|(_, key, _)| Some(style(key)))),
    ];
    columns.extend(duration_columns(ranked.iter().map(|(.., stats)| stats)));
    Ok(Outcome::Done(vec![Table { id: "nvtx_texts", title: "NVTX ranges by raw text", columns }]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{check_abstains, check_table};

    fn check(text: &str, expected: &str) {
        check_table(&ANALYZER, text, "nvtx_texts", &["range", "style", "count", "total_ns", "median_ns"], expected);
    }

    #[test]
    fn texts_stay_as_they_are() {
        check(
            "thread 1 nvtx\n  nvtx_push_pop \"step 1\" 0 30\n  nvtx_push_pop \"step 2\" 40 10\n  nvtx_push_pop x 60 5 domain=lib\n\
             thread 1 nvtx_start_end\n  nvtx_start_end x 0 7\n  nvtx_start_end x 10 9",
            "step 1 | PushPop | 1 | 30 | 30\nx | StartEnd | 2 | 16 | 8\nstep 2 | PushPop | 1 | 10 | 10\nlib:x | PushPop | 1 | 5 | 5",
        );
    }

    #[test]
    fn equal_totals_go_by_text_and_style() {
        check(
            "thread 1 nvtx\n  nvtx_push_pop b 0 5\n  nvtx_push_pop a 10 5\nthread 1 nvtx_start_end\n  nvtx_start_end a 0 5",
            "a | PushPop | 1 | 5 | 5\na | StartEnd | 1 | 5 | 5\nb | PushPop | 1 | 5 | 5",
        );
    }

    #[test]
    fn annotations_are_no_nvtx_ranges() {
        check_abstains(&ANALYZER, "thread 1 ops\n  annotation x 0 5", "--trace=nvtx");
        check_abstains(&ANALYZER, "", "--trace=nvtx");
    }

    #[test]
    fn a_window_without_ranges_is_an_empty_table() {
        let params = crate::testing::in_window(20, 30);
        let text = "thread 1 nvtx\n  nvtx_push_pop a 0 5\nstream 0:7\n  kernel k 0 50";
        crate::testing::check_table_with(&ANALYZER, text, &params, "nvtx_texts", &["range"], "");
    }
}
