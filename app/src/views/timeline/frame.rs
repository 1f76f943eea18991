//! A laid-out frame with its meshes: as long as nothing moves, it is painted again as it is.

use std::sync::Arc;

use egui::{Mesh, Rect, pos2};
use tracecard_analyzers::Metrics;
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
    pub(super) fn new(items: Items, trace: &Trace, theme: &Theme, colors: &mut NameColors) -> Self {
        let mut meshes = Vec::with_capacity(items.lanes.len() + items.curves.len());
        for lane in &items.lanes {
            let marks = items.marks.get(lane.marks.clone()).unwrap_or_default();
            let mut mesh = Mesh::default();
            mesh.reserve_vertices(marks.len() * 4);
            mesh.reserve_triangles(marks.len() * 2);
            for mark in marks {
                let color = if mark.count == 1 {
                    colors.of_name(theme, trace, mark.name).0
                } else {
                    colors.of_fold(theme, trace, mark.name, mark.busy_frac)
                };
                quad(&mut mesh, mark.rect, color);
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
