//! The report for people: the answer first, then the tables it rests on.

use std::fmt::Write as _;

use tracecard_analyzers::{Column, Table, Unit};

use crate::cli::Loaded;
use crate::{format, headline};

/// Columns of each table worth a reader's time, in order; the JSON report has all.
const SECTIONS: &[(&str, &[&str])] = &[
    ("kernels", &["name", "device", "family", "count", "total_ns", "share_frac", "mean_ns", "max_ns"]),
    ("operators", &["name", "shapes", "dtype", "count", "self_device_ns", "total_device_ns", "self_cpu_ns"]),
    ("apis", &["name", "count", "total_ns", "mean_ns", "max_ns", "errors"]),
    ("copies", &["kind", "src", "dst", "count", "total_ns", "bytes", "bytes_per_s"]),
    ("collectives", &["kind", "group", "size", "count", "bytes", "total_ns", "exposed_ns"]),
    ("ranges", &["path", "domain", "count", "total_ns", "device_busy_ns", "median_ns", "p99_ns"]),
    ("counters", &["name", "device", "samples", "mean", "min", "max", "unit"]),
    ("metrics", &["name", "device", "kind", "mean", "stddev", "min", "max", "unit"]),
];

/// The report as Markdown; lists show at most `top` rows and say how many they leave out.
pub fn markdown(run: &Loaded, top: usize) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = write_report(run, top, &mut out);
    out
}

fn write_report(run: &Loaded, top: usize, out: &mut String) -> std::fmt::Result {
    let name = run.path.file_name().unwrap_or_default().to_string_lossy();
    writeln!(out, "# {}\n", escape(&name))?;
    for line in headline::headlines(&run.analysis) {
        writeln!(out, "**{}**\n", escape(&line.text()))?;
    }
    write_run(run, out)?;
    write_table(
        run.analysis.table("health"),
        "Trace health",
        &["severity", "count", "text", "example"],
        usize::MAX,
        out,
    )?;
    let device_columns = [
        "device",
        "window_ns",
        "compute_ns",
        "exposed_comm_ns",
        "exposed_copy_ns",
        "idle_ns",
        "comm_ns",
        "copy_ns",
    ];
    write_table(run.analysis.table("devices"), "Devices", &device_columns, usize::MAX, out)?;
    write_table(
        run.analysis.table("idle_by_cause"),
        "Idle by cause",
        &["device", "cause", "ns"],
        usize::MAX,
        out,
    )?;
    let step_columns = ["source", "count", "steady", "median_ns", "p95_ns", "max_ns", "cv", "host_median_ns"];
    write_table(run.analysis.table("steps"), "Steps", &step_columns, usize::MAX, out)?;
    for (id, columns) in SECTIONS {
        let table = run.analysis.table(id);
        write_table(table, table.map_or("", |t| t.title), columns, top, out)?;
    }
    if !run.analysis.abstained.is_empty() {
        writeln!(out, "## Not answered\n")?;
        for (analyzer, reason) in &run.analysis.abstained {
            writeln!(out, "- {analyzer}: {}", escape(reason))?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn write_run(run: &Loaded, out: &mut String) -> std::fmt::Result {
    let trace = &run.trace;
    writeln!(out, "- format: {}", trace.meta.format)?;
    writeln!(out, "- tool: {}", escape(trace.meta.tool.as_deref().unwrap_or("unknown")))?;
    if let Some(span) = run.window() {
        let (start, end) = (format::ns(span.start_ns as f64), format::ns(span.end_ns as f64));
        writeln!(out, "- window: {start} to {end} ({})", format::ns(span.dur_ns() as f64))?;
    }
    writeln!(out, "- slices: {}", format::count(trace.slices.len() as i64))?;
    for device in &trace.devices {
        let name = device.name.as_deref().unwrap_or("unknown device");
        writeln!(out, "- device {}: {}", device.number, escape(name))?;
    }
    writeln!(out)
}

fn write_table(
    table: Option<&Table>,
    title: &str,
    columns: &[&str],
    top: usize,
    out: &mut String,
) -> std::fmt::Result {
    let Some(table) = table.filter(|table| 0 < table.n_rows()) else { return Ok(()) };
    let columns: Vec<&Column> = columns.iter().filter_map(|id| table.column(id)).collect();
    writeln!(out, "## {}\n", escape(title))?;
    let heads: Vec<String> = columns.iter().map(|column| escape(column.title)).collect();
    writeln!(out, "| {} |", heads.join(" | "))?;
    let rules: Vec<&str> =
        columns.iter().map(|c| if c.unit == Unit::Text { "---" } else { "---:" }).collect();
    writeln!(out, "| {} |", rules.join(" | "))?;
    for row in 0..table.n_rows().min(top) {
        let cells = columns.iter().map(|column| cell(column, row));
        writeln!(out, "| {} |", cells.collect::<Vec<_>>().join(" | "))?;
    }
    let n_left = table.n_rows().saturating_sub(top);
    if 0 < n_left {
        writeln!(out, "\n{} more rows; `--top N` shows them.", format::count(n_left as i64))?;
    }
    writeln!(out)
}

/// Names longer than this are cut in the middle; the JSON report has them whole.
const MAX_CHARS: usize = 90;

/// Columns of names, which may be very long; other texts are sentences and are never cut.
const NAME_COLUMNS: &[&str] = &["name", "path", "shapes"];

fn cell(column: &Column, row: usize) -> String {
    let text = format::cell(column.data.cell(row), column.unit);
    let n_chars = text.chars().count();
    if n_chars <= MAX_CHARS || !NAME_COLUMNS.contains(&column.id) {
        return escape(&text);
    }
    let head: String = text.chars().take(MAX_CHARS * 2 / 3).collect();
    let tail: String = text.chars().skip(n_chars - MAX_CHARS / 3).collect();
    escape(&format!("{head}…{tail}"))
}

/// Text that Markdown shows as it is, on one line.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '|' | '*' | '_' | '`' | '<' | '>' | '[' | ']' | '\\' | '#' => {
                out.push('\\');
                out.push(c);
            }
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_cannot_break_the_table() {
        assert_eq!(super::escape("a|b\nc<d>"), "a\\|b c\\<d\\>");
    }
}
