//! Real exports of many versions against what NVIDIA's `nsys stats` prints for them.
//!
//! Runs where `TRACECARD_CORPUS` names the folder of traces; every number printed there is computed here
//! straight from the Trace and must agree to the last digit printed. Where NVIDIA's number is wrong, the
//! comparison says so:
//!
//! - calls that were recorded with a backtrace (`--cudabacktrace`) are in the file twice, and `cuda_api_sum`
//!   prints both as rows of the same name; the Trace has each call once;
//! - `nsys stats` takes `_v7000` from the names of calls but leaves `_v10000` on;
//! - it prints neither copies nor ranges of exports before schema 3.0, which have no tables of labels;
//! - it drops the domain of NVTX ranges when the file lacks the domain's name, as files cut out of longer
//!   captures do; the Trace calls it by its number.
//!
//! Ranges that were never closed end at the last NVTX time in `nsys stats`, and at the end of the capture in
//! the Trace. Exports since 2022 write that end themselves, so the two agree on every file here.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "all of this is a test")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tracecard_importers::{info, open};
use tracecard_model::{CopyKind, MemoryKind, Progress, Severity, SliceId, SliceKind, Trace};

/// The folder of traces, or a line that says why nothing is tested.
fn corpus() -> Option<PathBuf> {
    let corpus = std::env::var_os("TRACECARD_CORPUS").map(PathBuf::from);
    if corpus.is_none() {
        println!("skipped: TRACECARD_CORPUS is not set");
    }
    corpus
}

fn sqlite_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|ext| ext == "sqlite")).collect();
    files.sort();
    files
}

