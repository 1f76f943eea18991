//! The known troubles of Nsight Systems captures, numbered as in the list that the importer was written from.
//!
//! Those without a test here:
//!
//! | # | trouble | where it is handled, or why it cannot occur |
//! |---|---|---|
//! | 6 | an SQL join of ranges over 16 M rows never ends | no query joins; ranges nest by one sorted sweep a thread (`model/src/nest.rs`) and launches find theirs by a forward walk (`analyzers/src/attribution.rs`) |
//! | 10 | more than 100 % utilisation | busy time is a union (`analyzers/src/partition.rs`, `sums_are_exact_on_random_runs`) |
//! | 11 | gaps of one stream taken for an idle GPU | gaps are those of the device (`analyzers/src/idle.rs`, `gaps_are_of_the_device_and_not_of_a_stream`) |
//! | 12 | start/end ranges get no GPU time | by process and time (`analyzers/src/ranges.rs`, `start_end_ranges_get_what_their_process_launched`) |
//! | 16 | lost graph records inflate idle time | said beside the numbers (`analyzers/src/health.rs`, `launches_and_work_that_do_not_find_each_other`) |
//! | 19 | an older Nsight refuses a newer report | reports of newer versions open with a warning (`nsys_rep/version.rs`; `bad_newer_version` in `tests/nsys_rep.rs`) |
//! | 21 | ranges around backward seem empty | they get what autograd's thread launched (`analyzers/src/attribution.rs`, `backward_belongs_to_the_range_of_the_thread_that_called_it`) |
//! | 24 | `nvtx_gpu_proj` loses threads and stacks | not used; device time of ranges is computed from launches (`analyzers/src/ranges.rs`, `device_time_goes_to_all_ranges_around_the_launch`) |
//! | 37 | throughput by integer division | copies have rates in floating point (`analyzers/src/copies.rs`, `copies_are_grouped_by_direction_and_memory`) |
//!
//! Of 28, text exports are refused and the JSON of `nsys export` is named (`chrome_json`), in both layouts.

use tracecard_model::SliceKind;

use super::*;

/// A kernel on `(device, context, stream)`.
fn kernel(start: i64, end: i64, place: (i64, i64, i64)) -> String {
    let (device, context, stream) = place;
    format!(
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId, globalPid, demangledName)
            VALUES ({start}, {end}, {device}, {context}, {stream}, $PID, 2);"
    )
}

fn with(sql: &str) -> Trace {
    import(&format!("{BASE}{sql}"))
}

#[test]
fn trouble_01_ranges_without_an_end_are_kept_to_the_end_of_the_capture() {
    let trace = with(
        "INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid) VALUES (10, NULL, 59, 'open', $TID),
            (20, 90, 59, 'closed', $TID);",
    );
    let flags: Vec<bool> = trace.slices.flags().iter().map(|flags| flags.has(SliceFlags::UNCLOSED)).collect();
    assert_eq!((trace.slices.durs_ns(), flags), (&[80, 70][..], vec![true, false]));
}

#[test]
fn trouble_02_calls_alone_are_no_device_activity() {
    let trace = with("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 2, 0, $TID, 1, 1, 0);");
    assert!(trace.devices.is_empty());
    assert!(!trace.slices.kinds().iter().any(|kind| kind.is_device_work()));
    assert_eq!(count(&trace, "launches_without_device_rows"), 1);
}

#[test]
fn trouble_03_unknown_versions_open() {
    let trace = with(
        "CREATE TABLE META_DATA_EXPORT (name, value); INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '9.0.0');
         INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 2, 0, $TID, 1, 4, 0);",
    );
    assert_eq!((trace.slices.len(), count(&trace, "newer_schema")), (1, 1));
}

