//! Where the curves of metrics lie, and what they are like in view: O(pixels).

use egui::Rect;
use tracecard_analyzers::Metrics;
use tracecard_analyzers::metrics::{Series, Summary, Verdict};
use tracecard_model::{Span, Trace, TrackId};

use super::counter_lod::CounterLod;
use super::layout::{Canvas, Items};
use super::metric_lanes::range;
use super::model::{Lane, LaneKind, Model};
use crate::time_scale::TimeScale;

/// A part of a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MetricStep {
    /// Left edge.
    pub left_pt: f32,
    /// Right edge.
    pub right_pt: f32,
    /// y of the least value in it.
    pub min_y_pt: f32,
    /// y of the greatest value in it; not below `min_y_pt`.
    pub max_y_pt: f32,
    /// y of the mean.
    pub mean_y_pt: f32,
    /// What its mean is, by the bands.
    pub verdict: Verdict,
}

/// The curve of a metric.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricCurve {
    /// Which of the run's metrics.
    pub metric: usize,
    /// The lane on the canvas; may reach beyond it.
    pub rect: Rect,
    /// y of the bottom of the area.
    pub base_y_pt: f32,
    /// y of the limits of the bands, good first.
    pub limits_y_pt: [Option<f32>; 2],
    /// From left to right.
    pub steps: Vec<MetricStep>,
    /// What it is like in view; `None` where nothing is known in view.
    pub summary: Option<Summary>,
    /// Was nothing captured?
    pub is_absent: bool,
}

/// What is said at the right edge of a plain counter.
#[derive(Clone, Debug, PartialEq)]
pub struct CounterPill {
    /// The counter.
    pub track: TrackId,
    /// Its lane on the canvas.
    pub rect: Rect,
    /// What it is like in view.
    pub summary: Summary,
}

/// Values that hold for less share a column: there are many lanes, and each column costs.
const MIN_COLUMN_PX: f32 = 2.0;

/// Air above and below a curve, in points.
const AIR_PT: f32 = 3.0;

fn lane_rect(canvas: &Canvas, lane: &Lane) -> Rect {
    let top_pt = canvas.rect.top() + lane.y_pt - canvas.scroll_pt;
    Rect::from_x_y_ranges(canvas.rect.x_range(), top_pt..=top_pt + lane.height_pt)
}

/// The curves of the metrics in view.
pub fn curves(
    model: &Model,
    metrics: Option<&Metrics>,
    trace: &Trace,
    scale: &TimeScale,
    canvas: &Canvas,
) -> Vec<MetricCurve> {
    let Some(metrics) = metrics else { return Vec::new() };
    let visible = model.visible(canvas.scroll_pt, canvas.scroll_pt + canvas.rect.height());
    let lanes = model.lanes.get(visible).unwrap_or_default();
    let of_lane = |lane: &Lane| {
        let LaneKind::Metric { metric } = lane.kind else { return None };
        curve(metrics, metric, trace, scale, canvas, lane_rect(canvas, lane))
    };
    lanes.iter().filter_map(of_lane).collect()
}

fn curve(
    metrics: &Metrics,
    metric: usize,
    trace: &Trace,
    scale: &TimeScale,
    canvas: &Canvas,
    rect: Rect,
) -> Option<MetricCurve> {
    let track = metrics.tracks.get(metric)?;
    let (low, high) = range(track);
    let (top_pt, bottom_pt) = (rect.top() + AIR_PT, rect.bottom() - AIR_PT);
    let y = |value: f64| bottom_pt - ((value - low) / (high - low)) as f32 * (bottom_pt - top_pt);
    let span = scale.view().span();
    let min_ns = f64::from(MIN_COLUMN_PX * canvas.pixel_pt) * scale.ns_per_pt();
    let view = track.view(trace);
    let verdict = |mean: f64, span: Span| {
        track.bands.as_ref().map_or(Verdict::Plain, |bands| bands.verdict(mean, span))
    };
    let columns = track.pyramid.columns(&view, span, min_ns);
    let steps = columns.iter().map(|column| MetricStep {
        left_pt: scale.x_from_ns(column.start_ns).max(rect.left()),
        // What is short is a pixel wide all the same, or it would not be seen.
        right_pt: scale
            .x_from_ns(column.end_ns)
            .max(scale.x_from_ns(column.start_ns) + canvas.pixel_pt)
            .min(rect.right()),
        min_y_pt: y(column.min),
        max_y_pt: y(column.max),
        mean_y_pt: y(column.mean),
        verdict: verdict(column.mean, Span::new(column.start_ns, column.end_ns)),
    });
    let is_absent = matches!(track.series, Series::Absent { .. });
    let bands = track.bands.as_ref().filter(|_| !is_absent);
    let limits = bands.map(|bands| [bands.good_above, bands.look_below]).unwrap_or_default();
    Some(MetricCurve {
        metric,
        rect,
        base_y_pt: y(0.0_f64.clamp(low, high)),
        limits_y_pt: limits.map(|limit| limit.map(y)),
        steps: steps.filter(|step| step.left_pt < step.right_pt).collect(),
        summary: track.pyramid.within(&view, span),
        is_absent,
    })
}

