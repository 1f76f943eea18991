//! The known troubles T1–T54 of PyTorch traces that concern reading a file, one test each; `grep T18` finds it.
//!
//! Tested elsewhere:
//! - T11 (cut files) also in `packing.rs` and `live.rs`, T14 and T16 on real files in `tests/chrome_corpus.rs`;
//! - T17 (files of gigabytes): blocks of bounded size whatever the file, `packing.rs`; speed and memory in
//!   `docs/performance.md`;
//! - T51 (overhead of the profiler itself is shown, on its own track) in `kinds.rs`;
//! - T52 (no call stacks): no test here has any, their absence is normal.
//!
//! No matter of the importer:
//! - T28 (fractions without leading zeros, torch nightlies of two weeks of 2024): cannot be told from files that
//!   Python wrote again, in which 1000.5 is right, so it is neither repaired nor noted;
//! - T32, T49, T50 (sums, percentages and FLOPs of other tools): the analyzers compute their own;
//! - T35 (queue length): the analyzers count launched kernels only; that a kernel without launch stays without
//!   is tested under T31;
//! - T44 (waits for events of the future): what a wait refers to is not read.

use tracecard_model::{LinkKind, SliceKind};

use super::{check, check_events, op, open};

const OPS: &str = "ops \"thread 9\" process=9\n";

/// T1: Windows paths without escaping. All backslashes of such a file stand for themselves.
#[test]
fn t01_backslashes_that_escape_nothing_make_all_literal() {
    check_events(
        &[op(r"C:\new\train.py", "1", "1"), op(r"C:\Users\user", "3", "1")].join(","),
        &format!(
            "{OPS}  op \"C:\\\\new\\\\train.py\" 0 +1000\n  op \"C:\\\\Users\\\\user\" 2000 +1000\n\
             issue info unescaped_backslashes ×1\n"
        ),
    );
    check_events(
        &op(r"a\tb \u00e9", "1", "1"),
        &format!("{OPS}  op \"a\\tb é\" 0 +1000\nissue info escaped_control_characters ×1\n"),
    );
}

/// T2: raw line ends, tabs and control characters in strings.
#[test]
fn t02_control_characters_are_kept() {
    check_events(
        &op("line1\nline2\t\u{1}", "1", "1"),
        &format!("{OPS}  op \"line1\\nline2\\t\\u{{1}}\" 0 +1000\nissue info control_characters ×1\n"),
    );
}

/// T3: quotes that were not escaped.
#[test]
fn t03_unescaped_quotes_cost_nothing() {
    let dynamo = r#"{"device": "cpu", "dtype": "float32"}(12): run"#;
    check_events(
        &[
            op(r#"has "double" quotes"#, "1", "1"),
            op(dynamo, "3", "1"),
            format!(
                r#"{{"ph": "X", "cat": "cpu_op", "name": "c", "pid": 9, "tid": 9, "ts": 5, "dur": 1, "args": {{"Call stack": "{dynamo};b", "Ev Idx": 3}}}}"#
            ),
            op("last", "7", "1"),
        ]
        .join(",\n"),
        &format!(
            "{OPS}  op \"has \\\"double\\\" quotes\" 0 +1000\n  \
             op \"{{\\\"device\\\": \\\"cpu\\\", \\\"dtype\\\": \\\"float32\\\"}}(12): run\" 2000 +1000\n  \
             op \"c\" 4000 +1000\n  op \"last\" 6000 +1000\nissue warning unescaped_quotes ×3\n"
        ),
    );
}

/// T4: bytes that are no UTF-8.
#[test]
fn t04_bytes_that_are_no_text_are_replaced() {
    let mut text = b"[".to_vec();
    text.extend(op("caf?", "1", "1").bytes().map(|b| if b == b'?' { 0xe9 } else { b }));
    text.push(b']');
    check(&text, &format!("{OPS}  op \"caf\u{fffd}\" 0 +1000\nissue info invalid_utf8 ×1\n"));
}

/// T5, T6, T7: `N/A`, `inf`, `NaN`, nothing, commas too many.
#[test]
fn t05_t06_t07_values_that_are_no_json_are_unknown() {
    check_events(
        r#"{"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy DtoD (Device -> Device)", "pid": 0, "tid": 7, "ts": 1, "dur": 0,
            "args": {"device": 0, "stream": 7, "bytes": 8, "memory bandwidth (GB/s)": N/A, }},,
           {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 2, "dur": 1,
            "args": {"blocks per SM": inf, "warps per SM": -inf, "x": NaN, "y": Infinity, "z": , "device": 0, "stream": 7,}},"#,
        "device 0 None sm=None\nstream \"stream 7\" device=0\n\
         \x20 memcpy \"Memcpy DtoD (Device -> Device)\" 0 +0 d2d device->device bytes=8\n  kernel \"k\" 1000 +1000\n\
         issue info bare_words ×2\nissue info missing_values ×1\nissue info stray_commas ×4\n",
    );
}

