//! `tracecard shot`: a picture of a view, without a display and without a GPU.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use egui::Vec2;

use super::{BadArguments, Selection};
use crate::export::{self, svg};
use crate::gui::App;
use crate::theme::{Mode, Theme};
use crate::views::ViewId;

/// Arguments of `shot`.
#[derive(Debug, clap::Args)]
pub(super) struct ShotArgs {
    /// The profile
    file: PathBuf,
    /// What to draw: window, overview, timeline, operators, kernels, …
    #[arg(long, value_name = "VIEW", value_parser = parse_view)]
    view: View,
    /// Width and height in points
    #[arg(long, value_name = "WxH", default_value = "1280x800", value_parser = parse_size)]
    size: Vec2,
    /// Pixels a point, for PNG
    #[arg(long, value_name = "S", default_value_t = 1.0, value_parser = parse_scale)]
    scale: f32,
    /// Colours
    #[arg(long, value_enum, default_value = "light")]
    theme: ThemeName,
    /// Where to write it: a .png or .svg
    #[arg(short, value_name = "OUT")]
    out: PathBuf,
    #[command(flatten)]
    selection: Selection,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum View {
    Window,
    Only(ViewId),
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum ThemeName {
    Light,
    Dark,
}

pub(super) fn run(args: &ShotArgs) -> anyhow::Result<()> {
    let is_svg = is_svg(&args.out)?;
    let (trace, analysis, window) = {
        let loaded = super::load::load_selected(&args.file, &args.selection)?;
        (Arc::new(loaded.trace), Arc::new(loaded.analysis), loaded.params.window)
    };
    let mode = match args.theme {
        ThemeName::Light => Mode::Light,
        ThemeName::Dark => Mode::Dark,
    };
    let mut app = App::new(&egui::Context::default());
    app.load_file(args.file.clone(), trace, analysis);
    if let Some(span) = window {
        app.show_span(span);
    }
    if let View::Only(view) = args.view {
        app.show_only(Some(view));
    }
    app.wait();
    let frame = export::offscreen::run(args.size, args.scale, Theme::of(mode), |ui| {
        app.ui(ui);
        // Tables are sorted in jobs; a picture shows the result.
        app.wait();
    });
    let bytes = if is_svg { svg::write(&frame).into_bytes() } else { export::png_of(&frame)? };
    super::write_result(&bytes, Some(&args.out), &[&args.file])
}

fn is_svg(out: &Path) -> Result<bool, BadArguments> {
    match out.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase).as_deref() {
        Some("svg") => Ok(true),
        Some("png") => Ok(false),
        _ => Err(BadArguments(format!(
            "the picture is a .png or .svg, by the name's ending\n{}",
            out.display()
        ))),
    }
}

fn parse_view(text: &str) -> Result<View, String> {
    if text == "window" {
        return Ok(View::Window);
    }
    let named = ViewId::ALL.iter().find(|view| view.name() == text).map(|view| View::Only(*view));
    named.ok_or_else(|| {
        let known: Vec<&str> = ViewId::ALL.iter().map(|view| view.name()).collect();
        format!("`{text}` is no view; there are window, {}", known.join(", "))
    })
}

fn parse_scale(text: &str) -> Result<f32, String> {
    let scale = text.parse::<f32>().ok().filter(|s| 0.1 <= *s && *s <= 8.0);
    scale.ok_or_else(|| format!("`{text}` is no scale between 0.1 and 8"))
}

/// Larger pictures are refused by the export as well; this keeps the arithmetic sane.
const MAX_SIDE_PT: f32 = 16_384.0;

fn parse_size(text: &str) -> Result<Vec2, String> {
    let side = |t: &str| t.trim().parse::<f32>().ok().filter(|s| 1.0 <= *s && *s <= MAX_SIDE_PT);
    let sides = text.split_once('x').and_then(|(w, h)| Some(Vec2::new(side(w)?, side(h)?)));
    sides.ok_or_else(|| format!("`{text}` is no size, e.g. 1280x800"))
}
