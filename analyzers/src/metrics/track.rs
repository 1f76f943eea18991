//! A metric of one device over time: where its values are, what they mean, and how they are judged.

use tracecard_model::{DeviceId, SliceId, Span, Trace, TrackId, Unit};

use super::pyramid::Pyramid;
use super::series::{Ends, SeriesView, Steps};

/// Where the numbers of a metric come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MetricKind {
    /// A tool sampled it.
    Measured,
    /// Computed from launch shapes and the limits of the device; what the device did may be less.
    Theoretical,
    /// Computed from slices and events of the file.
    Derived,
}

impl MetricKind {
    /// Said beside the title.
    pub fn text(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Theoretical => "theoretical",
            Self::Derived => "derived",
        }
    }
}

/// Which time a sample speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Covers {
    /// From the sample before to its own time stamp. The first sample covers nobody knows what, and is left out.
    SinceLast,
    /// From its time stamp to the next sample; the last one for as long as the one before it.
    UntilNext,
}

/// Where the values of a metric are.
#[derive(Clone, Debug, PartialEq)]
pub enum Series {
    /// Samples of a counter of the trace.
    Counter {
        /// The counter.
        track: TrackId,
        /// What a sample covers.
        covers: Covers,
        /// The usual time between two samples in ns; 0 where there are too few to say.
        period_ns: i64,
    },
    /// Computed values.
    Own(Steps),
    /// Nothing was captured.
    Absent {
        /// Why; a sentence.
        reason: String,
        /// What captures it; `None` where no command is known that does.
        command: Option<String>,
    },
}

/// Where values are good, and where a look pays; colour only.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bands {
    /// Above it all is well.
    pub good_above: Option<f64>,
    /// Below it a look pays.
    pub look_below: Option<f64>,
    /// Where low values are by design, so that nothing is marked; sorted, disjoint.
    pub quiet: Vec<Span>,
}

/// What a value is, by the bands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Above the limit for good.
    Good,
    /// Neither, or unknown.
    Plain,
    /// Below the limit for a look.
    Look,
}

impl Bands {
    /// The verdict on a value that holds in a stretch of time. O(log n).
    pub fn verdict(&self, value: f64, span: Span) -> Verdict {
        if self.good_above.is_some_and(|limit| limit < value) {
            return Verdict::Good;
        }
        if self.look_below.is_none_or(|limit| limit <= value) {
            return Verdict::Plain;
        }
        let at = self.quiet.partition_point(|quiet| quiet.end_ns <= span.start_ns);
        let is_quiet = self.quiet.get(at).is_some_and(|quiet| quiet.start_ns < span.end_ns);
        if is_quiet { Verdict::Plain } else { Verdict::Look }
    }
}

/// One metric of one device.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricTrack {
    /// Whose it is.
    pub device: DeviceId,
    /// Stable id, unique on the device: one of the catalog's, with a number where several counters share it.
    pub id: String,
    /// What the user reads.
    pub title: String,
    /// Unit of the values.
    pub unit: Unit,
    /// Where the numbers come from.
    pub kind: MetricKind,
    /// Is it among those that are shown at first?
    pub is_primary: bool,
    /// Limits; `None` where no value is better than another.
    pub bands: Option<Bands>,
    /// The values.
    pub series: Series,
    /// What one has to know to read it right; sentences.
    pub note: String,
    /// The counter that it is made of alone; `None` for what is computed from more.
    pub counter: Option<TrackId>,
    /// Summaries of the values, for drawing and statistics.
    pub pyramid: Pyramid,
}

/// In a series whose samples lie apart more than so many usual periods, nothing is known in between: the
/// sampler paused.
const HOLE_PERIODS: i64 = 5;

impl MetricTrack {
    /// The values in order of time; empty where there are none.
    pub fn view<'a>(&'a self, trace: &'a Trace) -> SeriesView<'a> {
        self.series.view(trace)
    }

    /// The slice that the value at an instant speaks of; `None` where values belong to no slices.
    pub fn slice_at(&self, trace: &Trace, t_ns: i64) -> Option<SliceId> {
        let Series::Own(steps) = &self.series else { return None };
        steps.slices.get(self.view(trace).index_at(t_ns)?).copied()
    }
}

impl Series {
    /// The values in order of time; empty where there are none. O(1).
    pub fn view<'a>(&'a self, trace: &'a Trace) -> SeriesView<'a> {
        match self {
            Self::Counter { track, covers, period_ns } => {
                let (times_ns, values) = trace.counters.of(*track);
                counter_view(times_ns, values, *covers, *period_ns)
            }
            Self::Own(steps) => steps.view(),
            Self::Absent { .. } => SeriesView::EMPTY,
        }
    }
}

