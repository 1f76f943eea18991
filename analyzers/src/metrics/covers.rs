//! Which time a sample speaks of: the interval before its time stamp, or the one after it.
//!
//! Tools do not say it in the file. Where kernels are recorded beside the samples, the data tells: the share of
//! an interval in which kernels ran goes up and down with the SM activity of the right interval.

use tracecard_model::Trace;

use super::measured::Counter;
use super::track::Covers;
use crate::device_work::{Label, WorkRow};

/// What a device's samples cover, and how that is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Found {
    pub(crate) covers: Covers,
    is_from_data: bool,
}

/// With fewer pairs a correlation is chance.
const MIN_SAMPLES: usize = 50;
/// More than so many samples say nothing new.
const MAX_SAMPLES: usize = 200_000;
/// Correlations below this are no evidence …
const MIN_CORRELATION: f64 = 0.5;
/// … nor is a lead smaller than this.
const MIN_LEAD: f64 = 0.05;

impl Found {
    /// Said in the note of each track.
    pub(crate) fn note(self) -> &'static str {
        match (self.covers, self.is_from_data) {
            (Covers::SinceLast, true) => {
                "A sample speaks of the time since the one before, as the recorded kernels show."
            }
            (Covers::UntilNext, true) => {
                "A sample speaks of the time until the next, as the recorded kernels show."
            }
            (Covers::SinceLast, false) => {
                "A sample is taken to speak of the time since the one before, as nsys samples; this file alone \
                 does not show it."
            }
            (Covers::UntilNext, false) => "A value is taken to hold until the next sample.",
        }
    }
}

/// What the samples of a device cover. `rows` are its work by start.
pub(crate) fn find(trace: &Trace, counters: &[Counter], rows: &[WorkRow]) -> Found {
    let is_nsys = trace.meta.format.starts_with("nsys");
    let by_tool = if is_nsys { Covers::SinceLast } else { Covers::UntilNext };
    let default = Found { covers: by_tool, is_from_data: false };
    let activity = counters.iter().find(|counter| counter.what.entry.id == "sm_active");
    let Some(activity) = activity else { return default };
    let (times_ns, values) = trace.counters.of(activity.track);
    let mut busy = BusyTime { rows, at: 0, done_ns: 0, covered_until_ns: i64::MIN };
    // Busy ns of the run up to each sample; shares of intervals are differences.
    let n = times_ns.len().min(MAX_SAMPLES);
    let busy_ns: Vec<i64> = times_ns[..n].iter().map(|t| busy.until(*t)).collect();
    let share = |from: usize| {
        let length_ns = times_ns[from + 1] - times_ns[from];
        (0 < length_ns).then(|| (busy_ns[from + 1] - busy_ns[from]) as f64 / length_ns as f64)
    };
    let mut triples = Vec::new();
    for (idx, value) in values.iter().enumerate().take(n.saturating_sub(1)).skip(1) {
        if let (Some(before), Some(after)) = (share(idx - 1), share(idx)) {
            triples.push((*value, before, after));
        }
    }
    if triples.len() < MIN_SAMPLES {
        return default;
    }
    let before = correlation(triples.iter().map(|t| (t.0, t.1)));
    let after = correlation(triples.iter().map(|t| (t.0, t.2)));
    let (Some(before), Some(after)) = (before, after) else { return default };
    if before.max(after) < MIN_CORRELATION || (before - after).abs() < MIN_LEAD {
        return default;
    }
    let covers = if after < before { Covers::SinceLast } else { Covers::UntilNext };
    Found { covers, is_from_data: true }
}

/// A forward walk that adds up the union of spans.
struct BusyTime<'a> {
    rows: &'a [WorkRow],
    at: usize,
    done_ns: i64,
    /// The union up to here is in `done_ns` …
    covered_until_ns: i64,
}

impl BusyTime<'_> {
    /// Busy time before `t_ns`; instants come in ascending order.
    fn until(&mut self, t_ns: i64) -> i64 {
        while let Some(row) = self.rows.get(self.at).filter(|row| row.span.start_ns < t_ns) {
            let start_ns = row.span.start_ns.max(self.covered_until_ns);
            // Copies keep no SM busy.
            if row.label != Label::Copy && start_ns < row.span.end_ns {
                self.done_ns += row.span.end_ns - start_ns;
                self.covered_until_ns = row.span.end_ns;
            }
            self.at += 1;
        }
        // What reaches beyond the instant is not done yet: spans are joined in order, so the rest lies at the end.
        self.done_ns - (self.covered_until_ns.saturating_sub(t_ns)).max(0)
    }
}

/// Pearson's; `None` where one side does not vary.
fn correlation(pairs: impl Iterator<Item = (f64, f64)> + Clone) -> Option<f64> {
    let n = pairs.clone().count() as f64;
    let (sum_a, sum_b) = pairs.clone().fold((0.0, 0.0), |sum, pair| (sum.0 + pair.0, sum.1 + pair.1));
    let (mean_a, mean_b) = (sum_a / n, sum_b / n);
    let (mut ab, mut aa, mut bb) = (0.0, 0.0, 0.0);
    for (a, b) in pairs {
        let (a, b) = (a - mean_a, b - mean_b);
        ab += a * b;
        aa += a * a;
        bb += b * b;
    }
    let scale = (aa * bb).sqrt();
    (0.0 < scale).then(|| ab / scale)
}

#[cfg(test)]
mod tests {
    use tracecard_model::{DeviceId, fixture};

    use super::super::measured::counters;
    use super::*;
    use crate::device_work::DeviceWork;

    /// Kernels busy for a varying share of each 100 ns, and samples that say the share of the interval before
    /// (`lag` 0) or after (`lag` 1) their time.
    fn found(lag: usize) -> Found {
        let busy = |interval: usize| (interval * 37) % 90 + 5;
        let mut text = String::from("stream 0:7\n");
        for i in 0..100 {
            text.push_str(&format!("  kernel k {} {}\n", i * 100, busy(i)));
        }
        text.push_str("counter 0 frac \"SMs Active\"\n");
        for i in 1..99 {
            text.push_str(&format!("  {} {}\n", i * 100, busy(i - 1 + lag) as f64 / 100.0));
        }
        let trace = fixture(&text).unwrap();
        let work = DeviceWork::new(&trace);
        find(&trace, &counters(&trace, DeviceId(0)), &work.rows)
    }

    #[test]
    fn the_kernels_tell_what_a_sample_covers() {
        assert_eq!(found(0), Found { covers: Covers::SinceLast, is_from_data: true });
        assert_eq!(found(1), Found { covers: Covers::UntilNext, is_from_data: true });
    }

    #[test]
    fn without_evidence_the_tool_decides() {
        let trace = fixture("counter 0 frac \"SMs Active\"\n  0 0.5\n  10 1").unwrap();
        let found = find(&trace, &counters(&trace, DeviceId(0)), &[]);
        assert_eq!(found, Found { covers: Covers::UntilNext, is_from_data: false });
    }

    #[test]
    fn busy_time_is_the_union() {
        let trace =
            fixture("stream 0:7\n  kernel a 0 10\nstream 0:8\n  kernel b 5 10\n  kernel c 30 10").unwrap();
        let work = DeviceWork::new(&trace);
        let mut busy = BusyTime { rows: &work.rows, at: 0, done_ns: 0, covered_until_ns: i64::MIN };
        let at = [-5, 0, 3, 7, 12, 20, 35, 100].map(|t| busy.until(t));
        assert_eq!(at, [0, 0, 3, 7, 12, 15, 20, 25]);
    }
}
