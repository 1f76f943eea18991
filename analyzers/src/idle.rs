//! Why a device is idle: the cause of each gap in its work (SIG-3).
//!
//! HTA's rule (`hta/analyzers/breakdown_analysis.py`) made device-wide: a gap is one of the whole device, not
//! of a stream. What decides is the slice that ends the gap and the API call that launched it.

use rustc_hash::FxHashSet;
use tracecard_model::{SliceId, Span, Spans, Trace};

use crate::device_work::WorkRow;

/// Why nothing ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// The host had not yet finished the launch of what ran next (or launched nothing more).
    HostWait,
    /// At most 5 µs between two slices whose launches were long done: the device's own launch latency.
    KernelWait,
    /// The launch was done, and yet the device waited: an event, another stream, a dependency.
    Other,
    /// Between two nodes of one graph replay.
    GraphInternal,
    /// The file has no launch for what ended the gap.
    Unknown,
}

impl Cause {
    /// Every cause, in the order shown.
    pub const ALL: [Self; 5] =
        [Self::HostWait, Self::KernelWait, Self::Other, Self::GraphInternal, Self::Unknown];

    /// The stable text used in reports.
    pub fn text(self) -> &'static str {
        match self {
            Self::HostWait => "host_wait",
            Self::KernelWait => "kernel_wait",
            Self::Other => "other",
            Self::GraphInternal => "graph_internal",
            Self::Unknown => "unknown",
        }
    }

    /// Its place in [`Self::ALL`].
    pub fn idx(self) -> usize {
        self as usize
    }
}

/// A stretch in which no slice ran on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// When, inside the window looked at.
    pub span: Span,
    /// Why.
    pub cause: Cause,
    /// What ran next; `None` after the last work of the run.
    pub ended_by: Option<SliceId>,
}

/// Longest gap that back-to-back launches explain, as in HTA.
const KERNEL_WAIT_MAX_NS: i64 = 5_000;

/// The gaps of one device in `run`. `rows` is its work by start, `busy` the union of that work.
///
/// Work without duration ends no gap: nothing ran. Before the first work the host had launched nothing
/// (host wait). After the last work nothing ends the gap, so its cause is unknown: the program may be over.
pub(crate) fn gaps(trace: &Trace, rows: &[WorkRow], busy: &Spans, run: Span) -> Vec<Gap> {
    let spans = busy.gaps(run);
    let mut gaps = Vec::with_capacity(spans.as_slice().len());
    let mut replays: FxHashSet<SliceId> = FxHashSet::default();
    let mut rows = rows.iter().filter(|row| !row.span.is_empty()).peekable();
    for span in spans.as_slice() {
        while let Some(row) = rows.next_if(|row| row.span.start_ns < span.end_ns) {
            replays.extend(row.launch().filter(|launch| is_graph_launch(trace, *launch)));
        }
        let ended_by = rows.peek();
        let cause = match ended_by {
            Some(row) => cause(trace, *span, row, &replays),
            None => Cause::Unknown,
        };
        gaps.push(Gap { span: *span, cause, ended_by: ended_by.map(|row| row.slice) });
    }
    gaps
}

fn cause(trace: &Trace, gap: Span, ended_by: &WorkRow, replays: &FxHashSet<SliceId>) -> Cause {
    let Some(launch) = ended_by.launch() else { return Cause::Unknown };
    if replays.contains(&launch) {
        return Cause::GraphInternal;
    }
    if gap.start_ns < trace.slices.span(launch).end_ns {
        Cause::HostWait
    } else if gap.dur_ns() <= KERNEL_WAIT_MAX_NS {
        Cause::KernelWait
    } else {
        Cause::Other
    }
}

/// Does the call replay a CUDA or HIP graph, whose nodes then share it as their launch?
pub(crate) fn is_graph_launch(trace: &Trace, launch: SliceId) -> bool {
    trace.name(launch).contains("GraphLaunch")
}

#[cfg(test)]
mod tests {
    use tracecard_model::fixture;

    use super::*;
    use crate::device_work::DeviceWork;

    fn check(text: &str, expected: &str) {
        let trace = fixture(text).unwrap();
        let work = DeviceWork::new(&trace);
        let busy = Spans::union_of(work.rows.iter().map(|row| row.span));
        let gaps = gaps(&trace, &work.rows, &busy, trace.span().unwrap());
        let lines: Vec<String> = gaps
            .iter()
            .map(|gap| {
                let ended_by = gap.ended_by.map_or("-", |slice| trace.name(slice));
                format!("{}..{} {} {ended_by}", gap.span.start_ns, gap.span.end_ns, gap.cause.text())
            })
            .collect();
        assert_eq!(lines.join("\n"), expected);
    }

    #[test]
    fn the_launch_of_what_ends_a_gap_decides() {
        // a: nothing ran before it and its launch took place inside the gap: host.
        // b: launched (ended at 12) before the gap began at 30; 5000 ns long: the device's latency.
        // c: launched before, 5001 ns: something else held it up.
        // d: its launch ended at 10102, after the gap began at 10091: host.
        // e: no launch in the file: unknown.
        check(
            "thread 1 api\n  api l 0 10 #1\n  api l 10 2 #2\n  api l 12 2 #3\n  api l 10100 2 #4\n\
             stream 0:7\n  kernel a 20 10 #1\n  kernel b 5030 30 #2\n  kernel c 10061 30 #3\n\
             kernel d 10110 10 #4\n  kernel e 10130 10",
            "0..20 host_wait a\n30..5030 kernel_wait b\n5060..10061 other c\n10091..10110 host_wait d\n\
             10120..10130 unknown e",
        );
    }

    #[test]
    fn gaps_are_of_the_device_and_not_of_a_stream() {
        check(
            "thread 1 api\n  api l 0 1 #1\n  api l 1 1 #2\n\
             stream 0:7\n  kernel a 2 10 #1\nstream 0:8\n  kernel b 5 20 #2",
            "0..2 host_wait a",
        );
    }

    #[test]
    fn inside_a_replay_the_graph_itself_waits() {
        // The first node waits for the host, the second inside the graph; a second replay begins anew.
        check(
            "thread 1 api\n  api cudaGraphLaunch 0 10 #1\n  api cudaGraphLaunch 100 10 #2\n\
             stream 0:7\n  kernel n1 20 10 #1\n  kernel n2 40 10 #1\n  kernel n1 120 10 #2\n  kernel n2 140 10 #2",
            "0..20 host_wait n1\n30..40 graph_internal n2\n50..120 host_wait n1\n130..140 graph_internal n2",
        );
    }

    #[test]
    fn after_the_last_work_the_cause_is_unknown() {
        check(
            "thread 1 api\n  api l 0 1 #1\n  api sync 2 98\nstream 0:7\n  kernel a 1 9 #1",
            "0..1 host_wait a\n10..100 unknown -",
        );
        // Without any launch in the file nobody knows.
        check("thread 1 ops\n  op x 0 100\nstream 0:7\n  kernel a 0 10", "10..100 unknown -");
    }

    #[test]
    fn of_two_slices_that_end_a_gap_the_first_decides() {
        check(
            "thread 1 api\n  api l 0 10 #1\nstream 0:7\n  kernel a 20 10 #1\nstream 0:8\n  kernel b 20 30",
            "0..20 host_wait a",
        );
    }

    #[test]
    fn work_without_duration_ends_no_gap() {
        check(
            "thread 1 api\n  api l 0 10 #1\nstream 0:7\n  kernel nothing 15 0\n  kernel a 20 10 #1",
            "0..20 host_wait a",
        );
    }
}
