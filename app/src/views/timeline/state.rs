//! What the timeline remembers: small, comparable, kept by undo and sessions.

use std::collections::BTreeSet;

use tracecard_model::{SliceId, Span, Trace};

use super::area::Area;
use super::model::{GroupKey, groups_of, is_open_at_first};
use super::search::Search;
use crate::command::Motion;
use crate::state::Wheel;
use crate::time_scale::View;

/// The state of the timeline.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// The stretch of time in view; `None`: the whole run.
    pub view: Option<View>,
    /// How far the lanes are scrolled up, in points.
    pub scroll_pt: f32,
    /// Groups that are not open or closed as they are at first.
    pub toggled: BTreeSet<GroupKey>,
    /// Width of the labels in points.
    pub labels_pt: f32,
    /// What the wheel does.
    pub wheel: Wheel,
    /// The selected stretch of time on some lanes.
    pub area: Option<Area>,
    /// The search; `None` when it is closed.
    pub search: Option<Search>,
    /// The stretches that were zoomed into one after another, outermost first.
    pub crumbs: Vec<Span>,
    /// A slice to scroll to as soon as the size of the canvas is known.
    pub reveal: Option<SliceId>,
}

impl Default for State {
    fn default() -> Self {
        Self {
            view: None,
            scroll_pt: 0.0,
            toggled: BTreeSet::new(),
            labels_pt: 190.0,
            wheel: Wheel::default(),
            area: None,
            search: None,
            crumbs: Vec::new(),
            reveal: None,
        }
    }
}

/// More crumbs would not fit into a line.
const MAX_CRUMBS: usize = 6;

/// A revealed slice gets at least this share of the width; what is that wide is left alone.
const MIN_REVEALED_FRAC: f64 = 0.02;

impl State {
    /// Forget what belongs to a run; keep what belongs to the user.
    pub fn reset_for_new_run(&mut self) {
        *self = Self { labels_pt: self.labels_pt, wheel: self.wheel, ..Self::default() };
    }

    /// The view of a run as it is now.
    pub fn current_view(&self, run: Span) -> View {
        self.view.unwrap_or_else(|| View::around(run)).within(run)
    }

    /// Show a stretch of time. Inside the one shown before it is a crumb more.
    pub fn show(&mut self, span: Span) {
        self.crumbs.retain(|crumb| crumb.hull(span) == *crumb && *crumb != span);
        if self.crumbs.len() == MAX_CRUMBS {
            self.crumbs.pop();
        }
        self.crumbs.push(span);
        self.view = Some(View::around(span));
    }

    /// Crumbs that the view has left are forgotten: those it does not lie in, but for a little air.
    pub fn forget_crumbs(&mut self, view: View) {
        let is_in = |crumb: &Span| {
            let around = View::around(*crumb);
            view.width_ns <= around.width_ns * 1.2 && around.span().overlaps(view.span())
        };
        let n_kept = self.crumbs.iter().take_while(|crumb| is_in(crumb)).count();
        self.crumbs.truncate(n_kept);
    }

    /// Open the groups around a slice, bring it into view in time, and ask for its lane to be scrolled to.
    pub fn reveal(&mut self, trace: &Trace, slice: SliceId) {
        let Some(run) = trace.span() else { return };
        let track = trace.track_of(slice);
        let mut groups = groups_of(track);
        groups.extend(trace.slices.tracks().get(slice.idx()).map(|track| GroupKey::Track(*track)));
        for group in groups {
            let is_open = is_open_at_first(trace, &group) != self.toggled.contains(&group);
            if !is_open {
                self.toggle(group);
            }
        }
        let span = trace.slices.span(slice);
        let view = self.current_view(run);
        let (in_view, length_ns) = (view.span().intersect(span), span.dur_ns());
        let is_wide_enough = view.width_ns * MIN_REVEALED_FRAC <= length_ns as f64;
        if in_view.dur_ns() < length_ns || !is_wide_enough {
            // A fifth of the view, so that its neighbours tell where it is.
            let air_ns = length_ns.max(1).saturating_mul(2);
            self.view = Some(View::of(Span::new(
                span.start_ns.saturating_sub(air_ns),
                span.end_ns.saturating_add(air_ns),
            )));
        }
        self.reveal = Some(slice);
    }

    /// Open what is closed, close what is open.
    pub fn toggle(&mut self, group: GroupKey) {
        if !self.toggled.remove(&group) {
            self.toggled.insert(group);
        }
    }

    /// Move about; zooming keeps the time at `at_frac` of the width in place.
    pub fn navigate(&mut self, motion: Motion, run: Span, at_frac: f64) {
        let view = self.current_view(run);
        match motion {
            Motion::Zoom(amount) => {
                self.view = Some(view.zoomed(f64::from(amount).exp2(), at_frac).within(run));
            }
            Motion::Pan(frac) => {
                self.view = Some(view.moved_ns(view.width_ns * f64::from(frac)).within(run));
            }
            Motion::Scroll(by_pt) => self.scroll_pt += by_pt,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracecard_model::fixture;

    #[test]
    fn a_revealed_slice_comes_into_view_and_its_groups_open() {
        let trace = fixture("thread 1 ops\n op a 0 1000000\n op b 500 10").unwrap();
        let b = trace.slice_ids().find(|id| trace.name(*id) == "b").unwrap();
        let mut state = State::default();
        let process = GroupKey::Process(Some(tracecard_model::ProcessId(0)));
        state.toggle(process.clone());
        state.reveal(&trace, b);
        assert!(!state.toggled.contains(&process), "its process is open again");
        let view = state.view.unwrap();
        assert_eq!((view.start_ns, view.width_ns), (480, 50.0));
        assert_eq!(state.reveal, Some(b));
    }

    #[test]
    fn a_slice_that_can_be_seen_does_not_move_the_view() {
        let trace = fixture("thread 1 ops\n op a 0 100\n op b 50 40").unwrap();
        let mut state = State::default();
        state.reveal(&trace, SliceId(1));
        assert_eq!(state.view, None);
    }

    #[test]
    fn crumbs_are_the_stretches_around_the_view() {
        let mut state = State::default();
        state.show(Span::new(0, 1_000));
        state.show(Span::new(100, 200));
        state.show(Span::new(120, 130));
        assert_eq!(state.crumbs.len(), 3);
        state.forget_crumbs(state.view.unwrap());
        assert_eq!(state.crumbs.len(), 3);
        state.forget_crumbs(View::of(Span::new(90, 210)));
        assert_eq!(state.crumbs, [Span::new(0, 1_000), Span::new(100, 200)]);
        state.show(Span::new(500, 600));
        assert_eq!(state.crumbs, [Span::new(0, 1_000), Span::new(500, 600)], "beside the last one");
    }

    #[test]
    fn keys_zoom_about_a_point_and_pan() {
        let run = Span::new(0, 1_000);
        let mut state = State { view: Some(View::of(run)), ..State::default() };
        state.navigate(Motion::Zoom(1.0), run, 0.0);
        assert_eq!(state.view.unwrap(), View::of(Span::new(0, 500)));
        state.navigate(Motion::Pan(0.5), run, 0.0);
        assert_eq!(state.view.unwrap(), View::of(Span::new(250, 750)));
    }
}
