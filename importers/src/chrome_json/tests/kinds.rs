//! Each kind of event becomes what it should.

use super::{ONE_BLOCK, Plan, check, check_events, open, open_with};

#[test]
fn operators_nest_and_keep_their_arguments() {
    check_events(
        r#"{"ph": "X", "cat": "cpu_op", "name": "aten::linear", "pid": 9, "tid": 10, "ts": 100.000, "dur": 50.5,
            "args": {"External id": 1, "Sequence number": 7, "Fwd thread id": 0, "Ev Idx": 0}},
           {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 9, "tid": 10, "ts": 110.25, "dur": 20,
            "args": {"Input Dims": [[8, 10], [10, 4]], "Input type": ["float", "float"], "Concrete Inputs": ["", ""]}},
           {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#3", "pid": 9, "tid": 10, "ts": 90, "dur": 100},
           {"ph": "M", "name": "thread_name", "pid": 9, "tid": 10, "args": {"name": "thread 10 (python)"}}"#,
        "ops \"thread 10 (python)\" process=9\n\
         \x20 annotation \"ProfilerStep#3\" 0 +100000 self=49500\n\
         \x20   op \"aten::linear\" 10000 +50500 self=30500\n\
         \x20     op \"aten::mm\" 20250 +20000 dims=[[8,10],[10,4]]\n",
    );
}

#[test]
fn device_work_is_linked_to_its_launch() {
    check_events(
        r#"{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 9, "tid": 9, "ts": 10, "dur": 5,
            "args": {"correlation": 77, "cbid": 211, "External id": 77}},
           {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 20, "dur": 8,
            "args": {"device": 0, "context": 1, "stream": 7, "correlation": 77, "registers per thread": 32,
                     "shared memory": 1024, "grid": [4, 2, 1], "block": [128, 1, 1], "warps per SM": 0.5}},
           {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pageable -> Device)", "pid": 0, "tid": 7, "ts": 30,
            "dur": 2, "args": {"device": 0, "stream": 7, "correlation": 0, "bytes": 4096}},
           {"ph": "X", "cat": "gpu_memset", "name": "Memset (Device)", "pid": 0, "tid": 7, "ts": 33, "dur": 1,
            "args": {"device": 0, "stream": 7, "bytes": 16}}"#,
        "device 0 None sm=None\n\
         api \"thread 9\" process=9\n\
         \x20 api \"cudaLaunchKernel\" 0 +5000\n\
         stream \"stream 7\" process=9 device=0\n\
         \x20 kernel \"gemm\" 10000 +8000 grid=4x2x1 block=128x1x1 regs=32 shared=1024 <- \"cudaLaunchKernel\" 0\n\
         \x20 memcpy \"Memcpy HtoD (Pageable -> Device)\" 20000 +2000 h2d pageable->device bytes=4096\n\
         \x20 memset \"Memset (Device)\" 23000 +1000 memset ?->device bytes=16\n",
    );
}

#[test]
fn python_frames_overhead_and_unknown_categories_have_their_own_tracks() {
    check_events(
        r#"{"ph": "X", "cat": "python_function", "name": "a.py(1): f", "pid": 9, "tid": 9, "ts": 1, "dur": 5,
            "args": {"Python id": 1, "Python parent id": null}},
           {"ph": "X", "cat": "overhead", "name": "Buffer Flush", "pid": -1, "tid": 0, "ts": 2, "dur": 1},
           {"ph": "X", "cat": "my own", "name": "mine", "pid": "p", "tid": "t", "ts": 1, "dur": 1}"#,
        "python \"thread 9\" process=9\n  python \"a.py(1): f\" 0 +5000\n\
         overhead \"thread 0\" process=-1\n  overhead \"Buffer Flush\" 1000 +1000\n\
         other \"thread t\" process=p\n  other \"mine\" 0 +1000\n",
    );
}

