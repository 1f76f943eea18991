//! The window as a user sees it: clicks, keys and labels, without a display and without a GPU.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Arc;

use egui::{Key, Modifiers, Pos2, Vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use tracecard::fonts;
use tracecard::gui::App;
use tracecard::theme::{Mode, Theme};
use tracecard::views::ViewId;
use tracecard_analyzers::{Params, run_all};
use tracecard_model::{Progress, SliceId, Trace, fixture};

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
      h2d copy 720 80 #3 bytes=4096 src=pageable dst=device
    counter 0 frac \"SMs Active\"
      0 0.5
      500 0.25";

fn window(app: impl FnOnce(&mut App)) -> Harness<'static, App> {
    let ctx = egui::Context::default();
    let mut state = App::new(&ctx);
    app(&mut state);
    state.wait();
    Harness::builder()
        .with_size(Vec2::new(1280.0, 800.0))
        .with_context_setup(|ctx| {
            ctx.set_fonts(fonts::definitions());
            Theme::of(Mode::Dark).apply(ctx);
        })
        .build_ui_state(|ui, app: &mut App| app.ui(ui), state)
}

fn with_trace(text: &str) -> Harness<'static, App> {
    let trace = fixture(text).unwrap();
    let analysis = run_all(&trace, &Params::default(), &Progress::new()).unwrap();
    window(|app| app.load_trace(Arc::new(trace), Arc::new(analysis)))
}

fn slice(app: &App, name: &str) -> SliceId {
    let trace: &Trace = &app.run().unwrap().trace;
    trace.slice_ids().find(|id| trace.name(*id) == name).unwrap()
}

fn selected(app: &App) -> Option<String> {
    let selection = app.state().selection?;
    Some(app.run()?.trace.name(selection.slice).to_owned())
}

fn view_width_ns(app: &App) -> f64 {
    let run = app.run().unwrap().trace.span().unwrap();
    app.state().timeline.current_view(run).width_ns
}

#[test]
fn a_click_on_a_row_selects_its_slice_and_shows_it_in_the_timeline() {
    let mut harness = with_trace(TRACE);
    harness.state_mut().show_view(ViewId::Kernels);
    harness.run();
    // Labels of the timeline are painted, so the only widget of this name is the row of the table …
    harness.get_all_by_label("relu_kernel").last().unwrap().click();
    harness.run();
    assert_eq!(selected(harness.state()).unwrap(), "relu_kernel");
    // … and now the details view has it as well, with its tie to the launch.
    assert!(harness.query_by_label_contains("cudaLaunchKernel · 10 ns").is_some());
}

#[test]
fn a_tie_leads_from_the_kernel_to_its_launch() {
    let mut harness = with_trace(TRACE);
    harness.get_all_by_label("gemm_kernel").last().unwrap().click();
    harness.run();
    harness.get_by_label_contains("cudaLaunchKernel · 10 ns").click();
    harness.run();
    assert_eq!(selected(harness.state()).unwrap(), "cudaLaunchKernel");
}

#[test]
fn keys_zoom_pan_fit_and_deselect() {
    let mut harness = with_trace(TRACE);
    let whole_ns = view_width_ns(harness.state());
    harness.key_press(Key::W);
    harness.run();
    let zoomed_ns = view_width_ns(harness.state());
    assert!(zoomed_ns < whole_ns, "{zoomed_ns} < {whole_ns}");
    harness.key_press(Key::S);
    harness.run();
    assert!(zoomed_ns < view_width_ns(harness.state()));
    harness.key_press(Key::W);
    harness.key_press(Key::D);
    harness.run();
    harness.key_press(Key::Num0);
    harness.run();
    assert_eq!(view_width_ns(harness.state()), whole_ns);

    let gemm = slice(harness.state(), "gemm_kernel");
    let ctx = harness.ctx.clone();
    harness.state_mut().apply(&ctx, tracecard::command::Command::Select(Some(gemm)));
    harness.key_press(Key::F);
    harness.run();
    assert_eq!(view_width_ns(harness.state()), 550.0, "500 ns and a twentieth of it on both sides");
    harness.key_press(Key::Period);
    harness.run();
    assert_eq!(selected(harness.state()).unwrap(), "relu_kernel");
    harness.key_press(Key::Escape);
    harness.run();
    assert_eq!(selected(harness.state()), None);
}

#[test]
fn a_click_on_the_canvas_selects_the_slice_under_the_pointer() {
    let mut harness = with_trace(TRACE);
    let canvas = harness.get_by_label_contains("Timeline of").rect();
    // The first row below the header of GPU 0 is stream 7; the view is 990 ns wide and begins at −45 ns.
    let at = Pos2::new(canvas.left() + canvas.width() * ((300.0 + 45.0) / 990.0), canvas.top() + 20.0 + 8.0);
    click_at(&mut harness, at);
    assert_eq!(selected(harness.state()).unwrap(), "gemm_kernel");
    click_at(&mut harness, Pos2::new(canvas.left() + 4.0, canvas.top() + 28.0));
    assert_eq!(selected(harness.state()), None, "a click beside all slices deselects");
}

