//! What the flame graph remembers: small, comparable, kept by undo and sessions.

use std::collections::BTreeSet;

use tracecard_analyzers::flame::{Edit, Frame, Layers, Thread, Weight};
use tracecard_model::Span;

/// From which side stacks are seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum View {
    /// Callers above, siblings in the order they came first.
    TopDown,
    /// Callers above, the heaviest sibling at the left.
    #[default]
    LeftHeavy,
    /// What spent the time itself above, its callers below.
    BottomUp,
    /// One frame: its callers above, what it called below.
    Sandwich,
}

impl View {
    /// Every view, in the order shown.
    pub const ALL: [Self; 4] = [Self::TopDown, Self::LeftHeavy, Self::BottomUp, Self::Sandwich];

    /// What its button says.
    pub fn title(self) -> &'static str {
        match self {
            Self::TopDown => "Top down",
            Self::LeftHeavy => "Left heavy",
            Self::BottomUp => "Bottom up",
            Self::Sandwich => "Sandwich",
        }
    }

    /// What it shows.
    pub fn explained(self) -> &'static str {
        match self {
            Self::TopDown => "Callers above, siblings in the order they came first",
            Self::LeftHeavy => "Callers above, the heaviest sibling at the left",
            Self::BottomUp => "What spent the time itself above, its callers below",
            Self::Sandwich => "One frame: its callers above, what it called below",
        }
    }
}

/// Which part of the run counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// All of it.
    #[default]
    Run,
    /// What the timeline shows.
    Window,
    /// One step, by its place in the list of steps.
    Step(usize),
    /// [`State::span`].
    Selection,
}

/// Above or below the chosen frame of a sandwich; everything else is below.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Side {
    /// Callers, in a sandwich.
    Above,
    /// All else.
    #[default]
    Below,
}

/// A frame that is pointed at, by the names on the way to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// Where the way begins.
    pub side: Side,
    /// From the root to the frame.
    pub path: Vec<Frame>,
}

/// The state of the flame graph.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// What the width of a frame means; `None`: device time where there is any, else CPU time, else samples.
    pub weight: Option<Weight>,
    /// Frames of which layers are shown; `None`: those usual for the weight.
    pub layers: Option<Layers>,
    /// From which side stacks are seen.
    pub view: View,
    /// Which part of the run counts.
    pub scope: Scope,
    /// The selected span, for [`Scope::Selection`].
    pub span: Option<Span>,
    /// Which threads count; `None`: all.
    pub threads: Option<BTreeSet<Thread>>,
    /// What was taken out or put together, in order.
    pub edits: Vec<Edit>,
    /// Frames zoomed to, one inside the other; the last fills the width.
    pub zooms: Vec<Vec<Frame>>,
    /// The frame in the middle of the sandwich.
    pub chosen: Option<Frame>,
    /// The frame that keys act on.
    pub cursor: Option<Cursor>,
    /// A regular expression that names are to match.
    pub filter: String,
    /// How far the frames are scrolled up, in points.
    pub scroll_pt: f32,
}

impl State {
    /// Forget what belongs to a run; keep what belongs to the user.
    pub fn reset_for_new_run(&mut self) {
        *self = Self { view: self.view, filter: std::mem::take(&mut self.filter), ..Self::default() };
    }

    /// Count only this stretch of time.
    pub fn show_span(&mut self, span: Span) {
        self.span = Some(span);
        self.scope = Scope::Selection;
    }

    /// Change the tree; what was zoomed to may be gone.
    pub fn edit(&mut self, edit: Edit) {
        self.edits.push(edit);
        self.forget_place();
    }

    /// Take the last edit back.
    pub fn undo_edit(&mut self) {
        self.edits.pop();
        self.forget_place();
    }

    /// See stacks from another side.
    pub fn turn(&mut self, view: View) {
        if self.view != view {
            self.view = view;
            self.forget_place();
        }
    }

    /// Put a frame into the middle of a sandwich.
    pub fn choose(&mut self, frame: Frame) {
        self.turn(View::Sandwich);
        self.forget_place();
        self.cursor = Some(Cursor { side: Side::Below, path: vec![frame.clone()] });
        self.chosen = Some(frame);
    }

    /// Fill the width with a frame; in a sandwich, put it into the middle.
    pub fn zoom(&mut self, to: &Cursor) {
        if self.view == View::Sandwich {
            if let Some(frame) = to.path.last() {
                self.choose(frame.clone());
            }
        } else if self.zooms.last() != Some(&to.path) {
            self.zooms.push(to.path.clone());
        }
    }

    /// Back to what filled the width before; without a zoom the cursor goes.
    pub fn zoom_out(&mut self) {
        if self.zooms.pop().is_none() {
            self.cursor = None;
        }
    }

    fn forget_place(&mut self) {
        self.zooms.clear();
        self.cursor = None;
        self.scroll_pt = 0.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracecard_analyzers::flame::Layer;

    fn frame(name: &str) -> Frame {
        Frame::new(Layer::Op, name)
    }

    fn cursor(name: &str) -> Cursor {
        Cursor { side: Side::Below, path: vec![frame(name)] }
    }

    #[test]
    fn zooms_go_back_one_by_one() {
        let mut state = State::default();
        state.zoom(&cursor("a"));
        state.zoom(&cursor("b"));
        state.zoom(&cursor("b"));
        state.zoom_out();
        assert_eq!(state.zooms, [vec![frame("a")]]);
        state.zoom_out();
        state.cursor = Some(cursor("a"));
        state.zoom_out();
        assert_eq!(state, State::default());
    }

    #[test]
    fn in_a_sandwich_zooming_chooses() {
        let mut state = State { view: View::Sandwich, ..State::default() };
        state.zoom(&cursor("a"));
        assert_eq!((state.chosen, state.zooms.len()), (Some(frame("a")), 0));
    }

    #[test]
    fn edits_are_taken_back() {
        let mut state = State::default();
        state.edit(Edit::Focus(frame("a")));
        state.edit(Edit::CollapseAllRecursion);
        state.undo_edit();
        assert_eq!(state.edits, [Edit::Focus(frame("a"))]);
        state.undo_edit();
        state.undo_edit();
        assert_eq!(state, State::default());
    }

    #[test]
    fn a_new_run_keeps_what_belongs_to_the_user() {
        let mut state = State { filter: "mm".to_owned(), view: View::BottomUp, ..State::default() };
        state.show_span(Span::new(0, 10));
        state.edit(Edit::CollapseAllRecursion);
        state.reset_for_new_run();
        assert_eq!((state.filter.as_str(), state.view, state.scope), ("mm", View::BottomUp, Scope::Run));
        assert!(state.edits.is_empty() && state.span.is_none());
    }
}