/// The pills of the plain counters in view.
pub fn pills(
    model: &Model,
    items: &Items,
    trace: &Trace,
    counters: &CounterLod,
    scale: &TimeScale,
    canvas: &Canvas,
) -> Vec<CounterPill> {
    let pill = |curve: &super::layout::Curve| {
        let rect = lane_rect(canvas, model.lanes.get(curve.lane)?);
        let summary = counters.within(trace, curve.track, scale.view().span())?;
        Some(CounterPill { track: curve.track, rect, summary })
    };
    items.curves.iter().filter_map(pill).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use egui::{pos2, vec2};
    use tracecard_analyzers::{Params, run_all};
    use tracecard_model::{Progress, fixture};

    use super::super::model::{Heights, model};
    use super::*;
    use crate::time_scale::View;

    const HEIGHTS: Heights = Heights { row_pt: 10.0, header_pt: 20.0, counter_pt: 40.0, gap_pt: 2.0 };

    /// 1 pt is 1 ns from 0 to 100; the lanes of metrics as text.
    fn check(text: &str, expected: &[&str]) {
        let trace = fixture(text).unwrap();
        let analysis = run_all(&trace, &Params::default(), &Progress::new()).unwrap();
        let model = model(&trace, Some(&analysis.metrics), &BTreeSet::new(), &HEIGHTS);
        let rect = Rect::from_min_size(pos2(0.0, 0.0), vec2(100.0, 2_000.0));
        let canvas = Canvas { rect, scroll_pt: 0.0, pixel_pt: 1.0, row_pt: 10.0 };
        let scale = TimeScale::new(View::of(Span::new(0, 100)), 0.0, 100.0);
        let found = curves(&model, Some(&analysis.metrics), &trace, &scale, &canvas);
        let line = |curve: &MetricCurve| {
            let step = |s: &MetricStep| {
                let sign = match s.verdict {
                    Verdict::Good => "+",
                    Verdict::Plain => "",
                    Verdict::Look => "?",
                };
                let height = |y: f32| ((curve.base_y_pt - y) / 24.0 * 100.0).round();
                format!("{}..{}:{}{sign}", s.left_pt, s.right_pt, height(s.max_y_pt))
            };
            let steps: Vec<String> = curve.steps.iter().map(step).collect();
            let steps = if curve.is_absent { "absent".to_owned() } else { steps.join(" ") };
            format!("{} {} {steps}", curve.rect.top(), analysis.metrics.tracks[curve.metric].title)
        };
        assert_eq!(found.iter().map(line).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn curves_lie_below_the_streams_with_their_verdicts() {
        // Of the sampled metrics, heights in percent of the lane: SM active above 70 % is good. Occupancy of an
        // active SM: 0.2 / (0.2 + 0.3) = 40 % asks for a look, but not while the tensor-core kernel runs.
        check(
            "stream 0:7\n  kernel ampere_fp16_s16816gemm_fp16_128x128 40 20\n  kernel plain 60 20\n\
             counter 0 frac \"SMs Active\"\n  0 0.8\n  20 0.5\n  40 0.5\n  60 0.5\n  80 0\n\
             counter 0 frac \"Compute Warps in Flight\"\n  0 0.3\n  20 0.2\n  40 0.2\n  60 0.2\n  80 0\n\
             counter 0 frac \"Unallocated Warps in Active SMs\"\n  0 0\n  20 0.3\n  40 0.3\n  60 0.3\n  80 0\n\
             counter 0 count \"queue length\"\n  0 1\n  50 2",
            &[
                "52 SM active 0..20:80+ 20..40:50 40..60:50 60..80:50 80..100:0",
                "82 Occupancy, active SMs 0..20:100 20..40:40? 40..60:40 60..80:40?",
                "112 Occupancy of the device 0..20:30 20..40:20 40..60:20 60..80:20 80..100:0",
                "142 Unallocated warps 0..20:0 20..40:30 40..60:30 60..80:30 80..100:0",
                "172 L2 hit rate absent",
            ],
        );
    }

    #[test]
    fn dense_metrics_have_as_many_columns_as_there_are_pixels() {
        let mut text = String::new();
        for (idx, name) in ["SMs Active", "SM Issue", "Tensor Active", "L2 Hit Rate"].iter().enumerate() {
            text.push_str(&format!("counter 0 frac \"{name}\"\n"));
            for i in 0..50_000 {
                text.push_str(&format!("  {} 0.{}\n", i * 100, (i * 7 + idx) % 10));
            }
        }
        let trace = fixture(&text).unwrap();
        let analysis = run_all(&trace, &Params::default(), &Progress::new()).unwrap();
        let model = model(&trace, Some(&analysis.metrics), &BTreeSet::new(), &HEIGHTS);
        let rect = Rect::from_min_size(pos2(0.0, 0.0), vec2(2_560.0, 1_440.0));
        let canvas = Canvas { rect, scroll_pt: 0.0, pixel_pt: 1.0, row_pt: 10.0 };
        let scale = TimeScale::new(View::of(Span::new(0, 5_000_000)), 0.0, 2_560.0);
        let found = curves(&model, Some(&analysis.metrics), &trace, &scale, &canvas);
        assert_eq!(found.len(), 4);
        assert!(found.iter().all(|curve| curve.steps.len() <= 2_560), "no more columns than pixels");
        assert!(found.iter().all(|curve| 600 <= curve.steps.len()), "and enough of them");
    }

    #[test]
    fn without_metrics_there_are_no_curves() {
        check("thread 1 ops\n  op a 0 100", &[]);
        check("counter 0 count \"queue length\"\n  0 1\n  50 2", &[]);
    }
}