fn click_at(harness: &mut Harness<'static, App>, pos: Pos2) {
    harness.hover_at(pos);
    harness.run();
    for pressed in [true, false] {
        let (button, modifiers) = (egui::PointerButton::Primary, Modifiers::NONE);
        harness.event(egui::Event::PointerButton { pos, button, pressed, modifiers });
        harness.run();
    }
}

#[test]
fn the_wheel_zooms_and_shift_moves() {
    let mut harness = with_trace(TRACE);
    let canvas = harness.get_by_label_contains("Timeline of").rect();
    let whole_ns = view_width_ns(harness.state());
    harness.hover_at(canvas.center());
    harness.run();
    let wheel = |modifiers| egui::Event::MouseWheel {
        unit: egui::MouseWheelUnit::Line,
        delta: Vec2::new(0.0, 2.0),
        phase: egui::TouchPhase::Move,
        source: egui::MouseWheelSource::Unknown,
        modifiers,
    };
    harness.event(wheel(Modifiers::NONE));
    harness.run();
    let zoomed_ns = view_width_ns(harness.state());
    assert!(zoomed_ns < whole_ns * 0.8, "{zoomed_ns} of {whole_ns}");
    let start_ns = harness.state().state().timeline.view.unwrap().start_ns;
    harness.event(egui::Event::Key {
        key: Key::F2,
        physical_key: None,
        pressed: true,
        repeat: false,
        modifiers: Modifiers::SHIFT,
    });
    harness.event(wheel(Modifiers::SHIFT));
    harness.run();
    let view = harness.state().state().timeline.view.unwrap();
    assert!((view.width_ns - zoomed_ns).abs() < 1e-6, "shift does not zoom");
    assert_ne!(view.start_ns, start_ns, "but moves");
}

#[test]
fn a_table_is_sorted_by_its_heading_and_filtered_by_a_word() {
    let mut harness = with_trace(TRACE);
    let names = |harness: &Harness<'static, App>| {
        let mut rows: Vec<_> = harness
            .query_all_by_label_contains("_kernel")
            .map(|node| {
                (
                    node.rect().top() as i64,
                    node.accesskit_node().label().or_else(|| node.value()).unwrap_or_default(),
                )
            })
            .filter(|(top, _)| 550 < *top)
            .collect();
        rows.sort();
        rows.into_iter().map(|row| row.1).collect::<Vec<_>>()
    };
    assert_eq!(names(&harness), ["gemm_kernel", "relu_kernel"]);
    harness.get_by_label("Total").click();
    harness.run();
    harness.get_by_label_contains("Total ▼").click();
    harness.run();
    assert_eq!(names(&harness), ["relu_kernel", "gemm_kernel"], "smallest first");
    harness.get_by_label("Filter kernels").click();
    harness.run();
    harness.get_by_label("Filter kernels").type_text("GEMM");
    harness.run();
    assert_eq!(names(&harness), ["gemm_kernel"]);
    assert!(harness.query_by_label("1 of 2 rows").is_some());
}

#[test]
fn parts_of_the_answer_lead_to_their_tables() {
    let mut harness = with_trace(TRACE);
    harness.get_by_label("copy 80 ns").click();
    harness.run();
    assert!(harness.query_by_label("Filter copies").is_some());
    harness.get_by_label("host 0 ns").click();
    harness.run();
    assert!(harness.query_by_label("Filter idle").is_some());
}

#[test]
fn groups_close_and_open_by_their_labels() {
    let mut harness = with_trace(TRACE);
    harness.get_by_label_contains("Close Process 1").click();
    harness.run();
    assert!(harness.query_by_label_contains("thread 1").is_none());
    harness.get_by_label_contains("Open Process 1").click();
    harness.run();
    assert!(harness.query_by_label_contains("Close thread 1").is_some());
}

#[test]
fn views_close_and_come_back() {
    let mut harness = with_trace(TRACE);
    harness.get_by_label("Close Timeline").click();
    harness.run();
    assert!(harness.query_by_label_contains("Timeline of").is_none());
    harness.get_by_label("View").click();
    harness.run();
    harness.get_all_by_label("Timeline").last().unwrap().click();
    harness.run();
    assert!(harness.query_by_label_contains("Timeline of").is_some());
}

#[test]
fn without_a_trace_there_is_a_start_page() {
    let harness = window(|_| {});
    assert!(harness.query_by_label("Open a file…").is_some());
}