/// T8: garbage in facts beside the events.
#[test]
fn t08_broken_facts_do_not_cost_events() {
    check(
        format!(
            r#"{{"schemaVersion": 1, "INFO": ["log "quoted" [line", "x"], "deviceProperties": [{{"id": 0,,}}],
                "traceEvents": [{}], "ERROR": ["a "b" c"], "distributedInfo": {{"rank": 1}}}}"#,
            op("a", "1", "1")
        ),
        &format!("{OPS}  op \"a\" 0 +1000\nissue info metadata_unreadable ×3\n"),
    );
}

/// T9: a key without its opening quote.
#[test]
fn t09_half_quoted_keys_are_read() {
    check_events(
        r#"{"ph": "X", "cat": "cpu_op", "name": "a", "ts": 1, "dur": 1, tid": 9, "pid": 9}"#,
        &format!("{OPS}  op \"a\" 0 +1000\nissue info bare_keys ×1\n"),
    );
}

/// T10: brackets in names and in facts behind the list.
#[test]
fn t10_brackets_in_texts_end_nothing() {
    check(
        format!(
            r#"{{"traceEvents": [{}], "traceName": "fit-[Strategy]Single] }}.json", "x": "]"}}"#,
            op("a]}", "1", "1")
        ),
        &format!("{OPS}  op \"a]}}\" 0 +1000\n"),
    );
}

/// T11: cut off. See also `every_cut_keeps_what_came_before`.
#[test]
fn t11_cut_files_keep_whole_events() {
    check(
        format!(r#"{{"traceEvents": [{}, {{"ph": "X", "na"#, op("a", "1", "1")),
        &format!("{OPS}  op \"a\" 0 +1000\nissue data_loss file_truncated ×1\n"),
    );
    check(
        format!(r#"{{"traceEvents": [{},"#, op("a", "1", "1")),
        &format!("{OPS}  op \"a\" 0 +1000\nissue data_loss file_truncated ×1\n"),
    );
}

/// T12: numbers above 2^63.
#[test]
fn t12_numbers_that_do_not_fit_fail_nothing() {
    check_events(
        r#"{"ph": "X", "cat": "cuda_runtime", "name": "launch", "pid": 9, "tid": 15514734831341844875, "ts": 1, "dur": 1,
            "args": {"correlation": 18446744073709551615}},
           {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 3, "dur": 1,
            "args": {"Comms Id": 18446744073709551616, "shared memory": 99999999999999999999, "correlation": 18446744073709551615, "stream": 7}}"#,
        "device 0 None sm=None\napi \"thread 15514734831341844875\" process=9\n  api \"launch\" 0 +1000\n\
         stream \"stream 7\" process=9 device=0\n  kernel \"k\" 2000 +1000 <- \"launch\" 0\n",
    );
}

/// T13: facts behind the events.
#[test]
fn t13_facts_behind_the_events_count() {
    let trace = open(&format!(
        r#"{{"traceEvents": [{}], "distributedInfo": {{"rank": 5}}, "baseTimeNanoseconds": 7000000000}}"#,
        op("a", "1.5", "1")
    ));
    assert_eq!(trace.processes[0].rank, Some(5));
    assert_eq!(trace.meta.start_unix_ns, Some(7_000_001_500));
}

/// T14: the exporter of torch.autograd.profiler: a list, processes by name, no categories.
#[test]
fn t14_legacy_lists_have_operators_and_kernels() {
    check(
        r#"[{"name": "aten::mul", "ph": "X", "ts": 633.1, "dur": 4.123999999999967, "tid": 1, "pid": "CPU functions", "args": {}},
            {"name": "mul_kernel", "ph": "X", "ts": 640, "dur": 2, "tid": 0, "pid": "CUDA functions", "args": {}},
            {"name": "aten::mul", "ph": "s", "ts": 633.1, "tid": 1, "pid": "CPU functions", "id": 1, "cat": "cpu_to_cuda", "args": {}}]"#,
        "device 0 None sm=None\nops \"thread 1\" process=CPU functions\n  op \"aten::mul\" 0 +4124\n\
         stream \"stream 0\" process=CPU functions device=0\n  kernel \"mul_kernel\" 6900 +2000\n",
    );
}