#[test]
fn halves_are_joined_by_name_and_by_nesting() {
    check_events(
        r#"{"ph": "B", "name": "a", "pid": 1, "tid": 1, "ts": 10}, {"ph": "B", "name": "b", "pid": 1, "tid": 1, "ts": 12},
           {"ph": "E", "pid": 1, "tid": 1, "ts": 15}, {"ph": "E", "name": "a", "pid": 1, "tid": 1, "ts": 20},
           {"ph": "B", "name": "open", "pid": 1, "tid": 1, "ts": 21}, {"ph": "E", "name": "never", "pid": 1, "tid": 1, "ts": 30},
           {"ph": "b", "cat": "c", "id": "0x1", "name": "x", "pid": 1, "tid": 1, "ts": 11},
           {"ph": "e", "cat": "c", "id": "0x1", "name": "x", "pid": 1, "tid": 2, "ts": 14}"#,
        "other \"thread 1\" process=1\n  other \"a\" 0 +10000 self=7000\n    other \"b\" 2000 +3000\n  other \"open\" 11000 +9000 unclosed\n\
         other \"asynchronous c\" process=1\n  other \"x\" 1000 +3000\n\
         issue warning unmatched_ends ×1\nissue info unclosed_slices ×1\n",
    );
}

#[test]
fn halves_of_a_lane_may_cross() {
    check_events(
        r#"{"ph": "B", "name": "a", "pid": 1, "tid": 1, "ts": 0}, {"ph": "B", "name": "b", "pid": 1, "tid": 1, "ts": 5},
           {"ph": "E", "name": "a", "pid": 1, "tid": 1, "ts": 8}, {"ph": "E", "name": "b", "pid": 1, "tid": 1, "ts": 12}"#,
        "other \"thread 1\" process=1\n  other \"a\" 0 +8000\n    other \"b\" 5000 +7000 crossing\n\
         issue info crossing_host_slices ×1\n",
    );
}

#[test]
fn allocations_keep_sign_and_totals() {
    let trace = open(
        r#"[{"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 9, "tid": 9, "ts": 5,
             "args": {"Total Reserved": 20, "Total Allocated": 10, "Bytes": -64, "Addr": 140000000000000, "Device Id": 1, "Device Type": 1}},
            {"ph": "i", "name": "[memory]", "pid": 9, "tid": 9, "ts": 4, "args": {"Bytes": 8, "Device Id": -1, "Device Type": 0}},
            {"ph": "i", "name": "[memory]", "pid": 9, "tid": 9, "ts": 4, "args": {}}]"#,
    );
    let [host, device] = trace.memory_events.as_slice() else { panic!("{:?}", trace.memory_events) };
    assert_eq!((host.delta_bytes, host.device, host.addr, host.total_allocated_bytes), (8, None, None, None));
    assert_eq!((device.delta_bytes, device.addr), (-64, Some(140_000_000_000_000)));
    assert_eq!((device.total_allocated_bytes, device.total_reserved_bytes), (Some(10), Some(20)));
    assert_eq!(trace.devices[device.device.unwrap().idx()].number, 1);
    assert_eq!(trace.issues[0].code, "memory_without_bytes");
}

#[test]
fn counters_have_a_unit_and_a_device() {
    check_events(
        r#"{"ph": "C", "name": "SM Active (%)", "pid": "GPU 1 Counters", "ts": 10, "args": {"": 50}},
           {"ph": "C", "name": "SM Active (%)", "pid": "GPU 1 Counters", "ts": 12, "args": {"": 25.0}},
           {"ph": "C", "name": "heap", "pid": 4, "ts": 11, "args": {"used bytes": 3, "free": "N/A"}}"#,
        "device 1 None sm=None\n\
         counter \"heap used bytes\" process=4 unit=bytes\n  11000 = 3\n\
         counter \"SM Active (%)\" device=1 unit=frac\n  10000 = 0.5\n  12000 = 0.25\n\
         issue warning counter_not_a_number ×1\n",
    );
}