#[test]
fn every_real_export_opens_and_loses_no_row_unsaid() {
    let Some(corpus) = corpus() else { return };
    for folder in ["nsys", "nsys-rep/good"] {
        for path in sqlite_files(&corpus.join(folder)) {
            let name = path.display();
            let info = info(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
            let trace = open(&path, &Progress::new()).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(info.tool, trace.meta.tool, "{name}");
            for code in ["unreadable_rows", "table_damaged", "names_missing", "table_without_columns"] {
                assert!(trace.issues.iter().all(|issue| issue.code != code), "{name}: {code}");
            }
            let lost = trace.issues.iter().filter(|issue| issue.severity == Severity::DataLoss);
            assert!(lost.clone().all(|issue| 0 < issue.count), "{name}");
        }
    }
}

#[test]
fn sums_agree_with_nsys_stats() {
    let Some(corpus) = corpus() else { return };
    let mut n_compared = 0;
    let mut wrong = Vec::new();
    for path in sqlite_files(&corpus.join("nsys")) {
        let trace = open(&path, &Progress::new()).unwrap();
        let goldens = corpus.join("nsys-golden").join(path.file_stem().unwrap());
        for report in REPORTS {
            // An absent table is an empty result.
            let text = std::fs::read_to_string(goldens.join(report.file)).unwrap_or_default();
            let is_before_labels = path.to_string_lossy().contains("/pre2022")
                || trace.meta.tool.as_ref().is_some_and(|tool| tool.contains("(schema 2."));
            if is_before_labels && report.needs_labels {
                assert!(text.is_empty(), "nsys stats learned to read this");
                continue;
            }
            let ours = (report.groups)(&trace);
            n_compared += compare(report, &parse_csv(&text), &ours, &path, &mut wrong);
        }
    }
    assert!(wrong.is_empty(), "{} of {n_compared} rows differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(10_000 < n_compared, "only {n_compared} rows were compared");
}

/// One table of `nsys stats`.
struct Report {
    file: &'static str,
    /// Columns that together name a row.
    key: &'static [&'static str],
    /// Column of the count.
    count: &'static str,
    /// Unit in the heads of columns, and how many of ours make one.
    unit: &'static str,
    per_unit: f64,
    /// Digits of totals and extremes; means have one more where this is 0.
    digits: usize,
    /// Does `nsys stats` make it with tables of labels?
    needs_labels: bool,
    /// The values by key.
    groups: fn(&Trace) -> Groups,
}

type Groups = BTreeMap<Vec<String>, Vec<i64>>;

const REPORTS: &[Report] = &[
    Report {
        file: "s_cuda_gpu_kern_sum.csv",
        key: &["Name"],
        count: "Instances",
        unit: "ns",
        per_unit: 1.0,
        digits: 0,
        needs_labels: false,
        groups: |trace| {
            durations(trace, |id| kind(trace, id, SliceKind::Kernel).then(|| vec![name(trace, id)]))
        },
    },
    Report {
        file: "s_cuda_api_sum.csv",
        key: &["Name"],
        count: "Num Calls",
        unit: "ns",
        per_unit: 1.0,
        digits: 0,
        needs_labels: false,
        groups: |trace| durations(trace, |id| kind(trace, id, SliceKind::Api).then(|| vec![name(trace, id)])),
    },
    Report {
        file: "s_cuda_gpu_mem_time_sum.csv",
        key: &["Operation"],
        count: "Count",
        unit: "ns",
        per_unit: 1.0,
        digits: 0,
        needs_labels: true,
        groups: |trace| durations(trace, |id| operation(trace, id).map(|operation| vec![operation])),
    },
    Report {
        file: "s_cuda_gpu_mem_size_sum.csv",
        key: &["Operation"],
        count: "Count",
        unit: "MB",
        per_unit: 1e6,
        digits: 3,
        needs_labels: true,
        groups: sizes,
    },
    Report {
        file: "s_nvtx_sum.csv",
        key: &["Style", "Range"],
        count: "Instances",
        unit: "ns",
        per_unit: 1.0,
        digits: 0,
        needs_labels: true,
        groups: |trace| durations(trace, |id| range_key(trace, id)),
    },
];

fn durations(trace: &Trace, key: impl Fn(SliceId) -> Option<Vec<String>>) -> Groups {
    let mut groups = Groups::new();
    for id in trace.slice_ids() {
        if let Some(key) = key(id) {
            groups.entry(key).or_default().push(trace.slices.durs_ns()[id.idx()]);
        }
    }
    groups
}

fn sizes(trace: &Trace) -> Groups {
    let mut groups = Groups::new();
    for (id, copy) in trace.copies.iter() {
        if let (Some(operation), Some(bytes)) = (operation(trace, id), copy.bytes) {
            groups.entry(vec![operation]).or_default().push(bytes as i64);
        }
    }
    groups
}

fn kind(trace: &Trace, id: SliceId, kind: SliceKind) -> bool {
    trace.slices.kinds()[id.idx()] == kind
}

fn name(trace: &Trace, id: SliceId) -> String {
    trace.name(id).to_owned()
}

/// How `nsys stats` names the operation of a copy or set.
fn operation(trace: &Trace, id: SliceId) -> Option<String> {
    let copy = trace.copies.get(id)?;
    let side =
        |memory: Option<MemoryKind>, plain| if memory == Some(MemoryKind::Array) { "Array" } else { plain };
    let (from, to) = match copy.kind {
        CopyKind::Memset => return Some("[CUDA memset]".to_owned()),
        CopyKind::HostToDevice => ("Host", side(copy.dst, "Device")),
        CopyKind::DeviceToHost => (side(copy.src, "Device"), "Host"),
        CopyKind::DeviceToDevice => (side(copy.src, "Device"), side(copy.dst, "Device")),
        CopyKind::PeerToPeer => ("Peer", "Peer"),
        CopyKind::HostToHost => ("Host", "Host"),
        CopyKind::Unknown => ("Unknown", "Unknown"),
    };
    let unified = if copy.is_migration { "Unified " } else { "" };
    Some(format!("[CUDA memcpy {unified}{from}-to-{to}]"))
}

fn range_key(trace: &Trace, id: SliceId) -> Option<Vec<String>> {
    let style = match trace.slices.kinds()[id.idx()] {
        SliceKind::NvtxPushPop => "PushPop",
        SliceKind::NvtxStartEnd => "StartEnd",
        _ => return None,
    };
    let domain = trace.domains.get(id).map(|domain| trace.names.text(*domain));
    let domain = domain.filter(|domain| !domain.starts_with("domain ")).map(|domain| format!("{domain}:"));
    Some(vec![style.to_owned(), format!("{}{}", domain.unwrap_or_default(), trace.name(id))])
}

/// Compare each printed row with our group of the same key; returns how many rows were compared.
fn compare(report: &Report, csv: &Csv, ours: &Groups, path: &Path, wrong: &mut Vec<String>) -> usize {
    let mut printed: BTreeMap<Vec<String>, Vec<&Vec<String>>> = BTreeMap::new();
    for row in &csv.rows {
        let cells = report.key.iter().map(|column| csv.cell(row, column));
        let key = cells
            .map(|cell| if report.count == "Num Calls" { without_version(cell) } else { cell }.to_owned())
            .collect();
        printed.entry(key).or_default().push(row);
    }
    let at = |key: &Vec<String>| format!("{} {} {key:?}", path.display(), report.file);
    for (key, rows) in &printed {
        let Some(values) = ours.get(key) else {
            wrong.push(format!("{} is missing", at(key)));
            continue;
        };
        // NVIDIA prints calls with backtraces twice under one name; one of the rows is right.
        let differences: Vec<_> = rows.iter().map(|row| difference(report, csv, row, values)).collect();
        if differences.iter().all(Option::is_some) {
            wrong.push(format!("{}: {:?}", at(key), differences));
        }
    }
    wrong.extend(
        ours.keys().filter(|key| !printed.contains_key(*key)).map(|key| format!("{} is new", at(key))),
    );
    printed.len()
}

/// The name of a call without the five digits that `nsys stats` leaves on.
fn without_version(name: &str) -> &str {
    match name.rsplit_once("_v") {
        Some((base, digits)) if 4 < digits.len() && digits.bytes().all(|b| b.is_ascii_digit()) => base,
        _ => name,
    }
}

fn difference(report: &Report, csv: &Csv, row: &[String], values: &[i64]) -> Option<String> {
    let stats = Stats::new(values, report.per_unit);
    let Report { unit, digits, .. } = report;
    let mean_digits = if *digits == 0 { 1 } else { *digits };
    let total = if csv.has(&format!("Total Time ({unit})")) { "Total Time" } else { "Total" };
    let columns = [
        (report.count.to_owned(), values.len() as f64, 0),
        (format!("{total} ({unit})"), stats.total, *digits),
        (format!("Avg ({unit})"), stats.mean, mean_digits),
        (format!("Med ({unit})"), stats.median, mean_digits),
        (format!("Min ({unit})"), stats.min, *digits),
        (format!("Max ({unit})"), stats.max, *digits),
        (format!("StdDev ({unit})"), stats.stddev, mean_digits),
    ];
    columns.into_iter().find_map(|(column, ours, digits)| {
        let printed = csv.cell(row, &column);
        let value: f64 = printed.parse().ok()?;
        // Half a unit of the last digit, and the rounding of sums of squares near 1e20.
        let tolerance = 0.5 * 0.1_f64.powi(digits as i32) + ours.abs() * 1e-9;
        let tolerance = if digits == 0 { 0.0 } else { tolerance };
        (tolerance < (value - ours).abs()).then(|| format!("{column}: {printed} there, {ours} here"))
    })
}

/// Numbers of a group in the unit of the report. Median: mean of the middle two. Deviation: of a sample.
struct Stats {
    total: f64,
    mean: f64,
    median: f64,
    min: f64,
    max: f64,
    stddev: f64,
}

impl Stats {
    fn new(values: &[i64], per_unit: f64) -> Self {
        let mut sorted = values.to_vec();
        sorted.sort_unstable();
        let n = sorted.len();
        let total: i64 = sorted.iter().sum();
        let mean = total as f64 / n as f64;
        let median = (sorted[(n - 1) / 2] + sorted[n / 2]) as f64 / 2.0;
        let squares: f64 = sorted.iter().map(|value| (*value as f64 - mean).powi(2)).sum();
        let stddev = if n < 2 { 0.0 } else { (squares / (n - 1) as f64).sqrt() };
        let [total, min, max] = [total, sorted[0], sorted[n - 1]].map(|value| value as f64 / per_unit);
        Self { total, mean: mean / per_unit, median: median / per_unit, min, max, stddev: stddev / per_unit }
    }
}

struct Csv {
    head: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Csv {
    fn has(&self, column: &str) -> bool {
        self.head.iter().any(|have| have == column)
    }

    fn cell<'a>(&self, row: &'a [String], column: &str) -> &'a str {
        let idx = self.head.iter().position(|have| have == column);
        let idx = idx.unwrap_or_else(|| panic!("no column {column} in {:?}", self.head));
        row.get(idx).map_or("", String::as_str)
    }
}

/// Cells may be quoted, with doubled quotes and line breaks inside.
fn parse_csv(text: &str) -> Csv {
    let mut rows = vec![vec![String::new()]];
    let mut is_quoted = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let cell = rows.last_mut().unwrap().last_mut().unwrap();
        match c {
            '"' if is_quoted && chars.peek() == Some(&'"') => {
                chars.next();
                cell.push('"');
            }
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => rows.last_mut().unwrap().push(String::new()),
            '\r' if !is_quoted => {}
            '\n' if !is_quoted => rows.push(vec![String::new()]),
            _ => cell.push(c),
        }
    }
    rows.retain(|row| 1 < row.len());
    let head = if rows.is_empty() { Vec::new() } else { rows.remove(0) };
    Csv { head, rows }
}