/// T15: equal keys.
#[test]
fn t15_the_last_of_equal_keys_wins() {
    check_events(
        r#"{"ph": "X", "cat": "kernel", "name": "a", "name": "k", "pid": 0, "tid": 7, "ts": 1, "dur": 1,
            "args": {"device": 0, "stream": 7, "stream": 20, "original_stream": 7}}"#,
        "device 0 None sm=None\nstream \"stream 20\" device=0\n  kernel \"k\" 0 +1000\n",
    );
}

/// T16: a list without brackets that begins within an event.
#[test]
fn t16_pieces_of_lists_are_read() {
    check(
        format!("\"name\": \"cut\", \"ph\": \"B\"}},\n{},\n{},", op("a", "1", "1"), op("b", "3", "1")),
        &format!(
            "{OPS}  op \"a\" 0 +1000\n  op \"b\" 2000 +1000\nissue data_loss events_skipped ×1\nissue info list_not_closed ×1\n"
        ),
    );
    check(
        format!("{}\n{}", op("a", "1", "1"), op("b", "3", "1")),
        &format!(
            "{OPS}  op \"a\" 0 +1000\n  op \"b\" 2000 +1000\nissue info list_not_closed ×1\nissue info missing_commas ×1\n"
        ),
    );
}

/// T18, T20: slices of one thread that cross.
#[test]
fn t18_t20_crossing_slices_are_all_kept() {
    check_events(
        &[op("a", "1", "10"), op("b", "5", "10")].join(","),
        &format!(
            "{OPS}  op \"a\" 0 +10000\n    op \"b\" 4000 +10000 crossing\nissue info crossing_host_slices ×1\n"
        ),
    );
}

/// T19: kernels of one stream that overlap, and kernels without a length, are siblings.
#[test]
fn t19_kernels_never_nest() {
    let kernel = |name: &str, ts: &str, dur: &str| {
        format!(
            r#"{{"ph": "X", "cat": "kernel", "name": "{name}", "pid": 0, "tid": 7, "ts": {ts}, "dur": {dur}, "args": {{"device": 0, "stream": 7}}}}"#
        )
    };
    let trace =
        open(&format!("[{},{},{}]", kernel("a", "1", "10"), kernel("b", "2", "3"), kernel("c", "4", "0")));
    assert!(trace.slice_ids().all(|slice| trace.slices.parent(slice).is_none()));
    assert_eq!(trace.slices.selfs_ns(), trace.slices.durs_ns());
    assert_eq!(trace.slices.len(), 3);
}

