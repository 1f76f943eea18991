//! The program as a script sees it: exit codes, streams, and files left as they were.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn tracecard(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tracecard")).args(args).env_remove("DISPLAY").output().unwrap()
}

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../sample-traces").join(name)
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The command fails with this code, says these words on stderr, nothing on stdout, and does not panic.
fn check_fails(args: &[&str], code: i32, words: &[&str]) {
    let output = tracecard(args);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(code), "{args:?} said: {said}");
    assert!(output.stdout.is_empty(), "{args:?}");
    for word in words {
        assert!(said.contains(word), "{args:?} should say `{word}`, said: {said}");
    }
    assert!(!said.contains("panicked"), "{said}");
}

#[test]
fn small_files_that_unpack_to_gigabytes_are_refused_unless_trusted() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("bomb.json.gz");
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    std::io::Write::write_all(&mut packed, br#"{"traceEvents": ["#).unwrap();
    std::io::copy(&mut std::io::Read::take(std::io::repeat(b' '), 100 << 20), &mut packed).unwrap();
    let event = br#"{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 2}]}"#;
    std::io::Write::write_all(&mut packed, event).unwrap();
    std::fs::write(&path, packed.finish().unwrap()).unwrap();

    check_fails(&["report", text(&path)], 3, &["200 times its size", "TRACECARD_MAX_UNPACKED_BYTES"]);
    let mut trusting = Command::new(env!("CARGO_BIN_EXE_tracecard"));
    trusting.args(["report", text(&path)]).env("TRACECARD_MAX_UNPACKED_BYTES", "200000000");
    assert_eq!(trusting.output().unwrap().status.code(), Some(0));
}

#[test]
fn bad_files_get_one_clear_message_each() {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str, bytes: &[u8]| {
        let path = dir.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let whole = std::fs::read(sample("nsys/h100_training.sqlite")).unwrap();
    let report = b"NVIDIA Tegra Profiler Report 2026@1@1@204-261137176666v0.\nxx[END]";
    let no_export = dir.path().join("no_export.sqlite");
    rusqlite::Connection::open(&no_export)
        .unwrap()
        .execute_batch("CREATE TABLE t(a); INSERT INTO t VALUES(1)")
        .unwrap();

    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
    let cases: &[(PathBuf, &[&str])] = &[
        (file("empty.json", b""), &["empty"]),
        (file("picture.sqlite", png), &["PNG picture"]),
        (file("cut.sqlite", &whole[..whole.len() / 2]), &["cut short", "nsys export"]),
        (no_export, &["no Nsight Systems export"]),
        (file("run.nsys-rep", report), &["2026.1.1.204", "its end mark is missing"]),
        (file("prose.json", b"It was a dark and stormy night."), &["Tracecard opens"]),
        (file("config.json", b"{\"a\": [1, 2, {\"b\": null}]}"), &[]),
        (dir.path().join("missing.json"), &["cannot read"]),
        (dir.path().to_owned(), &["directory"]),
    ];
    for (path, words) in cases {
        for command in [&["report"][..], &["info"], &["shot", "--view", "timeline", "-o", "x.png"]] {
            // `info` answers for a report: it can be dated without being read.
            if command == ["info"] && path.extension().is_some_and(|e| e == "nsys-rep") {
                continue;
            }
            let mut args = vec![command[0], text(path)];
            args.extend(&command[1..]);
            let mut words = words.to_vec();
            words.push(text(path));
            check_fails(&args, 3, &words);
        }
    }
}

#[test]
fn wrong_arguments_are_told_apart_from_bad_files() {
    let file = sample("torch/h100_training.json.gz");
    let file = text(&file);
    check_fails(&["report"], 2, &["FILE"]);
    check_fails(&["report", file, "--format", "pdf"], 2, &["pdf"]);
    check_fails(&["report", file, "--window", "2s..1s"], 2, &["not after its start"]);
    check_fails(&["report", file, "--steps", "nvtx:("], 2, &["unclosed group"]);
    check_fails(&["report", file, "--device", "99"], 2, &["no device 99"]);
    check_fails(&["report", file, "--window", "step:99"], 2, &["no step 99"]);
    check_fails(&["report", "-"], 2, &["standard input"]);
    check_fails(&["report", file, "-o", "no/such/folder/x.md"], 2, &["cannot write the result"]);
    check_fails(
        &["shot", file, "--view", "window", "--size", "16000x16000", "-o", "x.png"],
        2,
        &["smaller size"],
    );
    check_fails(&["shot", file, "--view", "window", "--scale", "nan", "-o", "x.png"], 2, &["scale"]);
    check_fails(&["compare", "a", "b"], 2, &["not part of this version"]);
    check_fails(&["report", file, "-o", file], 2, &["overwrite"]);
}

#[test]
fn the_trace_is_never_written_to() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["nsys/h100_training.sqlite", "torch/h100_training.json.gz"] {
        // Characters that an unencoded SQLite URI would choke on.
        let path = dir.path().join("t?x#1%20 é.bin");
        std::fs::copy(sample(name), &path).unwrap();
        let before = (std::fs::read(&path).unwrap(), std::fs::metadata(&path).unwrap().modified().unwrap());
        let mut permissions = std::fs::metadata(dir.path()).unwrap().permissions();
        permissions.set_readonly(true);
        std::fs::set_permissions(dir.path(), permissions.clone()).unwrap();
        let output = tracecard(&["report", text(&path), "--format", "json"]);
        assert!(output.status.success(), "{name}: {}", stderr(&output));
        let after = (std::fs::read(&path).unwrap(), std::fs::metadata(&path).unwrap().modified().unwrap());
        assert!(before == after, "{name} was changed");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "nothing lies beside {name}");
        #[expect(clippy::permissions_set_readonly_false, reason = "a folder of this test alone")]
        permissions.set_readonly(false);
        std::fs::set_permissions(dir.path(), permissions).unwrap();
    }
}

