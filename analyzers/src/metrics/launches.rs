//! Host against device: how many launches wait, and for how long each waited.

use rayon::prelude::*;
use rustc_hash::FxHashSet;
use tracecard_model::{SliceId, Span, Trace};

use super::series::Steps;
use crate::device_work::WorkRow;

/// What the launches of a device give.
#[derive(Debug, Default)]
pub(crate) struct Launches {
    /// Launches begun and not yet started on the device.
    pub(crate) queue: Steps,
    /// Start on the device less start of the launch, in ns, while what was launched runs, but not beyond the
    /// next start.
    pub(crate) delay: Steps,
    /// Work whose launch the file does not have.
    pub(crate) n_without: usize,
    /// Work that starts before its launch: clocks that differ. It is left out of both.
    pub(crate) n_negative: usize,
}

/// `rows` are the work of one device by start. O(n log n).
pub(crate) fn launches(trace: &Trace, rows: &[WorkRow], run: Span) -> Launches {
    let starts_ns = trace.slices.starts_ns();
    let mut found = Launches::default();
    let mut started: FxHashSet<SliceId> = FxHashSet::default();
    let mut changes: Vec<(i64, i64)> = Vec::with_capacity(rows.len() * 2);
    let mut last_launch = None;
    for row in rows {
        let Some(launch) = row.launch() else {
            found.n_without += 1;
            continue;
        };
        // The nodes of a graph share one launch; the first to start ends its wait.
        if !started.insert(launch) {
            if last_launch == Some(launch)
                && let Some(end_ns) = found.delay.ends_ns.last_mut()
            {
                *end_ns = row.span.end_ns.max(*end_ns);
            }
            continue;
        }
        let launch_ns = starts_ns[launch.idx()];
        let delay_ns = row.span.start_ns.saturating_sub(launch_ns);
        if delay_ns < 0 {
            found.n_negative += 1;
            continue;
        }
        changes.push((launch_ns, 1));
        changes.push((row.span.start_ns, -1));
        let delay = &mut found.delay;
        if delay.starts_ns.last() != Some(&row.span.start_ns) {
            if let Some(end_ns) = delay.ends_ns.last_mut() {
                *end_ns = row.span.start_ns.min(*end_ns);
            }
            last_launch = Some(launch);
            delay.starts_ns.push(row.span.start_ns);
            delay.ends_ns.push(row.span.end_ns);
            delay.values.push(delay_ns as f64);
            delay.slices.push(row.slice);
        }
    }
    changes.par_sort_unstable();
    let mut depth = 0;
    if changes.first().is_some_and(|first| run.start_ns < first.0) {
        found.queue.push_change(run.start_ns, 0.0);
    }
    for (t_ns, change) in changes {
        depth += change;
        found.queue.push_change(t_ns, depth as f64);
    }
    found.queue.last_ns = run.end_ns.max(found.queue.starts_ns.last().copied().unwrap_or(run.end_ns));
    found
}

#[cfg(test)]
mod tests {
    use tracecard_model::fixture;

    use super::*;
    use crate::device_work::DeviceWork;

    fn check(text: &str, queue: &str, delay: &str) -> Launches {
        let trace = fixture(text).unwrap();
        let work = DeviceWork::new(&trace);
        let found = launches(&trace, &work.rows, trace.span().unwrap());
        let text = |steps: &Steps| {
            let step = |(t, v): (&i64, &f64)| format!("{t}:{v}");
            steps.starts_ns.iter().zip(&steps.values).map(step).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(text(&found.queue), queue);
        assert_eq!(text(&found.delay), delay);
        found
    }

    #[test]
    fn the_queue_is_launches_begun_less_started() {
        // Launches at 2, 8, 14; starts at 20, 30, 40: 1, 2, 3, then down to 0. Delays 18, 22, 26.
        check(
            "thread 1 api\n  api l 0 1\n  api l 2 5 #1\n  api l 8 5 #2\n  api l 14 5 #3\n\
             stream 0:7\n  kernel a 20 10 #1\n  kernel b 30 10 #2\n  h2d c 40 10 #3",
            "0:0 2:1 8:2 14:3 20:2 30:1 40:0",
            "20:18 30:22 40:26",
        );
    }

    #[test]
    fn a_graph_is_one_launch() {
        check(
            "thread 1 api\n  api cudaGraphLaunch 0 5 #1\nstream 0:7\n  kernel a 10 5 #1\n  kernel b 20 5 #1",
            "0:1 10:0",
            "10:10",
        );
    }

    #[test]
    fn a_delay_holds_while_what_was_launched_runs() {
        // The graph's nodes run 10..15 and 20..25; b starts at 40 while c is to come at 45.
        let found = check(
            "thread 1 api
  api cudaGraphLaunch 0 5 #1
  api l 6 1 #2
  api l 8 1 #3
\
             stream 0:7
  kernel n1 10 5 #1
  kernel n2 20 5 #1
  kernel b 40 10 #2
stream 0:8
  kernel c 45 2 #3",
            "0:1 6:2 8:3 10:2 40:1 45:0",
            "10:10 40:34 45:37",
        );
        assert_eq!(found.delay.ends_ns, [25, 45, 47]);
    }

    #[test]
    fn clocks_that_differ_and_missing_launches_are_counted() {
        let found =
            check("thread 1 api\n  api l 50 5 #1\nstream 0:7\n  kernel a 10 5 #1\n  kernel b 20 5", "", "");
        assert_eq!((found.n_without, found.n_negative), (1, 1));
    }

    #[test]
    fn a_start_at_the_launch_of_the_next_does_not_dip() {
        // At 10 one starts and one is launched: the depth stays 1.
        check(
            "thread 1 api\n  api l 0 5 #1\n  api l 10 5 #2\nstream 0:7\n  kernel a 10 5 #1\n  kernel b 15 5 #2",
            "0:1 15:0",
            "10:10 15:5",
        );
    }
}
