//! Can the numbers be trusted? What importing met, and what the run itself shows.

use tracecard_model::{
    Issue, IssueLog, LinkKind, Progress, Severity, SliceFlags, SliceId, SliceKind, TrackFamily, TrackId,
};

use crate::normalise::api_name;
use crate::{AnalyzeError, Analyzer, Column, Input, Outcome, Table, Unit};

/// Every doubt about the run, gravest first. It speaks of the whole run, whatever the window, and never
/// abstains: no doubts are an empty table.
pub(crate) const ANALYZER: Analyzer = Analyzer { id: "health", title: "Trace health", run };

/// One line: an issue, and a slice that shows it.
struct Finding {
    issue: Issue,
    slice: Option<SliceId>,
}

/// Collects findings; nothing when the count is 0.
#[derive(Default)]
struct Findings(Vec<Finding>);

impl Findings {
    fn add(
        &mut self,
        n: u64,
        severity: Severity,
        code: &'static str,
        text: &str,
        example: Option<(String, SliceId)>,
    ) {
        let mut log = IssueLog::default();
        let slice = example.as_ref().map(|example| example.1);
        log.count_n(n, severity, code, text, || example.map_or_else(String::new, |example| example.0));
        self.0.extend(log.into_sorted().into_iter().map(|issue| Finding { issue, slice }));
    }
}

fn run(input: &Input<'_>, progress: &Progress) -> Result<Outcome, AnalyzeError> {
    let mut findings = Findings::default();
    findings.0.extend(input.trace.issues.iter().map(|issue| Finding { issue: issue.clone(), slice: None }));
    check_launches(input, &mut findings);
    check_device_work(input, &mut findings);
    progress.check()?;
    check_streams(input, &mut findings);
    check_unknown_device(input, &mut findings);
    check_api_errors(input, &mut findings);
    progress.check()?;
    check_host(input, &mut findings);
    check_steps(input, &mut findings);
    check_clock(input, &mut findings);
    findings.0.sort_by(|a, b| b.issue.severity.cmp(&a.issue.severity).then(a.issue.code.cmp(b.issue.code)));
    Ok(Outcome::Done(vec![table(&findings.0)]))
}

/// Is it a call that enqueues a kernel or a graph?
fn is_kernel_launch(name: &str) -> bool {
    let name = api_name(name);
    [
        "cudaLaunch",
        "cuLaunchKernel",
        "cuLaunchCooperative",
        "hipLaunch",
        "hipExtLaunch",
        "hipModuleLaunch",
        "hipExtModuleLaunch",
    ]
    .iter()
    .any(|prefix| name.starts_with(prefix))
        && !name.contains("HostFunc")
        || name.contains("GraphLaunch")
}

/// API calls without device work where there should be some.
fn check_launches(input: &Input<'_>, findings: &mut Findings) {
    let trace = input.trace;
    let mut is_launch: Vec<Option<bool>> = vec![None; trace.names.len()];
    let mut is_linked = vec![false; trace.slices.len()];
    for (kind, from, _) in trace.links.rows() {
        is_linked[from.idx()] |= *kind == LinkKind::Launch;
    }
    let (mut n_launches, mut lost, mut first) = (0_u64, 0_u64, None);
    for (idx, kind) in trace.slices.kinds().iter().enumerate() {
        if *kind != SliceKind::Api {
            continue;
        }
        let name = trace.slices.names()[idx];
        if !*is_launch[name.idx()].get_or_insert_with(|| is_kernel_launch(trace.names.text(name))) {
            continue;
        }
        n_launches += 1;
        let slice = SliceId::from_idx(idx);
        // A driver call inside a linked runtime call is the same launch.
        let is_inside_linked = trace.slices.parent(slice).is_some_and(|parent| is_linked[parent.idx()]);
        if !is_linked[idx] && !is_inside_linked && trace.api_errors.get(slice).is_none() {
            lost += 1;
            first.get_or_insert_with(|| (trace.name(slice).to_owned(), slice));
        }
    }
    if input.derived.work().rows.is_empty() {
        let text = "kernels were launched and the file has no device work at all: the device was not recorded, it was not idle \
             (forked workers, static CUDA runtime, WSL, a graph-only capture or a sticky CUDA error are the usual causes)";
        findings.add(n_launches, Severity::DataLoss, "no_device_activity", text, first);
    } else {
        let text = "launches have no device work in the file: the kernels ran after the capture ended or were dropped; \
             idle time may be too high";
        findings.add(lost, Severity::Warning, "launches_without_device_work", text, first);
    }
}

