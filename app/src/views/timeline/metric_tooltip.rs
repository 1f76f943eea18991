//! What is said about metrics under the pointer: a metric's own lane, and the family of a kernel or operator.

use egui::{RichText, Ui};
use tracecard_analyzers::metrics::{Averages, MetricKind, Summary, theoretical};
use tracecard_analyzers::{Metrics, family};
use tracecard_model::{SliceId, SliceKind, Trace, Unit};

use super::metric_curves::MetricCurve;
use super::metric_paint::absent_text;
use crate::format;
use crate::theme::Theme;

/// Longer names are cut.
const MAX_NAME_CHARS: usize = 120;

/// The tool-tip of a metric's lane at an instant.
pub(super) fn lane_ui(
    ui: &mut Ui,
    theme: &Theme,
    trace: &Trace,
    metrics: &Metrics,
    curve: &MetricCurve,
    t_ns: i64,
) {
    let Some(track) = metrics.tracks.get(curve.metric) else { return };
    let muted = theme.color.text_muted;
    ui.set_max_width(420.0);
    ui.label(RichText::new(&track.title).strong());
    if curve.is_absent {
        let (reason, command) = absent_text(track);
        ui.label(reason);
        if let Some(command) = command {
            ui.label(RichText::new(command).monospace());
        }
        return;
    }
    let view = track.view(trace);
    let found = view.index_at(t_ns).and_then(|idx| Some((view.values.get(idx)?, view.span(idx))));
    match found {
        Some((value, span)) => {
            ui.label(
                RichText::new(format::counter_value(*value, Some(track.unit))).color(theme.color.text_strong),
            );
            let (from, to) = (format::ns(span.start_ns as f64), format::ns(span.end_ns as f64));
            ui.label(RichText::new(format!("{} · from {from} to {to}", track.kind.text())).color(muted));
        }
        None => {
            ui.label(RichText::new(format!("{} · not known here", track.kind.text())).color(muted));
        }
    }
    if let Some(slice) = track.slice_at(trace, t_ns) {
        let name: String = trace.name(slice).chars().take(MAX_NAME_CHARS).collect();
        ui.label(name);
        if track.kind == MetricKind::Theoretical {
            rows_ui(ui, theme, &occupancy_rows(trace, slice));
        }
    }
    if let Some(summary) = &curve.summary {
        ui.label(RichText::new(in_view(summary, track.unit)).color(muted));
    }
    ui.label(RichText::new(&track.note).color(muted));
}

/// `in view: mean 45.2 %, σ 12.1 %, min 0.0 %, max 98.0 %`
fn in_view(summary: &Summary, unit: Unit) -> String {
    let value = |value: f64| format::counter_value(value, Some(unit));
    let (mean, deviation) = (value(summary.mean), value(summary.deviation()));
    format!("in view: mean {mean}, σ {deviation}, min {}, max {}", value(summary.min), value(summary.max))
}

/// What is known about the metrics of a kernel or operator, below its other facts.
pub(super) fn slice_ui(ui: &mut Ui, theme: &Theme, trace: &Trace, metrics: Option<&Metrics>, slice: SliceId) {
    let kind = trace.slices.kinds().get(slice.idx()).copied();
    if kind == Some(SliceKind::Kernel) {
        rows_ui(ui, theme, &occupancy_rows(trace, slice));
    }
    let Some((of, averages)) = metrics.and_then(|metrics| averages_of(trace, metrics, slice)) else { return };
    let n = format::counted(averages.n_samples as usize, "sample");
    if !averages.is_resolvable {
        let text = format!("Metrics of {of}: not resolvable, too short for the sampling ({n} of their own)");
        ui.label(RichText::new(text).color(theme.color.text_muted));
        return;
    }
    ui.label(RichText::new(format!("Mean of {n} of {of}:")).color(theme.color.text_muted));
    rows_ui(ui, theme, &average_rows(averages));
}

