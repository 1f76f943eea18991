//! Our tables against what NVIDIA's own `nsys stats` (2023.4.4) prints for the same files.
//!
//! Counts and totals must agree exactly, mean, median, min, max and deviation to the digits printed.

use std::collections::BTreeMap;
use std::path::Path;

use tracecard_analyzers::{Params, Table, api_name};

use tracecard_tests::synth::report_from_export;

use crate::corpus::{Run, corpus, csv};

/// The numbers of one line.
#[derive(Clone, Debug, Default)]
struct Line {
    count: i64,
    total: f64,
    min: f64,
    max: f64,
    /// (mean, median, deviation); `None` where the line is a sum of several of ours, whose medians say
    /// nothing about that of all.
    spread: Option<[f64; 3]>,
}

impl Line {
    /// Two groups as one.
    fn join(&mut self, other: &Line) {
        self.count += other.count;
        self.total += other.total;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.spread = None;
    }

    /// What differs; `step` is half of the last digit printed.
    fn differs(&self, ours: &Line, step: f64) -> Option<String> {
        let is_near = |a: f64, b: f64| (a - b).abs() <= step + 1e-9 * a.abs();
        let is_same = self.count == ours.count
            && is_near(self.total, ours.total)
            && is_near(self.min, ours.min)
            && is_near(self.max, ours.max)
            && match (self.spread, ours.spread) {
                (Some(a), Some(b)) => a.iter().zip(b).all(|(a, b)| is_near(*a, b)),
                _ => true,
            };
        (!is_same).then(|| format!("\n  nsys {self:?}\n  ours {ours:?}"))
    }
}

type Lines = BTreeMap<String, Line>;

fn add(lines: &mut Lines, key: String, line: Line) {
    match lines.get_mut(&key) {
        Some(there) => there.join(&line),
        None => {
            lines.insert(key, line);
        }
    }
}

/// NVIDIA's lines: `key` makes the key of a row; the heads tell where the numbers are.
fn theirs(path: &Path, key: impl Fn(&dyn Fn(&str) -> String) -> String) -> Lines {
    let mut lines = Lines::new();
    if !path.exists() {
        // No file is an empty answer.
        return lines;
    }
    let rows = csv(path);
    let (head, rows) = rows.split_first().unwrap();
    for row in rows {
        let text = |name: &str| {
            let at = head.iter().position(|h| h == name || h.split(" (").next() == Some(name));
            at.and_then(|at| row.get(at)).cloned().unwrap_or_default()
        };
        let number = |names: &[&str]| -> f64 {
            names
                .iter()
                .find_map(|name| text(name).parse().ok())
                .unwrap_or_else(|| panic!("{names:?} in {row:?}"))
        };
        let line = Line {
            count: number(&["Instances", "Count", "Num Calls"]) as i64,
            total: number(&["Total Time", "Total"]),
            min: number(&["Min"]),
            max: number(&["Max"]),
            spread: Some([number(&["Avg"]), number(&["Med"]), number(&["StdDev"])]),
        };
        add(&mut lines, key(&text), line);
    }
    lines
}

/// Our lines; `unit` is `ns` or `bytes`, `scale` divides it into what NVIDIA prints.
fn ours(table: Option<&Table>, unit: &str, scale: f64, key: impl Fn(&Table, usize) -> String) -> Lines {
    let mut lines = Lines::new();
    let Some(table) = table else { return lines };
    for row in 0..table.n_rows() {
        let number =
            |column: &str| table.real(row, column).unwrap_or_else(|| panic!("{column} is unknown")) / scale;
        let named = |what: &str| number(&format!("{what}_{unit}"));
        let total = if unit == "bytes" { number("bytes") } else { named("total") };
        let line = Line {
            count: table.int(row, "count").unwrap(),
            total,
            min: named("min"),
            max: named("max"),
            spread: Some([named("mean"), named("median"), named("stddev")]),
        };
        add(&mut lines, key(table, row), line);
    }
    lines
}

fn compare(what: &str, theirs: &Lines, ours: &Lines, step: f64, differences: &mut Vec<String>) {
    for (key, line) in theirs {
        match ours.get(key) {
            None => differences.push(format!("{what}: only nsys has {key:?}: {line:?}")),
            Some(our) => differences.extend(line.differs(our, step).map(|d| format!("{what} {key:?}{d}"))),
        }
    }
    for (key, line) in ours.iter().filter(|(key, _)| !theirs.contains_key(*key)) {
        differences.push(format!("{what}: only we have {key:?}: {line:?}"));
    }
}

fn text(table: &Table, row: usize, column: &str) -> String {
    table.text(row, column).unwrap_or_default().to_owned()
}

/// NVIDIA's name of a kind of copy.
fn operation(table: &Table, row: usize) -> String {
    let unified = if table.flag(row, "migration") == Some(true) { "Unified " } else { "" };
    let kind = match table.text(row, "kind").unwrap_or_default() {
        "h2d" => "Host-to-Device",
        "d2h" => "Device-to-Host",
        "d2d" => "Device-to-Device",
        "p2p" => "Peer-to-Peer",
        "h2h" => "Host-to-Host",
        "memset" => return "[CUDA memset]".to_owned(),
        other => other,
    };
    format!("[CUDA memcpy {unified}{kind}]")
}

