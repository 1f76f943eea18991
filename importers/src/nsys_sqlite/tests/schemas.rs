//! Tables as all versions of nsys and scripts make them.

use super::*;

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
fn exports_of_2020_and_2021_have_no_tables_about_themselves() {
    // As DRIVE OS documents them, and as the oldest public files are: no META_DATA, PROCESSES or ENUM_ tables,
    // GPUs by deviceId, 0 instead of null.
    check_whole(
        "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL);
         INSERT INTO StringIds VALUES (1, 'void k(int)'), (2, 'k'), (3, 'cudaLaunchKernel_v7000');
         CREATE TABLE TARGET_INFO_GPU (vmId INT NOT NULL, deviceId INT NOT NULL, name TEXT, busLocation TEXT, isDiscrete INT);
         INSERT INTO TARGET_INFO_GPU VALUES (281474976710656, 0, 'Tesla V100', '0000:02:00.0', 1);
         CREATE TABLE TARGET_INFO_CUDA_NULL_STREAM (streamId INT, hwId INT, vmId INT, processId INT, deviceId INT, contextId INT);
         INSERT INTO TARGET_INFO_CUDA_NULL_STREAM VALUES (7, 0, 1, 10, 0, 1);
         CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (id INTEGER PRIMARY KEY AUTOINCREMENT, start INT NOT NULL, end INT NOT NULL,
            eventClass INT NOT NULL, globalTid INT NOT NULL, correlationId INT NOT NULL, nameId INT NOT NULL,
            returnValue INT NOT NULL);
         INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 10, 20, 0, $TID, 5, 3, 0);
         CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT NOT NULL, end INT NOT NULL, deviceId INT NOT NULL,
            contextId INT NOT NULL, streamId INT NOT NULL, correlationId INT NOT NULL, globalPid INT NOT NULL,
            demangledName INT NOT NULL, shortName INT NOT NULL, registersPerThread INT NOT NULL, gridX INT NOT NULL,
            gridY INT NOT NULL, gridZ INT NOT NULL, blockX INT NOT NULL, blockY INT NOT NULL, blockZ INT NOT NULL,
            staticSharedMemory INT NOT NULL, dynamicSharedMemory INT NOT NULL);
         INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (30, 40, 0, 1, 7, 5, $PID, 1, 2, 16, 4, 1, 1, 32, 1, 1, 0, 0);
         CREATE TABLE UnwindMethodType (number INT, name TEXT); INSERT INTO UnwindMethodType VALUES (1, 'frame pointers');",
        r#"
        device 0 Some("Tesla V100") sm=None
        api "thread 10" process=10
            api "cudaLaunchKernel" 10 +10
        stream "stream 7 (default)" process=10 device=0
            kernel "void k(int)" 30 +10 grid=4x1x1 block=32x1x1 regs=16 shared=0 <- "cudaLaunchKernel" 10
        "#,
    );
}

#[test]
fn exports_of_2022_call_the_table_about_themselves_otherwise() {
    let trace = import(&format!(
        "{BASE} CREATE TABLE EXPORT_META_DATA (name TEXT NOT NULL, value TEXT);
         INSERT INTO EXPORT_META_DATA VALUES ('EXPORT_PRODUCT_VERSION', '2022.2.1.31'), ('EXPORT_SCHEMA_VERSION', '2.9.1');"
    ));
    assert_eq!(trace.meta.tool.as_deref(), Some("nsys 2022.2.1.31 (schema 2.9.1)"));
    assert_eq!(count(&trace, "newer_schema"), 0);
}

#[test]
fn nvtx_tables_may_lack_registered_strings_and_carry_a_version() {
    let rows = |table: &str| {
        format!(
            "DROP TABLE NVTX_EVENTS; CREATE TABLE {table} (start INTEGER, end INTEGER, eventType INTEGER, text TEXT,
                globalTid INTEGER); INSERT INTO {table} VALUES (1, 9, 59, 'step', $TID);"
        )
    };
    let expected = r#"
        nvtx "thread 10" process=10
            nvtx_push_pop "step" 1 +8
        issue warning no_cuda_in_file ×1
    "#;
    check(&rows("NVTX_EVENTS"), expected);
    check(&rows("NVTX_EVENTS_V2"), expected);
    // Of two the plain one counts while it has rows; the other is named.
    let both =
        "CREATE TABLE NVTX_EVENTS_V3 (start, end, eventType); INSERT INTO NVTX_EVENTS_V3 VALUES (1, 2, 59);";
    let trace = import(&format!("{BASE}{both}"));
    assert_eq!((trace.slices.len(), count(&trace, "tables_not_read")), (1, 0));
    let trace =
        import(&format!("{BASE}{both} INSERT INTO NVTX_EVENTS (start, end, eventType) VALUES (5, 6, 59);"));
    assert_eq!((trace.slices.starts_ns(), count(&trace, "tables_not_read")), (&[5][..], 1));
}

#[test]
fn names_may_be_texts_where_numbers_belong() {
    check(
        "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 2, 0, $TID, 7, 'cudaMalloc_v3020', 0);
         INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId, globalPid, demangledName) VALUES
            (3, 4, 0, 7, $PID, 'void k()');
         CREATE TABLE OSRT_API (start, end, globalTid, nameId); INSERT INTO OSRT_API VALUES (5, 6, $TID, 'read');",
        r#"
        device 0 None sm=None
        api "thread 10" process=10
            api "cudaMalloc" 1 +1
        os_runtime "thread 10" process=10
            os_runtime "read" 5 +1
        stream "stream 7" process=10 device=0
            kernel "void k()" 3 +1 grid=? block=?
        "#,
    );
}

#[test]
fn a_newer_major_version_opens_with_a_warning() {
    let with = |version: &str| {
        let trace = import(&format!(
            "{BASE} CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);
             INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '{version}');
             INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 2, 0, $TID, 7, 4, 0);"
        ));
        (trace.slices.len(), count(&trace, "newer_schema"))
    };
    assert_eq!([with("3.99.0"), with("4.0.0"), with("next")], [(1, 0), (1, 1), (1, 0)]);
}

#[test]
fn samples_that_repeat_as_generic_events_are_not_missed() {
    let generic = "CREATE TABLE GENERIC_EVENTS (rawTimestamp, timestamp, typeId, data); INSERT INTO GENERIC_EVENTS VALUES (1, NULL, 1, '');";
    let metrics = "CREATE TABLE GPU_METRICS (timestamp, typeId, metricId, value); INSERT INTO GPU_METRICS VALUES (1, 1, 1, 1);";
    assert_eq!(count(&import(&format!("{BASE}{generic}")), "tables_not_read"), 1);
    assert_eq!(count(&import(&format!("{BASE}{generic}{metrics}")), "tables_not_read"), 0);
}
