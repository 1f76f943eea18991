//! What each instant of a device is spent on (SIG-2).
//!
//! Every instant of the window gets exactly one label, the first that fits: compute, communication, copy,
//! idle by cause. So compute + exposed communication + exposed copy + idle is the window, to the ns.
//! Instants that several slices of one label share belong to the earliest started one (ties: slice id):
//! that is a slice's *wall time*, which adds up where durations do not.

use rayon::prelude::*;
use tracecard_model::{DeviceId, Span, Spans, Trace};

use crate::device_work::{DeviceWork, Label, WorkRow};
use crate::idle::{Gap, gaps};

/// One device's window, labelled. All spans lie inside the window.
#[derive(Clone, Debug, PartialEq)]
pub struct DevicePartition {
    /// The device.
    pub device: DeviceId,
    /// The window that is labelled.
    pub window: Span,
    /// Where compute runs.
    pub compute: Spans,
    /// Where communication runs, covered by compute or not.
    pub communication: Spans,
    /// Where copies run, covered or not.
    pub copy: Spans,
    /// Communication that no compute covers.
    pub exposed_communication: Spans,
    /// Copies that neither compute nor communication covers.
    pub exposed_copy: Spans,
    /// The rest, by time.
    pub gaps: Vec<Gap>,
}

/// A stretch of a device's time by label. The parts add up to the stretch exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Split {
    /// Compute.
    pub compute_ns: i64,
    /// Communication that nothing covers.
    pub exposed_comm_ns: i64,
    /// Copies that nothing covers.
    pub exposed_copy_ns: i64,
    /// Idle, by [`crate::Cause::ALL`].
    pub idle_by_cause_ns: [i64; 5],
}

impl Split {
    /// All idle time.
    pub fn idle_ns(&self) -> i64 {
        self.idle_by_cause_ns.iter().sum()
    }

    /// All time that is not idle.
    pub fn busy_ns(&self) -> i64 {
        self.compute_ns + self.exposed_comm_ns + self.exposed_copy_ns
    }
}

impl DevicePartition {
    /// How the part of `span` inside the window is spent. O(log n + spans inside).
    pub fn split(&self, span: Span) -> Split {
        let mut idle_by_cause_ns = [0; 5];
        let first = self.gaps.partition_point(|gap| gap.span.end_ns <= span.start_ns);
        for gap in self.gaps[first..].iter().take_while(|gap| gap.span.start_ns < span.end_ns) {
            idle_by_cause_ns[gap.cause.idx()] += gap.span.intersect(span).dur_ns();
        }
        Split {
            compute_ns: within_ns(&self.compute, span),
            exposed_comm_ns: within_ns(&self.exposed_communication, span),
            exposed_copy_ns: within_ns(&self.exposed_copy, span),
            idle_by_cause_ns,
        }
    }
}

/// How much of `span` the spans cover. O(log n + spans inside).
fn within_ns(spans: &Spans, span: Span) -> i64 {
    let spans = spans.as_slice();
    let first = spans.partition_point(|s| s.end_ns <= span.start_ns);
    let inside = spans[first..].iter().take_while(|s| s.start_ns < span.end_ns);
    inside.map(|s| s.intersect(span).dur_ns()).sum()
}

/// The partition of every device that has work, and the wall time of each row of work.
#[derive(Debug, Default)]
pub(crate) struct Partitions {
    /// By device, in the order of [`DeviceWork::devices`].
    pub(crate) devices: Vec<DevicePartition>,
    /// By work index.
    pub(crate) wall_ns: Vec<i64>,
}

/// Label all devices. Causes are found on the whole run, so that a window that cuts a gap does not change
/// its cause. O(n) after the sort that [`DeviceWork`] holds.
pub(crate) fn partitions(trace: &Trace, work: &DeviceWork, run: Span, window: Span) -> Partitions {
    let parts: Vec<(DevicePartition, Vec<i64>)> = work
        .devices
        .par_iter()
        .filter_map(|(device, range)| Some((*device, work.rows.get(range.clone())?)))
        .map(|(device, rows)| partition(trace, device, rows, run, window))
        .collect();
    let mut partitions = Partitions::default();
    for (device, wall_ns) in parts {
        partitions.devices.push(device);
        partitions.wall_ns.extend(wall_ns);
    }
    partitions
}

