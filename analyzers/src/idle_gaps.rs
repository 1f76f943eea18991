//! The long gaps one by one, each with its cause and what the launching thread did meanwhile (SIG-3).

use rustc_hash::FxHashMap;
use tracecard_model::{DeviceId, Progress, SliceId, Span, Trace, TrackFamily, TrackId};

use crate::attribution::{Thread, thread_of};
use crate::idle::{Cause, Gap};
use crate::kernels::NO_DEVICE_WORK;
use crate::normalise::{api_name, range_name};
use crate::{AnalyzeError, Analyzer, Column, Input, Outcome, Table, Unit};

/// Gaps worth looking at. Short ones are in the sums of `idle_by_cause`, where most idle time may lie.
pub(crate) const ANALYZER: Analyzer = Analyzer { id: "gaps", title: "Long gaps", run };

/// Gaps shorter than this are not listed …
const LISTED_MIN_NS: i64 = 1_000_000;
/// … nor those shorter than this part of the median step.
const LISTED_MIN_STEP_FRAC: f64 = 0.01;

struct Row {
    device: DeviceId,
    gap: Gap,
    host: Option<SliceId>,
}

fn run(input: &Input<'_>, progress: &Progress) -> Result<Outcome, AnalyzeError> {
    let (trace, derived) = (input.trace, input.derived);
    if derived.work().rows.is_empty() {
        return Ok(Outcome::Abstained(NO_DEVICE_WORK.to_owned()));
    }
    let step_ns =
        derived.steps().ok().and_then(|steps| steps.main_stats(|_| true).iter().map(|s| s.median_ns).max());
    let min_ns = LISTED_MIN_NS.max((step_ns.unwrap_or(0) as f64 * LISTED_MIN_STEP_FRAC) as i64);
    let host = Host::new(trace);
    let mut rows = Vec::new();
    for part in derived.partitions().iter().filter(|part| derived.is_shown(part.device)) {
        progress.check()?;
        rows.extend(part.gaps.iter().filter(|gap| min_ns <= gap.span.dur_ns()).map(|gap| {
            let host = if gap.cause == Cause::HostWait { host.activity(trace, gap) } else { None };
            Row { device: part.device, gap: *gap, host }
        }));
    }
    rows.sort_by_key(|row| {
        (std::cmp::Reverse(row.gap.span.dur_ns()), derived.device_rank(row.device), row.gap.span.start_ns)
    });
    Ok(Outcome::Done(vec![table(input, &rows)]))
}

/// Where to look for what a thread does, most telling first: a wait in MPI says more than the `poll` inside.
const FAMILIES: [TrackFamily; 5] =
    [TrackFamily::Api, TrackFamily::Library, TrackFamily::OsRuntime, TrackFamily::Ops, TrackFamily::Nvtx];

struct Host<'a> {
    /// By family; a thread has a track for each library.
    tracks: Vec<FxHashMap<Thread<'a>, Vec<TrackId>>>,
}

impl<'a> Host<'a> {
    fn new(trace: &'a Trace) -> Self {
        let of_family = |family: &TrackFamily| {
            let mut tracks: FxHashMap<Thread<'a>, Vec<TrackId>> = FxHashMap::default();
            for (idx, _) in trace.tracks.iter().enumerate().filter(|(_, t)| t.key.family == *family) {
                let track = TrackId::from_idx(idx);
                tracks.entry(thread_of(trace, track)).or_default().push(track);
            }
            tracks
        };
        Self { tracks: FAMILIES.iter().map(of_family).collect() }
    }

    /// The innermost slice that took at least half of the gap on the thread which launched what ended it.
    fn activity(&self, trace: &'a Trace, gap: &Gap) -> Option<SliceId> {
        let launch = trace.launch_of(gap.ended_by?)?;
        let thread = thread_of(trace, trace.slices.tracks()[launch.idx()]);
        let tracks = self.tracks.iter().filter_map(|tracks| tracks.get(&thread)).flatten();
        tracks.filter_map(|track| mostly(trace, *track, gap.span)).next()
    }
}

/// The innermost slice of a track that covers half of the span. It covers its middle, then.
fn mostly(trace: &Trace, track: TrackId, span: Span) -> Option<SliceId> {
    let range = trace.tracks.get(track.idx())?.range();
    let middle_ns = span.start_ns + span.dur_ns() / 2;
    let after = trace.slices.starts_ns()[range.clone()].partition_point(|start_ns| *start_ns <= middle_ns);
    let mut at = Some(SliceId::from_idx(range.start + after.checked_sub(1)?));
    while let Some(slice) = at {
        let covered_ns = trace.slices.span(slice).intersect(span).dur_ns();
        if span.dur_ns() <= covered_ns.saturating_mul(2) {
            return Some(slice);
        }
        at = trace.slices.parent(slice);
    }
    None
}

