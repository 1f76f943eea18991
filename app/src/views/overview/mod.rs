//! The answer: where the time went. First line: a step, or the window, as the sum of its parts; below it the
//! same as a bar, every device, and what takes most of the time.
//!
//! Nothing here says "busy" alone: a device can be busy and do nothing of use.

mod model;

use egui::{Align, Color32, Layout, RichText, Ui, vec2};

pub use model::{Model, model};

use self::model::{DeviceLine, Ranking};
use super::{Cx, ViewId};
use crate::command::Command;
use crate::headline::{Headline, PartKind};
use crate::memo::Memo;
use crate::run::{Run, RunId};
use crate::theme::Theme;
use crate::widgets::{self, Part};
use crate::{fonts, format, short_name};

/// The model of the run on screen.
#[derive(Debug, Default)]
pub struct Cache(Memo<RunId, Model>);

/// Height of the bar under the answer, in points.
const BAR_PT: f32 = 14.0;
/// The answer gets a smaller font where that keeps it on one line, but no smaller than this share.
const MIN_TITLE_SCALE: f32 = 0.8;
/// Width of one ranking beside the answer, in points.
const RANKING_PT: f32 = 270.0;
/// Narrower views put the rankings below the answer, in points.
const MIN_BESIDE_PT: f32 = 900.0;

/// Show the overview.
pub fn ui(ui: &mut Ui, cx: &Cx<'_>, cache: &mut Cache) -> Vec<Command> {
    let Some((run, analysis)) = super::analysis_ui(ui, cx) else { return Vec::new() };
    let model = cache.0.get(run.id, |_| model(&run.trace, analysis));
    let theme = Theme::of_ui(ui);
    let mut commands = Vec::new();
    egui::ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        egui::Frame::new().inner_margin(theme.space.l).show(ui, |ui| {
            let n_rankings = model.rankings.len() as f32;
            answer_ui(ui, theme, run, model, &mut commands);
            ui.add_space(theme.space.s);
            if ui.available_width() < MIN_BESIDE_PT {
                devices_ui(ui, theme, model, &mut commands);
                for ranking in &model.rankings {
                    ui.add_space(theme.space.l);
                    ranking_ui(ui, theme, ranking, &mut commands);
                }
                return;
            }
            ui.horizontal_top(|ui| {
                ui.spacing_mut().item_spacing.x = theme.space.xl * 1.5;
                let right_pt = n_rankings * (RANKING_PT + theme.space.xl * 1.5);
                // Without an answer there are no devices to show at the left.
                let left_pt = if model.answer.is_some() { ui.available_width() - right_pt } else { 0.0 };
                if 0.0 < left_pt {
                    column_ui(ui, left_pt, |ui| devices_ui(ui, theme, model, &mut commands));
                }
                for ranking in &model.rankings {
                    column_ui(ui, RANKING_PT, |ui| ranking_ui(ui, theme, ranking, &mut commands));
                }
            });
        });
    });
    commands
}

fn column_ui(ui: &mut Ui, width_pt: f32, add: impl FnOnce(&mut Ui)) {
    ui.allocate_ui_with_layout(vec2(width_pt, 0.0), Layout::top_down(Align::Min), |ui| {
        ui.set_width(width_pt);
        let space = &Theme::of_ui(ui).space;
        ui.spacing_mut().item_spacing = vec2(space.m, space.s);
        add(ui);
    });
}

fn answer_ui(ui: &mut Ui, theme: &Theme, run: &Run, model: &Model, commands: &mut Vec<Command>) {
    let Some(answer) = &model.answer else {
        let title = match model.host_step {
            Some((median_ns, _)) => format!("A step takes {} on the host", format::ns(median_ns as f64)),
            None => "No device did any work in this trace".to_owned(),
        };
        ui.label(RichText::new(title).font(fonts::semibold(theme.font.title)).color(theme.color.text_strong));
        let steps =
            model.host_step.map(|(_, count)| format!("The median of {}. ", format::counted(count, "step")));
        let why = if run.trace.devices.is_empty() {
            "The file names no GPU: only the host was recorded, or the program ran on the CPU."
        } else {
            "The file names a GPU, but no kernel and no copy on it."
        };
        ui.label(RichText::new(format!("{}{why}", steps.unwrap_or_default())).color(theme.color.text_muted));
        return;
    };
    headline_ui(ui, theme, answer, commands);
    ui.add_space(theme.space.xs);
    bar_ui(ui, theme, "answer", answer, BAR_PT, commands);
}

