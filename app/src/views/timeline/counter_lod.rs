//! Summaries of plain counters: for drawing and for the pills, without looking at every sample.

use tracecard_analyzers::metrics::{
    Covers, MetricColumn, Pyramid, SeriesView, Summary, counter_view, period_ns,
};
use tracecard_model::{Span, Trace, TrackFamily, TrackId};

/// The pyramids of all counters of a trace, by track, each with the usual time between samples.
#[derive(Clone, Debug, Default)]
pub struct CounterLod {
    pyramids: Vec<Option<(Pyramid, i64)>>,
}

impl CounterLod {
    /// O(samples).
    pub fn new(trace: &Trace) -> Self {
        let pyramid = |idx: usize| {
            let (times_ns, values) = trace.counters.of(TrackId::from_idx(idx));
            let period_ns = period_ns(times_ns);
            let view = counter_view(times_ns, values, Covers::UntilNext, period_ns);
            (!view.is_empty()).then(|| (Pyramid::new(&view), period_ns))
        };
        let is_counter =
            |idx: usize| trace.tracks.get(idx).is_some_and(|t| t.key.family == TrackFamily::Counter);
        let pyramids = (0..trace.tracks.len()).map(|idx| if is_counter(idx) { pyramid(idx) } else { None });
        Self { pyramids: pyramids.collect() }
    }

    /// Least and greatest value of a counter in the whole run; `None` where no sample holds for any time.
    pub fn range(&self, track: TrackId) -> Option<(f64, f64)> {
        let whole = self.pyramids.get(track.idx())?.as_ref()?.0.whole()?;
        Some((whole.min, whole.max))
    }

    /// What a counter is like in a window; `None` where nothing is known in it. O(log n).
    pub fn within(&self, trace: &Trace, track: TrackId, window: Span) -> Option<Summary> {
        let (pyramid, view) = self.parts(trace, track)?;
        pyramid.within(&view, window)
    }

    /// Columns of at least about `min_ns` that cover `[start_ns, end_ns)` from the first sample on, in order.
    /// A value holds until the next sample; the last one holds for the distance to the one before.
    pub fn columns(
        &self,
        trace: &Trace,
        track: TrackId,
        start_ns: i64,
        end_ns: i64,
        min_ns: f64,
    ) -> Vec<MetricColumn> {
        let Some((pyramid, view)) = self.parts(trace, track) else { return Vec::new() };
        pyramid.columns(&view, Span::new(start_ns, end_ns), min_ns)
    }

    fn parts<'a>(&'a self, trace: &'a Trace, track: TrackId) -> Option<(&'a Pyramid, SeriesView<'a>)> {
        let (pyramid, period_ns) = self.pyramids.get(track.idx())?.as_ref()?;
        let (times_ns, values) = trace.counters.of(track);
        Some((pyramid, counter_view(times_ns, values, Covers::UntilNext, *period_ns)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracecard_model::fixture;

    fn columns(samples: &str, start_ns: i64, end_ns: i64, min_ns: f64) -> String {
        let trace = fixture(&format!("counter 0 count c\n{}", samples.replace(", ", "\n"))).unwrap();
        let columns = CounterLod::new(&trace).columns(&trace, TrackId(0), start_ns, end_ns, min_ns);
        let text = |c: &MetricColumn| format!("{}..{}:{}-{}", c.start_ns, c.end_ns, c.min, c.max);
        columns.iter().map(text).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_value_holds_until_the_next_sample() {
        assert_eq!(columns("0 1, 10 3, 30 2", 0, 100, 1.0), "0..10:1-1 10..30:3-3 30..50:2-2");
        assert_eq!(columns("0 1, 10 3, 30 2", 15, 20, 1.0), "10..30:3-3");
        assert_eq!(columns("7 1", 0, 100, 1.0), "");
    }

    #[test]
    fn close_samples_share_a_column_with_their_extremes() {
        assert_eq!(
            columns("0 5, 4 1, 8 9, 12 4, 20 2, 40 2", 0, 50, 10.0),
            "0..20:1-9 20..40:2-2 40..60:2-2"
        );
    }

    #[test]
    fn a_window_has_its_own_mean() {
        let trace = fixture("counter 0 count c\n0 1\n10 3\n30 2").unwrap();
        let lod = CounterLod::new(&trace);
        // 5..20: 1 for 5 and 3 for 10: 35 / 15.
        let found = lod.within(&trace, TrackId(0), Span::new(5, 20)).unwrap();
        assert_eq!((found.min, found.max), (1.0, 3.0));
        assert!((found.mean - 35.0 / 15.0).abs() < 1e-12);
        assert!(lod.within(&trace, TrackId(0), Span::new(60, 70)).is_none());
    }
}
