//! The tables about the capture itself: machine, process, threads, export and messages.

use rusqlite::{Connection, params};

use super::strings::Strings;
use super::{GLOBAL_PID, GLOBAL_VID, global_tid};
use crate::synth::SynthError;
use crate::synth::config::Config;
use crate::synth::description::{PID, Stream, Thread};
use crate::synth::hardware::{MEMORY_BYTES_PER_S, N_SMS, TOTAL_MEMORY_BYTES};
use crate::synth::training::{N_RANKS, SESSION_START_UTC, SESSION_START_UTC_NS};

/// The machine's monotonic clock at the start of the session.
const SYSTEM_CLOCK_NS: i64 = 918_273_645_546_372;
/// Messages whose sender is no process.
const PROFILER_GLOBAL_ID: i64 = -144_115_188_075_855_872;

const EXPORT: [(&str, &str); 17] = [
    ("EXPORT_PRODUCT_NAME", "NVIDIA Nsight Systems"),
    ("EXPORT_PRODUCT_VERSION", "2026.1.1.204"),
    ("EXPORT_PRODUCT_DATE", "2026.1"),
    ("EXPORT_SCHEMA_VERSION", "3.24.14"),
    ("EXPORT_SCHEMA_VERSION_MAJOR", "3"),
    ("EXPORT_SCHEMA_VERSION_MINOR", "24"),
    ("EXPORT_SCHEMA_VERSION_MICRO", "14"),
    ("EXPORT_PLATFORM", "linux-desktop"),
    ("EXPORT_ARCH", "x64"),
    ("EXPORT_PARAM_EXPORT_TYPE", "SQLite"),
    ("EXPORT_PARAM_LAZY", "true"),
    ("EXPORT_PARAM_INCLUDE_JSON", "false"),
    ("EXPORT_PARAM_INCLUDE_BLOBS", "false"),
    ("EXPORT_PARAM_TIME_NORMALIZE", "false"),
    ("EXPORT_PARAM_TIME_SHIFT", "0"),
    ("EXPORT_PARAM_TABLES_TO_EXPORT", ""),
    ("EXPORT_PARAM_TIMES_TO_EXPORT", ""),
];

const CAPTURE: [(&str, &str); 9] = [
    ("DEVICE_DISPLAY_NAME", "synthetic"),
    ("CAPTURE_EVENT_TYPE", "OSRuntime"),
    ("CAPTURE_EVENT_TYPE", "NvtxEvents"),
    ("CAPTURE_EVENT_TYPE", "Cuda"),
    ("START_TRIGGER", "CudaProfilerApi"),
    ("STOP_TRIGGER", "CudaProfilerApi"),
    ("DEVICE_TYPE", "Unix"),
    ("CUDA_GRAPH_TRACE_OPTIONS:MODE", "Graph"),
    ("COLLECT_GPU_MEMORY_USAGE", "true"),
];

pub(super) fn write(
    conn: &Connection,
    config: &Config,
    end_ns: i64,
    strings: &mut Strings,
) -> Result<(), SynthError> {
    conn.execute(
        "INSERT INTO ANALYSIS_DETAILS VALUES (?1, ?2, ?3, ?4)",
        (GLOBAL_VID, end_ns, SYSTEM_CLOCK_NS, SYSTEM_CLOCK_NS + end_ns),
    )?;
    conn.execute(
        "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (?1, ?2, ?2, ?3)",
        (SESSION_START_UTC_NS, SESSION_START_UTC, SYSTEM_CLOCK_NS),
    )?;
    write_pairs(conn, "INSERT INTO META_DATA_EXPORT VALUES (?1, ?2)", &EXPORT)?;
    write_pairs(conn, "INSERT INTO META_DATA_CAPTURE VALUES (?1, ?2)", &CAPTURE)?;
    write_devices(conn)?;
    conn.execute("INSERT INTO PROCESSES VALUES (?1, ?2, 'python')", (GLOBAL_PID, PID))?;
    let mut thread_name = conn.prepare("INSERT INTO ThreadNames VALUES (?1, 20, ?2)")?;
    for thread in Thread::ALL {
        thread_name.execute((strings.id(thread.name()), global_tid(thread)))?;
    }
    write_messages(conn, config, end_ns)
}

fn write_pairs(conn: &Connection, sql: &str, pairs: &[(&str, &str)]) -> Result<(), SynthError> {
    let mut insert = conn.prepare(sql)?;
    for pair in pairs {
        insert.execute(*pair)?;
    }
    Ok(())
}

fn write_devices(conn: &Connection) -> Result<(), SynthError> {
    let mut gpu = conn.prepare(
        "INSERT INTO TARGET_INFO_GPU VALUES (?1, ?2, 'NVIDIA H100 80GB HBM3', ?3, 1, 52428800, ?4, ?5,
             1980000000, ?6, ?2, NULL, 0, 'GH100', ?2, NULL, NULL, 161, 0, 65536, 4, 65536, 49152, 232448,
             233472, 65536, 32, 3, 64, 32, 1024, 1024, 1024, 64, 2147483647, 65535, 65535, 9, 0, 9, 0)",
    )?;
    for gpu_id in 0..N_RANKS {
        let bus = format!("0000:{:02x}:00.0", 0x19 + 0x11 * gpu_id);
        gpu.execute(params![GLOBAL_VID, gpu_id, bus, TOTAL_MEMORY_BYTES, MEMORY_BYTES_PER_S, N_SMS])?;
    }
    conn.execute("INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (0, 0, ?1, NULL, ?2)", (PID, N_SMS))?;
    conn.execute("INSERT INTO TARGET_INFO_CUDA_CONTEXT_INFO VALUES (7, 0, 1, ?1, 0, 1, 0, 0, 0)", [PID])?;
    let mut stream = conn.prepare("INSERT INTO TARGET_INFO_CUDA_STREAM VALUES (?1, 0, 1, ?2, 1, 0, ?3)")?;
    // Flags: 2 is non-blocking, 3 the null stream.
    stream.execute((Stream::Comm.id(), PID, 2))?;
    stream.execute((Stream::Compute.id(), PID, 3))?;
    Ok(())
}

fn write_messages(conn: &Connection, config: &Config, end_ns: i64) -> Result<(), SynthError> {
    let mut insert = conn.prepare("INSERT INTO DIAGNOSTIC_EVENT VALUES (?1, ?2, ?3, 1, ?4, ?5)")?;
    let origin = format!(
        "Synthetic trace: written by the Tracecard synthesiser from seed {}, not measured.",
        config.seed
    );
    insert.execute((0, 1, 3, "Profiling has started.", PROFILER_GLOBAL_ID))?;
    insert.execute((0, 1, 3, origin, PROFILER_GLOBAL_ID))?;
    insert.execute((310_402, 1, 1, "CUDA injection initialized successfully.", GLOBAL_PID))?;
    insert.execute((end_ns, 1, 3, "Profiling has stopped.", PROFILER_GLOBAL_ID))?;
    Ok(())
}
