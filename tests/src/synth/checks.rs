//! What every made-up run must be: repeatable, the same in both formats, and possible.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};
use serde_json::Value;

use super::description::{Stream, Thread};
use super::gpu_metrics::METRICS;
use super::training::Training;
use super::{Config, Faults, write_chrome, write_nsys};

fn small() -> Config {
    Config { n_layers: 2, n_steps: 3, ..Config::default() }
}

/// The configuration of the files in `sample-traces`, as its README gives it.
fn sample() -> Config {
    Config { n_layers: 6, n_steps: 6, late_batch_frac: 0.25, ..Config::default() }
}

fn in_folder(folder: &tempfile::TempDir, name: &str) -> PathBuf {
    folder.path().join(name)
}

fn read_nsys(path: &Path) -> Connection {
    Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap()
}

fn read_chrome(path: &Path) -> Vec<Value> {
    let mut trace: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    match trace["traceEvents"].take() {
        Value::Array(events) => events,
        other => panic!("traceEvents is no list: {other}"),
    }
}

/// A chrome time, µs with three decimals, as ns. These times are below 2⁵³ ns, so that the f64 in between
/// has lost nothing.
fn ns(value: &Value) -> i64 {
    let text = value.to_string();
    let (whole, decimals) = text.split_once('.').unwrap_or((&text, "0"));
    let decimals = format!("{decimals:0<3}");
    assert_eq!(decimals.len(), 3, "{text} has more than ns");
    whole.parse::<i64>().unwrap() * 1_000 + decimals.parse::<i64>().unwrap()
}

/// Device work: correlation id → (name, start, duration, start of the call, duration of the call), with
/// starts relative to the first kernel.
type Launched = BTreeMap<i64, (String, i64, i64, i64, i64)>;

fn launched_in_nsys(conn: &Connection) -> Launched {
    let mut query = conn
        .prepare(
            "WITH first AS (SELECT min(start) AS ns FROM CUPTI_ACTIVITY_KIND_KERNEL)
             SELECT k.correlationId, s.value, k.start - first.ns, k.end - k.start, r.start - first.ns,
                    r.end - r.start
             FROM first, CUPTI_ACTIVITY_KIND_KERNEL k
             JOIN StringIds s ON s.id = k.demangledName
             JOIN CUPTI_ACTIVITY_KIND_RUNTIME r ON r.correlationId = k.correlationId",
        )
        .unwrap();
    query
        .query_map([], |row| {
            Ok((row.get(0)?, (row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?)))
        })
        .unwrap()
        .map(Result::unwrap)
        .collect()
}

fn launched_in_chrome(events: &[Value]) -> Launched {
    let of_category = |wanted: &'static [&'static str]| {
        events.iter().filter(move |event| event["cat"].as_str().is_some_and(|cat| wanted.contains(&cat)))
    };
    let calls: BTreeMap<i64, (i64, i64)> = of_category(&["cuda_runtime", "cuda_driver"])
        .map(|call| (call["args"]["correlation"].as_i64().unwrap(), (ns(&call["ts"]), ns(&call["dur"]))))
        .collect();
    let first_ns = of_category(&["kernel"]).map(|kernel| ns(&kernel["ts"])).min().unwrap();
    of_category(&["kernel"])
        .map(|kernel| {
            let correlation = kernel["args"]["correlation"].as_i64().unwrap();
            let (call_ns, call_dur_ns) = calls[&correlation];
            let name = kernel["name"].as_str().unwrap().to_owned();
            let start_ns = ns(&kernel["ts"]) - first_ns;
            (correlation, (name, start_ns, ns(&kernel["dur"]), call_ns - first_ns, call_dur_ns))
        })
        .collect()
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let files = ["a.sqlite", "b.sqlite", "a.json", "b.json", "a.json.gz", "b.json.gz"];
    for name in files {
        let path = in_folder(&folder, name);
        let write = if name.ends_with("sqlite") { write_nsys } else { write_chrome };
        write(&small(), &path).unwrap();
    }
    let bytes = files.map(|name| std::fs::read(in_folder(&folder, name)).unwrap());
    for pair in bytes.chunks(2) {
        assert!(pair[0] == pair[1]);
    }
    let other = in_folder(&folder, "other.json");
    write_chrome(&Config { seed: 2, ..small() }, &other).unwrap();
    assert!(bytes[2] != std::fs::read(other).unwrap());
}

