//! Puts laid-out frames onto the screen: one mesh, and the texts.

use std::sync::Arc;

use egui::{Align2, Color32, FontId, Mesh, Painter, Rect, Shape, Stroke, StrokeKind};
use tracecard_analyzers::flame::{Frame, FrameId, Layer};

use super::layout::{Bar, Items};
use super::model::Shown;
use crate::mesh::quad;
use crate::theme::Theme;

/// How near to the canvas the colour of a frame comes that the filter does not match.
const FADED: f32 = 0.78;
/// As many outlines as there are texts at the most.
const MAX_OUTLINES: usize = 800;

/// Items with what does not change while they stay.
#[derive(Debug)]
pub(super) struct Painted {
    pub(super) items: Items,
    mesh: Arc<Mesh>,
}

impl Painted {
    pub(super) fn new(items: Items, shown: &Shown, theme: &Theme) -> Self {
        let mut mesh = Mesh::default();
        mesh.reserve_vertices(items.bars.len() * 4);
        mesh.reserve_triangles(items.bars.len() * 2);
        for bar in &items.bars {
            quad(&mut mesh, bar.rect, fill(theme, shown, bar));
        }
        Self { items, mesh: Arc::new(mesh) }
    }

    /// Bars and texts.
    pub(super) fn paint(&self, painter: &Painter, shown: &Shown, theme: &Theme) {
        painter.add(Shape::Mesh(Arc::clone(&self.mesh)));
        let font = FontId::proportional(theme.font.label);
        for label in &self.items.labels {
            let Some(bar) = self.items.bars.get(label.bar) else { continue };
            let color = theme.text_on(fill(theme, shown, bar));
            let galley = painter.layout_no_wrap(label.text.clone(), font.clone(), color);
            let align = if bar.n_folded == 0 { Align2::LEFT_CENTER } else { Align2::CENTER_CENTER };
            let room = if bar.n_folded == 0 { bar.rect.shrink2(egui::vec2(4.0, 0.0)) } else { bar.rect };
            painter.galley(align.align_size_within_rect(galley.size(), room).min, galley, color);
        }
    }

    /// All frames of this name.
    pub(super) fn outline(&self, painter: &Painter, shown: &Shown, frame: FrameId, theme: &Theme) {
        let stroke = Stroke::new(1.0, theme.color.text.gamma_multiply(0.7));
        let is_same = |bar: &&Bar| {
            let of_bar = bar.node.map(|node| shown.tree(bar.side).frame_id(node));
            bar.n_folded == 0 && of_bar == Some(frame)
        };
        for bar in self.items.bars.iter().filter(is_same).take(MAX_OUTLINES) {
            painter.rect_stroke(bar.rect, 0.0, stroke, StrokeKind::Inside);
        }
    }
}

/// Around the bar that keys act on.
pub(super) fn mark_cursor(painter: &Painter, rect: Rect, theme: &Theme) {
    painter.rect_stroke(rect, 1.0, Stroke::new(3.0, theme.color.canvas), StrokeKind::Outside);
    painter.rect_stroke(rect, 1.0, Stroke::new(2.0, theme.color.selection_line), StrokeKind::Outside);
}

fn fill(theme: &Theme, shown: &Shown, bar: &Bar) -> Color32 {
    let Some(node) = bar.node else { return theme.color.pressed };
    if 0 < bar.n_folded {
        return theme.color.hovered;
    }
    let tree = shown.tree(bar.side);
    let full = color(theme, tree.frame(node));
    if shown.is_lit(bar.side, node) { full } else { full.lerp_to_gamma(theme.color.canvas, FADED) }
}

fn color(theme: &Theme, frame: &Frame) -> Color32 {
    match frame.layer {
        Layer::Note => theme.color.hovered,
        Layer::Idle => theme.color.idle,
        _ => theme.color_of_name(&frame.name),
    }
}