/// Device work whose launch is missing or comes later than the work.
fn check_device_work(input: &Input<'_>, findings: &mut Findings) {
    let (trace, work) = (input.trace, input.derived.work());
    let example = |slice: SliceId| (trace.name(slice).to_owned(), slice);
    let (mut n_before, mut before) = (0_u64, None);
    let (mut n_orphans, mut orphan) = (0_u64, None);
    let (mut n_early, mut earliest) = (0_u64, None);
    for (device, range) in &work.devices {
        let rows = &work.rows[range.clone()];
        let n_before_here = before_capture_rows(input, *device, rows.len());
        n_before += n_before_here as u64;
        before = before.or_else(|| rows.first().filter(|_| 0 < n_before_here).map(|row| example(row.slice)));
        for row in &rows[n_before_here..] {
            match row.launch() {
                None if !is_migration(input, row.slice) => {
                    n_orphans += 1;
                    orphan.get_or_insert_with(|| example(row.slice));
                }
                Some(launch) => {
                    let early_ns = trace.slices.starts_ns()[launch.idx()] - row.span.start_ns;
                    if 0 < early_ns {
                        n_early += 1;
                        if earliest.as_ref().is_none_or(|(most_ns, _)| *most_ns < early_ns) {
                            earliest = Some((early_ns, row.slice));
                        }
                    }
                }
                None => {}
            }
        }
    }
    let text = "slices of device work were launched before the capture began; they count on the device and in no step and no operator";
    findings.add(n_before, Severity::Info, "launched_before_capture", text, before);
    let text = "slices of device work have no launch in the file; they belong to no operator and the idle time before them has no known cause";
    findings.add(n_orphans, Severity::Warning, "device_work_without_launch", text, orphan);
    let text = "kernels start before the call that launched them: the clocks of host and device differ; launch delays are not reliable";
    let example = earliest.map(|(ns, slice)| (format!("{} {ns} ns early", trace.name(slice)), slice));
    findings.add(n_early, Severity::Warning, "clock_skew", text, example);
}

/// How many of a device's first rows were launched before the capture: all before the first with a launch.
fn before_capture_rows(input: &Input<'_>, device: tracecard_model::DeviceId, n_rows: usize) -> usize {
    let work = input.derived.work();
    let range = work.devices.iter().find(|(id, _)| *id == device).map_or(0..0, |(_, range)| range.clone());
    let n = work.rows[range].iter().take_while(|row| row.launch().is_none()).count();
    if n == n_rows { 0 } else { n }
}

/// Pages of unified memory move without a call.
fn is_migration(input: &Input<'_>, slice: SliceId) -> bool {
    input.trace.copies.get(slice).is_some_and(|copy| copy.is_migration)
}

/// An overrun of a stream's next slice by more than this is no rounding and no programmatic launch.
const OVERRUN_MIN_NS: i64 = 50_000;
/// … and by more than this part of the stream's whole time.
const OVERRUN_MIN_FRAC: f64 = 0.05;

/// Slices that run over the next one on their stream: some ROCm versions write impossible durations.
fn check_streams(input: &Input<'_>, findings: &mut Findings) {
    let trace = input.trace;
    let (mut n, mut worst) = (0_u64, None);
    for (idx, _) in
        trace.tracks.iter().enumerate().filter(|(_, track)| track.key.family == TrackFamily::Stream)
    {
        let mut total_ns = 0_i64;
        let mut overruns: Vec<(i64, SliceId)> = Vec::new();
        let mut before: Option<SliceId> = None;
        for slice in trace.slices_on(TrackId::from_idx(idx)) {
            let span = trace.slices.span(slice);
            total_ns = total_ns.saturating_add(span.dur_ns());
            if let Some(before) = before {
                let over_ns = trace.slices.span(before).end_ns - span.start_ns;
                if OVERRUN_MIN_NS < over_ns {
                    overruns.push((over_ns, before));
                }
            }
            before = Some(slice);
        }
        for (over_ns, slice) in overruns {
            if (total_ns as f64) * OVERRUN_MIN_FRAC < over_ns as f64 {
                n += 1;
                worst = worst.max(Some((over_ns, slice)));
            }
        }
    }
    let text = "slices run far over the next one on their stream, which a stream cannot do: their durations are suspect";
    let example = worst.map(|(ns, slice)| (format!("{} by {ns} ns", trace.name(slice)), slice));
    findings.add(n, Severity::Warning, "stream_overrun", text, example);
}