/// What to know beside the answer, and how the whole window of each device was spent.
fn devices_ui(ui: &mut Ui, theme: &Theme, model: &Model, commands: &mut Vec<Command>) {
    let Some(answer) = &model.answer else { return };
    let window =
        model.devices.first().map_or_else(String::new, |line| format::ns(line.headline.total_ns as f64));
    ui.label(RichText::new(format!("Whole window of {window} by device")).color(theme.color.text_muted));
    for line in &model.devices {
        device_ui(ui, theme, line, commands);
    }
    if let Some(note) = &answer.note {
        ui.add_space(theme.space.s);
        ui.label(RichText::new(format!("The step above is {note}.")).color(theme.color.text_muted));
    }
}

/// The answer as a sentence whose parts are links.
fn headline_ui(ui: &mut Ui, theme: &Theme, line: &Headline, commands: &mut Vec<Command>) {
    let full = fonts::semibold(theme.font.title);
    let color = theme.color.text;
    // Five squares and wider spaces come on top of the text.
    let needed_pt = ui.painter().layout_no_wrap(line.sum_text(), full, color).size().x + 5.0 * 18.0 + 60.0;
    let scale = (ui.available_width() / needed_pt).clamp(MIN_TITLE_SCALE, 1.0);
    let font = fonts::semibold((theme.font.title * scale).floor());
    let big = |text: String| RichText::new(text).font(font.clone());
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(7.0, 2.0);
        ui.spacing_mut().button_padding = vec2(0.0, 0.0);
        ui.label(big(line.subject.clone()).color(theme.color.text_muted));
        ui.label(big(format::ns(line.total_ns as f64)).color(theme.color.text_strong));
        for (idx, (kind, ns)) in line.parts.iter().enumerate() {
            ui.label(big((if idx == 0 { "=" } else { "+" }).to_owned()).color(theme.color.text_muted));
            let text = format!("{} {}", kind.label(), format::ns(*ns as f64));
            let response = part_ui(ui, theme, &font, part_color(theme, *kind), ["", &text, ""]);
            if response.on_hover_text(hint(*kind)).clicked() {
                commands.push(table_of(*kind));
            }
        }
        if let Some(host_ns) = line.host_wait_ns {
            let text = format!("host {}", format::ns(host_ns as f64));
            let hint = "Idle because the host had not launched what came next. Click for the causes";
            let response = part_ui(ui, theme, &font, theme.color.host_wait, ["(", &text, ")"]);
            if response.on_hover_text(hint).clicked() {
                commands.push(Command::Show(ViewId::Idle));
            }
        }
    });
}

fn device_ui(ui: &mut Ui, theme: &Theme, line: &DeviceLine, commands: &mut Vec<Command>) {
    let name = line.name.as_deref().unwrap_or("unknown device");
    ui.horizontal(|ui| {
        let label = egui::Label::new(RichText::new(&line.label).font(fonts::semibold(theme.font.body)));
        ui.add_sized(vec2(52.0, theme.size.row), label).on_hover_text(name);
        let percents: Vec<String> = line
            .headline
            .parts
            .iter()
            .map(|(kind, ns)| format!("{} {}", kind.label(), percent(line.headline.frac(*ns))))
            .collect();
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let text = RichText::new(percents.join(" · ")).color(theme.color.text_muted);
            ui.add(egui::Label::new(text).truncate());
            bar_ui(ui, theme, &line.label, &line.headline, 10.0, commands);
        });
    });
}

fn bar_ui(
    ui: &mut Ui,
    theme: &Theme,
    salt: &str,
    line: &Headline,
    height_pt: f32,
    commands: &mut Vec<Command>,
) {
    let parts = bar_parts(theme, line);
    let bar: Vec<Part> = parts.iter().map(|(_, part)| part.clone()).collect();
    if let Some((kind, _)) = widgets::stacked_bar_ui(ui, salt, &bar, height_pt).and_then(|idx| parts.get(idx))
    {
        commands.push(table_of(*kind));
    }
}

