//! Every real PyTorch trace opens, and its counts and sums equal those of a plain recount in another language.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "all of this is a test")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use tracecard_importers::{info, open};
use tracecard_model::{Progress, SliceKind, Trace};

/// Count and sum of durations in ns by (kind, name); the name is absent where the recount does not know it.
type Totals = BTreeMap<(String, Option<String>), (u64, i64)>;

/// The issues of files that are no JSON.
const NO_JSON: &[&str] = &[
    "arguments_unreadable",
    "bare_keys",
    "bare_words",
    "bytes_outside",
    "concatenated_traces",
    "control_characters",
    "events_skipped",
    "file_truncated",
    "invalid_utf8",
    "list_not_closed",
    "metadata_unreadable",
    "missing_commas",
    "missing_values",
    "stray_braces",
    "stray_commas",
    "unescaped_backslashes",
    "unescaped_quotes",
];

fn corpus() -> Option<PathBuf> {
    let corpus = std::env::var_os("TRACECARD_CORPUS").map(|folder| PathBuf::from(folder).join("torch"));
    if corpus.is_none() {
        println!("skipped: TRACECARD_CORPUS is not set");
    }
    corpus
}

fn files(corpus: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = std::fs::read_dir(corpus).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// What `recount.py` says of a file.
#[derive(Default)]
struct Recount {
    /// Is it JSON as the standard wants it?
    is_json: bool,
    totals: Totals,
}

/// What `recount.py` says, by file name; `None` without Python.
fn recount(corpus: &Path) -> Option<BTreeMap<String, Recount>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recount.py");
    let Ok(output) = Command::new("python3").arg(script).arg(corpus).output() else {
        println!("skipped: python3 is not there");
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut files: BTreeMap<String, Recount> = BTreeMap::new();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let [file, kind, count, sum_ns, name] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let name: Option<String> = serde_json::from_str(name).unwrap();
        let recount = files.entry(file.to_owned()).or_default();
        if kind == "valid" {
            recount.is_json = count == "1";
            continue;
        }
        recount.totals.insert((kind.to_owned(), name), (count.parse().unwrap(), sum_ns.parse().unwrap()));
    }
    Some(files)
}

/// The same from the trace, with or without names.
fn totals(trace: &Trace, with_names: bool) -> Totals {
    use SliceKind::{Annotation, Api, Kernel, Memcpy, Memset, Op, Python, Sync};
    let has_mtia = trace.names.find("dma_request").is_some();
    let mut totals = Totals::new();
    for slice in trace.slice_ids() {
        let kind = trace.slices.kinds()[slice.idx()];
        // The recount knows the synchronisation records of MTIA only.
        let is_counted = matches!(kind, Annotation | Api | Kernel | Memcpy | Memset | Op | Python);
        if is_counted || kind == Sync && has_mtia {
            let name = with_names.then(|| trace.name(slice).to_owned());
            let total = totals.entry((kind.text().to_owned(), name)).or_default();
            total.0 += 1;
            total.1 += trace.slices.durs_ns()[slice.idx()];
        }
    }
    totals
}

#[test]
fn counts_and_sums_equal_a_plain_recount() {
    let Some(corpus) = corpus() else { return };
    let Some(recounts) = recount(&corpus) else { return };
    let mut n_kernels = 0;
    for path in files(&corpus) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let trace = open(&path, &Progress::new()).unwrap();
        let Recount { is_json, totals: expected } = &recounts[&name];
        let repairs: Vec<_> =
            trace.issues.iter().map(|issue| issue.code).filter(|code| NO_JSON.contains(code)).collect();
        assert_eq!(repairs.is_empty(), *is_json, "{name}: {repairs:?}");
        let with_names = expected.keys().all(|(_, name)| name.is_some());
        let found = totals(&trace, with_names);
        for (key, total) in expected {
            assert_eq!(found.get(key), Some(total), "{name}: {key:?}");
        }
        assert_eq!(found.len(), expected.len(), "{name}: {found:?}");
        n_kernels += found.iter().filter(|(key, _)| key.0 == "kernel").map(|(_, total)| total.0).sum::<u64>();
    }
    // The categories `kernel` and `Kernel` of all files, counted once by hand, and 388 programs on MTIA.
    assert_eq!(n_kernels, 109_923 + 388);
}

