//! Reports against the exports that NVIDIA's own exporter made of them: both must give the same Trace.
//!
//! Reads the folder that `TRACECARD_CORPUS` names.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

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

fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|have| have == extension));
    files.sort();
    files
}

/// Lines of one dump that the other lacks, at most ten of each side.
fn difference(report: &str, export: &str) -> String {
    let lines = |text: &'_ str| -> Vec<String> { text.lines().map(str::to_owned).collect() };
    let (report, export) = (lines(report), lines(export));
    let mut out = format!("{} lines from the report, {} from the export\n", report.len(), export.len());
    for (side, these, those) in [("report", &report, &export), ("export", &export, &report)] {
        let those: BTreeSet<&String> = those.iter().collect();
        let lacking: Vec<&String> = these.iter().filter(|line| !those.contains(line)).collect();
        for line in lacking.iter().take(10) {
            out.push_str(&format!("  only {side} ({}): {line}\n", lacking.len()));
        }
    }
    out
}

#[test]
fn reports_and_exports_give_the_same_trace() {
    let Some(folder) = folder("good") else { return };
    let mut n_pairs = 0;
    let mut wrong = String::new();
    for report in files(&folder, "nsys-rep") {
        let trace = read(&report).unwrap_or_else(|error| panic!("{error}"));
        let export = report.with_extension("sqlite");
        if !export.exists() {
            continue;
        }
        n_pairs += 1;
        let expected = read(&export).unwrap_or_else(|error| panic!("{error}"));
        let (found, expected) = (dump(&trace), dump(&expected));
        if found != expected {
            wrong.push_str(&format!("{}: {}", report.display(), difference(&found, &expected)));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert_eq!(n_pairs, 18);
}

#[test]
fn damaged_reports() {
    let Some(folder) = folder("bad") else { return };
    for report in files(&folder, "nsys-rep") {
        let name = report.file_name().unwrap().to_string_lossy().into_owned();
        match read(&report) {
            Ok(trace) => println!(
                "{name}: {:?}",
                trace.issues.iter().map(|i| (i.code, i.count, &i.example)).collect::<Vec<_>>()
            ),
            Err(error) => println!("{name}: {}", error.to_string().lines().next().unwrap()),
        }
    }
}
