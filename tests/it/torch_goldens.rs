//! Our operator table against torch's own `key_averages()` and AMD's TraceLens for the same traces.

use std::collections::BTreeMap;
use std::path::Path;

use tracecard_analyzers::Params;

use crate::corpus::{Run, corpus, csv};

/// A column of the operator table added up by name.
fn by_name(run: &Run, column: &str) -> BTreeMap<String, i64> {
    let table = run.table("operators");
    let mut sums = BTreeMap::new();
    for row in 0..table.n_rows() {
        let name = table.text(row, "name").unwrap().to_owned();
        *sums.entry(name).or_insert(0) += table.int(row, column).unwrap_or(0);
    }
    sums
}

fn trace_path(corpus: &Path, name: &str) -> Option<std::path::PathBuf> {
    ["json", "json.gz"]
        .iter()
        .map(|end| corpus.join("torch").join(format!("{name}.{end}")))
        .find(|p| p.exists())
}

/// torch prints µs with the digits of the file; ours are the ns.
#[test]
fn self_cpu_times_are_those_of_key_averages() {
    let Some(corpus) = corpus() else { return };
    let mut n_rows = 0;
    // Before 2.4 stamps are rounded and torch's own numbers inconsistent; 1.8 is exact again. From 2.12 on
    // Python frames take part where stacks were recorded: in these files they were not.
    for version in ["1.8.1", "2.4.1", "2.6.0", "2.8.0", "2.15.0"] {
        // 2.4.1's table of the second cycle holds the first one too; its file does not.
        let is_whole = |name: &&str| !(version == "2.4.1" && *name == "train_sched_1");
        for name in ["plain", "memory", "tf_shapes_flops", "train_sched_0", "train_sched_1"]
            .into_iter()
            .filter(is_whole)
        {
            let golden =
                corpus.join("torch-golden").join(format!("local_{version}/{name}.key_averages.json"));
            let Some(trace) =
                trace_path(&corpus, &format!("local_{version}_{name}")).filter(|_| golden.exists())
            else {
                continue;
            };
            let run = Run::open(&trace, &Params::default());
            let ours = by_name(&run, "self_cpu_ns");
            let rows: Vec<serde_json::Value> =
                serde_json::from_slice(&std::fs::read(&golden).unwrap()).unwrap();
            for row in rows {
                let key = row["key"].as_str().unwrap();
                let theirs_us = row["self_cpu_time_total"].as_f64().unwrap();
                // The profiler's step marks and annotations are ranges, not operators, to us; calls have a table of their own.
                let Some(ours_ns) = ours.get(key) else { continue };
                n_rows += 1;
                let ours_us = *ours_ns as f64 / 1e3;
                assert!(
                    (ours_us - theirs_us).abs() < 0.5e-3,
                    "{version} {name} {key}: {ours_us} µs, torch {theirs_us} µs"
                );
            }
        }
    }
    assert!(100 < n_rows, "compared {n_rows} rows only");
}

/// TraceLens gives the same kernels to the same operators, by another road.
#[test]
fn self_device_times_are_those_of_tracelens() {
    let Some(corpus) = corpus() else { return };
    let mut n_rows = 0;
    for name in [
        "tracelens_h100_0_Falconsai_nsfw_image_detection__1016002",
        "tracelens_h100_1_Qwen_Qwen1",
        "tracelens_h100_2_facebook_timesformer-base-finetuned-k400__1016002",
        "tracelens_h100_3_gaunernst_bert-small-uncased__1016001",
    ] {
        let run = Run::open(&trace_path(&corpus, name).unwrap(), &Params::default());
        let ours = by_name(&run, "self_device_ns");
        let rows = csv(&corpus.join("torch-golden").join(name).join("tracelens/ops_summary.csv"));
        let (head, rows) = rows.split_first().unwrap();
        let at = head.iter().position(|h| h == "total_direct_kernel_time_sum").unwrap();
        for row in rows {
            let theirs_us: f64 = row[at].parse().unwrap();
            let ours_us = ours.get(&row[0]).copied().unwrap_or(0) as f64 / 1e3;
            // It adds µs in floats of 32 bits.
            assert!(
                (ours_us - theirs_us).abs() <= 1e-6 * theirs_us + 0.01,
                "{name} {}: {ours_us}, TraceLens {theirs_us}",
                row[0]
            );
            n_rows += 1;
        }
    }
    assert!(40 < n_rows, "compared {n_rows} rows only");
}
