//! The same trace under other names, packed, cut off, stopped, in pieces.

use std::io::Write;

use tracecard_model::{Progress, dump};

use super::super::pipeline::Plan;
use super::{ONE_BLOCK, file, open_with};
use crate::{ImportError, info, open};

/// 300 operators of 3 threads with kernels, enough for many small blocks.
fn sample() -> String {
    let mut events = Vec::new();
    for i in 0..300 {
        let (tid, ts, id) = (i % 3, 1000 + i * 10, i + 1);
        events.push(format!(
            r#"{{"ph": "X", "cat": "cpu_op", "name": "op{}", "pid": 9, "tid": {tid}, "ts": {ts}.500, "dur": 8.25,
                "args": {{"External id": {id}, "Input Dims": [[{i}, 2], []], "Input type": ["float", ""]}}}}"#,
            i % 7
        ));
        events.push(format!(
            r#"{{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 9, "tid": {tid}, "ts": {ts}.600, "dur": 1.000,
                "args": {{"correlation": {id}}}}}"#
        ));
        events.push(format!(
            r#"{{"ph": "X", "cat": "kernel", "name": "k{}", "pid": 0, "tid": 7, "ts": {ts}.900, "dur": 5,
                "args": {{"device": 0, "stream": 7, "correlation": {id}, "list": [{{"name": "x"}}, {{"name": "y"}}]}}}}"#,
            i % 5
        ));
    }
    format!(
        "{{\"schemaVersion\": 1,\n\"traceEvents\": [\n{}\n],\n\"traceName\": \"a ] b\"}}",
        events.join(",\n")
    )
}

fn dump_with(text: &[u8], block_bytes: usize, n_workers: usize) -> String {
    dump(&open_with(text, Plan { block_bytes, n_workers }).unwrap())
}

#[test]
fn the_result_depends_neither_on_blocks_nor_on_workers() {
    let text = sample();
    let expected = dump_with(text.as_bytes(), 1 << 20, 1);
    assert_eq!(expected.lines().filter(|line| line.contains(" <- \"cudaLaunchKernel\"")).count(), 300);
    assert!(!expected.contains("issue"), "{expected}");
    for block_bytes in [1, 100, 777, 4096] {
        for n_workers in [1, 2, 4] {
            assert_eq!(dump_with(text.as_bytes(), block_bytes, n_workers), expected);
        }
    }
}

#[test]
fn names_and_packing_of_files_do_not_matter() {
    let text = sample();
    let expected = dump(&open_with(text.as_bytes(), ONE_BLOCK).unwrap());
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(text.as_bytes()).unwrap();
    let gz = gz.finish().unwrap();
    let zst = zstd::encode_all(text.as_bytes(), 1).unwrap();
    for (name, bytes) in [
        ("trace.json", text.as_bytes()),
        // Torch up to 1.8 wrote plain text under this name.
        ("trace.json.gz", text.as_bytes()),
        ("photo.png", &gz),
        ("trace.json.zst", &zst),
        ("trace.json.tmp", text.as_bytes()),
    ] {
        let (_dir, path) = file(name, bytes);
        assert_eq!(dump(&open(&path, &Progress::new()).unwrap()), expected, "{name}");
    }
}

#[test]
fn every_cut_keeps_what_came_before() {
    let text = sample();
    // From behind the first event on: shorter pieces are not recognised at all.
    let short = &text[..3000];
    let mut n_before = 0;
    for cut in 400..short.len() {
        let trace = open_with(&short.as_bytes()[..cut], Plan { block_bytes: 500, n_workers: 1 }).unwrap();
        assert!(n_before <= trace.slices.len(), "cut at {cut}");
        n_before = trace.slices.len();
        assert_eq!(trace.issues[0].code, "file_truncated", "cut at {cut}");
        assert!(trace.issues[0].text.contains(&format!("byte {cut};")), "{}", trace.issues[0].text);
    }
    assert!(7 < n_before);
}

#[test]
fn cut_archives_keep_what_came_before() {
    let text = sample();
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(text.as_bytes()).unwrap();
    let gz = gz.finish().unwrap();
    let trace = open_with(&gz[..gz.len() / 2], ONE_BLOCK).unwrap();
    assert!(100 < trace.slices.len() && trace.slices.len() < 900);
    let codes: Vec<_> = trace.issues.iter().map(|issue| issue.code).collect();
    assert_eq!(codes, ["archive_damaged", "file_truncated"]);
    let mut damaged = gz.clone();
    let end = damaged.len();
    damaged[end - 6] ^= 0xff;
    let trace = open_with(&damaged, ONE_BLOCK).unwrap();
    assert_eq!((trace.slices.len(), trace.issues[0].code), (900, "archive_damaged"));
    // Padding loses nothing.
    let trace = open_with(&[gz.as_slice(), &[0; 512]].concat(), ONE_BLOCK).unwrap();
    let codes: Vec<_> = trace.issues.iter().map(|issue| issue.code).collect();
    assert_eq!((trace.slices.len(), codes.as_slice()), (900, ["bytes_behind_archive"].as_slice()));
}

#[test]
fn cancelling_stops_reading() {
    let (_dir, path) = file("trace.json", sample().as_bytes());
    let progress = Progress::new();
    progress.cancel();
    assert!(matches!(open(&path, &progress), Err(ImportError::Cancelled(_))));
}

#[test]
fn info_counts_the_events_of_small_files() {
    let text = sample();
    let (_dir, path) = file("trace.json", text.as_bytes());
    let info = info(&path).unwrap();
    assert_eq!((info.format, info.size_bytes), ("kineto-json", text.len() as u64));
    let [events] = info.tables.as_slice() else { panic!("{info:?}") };
    assert_eq!((events.n_rows, events.is_estimate), (Some(900), false));
}
