//! Where frames lie: rows of bars, the width of each its share. O(pixels) in frames that can be seen; what
//! is too narrow is folded into one mark that says how many frames it hides.

use egui::{Rect, pos2};
use tracecard_analyzers::flame::{FlameTree, Frame, NodeId};

use super::model::Shown;
use super::state::{Side, View};
use crate::text_width::TextWidth;
use crate::{format, short_name};

/// Narrower frames are folded, in points.
pub const MIN_FRAME_PT: f64 = 3.0;
/// Narrower marks of folded frames are not drawn, only counted, in points.
const MIN_FOLD_PT: f64 = 0.5;
/// Between the edge of a bar and its text, in points.
const MARGIN_PT: f32 = 4.0;
/// More texts than this are a haze, and cost.
const MAX_LABELS: usize = 800;

/// The place to lay out in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Canvas {
    /// Where.
    pub rect: Rect,
    /// How far it is scrolled.
    pub scroll_pt: f32,
    /// Height of a row.
    pub row_pt: f32,
    /// Size of a pixel.
    pub pixel_pt: f32,
}

/// A rectangle: a frame, everything, or several frames too narrow to show.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bar {
    /// Where; one pixel is left to the next.
    pub rect: Rect,
    /// Which tree the node is of.
    pub side: Side,
    /// The frame, or the first of those folded; `None`: everything.
    pub node: Option<NodeId>,
    /// How many frames are folded here; 0: this is one frame.
    pub n_folded: usize,
    /// Weight of all of it.
    pub weight: i64,
}

/// A text in a bar.
#[derive(Clone, Debug, PartialEq)]
pub struct Label {
    /// The bar's number.
    pub bar: usize,
    /// What fits.
    pub text: String,
}

/// A laid-out frame of the window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Items {
    /// Bars in sight, row by row from the top, each row from the left.
    pub bars: Vec<Bar>,
    /// Texts.
    pub labels: Vec<Label>,
    /// Frames that are folded, in sight or not.
    pub n_folded: usize,
    /// Height of all rows in points.
    pub height_pt: f32,
    /// Number of the uppermost row; negative where callers lie above the middle of a sandwich.
    pub top_row: i64,
}

impl Items {
    /// The bar under a point.
    pub fn bar_at(&self, x_pt: f32, y_pt: f32) -> Option<&Bar> {
        let is_in = |bar: &&Bar| {
            let rect = bar.rect;
            // The pixel between two bars belongs to the left one.
            rect.left() <= x_pt
                && x_pt < rect.right() + 1.0
                && rect.top() <= y_pt
                && y_pt <= rect.bottom() + 1.0
        };
        self.bars.iter().find(is_in)
    }

    /// The bar of a node.
    pub fn bar_of(&self, side: Side, node: Option<NodeId>) -> Option<&Bar> {
        self.bars.iter().find(|bar| bar.side == side && bar.node == node && bar.n_folded == 0)
    }

    /// The frame beside this one on its row.
    pub fn beside(&self, bar: &Bar, is_right: bool) -> Option<&Bar> {
        let is_row = |other: &&Bar| other.rect.top() == bar.rect.top() && other.n_folded == 0;
        let mut row = self.bars.iter().filter(is_row);
        if is_right {
            row.find(|other| bar.rect.left() < other.rect.left())
        } else {
            row.rfind(|other| other.rect.left() < bar.rect.left())
        }
    }
}

/// A bar before it is known how many rows lie above it.
struct Raw {
    row: i64,
    left_pt: f64,
    right_pt: f64,
    side: Side,
    node: Option<NodeId>,
    n_folded: usize,
    weight: i64,
}

/// Lay out what can be seen. `zoom` are the names on the way to the frame that fills the width.
pub fn layout(shown: &Shown, zoom: &[Frame], canvas: &Canvas, text_width: &TextWidth) -> Items {
    let width_pt = f64::from(canvas.rect.width());
    let mut bars = Bars { raw: Vec::new(), n_folded: 0 };
    let tree = &*shown.below;
    if shown.key.view == View::Sandwich {
        for (side, tree, step) in [(Side::Below, tree, 1), (Side::Above, shown.tree(Side::Above), -1)] {
            let Some(root) = tree.children(None).next() else { continue };
            if side == Side::Below {
                bars.frame(side, tree, root, 0, 0.0, width_pt);
            }
            if side == Side::Below || shown.above.is_some() {
                bars.below(side, tree, Some(root), step, step, 0.0, width_pt);
            }
        }
    } else if !tree.is_empty() {
        let all = Raw {
            row: 0,
            left_pt: 0.0,
            right_pt: width_pt,
            side: Side::Below,
            node: None,
            n_folded: 0,
            weight: tree.total(),
        };
        bars.raw.push(all);
        let zoomed = tree.find(zoom);
        let way: Vec<NodeId> = std::iter::successors(zoomed, |node| tree.parent(*node)).collect();
        for (idx, node) in way.iter().rev().enumerate() {
            bars.frame(Side::Below, tree, *node, idx as i64 + 1, 0.0, width_pt);
        }
        bars.below(Side::Below, tree, zoomed, way.len() as i64 + 1, 1, 0.0, width_pt);
    }
    bars.finish(shown, canvas, text_width)
}

struct Bars {
    raw: Vec<Raw>,
    n_folded: usize,
}

