//! One small file of each tool that writes such traces.

use super::{check, check_events, open};

/// The `_cuspy` back-end of torch 2.15: bare names, and counters without a key.
#[test]
fn cuspy_says_in_arguments_what_kineto_says_in_names() {
    check_events(
        r#"{"ph": "X", "cat": "cuda_runtime", "name": "cudaMemcpyAsync", "pid": 9, "tid": 9, "ts": 1.000, "dur": 2.000, "args": {"correlation": 4}},
           {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy", "pid": 0, "tid": 7, "ts": 5.000, "dur": 1.000,
            "args": {"device": 0, "stream": 7, "correlation": 4, "bytes": 64, "copy kind": "HtoD", "src kind": "pageable", "dst kind": "device"}},
           {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 7.000, "dur": 1.000,
            "args": {"device": 0, "stream": 7, "correlation": 5, "grid": [2, 1, 1], "block": [32, 1, 1], "occupancy": {"limitingFactors": "WARPS|REGS"}}},
           {"ph": "C", "name": "Power (W)", "pid": "GPU 0 Counters", "ts": 6.000, "args": {"": 312.5}}"#,
        "device 0 None sm=None\n\
         api \"thread 9\" process=9\n  api \"cudaMemcpyAsync\" 0 +2000\n\
         stream \"stream 7\" process=9 device=0\n\
         \x20 memcpy \"Memcpy\" 4000 +1000 h2d pageable->device bytes=64 <- \"cudaMemcpyAsync\" 0\n\
         \x20 kernel \"k\" 6000 +1000 grid=2x1x1 block=32x1x1\n\
         counter \"Power (W)\" device=0 unit=W\n  5000 = 312.5\n",
    );
}

/// XPU: Level Zero calls launch; kernels have a queue, which is their thread, and no stream.
#[test]
fn xpu_kernels_lie_on_their_queue() {
    check_events(
        r#"{"ph": "X", "cat": "xpu_runtime", "name": "urEnqueueKernelLaunch", "pid": 9, "tid": 9, "ts": 1, "dur": 1, "args": {"correlation": 3}},
           {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 2, "ts": 4, "dur": 5,
            "args": {"device": 0, "context": 1, "sycl queue": 2, "correlation": 3, "kernel_id": 8}},
           {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy M2D (Host -> Device)", "pid": 0, "tid": 2, "ts": 10, "dur": 1,
            "args": {"device": 0, "sycl queue": 2, "bytes": 8}},
           {"ph": "X", "cat": "xpu_sync", "name": "wait", "pid": 0, "tid": 2, "ts": 12, "dur": 1, "args": {"device": 0}}"#,
        "device 0 None sm=None\n\
         api \"thread 9\" process=9\n  api \"urEnqueueKernelLaunch\" 0 +1000\n\
         stream \"stream 2\" process=9 device=0\n  kernel \"gemm\" 3000 +5000 <- \"urEnqueueKernelLaunch\" 0\n\
         \x20 memcpy \"Memcpy M2D (Host -> Device)\" 9000 +1000 h2d ?->device bytes=8\n\
         sync \"stream 2\" process=9 device=0\n  sync \"wait\" 11000 +1000\n",
    );
}

/// Back-ends that register themselves, and Habana's own category.
#[test]
fn other_accelerators_launch_and_run() {
    let trace = open(
        r#"[{"ph": "X", "cat": "privateuse1_runtime", "name": "launch", "pid": 9, "tid": 9, "ts": 1, "dur": 1, "args": {"correlation": 3}},
            {"ph": "X", "cat": "hpu_op", "name": "mme", "pid": 0, "tid": 1, "ts": 4, "dur": 5, "args": {"stream": 1, "correlation": 3}},
            {"ph": "X", "cat": "collective_comm", "name": "allreduce", "pid": 0, "tid": 2, "ts": 9, "dur": 5, "args": {"stream": 2}}]"#,
    );
    use tracecard_model::SliceKind::{Api, Kernel};
    assert_eq!(trace.slices.kinds(), [Api, Kernel, Kernel]);
    assert_eq!(trace.links.rows().len(), 1);
}