/// T21, T22, T34, T48: synchronisation and annotations are beside the work of a stream; the category decides
/// what is a device, not the process number.
#[test]
fn t21_t22_t34_t48_each_kind_has_its_track() {
    check_events(
        r#"{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 10, "dur": 5, "args": {"device": 0, "stream": 7, "correlation": 4}},
           {"ph": "X", "cat": "cuda_sync", "name": "Stream Sync", "pid": 0, "tid": 1000007, "ts": 10, "dur": 9, "args": {"stream": 7, "device": 0, "correlation": 5}},
           {"ph": "X", "cat": "cuda_sync", "name": "Stream Sync", "pid": 0, "tid": 1000007, "ts": 30, "dur": 1},
           {"ph": "X", "cat": "cuda_sync", "name": "Context Sync", "pid": 0, "tid": -1, "ts": 11, "dur": 1, "args": {"stream": -1, "device": 0}},
           {"ph": "X", "cat": "gpu_user_annotation", "name": "fwd", "pid": 0, "tid": 7, "ts": 10, "dur": 5, "args": {"External id": 9}},
           {"ph": "X", "cat": "cuda_runtime", "name": "cudaStreamSynchronize", "pid": 0, "tid": 0, "ts": 9, "dur": 11, "args": {"correlation": 5}}"#,
        "device 0 None sm=None\n\
         api \"thread 0\" process=0\n  api \"cudaStreamSynchronize\" 0 +11000\n\
         sync \"sync\" process=0 device=0\n  sync \"Context Sync\" 2000 +1000\n\
         stream \"stream 7\" process=0 device=0\n  kernel \"k\" 1000 +5000\n\
         gpu_annotation \"stream 7\" process=0 device=0\n  gpu_annotation \"fwd\" 1000 +5000\n\
         sync \"stream 7\" process=0 device=0\n  sync \"Stream Sync\" 1000 +9000\n  sync \"Stream Sync\" 21000 +1000\n",
    );
}

/// T24, T25: events at 0 while everything else is far away.
#[test]
fn t24_t25_events_without_a_time_are_counted_and_left_out() {
    let far = [op("a", "5214190591262.746", "1.5"), op("lost", "0.000", "0.000"), op("none", "null", "1")]
        .join(",");
    let instants = r#"{"ph": "i", "name": "[memory]", "pid": 9, "tid": 9, "ts": 0.000, "args": {"Bytes": 4, "Device Type": 0}}"#;
    check_events(
        &format!("{far},{instants}"),
        &format!("{OPS}  op \"a\" 0 +1500\nissue data_loss events_without_time ×3\n"),
    );
    // A trace that really begins at 0.
    check_events(
        &[op("a", "0", "1"), op("b", "5", "1")].join(","),
        &format!("{OPS}  op \"a\" 0 +1000\n  op \"b\" 5000 +1000\n"),
    );
}

/// T26: durations that are negative, absurd, absent, or marked as not finished.
#[test]
fn t26_unfinished_slices_end_with_the_trace() {
    let finished = r#"{"ph": "X", "cat": "cpu_op", "name": "f", "pid": 9, "tid": 9, "ts": 8, "dur": 3, "args": {"finished": "false"}}"#;
    let kernel = r#"{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 2, "dur": -1, "args": {"device": 0, "stream": 7}}"#;
    let absent = r#"{"ph": "X", "cat": "cpu_op", "name": "n", "pid": 9, "tid": 9, "ts": 7, "args": {}}"#;
    check_events(
        &[
            op("a", "1", "-1"),
            op("b", "3", "9223372036854775807"),
            op("c", "5", "5"),
            finished.into(),
            kernel.into(),
            absent.into(),
        ]
        .join(","),
        &format!(
            "device 0 None sm=None\n{OPS}  op \"a\" 0 +10000 self=2000 unclosed\n    op \"b\" 2000 +8000 self=3000 unclosed\n      \
             op \"c\" 4000 +5000 self=3000\n        op \"n\" 6000 +0\n        op \"f\" 7000 +3000 unclosed\n\
             stream \"stream 7\" process=9 device=0\n  kernel \"k\" 1000 +0 unclosed\n\
             issue warning events_without_duration ×1\nissue warning impossible_durations ×3\n"
        ),
    );
}

