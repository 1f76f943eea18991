//! The importer on tiny databases made here: SQL in, dump out.

use std::path::{Path, PathBuf};

use rusqlite::Connection;
use tempfile::TempDir;
use tracecard_model::{LinkKind, Progress, Severity, SliceFlags, Trace, dump};

use crate::{ImportError, info, open};

/// What most tests need: names, one process, one thread.
const BASE: &str = "
    CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
    INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel_v7000'), (2, 'void gemm<float>(int)'), (3, 'gemm'),
        (4, 'cudaDeviceSynchronize_v3020'), (5, 'main thread'), (6, 'cudaEventQuery_v3020'), (7, 'poll');
    CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);
    INSERT INTO PROCESSES VALUES (281474976710656 + (10 << 24), 10, '/home/me/bin/train');
    CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER,
        globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER);
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER,
        contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER,
        shortName INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER,
        blockZ INTEGER, registersPerThread INTEGER, staticSharedMemory INTEGER, dynamicSharedMemory INTEGER);
    CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER,
        text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER);
";

/// Process 10 of VM 1, and its main thread.
const PID: i64 = (1 << 48) + (10 << 24);
const TID: i64 = PID + 10;

fn write(dir: &TempDir, name: &str, sql: &str) -> PathBuf {
    let path = dir.path().join(name);
    let connection = Connection::open(&path).unwrap();
    // Serialized ids by name keep the statements short.
    let sql = sql.replace("$PID", &PID.to_string()).replace("$TID", &TID.to_string());
    connection.execute_batch(&sql).unwrap();
    path
}

fn import(sql: &str) -> Trace {
    let dir = TempDir::new().unwrap();
    open(&write(&dir, "t.sqlite", sql), &Progress::new()).unwrap()
}

/// The dump of what `sql` adds to [`BASE`].
fn check(sql: &str, expected: &str) {
    check_whole(&format!("{BASE}{sql}"), expected);
}

fn check_whole(sql: &str, expected: &str) {
    let lines = |text: &str| -> Vec<String> {
        text.lines().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect()
    };
    let is_of_base = |line: &String| line.starts_with("wall clock ") || line.starts_with("process ");
    let found: Vec<_> = lines(&dump(&import(sql))).into_iter().filter(|line| !is_of_base(line)).collect();
    assert_eq!(found, lines(expected));
}

fn error(path: &Path) -> String {
    open(path, &Progress::new()).unwrap_err().to_string()
}

#[test]
fn kernels_are_tied_to_their_launches() {
    check(
        "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (100, 110, 0, $TID, 7, 1, 0);
         INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES
            (120, 150, 0, 1, 7, 7, $PID, 2, 3, 64, 1, 1, 128, 1, 1, 32, 1024, 2048);",
        r#"
        device 0 None sm=None
        api "thread 10" process=10
            api "cudaLaunchKernel" 100 +10
        stream "stream 7" process=10 device=0
            kernel "void gemm<float>(int)" 120 +30 grid=64x1x1 block=128x1x1 regs=32 shared=3072 <- "cudaLaunchKernel" 100
        "#,
    );
}

#[test]
fn equal_correlation_ids_of_two_processes_do_not_meet() {
    let trace = import(&format!(
        "{BASE}
         INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (100, 110, 0, $TID, 7, 1, 0),
            (200, 210, 0, $TID + (1 << 24), 7, 1, 0);
         INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId, correlationId, globalPid,
            demangledName) VALUES (120, 150, 0, 1, 7, 7, $PID, 2), (220, 250, 0, 1, 7, 7, $PID + (1 << 24), 2);"
    ));
    let launches = trace.links.rows().iter().filter(|link| link.0 == LinkKind::Launch);
    let starts = |slice: tracecard_model::SliceId| trace.slices.starts_ns()[slice.idx()];
    let mut pairs: Vec<_> = launches.map(|link| (starts(link.1), starts(link.2))).collect();
    pairs.sort_unstable();
    assert_eq!(pairs, [(100, 120), (200, 220)]);
}

