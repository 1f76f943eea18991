//! NVTX ranges by their raw text, as `nsys stats nvtx_sum` lists them, for comparison with it.

use rustc_hash::FxHashMap;
use tracecard_model::{NameId, Progress, SliceKind};

use crate::grouped::Grouped;
use crate::stats::{Stats, duration_columns};
use crate::{AnalyzeError, Analyzer, Column, Input, Outcome, Table};

/// Ranges by (domain, text, style), the 50 000 with the most time.
pub(crate) const ANALYZER: Analyzer = Analyzer { id: "nvtx_texts", title: "NVTX ranges by raw text", run };

/// PyTorch's `emit_nvtx` gives every call a text of its own: millions of rows that nobody reads. What is
/// beyond this many is one row.
const MAX_ROWS: usize = 50_000;

/// What ranges are grouped by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key {
    domain: Option<NameId>,
    name: NameId,
    is_start_end: bool,
}

/// Gives each key a number, densely. Almost all ranges are of one style in the default domain.
#[derive(Default)]
struct Keys {
    keys: Vec<Key>,
    of_name: Vec<Option<u32>>,
    others: FxHashMap<Key, u32>,
}

impl Keys {
    fn number(&mut self, key: Key) -> u32 {
        let next = self.keys.len() as u32;
        let number = if key.domain.is_none() && !key.is_start_end {
            if self.of_name.len() <= key.name.idx() {
                self.of_name.resize(key.name.idx() + 1, None);
            }
            *self.of_name[key.name.idx()].get_or_insert(next)
        } else {
            *self.others.entry(key).or_insert(next)
        };
        if number == next {
            self.keys.push(key);
        }
        number
    }
}

fn run(input: &Input<'_>, progress: &Progress) -> Result<Outcome, AnalyzeError> {
    let trace = input.trace;
    let mut keys = Keys::default();
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
        let is_start_end = kind == SliceKind::NvtxStartEnd;
        let number = keys.number(Key { domain, name: trace.slices.names()[idx], is_start_end });
        values.push((number, trace.slices.durs_ns()[idx]));
    }
    if !is_recorded {
        let reason = "the file has no NVTX ranges: record with nsys profile --trace=nvtx";
        return Ok(Outcome::Abstained(reason.to_owned()));
    }
    progress.check()?;
    let keys = keys.keys;
    let mut totals_ns = vec![0_i64; keys.len()];
    for (number, dur_ns) in &values {
        let total_ns = &mut totals_ns[*number as usize];
        *total_ns = total_ns.saturating_add(*dur_ns);
    }
    let mut order: Vec<u32> = (0..keys.len() as u32).collect();
    let rank = |number: &u32| (std::cmp::Reverse(totals_ns[*number as usize]), *number);
    if MAX_ROWS < order.len() {
        order.select_nth_unstable_by_key(MAX_ROWS, rank);
    }
    let rest = order.split_off(order.len().min(MAX_ROWS));
    progress.check()?;
    let mut grouped = Grouped::new(keys.len(), values.iter().copied());
    let text = |key: &Key| match key.domain {
        Some(domain) => format!("{}:{}", trace.names.text(domain), trace.names.text(key.name)),
        None => trace.names.text(key.name).to_owned(),
    };
    let style = |key: &Key| if key.is_start_end { "StartEnd" } else { "PushPop" };
    let mut rows: Vec<(String, &str, Stats)> = order
        .iter()
        .filter_map(|number| {
            let key = keys.get(*number as usize)?;
            Some((text(key), style(key), Stats::of(grouped.group_mut(*number as usize))?))
        })
        .collect();
    rows.sort_by(|(a, a_style, a_stats), (b, b_style, b_stats)| {
        b_stats.total.cmp(&a_stats.total).then_with(|| a.cmp(b)).then(a_style.cmp(b_style))
    });
    let mut others: Vec<i64> =
        rest.iter().flat_map(|number| grouped.group_mut(*number as usize).to_vec()).collect();
    if let Some(stats) = Stats::of(&mut others) {
        rows.push((format!("({} more texts)", rest.len()), "", stats));
    }
    Ok(Outcome::Done(vec![table(&rows)]))
}

fn table(rows: &[(String, &str, Stats)]) -> Table {
    let style = |style: &str| (!style.is_empty()).then(|| style.to_owned());
    let mut columns = vec![
        Column::texts(
            "range",
            "Range",
            "domain:text as the program wrote it; no domain for the default one",
            rows.iter().map(|(text, ..)| Some(text.clone())),
        ),
        Column::texts(
            "style",
            "Style",
            "PushPop or StartEnd; unknown where many texts are one row",
            rows.iter().map(|row| style(row.1)),
        ),
    ];
    columns.extend(duration_columns(rows.iter().map(|(.., stats)| stats)));
    Table { id: "nvtx_texts", title: "NVTX ranges by raw text", columns }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{check_abstains, check_table};

    fn check(text: &str, expected: &str) {
        check_table(
            &ANALYZER,
            text,
            "nvtx_texts",
            &["range", "style", "count", "total_ns", "median_ns"],
            expected,
        );
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
    fn texts_beyond_the_limit_are_one_row() {
        let mut text = "thread 1 nvtx\n".to_owned();
        for n in 0..MAX_ROWS + 2 {
            text += &format!("  nvtx_push_pop r{n} {} {}\n", n * 10, if n < MAX_ROWS { 5 } else { 3 });
        }
        let outcome = crate::testing::run(&ANALYZER, &text, &crate::Params::default());
        let Outcome::Done(tables) = outcome else { panic!() };
        assert_eq!(tables[0].n_rows(), MAX_ROWS + 1);
        assert_eq!(tables[0].text(MAX_ROWS, "range"), Some("(2 more texts)"));
        assert_eq!(
            (tables[0].int(MAX_ROWS, "count"), tables[0].int(MAX_ROWS, "total_ns")),
            (Some(2), Some(6))
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