/// T27, T33: integers of ns, nothing rounded away.
#[test]
fn t27_t33_times_are_exact() {
    check_events(
        &[op("a", "1700000000123456.001", "0.001"), op("b", "1700000000123456.002", "0.499")].join(","),
        &format!("{OPS}  op \"a\" 0 +1\n  op \"b\" 1 +499\n"),
    );
}

/// T29, T30, T31: a kernel before its launch, a launch without a kernel, a kernel without a launch.
#[test]
fn t29_t30_t31_odd_links_lose_nothing() {
    let trace = open(
        r#"[{"ph": "X", "cat": "cuda_runtime", "name": "launch", "pid": 9, "tid": 9, "ts": 10, "dur": 5, "args": {"correlation": 1}},
            {"ph": "X", "cat": "cuda_runtime", "name": "launch", "pid": 9, "tid": 9, "ts": 20, "dur": 5, "args": {"correlation": 2}},
            {"ph": "X", "cat": "kernel", "name": "early", "pid": 0, "tid": 7, "ts": 8, "dur": 1, "args": {"stream": 7, "correlation": 1}},
            {"ph": "X", "cat": "kernel", "name": "alone", "pid": 0, "tid": 7, "ts": 9, "dur": 1, "args": {"stream": 7, "correlation": 3}}]"#,
    );
    let links: Vec<_> = trace.links.rows().iter().map(|link| (link.0, trace.name(link.2))).collect();
    assert_eq!(links, [(LinkKind::Launch, "early")]);
    assert_eq!(trace.slices.len(), 4);
}

/// T36, T41: what a collective moves, on the record and on the kernel.
#[test]
fn t36_t41_collectives_are_kept() {
    let args = r#""Collective name": "allreduce", "dtype": "Float", "In msg nelems": 10, "Out msg nelems": 20, "Group size": 2,
                  "Process Group Name": "3", "Seq": 6, "Process Group Ranks": "[0, 1]""#;
    let trace = open(&format!(
        r#"[{{"ph": "X", "cat": "cpu_op", "name": "record_param_comms", "pid": 9, "tid": 9, "ts": 1, "dur": 1, "args": {{{args}}}}},
            {{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce", "pid": 0, "tid": 7, "ts": 2, "dur": 1, "args": {{"stream": 7, {args}}}}}]"#
    ));
    assert_eq!(trace.collectives.len(), 2);
    for (_, collective) in trace.collectives.iter() {
        let text = |id: Option<tracecard_model::NameId>| id.map(|id| trace.names.text(id));
        assert_eq!(
            (text(collective.name), text(collective.dtype), text(collective.group)),
            (Some("allreduce"), Some("Float"), Some("3"))
        );
        assert_eq!((collective.in_elements, collective.out_elements), (Some(10), Some(20)));
        assert_eq!((collective.group_size, collective.sequence, collective.bytes), (Some(2), Some(6), None));
    }
}

/// T37, T43: `External id` and arrows are not trusted.
#[test]
fn t37_t43_only_correlation_links() {
    let trace = open(
        r#"[{"ph": "X", "cat": "cpu_op", "name": "wrong", "pid": 9, "tid": 9, "ts": 1, "dur": 1, "args": {"External id": 5}},
            {"ph": "X", "cat": "cuda_runtime", "name": "hipGraphLaunch", "pid": 9, "tid": 9, "ts": 3, "dur": 1, "args": {"External id": 5, "correlation": 8}},
            {"ph": "s", "cat": "ac2g", "name": "ac2g", "id": 5, "pid": 9, "tid": 9, "ts": 1},
            {"ph": "f", "cat": "ac2g", "name": "ac2g", "id": 5, "pid": 0, "tid": 7, "ts": 5, "bp": "e"},
            {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 5, "dur": 1, "args": {"stream": 7, "correlation": 8, "External id": 5}}]"#,
    );
    let [(kind, from, to)] = trace.links.rows() else { panic!("{:?}", trace.links) };
    assert_eq!((*kind, trace.name(*from), trace.name(*to)), (LinkKind::Launch, "hipGraphLaunch", "k"));
}

/// T38, T39: device work alone.
#[test]
fn t38_t39_traces_of_device_work_only_open() {
    check_events(
        r#"{"ph": "X", "cat": "kernel", "name": "k", "pid": 3, "tid": "stream 7", "ts": 1, "dur": 1, "args": {"correlation": 4}}"#,
        "device 3 None sm=None\nstream \"stream 7\" device=3\n  kernel \"k\" 0 +1000\n",
    );
}

/// T40: the kernels of a CUDA graph share the id of its launch.
#[test]
fn t40_graph_kernels_share_a_launch() {
    let trace = open(
        r#"[{"ph": "X", "cat": "cuda_runtime", "name": "cudaGraphLaunch", "pid": 9, "tid": 9, "ts": 1, "dur": 1, "args": {"correlation": 8}},
            {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 5, "dur": 1, "args": {"stream": 7, "correlation": 8, "graph id": 2, "graph node id": 11}},
            {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 6, "dur": 1, "args": {"stream": 7, "correlation": 8, "graph id": 2, "graph node id": 12}}]"#,
    );
    assert_eq!(trace.links.rows().len(), 2);
    let nodes: Vec<_> = trace.kernels.iter().map(|(_, k)| (k.graph_id, k.graph_node_id)).collect();
    assert_eq!(nodes, [(Some(2), Some(11)), (Some(2), Some(12))]);
}

