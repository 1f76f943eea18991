//! Files that are still being written, and what the headers of large ones say.

use std::io::Write;

use tracecard_model::Progress;

use super::{file, op, open_with};
use crate::{ImportError, Input, info, open};

fn events(n: usize) -> String {
    (0..n).map(|i| op(&format!("op{i}"), &i.to_string(), "1")).collect::<Vec<_>>().join(",\n")
}

#[test]
fn a_file_that_grows_is_read_as_far_as_it_went_when_it_was_opened() {
    let begun = format!("{{\"schemaVersion\": 1, \"traceEvents\": [\n{},\n", events(10));
    let (_dir, path) = file("trace.json.tmp", begun.as_bytes());
    let input = Input::open(&path).unwrap();
    let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(format!("{}]}}", events(5)).as_bytes()).unwrap();
    let mut builder = tracecard_model::TraceBuilder::new();
    super::super::read(&input, &mut builder, &Progress::new()).unwrap();
    input.note_changes(&mut builder.issues);
    let trace = builder.finish(&Progress::new()).unwrap();
    assert_eq!(trace.slices.len(), 10);
    let codes: Vec<_> = trace.issues.iter().map(|issue| issue.code).collect();
    assert_eq!(codes, ["file_changed", "file_truncated"]);
    let text = &trace.issues[1].text;
    assert!(
        text.contains(&format!("byte {};", begun.len())) && text.contains("still being written"),
        "{text}"
    );
    // Complete now.
    assert_eq!(open(&path, &Progress::new()).unwrap().slices.len(), 15);
}

#[test]
fn a_file_without_any_event_yet_says_so() {
    for text in
        ["{\n  \"schemaVersion\": 1,\n", "{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [\n    {", "{"]
    {
        let error = open_with(text.as_bytes(), super::ONE_BLOCK).and(Ok(())).unwrap_err();
        assert!(error.to_string().contains("still being written"), "{text}: {error}");
        let (_dir, path) = file("trace.json.tmp", text.as_bytes());
        let message = open(&path, &Progress::new()).unwrap_err().to_string();
        assert!(message.contains("still being written"), "{text}: {message}");
    }
    assert!(matches!(open_with(b"", super::ONE_BLOCK), Err(ImportError::Empty { .. })));
}

#[cfg(unix)]
#[test]
fn a_device_is_no_file() {
    let message = open("/dev/null".as_ref(), &Progress::new()).unwrap_err().to_string();
    assert!(message.contains("pipe or a device"), "{message}");
}

/// The number of events: told, guessed, or said to be unknown.
#[test]
fn info_knows_guesses_or_says_that_it_does_not_know() {
    let small = format!("{{\"traceEvents\": [{}]}}", events(50));
    // More than `info` reads.
    let large = format!("{{\"traceEvents\": [{}]}}", events(60_000));
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(large.as_bytes()).unwrap();
    let gz = gz.finish().unwrap();
    let zst = zstd::bulk::compress(large.as_bytes(), 1).unwrap();
    let streamed_zst = zstd::encode_all(large.as_bytes(), 1).unwrap();
    for (bytes, n_events, is_estimate) in [
        (small.as_bytes(), Some(50), false),
        (large.as_bytes(), Some(60_000), true),
        (gz.as_slice(), Some(60_000), true),
        (zst.as_slice(), Some(60_000), true),
        // Its header does not say how much it holds.
        (streamed_zst.as_slice(), None, true),
    ] {
        let (_dir, path) = file("trace.json", bytes);
        let info = info(&path).unwrap();
        let [events] = info.tables.as_slice() else { panic!("{info:?}") };
        assert_eq!(events.is_estimate, is_estimate);
        match (events.n_rows, n_events) {
            (Some(n), Some(expected)) => assert!(n.abs_diff(expected) <= expected / 20, "{n} of {expected}"),
            (n, expected) => assert_eq!(n, expected),
        }
        assert!(info.properties.iter().all(|(key, _)| key != "complete"), "{info:?}");
    }
}

#[test]
fn info_of_cut_files_says_that_they_are_cut() {
    for text in [format!("[{},", events(50)), format!("{{\"traceEvents\": [{},", events(60_000))] {
        let (_dir, path) = file("trace.json", text.as_bytes());
        let properties = info(&path).unwrap().properties;
        assert!(properties.contains(&("complete".to_owned(), "no: the end mark is missing".to_owned())));
    }
}

/// Facts before the events may be longer than the head by which files are recognised.
#[test]
fn info_looks_behind_long_facts() {
    let facts = "\"line\",".repeat(20_000);
    let text = format!(
        "{{\"schemaVersion\": 1, \"deviceProperties\": [], \"INFO\": [{facts}\"\"], \"traceEvents\": [{}]}}",
        events(30)
    );
    let (_dir, path) = file("trace.json", text.as_bytes());
    assert_eq!(info(&path).unwrap().tables[0].n_rows, Some(30));
}
