//! Traces in zip archives, and archives that are too much or too little.

use std::io::{Cursor, Write};

use tracecard_model::{Progress, dump};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::{file, op};
use crate::{ImportError, info, open};

const DUMP: &str = "ops \"thread 9\" process=9\n  op \"a\" 0 +1000\n";

fn trace() -> Vec<u8> {
    format!("{{\"schemaVersion\": 1, \"traceEvents\": [{}]}}", op("a", "1", "1")).into_bytes()
}

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(bytes).unwrap();
    gz.finish().unwrap()
}

fn best_gz(bytes: &[u8]) -> Vec<u8> {
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    gz.write_all(bytes).unwrap();
    gz.finish().unwrap()
}

fn zip_with(method: CompressionMethod, members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in members {
        zip.start_file(*name, SimpleFileOptions::default().compression_method(method)).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn zip(members: &[(&str, &[u8])]) -> Vec<u8> {
    zip_with(CompressionMethod::Deflated, members)
}

fn check_opens(bytes: &[u8], expected: &str) {
    let (_dir, path) = file("any.bin", bytes);
    assert_eq!(dump(&open(&path, &Progress::new()).unwrap()), expected);
}

fn check_refused(bytes: &[u8], reason: &str) {
    let (_dir, path) = file("any.bin", bytes);
    for error in [open(&path, &Progress::new()).unwrap_err(), info(&path).unwrap_err()] {
        assert!(matches!(error, ImportError::Unreadable { .. } | ImportError::Unrecognised { .. }));
        let message = error.to_string();
        assert!(message.contains(reason), "{message}");
        assert_eq!(message.lines().last(), Some(path.to_str().unwrap()));
    }
}

#[test]
fn the_only_member_is_opened_whatever_its_name() {
    check_opens(&zip(&[("trace.json", &trace())]), DUMP);
    check_opens(&zip(&[("run 1/übung.txt", &trace())]), DUMP);
    check_opens(&zip_with(CompressionMethod::Stored, &[("trace.json", &trace())]), DUMP);
    // What macOS adds is no member of its own.
    check_opens(
        &zip(&[("trace.json", &trace()), ("__MACOSX/._trace.json", b"x"), (".DS_Store", b"y")]),
        DUMP,
    );
}

#[test]
fn a_packed_member_is_unpacked_too() {
    check_opens(&zip(&[("trace.json.gz", &gz(&trace()))]), DUMP);
    check_opens(&zip(&[("trace.json.zst", &zstd::encode_all(trace().as_slice(), 1).unwrap())]), DUMP);
    check_refused(&zip(&[("inner.zip", &zip(&[("trace.json", &trace())]))]), "another zip archive");
}

#[test]
fn of_several_members_the_only_trace_is_opened() {
    let snapshot = br#"{"segments": [], "device_traces": [[]]}"#;
    let members: &[(&str, &[u8])] = &[("README.md", b"# run"), ("m.json", snapshot), ("t.json", &trace())];
    check_opens(&zip(members), DUMP);
    let (_dir, path) = file("run.zip", &zip(members));
    let info = info(&path).unwrap();
    assert_eq!(info.tables[0].n_rows, Some(1));
    let properties = format!("{:?}", info.properties);
    assert!(properties.contains(r#"("compression", "zip"), ("zip_member", "t.json")"#), "{properties}");
}

#[test]
fn which_of_several_members_is_meant_is_not_guessed() {
    check_refused(
        &zip(&[("rank0.json", &trace()), ("rank1.json", &trace()), ("notes.txt", b"x")]),
        "2 files in the zip archive are traces; unpack the one to open: rank0.json, rank1.json",
    );
    check_refused(
        &zip(&[("a.txt", b"a"), ("b.txt", b"b")]),
        "none of the 2 files in the zip archive is a PyTorch or chrome trace; unpack the one to open: a.txt, b.txt",
    );
    let names: Vec<String> = (0..20).map(|i| format!("f{i}")).collect();
    let members: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), b"x".as_slice())).collect();
    check_refused(&zip(&members), "f7 and 12 more");
}

#[test]
fn archives_that_hold_no_trace_say_so() {
    check_refused(&zip(&[]), "holds no file");
    check_refused(&zip(&[("a.txt", b"hello")]), "this is no profile");
    check_refused(&zip(&[("model/data.pkl", b"\x80\x02."), ("model/version", b"3")]), "torch.save");
    check_refused(&zip(&[("empty.json", b"")]), "empty file");
    check_refused(&gz(b""), "empty file");
    check_refused(&zip(&[("snapshot.json", br#"{"segments": [], "device_traces": []}"#)]), "memory snapshot");
    check_refused(&zip(&[("m.raw.json.gz", &gz(b"[[0, 1, 2, 3]]"))]), "list of lists");
}

/// The flags and the method of the only member, in its header and in the directory.
fn patched(at_header: usize, value: u8) -> Vec<u8> {
    let mut bytes = zip(&[("trace.json", &trace())]);
    let directory = bytes.windows(4).position(|w| w == b"PK\x01\x02").unwrap();
    bytes[at_header] = value;
    // The directory has one more field before them.
    bytes[directory + at_header + 2] = value;
    bytes
}

#[test]
fn what_cannot_be_unpacked_is_refused_in_words() {
    check_refused(&patched(6, 1), "encrypted");
    check_refused(&patched(8, 12), "a method that Tracecard does not read");
    let whole = patched(8, 12);
    let directory = whole.windows(4).position(|w| w == b"PK\x01\x02").unwrap();
    check_refused(&whole[..directory], "a method that Tracecard does not read");
    check_refused(b"PK\x03\x04 and nothing else", "cut off or damaged");
}

#[test]
fn a_cut_archive_keeps_what_can_be_unpacked() {
    let events: Vec<String> = (0..500).map(|i| op(&format!("op{}", i * 7919), &i.to_string(), "1")).collect();
    let text = format!("{{\"schemaVersion\": 1, \"traceEvents\": [{}]}}", events.join(","));
    for bytes in [
        zip(&[("trace.json", text.as_bytes())]),
        zip_with(CompressionMethod::Stored, &[("trace.json", text.as_bytes())]),
    ] {
        let (_dir, path) = file("any.bin", &bytes[..bytes.len() / 2]);
        let trace = open(&path, &Progress::new()).unwrap();
        assert!(100 < trace.slices.len() && trace.slices.len() < 400, "{}", trace.slices.len());
        let codes: Vec<_> = trace.issues.iter().map(|issue| issue.code).collect();
        assert_eq!(codes, ["archive_damaged", "file_truncated"]);
        assert!(info(&path).unwrap().properties.iter().any(|(key, _)| key == "complete"));
    }
}

#[test]
fn a_wrong_byte_in_an_archive_is_noticed() {
    let stored = zip_with(CompressionMethod::Stored, &[("trace.json", &trace())]);
    let at = stored.windows(7).position(|w| w == b"\"name\":").unwrap();
    let mut bytes = stored;
    bytes[at + 9] = b'b';
    let (_dir, path) = file("any.bin", &bytes);
    let trace = open(&path, &Progress::new()).unwrap();
    assert_eq!((trace.slices.len(), trace.issues[0].code), (1, "archive_damaged"));
    assert!(trace.issues[0].text.contains("checksum"), "{}", trace.issues[0].text);
}

/// Every single byte of a small archive is changed: nothing panics.
#[test]
fn single_wrong_bytes_in_archives_never_panic() {
    let whole = zip(&[("trace.json", &trace()), ("notes.txt", b"x")]);
    for at in 0..whole.len() {
        for byte in [0, 0xff, whole[at] ^ 1, whole[at] ^ 0x80] {
            let mut bytes = whole.clone();
            bytes[at] = byte;
            let (_dir, path) = file("any.bin", &bytes);
            drop((open(&path, &Progress::new()), info(&path)));
        }
    }
}

#[test]
fn archives_that_unpack_to_too_much_are_refused() {
    const TOO_MUCH_BYTES: usize = 100 << 20;
    let mut text = trace();
    text.truncate(text.len() - 2);
    text.resize(TOO_MUCH_BYTES, b' ');
    for bytes in [
        best_gz(&text),
        zstd::encode_all(text.as_slice(), 1).unwrap(),
        zip(&[("trace.json", text.as_slice())]),
    ] {
        let (_dir, path) = file("any.bin", &bytes);
        let message = open(&path, &Progress::new()).unwrap_err().to_string();
        assert!(
            message.contains("200 times its size") && message.contains("TRACECARD_MAX_UNPACKED_BYTES"),
            "{message}"
        );
        assert!(info(&path).is_ok());
    }
}
