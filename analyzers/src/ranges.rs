//! What the user's own ranges cost: NVTX ranges and annotations by path, with the device work behind them.

use tracecard_model::{Progress, SliceId, SliceKind, Span};

use crate::grouped::Grouped;
use crate::stats::{Stats, percentile};
use crate::{AnalyzeError, Analyzer, Column, Input, Outcome, Table, Unit};

/// Ranges by normalised path.
pub(crate) const ANALYZER: Analyzer = Analyzer { id: "ranges", title: "Ranges by path", run };

#[derive(Clone)]
struct Row {
    path: u32,
    device_busy_ns: i64,
    n_work: i64,
    longest: Option<(i64, SliceId)>,
}

fn run(input: &Input<'_>, progress: &Progress) -> Result<Outcome, AnalyzeError> {
    let (trace, derived) = (input.trace, input.derived);
    let paths = derived.range_paths();
    if paths.nodes.is_empty() {
        let reason = "the file has no ranges: mark the phases of the program with torch.cuda.nvtx.range (nsys profile --trace=nvtx) or torch.profiler.record_function";
        return Ok(Outcome::Abstained(reason.to_owned()));
    }
    let mut rows: Vec<Row> = (0..paths.nodes.len() as u32)
        .map(|path| Row { path, device_busy_ns: 0, n_work: 0, longest: None })
        .collect();
    let shown = paths.ranges().filter(|(slice, _)| derived.is_in_window(trace.slices.span(*slice)));
    let durs_ns = trace.slices.durs_ns();
    for (slice, path) in shown.clone() {
        let longest = &mut rows[path as usize].longest;
        if longest.is_none_or(|(longest_ns, _)| longest_ns < durs_ns[slice.idx()]) {
            *longest = Some((durs_ns[slice.idx()], slice));
        }
    }
    let mut grouped =
        Grouped::new(paths.nodes.len(), shown.map(|(slice, path)| (path, durs_ns[slice.idx()])));
    progress.check()?;
    let has_device_work = !derived.work().rows.is_empty();
    if has_device_work {
        add_device_time(input, &mut rows);
        add_start_end_device_time(input, &mut rows);
    }
    progress.check()?;
    let mut ranked: Vec<(Row, Stats, i64)> = rows
        .into_iter()
        .filter_map(|row| {
            let durs_ns = grouped.group_mut(row.path as usize);
            let stats = Stats::of(durs_ns)?;
            Some((row, stats, percentile(durs_ns, 0.99)?))
        })
        .collect();
    let texts: Vec<String> = (0..paths.nodes.len() as u32).map(|path| paths.text(path)).collect();
    let text = |row: &Row| texts.get(row.path as usize).map_or("", String::as_str);
    ranked.sort_by(|(a, a_stats, _), (b, b_stats, _)| {
        b_stats.total.cmp(&a_stats.total).then_with(|| text(a).cmp(text(b))).then(a.path.cmp(&b.path))
    });
    let rows = || ranked.iter().map(|(row, ..)| row);
    let node = |row: &Row| paths.nodes.get(row.path as usize);
    let kind = |row: &Row| {
        Some(match node(row)?.kind {
            SliceKind::NvtxPushPop => "nvtx",
            SliceKind::NvtxStartEnd => "nvtx_start_end",
            _ => "annotation",
        })
    };
    let on_device = |value: i64| has_device_work.then_some(value);
    let columns = vec![
        Column::texts(
            "path",
            "Path",
            "Names of the range and those around it on its thread, outermost first; counters are *",
            rows().map(|r| Some(text(r).to_owned())),
        ),
        Column::texts(
            "domain",
            "Domain",
            "NVTX domain; unknown for the default domain and for annotations",
            rows().map(|r| Some(trace.names.text(node(r)?.domain?).to_owned())),
        ),
        Column::texts(
            "kind",
            "Kind",
            "nvtx (push/pop), nvtx_start_end, annotation",
            rows().map(|r| kind(r).map(str::to_owned)),
        ),
        Column::ints(
            "count",
            "Count",
            Unit::Count,
            "How many ranges",
            ranked.iter().map(|(_, s, _)| Some(s.count)),
        ),
        Column::ints(
            "total_ns",
            "Total",
            Unit::Ns,
            "Sum of their durations on the host",
            ranked.iter().map(|(_, s, _)| Some(s.total)),
        ),
        Column::ints(
            "device_busy_ns",
            "Device busy",
            Unit::Ns,
            "Time in which work ran that was launched inside, per device and added; backward counts to the range that called it; for start/end ranges, what their process launched meanwhile; unknown without device work",
            rows().map(|r| on_device(r.device_busy_ns)),
        ),
        Column::ints(
            "launches",
            "Device slices",
            Unit::Count,
            "Slices of device work launched inside",
            rows().map(|r| on_device(r.n_work)),
        ),
        Column::reals(
            "median_ns",
            "Median",
            Unit::Ns,
            "The middle duration",
            ranked.iter().map(|(_, s, _)| Some(s.median)),
        ),
        Column::ints(
            "p99_ns",
            "99 %",
            Unit::Ns,
            "99th percentile (nearest rank); the longest where there are fewer than 100",
            ranked.iter().map(|(.., p99)| Some(*p99)),
        ),
        Column::ints("max_ns", "Max", Unit::Ns, "The longest", ranked.iter().map(|(_, s, _)| Some(s.max))),
        Column::slices("example", "Longest", "The longest range", rows().map(|r| r.longest.map(|l| l.1))),
    ];
    Ok(Outcome::Done(vec![Table { id: "ranges", title: "Ranges", columns }]))
}

