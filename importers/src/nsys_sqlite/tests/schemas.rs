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