#[test]
fn trouble_04_nodes_of_a_graph_share_their_launch_and_do_not_hide_the_graph() {
    let trace = with(
        "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD COLUMN graphNodeId;
         INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 5, 0, $TID, 7, 1, 0);
         INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId, correlationId, globalPid,
            demangledName, graphNodeId) VALUES (10, 20, 0, 1, 7, 7, $PID, 2, 1), (20, 30, 0, 1, 7, 7, $PID, 2, 2);
         CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start, end, deviceId, contextId, streamId, correlationId, globalPid,
            graphId); INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (10, 30, 0, 1, 7, 7, $PID, 3);",
    );
    let launches = trace.links.rows().iter().filter(|link| link.0 == LinkKind::Launch).count();
    assert_eq!((trace.slices.len(), launches), (4, 3));
    // Only where the kernels are missing is the user told to record them.
    assert_eq!(count(&trace, "cuda_graph_without_nodes"), 0);
}

#[test]
fn trouble_05_an_interrupted_export_says_what_to_do() {
    let dir = TempDir::new().unwrap();
    let path = write(&dir, "t.sqlite", BASE);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[..100].fill(0);
    std::fs::write(&path, bytes).unwrap();
    assert!(error(&path).contains("the export was interrupted; run nsys export again"));
}

#[test]
fn trouble_07_names_stay_as_they_are() {
    // Grouping takes the numbers out (`analyzers/src/normalise.rs`); the slice keeps them.
    let name = "aten::mm, op_id = 317173";
    let trace = with(&format!(
        "INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid) VALUES (1, 2, 59, '{name}', $TID);"
    ));
    assert_eq!(trace.name(trace.slice_ids().next().unwrap()), name);
}

#[test]
fn trouble_08_the_column_of_registered_strings_may_be_absent() {
    let trace = with(
        "ALTER TABLE NVTX_EVENTS DROP COLUMN textId;
         INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid) VALUES (1, 2, 59, 'a', $TID);",
    );
    assert_eq!(trace.slices.len(), 1);
}

#[test]
fn trouble_09_streams_of_one_number_are_apart_on_each_device_and_context() {
    let trace = with(&[kernel(1, 2, (0, 1, 7)), kernel(3, 4, (1, 2, 7)), kernel(5, 6, (1, 3, 7))].concat());
    assert_eq!(trace.tracks.iter().filter(|track| track.key.stream == Some(7)).count(), 3);
}

#[test]
fn trouble_13_sizes_that_were_not_exported_are_unknown_and_asked_for() {
    let schema = "CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES (domainId, schemaId, idx, type, name, offset);
        INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES (1, 5, 1, 22, 'Message size [bytes]', 8);
        INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, domainId) VALUES (1, 2, 59, 'ncclSend', $TID, 1);";
    let trace = with(schema);
    assert!(trace.collectives.is_empty());
    assert_eq!(count(&trace, "nccl_sizes_not_exported"), 1);
}

#[test]
fn trouble_14_impossible_times_are_counted_and_left_out() {
    let trace = with(
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, globalPid, demangledName) VALUES (0, 0, 0, $PID, 2),
            (-9223372036854775808, -9223372036854775808, 0, $PID, 2), (9, 5, 0, $PID, 2), (1, 2, 0, $PID, 2);",
    );
    let n_said = ["device_times_not_collected", "unreadable_rows", "negative_duration"]
        .map(|code| count(&trace, code));
    assert_eq!((trace.slices.len(), n_said), (1, [1, 1, 1]));
}

#[test]
fn trouble_15_kernels_may_overlap_on_one_stream() {
    let trace = with(&[kernel(1, 10, (0, 1, 7)), kernel(5, 20, (0, 1, 7))].concat());
    let track = trace.tracks.iter().find(|track| track.key.stream == Some(7)).unwrap();
    assert_eq!((track.n_slices, track.n_rows), (2, 2));
}

#[test]
fn trouble_17_events_that_the_profiler_dropped_are_data_loss() {
    let trace = with(
        "CREATE TABLE DIAGNOSTIC_EVENT (severity, text); INSERT INTO DIAGNOSTIC_EVENT VALUES
            (1, 'Some CUPTI events might be missing'), (1, 'Number of incomplete CUPTI events dropped: 4');",
    );
    assert_eq!((count(&trace, "cupti_events_missing"), count(&trace, "cupti_events_dropped")), (1, 4));
    assert!(
        trace
            .issues
            .iter()
            .filter(|i| i.code.starts_with("cupti_"))
            .all(|i| i.severity == Severity::DataLoss)
    );
}