#[test]
fn negative_serialized_ids_are_processes_of_their_own() {
    // The hardware id 0xfe makes the stored number negative; the process id is the same.
    let trace = import(&format!(
        "{BASE}
         INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (100, 110, 0, $TID, 7, 1, 0),
            (200, 210, 0, -144115188075855872 + (10 << 24) + 10, 7, 1, 0);"
    ));
    let keys: Vec<_> = trace.processes.iter().map(|p| (p.key.as_str(), p.os_pid.as_str())).collect();
    assert_eq!(keys, [("10", "10"), ("10@fe00", "10")]);
}

#[test]
fn only_the_program_of_a_process_is_kept_not_its_path() {
    let trace =
        import(&format!("{BASE} INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 2, 0, $TID, 7, 1, 0);"));
    assert_eq!(trace.processes[0].name.as_deref(), Some("train"));
}

#[test]
fn processes_without_events_are_left_out() {
    let trace = import(&format!(
        "{BASE} INSERT INTO PROCESSES VALUES ($PID + (5 << 24), 15, 'idle');
         INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 2, 0, $TID, 7, 1, 0);"
    ));
    assert_eq!(trace.processes.len(), 1);
}

#[test]
fn backtrace_rows_do_not_count_calls_twice() {
    let trace = import(&format!(
        "{BASE} INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 9, 0, $TID, 7, 4, 0), (1, 9, 67, $TID, 7, 4, 0);"
    ));
    assert_eq!(trace.slices.len(), 1);
    assert_eq!(count(&trace, "api_backtrace_rows"), 1);
}

#[test]
fn not_ready_is_an_error_only_where_nobody_asked() {
    let trace = import(&format!(
        "{BASE} INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 2, 0, $TID, 1, 6, 600), (3, 4, 0, $TID, 2, 4, 600),
            (5, 6, 0, $TID, 3, 1, 701);"
    ));
    let errors: Vec<i64> = trace.api_errors.iter().map(|(_, value)| *value).collect();
    assert_eq!(errors, [600, 701]);
}

#[test]
fn times_that_were_not_collected_are_counted_not_shown() {
    let trace = import(&format!(
        "{BASE} INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, globalPid, demangledName) VALUES
            (0, 0, 0, $PID, 2), (5, 9, 0, $PID, 2), (9, 5, 0, $PID, 2),
            (-9223372036854775808, -9223372036854775800, 0, $PID, 2);"
    ));
    assert_eq!(trace.slices.len(), 1);
    assert_eq!(count(&trace, "device_times_not_collected"), 1);
    assert_eq!(count(&trace, "negative_duration"), 1);
    assert_eq!(count(&trace, "unreadable_rows"), 1);
}

#[test]
fn unknown_names_keep_their_rows() {
    check(
        "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 2, 0, $TID, 0, 99, 0);
         INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId, globalPid, demangledName, shortName)
            VALUES (1, 2, 0, 7, $PID, 98, 3), (3, 4, 0, 7, $PID, 98, 97), (5, 6, 0, 7, $PID, NULL, 3),
            (7, 8, 0, 7, $PID, 'by_script', NULL);",
        r##"
        device 0 None sm=None
        api "thread 10" process=10
            api "#99" 1 +1
        stream "stream 7" process=10 device=0
            kernel "gemm" 1 +1 grid=? block=?
            kernel "#98" 3 +1 grid=? block=?
            kernel "gemm" 5 +1 grid=? block=?
            kernel "by_script" 7 +1 grid=? block=?
        issue warning names_missing ×2
        "##,
    );
}

#[test]
fn ranges_nest_across_domains_and_marks_are_instants() {
    check(
        "INSERT INTO NVTX_EVENTS (start, end, eventType, text, textId, globalTid, domainId) VALUES
            (0, NULL, 75, 'MyDomain', NULL, $TID, 3), (10, 90, 59, 'step', NULL, $TID, 0),
            (20, 50, 59, NULL, 3, $TID, 3), (30, 40, 59, NULL, NULL, $TID, 4), (35, NULL, 34, 'here', NULL, $TID, 0),
            (15, 60, 60, 'job', NULL, $TID, 0), (1, NULL, 33, 'category', NULL, $TID, 0),
            (2, NULL, 39, 'trainer', NULL, $TID, 0), (3, NULL, 99, 'new', NULL, $TID, 0);",
        r#"
        nvtx "trainer" process=10
            nvtx_push_pop "step" 10 +80 self=50
                nvtx_push_pop "gemm" 20 +30 self=20 domain="MyDomain"
                    nvtx_push_pop "(unnamed)" 30 +10 domain="domain 4"
            mark "here" 35
        nvtx_start_end "NVTX start/end ranges" process=10
            nvtx_start_end "job" 15 +45
        issue warning no_cuda_in_file ×1
        issue warning nvtx_unknown_kind ×1
        "#,
    );
}