#[test]
fn both_formats_tell_the_same_kernels_and_launches() {
    let folder = tempfile::tempdir().unwrap();
    let (sqlite, json) = (in_folder(&folder, "run.sqlite"), in_folder(&folder, "run.json"));
    let in_sqlite = write_nsys(&small(), &sqlite).unwrap();
    let in_json = write_chrome(&small(), &json).unwrap();
    assert_eq!(in_sqlite.n_kernels, in_json.n_kernels);
    let from_nsys = launched_in_nsys(&read_nsys(&sqlite));
    let from_chrome = launched_in_chrome(&read_chrome(&json));
    assert_eq!(from_nsys.len() as u64, in_sqlite.n_kernels);
    assert_eq!(from_nsys, from_chrome);
    let total_ns: i64 = from_nsys.values().map(|(_, _, dur_ns, ..)| dur_ns).sum();
    assert!(0 < total_ns);
}

#[test]
fn the_export_is_a_sound_database() {
    let folder = tempfile::tempdir().unwrap();
    let path = in_folder(&folder, "run.sqlite");
    write_nsys(&small(), &path).unwrap();
    let conn = read_nsys(&path);
    let verdict: String = conn.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(verdict, "ok");
    let count = |sql: &str| conn.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    let unknown_names = "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME
                         WHERE nameId NOT IN (SELECT id FROM StringIds)";
    assert_eq!(count(unknown_names), 0);
    let copies_without_call = "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_MEMCPY WHERE correlationId NOT IN
                               (SELECT correlationId FROM CUPTI_ACTIVITY_KIND_RUNTIME)";
    assert_eq!(count(copies_without_call), 0);
    // Three uploads and one `.item()` a step.
    assert_eq!(count("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_MEMCPY"), 12);
    assert_eq!(count("SELECT count(*) FROM NVTX_EVENTS WHERE text LIKE 'step %' AND end IS NOT NULL"), 3);
    // One bucket for the head, one for the embeddings, one for each layer; and the domain itself.
    assert_eq!(count("SELECT count(*) FROM NVTX_EVENTS WHERE domainId = 1"), 3 * 4 * 3 + 1);
    let no_metrics = in_folder(&folder, "no_metrics.sqlite");
    write_nsys(&Config { gpu_metrics_hz: 0, ..small() }, &no_metrics).unwrap();
    let tables = "SELECT count(*) FROM sqlite_master WHERE name = 'GPU_METRICS'";
    assert_eq!(count(tables), 1);
    let without: i64 = read_nsys(&no_metrics).query_row(tables, [], |row| row.get(0)).unwrap();
    assert_eq!(without, 0);
}

/// Compared by content, not by bytes: those change with the versions of SQLite and zlib.
#[test]
fn the_samples_are_what_the_synthesiser_writes() {
    const HOW: &str = "run the commands of sample-traces/README.md again";
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sample-traces");
    let folder = tempfile::tempdir().unwrap();
    let (sqlite, json) = (in_folder(&folder, "run.sqlite"), in_folder(&folder, "run.json"));
    write_nsys(&sample(), &sqlite).unwrap();
    write_chrome(&sample(), &json).unwrap();
    let kept = launched_in_nsys(&read_nsys(&samples.join("nsys/h100_training.sqlite")));
    assert!(kept == launched_in_nsys(&read_nsys(&sqlite)), "{HOW}");
    let compressed = std::fs::File::open(samples.join("torch/h100_training.json.gz")).unwrap();
    let mut kept = Vec::new();
    flate2::read::GzDecoder::new(compressed).read_to_end(&mut kept).unwrap();
    assert!(kept == std::fs::read(&json).unwrap(), "{HOW}");
}

#[test]
fn what_is_left_out_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = in_folder(&folder, "bare.json");
    write_chrome(&Config { records_shapes: false, records_memory: false, ..small() }, &path).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(!text.contains("Input Dims") && !text.contains("[memory]"));
    assert!(!text.contains("profile_memory"));
    assert!(read_chrome(&path).iter().any(|event| event["cat"] == "kernel"));
}

