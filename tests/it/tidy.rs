//! The invariants of ARCHITECTURE.md and the rules of STYLE.md that can be read off the text.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// All Rust files of the project: (path from the root, text).
fn rust_files() -> Vec<(String, String)> {
    fn walk(dir: &Path, files: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
            let path = entry.path();
            let name = entry.file_name();
            if path.is_dir() && name != "target" && !name.to_string_lossy().starts_with('.') {
                walk(&path, files);
            } else if path.extension().is_some_and(|e| e == "rs") {
                files.push(path);
            }
        }
    }
    let mut paths = Vec::new();
    for folder in ["app", "analyzers", "importers", "tests"] {
        walk(&root().join(folder), &mut paths);
    }
    paths.sort();
    let relative = |path: &Path| path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
    paths.iter().map(|path| (relative(path), fs::read_to_string(path).unwrap())).collect()
}

/// No file that `is_wanted` holds any of the words outside its comments.
fn check_absent(is_wanted: impl Fn(&str) -> bool, words: &[&str], why: &str) {
    for (path, text) in rust_files().iter().filter(|(path, _)| is_wanted(path) && path != "tests/it/tidy.rs")
    {
        for (idx, line) in text.lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            for word in words {
                assert!(!code.contains(word), "{path}:{}: `{word}`: {why}", idx + 1);
            }
        }
    }
}

#[test]
fn every_file_says_what_it_is() {
    for (path, text) in rust_files() {
        assert!(text.starts_with("//!"), "{path} does not start with `//!`");
    }
}

#[test]
fn files_stay_readable() {
    for (path, text) in rust_files() {
        let n = text.lines().count();
        assert!(n <= 600, "{path} has {n} lines; split it by what it is about");
    }
}

#[test]
fn nothing_is_left_for_later() {
    check_absent(
        |_| true,
        &["todo!(", "unimplemented!(", "#[ignore", "FIXME", "XXX"],
        "finish it or leave it out",
    );
}

#[test]
fn only_app_names_egui() {
    let is_elsewhere = |path: &str| path.starts_with("importers/") || path.starts_with("analyzers/");
    check_absent(is_elsewhere, &["egui", "eframe"], "only app names egui");
}

#[test]
fn only_model_and_analyzers_name_polars() {
    let is_elsewhere = |path: &str| !path.starts_with("importers/model/") && !path.starts_with("analyzers/");
    check_absent(is_elsewhere, &["polars"], "only model and analyzers name polars");
}

#[test]
fn model_and_analyzers_touch_no_file_and_no_clock() {
    let is_pure = |path: &str| {
        let is_source = path.contains("/src/");
        is_source && (path.starts_with("importers/model/") || path.starts_with("analyzers/"))
    };
    let words = ["std::fs", "File::", "Instant::now", "SystemTime", "std::net", "std::env", "println!"];
    check_absent(is_pure, &words, "model and analyzers do no I/O and read no clock");
}

#[test]
fn importers_and_analyzers_do_not_know_each_other() {
    check_absent(|path| path.starts_with("importers/"), &["tracecard_analyzers"], "no arrow from importers");
    check_absent(|path| path.starts_with("analyzers/"), &["tracecard_importers"], "no arrow from analyzers");
}

#[test]
fn the_program_opens_no_connection() {
    check_absent(|path| path.contains("/src/"), &["TcpStream", "UdpSocket", "TcpListener"], "no network");
}