#[test]
fn trouble_18_launches_without_kernels_are_listed_by_process_with_likely_causes() {
    let trace = with(
        "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 2, 0, $TID, 1, 1, 0), (1, 2, 0, $TID + (1 << 24), 1, 1, 0);
         INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, correlationId, globalPid, demangledName) VALUES
            (3, 4, 0, 1, $PID, 2);",
    );
    let issue = trace.issues.iter().find(|issue| issue.code == "launches_without_device_rows").unwrap();
    assert!(issue.text.contains("WSL2") && issue.text.contains("forked worker processes"));
    assert!(issue.example.as_deref().is_some_and(|example| example.contains("in process 11")));
}

#[test]
fn trouble_20_files_are_known_by_content() {
    let dir = TempDir::new().unwrap();
    let path = write(&dir, "t.nsys-rep.qdrep", BASE);
    assert_eq!(open(&path, &Progress::new()).unwrap().meta.format, "nsys-sqlite");
}

#[test]
fn trouble_22_a_capture_without_cuda_says_so() {
    assert_eq!(count(&with(""), "no_cuda_in_file"), 1);
}

#[test]
fn trouble_23_metrics_that_are_absent_are_not_0() {
    assert!(with("").tracks.iter().all(|track| track.unit.is_none()));
    let trace = with(
        "CREATE TABLE GPU_METRICS (timestamp, typeId, metricId, value); INSERT INTO GPU_METRICS VALUES
            (1, 281479271677952, 0, NULL), (2, 281479271677952, 0, 0);",
    );
    let track = trace.tracks.iter().position(|track| track.unit.is_some()).unwrap();
    assert_eq!(trace.counters.of(tracecard_model::TrackId::from_idx(track)).0, [2]);
    assert_eq!(count(&trace, "gpu_metric_bad_values"), 1);
}

#[test]
fn trouble_25_odd_ranges_and_missing_tables_are_tolerated() {
    let trace = import(
        "CREATE TABLE StringIds (id, value); CREATE TABLE NVTX_EVENTS (start, end, eventType);
         INSERT INTO NVTX_EVENTS VALUES (-5, 5, 59), (1, 2, 59), (1, 2, 59), (1, 2, 59);",
    );
    assert_eq!(trace.slices.starts_ns(), [-5, 1, 1, 1]);
}

#[test]
fn trouble_26_events_without_a_time_are_not_at_0_and_metrics_go_by_name() {
    // Waits are not tied to records at all: the file of most versions has only event ids, which are used again.
    let trace = with(
        "CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT (timestamp, deviceId, globalPid, eventId);
         INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES (0, 0, $PID, 3);
         CREATE TABLE TARGET_INFO_GPU_METRICS (typeId, metricId, metricName); INSERT INTO TARGET_INFO_GPU_METRICS VALUES
            (281479271677952, 9, 'SM Active [Throughput %]');
         CREATE TABLE GPU_METRICS (timestamp, typeId, metricId, value); INSERT INTO GPU_METRICS VALUES
            (5, 281479271677952, 9, 40);",
    );
    assert_eq!(trace.marks.len(), 0);
    assert!(trace.tracks.iter().any(|track| track.name == "SMs Active"));
}

#[test]
fn trouble_27_graph_launches_of_later_sessions_are_unsure() {
    let graph = |n: i64| {
        let starts: Vec<String> = (0..n).map(|at| format!("({at}, {at}, 0, $TID, {at}, 50, 0)")).collect();
        with(&format!(
            "INSERT INTO StringIds VALUES (50, 'cudaProfilerStart_v4000');
             INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES {};
             ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD COLUMN graphNodeId;
             INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, correlationId, globalPid, demangledName, graphNodeId)
                VALUES (10, 20, 0, 7, $PID, 2, 1);",
            starts.join(", ")
        ))
    };
    assert_eq!([1, 2].map(|n| count(&graph(n), "graph_launches_unsure")), [0, 1]);
}