#[test]
fn forward_and_backward_are_tied() {
    check_events(
        r#"{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 9, "tid": 1, "ts": 1, "dur": 2},
           {"ph": "s", "id": 3, "cat": "fwdbwd", "name": "fwdbwd", "pid": 9, "tid": 1, "ts": 1},
           {"ph": "X", "cat": "cpu_op", "name": "MmBackward0", "pid": 9, "tid": 2, "ts": 8, "dur": 2},
           {"ph": "f", "id": 3, "cat": "fwdbwd", "name": "fwdbwd", "pid": 9, "tid": 2, "ts": 8, "bp": "e"},
           {"ph": "s", "id": 3, "cat": "ac2g", "name": "ac2g", "pid": 9, "tid": 2, "ts": 8}"#,
        "ops \"thread 1\" process=9\n  op \"aten::mm\" 0 +2000\n\
         ops \"thread 2\" process=9\n  op \"MmBackward0\" 7000 +2000 backward-of \"aten::mm\" 0\n",
    );
}

#[test]
fn the_recording_itself_is_marked_and_does_not_stretch_the_trace() {
    check_events(
        r#"{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 9, "tid": 9, "ts": 1000, "dur": 1},
           {"ph": "X", "cat": "Trace", "name": "PyTorch Profiler (0)", "pid": "Spans", "tid": "PyTorch Profiler", "ts": 0.5, "dur": 5000},
           {"ph": "i", "s": "g", "name": "Record Window End", "pid": "", "tid": "", "ts": 6000}"#,
        "ops \"thread 9\" process=9\n  op \"a\" 0 +1000\n  mark \"PyTorch Profiler (0)\" -999500\n  mark \"Record Window End\" 5000000\n",
    );
}

#[test]
fn facts_beside_the_events_are_kept() {
    let trace = open(
        r#"{"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "H100", "numSms": 132}, {"id": 1, "name": "H100"}],
            "trace_id": "ABC", "displayTimeUnit": "ms", "baseTimeNanoseconds": 1790857026000000000, "host_name": "secret",
            "traceEvents": [
              {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1500.001, "dur": 1, "args": {"device": 0, "stream": 7}},
              {"ph": "X", "cat": "cpu_op", "name": "a", "pid": 9, "tid": 9, "ts": 1500.5, "dur": 1},
              {"ph": "M", "name": "process_name", "pid": 9, "args": {"name": "python"}},
              {"ph": "M", "name": "process_name", "pid": 0, "args": {"name": "python"}}],
            "distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8}, "traceName": "/home/me/x.json"}"#,
    );
    // Only devices with work are listed.
    let [device] = trace.devices.as_slice() else { panic!("{:?}", trace.devices) };
    assert_eq!((device.name.as_deref(), device.sm_count), (Some("H100"), Some(132)));
    let [process] = trace.processes.as_slice() else { panic!("{:?}", trace.processes) };
    assert_eq!((process.name.as_deref(), process.rank), (Some("python"), Some(3)));
    // 1790857026 s + 1500.001 µs.
    assert_eq!(trace.meta.start_unix_ns, Some(1_790_857_026_001_500_001));
    assert_eq!(trace.meta.resolution_ns, 1);
    assert_eq!(trace.meta.tool.as_deref().map(|tool| tool.contains("torch 2.12")), Some(true));
    let shown = format!("{:?}", trace.meta.properties);
    assert!(
        shown.contains("(\"world_size\", \"8\")") && !shown.contains("secret") && !shown.contains("/home"),
        "{shown}"
    );
}

#[test]
fn absolute_times_are_their_own_wall_clock() {
    let trace = open(
        r#"[{"ph": "X", "cat": "Operator", "name": "a", "pid": 9, "tid": "12", "ts": 1796069471126465, "dur": 2}]"#,
    );
    assert_eq!(trace.meta.start_unix_ns, Some(1_796_069_471_126_465_000));
    assert_eq!(trace.meta.resolution_ns, 1000);
}