/// T42: correlation 0 is none.
#[test]
fn t42_correlation_zero_links_nothing() {
    let trace = open(
        r#"[{"ph": "X", "cat": "cuda_runtime", "name": "launch", "pid": 9, "tid": 9, "ts": 1, "dur": 1, "args": {"correlation": 0}},
            {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 5, "dur": 1, "args": {"stream": 7, "correlation": 0}}]"#,
    );
    assert!(trace.links.rows().is_empty());
}

/// T45: names of categories in any case and of all versions.
#[test]
fn t45_old_categories_mean_the_same() {
    let trace = open(
        r#"[{"ph": "X", "cat": "Operator", "name": "ProfilerStep#1", "pid": 9, "tid": "30", "ts": 1, "dur": 9, "args": {"Input dims": [], "Input type": []}},
            {"ph": "X", "cat": "Runtime", "name": "cudaLaunchKernel", "pid": 9, "tid": "30", "ts": 1, "dur": 1, "args": {"correlation": 2}},
            {"ph": "X", "cat": "Kernel", "name": "k", "pid": 0, "tid": "stream 7", "ts": 5, "dur": 1, "args": {"stream": 7, "correlation": 2}},
            {"ph": "X", "cat": "Memset", "name": "Memset (Device)", "pid": 0, "tid": "stream 7", "ts": 7, "dur": 1, "args": {"stream": 7}}]"#,
    );
    use SliceKind::{Annotation, Api, Kernel, Memset};
    assert_eq!(trace.slices.kinds(), [Annotation, Api, Kernel, Memset]);
    assert!(trace.ops.is_empty(), "shapes that were not recorded are unknown, not empty");
    assert_eq!(trace.tracks.len(), 3);
}

/// T46: no rank anywhere.
#[test]
fn t46_a_rank_nobody_states_is_unknown() {
    assert_eq!(open(&format!("[{}]", op("a", "1", "1"))).processes[0].rank, None);
}

