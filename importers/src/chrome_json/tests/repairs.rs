//! Trace health lists each repair under its own code, and nothing for a file that is as it should be.

use super::{ONE_BLOCK, op, open_with};

/// The codes of the issues of a file, with their counts.
fn check_issues(text: impl AsRef<[u8]>, expected: &[(&str, u64)]) {
    let text = text.as_ref();
    let trace = open_with(text, ONE_BLOCK).unwrap();
    let issues: Vec<_> = trace.issues.iter().map(|issue| (issue.code, issue.count)).collect();
    assert_eq!(issues, expected, "{}", String::from_utf8_lossy(text));
    assert_eq!(trace.slices.len(), 2);
}

/// Two events between which and around which something stands.
fn around(before: &str, between: &str, after: &str) -> String {
    format!("{before}{}{between}{}{after}", op("a", "1", "1"), op("b", "3", "1"))
}

/// Two events, the second with this member in its `args`.
fn with_arg(member: &str) -> String {
    let first = op("a", "1", "1");
    format!(
        r#"{{"traceEvents": [{first}, {{"ph": "X", "cat": "cpu_op", "name": "b", "pid": 9, "tid": 9, "ts": 3, "dur": 1, "args": {{{member}}}}}]}}"#
    )
}

#[test]
fn files_as_they_should_be_have_no_issues() {
    check_issues(around("[", ",\n", "]\n"), &[]);
    check_issues(around("{\"traceEvents\": [", ", ", "], \"traceName\": \"x\"}"), &[]);
    check_issues(with_arg(r#""Call stack": "a.py(1): f\n\u00e9\\b \"q\"", "x": [null, true, -1.5e3]"#), &[]);
    check_issues(with_arg(""), &[]);
}

#[test]
fn repairs_in_arguments_count_even_if_those_are_not_read() {
    check_issues(with_arg("\"Call stack\": \"a\nb\""), &[("control_characters", 1)]);
    check_issues(with_arg("\"x\": [\"a\tb\"]"), &[("control_characters", 1)]);
    check_issues(with_arg(r#""Call stack": "C:\Users""#), &[("unescaped_backslashes", 1)]);
    check_issues(
        with_arg(r#""CallFrom": "{"device": "cpu"}:3", "Python id": 24"#),
        &[("unescaped_quotes", 1)],
    );
    check_issues(with_arg(r#""x": N/A, "y": NaN, "z": -inf"#), &[("bare_words", 1)]);
    check_issues(with_arg(r#""x": , "y": 1"#), &[("missing_values", 1)]);
    check_issues(with_arg(r#""x": 1,"#), &[("stray_commas", 1)]);
    check_issues(with_arg(r#""x": 1, y": 2"#), &[("bare_keys", 1)]);
    let mut latin = with_arg(r#""x": "caf?""#).into_bytes();
    let at = latin.iter().position(|b| *b == b'?').unwrap();
    latin[at] = 0xe9;
    check_issues(latin, &[("invalid_utf8", 1)]);
}

#[test]
fn repairs_between_and_around_events_count() {
    check_issues(around("[", ",", ",]"), &[("stray_commas", 1)]);
    check_issues(around("[", ",,", "]"), &[("stray_commas", 1)]);
    check_issues(around("[", "\n", "]"), &[("missing_commas", 1)]);
    check_issues(around("[", "},", "]"), &[("stray_braces", 1)]);
    check_issues(around("{\"traceEvents\": [", ",", "}"), &[("stray_braces", 1)]);
    check_issues(around("[", ",", "] and more"), &[("bytes_outside", 7)]);
    check_issues(around("[", ",", ""), &[("list_not_closed", 1)]);
    check_issues(around("{\"traceEvents\": [", ",", ""), &[("file_truncated", 1)]);
    check_issues(around("[", "] [", "]"), &[("concatenated_traces", 1)]);
    check_issues(
        around("{\"a\": 1,, \"b\": , \"traceEvents\": [", ",", "], }"),
        &[("missing_values", 1), ("stray_commas", 2)],
    );
}

#[test]
fn odd_escapes_in_names_are_decoded_and_told() {
    let names = |name: &str| format!("[{}, {}]", op("a", "1", "1"), op(name, "3", "1"));
    check_issues(names(r"C:\\dir"), &[]);
    check_issues(names(r"C:\new"), &[("escaped_control_characters", 1)]);
    check_issues(names(r"half \ud83d"), &[("lone_surrogates", 1)]);
    check_issues(names("\u{fffd} as it is, \\u00e9"), &[]);
    check_issues(names(r#"a "b" c"#), &[("unescaped_quotes", 1)]);
}
