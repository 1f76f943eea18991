//! Time ↔ x. All arithmetic is `f64` relative to the view start, so that a ns stays a ns far from 0.

use tracecard_model::Span;

/// The stretch of time a view shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// Whole ns of the left edge.
    pub start_ns: i64,
    /// The rest of the left edge, 0–1 ns, so that panning is smooth when a ns is wider than a pixel.
    pub sub_ns: f64,
    /// Length in ns; more than 0.
    pub width_ns: f64,
}

/// No view is shorter: below, not even one time stamp would be in it.
pub const MIN_WIDTH_NS: f64 = 10.0;

/// How far beyond both ends of the run a view may reach, as a share of its own width: so that the first
/// and the last slice can be brought to the middle.
const GUTTER: f64 = 0.5;

impl View {
    /// The view of exactly this span, at least [`MIN_WIDTH_NS`] long.
    pub fn of(span: Span) -> Self {
        let width_ns = (span.dur_ns() as f64).max(MIN_WIDTH_NS);
        Self { start_ns: span.start_ns, sub_ns: 0.0, width_ns }
    }

    /// The view of a span with some air on both sides.
    pub fn around(span: Span) -> Self {
        let view = Self::of(span);
        let air_ns = view.width_ns * 0.05;
        Self { width_ns: view.width_ns + 2.0 * air_ns, ..view }.moved_ns(-air_ns)
    }

    /// The whole ns that are at least partly in view.
    pub fn span(&self) -> Span {
        let end_ns = self.start_ns.saturating_add((self.sub_ns + self.width_ns).ceil() as i64);
        Span::new(self.start_ns, end_ns)
    }

    /// The same width, shifted.
    pub fn moved_ns(self, by_ns: f64) -> Self {
        let at_ns = self.sub_ns + by_ns;
        let whole_ns = at_ns.floor();
        Self {
            start_ns: self.start_ns.saturating_add(whole_ns as i64),
            sub_ns: at_ns - whole_ns,
            width_ns: self.width_ns,
        }
    }

    /// Zoomed in by `factor` (2 = half as much time) with the time at `at_frac` of the width staying put.
    pub fn zoomed(self, factor: f64, at_frac: f64) -> Self {
        let width_ns = (self.width_ns / factor).max(MIN_WIDTH_NS);
        Self { width_ns, ..self.moved_ns((self.width_ns - width_ns) * at_frac) }
    }

    /// The nearest view that is no wider than `run` with gutters and shows a part of it.
    pub fn within(self, run: Span) -> Self {
        let run_ns = (run.dur_ns() as f64).max(MIN_WIDTH_NS);
        let widest_ns = run_ns * (1.0 + 2.0 * GUTTER);
        let mut view = self;
        if widest_ns < view.width_ns {
            view = view.zoomed(view.width_ns / widest_ns, 0.5);
        }
        let gutter_ns = view.width_ns * GUTTER;
        let from_run_ns = (view.start_ns.saturating_sub(run.start_ns)) as f64 + view.sub_ns;
        let first_ns = -gutter_ns;
        let last_ns = run_ns - view.width_ns + gutter_ns;
        if from_run_ns < first_ns {
            view = view.moved_ns(first_ns - from_run_ns);
        } else if last_ns < from_run_ns {
            view = view.moved_ns(last_ns - from_run_ns);
        }
        view
    }
}

/// A view on a canvas: maps ns to points and back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeScale {
    view: View,
    left_pt: f64,
    width_pt: f64,
}

impl TimeScale {
    /// The view between two x; a canvas without width is treated as 1 point wide.
    pub fn new(view: View, left_pt: f32, width_pt: f32) -> Self {
        Self { view, left_pt: f64::from(left_pt), width_pt: f64::from(width_pt).max(1.0) }
    }

    /// The view.
    pub fn view(&self) -> View {
        self.view
    }

    /// ns a point is wide.
    pub fn ns_per_pt(&self) -> f64 {
        self.view.width_ns / self.width_pt
    }

    /// Where a time lies; may be far outside of the canvas.
    pub fn x_from_ns(&self, t_ns: i64) -> f32 {
        let from_start_ns = t_ns.saturating_sub(self.view.start_ns) as f64 - self.view.sub_ns;
        (self.left_pt + from_start_ns / self.ns_per_pt()) as f32
    }

    /// The time at an x, rounded down to a whole ns.
    pub fn ns_from_x(&self, x_pt: f32) -> i64 {
        let from_start_ns = (f64::from(x_pt) - self.left_pt) * self.ns_per_pt() + self.view.sub_ns;
        self.view.start_ns.saturating_add(from_start_ns.floor() as i64)
    }

    /// Where an x lies on the canvas: 0 the left edge, 1 the right one.
    pub fn frac_from_x(&self, x_pt: f32) -> f64 {
        (f64::from(x_pt) - self.left_pt) / self.width_pt
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(start_ns: i64, end_ns: i64) -> View {
        View::of(Span::new(start_ns, end_ns))
    }

    #[test]
    fn x_and_ns_are_inverse() {
        let scale = TimeScale::new(view(1_000, 2_000), 100.0, 500.0);
        assert_eq!(scale.x_from_ns(1_000), 100.0);
        assert_eq!(scale.x_from_ns(2_000), 600.0);
        assert_eq!(scale.ns_from_x(350.0), 1_500);
    }

    #[test]
    fn one_ns_is_told_apart_days_from_zero() {
        let day_ns = 86_400_000_000_000;
        let scale = TimeScale::new(view(30 * day_ns, 30 * day_ns + 10), 0.0, 1_000.0);
        assert_eq!(scale.x_from_ns(30 * day_ns + 1) - scale.x_from_ns(30 * day_ns), 100.0);
    }

    #[test]
    fn zoom_keeps_the_time_under_the_mouse() {
        let before = view(0, 1_000_000);
        let at_ns = |v: View, frac: f64| v.start_ns as f64 + v.sub_ns + v.width_ns * frac;
        let after = before.zoomed(7.3, 0.31);
        assert!((at_ns(before, 0.31) - at_ns(after, 0.31)).abs() < 1e-6);
        assert!((after.width_ns - 1_000_000.0 / 7.3).abs() < 1e-6);
    }

    #[test]
    fn zoom_ends_at_ten_ns_and_at_twice_the_run() {
        let run = Span::new(0, 1_000);
        assert_eq!(view(0, 1_000).zoomed(1e9, 0.5).width_ns, MIN_WIDTH_NS);
        assert_eq!(view(0, 1_000).zoomed(1e-9, 0.5).within(run).width_ns, 2_000.0);
    }

    #[test]
    fn panning_stops_when_half_of_the_view_is_empty() {
        let run = Span::new(0, 1_000);
        let left = view(0, 100).moved_ns(-1e6).within(run);
        assert_eq!((left.start_ns, left.width_ns), (-50, 100.0));
        let right = view(0, 100).moved_ns(1e6).within(run);
        assert_eq!(right.start_ns, 950);
    }

    #[test]
    fn a_run_of_no_length_can_be_shown() {
        let view = View::of(Span::new(5, 5)).within(Span::new(5, 5));
        assert_eq!(view.width_ns, MIN_WIDTH_NS);
    }
}