/// T47: a sequence number of −1 is none; 0 is no forward thread.
#[test]
fn t47_sequence_numbers_below_zero_are_none() {
    let trace = open(
        r#"[{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 9, "tid": 9, "ts": 1, "dur": 1, "args": {"Sequence number": -1, "Fwd thread id": 0}},
            {"ph": "X", "cat": "cpu_op", "name": "b", "pid": 9, "tid": 9, "ts": 3, "dur": 1, "args": {"Sequence number": 12, "Fwd thread id": 2}}]"#,
    );
    let ops: Vec<_> = trace.ops.iter().map(|(_, op)| (op.sequence, op.forward_thread, op.args)).collect();
    assert_eq!(ops, [(Some(12), Some(2), None)]);
}

/// T53: times as texts, as Ascend writes them.
#[test]
fn t53_times_may_be_texts() {
    check(
        r#"[{"ph": "X", "name": "a", "pid": 9, "tid": 9, "ts": "1700000000123456.001", "dur": "0.500", "cat": "cpu_op"}]"#,
        &format!("{OPS}  op \"a\" 0 +500\nissue info times_as_text ×1\n"),
    );
}

/// T23: durations that ROCm wrote too long are kept as they are, beside what they overlap; the analyzers judge.
#[test]
fn t23_durations_that_overrun_are_kept() {
    check_events(
        r#"{"ph": "X", "cat": "kernel", "name": "long", "pid": 2, "tid": 0, "ts": 1, "dur": 1600000, "args": {"device": 2, "stream": 0}},
           {"ph": "X", "cat": "kernel", "name": "next", "pid": 2, "tid": 0, "ts": 5, "dur": 2, "args": {"device": 2, "stream": 0}}"#,
        "device 2 None sm=None\nstream \"stream 0\" device=2\n  kernel \"long\" 0 +1600000000\n\
         \x20   kernel \"next\" 4000 +2000 crossing\n\
         issue info overlapping_device_slices ×1\n",
    );
}

/// T42: an id that two calls share is not guessed about; in another process it is another id.
#[test]
fn t42_ids_are_of_one_process() {
    let rank = |pid: u32, device: u32| {
        format!(
            r#"{{"ph": "X", "cat": "cuda_runtime", "name": "launch{pid}", "pid": {pid}, "tid": 1, "ts": 1, "dur": 1, "args": {{"correlation": 7}}}},
               {{"ph": "X", "cat": "cuda_runtime", "name": "own{pid}", "pid": {pid}, "tid": 1, "ts": 3, "dur": 1, "args": {{"correlation": {}}}}},
               {{"ph": "X", "cat": "kernel", "name": "k{pid}", "pid": {device}, "tid": 7, "ts": 5, "dur": 1, "args": {{"device": {device}, "stream": 7, "correlation": 7}}}},
               {{"ph": "X", "cat": "kernel", "name": "own", "pid": {device}, "tid": 7, "ts": 7, "dur": 1, "args": {{"device": {device}, "stream": 7, "correlation": {}}}}}"#,
            pid * 10,
            pid * 10,
        )
    };
    let trace = open(&format!("[{}, {}]", rank(100, 0), rank(200, 1)));
    let mut links: Vec<_> =
        trace.links.rows().iter().map(|(_, from, to)| (trace.name(*from), trace.name(*to))).collect();
    links.sort_unstable();
    assert_eq!(links, [("launch100", "k100"), ("launch200", "k200"), ("own100", "own"), ("own200", "own")]);
}

/// T54: printed bandwidths are wrong in torch 2.4 and 2.5; bytes and duration are what counts.
#[test]
fn t54_printed_bandwidths_are_not_read() {
    check_events(
        r#"{"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy DtoD (Device -> Device)", "pid": 0, "tid": 7, "ts": 1.000, "dur": 32.896,
            "args": {"device": 0, "stream": 7, "bytes": 16777216, "memory bandwidth (GB/s)": 217.2}}"#,
        "device 0 None sm=None\nstream \"stream 7\" device=0\n\
         \x20 memcpy \"Memcpy DtoD (Device -> Device)\" 0 +32896 d2d device->device bytes=16777216\n",
    );
}
