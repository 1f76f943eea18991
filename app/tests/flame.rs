//! The flame graph in the window: found by its labels, used by mouse and keyboard.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Arc;

use egui::{Key, Pos2, Vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use tracecard::command::Command;
use tracecard::fonts;
use tracecard::gui::App;
use tracecard::theme::{Mode, Theme};
use tracecard::views::ViewId;
use tracecard::views::flame::View;
use tracecard_analyzers::flame::{Edit, Weight};
use tracecard_analyzers::{Params, run_all};
use tracecard_model::{Progress, Span, fixture};

/// linear 0..100 > mm 10..50; relu 100..160. Kernels: gemm 300 by mm, relu_kernel 100 by relu.
const TRACE: &str = "
    device 0 H100
    thread 1 ops
      op linear 0 100
      op mm 10 40
      op relu 100 60
    thread 1 api
      api cudaLaunchKernel 20 10 #1
      api cudaLaunchKernel 110 10 #2
    stream 0:7
      kernel gemm 30 300 #1
      kernel relu_kernel 330 100 #2";

fn flame(text: &str) -> Harness<'static, App> {
    let trace = fixture(text).unwrap();
    let analysis = run_all(&trace, &Params::default(), &Progress::new()).unwrap();
    let mut app = App::new(&egui::Context::default());
    app.load_trace(Arc::new(trace), Arc::new(analysis));
    app.show_only(Some(ViewId::Flame));
    let mut harness = Harness::builder()
        .with_size(Vec2::new(1000.0, 400.0))
        // Two clicks in a row are a double click.
        .with_step_dt(0.02)
        .with_context_setup(|ctx| {
            ctx.set_fonts(fonts::definitions());
            Theme::of(Mode::Dark).apply(ctx);
        })
        .build_ui_state(|ui, app: &mut App| app.ui(ui), app);
    settle(&mut harness);
    harness
}

/// Until the job is done and its result on screen.
/// A click becomes a command in one frame, a job in the next, and a picture in the one after its end.
fn settle(harness: &mut Harness<'static, App>) {
    for _ in 0..3 {
        harness.step();
        harness.state_mut().wait();
    }
    harness.run();
}

fn press(harness: &mut Harness<'static, App>, keys: &[Key]) {
    for key in keys {
        harness.key_press(*key);
        settle(harness);
    }
}

/// A click into the row `depth` (0: everything) at this share of the width.
fn click(harness: &mut Harness<'static, App>, x_frac: f32, depth: f32, n_clicks: usize) {
    let frames = harness.get_by_label_contains("Flame graph of").rect();
    let row_pt = Theme::of(Mode::Dark).size.slice;
    let pos = Pos2::new(frames.left() + frames.width() * x_frac, frames.top() + row_pt * (depth + 0.5));
    harness.hover_at(pos);
    harness.step();
    for _ in 0..n_clicks {
        for pressed in [true, false] {
            let modifiers = egui::Modifiers::NONE;
            harness.event(egui::Event::PointerButton {
                pos,
                button: egui::PointerButton::Primary,
                pressed,
                modifiers,
            });
            harness.step();
        }
    }
    settle(harness);
}

fn cursor(harness: &Harness<'static, App>) -> String {
    let cursor = harness.state().state().flame.cursor.clone();
    let names =
        cursor.map(|cursor| cursor.path.iter().map(|frame| frame.name.to_string()).collect::<Vec<_>>());
    names.unwrap_or_default().join(";")
}

fn zoom(harness: &Harness<'static, App>) -> String {
    let zooms = &harness.state().state().flame.zooms;
    let last = zooms.last().map(|zoom| zoom.iter().map(|frame| frame.name.to_string()).collect::<Vec<_>>());
    last.unwrap_or_default().join(";")
}

#[test]
fn it_begins_with_device_time() {
    let harness = flame(TRACE);
    // gemm 300 + relu_kernel 100 + idle 0..30.
    assert!(harness.query_by_label("Flame graph of 7 frames, 430 ns").is_some());
    assert!(harness.query_by_label("Device time ▾").is_some());
}

#[test]
fn arrows_enter_and_escape() {
    let mut harness = flame(TRACE);
    click(&mut harness, 0.1, 0.0, 1);
    press(&mut harness, &[Key::ArrowDown, Key::ArrowDown]);
    assert_eq!(cursor(&harness), "linear;mm");
    press(&mut harness, &[Key::Enter]);
    assert_eq!(zoom(&harness), "linear;mm");
    press(&mut harness, &[Key::ArrowDown, Key::Enter]);
    assert_eq!(zoom(&harness), "linear;mm;gemm");
    press(&mut harness, &[Key::Escape]);
    assert_eq!(zoom(&harness), "linear;mm");
    press(&mut harness, &[Key::Backspace]);
    assert_eq!(zoom(&harness), "");
    press(&mut harness, &[Key::ArrowUp, Key::ArrowUp, Key::ArrowRight]);
    assert_eq!(cursor(&harness), "relu");
    press(&mut harness, &[Key::Escape]);
    assert_eq!(cursor(&harness), "");
}

#[test]
fn keys_of_the_frames_do_not_move_the_timeline() {
    let mut harness = flame(TRACE);
    click(&mut harness, 0.1, 1.0, 1);
    press(&mut harness, &[Key::W, Key::F]);
    assert_eq!(harness.state().state().timeline.view, None);
    assert_eq!(harness.state().state().flame.edits.len(), 1, "F shows only this frame");
}