fn partition(
    trace: &Trace,
    device: DeviceId,
    rows: &[WorkRow],
    run: Span,
    window: Span,
) -> (DevicePartition, Vec<i64>) {
    let busy = Spans::union_of(rows.iter().map(|row| row.span));
    let clip = |mut gap: Gap| {
        gap.span = gap.span.intersect(window);
        (!gap.span.is_empty()).then_some(gap)
    };
    let gaps = gaps(trace, rows, &busy, run).into_iter().filter_map(clip).collect();

    let mut wall_ns = vec![0; rows.len()];
    let mut owned = |label: Label, taken: &Spans| own(rows, label, window, taken, &mut wall_ns);
    let compute = owned(Label::Compute, &Spans::default());
    let communication = owned(Label::Communication, &compute);
    let covered = compute.union(&communication);
    let copy = owned(Label::Copy, &covered);
    let exposed_communication = communication.subtract(&compute);
    let exposed_copy = copy.subtract(&covered);
    let partition = DevicePartition {
        device,
        window,
        compute,
        communication,
        copy,
        exposed_communication,
        exposed_copy,
        gaps,
    };
    (partition, wall_ns)
}

/// The union of one label's work in the window. Instants that are not `taken` go to the earliest started
/// slice that runs then: since rows come by start, that is whoever reaches them first.
fn own(rows: &[WorkRow], label: Label, window: Span, taken: &Spans, wall_ns: &mut [i64]) -> Spans {
    let mut pieces = Vec::new();
    let mut owned_until_ns = window.start_ns;
    let mut taken = taken.as_slice();
    for (row, wall_ns) in rows.iter().zip(wall_ns) {
        if row.label != label {
            continue;
        }
        let piece = Span::new(row.span.start_ns.max(owned_until_ns), row.span.end_ns.min(window.end_ns));
        if piece.is_empty() {
            continue;
        }
        while let Some((_, rest)) = taken.split_first().filter(|(first, _)| first.end_ns <= piece.start_ns) {
            taken = rest;
        }
        let inside = taken.iter().take_while(|t| t.start_ns < piece.end_ns);
        let taken_ns: i64 = inside.map(|t| t.intersect(piece).dur_ns()).sum();
        *wall_ns = piece.dur_ns() - taken_ns;
        owned_until_ns = piece.end_ns;
        pieces.push(piece);
    }
    Spans::union_of(pieces)
}

#[cfg(test)]
mod tests {
    use tracecard_model::fixture;

    use super::*;
    use crate::Cause;

    fn partitions_of(trace: &Trace, window: Span) -> (DeviceWork, Partitions) {
        let work = DeviceWork::new(trace);
        let partitions = partitions(trace, &work, trace.span().unwrap(), window);
        (work, partitions)
    }

    fn check(text: &str, window: Option<Span>, expected: &str) {
        let trace = fixture(text).unwrap();
        let window = window.unwrap_or(trace.span().unwrap());
        let (work, partitions) = partitions_of(&trace, window);
        let mut lines = Vec::new();
        for (part, (_, range)) in partitions.devices.iter().zip(&work.devices) {
            let split = part.split(window);
            let idle: Vec<String> = Cause::ALL
                .iter()
                .zip(split.idle_by_cause_ns)
                .filter(|p| p.1 != 0)
                .map(|(c, ns)| format!("{} {ns}", c.text()))
                .collect();
            lines.push(format!(
                "compute {} comm {}/{} copy {}/{} idle {} ({})",
                split.compute_ns,
                split.exposed_comm_ns,
                part.communication.total_ns(),
                split.exposed_copy_ns,
                part.copy.total_ns(),
                split.idle_ns(),
                idle.join(", ")
            ));
            assert_eq!(split.busy_ns() + split.idle_ns(), window.dur_ns());
            for idx in range.clone() {
                let name = trace.name(work.rows[idx].slice);
                lines.push(format!("{name} wall {}", partitions.wall_ns[idx]));
            }
        }
        assert_eq!(lines.join("\n"), expected);
    }

    #[test]
    fn every_instant_gets_the_first_label_that_fits() {
        // 0    10   20   30   40   50   60   70
        // |gemm------|                          compute 0..20
        //      |nccl---------|                  comm 10..40: 20..40 exposed
        //                |h2d-----|             copy 30..50: 40..50 exposed
        //                               |gemm|  compute 60..70; 50..60 idle
        check(
            "stream 0:7\n  kernel gemm 0 20\n  kernel gemm 60 10\nstream 0:8\n  kernel ncclKernel 10 30\n\
             stream 0:9\n  h2d up 30 20",
            None,
            "compute 30 comm 20/30 copy 10/20 idle 10 (unknown 10)\n\
             gemm wall 20\nncclKernel wall 20\nup wall 10\ngemm wall 10",
        );
    }

