//! The colour of each name and of the text on it, computed once a name and mode.

use egui::Color32;
use tracecard_model::{NameId, Trace};

use crate::run::RunId;
use crate::theme::{Mode, Theme};

/// Fill and text colours by name of one run in one mode.
#[derive(Debug, Default)]
pub(super) struct NameColors {
    of: Option<(RunId, Mode)>,
    colors: Vec<Option<(Color32, Color32)>>,
}

/// A fold that is hardly busy is still this visible.
const MIN_FOLD_ALPHA: f32 = 0.4;

impl NameColors {
    /// Forget the colours of another run or mode.
    pub(super) fn prepare(&mut self, run: RunId, mode: Mode, trace: &Trace) {
        if self.of != Some((run, mode)) {
            self.of = Some((run, mode));
            self.colors.clear();
            self.colors.resize(trace.names.len(), None);
        }
    }

    /// Colour of a name and of text on it.
    pub(super) fn of_name(&mut self, theme: &Theme, trace: &Trace, name: NameId) -> (Color32, Color32) {
        let compute = || {
            let fill = theme.color_of_name(trace.names.text(name));
            (fill, theme.text_on(fill))
        };
        match self.colors.get_mut(name.idx()) {
            Some(kept) => *kept.get_or_insert_with(compute),
            None => compute(),
        }
    }

    /// Colour of a fold: the less of it is busy, the nearer to the canvas.
    pub(super) fn of_fold(&mut self, theme: &Theme, trace: &Trace, name: NameId, busy_frac: f32) -> Color32 {
        let (fill, _) = self.of_name(theme, trace, name);
        let share = MIN_FOLD_ALPHA + (1.0 - MIN_FOLD_ALPHA) * busy_frac;
        theme.color.canvas.lerp_to_gamma(fill, share)
    }
}
