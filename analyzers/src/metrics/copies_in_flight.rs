//! How much is on its way between host and device: each copy's bytes over its duration, summed over the copies
//! in flight.

use tracecard_model::{CopyKind, Span, Trace};

use super::series::Steps;
use crate::device_work::WorkRow;

/// Bytes per second of the copies of one direction; `None` where there are none with a size and a duration.
/// `rows` are the work of one device by start. O(n log n).
pub(crate) fn copies_in_flight(trace: &Trace, rows: &[WorkRow], kind: CopyKind, run: Span) -> Option<Steps> {
    let mut changes: Vec<(i64, bool, f64)> = Vec::new();
    for row in rows {
        let Some(copy) = trace.copies.get(row.slice).filter(|copy| copy.kind == kind) else { continue };
        let (Some(bytes), dur_ns) = (copy.bytes, row.span.dur_ns()) else { continue };
        if 0 < dur_ns {
            let rate = bytes as f64 / (dur_ns as f64 / 1e9);
            changes.push((row.span.start_ns, true, rate));
            changes.push((row.span.end_ns, false, rate));
        }
    }
    if changes.is_empty() {
        return None;
    }
    changes.sort_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2)));
    let mut steps = Steps { last_ns: run.end_ns, ..Steps::default() };
    let (mut n_in_flight, mut rate) = (0_usize, 0.0);
    if changes.first().is_some_and(|first| run.start_ns < first.0) {
        steps.push_change(run.start_ns, 0.0);
    }
    for (t_ns, is_start, change) in changes {
        if is_start {
            n_in_flight += 1;
            rate += change;
        } else {
            n_in_flight -= 1;
            // Sums of floats do not return to 0 by themselves.
            rate = if n_in_flight == 0 { 0.0 } else { rate - change };
        }
        steps.push_change(t_ns, rate);
    }
    // What begins with the end of the run holds for no time.
    if steps.starts_ns.last() == Some(&run.end_ns) {
        steps.starts_ns.pop();
        steps.values.pop();
    }
    Some(steps)
}

#[cfg(test)]
mod tests {
    use tracecard_model::fixture;

    use super::*;
    use crate::device_work::DeviceWork;

    fn check(text: &str, kind: CopyKind, expected: Option<&str>) {
        let trace = fixture(text).unwrap();
        let work = DeviceWork::new(&trace);
        let steps = copies_in_flight(&trace, &work.rows, kind, trace.span().unwrap());
        let step = |(t, v): (&i64, &f64)| format!("{t}:{v}");
        let text = |s: Steps| s.starts_ns.iter().zip(&s.values).map(step).collect::<Vec<_>>().join(" ");
        assert_eq!(steps.map(text).as_deref(), expected);
    }

    const COPIES: &str = "stream 0:7\n  kernel k 0 1\n  h2d a 10 10 bytes=100\nstream 0:8\n  h2d b 15 10 bytes=50\n\
                          \x20 d2h c 50 10 bytes=10\n  h2d unknown 70 5\n  h2d quick 80 0 bytes=4";

    #[test]
    fn copies_at_once_add_up() {
        // 100 B in 10 ns are 10 GB/s, 50 B are 5 GB/s; the ends of a 20 and of b 25.
        check(COPIES, CopyKind::HostToDevice, Some("0:0 10:10000000000 15:15000000000 20:5000000000 25:0"));
        check(COPIES, CopyKind::DeviceToHost, Some("0:0 50:1000000000 60:0"));
    }

    #[test]
    fn no_copies_no_track() {
        check(COPIES, CopyKind::PeerToPeer, None);
        check("stream 0:7\n  h2d unknown 70 5", CopyKind::HostToDevice, None);
    }
}
