//! The timeline as a user works with it: mouse and keys in, state and labels out.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Arc;

use egui::{Event, Key, Modifiers, PointerButton, Pos2, Rect, Vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use tracecard::command::Command;
use tracecard::fonts;
use tracecard::gui::App;
use tracecard::theme::{Mode, Theme};
use tracecard_analyzers::{Params, run_all};
use tracecard_model::{Progress, SliceId, Span, fixture};

const TRACE: &str = "
    device 0 H100
    thread 1 ops
      annotation ProfilerStep#1 0 900
      op aten::mm 10 300
      op aten::relu 400 100
    thread 1 api
      api cudaLaunchKernel 20 10 #1
      api cudaLaunchKernel 410 10 #2
      api cudaMemcpyAsync 500 10 #3
    stream 0:7
      kernel gemm_kernel 100 500 #1 grid=128x1x1 block=256x1x1
      kernel relu_kernel 650 50 #2
      h2d copy 720 80 #3 bytes=4096 src=pageable dst=device";

fn with_trace(text: &str) -> Harness<'static, App> {
    let trace = fixture(text).unwrap();
    let analysis = run_all(&trace, &Params::default(), &Progress::new()).unwrap();
    let ctx = egui::Context::default();
    let mut app = App::new(&ctx);
    app.load_trace(Arc::new(trace), Arc::new(analysis));
    app.wait();
    Harness::builder()
        .with_size(Vec2::new(1280.0, 900.0))
        .with_context_setup(|ctx| {
            ctx.set_fonts(fonts::definitions());
            Theme::of(Mode::Dark).apply(ctx);
        })
        .build_ui_state(|ui, app: &mut App| app.ui(ui), app)
}

fn slice(app: &App, name: &str) -> SliceId {
    let trace = &app.run().unwrap().trace;
    trace.slice_ids().find(|id| trace.name(*id) == name).unwrap()
}

fn select(harness: &mut Harness<'static, App>, name: &str) {
    let slice = slice(harness.state(), name);
    let ctx = harness.ctx.clone();
    harness.state_mut().apply(&ctx, Command::Select(Some(slice)));
    harness.run();
}

fn selected(app: &App) -> Option<String> {
    let selection = app.state().selection?;
    Some(app.run()?.trace.name(selection.slice).to_owned())
}

fn canvas(harness: &Harness<'static, App>) -> Rect {
    harness.get_by_label_contains("Timeline of").rect()
}

/// Where an instant lies.
fn x_of(harness: &Harness<'static, App>, t_ns: f64) -> f32 {
    let run = harness.state().run().unwrap().trace.span().unwrap();
    let view = harness.state().state().timeline.current_view(run);
    let rect = canvas(harness);
    let frac = (t_ns - view.start_ns as f64 - view.sub_ns) / view.width_ns;
    rect.left() + rect.width() * frac as f32
}

fn drag(harness: &mut Harness<'static, App>, from: Pos2, to: Pos2, modifiers: Modifiers) {
    let button =
        |pos, pressed| Event::PointerButton { pos, button: PointerButton::Primary, pressed, modifiers };
    harness.event_modifiers(Event::PointerMoved(from), modifiers);
    harness.step();
    harness.event_modifiers(button(from, true), modifiers);
    harness.step();
    for part in 1..=4 {
        harness.event_modifiers(Event::PointerMoved(from + (to - from) * (part as f32 / 4.0)), modifiers);
        harness.step();
    }
    harness.event_modifiers(button(to, false), modifiers);
    harness.run();
}

fn area(app: &App) -> Option<Span> {
    app.state().timeline.area.as_ref().map(|area| area.span)
}

#[test]
fn a_drag_on_the_axis_selects_time_on_all_lanes_and_says_what_it_is_made_of() {
    let mut harness = with_trace(TRACE);
    let rect = canvas(&harness);
    let y = harness.get_by_label_contains("Time axis").rect().center().y;
    // Alt: without snapping, so that the ends are where the pointer was.
    let (from, to) = (Pos2::new(x_of(&harness, 150.0), y), Pos2::new(x_of(&harness, 675.0), y));
    drag(&mut harness, from, to, Modifiers::ALT);
    let span = area(harness.state()).unwrap();
    assert!((span.start_ns - 150).abs() <= 2 && (span.end_ns - 675).abs() <= 2, "{span:?} on {rect:?}");
    // gemm 150..600 and relu 650..675: 475 of 525 ns busy.
    assert!(harness.query_by_label_contains("all lanes · 7 slices").is_some());
    harness.get_by_label_contains("Devices 1").click();
    harness.run();
    assert!(harness.query_by_label_contains("1 gap").is_some());
    harness.key_press(Key::Escape);
    harness.run();
    assert_eq!(area(harness.state()), None);
    assert!(harness.query_by_label_contains("No stretch of time is selected").is_some());
}