#[test]
fn an_empty_list_is_an_empty_trace() {
    check(r#"{"schemaVersion": 1, "traceEvents": []}"#, "");
    assert_eq!(open(r#"{"traceEvents": []}"#).span(), None);
}

#[test]
fn mtia_copies_and_waits_are_no_kernels() {
    check_events(
        r#"{"ph": "X", "cat": "mtia_runtime", "name": "launch", "pid": 9, "tid": 9, "ts": 1, "dur": 1, "args": {"correlation": 5}},
           {"ph": "X", "cat": "mtia_ccp_events", "name": "pe_exe", "pid": 17, "tid": 3910, "ts": 3, "dur": 2, "args": {"stream": 112, "correlation": 5}},
           {"ph": "X", "cat": "mtia_ccp_events", "name": "dma_request", "pid": 17, "tid": 3672, "ts": 5, "dur": 1,
            "args": {"stream": 105, "direction": "DEVICE_TO_HOST", "size": 64}},
           {"ph": "X", "cat": "mtia_ccp_events", "name": "event_wait", "pid": 17, "tid": 3774, "ts": 6, "dur": 1, "args": {"stream": 108}}"#,
        "device 17 None sm=None\n\
         api \"thread 9\" process=9\n  api \"launch\" 0 +1000\n\
         stream \"stream 105\" process=9 device=17\n  memcpy \"dma_request\" 4000 +1000 d2h ?->? bytes=64\n\
         sync \"stream 108\" process=9 device=17\n  sync \"event_wait\" 5000 +1000\n\
         stream \"stream 112\" process=9 device=17\n  kernel \"pe_exe\" 2000 +2000 <- \"launch\" 0\n",
    );
}

#[test]
fn rocm_kernels_borrow_the_shape_of_their_launch() {
    check_events(
        r#"{"ph": "X", "cat": "kernel", "name": "k", "pid": 2, "tid": 0, "ts": 20, "dur": 1, "args": {"device": 2, "stream": 0, "correlation": 8, "kind": "Dispatch Kernel"}},
           {"ph": "X", "cat": "cuda_runtime", "name": "hipLaunchKernel", "pid": 9, "tid": 9, "ts": 10, "dur": 1,
            "args": {"correlation": 8, "grid": [3, 1, 1], "block": [64, 1, 1], "shared memory": 0}}"#,
        "device 2 None sm=None\n\
         api \"thread 9\" process=9\n  api \"hipLaunchKernel\" 0 +1000\n\
         stream \"stream 0\" process=9 device=2\n  kernel \"k\" 10000 +1000 grid=3x1x1 block=64x1x1 shared=0 <- \"hipLaunchKernel\" 0\n",
    );
}

#[test]
fn a_text_has_one_id_however_many_there_are() {
    // More names than a fragment remembers, twice over, in slices and in halves that meet by name.
    let name = |idx: usize| format!("n{idx}");
    let slice = |idx: usize| {
        format!(
            r#"{{"ph":"X","name":"{}","pid":1,"tid":1,"ts":{idx},"dur":1,"cat":"kernel"}}"#,
            name(idx % 9000)
        )
    };
    let half = |phase: &str, idx: usize, ts: usize| {
        format!(r#"{{"ph":"{phase}","name":"{}","pid":1,"tid":2,"ts":{ts}}}"#, name(idx))
    };
    let mut list: Vec<String> = (0..18_000).map(slice).collect();
    list.extend((0..9000).map(|idx| half("B", idx, idx)));
    list.extend((0..9000).map(|idx| half("E", idx, 20_000 + idx)));
    let text = format!("[{}]", list.join(","));
    for plan in [ONE_BLOCK, Plan { block_bytes: 1 << 14, n_workers: 2 }] {
        let trace = open_with(text.as_bytes(), plan).unwrap();
        let mut texts: Vec<&str> = trace.names.iter().map(|(_, text)| text).collect();
        let n_names = texts.len();
        texts.sort_unstable();
        texts.dedup();
        assert_eq!(texts.len(), n_names);
        assert_eq!(trace.slices.len(), 27_000);
        assert!(trace.issues.iter().all(|issue| issue.code != "unmatched_ends"));
    }
}