#[test]
fn a_file_that_cannot_be_read_says_why_on_the_start_page() {
    let harness = window(|app| app.open("/no/such/file.sqlite".into()));
    assert!(harness.query_by_label("This file could not be opened").is_some());
    assert!(harness.query_by_label_contains("/no/such/file.sqlite").is_some());
}

#[test]
fn a_failed_import_leaves_the_run_on_screen() {
    let trace = fixture(TRACE).unwrap();
    let analysis = run_all(&trace, &Params::default(), &Progress::new()).unwrap();
    let mut harness = window(|app| {
        app.load_trace(Arc::new(trace), Arc::new(analysis));
        app.open("/no/such/file.sqlite".into());
    });
    assert!(harness.query_by_label_contains("/no/such/file.sqlite").is_some());
    assert!(harness.query_by_label_contains("Timeline of").is_some());
    harness.get_by_label("Dismiss").click();
    harness.run();
    assert!(harness.query_by_label_contains("/no/such/file.sqlite").is_none());
}

#[test]
fn a_real_file_is_read_then_analysed() {
    let path =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../sample-traces/nsys/h100_training.sqlite");
    let harness = window(|app| app.open(path));
    assert!(harness.query_by_label("h100_training.sqlite").is_some());
    assert!(harness.query_all_by_label_contains("compute ").next().is_some());
    assert!(harness.state().notice().is_none());
}

#[test]
fn every_view_has_words_when_there_is_nothing_to_show() {
    for text in ["", "thread 1 ops\n op aten::mm 0 100"] {
        let mut harness = with_trace(text);
        for view in ViewId::ALL {
            harness.state_mut().show_only(Some(*view));
            harness.run();
            let labels: Vec<String> = harness
                .query_all_by(|node| node.label().or(node.value()).is_some())
                .map(|node| node.accesskit_node().label().or_else(|| node.value()).unwrap_or_default())
                .collect();
            assert!(!labels.is_empty(), "{view:?} says nothing for {text:?}");
        }
    }
}

#[test]
fn every_control_has_a_name() {
    let mut harness = with_trace(TRACE);
    harness.run();
    assert_eq!(harness.unnamed_widgets(), Vec::<String>::new());
    let mut empty = window(|_| {});
    empty.run();
    assert_eq!(empty.unnamed_widgets(), Vec::<String>::new());
}

#[test]
fn the_palette_runs_what_was_typed() {
    let mut harness = with_trace(TRACE);
    harness.key_press(Key::W);
    harness.run();
    harness.key_press_modifiers(Modifiers::COMMAND | Modifiers::SHIFT, Key::P);
    harness.run();
    harness.get_by_label("Find a command").type_text("whole run");
    harness.run();
    harness.key_press(Key::Enter);
    harness.run();
    assert_eq!(harness.state().state().timeline.view, None);
    assert_eq!(harness.state().state().palette, None);
}

#[test]
fn nothing_moves_while_nothing_happens() {
    let mut harness = with_trace(TRACE);
    harness.run();
    harness.step();
    let viewport = &harness.output().viewport_output[&egui::ViewportId::ROOT];
    assert!(std::time::Duration::from_secs(1) < viewport.repaint_delay, "{:?}", viewport.repaint_delay);
}

#[test]
fn what_captures_a_missing_metric_is_a_click_away() {
    let trace = fixture(TRACE).unwrap();
    let mut trace = trace;
    trace.devices[0].compute_capability = Some((8, 9));
    let analysis = run_all(&trace, &Params::default(), &Progress::new()).unwrap();
    let mut harness = window(|app| app.load_trace(Arc::new(trace), Arc::new(analysis)));
    harness.get_by_label("Copy the command that captures L2 hit rate").click();
    harness.run_steps(1);
    let copied = harness.output().platform_output.commands.iter().find_map(|command| match command {
        egui::OutputCommand::CopyText(text) => Some(text.clone()),
        _ => None,
    });
    let expected =
        "nsys profile --gpu-metrics-devices=all --gpu-metrics-set=ad10x-gfxt -o run python train.py";
    assert_eq!(copied.as_deref(), Some(expected));
}

#[test]
fn metrics_of_a_device_open_and_close() {
    let mut harness = with_trace(TRACE);
    let n_lanes = |harness: &Harness<'_, App>| {
        let canvas = harness.get_by_label_contains("Timeline of ");
        canvas.accesskit_node().label().unwrap().split(' ').nth(2).unwrap().parse::<usize>().unwrap()
    };
    let all = n_lanes(&harness);
    harness.get_by_label_contains("Close Metrics").click();
    harness.run();
    // SM active, theoretical occupancy, L2, H2D copies, launch queue, launch delay.
    assert_eq!(n_lanes(&harness), all - 6);
    harness.get_by_label_contains("Open Metrics").click();
    harness.run();
    assert_eq!(n_lanes(&harness), all);
}