fn table(input: &Input<'_>, rows: &[Row]) -> Table {
    let trace = input.trace;
    let detail = |row: &Row| match (row.gap.cause, row.host) {
        (Cause::HostWait, Some(slice)) => Some(range_name(api_name(trace.name(slice))).into_owned()),
        (Cause::HostWait, None) if row.gap.ended_by.is_none() => Some("nothing more is launched".to_owned()),
        (Cause::HostWait, None) => Some("no recorded call takes half of it".to_owned()),
        _ => None,
    };
    let columns = vec![
        Column::ints(
            "device",
            "Device",
            Unit::Number,
            "Number of the device",
            rows.iter().map(|r| input.derived.device_number(r.device)),
        ),
        Column::texts(
            "cause",
            "Cause",
            "Why nothing ran, as in idle by cause",
            rows.iter().map(|r| Some(r.gap.cause.text().to_owned())),
        ),
        Column::ints(
            "start_ns",
            "Start",
            Unit::Ns,
            "When the device fell idle",
            rows.iter().map(|r| Some(r.gap.span.start_ns)),
        ),
        Column::ints(
            "dur_ns",
            "Length",
            Unit::Ns,
            "How long; gaps of at least 1 ms and 1 % of the median step are listed",
            rows.iter().map(|r| Some(r.gap.span.dur_ns())),
        ),
        Column::texts(
            "detail",
            "Host",
            "What took at least half of the gap on the thread whose launch ended it; unknown where the host was not the cause",
            rows.iter().map(detail),
        ),
        Column::slices("host", "Host slice", "That slice", rows.iter().map(|r| r.host)),
        Column::slices("example", "Ended by", "What ran next", rows.iter().map(|r| r.gap.ended_by)),
    ];
    Table { id: "gaps", title: "Long gaps", columns }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{check_abstains, check_table};

    fn check(text: &str, expected: &str) {
        check_table(&ANALYZER, text, "gaps", &["device", "cause", "start_ns", "dur_ns", "detail"], expected);
    }

    #[test]
    fn long_gaps_say_what_the_host_did() {
        // The gap 100..3000100 is mostly a synchronisation; the one before c of 2 ms holds only short calls;
        // the one before d is too short for the list.
        check(
            "thread 1 ops\n  op aten::item 1000 2900000\nthread 1 api\n  api l 0 10 #1\n  api cudaStreamSynchronize_v3020 2000 2800000\n\
             \x20 api l 3000000 10 #2\n  api l 5000000 10 #3\n  api l 5500000 10 #4\n\
             stream 0:7\n  kernel a 50 50 #1\n  kernel b 3000100 100 #2\n  kernel c 5000200 100 #3\n  kernel d 5600000 100 #4",
            "0 | host_wait | 100 | 3000000 | cudaStreamSynchronize\n\
             0 | host_wait | 3000200 | 2000000 | no recorded call takes half of it",
        );
    }

    #[test]
    fn a_wait_in_a_library_is_named_and_being_on_a_cpu_says_nothing() {
        // Both gaps of 2 ms: MPI takes the first; in the second the thread only ran, and a graphics device worked.
        check(
            "thread 1 api\n  api l 0 10 #1\n  api l 2100000 10 #2\n  api l 4200000 10 #3\n\
             thread 1 library\n  library MPI_Allreduce 1000 2000000\n\
             thread 1 os_runtime\n  os_runtime poll 1000 1999000\n\
             thread 1 scheduling\n  running \"CPU 0\" 0 4200000\n\
             thread 1 device_other\n  other frame 2200000 2000000\n\
             stream 0:7\n  kernel a 50 50 #1\n  kernel b 2100100 100 #2\n  kernel c 4200200 100 #3",
            "0 | host_wait | 100 | 2100000 | MPI_Allreduce\n\
             0 | host_wait | 2100200 | 2100000 | no recorded call takes half of it",
        );
    }

    #[test]
    fn equal_gaps_come_by_device_and_time() {
        check(
            "thread 1 ops\n  op x 0 2000010\nstream 0:7\n  kernel a 0 10\nstream 1:7\n  kernel a 2000000 10",
            "0 | unknown | 10 | 2000000 | -\n1 | unknown | 0 | 2000000 | -",
        );
    }

    #[test]
    fn short_gaps_are_an_empty_table_and_no_device_work_none() {
        check("stream 0:7\n  kernel a 0 10\n  kernel a 20 10", "");
        check_abstains(&ANALYZER, "thread 1 ops\n  op x 0 5", "no device work");
    }
}