#[test]
fn files_that_json_refuses_lose_nothing() {
    let Some(corpus) = corpus() else { return };
    // File, slices, gravest issue. The two cut files end within an event.
    for (name, n_slices, issue) in [
        ("local_1.8.1_odd_backslash.json", 13, Some("unescaped_backslashes")),
        ("local_1.8.1_odd_ctrl.json", 13, Some("control_characters")),
        ("local_1.8.1_odd_json.json", 13, Some("unescaped_quotes")),
        ("local_1.8.1_odd_newline.json", 13, Some("control_characters")),
        ("local_1.8.1_odd_quote.json", 13, Some("unescaped_quotes")),
        ("local_1.8.1_odd_tab.json", 13, Some("control_characters")),
        ("local_1.8.1_stack_dynamo.json", 8, Some("unescaped_quotes")),
        ("local_1.8.1_stack_nl.json", 8, Some("control_characters")),
        ("local_1.8.1_stack_winpath.json", 8, Some("unescaped_backslashes")),
        ("local_2.15.0_stack_dynamo.json", 43, Some("unescaped_quotes")),
        ("local_crashed_1.11.0.json.gz", 447, Some("file_truncated")),
        ("list_without_brackets.json", 216, Some("events_skipped")),
    ] {
        let trace = open(&corpus.join(name), &Progress::new()).unwrap();
        assert_eq!(trace.slices.len(), n_slices, "{name}");
        assert_eq!(trace.issues.first().map(|issue| issue.code), issue, "{name}");
    }
}

#[test]
fn odd_names_are_exact() {
    let Some(corpus) = corpus() else { return };
    for (file, name) in [
        ("local_1.8.1_odd_backslash.json", r"C:\Users\user\n"),
        ("local_1.8.1_odd_ctrl.json", "ctl\u{1}\u{1f}"),
        ("local_1.8.1_odd_json.json", r#"{"device": "cpu"}"#),
        ("local_1.8.1_odd_newline.json", "line1\nline2"),
        ("local_1.8.1_odd_quote.json", r#"has "double" quotes"#),
        ("local_1.8.1_odd_tab.json", "tab\there"),
        ("local_1.8.1_odd_unicode.json", "Überschrift 漢字 🚀"),
        ("local_1.8.1_odd_pct.json", "100% {x} %s"),
        ("local_1.8.1_odd_empty.json", ""),
    ] {
        let trace = open(&corpus.join(file), &Progress::new()).unwrap();
        assert!(trace.names.find(name).is_some(), "{file}: {name:?}");
    }
}

#[test]
fn infos_tell_the_tool() {
    let Some(corpus) = corpus() else { return };
    for path in files(&corpus) {
        let info = info(&path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let Some((version, _)) = name.strip_prefix("local_").and_then(|rest| rest.split_once('_')) else {
            continue;
        };
        if version == "crashed" {
            continue;
        }
        let tool = info.tool.unwrap_or_default();
        if let Some((_, range)) = tool.split_once(", torch ") {
            let range = range.trim_end_matches(" by the layout of the file");
            assert!(contains_version(range, version), "{name}: {range}");
        }
    }
}

/// Is `2.8.0` in `2.8–2.11`, `2.12 or later`, `1.8`?
fn contains_version(range: &str, version: &str) -> bool {
    let number = |text: &str| -> (u32, u32) {
        let mut parts = text.split('.').map(|part| part.parse().unwrap());
        (parts.next().unwrap(), parts.next().unwrap())
    };
    let version = number(version);
    if let Some(first) = range.strip_suffix(" or later") {
        return number(first) <= version;
    }
    let (first, last) = range.split_once('–').unwrap_or((range, range));
    number(first) <= version && version <= number(last)
}