#[test]
fn trouble_28_rows_come_in_any_order() {
    let trace = with(
        "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (30, 40, 0, $TID, 3, 4, 0), (10, 20, 0, $TID, 1, 4, 0),
            (12, 15, 1, $TID, 2, 4, 0);",
    );
    assert_eq!(trace.slices.starts_ns(), [10, 12, 30]);
    assert_eq!(trace.slices.selfs_ns(), [7, 3, 10]);
}

#[test]
fn trouble_29_ids_are_those_of_the_process_and_nodes_name_their_graph() {
    let trace = with(
        "CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId, cudaId, pid); INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (3, 0, 10);
         ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD COLUMN graphNodeId;
         INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, globalPid, demangledName, graphNodeId) VALUES
            (1, 2, 0, $PID, 2, (12 << 32) + 1);",
    );
    assert_eq!(trace.devices[0].number, 3);
    assert_eq!(trace.kernels.iter().next().and_then(|(_, kernel)| kernel.graph_id), Some(12));
}

#[test]
fn trouble_30_sampling_that_was_not_allowed_is_said() {
    let trace = with(
        "CREATE TABLE DIAGNOSTIC_EVENT (severity, text); INSERT INTO DIAGNOSTIC_EVENT VALUES
            (2, 'The perf event paranoid level is 4 and CPU sampling is not supported');",
    );
    assert_eq!(count(&trace, "cpu_sampling_not_allowed"), 1);
}

#[test]
fn trouble_31_synchronisation_is_what_its_call_says() {
    // 2 is "stream wait" in the file's own list, and an event in most versions; the call waited for a stream.
    let trace = with(
        "INSERT INTO StringIds VALUES (50, 'cudaStreamSynchronize_v3020');
         INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 9, 0, $TID, 7, 50, 0);
         CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start, end, deviceId, contextId, streamId, correlationId,
            globalPid, syncType);
         INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (2, 8, 0, 1, 7, 7, $PID, 2);",
    );
    let sync = trace.slice_ids().find(|id| trace.slices.kinds()[id.idx()] == SliceKind::Sync).unwrap();
    assert_eq!(trace.name(sync), "Stream sync");
}

#[test]
fn trouble_32_rows_that_hold_backtraces_are_no_calls() {
    let trace = with(
        "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 9, 0, $TID, 7, 4, 0), (1, 9, 67, $TID, 7, 4, 0);",
    );
    assert_eq!((trace.slices.len(), count(&trace, "api_backtrace_rows")), (1, 1));
}

#[test]
fn trouble_33_domains_without_ranges_hint_at_a_newer_nvtx() {
    let trace = with(
        "INSERT INTO NVTX_EVENTS (start, eventType, text, globalTid, domainId) VALUES (0, 75, 'D', $TID, 3);",
    );
    assert_eq!(count(&trace, "nvtx_domains_without_ranges"), 1);
}

#[test]
fn trouble_34_layouts_that_are_repeated_for_each_process_count_once() {
    let entry = "(1, 5, 0, 22, 'Message size [bytes]', 0)";
    let trace = with(&format!(
        "ALTER TABLE NVTX_EVENTS ADD COLUMN binaryData;
         CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES (domainId, schemaId, idx, type, name, offset);
         INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES {entry}, {entry}, {entry};
         INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, domainId, binaryData) VALUES
            (1, 2, 59, 'ncclAllReduce', $TID, 1, x'{}');",
        "0100000000000000050000000000000008000000000000002800000000000000ff00000000000000"
    ));
    assert_eq!(trace.collectives.iter().map(|(_, row)| row.bytes).collect::<Vec<_>>(), [Some(255)]);
}

#[test]
fn trouble_35_not_ready_is_no_error_of_a_question() {
    let trace = with("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 2, 0, $TID, 1, 6, 600);");
    assert!(trace.api_errors.is_empty());
}

#[test]
fn trouble_36_texts_may_hold_nul_characters() {
    let trace = with(
        "INSERT INTO StringIds VALUES (50, CAST(x'610062' AS TEXT));
         INSERT INTO NVTX_EVENTS (start, end, eventType, textId, globalTid) VALUES (1, 2, 59, 50, $TID);",
    );
    assert_eq!(trace.name(trace.slice_ids().next().unwrap()), "a\0b");
}
