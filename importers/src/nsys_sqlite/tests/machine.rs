//! Processes, devices and their metrics.

use super::*;

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