/// Work of an unknown device (a graph that began on the host, a table without device column) is in no
/// device's time: it must not vanish in silence.
fn check_unknown_device(input: &Input<'_>, findings: &mut Findings) {
    let trace = input.trace;
    let is_lost = |slice: &SliceId| {
        trace.slices.kinds()[slice.idx()].is_device_work() && trace.track_of(*slice).key.device.is_none()
    };
    let mut lost = trace.slice_ids().filter(is_lost);
    let first = lost.next().map(|slice| (trace.name(slice).to_owned(), slice));
    let n = lost.count() as u64 + u64::from(first.is_some());
    let text =
        "the file does not say on which device work ran; it is shown in the timeline but in no device's time";
    findings.add(n, Severity::DataLoss, "device_unknown", text, first);
}

fn check_api_errors(input: &Input<'_>, findings: &mut Findings) {
    let trace = input.trace;
    let first = trace.api_errors.iter().next();
    let example = first.map(|(slice, code)| (format!("{} returned {code}", trace.name(slice)), slice));
    let text = "CUDA calls returned errors; what follows a failed launch may be missing or meaningless";
    findings.add(trace.api_errors.len() as u64, Severity::Warning, "api_errors", text, example);
}

fn check_host(input: &Input<'_>, findings: &mut Findings) {
    let trace = input.trace;
    // That threads run when the capture ends is no doubt.
    let is_unclosed = |(flags, kind): (&SliceFlags, &SliceKind)| {
        flags.has(SliceFlags::UNCLOSED) && *kind != SliceKind::Running
    };
    let mut slices = trace.slices.flags().iter().zip(trace.slices.kinds());
    let first = slices.position(is_unclosed).map(SliceId::from_idx);
    let n = slices.filter(|slice| is_unclosed(*slice)).count() as u64 + u64::from(first.is_some());
    let text =
        "slices were still open when the capture ended; they end with it, so their durations are too short";
    findings.add(
        n,
        Severity::Info,
        "unclosed_slices",
        text,
        first.map(|slice| (trace.name(slice).to_owned(), slice)),
    );

    let has_shapes =
        trace.ops.iter().any(|(_, op)| op.args.is_some_and(|args| trace.args.get(args).dims.is_some()));
    let n_ops = trace.slices.kinds().iter().filter(|kind| **kind == SliceKind::Op).count() as u64;
    if !has_shapes {
        let text = "operators have no input shapes: FLOPs, bytes and rows by shape are not known; record with record_shapes=True";
        findings.add(n_ops, Severity::Info, "no_shapes", text, None);
    }
}

/// Fewer steady steps say little about the next run.
const MIN_STEADY: usize = 3;

fn check_steps(input: &Input<'_>, findings: &mut Findings) {
    let Ok(steps) = input.derived.steps() else { return };
    let Some(fewest) = steps.main_stats(|_| true).iter().map(|stats| stats.steady).min() else { return };
    if fewest < MIN_STEADY {
        let n = MIN_STEADY - fewest;
        let text = "the capture has fewer than 3 steady steps of the most frequent kind: step times are only a hint; record more steps after warming up";
        findings.add(n as u64, Severity::Warning, "short_capture", text, None);
    }
}

fn check_clock(input: &Input<'_>, findings: &mut Findings) {
    let resolution_ns = input.trace.meta.resolution_ns;
    if 1_000 <= resolution_ns && !input.trace.slices.is_empty() {
        let text =
            "time stamps are whole microseconds: kernels of a few µs and the gaps between them are rounded";
        findings.add(1, Severity::Info, "coarse_clock", text, None);
    }
    let work = input.derived.work();
    let n_concurrent: u64 = work
        .devices
        .iter()
        .map(|(_, range)| {
            let mut end_ns = i64::MIN;
            let rows = work.rows[range.clone()].iter();
            rows.filter(|row| {
                let is_over = row.span.start_ns < end_ns && !row.span.is_empty();
                end_ns = end_ns.max(row.span.end_ns);
                is_over
            })
            .count() as u64
        })
        .sum();
    let text = "slices start while others run on the same device: durations add up to more than the time that passed; wall times add up exactly";
    findings.add(n_concurrent, Severity::Info, "concurrent_device_work", text, None);
}

