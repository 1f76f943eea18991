//! What the host did besides CUDA.

use super::*;

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
fn the_profilers_own_warnings_are_issues() {
    let trace = import(&format!(
        "{BASE} CREATE TABLE DIAGNOSTIC_EVENT (timestamp, severity, text);
         INSERT INTO DIAGNOSTIC_EVENT VALUES (1, 1, 'Number of incomplete CUPTI events dropped: 3. Incomplete events'),
            (1, 1, 'Profiling has started.'), (2, 2, 'Cannot write /home/me/x.log');"
    ));
    assert_eq!(count(&trace, "cupti_events_dropped"), 3);
    let warning = trace.issues.iter().find(|issue| issue.code == "profiler_warning").unwrap();
    assert_eq!(warning.example.as_deref(), Some("Cannot write …"));
}