#[test]
fn ranges_that_were_never_closed_end_with_the_capture() {
    // One as new exports write it (the end of the session, 900), one as old exports do (no end at all):
    // that one lasts to the latest time in the file.
    let trace = import(&format!(
        "{BASE}
         CREATE TABLE ANALYSIS_DETAILS (globalVid INTEGER, duration INTEGER, startTime INTEGER, stopTime INTEGER);
         INSERT INTO ANALYSIS_DETAILS VALUES (281474976710656, 900, 100, 1000);
         INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, domainId) VALUES
            (10, 900, 59, 'a', $TID, 0), (20, NULL, 59, 'b', $TID, 2), (30, 890, 59, 'c', $TID, 0);"
    ));
    let rows: Vec<_> = trace
        .slice_ids()
        .map(|id| {
            (
                trace.name(id),
                trace.slices.span(id).end_ns,
                trace.slices.flags()[id.idx()].has(SliceFlags::UNCLOSED),
            )
        })
        .collect();
    assert_eq!(rows, [("a", 900, true), ("b", 900, true), ("c", 890, false)]);
    assert_eq!(count(&trace, "nvtx_unclosed_ranges"), 2);
    assert_eq!(trace.domains.len(), 1);
}

#[test]
fn domains_without_ranges_hint_at_an_nvtx_that_is_too_new() {
    let domain =
        "INSERT INTO NVTX_EVENTS (start, eventType, text, globalTid, domainId) VALUES (0, 75, 'D', $TID, 3);";
    assert_eq!(count(&import(&format!("{BASE}{domain}")), "nvtx_domains_without_ranges"), 1);
}

#[test]
fn copies_and_migrations_say_what_moved_where() {
    check(
        "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, contextId, streamId, correlationId, globalPid,
            bytes, copyKind, srcKind, dstKind);
         INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (1, 2, 0, 1, 7, 5, $PID, 4096, 1, 0, 2),
            (3, 4, 0, 0, 0, 0, $PID, 8192, 11, 7, 7), (5, 6, 0, 1, 7, 6, $PID, NULL, NULL, NULL, NULL);
         CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start, end, deviceId, contextId, streamId, correlationId, globalPid,
            bytes, memKind);
         INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (7, 9, 0, 1, 7, 8, $PID, 64, 2);",
        r#"
        device 0 None sm=None
        stream "stream 0" process=10 device=0
            memcpy "Memcpy unified HtoD" 3 +1 h2d managed->managed bytes=8192
        stream "stream 7" process=10 device=0
            memcpy "Memcpy HtoD (Pageable -> Device)" 1 +1 h2d pageable->device bytes=4096
            memcpy "Memcpy Unknown" 5 +1 unknown ?->?
            memset "Memset (Device)" 7 +2 memset ?->device bytes=64
        "#,
    );
}

#[test]
fn synchronisation_is_named_after_its_call_and_placed_by_its_context() {
    // The number says "stream sync"; the call says otherwise. The record says device 0; its context is on 1.
    check(
        "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start, end, deviceId, contextId, streamId, correlationId,
            globalPid, syncType);
         INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId, globalPid, demangledName)
            VALUES (1, 2, 1, 2, 7, $PID, 2);
         INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (3, 9, 0, $TID, 8, 4, 0);
         INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (4, 8, 0, 2, 4294967295, 8, $PID, 3);",
        r#"
        device 1 None sm=None
        api "thread 10" process=10
            api "cudaDeviceSynchronize" 3 +6
        sync "sync" process=10 device=1
            sync "Context sync" 4 +4
        stream "stream 7" process=10 device=1
            kernel "void gemm<float>(int)" 1 +1 grid=? block=?
        "#,
    );
}