/// Runs a configuration and checks that nothing impossible happens in it. Returns the end of the run.
fn check_possible(config: &Config) -> i64 {
    let mut training = Training::new(config);
    let mut stream_end_ns = [0; 2];
    let mut thread_end_ns = [0; Thread::ALL.len()];
    let mut allocated_bytes = None;
    while training.next_step() {
        let step = training.step();
        let call_end_ns: BTreeMap<i64, i64> =
            step.api_calls.iter().map(|call| (call.correlation, call.start_ns + call.dur_ns)).collect();
        let mut device: Vec<(Stream, i64, i64, i64)> = Vec::new();
        device.extend(step.kernels.iter().map(|k| (k.stream, k.start_ns, k.dur_ns, k.correlation)));
        device.extend(step.copies.iter().map(|c| (c.stream, c.start_ns, c.dur_ns, c.correlation)));
        device.extend(step.memsets.iter().map(|m| (m.stream, m.start_ns, m.dur_ns, m.correlation)));
        device.sort_by_key(|(_, start_ns, ..)| *start_ns);
        for (stream, start_ns, dur_ns, correlation) in device {
            assert!(call_end_ns[&correlation] <= start_ns, "runs before its launch has returned");
            assert!(stream_end_ns[stream.idx()] < start_ns, "overlaps on its stream");
            assert!(0 < dur_ns);
            stream_end_ns[stream.idx()] = start_ns + dur_ns;
        }
        for thread in Thread::ALL {
            let mut open_until_ns = vec![i64::MAX];
            let begun_ns = thread_end_ns[thread.idx()];
            for op in step.ops.iter().filter(|op| op.thread == thread) {
                let end_ns = op.start_ns + op.dur_ns;
                assert!(begun_ns <= op.start_ns, "begins before the last step ended");
                while open_until_ns.last().is_some_and(|until_ns| *until_ns <= op.start_ns) {
                    open_until_ns.pop();
                }
                assert!(
                    open_until_ns.last().is_some_and(|until_ns| end_ns <= *until_ns),
                    "crosses its parent"
                );
                open_until_ns.push(end_ns);
                thread_end_ns[thread.idx()] = thread_end_ns[thread.idx()].max(end_ns);
            }
        }
        for event in &step.tensor_events {
            assert!(event.total_allocated_bytes <= event.total_reserved_bytes);
            let before_bytes = event.total_allocated_bytes - event.delta_bytes;
            assert!(allocated_bytes.is_none_or(|bytes| bytes == before_bytes));
            allocated_bytes = Some(event.total_allocated_bytes);
        }
        let resident_bytes = 8 * training.network.total_elems;
        assert_eq!(allocated_bytes, Some(resident_bytes), "a tensor of the step was never freed");
        assert!(training.tape.is_empty(), "an operator of the forward pass has no backward");
        for sample in &step.metrics {
            let percentages = sample.values.iter().zip(METRICS).filter(|(_, name)| name.ends_with("%]"));
            assert!(percentages.clone().all(|(value, _)| (0..=100).contains(value)));
        }
    }
    assert!(thread_end_ns[0] <= training.now_ns());
    training.now_ns()
}

#[test]
fn nothing_impossible_happens() {
    for seed in 1..=5 {
        check_possible(&Config { seed, ..small() });
    }
}

#[test]
fn each_fault_makes_the_run_longer() {
    let usual = Config { late_batch_frac: 0.0, ..small() };
    let healthy_ns = check_possible(&usual);
    let faults = [
        Faults { pageable_batches: true, ..Faults::default() },
        Faults { item_in_each_layer: true, ..Faults::default() },
        Faults { reduces_after_backward: true, ..Faults::default() },
        Faults { straggler_ns: 2_000_000, ..Faults::default() },
    ];
    for faults in faults {
        let faulty_ns = check_possible(&Config { faults: faults.clone(), ..usual.clone() });
        assert!(healthy_ns < faulty_ns, "{faults:?}: {healthy_ns} ns without, {faulty_ns} ns with");
    }
    let late_ns = check_possible(&Config { late_batch_frac: 1.0, ..usual });
    assert!(healthy_ns + 3 * 2_500_000 < late_ns);
}

#[test]
fn the_device_rests_while_the_batch_is_late() {
    let config = Config { late_batch_frac: 1.0, n_steps: 1, ..small() };
    let mut training = Training::new(&config);
    training.next_step();
    let step = training.step();
    let first_ns = step.copies.iter().map(|copy| copy.start_ns).min().unwrap();
    let sms_active = METRICS.iter().position(|name| name.starts_with("SMs Active")).unwrap();
    let is_idle = |sample: &&super::gpu_metrics::MetricSample| sample.values[sms_active] == 0;
    let n_before = step.metrics.iter().filter(|sample| sample.time_ns < first_ns).filter(is_idle).count();
    // The first step begins at 12 ms, the batch is 2.5 ms late at least: 145 samples of 0.1 ms.
    assert!(145 <= n_before, "{n_before}");
    assert!(!step.metrics.iter().all(|sample| is_idle(&sample)));
}

#[test]
fn a_number_of_kernels_becomes_the_nearest_number_of_steps() {
    let one_step = Config { n_steps: 1, ..small() };
    let mut training = Training::new(&one_step);
    training.next_step();
    let per_step = training.step().kernels.len() as u64;
    assert_eq!(one_step.clone().with_kernels(0).n_steps, 1);
    assert_eq!(one_step.clone().with_kernels(10 * per_step + per_step / 3).n_steps, 10);
    assert_eq!(one_step.with_kernels(10 * per_step + 2 * per_step / 3).n_steps, 11);
}
