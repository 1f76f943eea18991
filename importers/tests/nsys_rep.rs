//! Reports against the exports that NVIDIA's own exporter made of them: both must give the same Trace. And
//! damaged reports: each has its own message, or opens with the warning it deserves.
//!
//! Reads the folder that `TRACECARD_CORPUS` names.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};
use tracecard_importers::{ImportError, open};
use tracecard_model::{Progress, Trace, dump};

fn folder(name: &str) -> Option<PathBuf> {
    match std::env::var_os("TRACECARD_CORPUS") {
        Some(corpus) => Some(Path::new(&corpus).join("nsys-rep").join(name)),
        None => {
            eprintln!("skipped: TRACECARD_CORPUS is not set");
            None
        }
    }
}

fn read(path: &Path) -> Result<Trace, ImportError> {
    open(path, &Progress::new())
}

fn reports(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|have| have == "nsys-rep"));
    files.sort();
    files
}

fn tables(export: &Path) -> BTreeSet<String> {
    let connection = Connection::open_with_flags(export, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let mut statement = connection.prepare("SELECT name FROM sqlite_master").unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
}

/// Names of the overheads that old exporters leave out, and of those that all do (JIT).
const UNEXPORTED_OVERHEADS: &[&str] =
    &["Runtime Triggered Module Loading", "Lazy Function Loading", "Command Buffer Full"];

/// The dump less what the exporter left out, as a set of tables says, and less the issues: those say what was
/// wrong with a file, not what happened.
fn comparable(dump: &str, exported: &BTreeSet<String>) -> String {
    let has = |table: &str| exported.contains(table);
    let is_overhead = |line: &str, name: &str| line.starts_with(&format!("overhead {name:?}"));
    let is_left_out = |line: &str| {
        line.starts_with("issue ")
            || is_overhead(line, "JIT Cache Load")
            || is_overhead(line, "JIT Compilation")
            || is_overhead(line, "JIT Cache Store")
            || (!has("CUPTI_ACTIVITY_KIND_OVERHEAD")
                && UNEXPORTED_OVERHEADS.iter().any(|name| is_overhead(line, name)))
            || (!has("TARGET_INFO_SESSION_START_TIME") && line.starts_with("wall clock "))
            || (!has("PROCESSES") && line.starts_with("process "))
    };
    dump.lines().filter(|line| !is_left_out(line.trim_start())).fold(String::new(), |mut out, line| {
        // An overhead that is left out may lie in another one and take of its self time.
        let is_overhead = line.trim_start().starts_with("overhead ");
        let is_bare_sample = !has("SAMPLING_CALLCHAINS") && line.trim_start().starts_with("sample ");
        let cut = |mark: &str, is_cut: bool| line.split(mark).next().filter(|_| is_cut);
        out.push_str(cut(" self=", is_overhead).or(cut(" stack=", is_bare_sample)).unwrap_or(line));
        out.push('\n');
        out
    })
}

/// Lines of one dump that the other lacks, at most ten of each side.
fn difference(report: &str, export: &str) -> String {
    let mut out = format!(
        "{} lines from the report, {} from the export\n",
        report.lines().count(),
        export.lines().count()
    );
    for (side, these, those) in [("report", report, export), ("export", export, report)] {
        let those: BTreeSet<&str> = those.lines().collect();
        let lacking: Vec<&str> = these.lines().filter(|line| !those.contains(line)).collect();
        for line in lacking.iter().take(10) {
            let _ = writeln!(out, "  only {side} ({}): {line}", lacking.len());
        }
    }
    out
}

/// The exporter of this capture left out what CUDA said of its devices, the name of the GPU among it.
const UNEXPORTED_DEVICE: &str = "2020.1_nvtx_device7";

/// The exporter of this Windows capture cut the start of the session to whole milliseconds.
const ROUNDED_CLOCK: &str = "2025.3_windows";

#[test]
fn reports_and_exports_give_the_same_trace() {
    let Some(folder) = folder("good") else { return };
    let mut n_pairs = 0;
    let mut wrong = String::new();
    for report in reports(&folder) {
        let mut trace = read(&report).unwrap_or_else(|error| panic!("{error}"));
        let export = report.with_extension("sqlite");
        if !export.exists() {
            continue;
        }
        n_pairs += 1;
        let expected = read(&export).unwrap_or_else(|error| panic!("{error}"));
        if report.file_stem().is_some_and(|stem| stem == ROUNDED_CLOCK) {
            let clocks = [trace.meta.start_unix_ns, expected.meta.start_unix_ns].map(Option::unwrap);
            assert!(clocks[0].abs_diff(clocks[1]) < 1_000_000, "{clocks:?}");
            trace.meta.start_unix_ns = expected.meta.start_unix_ns;
        }
        if report.file_stem().is_some_and(|stem| stem == UNEXPORTED_DEVICE) {
            assert_eq!(trace.devices[0].name.as_deref(), Some("GeForce GTX 1080 Ti"));
            trace.devices.clone_from(&expected.devices);
        }
        let exported = tables(&export);
        let [found, expected] = [trace, expected].map(|trace| comparable(&dump(&trace), &exported));
        if found != expected {
            let _ = write!(wrong, "{}: {}", report.display(), difference(&found, &expected));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert_eq!(n_pairs, 18);
}

#[test]
fn every_record_of_every_report_is_read_or_known() {
    let Some(folder) = folder("good") else { return };
    for report in reports(&folder) {
        let trace = read(&report).unwrap_or_else(|error| panic!("{error}"));
        let unread: Vec<_> = trace.issues.iter().filter(|issue| issue.code == "records_not_read").collect();
        assert!(unread.is_empty(), "{}: {unread:?}", report.display());
    }
}

/// What a reader should do with each damaged report: part of the message, or the code of the issue.
const DAMAGED: &[(&str, Outcome)] = &[
    ("bad_claims_1byte", Refused("its block 1 of events cannot be unpacked")),
    ("bad_claims_3gb", Refused("claims to unpack to 3000000000, which cannot be")),
    ("bad_compression_unknown", Refused("compressed with “zstd”, not lz4")),
    ("bad_deep_nesting", Opened("unreadable_rows", 1)),
    ("bad_empty", Refused("the file is empty")),
    ("bad_events_count", Refused("it counts 1729 events and holds 1728")),
    ("bad_header_only", Refused("its end mark is missing")),
    ("bad_lz4_byte", Refused("its block 1 of events cannot be unpacked")),
    // One byte of a value: nothing can notice it.
    ("bad_lz4_byte_silent", Opened("profiler_error", 1)),
    ("bad_newer_version", Opened("newer_report", 1)),
    ("bad_no_trailer", Refused("its end mark is missing")),
    ("bad_not_a_report", Refused("zip")),
    ("bad_section_missing", Refused("it has no section “Sampling Data Offsets”")),
    ("bad_section_outside", Refused("its section “Raw Sampling Data” lies outside the file")),
    ("bad_sqlite_renamed", Same("2020.5_kernels_memcpy_sync.sqlite")),
    ("bad_string_id_range", Opened("names_missing", 1)),
    ("bad_string_offset_wrong", Refused("its blocks of events do not end where its texts begin")),
    ("bad_strings_count", Refused("it counts 129 texts and holds 130")),
    ("bad_threads_count_zero", Refused("a block in it claims to be longer than the data")),
    ("bad_toc_huge", Refused("its table of contents lies outside the file")),
    ("bad_toc_outside", Refused("its table of contents lies outside the file")),
    ("bad_trailer_wrong", Refused("its end mark is missing")),
    ("bad_truncated_half", Refused("its end mark is missing")),
    ("bad_unknown_block_field", Opened("records_not_read", 1)),
    ("bad_unknown_event", Opened("records_not_read", 1)),
];

enum Outcome {
    /// An error whose message has this part.
    Refused(&'static str),
    /// A Trace with this issue, counted so often.
    Opened(&'static str, u64),
    /// The Trace of a good file.
    Same(&'static str),
}
use Outcome::{Opened, Refused, Same};

#[test]
fn damaged_reports_are_refused_or_say_what_is_wrong() {
    let Some(bad) = folder("bad") else { return };
    for (name, outcome) in DAMAGED {
        let result = read(&bad.join(name).with_extension("nsys-rep"));
        match (outcome, result) {
            (Refused(part), Err(error)) => {
                let message = error.to_string();
                assert!(message.contains(part), "{name}: {message}");
                assert!(message.lines().last().is_some_and(|path| path.contains(name)), "{name}: {message}");
            }
            (Opened(code, count), Ok(trace)) => {
                let found = trace.issues.iter().find(|issue| issue.code == *code).map(|issue| issue.count);
                assert_eq!(found, Some(*count), "{name}: {:?}", trace.issues);
            }
            (Same(good), Ok(trace)) => {
                let expected = read(&bad.with_file_name("good").join(good)).unwrap();
                assert_eq!(dump(&trace), dump(&expected), "{name}");
            }
            (_, result) => panic!("{name}: {:?}", result.map(|trace| trace.issues)),
        }
    }
    let known: BTreeSet<String> = DAMAGED.iter().map(|(name, _)| format!("{name}.nsys-rep")).collect();
    let there: BTreeSet<String> = reports(&bad)
        .iter()
        .map(|path| path.file_name().unwrap_or_default().to_string_lossy().into_owned())
        .collect();
    assert_eq!(there, known);
}
