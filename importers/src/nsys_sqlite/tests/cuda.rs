//! Device work and the calls behind it.

use super::*;

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
fn page_faults_of_the_host_are_instants_and_those_of_devices_last() {
    check(
        "CREATE TABLE CUDA_UM_CPU_PAGE_FAULT_EVENTS (start, globalPid, address, CpuInstruction, module);
         INSERT INTO CUDA_UM_CPU_PAGE_FAULT_EVENTS VALUES (5, $PID, 1, 3, 5), (6, $PID, 1, NULL, 5);
         CREATE TABLE CUDA_UM_GPU_PAGE_FAULT_EVENTS (start, end, globalPid, deviceId, address, numberOfPageFaults,
            faultAccessType);
         INSERT INTO CUDA_UM_GPU_PAGE_FAULT_EVENTS VALUES (10, 20, $PID, 0, 1, 12, 1), (30, 20, $PID, 0, 1, 12, 1);",
        r#"
        device 0 None sm=None
        other "CPU page faults" process=10
            mark "gemm" 5
            mark "page fault" 6
        device_other "GPU page faults" process=10 device=0
            other "12 page faults" 10 +10
        issue data_loss negative_duration ×1
        issue warning no_cuda_in_file ×1
        "#,
    );
}

#[test]
fn cuda_events_are_instants_where_their_time_was_taken() {
    check(
        "CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT (deviceId, contextId, streamId, correlationId, globalPid, eventId,
            timestamp);
         INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES (0, 1, 7, 5, $PID, 3, 50), (0, 1, 7, 6, $PID, 4, 0);",
        r#"
        device 0 None sm=None
        stream "stream 7" process=10 device=0
            mark "event 3" 50
        issue warning no_cuda_in_file ×1
        issue info cuda_events_without_time ×1
        "#,
    );
    // Before 2025.5 there is no such column.
    let trace = import(&format!(
        "{BASE} CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT (deviceId, contextId, streamId, globalPid, eventId);
         INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES (0, 1, 7, $PID, 3);"
    ));
    assert_eq!((trace.marks.len(), count(&trace, "cuda_events_without_time")), (0, 1));
}

#[test]
fn memory_pools_and_context_switches_are_instants_of_devices() {
    check(
        "CREATE TABLE CUDA_GPU_MEMORY_POOL_EVENTS (start, globalPid, deviceId, address, operationType, poolType);
         INSERT INTO CUDA_GPU_MEMORY_POOL_EVENTS VALUES (1, $PID, 0, 9, 1, 1), (2, $PID, 0, 9, 3, 1), (3, $PID, 0, 9, 2, 1);
         CREATE TABLE GPU_CONTEXT_SWITCH_EVENTS (tag, vmId, seqNo, contextId, timestamp, globalPid, gpuId);
         INSERT INTO GPU_CONTEXT_SWITCH_EVENTS VALUES (9, 1, 0, 1, 4, $PID, 0), (7, 1, 1, 1, 5, NULL, 0),
            (10, 1, 2, 1, 99, $PID, 0);",
        r#"
        device 0 None sm=None
        device_other "context switches" device=0
            mark "save end" 5
        device_other "context switches" process=10 device=0
            mark "context start" 4
        device_other "memory pools" process=10 device=0
            mark "pool created" 1
            mark "pool trimmed" 2
            mark "pool destroyed" 3
        issue data_loss unreadable_rows ×1
        issue warning no_cuda_in_file ×1
        "#,
    );
}
