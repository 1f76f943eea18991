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

const SCHED: &str =
    "CREATE TABLE SCHED_EVENTS (start INTEGER NOT NULL, cpu INTEGER NOT NULL, isSchedIn INTEGER NOT NULL,
    globalTid INTEGER);";

#[test]
fn switches_are_paired_by_thread_whatever_their_order() {
    check(
        &format!(
            "{SCHED} INSERT INTO SCHED_EVENTS VALUES (50, 3, 0, $TID), (30, 3, 1, $TID), (15, 1, 1, $TID + 1),
                (10, 2, 1, $TID), (20, 2, 0, $TID), (25, 1, 0, $TID + 1);"
        ),
        r#"
        scheduling "thread 10" process=10
            running "CPU 2" 10 +10
            running "CPU 3" 30 +20
        scheduling "thread 11" process=10
            running "CPU 1" 15 +10
        issue warning no_cuda_in_file ×1
        "#,
    );
}

#[test]
fn switches_without_counterpart_are_counted_not_guessed() {
    // Off at 5 (it ran before the recording); on at 10 and again at 20; on at 40 and never off: the last time in
    // the file is 60. Switches of nobody knows which thread are not paired with each other.
    check(
        &format!(
            "{SCHED} INSERT INTO SCHED_EVENTS VALUES (5, 0, 0, $TID), (10, 0, 1, $TID), (20, 1, 1, $TID), (30, 1, 0, $TID),
                (40, 2, 1, $TID), (60, 3, 1, $TID + 1), (1, 9, 1, NULL), (2, 9, 0, NULL);"
        ),
        r#"
        scheduling "thread 10" process=10
            running "CPU 1" 20 +10
            running "CPU 2" 40 +20 unclosed
        scheduling "thread 11" process=10
            running "CPU 3" 60 +0 unclosed
        issue warning no_cuda_in_file ×1
        issue info switches_without_counterpart ×2
        issue info switches_without_thread ×2
        "#,
    );
}

#[test]
fn on_and_off_at_one_instant_is_a_blink_and_off_and_on_a_move() {
    // 10: on and off at once. 30: from CPU 1 to CPU 2 in no time.
    check(
        &format!(
            "{SCHED} INSERT INTO SCHED_EVENTS VALUES (10, 1, 1, $TID), (10, 1, 0, $TID), (20, 1, 1, $TID), (30, 1, 0, $TID),
                (30, 2, 1, $TID), (40, 2, 0, $TID);"
        ),
        r#"
        scheduling "thread 10" process=10
            running "CPU 1" 10 +0
            running "CPU 1" 20 +10
            running "CPU 2" 30 +10
        issue warning no_cuda_in_file ×1
        "#,
    );
}

#[test]
fn samples_have_stacks_innermost_first_and_modules_no_folders() {
    // Frames come in any order; stacks 1 and 2 share `main`; sample 3 has no stack.
    let trace = import(&format!(
        "{BASE}
         CREATE TABLE COMPOSITE_EVENTS (id INTEGER NOT NULL PRIMARY KEY, start INTEGER NOT NULL, cpu INTEGER,
            threadState INTEGER, globalTid INTEGER, cpuCycles INTEGER NOT NULL);
         INSERT INTO COMPOSITE_EVENTS VALUES (1, 30, 4, 1, $TID, 9), (2, 20, NULL, 1, $TID, 9), (3, 10, 0, 1, $TID, 9);
         CREATE TABLE SAMPLING_CALLCHAINS (id INTEGER NOT NULL, symbol INTEGER, module INTEGER, stackDepth INTEGER NOT NULL);
         INSERT INTO StringIds VALUES (20, 'main'), (21, 'work'), (22, '/home/me/bin/train'), (23, '[Max depth]');
         INSERT INTO SAMPLING_CALLCHAINS VALUES (2, 20, 22, 1), (1, 20, 22, 1), (2, 21, 22, 0), (1, 7, NULL, 0),
            (1, NULL, 22, 2);"
    ));
    let text = dump(&trace);
    assert!(text.contains("sample 10 cpu=0\n"), "{text}");
    assert!(text.contains("sample 20 stack=work@train;main@train\n"), "{text}");
    assert!(text.contains("sample 30 cpu=4 stack=poll;main@train\n"), "{text}");
    assert_eq!(count(&trace, "call_stack_frames_unreadable"), 1);
    // main, work below it, poll below it.
    assert_eq!(trace.stacks.len(), 3);
    assert!(trace.names.find("/home/me/bin/train").is_none());
}