    #[test]
    fn the_earliest_started_slice_owns_the_instant() {
        // a 0..10 owns all of it; b 2..20 owns 10..20; c 3..8 nothing; d 15..25 owns 20..25.
        check(
            "stream 0:7\n  kernel a 0 10\nstream 0:8\n  kernel b 2 18\nstream 0:9\n  kernel c 3 5\n  kernel d 15 10",
            None,
            "compute 25 comm 0/0 copy 0/0 idle 0 ()\na wall 10\nb wall 10\nc wall 0\nd wall 5",
        );
    }

    #[test]
    fn equal_starts_go_to_the_lower_slice() {
        check(
            "stream 0:7\n  kernel a 0 10\nstream 0:8\n  kernel b 0 15",
            None,
            "compute 15 comm 0/0 copy 0/0 idle 0 ()\na wall 10\nb wall 5",
        );
    }

    #[test]
    fn a_window_cuts_slices_and_gaps() {
        // Window 5..35: a 5..10, gap 10..30 whole, b 30..35. The cause of a cut gap is that of the whole one.
        check(
            "thread 1 api\n  api l 20 5 #1\nstream 0:7\n  kernel a 0 10\n  kernel b 30 10 #1",
            Some(Span::new(5, 35)),
            "compute 10 comm 0/0 copy 0/0 idle 20 (host_wait 20)\na wall 5\nb wall 5",
        );
        check(
            "thread 1 api\n  api l 20 5 #1\nstream 0:7\n  kernel a 0 10\n  kernel b 30 10 #1",
            Some(Span::new(12, 18)),
            "compute 0 comm 0/0 copy 0/0 idle 6 (host_wait 6)\na wall 0\nb wall 0",
        );
    }

    #[test]
    fn devices_are_apart_and_graph_bars_are_compute() {
        check(
            "stream 0:7\n  kernel a 0 10\n  d2d inner 10 5\n  memset set 15 5\ngraph 1:7\n  graph whole 5 15\n\
             stream 1:7\n  p2p peer 0 5",
            None,
            "compute 20 comm 0/0 copy 0/0 idle 0 ()\na wall 10\ninner wall 5\nset wall 5\n\
             compute 15 comm 5/5 copy 0/0 idle 0 ()\npeer wall 5\nwhole wall 15",
        );
    }

    #[test]
    fn without_work_there_is_no_device() {
        check("thread 1 ops\n  op x 0 5", None, "");
    }

    /// Random runs: the parts add up to the window, and wall times to the label's exposed time.
    #[test]
    fn sums_are_exact_on_random_runs() {
        // A small linear congruential generator (Knuth's MMIX constants); the high bits are good enough.
        let mut state = 20_260_101_u64;
        let mut random = move |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        for _ in 0..200 {
            let mut text = String::new();
            for (device, stream) in [(0, 7), (0, 8), (0, 9), (1, 7)] {
                text += &format!("stream {device}:{stream}\n");
                for _ in 0..random(12) {
                    let what = ["kernel k", "kernel nccl", "h2d c", "d2d c", "p2p c", "memset m"]
                        [random(6) as usize];
                    text += &format!("  {what} {} {} #{}\n", random(100), random(30), random(8));
                }
            }
            text += "thread 1 api\n";
            for correlation in 1..8 {
                text += &format!("  api l {} {} #{correlation}\n", random(100), random(20));
            }
            let trace = fixture(&text).unwrap();
            let run = trace.span().unwrap();
            let window = Span::new(run.start_ns + random(20) as i64, run.end_ns - random(20) as i64);
            for window in [run, window] {
                let (work, partitions) = partitions_of(&trace, window);
                for (part, (_, range)) in partitions.devices.iter().zip(&work.devices) {
                    let split = part.split(window);
                    assert_eq!(split.busy_ns() + split.idle_ns(), window.dur_ns(), "{text}");
                    for (label, expected) in [
                        (Label::Compute, split.compute_ns),
                        (Label::Communication, split.exposed_comm_ns),
                        (Label::Copy, split.exposed_copy_ns),
                    ] {
                        let owned = range.clone().filter(|idx| work.rows[*idx].label == label);
                        let wall_ns: i64 = owned.map(|idx| partitions.wall_ns[idx]).sum();
                        assert_eq!(wall_ns, expected, "{label:?} {window:?}\n{text}");
                    }
                    // Any cut of the window gives parts that add up again.
                    let cut_ns = window.start_ns + window.dur_ns() / 3;
                    let (a, b) = (Span::new(window.start_ns, cut_ns), Span::new(cut_ns, window.end_ns));
                    assert_eq!(part.split(a).compute_ns + part.split(b).compute_ns, split.compute_ns);
                    assert_eq!(part.split(a).idle_ns() + part.split(b).idle_ns(), split.idle_ns());
                }
            }
        }
    }
}