#[test]
fn a_click_chooses_and_a_second_one_zooms() {
    let mut harness = flame(TRACE);
    // 300 of 430 are linear.
    click(&mut harness, 0.3, 2.0, 1);
    assert_eq!(cursor(&harness), "linear;mm");
    assert!(harness.query_by_label_contains("at mm, 300 ns").is_some());
    click(&mut harness, 0.3, 2.0, 2);
    assert_eq!(zoom(&harness), "linear;mm");
    harness.get_by_label("Zoom out").click();
    settle(&mut harness);
    assert_eq!(zoom(&harness), "");
}

#[test]
fn edits_by_key_are_undone_by_button() {
    let mut harness = flame(TRACE);
    click(&mut harness, 0.3, 1.0, 1);
    press(&mut harness, &[Key::X]);
    // Without linear: relu 100 with its kernel, idle 30 with its cause.
    assert!(harness.query_by_label("Flame graph of 4 frames, 130 ns").is_some());
    assert!(harness.query_by_label("130 ns of 430 ns").is_some());
    harness.get_by_label("Undo").click();
    settle(&mut harness);
    assert!(harness.query_by_label("Flame graph of 7 frames, 430 ns").is_some());
    assert!(harness.state().state().flame.edits.is_empty());
}

#[test]
fn slash_leads_to_the_filter_and_the_share_is_shown() {
    let mut harness = flame(TRACE);
    click(&mut harness, 0.3, 1.0, 1);
    press(&mut harness, &[Key::Slash]);
    harness.get_by_label("Filter frames").type_text("^mm$");
    settle(&mut harness);
    assert!(harness.query_by_label("69.8 % match").is_some(), "300 of 430");
}

#[test]
fn a_sandwich_is_made_from_the_list() {
    let mut harness = flame(TRACE);
    harness.get_by_label("Sandwich").click();
    settle(&mut harness);
    assert!(harness.query_by_label("No frame is chosen").is_some());
    harness.get_by_label("Choose mm, 300 ns").click();
    settle(&mut harness);
    assert_eq!(harness.state().state().flame.view, View::Sandwich);
    assert!(harness.query_by_label_contains("at mm, 300 ns").is_some());
    let frames = harness.get_by_label_contains("Flame graph of").rect();
    assert!(300.0 < frames.left(), "the list stays beside it");
}

#[test]
fn weight_view_and_frames_are_chosen_from_menus() {
    let mut harness = flame(TRACE);
    harness.get_by_label("Device time ▾").click();
    harness.run();
    harness.get_by_label("CPU time").click();
    settle(&mut harness);
    assert_eq!(harness.state().state().flame.weight, Some(Weight::Cpu));
    // linear 100 and relu 60.
    assert!(harness.query_by_label_contains("frames, 160 ns").is_some());
    harness.get_by_label("Frames ▾").click();
    harness.run();
    harness.get_by_label("Operator").click();
    settle(&mut harness);
    assert!(harness.query_by_label("Flame graph of 1 frame, 20 ns").is_some(), "only the two launches");
}

#[test]
fn a_command_shows_the_flame_graph_of_a_span() {
    let mut harness = flame(TRACE);
    let ctx = harness.ctx.clone();
    harness.state_mut().apply(&ctx, Command::FlameOf(Span::new(300, 400)));
    settle(&mut harness);
    // gemm 300..330, relu_kernel 330..400.
    assert!(harness.query_by_label_contains("frames, 100 ns").is_some());
    assert!(harness.query_by_label("Selection 100 ns ▾").is_some());
}

#[test]
fn the_timeline_window_is_followed() {
    let mut harness = flame(TRACE);
    harness.get_by_label("Whole run ▾").click();
    harness.run();
    harness.get_by_label("Timeline window").click();
    settle(&mut harness);
    assert!(harness.query_by_label_contains("frames, 430 ns").is_some(), "all of it is in view");
    let ctx = harness.ctx.clone();
    harness.state_mut().apply(&ctx, Command::ShowSpan(Span::new(340, 420)));
    settle(&mut harness);
    // With 5 % of air on both sides: 336..424, all in relu_kernel.
    assert!(harness.query_by_label_contains("frames, 88 ns").is_some());
}

#[test]
fn copies_are_text() {
    let mut harness = flame(TRACE);
    harness.get_by_label("Copy").click();
    harness.run();
    harness.get_by_label("Copy as folded text").click();
    harness.step();
    let copied: Vec<String> = harness
        .output()
        .platform_output
        .commands
        .iter()
        .filter_map(|command| match command {
            egui::OutputCommand::CopyText(text) => Some(text.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(copied, ["linear;mm;gemm 300\nrelu;relu_kernel 100\nGPU idle;host wait 30\n"]);
}

#[test]
fn without_frames_it_says_why() {
    let harness = flame("");
    assert!(harness.query_by_label("No stacks here").is_some());
    let harness = flame("thread 1 ops\n op a 0 10");
    assert!(harness.query_by_label("Flame graph of 1 frame, 10 ns").is_some());
    assert!(harness.query_by_label("CPU time ▾").is_some());
}

#[test]
fn every_control_has_a_name() {
    let mut harness = flame(TRACE);
    assert_eq!(harness.unnamed_widgets(), Vec::<String>::new());
    click(&mut harness, 0.3, 1.0, 1);
    press(&mut harness, &[Key::C]);
    assert!(matches!(harness.state().state().flame.edits[..], [Edit::CollapseRecursion(_)]));
    harness.get_by_label("Sandwich").click();
    settle(&mut harness);
    assert_eq!(harness.unnamed_widgets(), Vec::<String>::new());
}