#[test]
fn shift_and_drag_selects_on_the_lanes_touched_and_snaps_to_slices() {
    let mut harness = with_trace(TRACE);
    let rect = canvas(&harness);
    // The first lane below the header of GPU 0 is stream 7.
    let y = rect.top() + 20.0 + 8.0;
    let (from, to) = (Pos2::new(x_of(&harness, 102.0), y), Pos2::new(x_of(&harness, 697.0), y));
    drag(&mut harness, from, to, Modifiers::SHIFT);
    assert_eq!(area(harness.state()), Some(Span::new(100, 700)));
    assert_eq!(harness.state().state().timeline.area.as_ref().unwrap().lanes.as_ref().unwrap().len(), 1);
    assert!(harness.query_by_label_contains("1 lane · 2 slices").is_some());
    // An edge can be dragged further, and snaps again.
    let (from, to) = (Pos2::new(x_of(&harness, 700.0), y), Pos2::new(x_of(&harness, 797.0), y));
    drag(&mut harness, from, to, Modifiers::NONE);
    assert_eq!(area(harness.state()), Some(Span::new(100, 800)));
}

#[test]
fn a_plain_drag_moves_and_selects_nothing() {
    let mut harness = with_trace(TRACE);
    let rect = canvas(&harness);
    let start_ns = |app: &App| app.state().timeline.view.map(|view| view.start_ns);
    drag(&mut harness, rect.center(), rect.center() - Vec2::new(100.0, 0.0), Modifiers::NONE);
    assert_eq!(area(harness.state()), None);
    assert!(start_ns(harness.state()).is_some_and(|ns| 0 < ns));
}

#[test]
fn r_takes_the_time_of_the_selected_slice_and_esc_steps_back() {
    let mut harness = with_trace(TRACE);
    select(&mut harness, "gemm_kernel");
    harness.key_press(Key::R);
    harness.run();
    assert_eq!(area(harness.state()), Some(Span::new(100, 600)));
    harness.key_press(Key::Escape);
    harness.run();
    assert_eq!((area(harness.state()), selected(harness.state()).as_deref()), (None, Some("gemm_kernel")));
    harness.key_press(Key::Escape);
    harness.run();
    assert_eq!(selected(harness.state()), None);
}

#[test]
fn brackets_follow_the_arrows_and_alt_finds_the_same_name() {
    let mut harness = with_trace(TRACE);
    select(&mut harness, "relu_kernel");
    harness.key_press(Key::OpenBracket);
    harness.run();
    let launch = harness.state().state().selection.unwrap().slice;
    assert_eq!(selected(harness.state()).as_deref(), Some("cudaLaunchKernel"));
    harness.key_press(Key::CloseBracket);
    harness.run();
    assert_eq!(selected(harness.state()).as_deref(), Some("relu_kernel"));
    harness.key_press(Key::OpenBracket);
    harness.run();
    harness.key_press_modifiers(Modifiers::ALT, Key::Comma);
    harness.run();
    let before = harness.state().state().selection.unwrap().slice;
    assert!(before < launch);
    assert_eq!(selected(harness.state()).as_deref(), Some("cudaLaunchKernel"));
    harness.key_press_modifiers(Modifiers::ALT, Key::Period);
    harness.run();
    assert_eq!(harness.state().state().selection.unwrap().slice, launch);
}

fn type_into_search(harness: &mut Harness<'static, App>, text: &str) {
    harness.key_press(Key::Slash);
    harness.run();
    harness.event(Event::Text(text.to_owned()));
    harness.run();
}

#[test]
fn slash_searches_from_the_view_on_and_enter_goes_round() {
    let mut harness = with_trace(TRACE);
    type_into_search(&mut harness, "^cuda.*Kernel");
    assert!(harness.query_by_label("2 matches").is_some());
    harness.key_press(Key::Enter);
    harness.run();
    assert!(harness.query_by_label("1 of 2").is_some());
    let first = harness.state().state().selection.unwrap().slice;
    harness.key_press(Key::Enter);
    harness.run();
    assert!(harness.query_by_label("2 of 2").is_some());
    harness.key_press(Key::Enter);
    harness.run();
    assert_eq!(harness.state().state().selection.unwrap().slice, first, "after the last comes the first");
    harness.key_press_modifiers(Modifiers::SHIFT, Key::Enter);
    harness.run();
    assert!(harness.query_by_label("2 of 2").is_some());
    harness.key_press(Key::Escape);
    harness.run();
    assert_eq!(harness.state().state().timeline.search, None);
    assert!(selected(harness.state()).is_some(), "the hit stays selected");
}

#[test]
fn others_are_hidden_with_a_chip_that_counts_them() {
    let mut harness = with_trace(TRACE);
    type_into_search(&mut harness, "gemm");
    harness.get_by_label("Hide others").click();
    harness.run();
    // 9 slices, one of them matches.
    harness.get_by_label_contains("hiding 8 slices").click();
    harness.run();
    assert!(harness.query_by_label_contains("hiding").is_none());
    let search = harness.state().state().timeline.search.clone().unwrap();
    assert_eq!(search.others, tracecard::views::timeline::search::Others::Dimmed);
}

#[test]
fn crumbs_lead_back_to_the_stretch_zoomed_into_before() {
    let mut harness = with_trace(TRACE);
    let ctx = harness.ctx.clone();
    for span in [Span::new(0, 500), Span::new(100, 150)] {
        harness.state_mut().apply(&ctx, Command::ShowSpan(span));
        harness.run();
    }
    harness.get_by_role_and_label(egui::Role::Button, "500 ns").click();
    harness.run();
    let view = harness.state().state().timeline.view.unwrap();
    assert_eq!(view.width_ns, 550.0, "500 ns and a twentieth on both sides");
}