#[test]
fn devices_are_physical_gpus_where_the_file_knows_them() {
    let trace = import(&format!(
        "{BASE}
         CREATE TABLE TARGET_INFO_GPU (vmId, id, name, cuDevice, smCount, memoryBandwidth, maxBlocksPerSm, computeMajor,
            computeMinor);
         INSERT INTO TARGET_INFO_GPU VALUES (281474976710656, 1, 'B', 1, 80, 900, 0, 9, 0),
            (281474976710656, 0, 'A', 0, 40, 0, 16, 8, 6);
         CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId, cudaId, pid);
         INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (1, 0, 10);
         INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, globalPid, demangledName) VALUES
            (1, 2, 0, $PID, 2), (3, 4, 1, $PID + (1 << 24), 2), (5, 6, 0, $PID + (1 << 24), 2);"
    ));
    // Ordinal 0 of process 10 and ordinal 1 of process 11 are the same GPU.
    let devices: Vec<_> =
        trace.devices.iter().map(|d| (d.number, d.name.as_deref(), d.max_blocks_per_sm)).collect();
    assert_eq!(devices, [(1, Some("B"), None), (0, Some("A"), Some(16))]);
    assert_eq!(trace.devices[0].compute_capability, Some((9, 0)));
    assert_eq!(trace.devices[1].dram_bytes_per_s, None);
}

#[test]
fn gpu_metrics_have_units_and_no_garbage() {
    check(
        "CREATE TABLE GPU_METRICS (timestamp INTEGER, typeId INTEGER, metricId INTEGER, value INTEGER);
         CREATE TABLE TARGET_INFO_GPU_METRICS (typeId INTEGER, sourceId INTEGER, metricId INTEGER, metricName TEXT);
         INSERT INTO TARGET_INFO_GPU_METRICS VALUES (281479271677952, 0, 0, 'SM Active [Throughput %]'),
            (281479271677952, 0, 1, 'GPC Clock Frequency [MHz]'), (281479271678464, 0, 0, 'EndTimestamp');
         INSERT INTO GPU_METRICS VALUES (-5, 281479271677952, 0, 50), (10, 281479271677952, 0, 50),
            (20, 281479271677952, 0, 100), (10, 281479271677952, 1, 1980000000), (10, 281479271678464, 0, 99),
            (20, 281479271677952, 1, -1863634076);",
        r#"
        device 0 None sm=None
        counter "GPC Clock Frequency" device=0 unit=Hz
            10 = 1980000000
        counter "SMs Active" device=0 unit=frac
            10 = 0.5
            20 = 1
        issue warning gpu_metric_bad_values ×1
        issue warning no_cuda_in_file ×1
        issue info gpu_metric_samples_before_capture ×1
        "#,
    );
}

#[test]
fn graphs_without_nodes_are_reported_and_those_with_nodes_are_not() {
    let graphs = "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start, end, deviceId, contextId, streamId, correlationId,
            globalPid, graphId);
         INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (1, 9, 0, 1, 7, 5, $PID, 12),
            (11, 19, 2147483647, 2147483647, 7, 6, $PID, 12);
         ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD COLUMN graphNodeId;
         INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId, correlationId, globalPid,
            demangledName, graphNodeId) VALUES (2, 3, 0, 1, 7, 5, $PID, 2, (12 << 32) + 1);";
    let trace = import(&format!("{BASE}{graphs}"));
    assert_eq!(count(&trace, "cuda_graph_without_nodes"), 1);
    let node = trace.kernels.iter().next().map(|(_, kernel)| (kernel.graph_id, kernel.graph_node_id));
    assert_eq!(node, Some((Some(12), Some((12 << 32) + 1))));
    let on_host = trace.tracks.iter().find(|track| track.key.device.is_none() && track.n_slices == 1);
    assert!(on_host.is_some_and(|track| trace.name(track.first_slice) == "CUDA graph 12"));
}