fn rows_ui(ui: &mut Ui, theme: &Theme, rows: &[(&'static str, String)]) {
    if rows.is_empty() {
        return;
    }
    let id = rows.first().map_or("", |row| row.0);
    egui::Grid::new(("metrics", id)).num_columns(2).spacing([theme.space.l, theme.space.xs]).show(ui, |ui| {
        for (title, value) in rows {
            ui.label(RichText::new(*title).color(theme.color.text_muted));
            ui.label(value);
            ui.end_row();
        }
    });
}

/// The averages that say most about a slice: of its own name, else of its family.
fn averages_of<'a>(trace: &Trace, metrics: &'a Metrics, slice: SliceId) -> Option<(String, &'a Averages)> {
    let averages = &metrics.averages;
    match trace.slices.kinds().get(slice.idx())? {
        SliceKind::Kernel => {
            let device = trace.track_of(slice).key.device?;
            let name = *trace.slices.names().get(slice.idx())?;
            let own = averages.of_kernel(device, name)?;
            let family = family(trace.names.text(name));
            match averages
                .of_family(device, family)
                .filter(|of_family| !own.is_resolvable && of_family.is_resolvable)
            {
                Some(of_family) => Some((format!("all {family} kernels"), of_family)),
                None => Some(("this kernel".to_owned(), own)),
            }
        }
        SliceKind::Op | SliceKind::NvtxPushPop => {
            Some(("kernels of this operator".to_owned(), averages.of_operator(trace.name(slice))?))
        }
        _ => None,
    }
}

fn average_rows(averages: &Averages) -> Vec<(&'static str, String)> {
    let all = [
        ("SM active", averages.mean("sm_active")),
        ("SM issue", averages.mean("sm_issue")),
        ("Tensor active", averages.mean("tensor_active")),
        ("Occupancy, active SMs", averages.mean("occupancy_active_sm")),
        ("L2 hit rate", averages.mean("l2_hit")),
        ("DRAM", averages.dram()),
    ];
    let known = all.into_iter().filter_map(|(title, value)| Some((title, format::percent(value?))));
    known.collect()
}

/// Theoretical occupancy of a kernel with its limiter and waves, or why it is not known.
fn occupancy_rows(trace: &Trace, slice: SliceId) -> Vec<(&'static str, String)> {
    let device = trace.track_of(slice).key.device.and_then(|device| trace.devices.get(device.idx()));
    let (Some(device), Some(kernel)) = (device, trace.kernels.get(slice)) else { return Vec::new() };
    let found = match theoretical(device, kernel) {
        Ok(found) => found,
        Err(reason) => return vec![("Theoretical occupancy", format!("unknown: {reason}"))],
    };
    let mut rows = vec![(
        "Theoretical occupancy",
        format!("{}, limited by {}", format::percent(found.frac), found.limiters.text()),
    )];
    rows.extend(found.waves.map(|waves| ("Waves", format::number((waves * 100.0).round() / 100.0))));
    let estimate = found.achieved_estimate_frac.filter(|estimate| *estimate < found.frac);
    rows.extend(estimate.map(|frac| ("With this grid", format!("{} at most", format::percent(frac)))));
    rows
}

#[cfg(test)]
mod tests {
    use tracecard_analyzers::{Params, run_all};
    use tracecard_model::{Progress, fixture};

    use super::*;

    fn slice(trace: &Trace, name: &str) -> SliceId {
        trace.slice_ids().find(|slice| trace.name(*slice) == name).unwrap()
    }

    fn text(rows: &[(&str, String)]) -> String {
        rows.iter().map(|(title, value)| format!("{title}: {value}")).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn a_kernel_says_its_occupancy_or_why_it_is_unknown() {
        let mut trace = fixture(
            "device 0 A100 sm=108\nstream 0:7\n  kernel k 0 5 grid=54x1x1 block=256x1x1 regs=128 shared=49152",
        )
        .unwrap();
        let kernel = slice(&trace, "k");
        let unknown =
            "Theoretical occupancy: unknown: the file does not say the compute capability of the device";
        assert_eq!(text(&occupancy_rows(&trace, kernel)), unknown);
        trace.devices[0].compute_capability = Some((8, 0));
        // 2 blocks of 8 warps of 64; 54 blocks on 108 SMs: a quarter of a wave, half a block an SM: 6.25 %.
        assert_eq!(
            text(&occupancy_rows(&trace, kernel)),
            "Theoretical occupancy: 25.0 %, limited by registers; Waves: 0.25; With this grid: 6.2 % at most"
        );
    }

    #[test]
    fn a_kernel_and_its_operator_say_what_their_samples_say() {
        // Samples of 10 ns: the long kernel has ten of its own, the short one none and its family neither.
        let mut lines = String::from(
            "thread 1 ops\n  op aten::mm 0 5\nthread 1 api\n  api l 1 1 #1\nstream 0:7\n\
             \x20 kernel long_gemm 100 100 #1\n  kernel short_relu 303 4\ncounter 0 frac \"SMs Active\"\n",
        );
        (0..40).for_each(|i| lines.push_str(&format!("  {} 0.5\n", i * 10)));
        let trace = fixture(&lines).unwrap();
        let metrics = run_all(&trace, &Params::default(), &Progress::new()).unwrap().metrics;
        let said = |name: &str| {
            let (of, averages) = averages_of(&trace, &metrics, slice(&trace, name)).unwrap();
            format!("{of}, {} samples: {}", averages.n_samples, text(&average_rows(averages)))
        };
        assert_eq!(said("long_gemm"), "this kernel, 10 samples: SM active: 50.0 %");
        assert_eq!(said("aten::mm"), "kernels of this operator, 10 samples: SM active: 50.0 %");
        assert_eq!(said("short_relu"), "this kernel, 0 samples: ");
        assert!(averages_of(&trace, &metrics, slice(&trace, "l")).is_none());
    }
}
