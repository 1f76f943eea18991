//! How long merged flame graphs of a trace take: each weight merged, turned, edited, filtered and laid out.
//!
//! ```text
//! cargo run --release --workspace --example flames -- FILE
//! ```
//! All on one core, as in the window's job; the best of five.

use std::path::Path;
use std::time::Instant;

use anyhow::Context as _;
use egui::{Rect, Vec2, pos2};
use tracecard::run::RunId;
use tracecard::text_width::TextWidth;
use tracecard::views::flame::{Canvas, Key, Shown, View, layout, model};
use tracecard_analyzers::flame::{Edit, FlameTree, Layer, Layers, Options, Weight, folded};
use tracecard_analyzers::{Params, run_all};
use tracecard_model::Progress;

/// Runs of each measurement.
const RUNS: usize = 5;

#[expect(clippy::print_stdout, reason = "a program for a terminal")]
fn main() -> anyhow::Result<()> {
    let file = std::env::args().nth(1).context("usage: flames FILE")?;
    let progress = Progress::new();
    let trace = tracecard_importers::open(Path::new(&file), &progress)?;
    let analysis = run_all(&trace, &Params::default(), &progress)?;
    println!("{} slices, {} samples", trace.slices.len(), trace.samples.rows().len());

    let every_layer = Layer::ALL.iter().fold(Layers::NONE, |layers, layer| layers.with(*layer));
    for weight in Weight::ALL.into_iter().filter(|weight| weight.is_in(&trace)) {
        for (what, layers) in [("usual frames", weight.usual_layers()), ("all frames", every_layer)] {
            let key = Key {
                run: RunId(0),
                options: Options { layers, ..Options::new(weight) },
                edits: Vec::new(),
                view: View::TopDown,
                chosen: None,
                filter: String::new(),
            };
            let make = |key: &Key, old: Option<&Shown>| {
                model(&trace, Some(&analysis.partitions), key.clone(), old, &progress)
            };
            let (ms, shown) = best(|| make(&key, None))?;
            let tree: &FlameTree = &shown.edited;
            println!(
                "{weight:?}, {what}: merged in {ms:.1} ms, {} frames, total {}",
                tree.len(),
                tree.total()
            );
            for view in [View::LeftHeavy, View::BottomUp] {
                let (ms, turned) = best(|| make(&Key { view, ..key.clone() }, Some(&shown)))?;
                println!("  {}: {ms:.2} ms, {} frames", view.title(), turned.below.len());
            }
            let collapsed = Key { edits: vec![Edit::CollapseAllRecursion], ..key.clone() };
            println!("  recursion collapsed: {:.2} ms", best(|| make(&collapsed, Some(&shown)))?.0);
            let filtered = Key { filter: "gemm|mm$".to_owned(), ..key.clone() };
            println!("  filtered: {:.2} ms", best(|| make(&filtered, Some(&shown)))?.0);
            let canvas = Canvas {
                rect: Rect::from_min_size(pos2(0.0, 0.0), Vec2::new(2560.0, 1440.0)),
                scroll_pt: 0.0,
                row_pt: 17.0,
                pixel_pt: 1.0,
            };
            let text_width = TextWidth::monospaced(6.0);
            let (ms, items) = best(|| anyhow::Ok(layout(&shown, &[], &canvas, &text_width)))?;
            println!(
                "  layout at 2560 × 1440: {ms:.2} ms, {} bars, {} folded",
                items.bars.len(),
                items.n_folded
            );
            let (ms, text) = best(|| anyhow::Ok(folded(tree)))?;
            println!("  folded text: {ms:.2} ms, {} bytes", text.len());
        }
    }
    Ok(())
}

/// The shortest time in ms, and the last result.
fn best<T, E>(mut work: impl FnMut() -> Result<T, E>) -> Result<(f64, T), E> {
    let mut timed = || {
        let started = Instant::now();
        let result = work()?;
        Ok((started.elapsed().as_secs_f64() * 1e3, result))
    };
    let mut best = timed()?;
    for _ in 1..RUNS {
        let (ms, result) = timed()?;
        best = (best.0.min(ms), result);
    }
    Ok(best)
}
