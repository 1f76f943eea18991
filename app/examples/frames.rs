//! How long a frame takes while panning, at five zoom levels: layout, painting and tessellation, on the CPU.
//!
//! ```text
//! cargo run --release --example frames -- FILE [WIDTHxHEIGHT]
//! ```
//! What the GPU then does with the triangles is not in it.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use egui::{Context, Pos2, RawInput, Rect, Vec2, ViewportId};
use tracecard::command::{Command, Motion};
use tracecard::fonts;
use tracecard::gui::App;
use tracecard::theme::{Mode, Theme};
use tracecard_analyzers::{Params, run_all};
use tracecard_model::Progress;

/// Frames measured a zoom level.
const FRAMES: usize = 200;
/// Each level shows so much less time than the one before.
const ZOOM_STEP: f32 = 3.0;

fn main() -> anyhow::Result<()> {
    let mut args = std::env::args().skip(1);
    let file = args.next().context("usage: frames FILE [WIDTHxHEIGHT]")?;
    let size = args.next().unwrap_or_else(|| "2560x1440".to_owned());
    let (width, height) = size.split_once('x').context("the size is WIDTHxHEIGHT")?;
    let size_pt = Vec2::new(width.parse()?, height.parse()?);

    let progress = Progress::new();
    let started = Instant::now();
    let trace = tracecard_importers::open(Path::new(&file), &progress)?;
    let (n_slices, n_tracks) = (trace.slices.len(), trace.tracks.len());
    eprintln!("{n_slices} slices on {n_tracks} tracks, opened in {:.1} s", started.elapsed().as_secs_f64());
    let started = Instant::now();
    let analysis = run_all(&trace, &Params::default(), &progress)?;
    eprintln!("analysed in {:.1} s", started.elapsed().as_secs_f64());

    let ctx = Context::default();
    ctx.set_fonts(fonts::definitions());
    Theme::of(Mode::Dark).apply(&ctx);
    let mut app = App::new(&ctx);
    app.load_trace(Arc::new(trace), Arc::new(analysis));
    app.wait();

    let mut lines = vec![format!("{:>16} {:>10} {:>10} {:>10}", "ns in view", "p50 ms", "p99 ms", "max ms")];
    for level in 0..5 {
        app.apply(&ctx, Command::FitAll);
        app.apply(&ctx, Command::Navigate(Motion::Zoom(ZOOM_STEP * level as f32)));
        frame(&ctx, &mut app, size_pt);
        let mut times: Vec<Duration> = (0..FRAMES)
            .map(|idx| {
                // There and back again, so that the run's end is not reached.
                let step = if (idx / 50) % 2 == 0 { 0.01 } else { -0.01 };
                app.apply(&ctx, Command::Navigate(Motion::Pan(step)));
                frame(&ctx, &mut app, size_pt)
            })
            .collect();
        times.sort();
        let ms = |frac: f64| {
            let idx = ((times.len() as f64 * frac) as usize).min(times.len().saturating_sub(1));
            times.get(idx).map_or(0.0, |time| time.as_secs_f64() * 1e3)
        };
        let width_ns = app
            .run()
            .and_then(|run| run.trace.span())
            .map(|span| app.state().timeline.current_view(span).width_ns);
        lines.push(format!(
            "{:>16.0} {:>10.2} {:>10.2} {:>10.2}",
            width_ns.unwrap_or(0.0),
            ms(0.5),
            ms(0.99),
            ms(1.0)
        ));
    }
    eprintln!("{}", lines.join("\n"));
    Ok(())
}

/// One frame of the whole window, until it is triangles.
fn frame(ctx: &Context, app: &mut App, size_pt: Vec2) -> Duration {
    let mut input =
        RawInput { screen_rect: Some(Rect::from_min_size(Pos2::ZERO, size_pt)), ..RawInput::default() };
    if let Some(viewport) = input.viewports.get_mut(&ViewportId::ROOT) {
        viewport.native_pixels_per_point = Some(1.0);
    }
    let started = Instant::now();
    let mut output = ctx.run_ui(input, |ui| app.ui(ui));
    output.textures_delta.clear();
    let _ = ctx.tessellate(output.shapes, output.pixels_per_point);
    started.elapsed()
}