/// The parts of a bar; idle time that waits for the host is a part of its own.
fn bar_parts(theme: &Theme, line: &Headline) -> Vec<(PartKind, Part)> {
    let mut parts = Vec::new();
    let mut push = |kind: PartKind, color: Color32, name: &str, ns: i64| {
        let Some(frac) = line.frac(ns) else { return };
        let label = format!("{name}: {} ({})", format::ns(ns as f64), format::percent(frac));
        parts.push((kind, Part { frac, color, label }));
    };
    for (kind, ns) in &line.parts {
        let host_ns = line.host_wait_ns.unwrap_or(0).clamp(0, *ns);
        match kind {
            PartKind::Compute => push(*kind, theme.color.compute, "Compute", *ns),
            PartKind::Communication => push(*kind, theme.color.communication, "Communication", *ns),
            PartKind::Copy => push(*kind, theme.color.copy, "Copies", *ns),
            PartKind::Idle => {
                push(*kind, theme.color.host_wait, "Idle, waiting for the host", host_ns);
                push(*kind, theme.color.idle, "Idle for other reasons", *ns - host_ns);
            }
        }
    }
    parts
}

fn ranking_ui(ui: &mut Ui, theme: &Theme, ranking: &Ranking, commands: &mut Vec<Command>) {
    ui.label(RichText::new(ranking.title).color(theme.color.text_muted));
    ui.spacing_mut().item_spacing.y = 0.0;
    ui.spacing_mut().interact_size.y = theme.size.row;
    for top in &ranking.tops {
        ui.push_id(&top.name, |ui| {
            ui.horizontal(|ui| {
                let width_pt = ui.available_width();
                let rect = egui::Rect::from_min_size(ui.cursor().min, vec2(width_pt, theme.size.row));
                if let Some(frac) = top.frac {
                    let bar = vec2(width_pt * frac.clamp(0.0, 1.0) as f32, theme.size.row - 2.0);
                    let fill = theme.color.accent.gamma_multiply(0.18);
                    ui.painter().rect_filled(egui::Rect::from_min_size(rect.min, bar), 2.0, fill);
                }
                ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                    let value = match top.frac {
                        Some(frac) => format!("{}  {}", format::ns(top.ns as f64), format::percent(frac)),
                        None => format::ns(top.ns as f64),
                    };
                    ui.label(RichText::new(value).color(theme.color.text_muted));
                    ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                        ui.add_space(theme.space.s);
                        let name = short_name::short(&top.name);
                        let button = egui::Button::new(RichText::new(name).color(theme.color.text));
                        let response = ui.add(button.frame(false).truncate());
                        if response.on_hover_text(&top.name).clicked() {
                            commands.extend(top.example.map(Command::Reveal));
                        }
                    });
                });
            });
        });
    }
}

/// Where a part is taken apart further.
fn table_of(kind: PartKind) -> Command {
    match kind {
        PartKind::Compute => Command::ShowTable(ViewId::Kernels, String::new()),
        PartKind::Communication => Command::ShowTable(ViewId::Kernels, "comm".to_owned()),
        PartKind::Copy => Command::ShowTable(ViewId::Copies, String::new()),
        PartKind::Idle => Command::Show(ViewId::Idle),
    }
}

fn hint(kind: PartKind) -> &'static str {
    match kind {
        PartKind::Compute => "Kernels that do not communicate. Click for the table",
        PartKind::Communication => "Communication that no compute covers. Click for its kernels",
        PartKind::Copy => "Copies between host and device that nothing covers. Click for the table",
        PartKind::Idle => "Nothing ran. Click for the causes",
    }
}

fn part_color(theme: &Theme, kind: PartKind) -> Color32 {
    match kind {
        PartKind::Compute => theme.color.compute,
        PartKind::Communication => theme.color.communication,
        PartKind::Copy => theme.color.copy,
        PartKind::Idle => theme.color.idle,
    }
}

/// A part of the answer that can be clicked: the square has its colour in the bars.
fn part_ui(
    ui: &mut Ui,
    theme: &Theme,
    font: &egui::FontId,
    color: Color32,
    [before, text, after]: [&str; 3],
) -> egui::Response {
    let format = |color| egui::TextFormat { font_id: font.clone(), color, ..egui::TextFormat::default() };
    let mut job = egui::text::LayoutJob::default();
    job.append(before, 0.0, format(theme.color.text_muted));
    job.append("■ ", 0.0, format(color));
    job.append(text, 0.0, format(theme.color.text_strong));
    job.append(after, 0.0, format(theme.color.text_muted));
    let response = ui.add(egui::Button::new(job).frame(false));
    if response.hovered() || response.has_focus() {
        let line = egui::Stroke::new(1.5, color);
        ui.painter().hline(response.rect.x_range(), response.rect.bottom() - 1.0, line);
    }
    response.on_hover_cursor(egui::CursorIcon::PointingHand).accessible_name(text)
}

fn percent(frac: Option<f64>) -> String {
    frac.map_or_else(|| format::UNKNOWN.to_owned(), format::percent)
}