#[test]
fn system_calls_have_the_stacks_of_their_number_and_0_is_none() {
    check(
        "CREATE TABLE OSRT_API (start, end, eventClass, globalTid, nameId, callchainId);
         INSERT INTO OSRT_API VALUES (1, 9, 27, $TID, 7, 2), (11, 19, 27, $TID, 7, 0), (21, 29, 27, $TID, 7, 5);
         CREATE TABLE OSRT_CALLCHAINS (id, symbol, module, stackDepth);
         INSERT INTO OSRT_CALLCHAINS VALUES (2, 3, 5, 0), (0, 5, 5, 0);",
        r#"
        os_runtime "thread 10" process=10
            os_runtime "poll" 1 +8 stack=gemm@main thread
            os_runtime "poll" 11 +8
            os_runtime "poll" 21 +8
        issue warning no_cuda_in_file ×1
        "#,
    );
}

#[test]
fn libraries_have_tracks_of_their_own() {
    check(
        "CREATE TABLE CUDNN_EVENTS (start, end, eventClass, globalTid, nameId);
         INSERT INTO CUDNN_EVENTS VALUES (1, 9, 28, $TID, 3), (2, 2, 33, $TID, 3);
         CREATE TABLE CUBLAS_EVENTS (start, end, eventClass, globalTid, nameId);
         INSERT INTO CUBLAS_EVENTS VALUES (3, 5, 29, $TID, 3);
         CREATE TABLE OPENGL_WORKLOAD (start, end, eventClass, globalTid, nameId, gpu);
         INSERT INTO OPENGL_WORKLOAD VALUES (4, 8, 5, $TID, 3, 0);
         CREATE TABLE KHR_DEBUG_EVENTS (eventClass, start, end, textId, globalTid);
         INSERT INTO KHR_DEBUG_EVENTS VALUES (6, 20, 30, 5, $TID), (7, 25, NULL, 7, $TID);
         CREATE TABLE D3D12_PIX_DEBUG_API (start, end, globalTid, nameId, textId);
         INSERT INTO D3D12_PIX_DEBUG_API VALUES (40, 50, $TID, 3, 5), (60, 70, $TID, 3, NULL);",
        r#"
        device 0 None sm=None
        library "DirectX" process=10
            library "main thread" 40 +10
            library "gemm" 60 +10
        library "OpenGL" process=10
            library "main thread" 20 +10
            mark "poll" 25
        library "cuBLAS" process=10
            library "gemm" 3 +2
        library "cuDNN" process=10
            library "gemm" 1 +8
        device_other "OpenGL" process=10 device=0
            other "gemm" 4 +4
        issue warning no_cuda_in_file ×1
        issue info library_markers ×1
        "#,
    );
}

#[test]
fn mpi_is_the_same_in_a_domain_of_nvtx_and_in_a_table_of_its_own() {
    // Exports since 2022 have the table; older ones the domain. A call that never returned lasts to the end.
    let lines = |sql: &str| {
        let text = dump(&import(&format!("{BASE}{sql}")));
        text.lines().filter(|line| line.contains("library ")).map(str::to_owned).collect::<Vec<_>>()
    };
    let expected = [
        r#"library "MPI" process=10"#,
        r#"  library "MPI_Init" 10 +80 self=60"#,
        r#"    library "MPI_Wait" 20 +20"#,
        r#"  library "MPI_Finalize" 95 +5 unclosed"#,
    ];
    let end = "CREATE TABLE OSRT_API (start, end, globalTid, nameId); INSERT INTO OSRT_API VALUES (99, 100, $TID, 7);";
    let table = "INSERT INTO StringIds VALUES (30, 'MPI_Init'), (31, 'MPI_Wait'), (32, 'MPI_Finalize');
        CREATE TABLE MPI_OTHER_EVENTS (start INTEGER NOT NULL, end INTEGER, globalTid INTEGER, textId INTEGER);
        INSERT INTO MPI_OTHER_EVENTS VALUES (10, 90, $TID, 30), (20, 40, $TID, 31), (95, NULL, $TID, 32);";
    let domain = "INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, domainId) VALUES
        (0, NULL, 75, 'MPI', $TID, 3), (10, 90, 59, 'MPI_Init', $TID, 3), (20, 40, 59, 'MPI_Wait', $TID, 3),
        (95, NULL, 59, 'MPI_Finalize', $TID, 3);";
    assert_eq!(lines(&format!("{table}{end}")), expected);
    assert_eq!(lines(&format!("{domain}{end}")), expected);
}