#[test]
fn launches_without_device_work_are_data_loss_not_idleness() {
    let trace = import(&format!(
        "{BASE} DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL;
         INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 2, 0, $TID, 1, 1, 0), (3, 4, 0, $TID, 2, 1, 0),
            (5, 6, 0, $TID, 3, 1, 700);"
    ));
    let issue = trace.issues.iter().find(|issue| issue.code == "launches_without_device_rows").unwrap();
    assert_eq!((issue.count, issue.severity), (2, Severity::DataLoss));
    assert_eq!(issue.example.as_deref(), Some("2 launches in process 10, the first by cudaLaunchKernel"));
}

#[test]
fn allocations_are_memory_events_of_their_device() {
    check(
        "CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start, globalPid, deviceId, address, bytes, memKind,
            memoryOperationType);
         INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES (5, $PID, 0, 140000000000000, 512, 2, 0),
            (6, $PID, 0, 1, 64, 1, 0), (9, $PID, 0, 140000000000000, 512, 2, 1), (9, $PID, 0, 1, 64, 1, 7);",
        r#"
        device 0 None sm=None
        memory 5 device=Some(0) +512
        memory 6 device=None +64
        memory 9 device=Some(0) -512
        issue data_loss unreadable_rows ×1
        issue warning no_cuda_in_file ×1
        "#,
    );
}

#[test]
fn overheads_and_system_calls_have_tracks_of_their_own() {
    check(
        "CREATE TABLE OSRT_API (start, end, eventClass, globalTid, nameId);
         INSERT INTO OSRT_API VALUES (1, 9, 27, $TID, 7), (5, 5, 31, $PID, 7);
         CREATE TABLE CUPTI_ACTIVITY_KIND_OVERHEAD (start, end, globalTid, nameId, overheadType);
         INSERT INTO CUPTI_ACTIVITY_KIND_OVERHEAD VALUES (1, 9, $TID, NULL, 7);
         CREATE TABLE PROFILER_OVERHEAD (start, end, globalTid, nameId);
         INSERT INTO PROFILER_OVERHEAD VALUES (20, 29, $TID, 5);
         CREATE TABLE ThreadNames (nameId, globalTid); INSERT INTO ThreadNames VALUES (3, $TID), (5, $TID);
         CREATE TABLE WDDM_QUEUE_PACKET_START_EVENTS (start, cpu); INSERT INTO WDDM_QUEUE_PACKET_START_EVENTS VALUES (1, 1);",
        r#"
        os_runtime "main thread" process=10
            os_runtime "poll" 1 +8
        overhead "main thread" process=10
            overhead "Lazy function loading" 1 +8
            overhead "main thread" 20 +9
        issue warning no_cuda_in_file ×1
        issue info os_runtime_markers ×1
        issue info tables_not_read ×1
        "#,
    );
}

#[test]
fn tables_may_lack_columns_and_row_ids_and_types() {
    check_whole(
        "CREATE TABLE StringIds (id INTEGER, value TEXT); INSERT INTO StringIds VALUES (1, 'k');
         CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start TEXT, end TEXT, demangledName TEXT, PRIMARY KEY (start, end))
            WITHOUT ROWID;
         INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ('10', '20', '1'), ('x', '20', '1'), ('30', '40.0', '1');
         CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER); INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (1);
         CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, nameId);
         INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, NULL, 1), (3.0, 4, x'00'), (5, 6, 1);",
        r#"
        api "thread unknown" process=unknown
            api "(unnamed)" 3 +1
            api "k" 5 +1
        stream "stream" process=unknown
            kernel "k" 10 +10 grid=? block=?
        issue data_loss table_without_columns ×1
        issue data_loss unreadable_rows ×3
        "#,
    );
}

#[test]
fn rows_with_gaps_between_their_ids_are_all_read() {
    let trace = import(&format!(
        "{BASE} INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME (rowid, start, end, globalTid, nameId) VALUES
            (-9223372036854775808, 1, 2, $TID, 1), (5, 3, 4, $TID, 1), (9223372036854775807, 5, 6, $TID, 1);"
    ));
    assert_eq!(trace.slices.len(), 3);
}