fn table(findings: &[Finding]) -> Table {
    let text = |id, title, doc, value: fn(&Issue) -> Option<String>| {
        Column::texts(id, title, doc, findings.iter().map(|f| value(&f.issue)))
    };
    let columns = vec![
        text("code", "Code", "Stable name of the doubt", |i| Some(i.code.to_owned())),
        text(
            "severity",
            "Severity",
            "info (no number is affected), warning (some are less sure), data_loss (something that happened is not in the numbers)",
            |i| Some(i.severity.text().to_owned()),
        ),
        Column::ints(
            "count",
            "Count",
            Unit::Count,
            "How many times",
            findings.iter().map(|f| i64::try_from(f.issue.count).ok()),
        ),
        text("text", "What it means", "What was met and what it means for the numbers", |i| {
            Some(i.text.clone())
        }),
        text(
            "example",
            "Example",
            "One of them, as the file has it; unknown where there is nothing to show",
            |i| i.example.clone(),
        ),
        Column::slices(
            "slice",
            "Where",
            "A slice that shows it; unknown where none does",
            findings.iter().map(|f| f.slice),
        ),
    ];
    Table { id: "health", title: "Trace health", columns }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::check_table;

    fn check(text: &str, expected: &str) {
        check_table(&ANALYZER, text, "health", &["severity", "code", "count", "example"], expected);
    }

    #[test]
    fn nothing_to_say_is_an_empty_table() {
        check("thread 1 api\n  api cudaLaunchKernel 0 5 #1\nstream 0:7\n  kernel a 10 5 #1", "");
        check("", "");
    }

    #[test]
    fn launches_and_work_that_do_not_find_each_other() {
        // old ran before the first launched work; late has no launch; early starts 3 ns before its launch;
        // the call at 60 has no kernel, the one at 70 failed.
        check(
            "thread 1 api\n  api cudaLaunchKernel 10 5 #1\n  api cudaLaunchKernel 33 5 #2\n  api cudaLaunchKernel 60 5 #3\n\
             \x20 api cudaLaunchKernel 70 5 #4 error=700\n\
             stream 0:7\n  kernel old 0 5\n  kernel a 20 5 #1\n  kernel early 30 5 #2\n  kernel late 40 5",
            "warning | api_errors | 1 | cudaLaunchKernel returned 700\n\
             warning | clock_skew | 1 | early 3 ns early\n\
             warning | device_work_without_launch | 1 | late\n\
             warning | launches_without_device_work | 1 | cudaLaunchKernel\n\
             info | launched_before_capture | 1 | old",
        );
    }

    #[test]
    fn a_device_that_was_not_recorded_is_not_idle() {
        check(
            "thread 1 api\n  api cudaLaunchKernel 0 5 #1\n  api cuLaunchKernel 1 3",
            "data_loss | no_device_activity | 2 | cudaLaunchKernel",
        );
    }

    #[test]
    fn a_driver_call_inside_a_runtime_call_is_the_same_launch() {
        check(
            "thread 1 api\n  api cudaLaunchKernel 0 5 #1\n  api cuLaunchKernel 1 3\nstream 0:7\n  kernel a 10 5 #1",
            "",
        );
    }

    #[test]
    fn impossible_durations_on_a_stream() {
        // 100 µs over the next slice: more than 50 µs and 5 % of 140 µs.
        check(
            "thread 1 api\n  api hipLaunchKernel 0 5 #1\n  api hipLaunchKernel 5 5 #2\n\
             stream 0:7\n  kernel a 10000 120000 #1\n  kernel b 30000 20000 #2",
            "warning | stream_overrun | 1 | a by 100000 ns\ninfo | concurrent_device_work | 1 | -\ninfo | overlapping_device_slices | 1 | stream 7",
        );
    }

    #[test]
    fn short_captures_and_coarse_clocks() {
        check(
            "resolution 1000\nthread 1 ops\n  annotation ProfilerStep#1 0 50\nthread 1 api\n  api cudaLaunchKernel 0 5 #1\n\
             stream 0:7\n  kernel a 10 5 #1\nthread 2 ops\n  op x 0 5 unclosed",
            "warning | short_capture | 2 | -\ninfo | coarse_clock | 1 | -\ninfo | no_shapes | 1 | -\ninfo | unclosed_slices | 1 | x",
        );
    }

    #[test]
    fn a_thread_that_runs_when_the_capture_ends_is_no_doubt() {
        check("thread 1 scheduling\n  running \"CPU 0\" 0 5 unclosed", "");
    }

    #[test]
    fn equal_severities_go_by_code() {
        check(
            "thread 1 api\n  api cudaLaunchKernel 0 5 #1\n  api cudaLaunchKernel 10 5 #2\n\
             stream 0:7\n  kernel a 10 50 #1\nstream 0:8\n  kernel b 20 50 #2\nthread 2 ops\n  op x 0 5 unclosed",
            "info | concurrent_device_work | 1 | -\ninfo | no_shapes | 1 | -\ninfo | unclosed_slices | 1 | x",
        );
    }
}