/// Unions of spans that come by start, one per path.
struct Unions {
    covered_until_ns: Vec<i64>,
}

impl Unions {
    fn new(n_paths: usize) -> Self {
        Self { covered_until_ns: vec![i64::MIN; n_paths] }
    }

    /// How much the span adds to the path's union.
    fn add(&mut self, path: u32, span: Span) -> i64 {
        let until_ns = &mut self.covered_until_ns[path as usize];
        let new_ns = Span::new(span.start_ns.max(*until_ns), span.end_ns).dur_ns();
        *until_ns = (*until_ns).max(span.end_ns);
        new_ns
    }
}

/// Give each path the device work launched inside, on its thread or by autograd for it. O(n · depth).
fn add_device_time(input: &Input<'_>, rows: &mut [Row]) {
    let (derived, paths) = (input.derived, input.derived.range_paths());
    let (work, launched_in) = (derived.work(), derived.ranges());
    let mut unions = Unions::new(rows.len());
    let mut device = None;
    for (idx, of_device) in derived.shown_work() {
        if device != Some(of_device) {
            device = Some(of_device);
            unions = Unions::new(rows.len());
        }
        let ranges = launched_in[idx];
        let own = paths.chain(ranges.own.and_then(|slice| paths.path_of(slice)));
        let caller = paths.chain(ranges.caller.and_then(|slice| paths.path_of(slice)));
        for path in own.chain(caller) {
            let row = &mut rows[path as usize];
            row.device_busy_ns += unions.add(path, work.rows[idx].span.intersect(derived.window()));
            row.n_work += 1;
        }
    }
}

