//! What the pointer points at, in words.

use egui::{PopupAnchor, Pos2, Response, RichText, Tooltip, Ui};

use super::frame::Frame;
use super::layout::Mark;
use super::metric_tooltip;
use crate::run::Run;
use crate::theme::Theme;
use crate::time_scale::TimeScale;
use crate::{describe, format};

/// Names longer than this are cut in the tool-tip; the details view has them whole.
const MAX_NAME_CHARS: usize = 300;

pub(super) fn ui(
    ui: &Ui,
    response: &Response,
    run: &Run,
    frame: &Frame,
    hovered: Option<&Mark>,
    scale: &TimeScale,
    pointer: Pos2,
) {
    let tooltip =
        || Tooltip::always_open(ui.ctx().clone(), ui.layer_id(), response.id, PopupAnchor::Pointer).gap(14.0);
    if let Some(mark) = hovered {
        tooltip().show(|ui| mark_ui(ui, run, mark));
        return;
    }
    let metrics = run.analysis().map(|analysis| &analysis.metrics);
    let metric = frame.metrics.iter().find(|curve| curve.rect.contains(pointer));
    if let Some((metric, metrics)) = metric.zip(metrics) {
        let (theme, t_ns) = (Theme::of_ui(ui), scale.ns_from_x(pointer.x));
        tooltip().show(|ui| metric_tooltip::lane_ui(ui, theme, &run.trace, metrics, metric, t_ns));
        return;
    }
    let curve = frame.items.curves.iter().find(|curve| {
        let steps = curve.steps.iter();
        let top_pt = steps.map(|step| step.max_y_pt).fold(curve.base_y_pt, f32::min);
        (top_pt - 4.0..=curve.base_y_pt + 4.0).contains(&pointer.y)
    });
    if let Some(curve) = curve {
        let (times_ns, values) = run.trace.counters.of(curve.track);
        let at = times_ns.partition_point(|t| *t <= scale.ns_from_x(pointer.x));
        let Some((time_ns, value)) = at.checked_sub(1).and_then(|at| times_ns.get(at).zip(values.get(at)))
        else {
            return;
        };
        let Some(track) = run.trace.tracks.get(curve.track.idx()) else { return };
        tooltip().show(|ui| {
            ui.label(RichText::new(&track.name).strong());
            ui.label(format::counter_value(*value, track.unit));
            ui.label(RichText::new(format!("sample of {}", format::exact_ns(*time_ns))).weak());
        });
    }
}

fn mark_ui(ui: &mut Ui, run: &Run, mark: &Mark) {
    let (theme, trace) = (Theme::of_ui(ui), &run.trace);
    let mut name: String = trace.name(mark.slice).chars().take(MAX_NAME_CHARS).collect();
    if name.len() < trace.name(mark.slice).len() {
        name.push('…');
    }
    if 1 < mark.count {
        let count = format::counted(mark.count as usize, "slice");
        let busy = format::percent(f64::from(mark.busy_frac));
        ui.label(RichText::new(format!("{count} here, {busy} of this time covered")).strong());
        ui.label(RichText::new("The longest of them:").color(theme.color.text_muted));
    }
    ui.label(RichText::new(name).strong());
    let kind = trace.slices.kinds().get(mark.slice.idx()).map_or("", |kind| describe::kind_title(*kind));
    ui.label(
        RichText::new(format!("{kind} on {}", trace.track_of(mark.slice).name)).color(theme.color.text_muted),
    );
    egui::Grid::new("tooltip").num_columns(2).spacing([theme.space.l, theme.space.xs]).show(ui, |ui| {
        for (title, value) in describe::brief(trace, mark.slice) {
            ui.label(RichText::new(title).color(theme.color.text_muted));
            ui.label(value);
            ui.end_row();
        }
    });
    let metrics = run.analysis().map(|analysis| &analysis.metrics);
    metric_tooltip::slice_ui(ui, theme, trace, metrics, mark.slice);
}
