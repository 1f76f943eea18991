//! The strip above the lanes that says where steps begin and end, on the slowest device.

use egui::{Align2, FontId, Rect, Sense, Stroke, Ui, WidgetInfo};
use tracecard_model::Span;

use super::Areas;
use crate::command::Command;
use crate::format;
use crate::run::Run;
use crate::theme::Theme;
use crate::time_scale::TimeScale;

/// One step.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Step {
    pub(super) span: Span,
    /// Name of the range that marks it.
    pub(super) name: String,
    /// Its number, where there is no room for the name.
    short: String,
}

/// A rectangle of the strip: one step, or several narrow ones.
#[derive(Clone, Debug, PartialEq)]
struct Block {
    rect: Rect,
    /// First step of it.
    first: usize,
    n_steps: usize,
}

/// Steps narrower than this are shown together, in points.
const MIN_STEP_PT: f32 = 10.0;

/// The steps of a run by start; none before it is analysed.
pub(super) fn of_run(run: &Run) -> Vec<Step> {
    let Some(table) = run.table("step_list") else { return Vec::new() };
    let slowest = run.table("steps").and_then(|summary| summary.int(0, "device"));
    let device = slowest.or_else(|| table.int(0, "device"));
    let step = |row: usize| {
        let span = Span::new(table.int(row, "start_ns")?, table.int(row, "end_ns")?);
        let name = table.text(row, "name").unwrap_or_default().to_owned();
        let n_digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
        let of_name =
            name.get(name.len() - n_digits..).filter(|digits| !digits.is_empty()).map(str::to_owned);
        let short = of_name.or_else(|| table.int(row, "number").map(|n| n.to_string())).unwrap_or_default();
        Some(Step { span, name, short })
    };
    let rows = (0..table.n_rows()).filter(|row| table.int(*row, "device") == device);
    let mut steps: Vec<Step> = rows.filter_map(step).collect();
    steps.sort_by_key(|step| (step.span.start_ns, step.span.end_ns));
    steps
}

/// The blocks in view, from left to right.
fn layout(steps: &[Step], scale: &TimeScale, area: Rect) -> Vec<Block> {
    let view = scale.view().span();
    let first = steps.partition_point(|step| step.span.end_ns <= view.start_ns);
    let mut blocks: Vec<Block> = Vec::new();
    for (idx, step) in steps.iter().enumerate().skip(first) {
        if view.end_ns <= step.span.start_ns {
            break;
        }
        let (left, right) = (scale.x_from_ns(step.span.start_ns), scale.x_from_ns(step.span.end_ns));
        let is_narrow = right - left < MIN_STEP_PT;
        let rect = Rect::from_x_y_ranges(left..=right.max(left + 1.0), area.y_range());
        match blocks.last_mut() {
            Some(last) if is_narrow && is_run(last) && left - last.rect.right() < MIN_STEP_PT => {
                last.rect.max.x = rect.right();
                last.n_steps += 1;
            }
            _ => blocks.push(Block { rect, first: idx, n_steps: 1 }),
        }
    }
    blocks
}

/// May narrow steps be added to it?
fn is_run(block: &Block) -> bool {
    1 < block.n_steps || block.rect.width() < MIN_STEP_PT
}

/// Paint the strip, and lines through the lanes where steps begin.
pub(super) fn paint(ui: &Ui, theme: &Theme, areas: &Areas, scale: &TimeScale, steps: &[Step]) {
    if steps.is_empty() {
        return;
    }
    let color = &theme.color;
    let font = FontId::proportional(theme.font.label);
    let title = areas.corner.right_bottom() - egui::vec2(theme.space.m, areas.steps.height() / 2.0);
    ui.painter().text(title, Align2::RIGHT_CENTER, "Steps", font.clone(), color.axis_text);
    let painter = ui.painter_at(areas.steps.union(areas.canvas));
    for block in layout(steps, scale, areas.steps) {
        let Some(step) = steps.get(block.first) else { continue };
        let fill = if block.first % 2 == 0 { color.raised } else { color.hovered };
        let shown = Rect::from_min_max(block.rect.min, block.rect.max - egui::vec2(1.0, 1.0));
        painter.rect_filled(shown, 0.0, fill);
        let texts = if block.n_steps == 1 {
            let x = painter.round_to_pixel_center(block.rect.left());
            let through = areas.steps.top()..=areas.canvas.bottom();
            painter.vline(x, through, Stroke::new(1.0, color.outline));
            [step.name.clone(), step.short.clone()]
        } else {
            [format::counted(block.n_steps, "step"), format::count(block.n_steps as i64)]
        };
        let visible = block.rect.intersect(areas.steps);
        for text in texts {
            let galley = painter.layout_no_wrap(text, font.clone(), color.text);
            if galley.size().x + 6.0 <= visible.width() {
                let at = Align2::CENTER_CENTER.align_size_within_rect(galley.size(), visible).min;
                painter.galley(at, galley, color.text);
                break;
            }
        }
    }
}

/// A click on a step fits it into view.
pub(super) fn ui(ui: &mut Ui, areas: &Areas, scale: &TimeScale, steps: &[Step]) -> Vec<Command> {
    if steps.is_empty() {
        return Vec::new();
    }
    let response = ui.interact(areas.steps, ui.make_persistent_id("steps"), Sense::click());
    response.widget_info(|| {
        let label = format!("{} in time order", format::counted(steps.len(), "step"));
        WidgetInfo::labeled(egui::Role::Button, true, label)
    });
    let Some(pointer) = response.hover_pos() else { return Vec::new() };
    let t_ns = scale.ns_from_x(pointer.x);
    let at = steps.partition_point(|step| step.span.start_ns <= t_ns);
    let step = at.checked_sub(1).and_then(|at| steps.get(at)).filter(|step| step.span.contains(t_ns));
    let Some(step) = step else { return Vec::new() };
    let is_clicked = response.clicked();
    let length = format::ns(step.span.dur_ns() as f64);
    response
        .on_hover_text_at_pointer(format!("{}: {length}\nClick to fit it into view", step.name))
        .on_hover_cursor(egui::CursorIcon::PointingHand);
    if is_clicked { vec![Command::ShowSpan(step.span)] } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time_scale::View;
    use egui::pos2;

    /// One `left..right×steps` a block, on a strip of 100 points.
    fn blocks(spans: &[(i64, i64)], end_ns: i64) -> String {
        let step = |(start_ns, end_ns): &(i64, i64)| Step {
            span: Span::new(*start_ns, *end_ns),
            name: String::new(),
            short: String::new(),
        };
        let steps: Vec<Step> = spans.iter().map(step).collect();
        let scale = TimeScale::new(View::of(Span::new(0, end_ns)), 0.0, 100.0);
        let blocks = layout(&steps, &scale, Rect::from_min_max(pos2(0.0, 0.0), pos2(100.0, 10.0)));
        let text = |b: &Block| format!("{}..{}×{}", b.rect.left(), b.rect.right(), b.n_steps);
        blocks.iter().map(text).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn wide_steps_stand_alone_and_narrow_ones_together() {
        assert_eq!(blocks(&[(0, 40), (40, 80)], 100), "0..40×1 40..80×1");
        assert_eq!(blocks(&[(0, 4), (4, 8), (8, 12), (20, 60), (60, 64)], 100), "0..12×3 20..60×1 60..64×1");
        assert_eq!(blocks(&[], 100), "");
    }
}