/// Start/end ranges belong to no thread: they get what their process launched meanwhile.
fn add_start_end_device_time(input: &Input<'_>, rows: &mut [Row]) {
    let (trace, derived, paths) = (input.trace, input.derived, input.derived.range_paths());
    let work = derived.work();
    let is_start_end =
        |path: u32| paths.nodes.get(path as usize).is_some_and(|node| node.kind == SliceKind::NvtxStartEnd);
    if !(0..rows.len() as u32).any(is_start_end) {
        return;
    }
    // By (process, launch start): the work of a range is a run of this list.
    let mut launched: Vec<_> = derived
        .shown_work()
        .filter_map(|(idx, device)| {
            let launch = work.rows[idx].launch()?;
            Some((trace.track_of(launch).key.process, trace.slices.starts_ns()[launch.idx()], device, idx))
        })
        .collect();
    launched.sort_unstable();
    let mut of_path: Vec<(u32, tracecard_model::DeviceId, i64, usize)> = Vec::new();
    for (slice, path) in paths.ranges().filter(|(_, path)| is_start_end(*path)) {
        let span = trace.slices.span(slice);
        if !derived.is_in_window(span) {
            continue;
        }
        let process = trace.track_of(slice).key.process;
        let first = launched.partition_point(|row| (row.0, row.1) < (process, span.start_ns));
        let inside = launched[first..].iter().take_while(|row| row.0 == process && row.1 < span.end_ns);
        of_path.extend(inside.map(|(.., device, idx)| (path, *device, work.rows[*idx].span.start_ns, *idx)));
    }
    // Ranges of one path may overlap: a slice counts once.
    of_path.sort_unstable();
    of_path.dedup();
    for of_device in of_path.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        let mut covered_until_ns = i64::MIN;
        for (path, _, _, idx) in of_device {
            let (span, row) = (work.rows[*idx].span.intersect(derived.window()), &mut rows[*path as usize]);
            row.device_busy_ns += Span::new(span.start_ns.max(covered_until_ns), span.end_ns).dur_ns();
            row.n_work += 1;
            covered_until_ns = covered_until_ns.max(span.end_ns);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{check_abstains, check_table, check_table_with, in_window};

    fn check(text: &str, expected: &str) {
        let columns = ["path", "count", "total_ns", "device_busy_ns", "launches", "median_ns", "p99_ns"];
        check_table(&ANALYZER, text, "ranges", &columns, expected);
    }

    #[test]
    fn device_time_goes_to_all_ranges_around_the_launch() {
        // fwd of step 1 launches a 100..120; step 2 itself launches b 110..130 (10 more than a: 120..130).
        check(
            "thread 1 nvtx\n  nvtx_push_pop \"step 1\" 0 40\n  nvtx_push_pop fwd 5 20\n  nvtx_push_pop \"step 2\" 40 60\n\
             thread 1 api\n  api l 10 1 #1\n  api l 50 1 #2\n\
             stream 0:7\n  kernel a 100 20 #1\nstream 0:8\n  kernel b 110 20 #2",
            "step * | 2 | 100 | 30 | 2 | 50 | 60\nstep */fwd | 1 | 20 | 20 | 1 | 20 | 20",
        );
    }

    #[test]
    fn annotations_count_and_operators_do_not() {
        check(
            "thread 1 ops\n  annotation outer 0 50\n  op aten::mm 10 30\nthread 1 api\n  api l 15 1 #1\nstream 0:7\n  kernel a 20 5 #1",
            "outer | 1 | 50 | 5 | 1 | 50 | 50",
        );
    }

    #[test]
    fn each_device_counts_for_itself() {
        check(
            "thread 1 nvtx\n  nvtx_push_pop x 0 50\nthread 1 api\n  api l 15 1 #1\n  api l 16 1 #2\n\
             stream 0:7\n  kernel a 20 5 #1\nstream 1:7\n  kernel a 20 5 #2",
            "x | 1 | 50 | 10 | 2 | 50 | 50",
        );
    }

    #[test]
    fn start_end_ranges_get_what_their_process_launched() {
        // Two overlapping ranges of one name: a counts once.
        check(
            "process 9\nthread 1 nvtx_start_end\n  nvtx_start_end load 0 50\n  nvtx_start_end load 10 50\n\
             thread 5 api\n  api l 15 1 #1\n  api l 80 1 #2\nstream 0:7\n  kernel a 20 5 #1\n  kernel b 90 5 #2",
            "load | 2 | 100 | 5 | 1 | 50 | 50",
        );
    }

    #[test]
    fn equal_totals_go_by_path() {
        check(
            "thread 1 nvtx\n  nvtx_push_pop b 0 10\n  nvtx_push_pop a 10 10",
            "a | 1 | 10 | - | - | 10 | 10\nb | 1 | 10 | - | - | 10 | 10",
        );
    }

    #[test]
    fn a_window_takes_what_overlaps_it() {
        let text = "thread 1 nvtx\n  nvtx_push_pop a 0 10\n  nvtx_push_pop a 10 10\n  nvtx_push_pop a 20 10";
        check_table_with(&ANALYZER, text, &in_window(12, 18), "ranges", &["count", "total_ns"], "1 | 10");
    }

    #[test]
    fn without_ranges_it_says_how_to_mark_them() {
        check_abstains(&ANALYZER, "stream 0:7\n  kernel a 0 5", "record_function");
        check_abstains(&ANALYZER, "", "record_function");
    }
}
