//! A laid-out frame with its meshes: as long as nothing moves, it is painted again as it is.

use std::sync::Arc;

use egui::{Mesh, Rect, pos2};
use tracecard_analyzers::Metrics;
use tracecard_analyzers::search::Hits;
use tracecard_model::Trace;

use super::colors::NameColors;
use super::layout::{Curve, Items};
use super::metric_curves::{CounterPill, MetricCurve};
use super::metric_paint;
use crate::mesh::quad;
use crate::theme::Theme;

/// Items and what does not change while they stay.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) items: Items,
    /// One mesh a lane, and one a counter.
    pub(super) meshes: Vec<Arc<Mesh>>,
    /// The curves of metrics in view.
    pub(super) metrics: Vec<MetricCurve>,
    /// One mesh a metric.
    pub(super) metric_meshes: Vec<Arc<Mesh>>,
    /// What plain counters are like in view.
    pub(super) pills: Vec<CounterPill>,
}

impl Frame {
    /// Meshes of items; with a search, what does not match is faint and what matches is underlined.
    pub(super) fn new(
        items: Items,
        trace: &Trace,
        theme: &Theme,
        colors: &mut NameColors,
        hits: Option<&Hits>,
    ) -> Self {
        let is_hit = hits.map(|hits| lit(&items, trace, hits));
        let mut meshes = Vec::with_capacity(items.lanes.len() + items.curves.len());
        for lane in &items.lanes {
            let marks = items.marks.get(lane.marks.clone()).unwrap_or_default();
            let mut mesh = Mesh::default();
            mesh.reserve_vertices(marks.len() * 4);
            mesh.reserve_triangles(marks.len() * 2);
            for (idx, mark) in marks.iter().enumerate() {
                let color = if mark.count == 1 {
                    colors.of_name(theme, trace, mark.name).0
                } else {
                    colors.of_fold(theme, trace, mark.name, mark.busy_frac)
                };
                match is_hit.as_ref().map(|is_hit| is_hit.get(lane.marks.start + idx) == Some(&true)) {
                    None => quad(&mut mesh, mark.rect, color),
                    Some(false) => {
                        quad(&mut mesh, mark.rect, theme.color.canvas.lerp_to_gamma(color, FAINT));
                    }
                    Some(true) => {
                        quad(&mut mesh, mark.rect, color);
                        let line = Rect::from_x_y_ranges(
                            mark.rect.x_range(),
                            mark.rect.bottom() - HIT_LINE_PT..=mark.rect.bottom(),
                        );
                        quad(&mut mesh, line, theme.color.search);
                    }
                }
            }
            meshes.push(Arc::new(mesh));
        }
        meshes.extend(items.curves.iter().map(|curve| Arc::new(curve_mesh(curve, trace, theme))));
        Self { items, meshes, metrics: Vec::new(), metric_meshes: Vec::new(), pills: Vec::new() }
    }

    /// The same with curves of metrics and pills of plain counters.
    pub(super) fn with_metrics(
        mut self,
        curves: Vec<MetricCurve>,
        metrics: Option<&Metrics>,
        pills: Vec<CounterPill>,
        theme: &Theme,
    ) -> Self {
        let mesh = |curve: &MetricCurve| {
            let track = metrics.and_then(|metrics| metrics.tracks.get(curve.metric));
            Arc::new(track.map(|track| metric_paint::mesh(curve, track, theme)).unwrap_or_default())
        };
        self.metric_meshes = curves.iter().map(mesh).collect();
        self.metrics = curves;
        self.pills = pills;
        self
    }
}

/// Share of its colour that a slice keeps which does not match.
const FAINT: f32 = 0.2;
/// Below each match, in points.
const HIT_LINE_PT: f32 = 2.0;

/// By mark: does it, or one of those folded in it, match?
fn lit(items: &Items, trace: &Trace, hits: &Hits) -> Vec<bool> {
    let mut is_hit = vec![false; items.marks.len()];
    for row in &items.rows {
        if !hits.has_row(row.track, row.row) {
            continue;
        }
        for idx in row.marks.clone() {
            let (Some(mark), Some(is_hit)) = (items.marks.get(idx), is_hit.get_mut(idx)) else { continue };
            *is_hit = hits.is_match(mark.name)
                || 1 < mark.count
                    && hits.any_between(trace, row.track, row.row, mark.span.start_ns, mark.span.end_ns);
        }
    }
    is_hit
}

/// Solid up to the least value, lighter between least and greatest, with a line on top.
fn curve_mesh(curve: &Curve, trace: &Trace, theme: &Theme) -> Mesh {
    let name = trace.tracks.get(curve.track.idx()).map_or("", |track| track.name.as_str());
    let line = theme.color_of_name(name);
    let area = theme.color.canvas.lerp_to_gamma(line, 0.55);
    let between = theme.color.canvas.lerp_to_gamma(line, 0.3);
    let mut mesh = Mesh::default();
    for step in &curve.steps {
        let rect =
            |a: f32, b: f32| Rect::from_min_max(pos2(step.left_pt, a.min(b)), pos2(step.right_pt, a.max(b)));
        quad(&mut mesh, rect(curve.base_y_pt, step.min_y_pt), area);
        quad(&mut mesh, rect(step.min_y_pt, step.max_y_pt), between);
        quad(&mut mesh, rect(step.max_y_pt, step.max_y_pt + 1.0), line);
    }
    mesh
}