#[test]
fn large_tables_give_the_same_trace_every_time() {
    // 300 000 rows are three parts.
    let sql = format!(
        "{BASE}
         WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s LIMIT 500)
            INSERT INTO StringIds SELECT n + 1000, 'range ' || n FROM s;
         WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s LIMIT 300000)
            INSERT INTO NVTX_EVENTS (start, end, eventType, textId, globalTid, domainId)
            SELECT 10 * n, 10 * n + 5, 59, 1000 + n % 500 + 1, $TID + n % 3, n % 2 FROM s;"
    );
    let dir = TempDir::new().unwrap();
    let path = write(&dir, "big.sqlite", &sql);
    let [first, second] = [(); 2].map(|()| open(&path, &Progress::new()).unwrap());
    assert_eq!(first.slices.len(), 300_000);
    let names = |trace: &Trace| trace.slices.names().to_vec();
    assert_eq!(names(&first), names(&second));
    assert!(dump(&first) == dump(&second));
    let cancelled = Progress::new();
    cancelled.cancel();
    assert!(matches!(open(&path, &cancelled), Err(ImportError::Cancelled(_))));
}

#[test]
fn normalized_times_count_from_the_session_start() {
    let trace = import(&format!(
        "{BASE}
         CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);
         INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PARAM_TIME_NORMALIZE', 'true'),
            ('EXPORT_PRODUCT_VERSION', '2026.2.1.210'), ('EXPORT_SCHEMA_VERSION', '4.1.0'),
            ('EXPORT_PARAM_TABLES_TO_EXPORT', 'CUPTI*'), ('EXPORT_HOST', 'secret'), ('EXPORT_USER', 'secret');
         CREATE TABLE META_DATA_CAPTURE (name TEXT, value TEXT);
         INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:COMMAND', 'secret'), ('DEVICE_DISPLAY_NAME', 'secret'),
            ('CUDA_GRAPH_TRACE_OPTIONS:MODE', 'Graph'), ('CAPTURE_EVENT_TYPE', 'Cuda'), ('CAPTURE_EVENT_TYPE', 'Nvtx');
         CREATE TABLE TARGET_INFO_SYSTEM_ENV (name TEXT, value TEXT);
         INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES ('Hostname', 'secret'), ('CudaDriverVersion', '12030');
         CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT);
         INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1700000000000000000, '');
         INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1700000000000000100, 1700000000000000150, 0, $TID, 7, 4, 0);"
    ));
    assert_eq!(trace.slices.starts_ns(), [100]);
    assert_eq!(trace.meta.start_unix_ns, Some(1_700_000_000_000_000_000));
    assert_eq!(trace.meta.tool.as_deref(), Some("nsys 2026.2.1.210 (schema 4.1.0)"));
    assert_eq!(count(&trace, "partial_export") + count(&trace, "newer_schema"), 2);
    let properties = format!("{:?}", trace.meta.properties);
    assert!(!properties.contains("secret"));
    assert!(properties.contains(
        r#"("traced", "Cuda, Nvtx"), ("CUDA graph trace", "Graph"), ("CUDA driver version", "12.3")"#
    ));
}

#[test]
fn the_profilers_own_warnings_are_issues() {
    let trace = import(&format!(
        "{BASE} CREATE TABLE DIAGNOSTIC_EVENT (timestamp, severity, text);
         INSERT INTO DIAGNOSTIC_EVENT VALUES (1, 1, 'Number of incomplete CUPTI events dropped: 3. Incomplete events'),
            (1, 1, 'Profiling has started.'), (2, 2, 'Cannot write /home/me/x.log');"
    ));
    assert_eq!(count(&trace, "cupti_events_dropped"), 3);
    let warning = trace.issues.iter().find(|issue| issue.code == "profiler_warning").unwrap();
    assert_eq!(warning.example.as_deref(), Some("Cannot write …/x.log"));
}