/// The samples of a counter with what each covers. O(1).
pub fn counter_view<'a>(
    times_ns: &'a [i64],
    values: &'a [f64],
    covers: Covers,
    period_ns: i64,
) -> SeriesView<'a> {
    let hole_ns = if 0 < period_ns { period_ns.saturating_mul(HOLE_PERIODS) } else { i64::MAX };
    match (covers, times_ns, values) {
        (Covers::SinceLast, [starts_ns @ .., last_ns], [_, values @ ..]) => {
            let ends = Ends::Next { last_ns: *last_ns, hole_ns, after_hole_ns: 0 };
            SeriesView { starts_ns, values, ends }
        }
        (Covers::UntilNext, [.., last_ns], _) => {
            let before_ns = times_ns.iter().rev().nth(1);
            let held_ns = before_ns.map_or(0, |before_ns| last_ns.saturating_sub(*before_ns));
            let held_ns = if hole_ns < held_ns { period_ns } else { held_ns };
            let last_ns = last_ns.saturating_add(held_ns);
            SeriesView {
                starts_ns: times_ns,
                values,
                ends: Ends::Next { last_ns, hole_ns, after_hole_ns: period_ns },
            }
        }
        _ => SeriesView::EMPTY,
    }
}

/// More intervals than this say nothing new about the usual one.
const MAX_INTERVALS: usize = 1 << 16;

/// The usual time between two samples: the median; 0 for fewer than two. O(1) but for short series.
pub fn period_ns(times_ns: &[i64]) -> i64 {
    let step = times_ns.len() / MAX_INTERVALS + 1;
    let pairs = times_ns.windows(2).step_by(step);
    let mut intervals_ns: Vec<i64> =
        pairs.map(|pair| pair[1].saturating_sub(pair[0])).filter(|ns| 0 < *ns).collect();
    match intervals_ns.len() {
        0 => 0,
        n => *intervals_ns.select_nth_unstable(n / 2).1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(covers: Covers, period_ns: i64, times_ns: &[i64], values: &[f64]) -> String {
        let view = counter_view(times_ns, values, covers, period_ns);
        let step = |idx| {
            let span = view.span(idx);
            format!("{}..{}:{}", span.start_ns, span.end_ns, view.values[idx])
        };
        (0..view.len()).map(step).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_sample_covers_what_comes_after_it() {
        assert_eq!(text(Covers::UntilNext, 10, &[0, 10, 30], &[1., 2., 3.]), "0..10:1 10..30:2 30..50:3");
        assert_eq!(text(Covers::UntilNext, 0, &[7], &[1.]), "7..7:1");
        assert_eq!(text(Covers::UntilNext, 0, &[], &[]), "");
    }

    #[test]
    fn a_sample_covers_what_came_before_it_and_the_first_is_left_out() {
        assert_eq!(text(Covers::SinceLast, 10, &[0, 10, 30], &[9., 2., 3.]), "0..10:2 10..30:3");
        assert_eq!(text(Covers::SinceLast, 0, &[7], &[1.]), "");
    }

    #[test]
    fn over_a_hole_nothing_is_known() {
        // The period is 10: more than 50 apart is a hole. Before it the sample of 10 holds for one period;
        // after it, the sample of 100 covers nobody knows what.
        assert_eq!(text(Covers::UntilNext, 10, &[0, 10, 100], &[1., 2., 3.]), "0..10:1 10..20:2 100..110:3");
        assert_eq!(text(Covers::SinceLast, 10, &[0, 10, 100], &[1., 2., 3.]), "0..10:2 10..10:3");
    }

    #[test]
    fn the_period_is_the_median() {
        assert_eq!(period_ns(&[0, 10, 20, 30, 1000]), 10);
        assert_eq!(period_ns(&[5, 5]), 0);
        assert_eq!(period_ns(&[]), 0);
    }

    #[test]
    fn bands_are_quiet_where_low_values_are_by_design() {
        let bands = Bands { good_above: Some(0.7), look_below: Some(0.5), quiet: vec![Span::new(10, 20)] };
        assert_eq!(bands.verdict(0.71, Span::new(0, 5)), Verdict::Good);
        assert_eq!(bands.verdict(0.7, Span::new(0, 5)), Verdict::Plain);
        assert_eq!(bands.verdict(0.5, Span::new(0, 5)), Verdict::Plain);
        assert_eq!(bands.verdict(0.49, Span::new(0, 10)), Verdict::Look);
        assert_eq!(bands.verdict(0.49, Span::new(0, 11)), Verdict::Plain);
        assert_eq!(bands.verdict(0.49, Span::new(20, 30)), Verdict::Look);
    }
}
