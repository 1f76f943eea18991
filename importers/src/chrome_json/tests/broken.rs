//! Files that are damaged, not traces, or made to hurt.

use super::super::pipeline::Plan;
use super::{ONE_BLOCK, check, check_events, file, op, open_with};
use crate::{ImportError, open};
use tracecard_model::Progress;

const OPS: &str = "ops \"thread 9\" process=9\n";

fn check_refused(text: &str, reason: &str) {
    let (_dir, path) = file("file.json", text.as_bytes());
    let error = open(&path, &Progress::new()).unwrap_err();
    let message = error.to_string();
    assert!(message.contains(reason), "{message}");
    assert_eq!(message.lines().last(), Some(path.to_str().unwrap()));
}

#[test]
fn other_json_is_refused_in_words() {
    check_refused(r#"{"segments": [{"address": 1}], "device_traces": [[]]}"#, "memory snapshot");
    check_refused(r#"{"SchemaVersion": "3.1"}"#, "nsys export --type sqlite");
    check_refused("[[1, 2], [3]]", "list of lists");
    check_refused(r#"{"traceEvents": "none", "ph": 1, "ts": 2}"#, "no trace");
    check_refused(r#"{"a": 1}"#, "JSON without events");
    assert!(matches!(open_with(b"", ONE_BLOCK), Err(ImportError::Empty { .. })));
}

#[test]
fn events_that_cannot_be_read_are_skipped_and_counted() {
    check_events(
        &format!("{}, {{\"ph\": ~\"X\"}}, 17, \"text\", {}", op("a", "1", "1"), op("b", "3", "1")),
        &format!("{OPS}  op \"a\" 0 +1000\n  op \"b\" 2000 +1000\nissue data_loss events_skipped ×3\n"),
    );
    // At the end of the list, where no event follows to resume at.
    check_events(
        &format!("{}, {{\"ph\": ~\"X\"}}", op("a", "1", "1")),
        &format!("{OPS}  op \"a\" 0 +1000\nissue data_loss events_skipped ×1\n"),
    );
}

#[test]
fn a_list_inside_args_does_not_confuse_the_blocks() {
    let event = |ts: usize| {
        format!(
            r#"{{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 9, "tid": 9, "ts": {ts}, "dur": 1,
                "args": {{"list": [{{"name": "x", "ph": "X", "ts": 1}}, {{"name": "y", "ph": "X", "ts": 2}}, {{"name": "]"}}]}}}}"#
        )
    };
    check_events(
        &[event(1), event(3), event(5)].join(","),
        &format!("{OPS}  op \"a\" 0 +1000\n  op \"a\" 2000 +1000\n  op \"a\" 4000 +1000\n"),
    );
}

#[test]
fn traces_one_after_the_other_are_read_as_one() {
    let one = |name: &str, ts: &str| format!("{{\"traceEvents\": [{}]}}\n", op(name, ts, "1"));
    check(
        one("a", "1") + &one("b", "3"),
        &format!("{OPS}  op \"a\" 0 +1000\n  op \"b\" 2000 +1000\nissue warning concatenated_traces ×1\n"),
    );
}

#[test]
fn a_trace_may_begin_within_the_list_of_one_that_was_cut_off() {
    let one = |name: &str, ts: &str, end: &str| {
        format!("{{\n  \"schemaVersion\": 1, \"traceEvents\": [{}{end}", op(name, ts, "1"))
    };
    for cut in [",\n", "\n"] {
        check(
            one("a", "1", cut) + &one("b", "3", "], \"distributedInfo\": {\"rank\": 2}}"),
            &format!(
                "{OPS}  op \"a\" 0 +1000\n  op \"b\" 2000 +1000\nissue warning concatenated_traces ×1\n{}",
                if cut == "\n" { "issue info missing_commas ×1\n" } else { "" }
            ),
        );
    }
    // Cut within an event.
    check(
        one("a", "1", ", {\"ph\": \"X\", \"na") + &one("b", "3", "]}"),
        &format!("{OPS}  op \"a\" 0 +1000\n  op \"b\" 2000 +1000\nissue data_loss events_skipped ×1\n"),
    );
}

#[test]
fn lines_before_a_trace_are_passed() {
    let (a, b) = (op("a", "1", "1"), op("b", "3", "1"));
    let dump = |more: &str| {
        format!("{OPS}  op \"a\" 0 +1000\n  op \"b\" 2000 +1000\nissue info bytes_outside ×1\n{more}")
    };
    check(format!("step 1 {{done}}\nok\n{a},\n{b}"), &dump("issue info list_not_closed ×1\n"));
    check(format!("step 1 done\n[\n{a},\n{b}]"), &dump(""));
    check(format!("step 1 done\n{{\"traceEvents\": [{a},\n{b}]}}"), &dump(""));
    check_refused("<html>{\"ph\": \"X\", \"ts\": 1, \"pid\": 1}", "HTML");
}

#[test]
fn a_byte_order_mark_and_zeros_are_passed() {
    check(
        format!("\u{feff}[{}]\0\0", op("a", "1", "1")),
        &format!("{OPS}  op \"a\" 0 +1000\nissue info bytes_outside ×2\n"),
    );
}

#[test]
fn a_string_without_an_end_does_not_swallow_the_rest() {
    check_events(
        &format!(
            "{}, {{\"ph\": \"X\", \"name\": \"cut, {}, {}",
            op("a", "1", "1"),
            op("b", "3", "1"),
            op("c", "5", "1")
        ),
        &format!(
            "{OPS}  op \"a\" 0 +1000\n  op \"b\" 2000 +1000\n  op \"c\" 4000 +1000\nissue warning unescaped_quotes ×1\n"
        ),
    );
}

#[test]
fn an_event_without_an_end_costs_at_most_its_neighbour() {
    check_events(
        &format!("{}, {{\"ph\": \"X\", {}, {}", op("a", "1", "1"), op("b", "3", "1"), op("c", "5", "1")),
        &format!("{OPS}  op \"a\" 0 +1000\n  op \"c\" 4000 +1000\nissue data_loss events_skipped ×1\n"),
    );
}

#[test]
fn deep_nesting_is_no_trouble() {
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let event = format!(
        r#"{{"ph": "X", "cat": "cpu_op", "name": "d", "pid": 9, "tid": 9, "ts": 5, "dur": 1, "args": {{"x": {deep}}}}}"#
    );
    let text = format!("[{}, {event}, {}]", op("a", "1", "1"), op("b", "9", "1"));
    let trace = open_with(text.as_bytes(), ONE_BLOCK).unwrap();
    assert_eq!(trace.slices.len(), 3);
}

#[test]
fn an_event_of_many_mib_costs_only_itself() {
    let long = "[1], ".repeat(4 << 20);
    let event = format!(
        r#"{{"ph": "X", "cat": "cpu_op", "name": "long", "pid": 9, "tid": 9, "ts": 5, "dur": 1, "args": {{"x": [{long}1]}}}}"#
    );
    let text = format!("[{}, {event}, {}]", op("a", "1", "1"), op("b", "9", "1"));
    let trace = open_with(text.as_bytes(), ONE_BLOCK).unwrap();
    assert_eq!((trace.slices.len(), trace.issues[0].code), (2, "events_skipped"));
}

/// Every single byte of a small file is replaced by bytes that matter: nothing panics, blocks change nothing.
#[test]
fn single_wrong_bytes_never_panic() {
    let text = format!(
        r#"{{"schemaVersion": 1, "traceEvents": [{}, {{"ph": "C", "name": "c", "pid": 1, "ts": 2, "args": {{"a": 1.5}}}}], "x": [1]}}"#,
        op("a\\n", "1.5", "1")
    );
    for at in 0..text.len() {
        for byte in [b'"', b'\\', b'{', b'}', b'[', b']', b',', b'0', b'e', 0, 0xff] {
            let mut bytes = text.clone().into_bytes();
            bytes[at] = byte;
            let one = open_with(&bytes, ONE_BLOCK)
                .map(|trace| tracecard_model::dump(&trace))
                .map_err(|e| e.to_string());
            let many = open_with(&bytes, Plan { block_bytes: 50, n_workers: 2 });
            let many = many.map(|trace| tracecard_model::dump(&trace)).map_err(|e| e.to_string());
            let without_path =
                |text: String| text.lines().filter(|line| !line.starts_with('/')).collect::<String>();
            assert_eq!(
                one.map_err(without_path),
                many.map_err(without_path),
                "byte {at} is {byte}: {}",
                String::from_utf8_lossy(&bytes)
            );
        }
    }
}

/// Random damage, the same every time: nothing panics, and the result does not depend on the blocks.
#[test]
fn damage_is_read_the_same_in_any_blocks() {
    const PIECES: &[&str] = &[
        "\"",
        "\\",
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "},{\"ph\": \"X\"",
        "\n{\"schemaVersion\": 1, \"traceEvents\": [",
        "}\n{",
        "}}",
        ",,",
        "\0",
        "junk\n",
        "N/A",
        "\"]}",
        "\n",
        "\u{fc}",
    ];
    let names = ["a", "b \\\"q\\\"", "c}, {", "d"];
    let events: Vec<String> = (0..8).map(|i| op(names[i % 4], &format!("{i}.5"), "0.25")).collect();
    let text =
        format!("{{\"schemaVersion\": 1, \"traceEvents\": [{}], \"traceName\": \"x\"}}", events.join(",\n"));
    let mut state = 7_u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    for round in 0..1500 {
        let mut bytes = text.clone().into_bytes();
        for _ in 0..=random(4) {
            let at = random(bytes.len());
            let end = (at + random(30)).min(bytes.len());
            match random(3) {
                0 => drop(bytes.drain(at..end)),
                1 => drop(bytes.splice(at..at, PIECES[random(PIECES.len())].bytes())),
                _ => {
                    let copy = bytes[at..end].to_vec();
                    drop(bytes.splice(at..at, copy));
                }
            }
        }
        let dump = |plan| {
            open_with(&bytes, plan).map_or_else(|_| String::new(), |trace| tracecard_model::dump(&trace))
        };
        let (one, many) = (dump(ONE_BLOCK), dump(Plan { block_bytes: 60, n_workers: 2 }));
        assert_eq!(one, many, "round {round}: {}", String::from_utf8_lossy(&bytes));
    }
}