#[test]
fn the_file_is_not_touched_whatever_its_name() {
    let dir = TempDir::new().unwrap();
    let path = write(&dir, "t?x#1%20 ü.sqlite", BASE);
    std::fs::write(dir.path().join("t?x#1%20 ü.sqlite-wal"), b"unfinished").unwrap();
    let state = || (std::fs::read(&path).unwrap(), std::fs::metadata(&path).unwrap().modified().unwrap());
    let before = state();
    let mut permissions = std::fs::metadata(dir.path()).unwrap().permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(dir.path(), permissions.clone()).unwrap();

    let trace = open(&path, &Progress::new()).unwrap();
    assert_eq!(count(&trace, "unfinished_changes_beside_the_file"), 1);
    assert!(before == state());
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2);

    #[expect(clippy::permissions_set_readonly_false, reason = "a temporary folder, to be deleted")]
    permissions.set_readonly(false);
    std::fs::set_permissions(dir.path(), permissions).unwrap();
}

#[test]
fn broken_files_say_what_is_broken() {
    let dir = TempDir::new().unwrap();
    let whole = std::fs::read(write(&dir, "whole.sqlite", BASE)).unwrap();
    let broken = |name: &str, bytes: &[u8]| {
        let path = dir.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        error(&path)
    };
    assert!(broken("half", &whole[..8192]).starts_with("the export was cut short: the file has 8192 of "));
    assert!(broken("page", &whole[..1000]).starts_with("the export was cut short: 1000 bytes"));
    let mut zeroed = whole.clone();
    zeroed[..100].fill(0);
    assert!(broken("zeroed", &zeroed).starts_with("the header of this SQLite file is zeros"));
    let mut damaged = whole.clone();
    damaged[100..4096].fill(0xff);
    assert!(broken("damaged", &damaged).starts_with("SQLite cannot read the file"));
    let packed = zstd::encode_all(whole.as_slice(), 1).unwrap();
    assert!(broken("packed", &packed).starts_with("this is an SQLite file packed with zstd"));

    let other = write(&dir, "other.sqlite", "CREATE TABLE a (b)");
    assert!(
        error(&other).starts_with("this SQLite file is no Nsight Systems export: it has no table StringIds")
    );
    let names = write(&dir, "names.sqlite", "CREATE TABLE StringIds (id, value)");
    assert!(error(&names).contains("it has none of CUPTI_ACTIVITY_KIND_…, META_DATA_EXPORT"));
}

#[test]
fn damage_inside_a_table_loses_only_its_rows() {
    let dir = TempDir::new().unwrap();
    let series = "WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s LIMIT 2000)";
    let path = write(
        &dir,
        "t.sqlite",
        &format!(
            "{BASE}
             INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME {series} SELECT n, n + 1, 0, $TID, n, 4, 0 FROM s;
             INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid) VALUES (1, 2, 59, 'kept', $TID);"
        ),
    );
    let root: i64 = Connection::open(&path)
        .unwrap()
        .query_row("SELECT rootpage FROM sqlite_master WHERE name = 'CUPTI_ACTIVITY_KIND_RUNTIME'", [], |r| {
            r.get(0)
        })
        .unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    let at = (root as usize - 1) * 4096;
    // Keep the page's kind and size, break what it points to.
    bytes[at + 12..at + 40].fill(0xff);
    std::fs::write(&path, bytes).unwrap();
    let trace = open(&path, &Progress::new()).unwrap();
    assert!(trace.names.find("kept").is_some());
    assert_eq!(count(&trace, "table_damaged"), 1);
}

#[test]
fn info_reads_headers_only() {
    let dir = TempDir::new().unwrap();
    let path = write(
        &dir,
        "t.sqlite",
        &format!(
            "{BASE} CREATE TABLE TARGET_INFO_GPU (id, name); INSERT INTO TARGET_INFO_GPU VALUES (1, 'B'), (0, 'A');
             INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME (rowid, start, end, nameId) VALUES (1, 1, 2, 1), (50, 1, 2, 1);"
        ),
    );
    let info = info(&path).unwrap();
    assert_eq!(info.devices, ["A", "B"]);
    let table = info.tables.iter().find(|table| table.name == "CUPTI_ACTIVITY_KIND_RUNTIME").unwrap();
    assert_eq!((table.n_rows, table.is_estimate), (Some(50), true));
    assert!(info.tables.iter().all(|table| table.name != "CUPTI_ACTIVITY_KIND_KERNEL"));
}

fn count(trace: &Trace, code: &str) -> u64 {
    trace.issues.iter().find(|issue| issue.code == code).map_or(0, |issue| issue.count)
}
