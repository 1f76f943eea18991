//! What stands around the events of a chrome trace: properties before, names and marks behind.

use std::io::Write;

use super::{BASE_NS, Micros, timestamp};
use crate::synth::SynthError;
use crate::synth::config::Config;
use crate::synth::description::{PID, Stream, Thread};
use crate::synth::hardware::{N_SMS, TOTAL_MEMORY_BYTES};
use crate::synth::training::N_RANKS;

/// Kineto names the rows of this many devices, whether they exist or not.
const N_NAMED_DEVICES: i64 = 16;
/// When the profiler's own span begins: a little before the first event.
const SPAN_START_NS: i64 = 11_000_000;

/// Everything up to the first event.
pub(super) fn write_head(config: &Config, out: &mut impl Write) -> Result<(), SynthError> {
    out.write_all(b"\n  {\n    \"schemaVersion\": 1,\n    \"deviceProperties\": [\n")?;
    for device in 0..N_RANKS {
        let comma = if device + 1 < N_RANKS { "," } else { "" };
        write!(
            out,
            "    {{\n      \"id\": {device}, \"name\": \"NVIDIA H100 80GB HBM3\", \"totalGlobalMem\": \
             {TOTAL_MEMORY_BYTES},\n      \"computeMajor\": 9, \"computeMinor\": 0,\n      \
             \"maxThreadsPerBlock\": 1024, \"maxThreadsPerMultiprocessor\": 2048,\n      \
             \"regsPerBlock\": 65536, \"warpSize\": 32,\n      \"sharedMemPerBlock\": 49152, \"numSms\": \
             {N_SMS}\n    , \"regsPerMultiprocessor\": 65536, \"sharedMemPerBlockOptin\": 232448, \
             \"sharedMemPerMultiprocessor\": 233472\n    }}{comma}\n"
        )?;
    }
    write!(
        out,
        "    ],\n      \"cupti_version\": 26,\n      \"cuda_runtime_version\": 12080,\n      \
         \"cuda_driver_version\": 12080,\n      \"distributedInfo\": {{\"backend\": \"nccl\", \"rank\": 0, \
         \"world_size\": {N_RANKS}, \"pg_count\": 1, \"pg_config\": [{{\"pg_name\": \"0\", \"pg_desc\": \
         \"default_pg\", \"backend_config\": \"cuda:nccl\", \"pg_size\": {N_RANKS}, \"ranks\": [0, 1, 2, 3, \
         4, 5, 6, 7]}}], \"nccl_version\": \"2.27.5\"}},\n"
    )?;
    if config.records_shapes {
        out.write_all(b"      \"record_shapes\": 1,\n")?;
    }
    if config.records_memory {
        out.write_all(b"      \"profile_memory\": 1,\n")?;
    }
    write!(
        out,
        "      \"synthetic\": \"written by the Tracecard synthesiser from seed {}, not measured\",\n      \
         \"trace_id\": \"{:032X}\",\n  \"displayTimeUnit\": \"ms\",\n  \"baseTimeNanoseconds\": {BASE_NS},\n  \
         \"traceEvents\": [\n",
        config.seed, config.seed
    )?;
    Ok(())
}

/// Everything behind the last event.
pub(super) fn write_tail(end_ns: i64, out: &mut impl Write) -> Result<(), SynthError> {
    write_process(PID, "CPU", PID, out)?;
    for device in 0..N_NAMED_DEVICES {
        write_process(device, &format!("GPU {device}"), 5_000_000 + device, out)?;
    }
    for stream in [Stream::Compute, Stream::Comm] {
        write_thread(0, stream.id(), &format!("stream {} ", stream.id()), out)?;
    }
    for thread in Thread::ALL {
        write_thread(PID, thread.tid(), &format!("thread {} ({})", thread.tid(), thread.name()), out)?;
    }
    let start = timestamp(SPAN_START_NS);
    write!(
        out,
        "  {{\n    \"ph\": \"X\", \"cat\": \"Trace\", \"ts\": {start}, \"dur\": {},\n    \"pid\": \"Spans\", \
         \"tid\": \"PyTorch Profiler\",\n    \"name\": \"PyTorch Profiler (0)\",\n    \"args\": {{\n      \
         \"Op count\": 0\n    }}\n  }},\n  {{\n    \"name\": \"process_sort_index\", \"ph\": \"M\", \"ts\": \
         {start},\n    \"pid\": \"Spans\", \"tid\": 0,\n    \"args\": {{\n      \"sort_index\": 536870912\n    \
         }}\n  }},\n  {{\n    \"name\": \"Iteration Start: PyTorch Profiler\", \"ph\": \"i\", \"s\": \"g\",\n    \
         \"pid\": \"Traces\", \"tid\": \"Trace PyTorch Profiler\", \"ts\": {start}\n  }},\n  {{\n    \"name\": \
         \"Record Window End\", \"ph\": \"i\", \"s\": \"g\",\n    \"pid\": \"\", \"tid\": \"\", \"ts\": {}\n  \
         }}\n  ],\n  \"traceName\": \"h100_training.json\"\n}}\n",
        Micros(end_ns - SPAN_START_NS),
        timestamp(end_ns)
    )?;
    Ok(())
}

fn write_process(pid: i64, label: &str, sort_index: i64, out: &mut impl Write) -> Result<(), SynthError> {
    write_metadata("process_name", pid, 0, "name", "\"python\"", out)?;
    write_metadata("process_labels", pid, 0, "labels", &format!("\"{label}\""), out)?;
    write_metadata("process_sort_index", pid, 0, "sort_index", &sort_index.to_string(), out)
}

fn write_thread(pid: i64, tid: i64, name: &str, out: &mut impl Write) -> Result<(), SynthError> {
    write_metadata("thread_name", pid, tid, "name", &format!("\"{name}\""), out)?;
    write_metadata("thread_sort_index", pid, tid, "sort_index", &tid.to_string(), out)
}

fn write_metadata(
    name: &str,
    pid: i64,
    tid: i64,
    key: &str,
    value: &str,
    out: &mut impl Write,
) -> Result<(), SynthError> {
    let ts = timestamp(SPAN_START_NS);
    write!(
        out,
        "  {{\n    \"name\": \"{name}\", \"ph\": \"M\", \"ts\": {ts}, \"pid\": {pid}, \"tid\": {tid},\n    \
         \"args\": {{\n      \"{key}\": {value}\n    }}\n  }},\n"
    )?;
    Ok(())
}