impl Bars {
    fn frame(&mut self, side: Side, tree: &FlameTree, node: NodeId, row: i64, left_pt: f64, right_pt: f64) {
        let weight = tree.weight(node);
        self.raw.push(Raw { row, left_pt, right_pt, side, node: Some(node), n_folded: 0, weight });
    }

    /// All that lies under a node which is this wide.
    fn below(
        &mut self,
        side: Side,
        tree: &FlameTree,
        of: Option<NodeId>,
        row: i64,
        step: i64,
        left_pt: f64,
        width_pt: f64,
    ) {
        let total = of.map_or(tree.total(), |node| tree.weight(node));
        if total <= 0 {
            // Nothing weighs anything, so nothing can be drawn to scale.
            self.n_folded += of.map_or(tree.len(), |node| tree.subtree(node).len() - 1);
            return;
        }
        let pt_of = |weight: i64| weight as f64 / total as f64 * width_pt;
        let mut open = vec![(of, row, left_pt)];
        while let Some((of, row, mut left_pt)) = open.pop() {
            let mut fold: Option<Raw> = None;
            for node in tree.children(of) {
                let weight = tree.weight(node);
                let right_pt = left_pt + pt_of(weight);
                if MIN_FRAME_PT <= right_pt - left_pt {
                    self.fold(fold.take());
                    self.frame(side, tree, node, row, left_pt, right_pt);
                    open.push((Some(node), row + step, left_pt));
                } else {
                    let fold = fold.get_or_insert(Raw {
                        row,
                        left_pt,
                        right_pt,
                        side,
                        node: Some(node),
                        n_folded: 0,
                        weight: 0,
                    });
                    fold.right_pt = right_pt;
                    fold.n_folded += tree.subtree(node).len();
                    fold.weight += weight;
                }
                left_pt = right_pt;
            }
            self.fold(fold.take());
        }
    }

    fn fold(&mut self, fold: Option<Raw>) {
        let Some(fold) = fold else { return };
        self.n_folded += fold.n_folded;
        if MIN_FOLD_PT <= fold.right_pt - fold.left_pt {
            self.raw.push(fold);
        }
    }

    fn finish(mut self, shown: &Shown, canvas: &Canvas, text_width: &TextWidth) -> Items {
        let first = self.raw.iter().map(|raw| raw.row).min().unwrap_or(0);
        let last = self.raw.iter().map(|raw| raw.row).max().unwrap_or(-1);
        self.raw.sort_by(|a, b| a.row.cmp(&b.row).then(a.left_pt.total_cmp(&b.left_pt)));
        let snapped = |x_pt: f64| {
            let pixel_pt = f64::from(canvas.pixel_pt);
            ((f64::from(canvas.rect.left()) + x_pt) / pixel_pt).round() * pixel_pt
        };
        let mut bars = Vec::new();
        for raw in &self.raw {
            let top_pt = canvas.rect.top() + (raw.row - first) as f32 * canvas.row_pt - canvas.scroll_pt;
            let bottom_pt = top_pt + canvas.row_pt;
            if bottom_pt <= canvas.rect.top() || canvas.rect.bottom() <= top_pt {
                continue;
            }
            let (left_pt, right_pt) = (snapped(raw.left_pt) as f32, snapped(raw.right_pt) as f32);
            let right_pt = (right_pt - canvas.pixel_pt).max(left_pt + canvas.pixel_pt);
            let rect = Rect::from_min_max(pos2(left_pt, top_pt), pos2(right_pt, bottom_pt - 1.0));
            let Raw { side, node, n_folded, weight, .. } = *raw;
            bars.push(Bar { rect, side, node, n_folded, weight });
        }
        let labels = labels(shown, &bars, text_width);
        let height_pt = (last - first + 1) as f32 * canvas.row_pt;
        Items { bars, labels, n_folded: self.n_folded, height_pt, top_row: first }
    }
}

/// What stands in the bars; where there are too many, in the widest.
fn labels(shown: &Shown, bars: &[Bar], text_width: &TextWidth) -> Vec<Label> {
    let mut labels: Vec<Label> = bars
        .iter()
        .enumerate()
        .filter_map(|(idx, bar)| Some(Label { bar: idx, text: text(shown, bar, text_width)? }))
        .collect();
    if MAX_LABELS < labels.len() {
        let width_pt = |label: &Label| bars.get(label.bar).map_or(0.0, |bar| bar.rect.width());
        labels.sort_by(|a, b| width_pt(b).total_cmp(&width_pt(a)).then(a.bar.cmp(&b.bar)));
        labels.truncate(MAX_LABELS);
    }
    labels
}

fn text(shown: &Shown, bar: &Bar, text_width: &TextWidth) -> Option<String> {
    let room_pt = bar.rect.width() - 2.0 * MARGIN_PT;
    if room_pt < MARGIN_PT {
        return None;
    }
    let fits = |text: &String| text_width.of(text) <= room_pt;
    let tree = shown.tree(bar.side);
    if 0 < bar.n_folded {
        let long = format::counted(bar.n_folded, "frame");
        return [long, format::count(bar.n_folded as i64)].into_iter().find(fits);
    }
    let Some(node) = bar.node else {
        return Some(format!("All · {}", super::weight_text(tree.measure(), bar.weight))).filter(fits);
    };
    let fitted = short_name::fit(&tree.frame(node).name, room_pt, text_width)?;
    Some(fitted.replace(['\n', '\r', '\t'], " "))
}