fn json_report(args: &[&str]) -> Value {
    let output = tracecard(&[&["report", "--format", "json"], args].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn the_json_report_keeps_its_contract() {
    for name in ["nsys/h100_training.sqlite", "torch/h100_training.json.gz", "torch/cpu_transformer.json.gz"]
    {
        let report = json_report(&[text(&sample(name))]);
        assert_eq!(report["schema"], "tracecard.report/1");
        for key in [
            "run",
            "health",
            "devices",
            "steps",
            "collectives",
            "kernels",
            "operators",
            "apis",
            "copies",
            "ranges",
            "counters",
            "findings",
            "unknown",
            "abstained",
        ] {
            assert!(report.get(key).is_some(), "{name} lacks {key}");
        }
        assert_eq!(report["run"]["sha256"].as_str().unwrap().len(), 64);
        for device in report["devices"].as_array().unwrap() {
            let ns = |key: &str| device[key].as_i64().unwrap();
            let sum = ns("compute_ns") + ns("exposed_comm_ns") + ns("exposed_copy_ns") + ns("idle_ns");
            assert_eq!(sum, ns("window_ns"), "{name}: the parts add up to the window");
            let causes = device["idle_by_cause"].as_array().unwrap().iter();
            assert_eq!(causes.map(|c| c["ns"].as_i64().unwrap()).sum::<i64>(), ns("idle_ns"), "{name}");
        }
        let kernels = report["kernels"].as_array().unwrap();
        let totals: Vec<i64> = kernels.iter().map(|k| k["total_ns"].as_i64().unwrap()).collect();
        assert!(totals.is_sorted_by(|a, b| b <= a), "{name}: largest first");
    }
}

#[test]
fn both_formats_of_one_run_tell_the_same() {
    let nsys = json_report(&[text(&sample("nsys/h100_training.sqlite"))]);
    let torch = json_report(&[text(&sample("torch/h100_training.json.gz"))]);
    let kernels = |report: &Value| -> Vec<(String, i64, i64)> {
        let row = |k: &Value| {
            (
                k["name"].as_str().unwrap().to_owned(),
                k["count"].as_i64().unwrap(),
                k["total_ns"].as_i64().unwrap(),
            )
        };
        report["kernels"].as_array().unwrap().iter().map(row).collect()
    };
    assert!(!kernels(&nsys).is_empty());
    assert_eq!(kernels(&nsys), kernels(&torch));
}

#[test]
fn windows_and_tops_cut_the_report() {
    let file = sample("torch/h100_training.json.gz");
    let whole = json_report(&[text(&file)]);
    let cut = json_report(&[text(&file), "--window", "1ms..3ms", "--top", "2"]);
    assert_eq!(cut["run"]["duration_ns"], 2_000_000);
    assert_eq!(cut["devices"][0]["window_ns"], 2_000_000);
    assert_eq!(cut["kernels"].as_array().unwrap().len(), 2);
    assert!(cut["devices"][0]["compute_ns"].as_i64() < whole["devices"][0]["compute_ns"].as_i64());
}

#[test]
fn markdown_starts_with_the_answer() {
    let output = tracecard(&["report", text(&sample("torch/h100_training.json.gz"))]);
    let report = String::from_utf8(output.stdout).unwrap();
    let answer = report.lines().find(|line| line.starts_with("**")).unwrap();
    for word in ["step", "compute", "communication", "copy", "idle"] {
        assert!(answer.contains(word), "{answer}");
    }
    assert!(report.contains("## Kernels"));
}

#[test]
fn info_says_what_a_file_is() {
    for (name, words) in [
        ("nsys/h100_training.sqlite", &["nsys-sqlite", "H100", "CUPTI_ACTIVITY_KIND_KERNEL"][..]),
        ("torch/h100_training.json.gz", &["kineto-json", "H100"]),
    ] {
        let output = tracecard(&["info", text(&sample(name))]);
        let said = String::from_utf8(output.stdout).unwrap();
        words.iter().for_each(|word| assert!(said.contains(word), "{word} in {said}"));
        let full = tracecard(&["info", "--full", text(&sample(name))]);
        assert!(String::from_utf8(full.stdout).unwrap().contains("kernel"));
    }
}

#[test]
fn shots_need_no_display_and_are_the_same_every_time() {
    let dir = tempfile::tempdir().unwrap();
    let file = sample("torch/h100_training.json.gz");
    let shot = |view: &str, out: &str| {
        let out = dir.path().join(out);
        let output = tracecard(&["shot", text(&file), "--view", view, "--size", "900x500", "-o", text(&out)]);
        assert!(output.status.success(), "{view}: {}", stderr(&output));
        std::fs::read(out).unwrap()
    };
    for view in ["timeline", "overview", "kernels", "window"] {
        let svg = shot(view, "a.svg");
        assert!(svg == shot(view, "b.svg"), "{view} is deterministic");
        assert!(svg.starts_with(b"<svg") || svg.starts_with(b"<?xml"));
        let png = shot(view, "a.png");
        assert!(png.starts_with(b"\x89PNG"));
        // Width and height stand at bytes 16–24 of a PNG.
        assert_eq!(png[16..24], [0, 0, 3, 132, 0, 0, 1, 244], "900×500");
    }
    check_fails(&["shot", text(&file), "--view", "nonsense", "-o", "x.png"], 2, &["nonsense"]);
    check_fails(&["shot", text(&file), "--view", "timeline", "-o", "x.gif"], 2, &["png"]);
}