/// NVIDIA cuts four digits of a version and no more: `cudaGraphLaunch_v10000` stays whole and
/// `cudaStreamGetCaptureInfo_v2_v11030` becomes `cudaStreamGetCaptureInfo_v2_v`.
fn their_api_name(name: &str) -> String {
    let name = api_name(name);
    name.strip_suffix("_v").unwrap_or(name).to_owned()
}

/// Where NVIDIA prints nothing or something wrong (`nsys stats` of 2023.4.4), by file and comparison.
const NOT_COMPARED: &[(&str, &str)] = &[
    // It cannot read the tables of exports this old, and gives no answer at all for them.
    ("2022.2_schema2.9.1_mpi_backtrace_lazyfalse", "copy time"),
    ("2022.2_schema2.9.1_mpi_backtrace_lazyfalse", "copy size"),
    ("2022.2_schema2.9.1_mpi_backtrace_lazyfalse", "nvtx"),
    ("pre2022_small", "copy time"),
    ("pre2022_small", "copy size"),
    // It counts each call twice: once more for the record of its backtrace (event class 67).
    ("2022.2_schema2.9.1_mpi_backtrace_lazyfalse", "apis"),
];

/// NVTX domains whose name is not in the file are `domain 1` to us and nothing to NVIDIA.
fn without_nameless_domain(range: &str) -> &str {
    let Some((domain, text)) = range.split_once(':') else { return range };
    let number = domain.strip_prefix("domain ").unwrap_or_default();
    if !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) { text } else { range }
}

fn check_file(corpus: &Path, name: &str, file: &Path, differences: &mut Vec<String>) {
    let run = Run::open(file, &Params::default());
    let golden = |report: &str| corpus.join("nsys-golden").join(name).join(format!("s_{report}.csv"));
    let table = |id: &str| run.analysis.table(id);
    let mut found = Vec::new();

    let kernels = ours(table("kernels"), "ns", 1.0, |t, row| text(t, row, "name"));
    compare(
        "kernels",
        &theirs(&golden("cuda_gpu_kern_sum"), |text| text("Name")),
        &kernels,
        0.05,
        &mut found,
    );

    let apis = ours(table("apis"), "ns", 1.0, |t, row| text(t, row, "name"));
    let their_apis = theirs(&golden("cuda_api_sum"), |text| their_api_name(&text("Name")));
    compare("apis", &their_apis, &apis, 0.05, &mut found);

    let times = ours(table("copy_kinds"), "ns", 1.0, operation);
    compare(
        "copy time",
        &theirs(&golden("cuda_gpu_mem_time_sum"), |text| text("Operation")),
        &times,
        0.05,
        &mut found,
    );

    let sizes = ours(table("copy_kinds"), "bytes", 1e6, operation);
    let their_sizes = theirs(&golden("cuda_gpu_mem_size_sum"), |text| text("Operation"));
    compare("copy size", &their_sizes, &sizes, 0.0005, &mut found);

    let ranges = ours(table("nvtx_texts"), "ns", 1.0, |t, row| {
        format!("{} {}", text(t, row, "style"), without_nameless_domain(&text(t, row, "range")))
    });
    let their_ranges = theirs(&golden("nvtx_sum"), |text| format!("{} {}", text("Style"), text("Range")));
    compare("nvtx", &their_ranges, &ranges, 0.05, &mut found);

    found.retain(|difference| {
        !NOT_COMPARED.iter().any(|(file, what)| *file == name && difference.starts_with(what))
    });
    differences.extend(found.into_iter().map(|difference| format!("{name}: {difference}")));
}

/// All files with numbers of NVIDIA's, given to `check` with the export.
fn check_all(check: impl Fn(&Path, &str, &Path, &mut Vec<String>)) {
    let Some(corpus) = corpus() else { return };
    let mut names: Vec<String> = std::fs::read_dir(corpus.join("nsys-golden"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert!(!names.is_empty());
    let mut differences = Vec::new();
    for name in &names {
        let export = corpus.join("nsys").join(format!("{name}.sqlite"));
        check(&corpus, name, &export, &mut differences);
    }
    assert!(differences.is_empty(), "{} differences\n{}", differences.len(), differences.join("\n"));
}

#[test]
fn tables_agree_with_nsys_stats() {
    check_all(check_file);
}

/// The same for the reports that the exports could have come from.
#[test]
fn tables_of_reports_agree_with_nsys_stats() {
    let dir = tempfile::tempdir().unwrap();
    check_all(|corpus, name, export, differences| {
        let report = dir.path().join("run.nsys-rep");
        report_from_export(export, &report).unwrap_or_else(|error| panic!("{name}: {error}"));
        check_file(corpus, name, &report, differences);
    });
}
