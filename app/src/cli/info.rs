//! `tracecard info`: what a file is.

use std::fmt::Write as _;
use std::path::PathBuf;

use tracecard_importers::Info;
use tracecard_model::{Progress, SliceKind};

use crate::format;

/// Arguments of `info`.
#[derive(Debug, clap::Args)]
pub(super) struct InfoArgs {
    /// The profile
    file: PathBuf,
    /// Read it whole and count exactly
    #[arg(long)]
    full: bool,
}

pub(super) fn run(args: &InfoArgs) -> anyhow::Result<()> {
    let info = tracecard_importers::info(&args.file)?;
    let mut text = header_text(&info);
    if args.full {
        text.push_str(&counts_text(&tracecard_importers::open(&args.file, &Progress::new())?));
    } else {
        text.push_str(&tables_text(&info));
    }
    super::write_result(text.as_bytes(), None, &[])
}

fn header_text(info: &Info) -> String {
    let mut text = String::new();
    let mut line = |key: &str, value: &str| {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{key:<14} {value}");
    };
    line("format", &format!("{} ({})", info.title, info.format));
    line("tool", info.tool.as_deref().unwrap_or("unknown"));
    line("size", &format::bytes(info.size_bytes as f64));
    for (idx, device) in info.devices.iter().enumerate() {
        line(if idx == 0 { "devices" } else { "" }, device);
    }
    for (key, value) in &info.properties {
        line(key, value);
    }
    text
}

fn tables_text(info: &Info) -> String {
    let mut text = String::new();
    for table in &info.tables {
        let n_rows = match (table.n_rows, table.is_estimate) {
            (Some(n), false) => format::count(n as i64),
            (Some(n), true) => format!("about {}", format::count(n as i64)),
            (None, _) => "unknown".to_owned(),
        };
        let _ = writeln!(text, "  {:<44} {n_rows:>16}", table.name);
    }
    if info.tables.iter().any(|table| table.is_estimate) {
        text.push_str("Counts are estimates from the largest row id or the size; --full counts exactly.\n");
    }
    text
}

fn counts_text(trace: &tracecard_model::Trace) -> String {
    let mut text = String::new();
    for kind in SliceKind::ALL {
        let n = trace.slices.kinds().iter().filter(|k| *k == kind).count();
        if 0 < n {
            let _ = writeln!(text, "  {:<44} {:>16}", kind.text(), format::count(n as i64));
        }
    }
    for (name, n) in [
        ("counter samples", trace.counters.len()),
        ("marks", trace.marks.len()),
        ("links", trace.links.rows().len()),
        ("memory events", trace.memory_events.len()),
    ] {
        let _ = writeln!(text, "  {name:<44} {:>16}", format::count(n as i64));
    }
    for issue in &trace.issues {
        let count = format::count(issue.count as i64);
        let _ = writeln!(text, "{} {}: {} ({count}×)", issue.severity.text(), issue.code, issue.text);
    }
    text
}