/// T53: Ascend's `trace_view.json`: a list, times as texts, categories of its own: plain slices on their threads.
#[test]
fn ascend_opens_as_plain_slices() {
    check(
        r#"[{"ph": "M", "name": "process_name", "pid": 31, "tid": 0, "args": {"name": "Ascend Hardware"}},
            {"ph": "M", "name": "thread_name", "pid": 31, "tid": 2, "args": {"name": "Stream 2"}},
            {"ph": "X", "name": "MatMul", "pid": 31, "tid": 2, "ts": "1700000000000001.500", "dur": 10.24, "args": {"Task Type": "AI_CORE", "connection_id": "4294967296"}},
            {"ph": "X", "name": "Enqueue", "cat": "enqueue", "pid": 9, "tid": 9, "ts": "1700000000000000.000", "dur": "0.500"},
            {"ph": "s", "cat": "async_npu", "name": "async_npu", "id": "7206196384573440001", "pid": 9, "tid": 9, "ts": "1700000000000000.000"}]"#,
        "other \"thread 9\" process=9\n  other \"Enqueue\" 0 +500\n\
         other \"Stream 2\" process=31\n  other \"MatMul\" 1500 +10240\n\
         issue info times_as_text ×2\n",
    );
}

/// JAX and TensorFlow (XLA): no categories, names first, an empty object last.
#[test]
fn xla_opens_as_plain_slices() {
    check(
        r#"{"displayTimeUnit": "ns", "metadata": {"highres-ticks": true}, "traceEvents": [
            {"args": {"name": "/device:GPU:0"}, "name": "process_name", "ph": "M", "pid": 1},
            {"args": {"sort_index": 1}, "name": "process_sort_index", "ph": "M", "pid": 1},
            {"args": {"name": "Stream #20(Compute)"}, "name": "thread_name", "ph": "M", "pid": 1, "tid": 20},
            {"args": {"correlation_id": "3", "hlo_op": "dot.1"}, "dur": 12.25, "name": "gemm", "ph": "X", "pid": 1, "tid": 20, "ts": 1048.5},
            {"dur": 20, "name": "PjitFunction(f)", "ph": "X", "pid": 701, "tid": 5, "ts": 1040},
            {}]}"#,
        "other \"Stream #20(Compute)\" process=1\n  other \"gemm\" 8500 +12250\n\
         other \"thread 5\" process=701\n  other \"PjitFunction(f)\" 0 +20000\n",
    );
}

/// Chrome, Perfetto's converters, tools that turn nsys reports into JSON: any order, any phase.
#[test]
fn generic_traces_open_as_plain_slices() {
    check(
        r#"{"otherData": {"version": "x"}, "traceEvents": [
            {"name": "late", "cat": "gpu_kernel", "ph": "X", "ts": 50, "dur": 1, "pid": "CUDA 0", "tid": "Stream 7"},
            {"name": "early", "cat": "nvtx", "ph": "X", "ts": 10, "dur": 30, "pid": "CUDA 0", "tid": "NVTX"},
            {"name": "mark", "ph": "I", "ts": 20, "pid": "CUDA 0", "tid": "NVTX"},
            {"name": "sample", "ph": "P", "ts": 20, "pid": "CUDA 0", "tid": "NVTX"},
            {"name": "object", "ph": "N", "id": 1, "ts": 20, "pid": "CUDA 0", "tid": "NVTX"}]}"#,
        "other \"thread NVTX\" process=CUDA 0\n  other \"early\" 0 +30000\n  mark \"mark\" 10000\n\
         other \"thread Stream 7\" process=CUDA 0\n  other \"late\" 40000 +1000\n\
         issue info events_ignored ×2\n",
    );
}

/// Events out of order: what a slice lies in does not depend on where it stands in the file.
#[test]
fn the_order_of_events_does_not_matter() {
    let events = [super::op("outer", "1", "9"), super::op("inner", "2", "3"), super::op("last", "6", "1")];
    let expected = "ops \"thread 9\" process=9\n  op \"outer\" 0 +9000 self=5000\n    op \"inner\" 1000 +3000\n    op \"last\" 5000 +1000\n";
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0], [2, 0, 1]] {
        check_events(&order.map(|i: usize| events[i].clone()).join(","), expected);
    }
}
