//! The tables of what CUPTI traces: kernels, calls, copies, waits and memory; and the C library's calls.

use rusqlite::{Connection, params};

use super::strings::Strings;
use super::{GLOBAL_PID, global_tid};
use crate::synth::api::Library;
use crate::synth::description::MemoryKind;
use crate::synth::hardware::{MAX_THREADS_PER_SM, N_SMS};
use crate::synth::kernel_catalog::KernelSpec;
use crate::synth::training::Training;
use crate::synth::{SynthError, Written};

/// Local memory the driver reserves for every thread that can be resident.
const LOCAL_MEMORY_TOTAL_BYTES: i64 = N_SMS * MAX_THREADS_PER_SM * 1_024;
/// "No event" in CUPTI's synchronisation records.
const NO_EVENT: i64 = 0xffff_ffff;
/// What exports of schema 3.24 store for `cudaStreamSynchronize`, against their own enumeration.
const STREAM_SYNC: i64 = 2;

/// The kernels.
pub(super) fn write_kernels(
    conn: &Connection,
    training: &mut Training,
    strings: &mut Strings,
    written: &mut Written,
) -> Result<(), SynthError> {
    let mut insert = conn.prepare(
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, greenContextId, streamId,
             correlationId, globalPid, demangledName, shortName, mangledName, launchType, cacheConfig,
             registersPerThread, gridX, gridY, gridZ, blockX, blockY, blockZ, staticSharedMemory,
             dynamicSharedMemory, localMemoryPerThread, localMemoryTotal, gridId, sharedMemoryExecuted,
             sharedMemoryLimitConfig, clusterX, clusterY, clusterZ, clusterSchedulingPolicy,
             maxPotentialClusterSize, maxActiveClusters)
         VALUES (?1, ?2, 0, 1, 0, ?3, ?4, ?5, ?6, ?7, NULL, 1, 1, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, 0,
             ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26)",
    )?;
    while training.next_step() {
        for kernel in &training.step().kernels {
            let spec = kernel.spec;
            let [cluster_x, cluster_y, cluster_z] = spec.cluster;
            let cluster_blocks = cluster_x * cluster_y * cluster_z;
            let is_clustered = 0 < cluster_blocks;
            insert.execute(params![
                kernel.start_ns,
                kernel.start_ns + kernel.dur_ns,
                kernel.stream.id(),
                kernel.correlation,
                GLOBAL_PID,
                strings.id(spec.name),
                strings.id(spec.short_name),
                spec.registers,
                kernel.grid[0],
                kernel.grid[1],
                kernel.grid[2],
                spec.block[0],
                spec.block[1],
                spec.block[2],
                spec.static_shared_bytes,
                spec.dynamic_shared_bytes,
                LOCAL_MEMORY_TOTAL_BYTES,
                kernel.grid_id,
                shared_bytes_executed(spec),
                i64::from(49_152 < spec.shared_bytes()),
                cluster_x,
                cluster_y,
                cluster_z,
                i64::from(is_clustered),
                if is_clustered { 16 } else { 0 },
                if is_clustered { N_SMS / cluster_blocks } else { 0 },
            ])?;
            written.n_kernels += 1;
            written.n_slices += 1;
        }
    }
    Ok(())
}

/// The shared memory the driver sets aside on a multiprocessor: the smallest carve-out that fits the
/// resident blocks, 1 KiB each for the system.
fn shared_bytes_executed(spec: &KernelSpec) -> i64 {
    const CARVE_OUTS_KIB: [i64; 9] = [8, 16, 32, 64, 100, 132, 164, 196, 228];
    let wanted_bytes = (spec.shared_bytes() + 1_024) * spec.blocks_per_sm.min(2);
    let fitting = CARVE_OUTS_KIB.into_iter().map(|kib| kib * 1_024).find(|size| wanted_bytes <= *size);
    fitting.unwrap_or(228 * 1_024)
}

/// The calls of the runtime and the driver.
pub(super) fn write_calls(
    conn: &Connection,
    training: &mut Training,
    strings: &mut Strings,
    written: &mut Written,
) -> Result<(), SynthError> {
    let mut insert = conn.prepare(
        "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME
             (start, end, eventClass, globalTid, correlationId, nameId, returnValue)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    while training.next_step() {
        for call in &training.step().api_calls {
            let event_class = match call.api.library() {
                Library::Runtime => 0,
                Library::Driver => 1,
            };
            insert.execute(params![
                call.start_ns,
                call.start_ns + call.dur_ns,
                event_class,
                global_tid(call.thread),
                call.correlation,
                strings.id(call.api.versioned_name()),
                call.return_value,
            ])?;
            written.n_slices += 1;
        }
    }
    Ok(())
}

/// The tables with few rows. Returns when the run ended.
pub(super) fn write_small(
    conn: &Connection,
    training: &mut Training,
    strings: &mut Strings,
    written: &mut Written,
) -> Result<i64, SynthError> {
    let mut copy = conn.prepare(
        "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, contextId, greenContextId, streamId,
             correlationId, globalPid, bytes, copyKind, srcKind, dstKind, copyCount)
         VALUES (?1, ?2, 0, 1, 0, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 1)",
    )?;
    let mut memset = conn.prepare(
        "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET (start, end, deviceId, contextId, greenContextId, streamId,
             correlationId, globalPid, value, bytes, memKind)
         VALUES (?1, ?2, 0, 1, 0, ?3, ?4, ?5, 0, ?6, 2)",
    )?;
    let mut sync = conn.prepare(
        "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start, end, deviceId, contextId, streamId,
             correlationId, globalPid, syncType, eventId, eventSyncId)
         VALUES (?1, ?2, 0, 1, ?3, ?4, ?5, ?6, ?7, 0)",
    )?;
    let mut event = conn.prepare(
        "INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT (timestamp, deviceId, contextId, greenContextId, streamId,
             correlationId, globalPid, eventId, eventSyncId)
         VALUES (0, 0, 1, 0, ?1, ?2, ?3, ?4, ?5)",
    )?;
    let mut os_call = conn.prepare(
        "INSERT INTO OSRT_API (start, end, eventClass, globalTid, nameId, returnValue, nestingLevel,
             callchainId, argumentsId)
         VALUES (?1, ?2, 27, ?3, ?4, 0, 0, 0, 0)",
    )?;
    let mut segment = conn.prepare(
        "INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS (start, globalPid, deviceId, contextId, address, pc, bytes,
             memKind, memoryOperationType, correlationId)
         VALUES (?1, ?2, 0, 1, ?3, 0, ?4, 2, 0, ?5)",
    )?;
    while training.next_step() {
        let step = training.step();
        for c in &step.copies {
            let copy_kind = if c.to == MemoryKind::Device { 1 } else { 2 };
            let end_ns = c.start_ns + c.dur_ns;
            let (from, to) = (c.from.nsys_value(), c.to.nsys_value());
            let stream_id = c.stream.id();
            copy.execute(params![
                c.start_ns,
                end_ns,
                stream_id,
                c.correlation,
                GLOBAL_PID,
                c.size_bytes,
                copy_kind,
                from,
                to,
            ])?;
        }
        for m in &step.memsets {
            let end_ns = m.start_ns + m.dur_ns;
            memset.execute((m.start_ns, end_ns, m.stream.id(), m.correlation, GLOBAL_PID, m.size_bytes))?;
        }
        for s in &step.syncs {
            let end_ns = s.start_ns + s.dur_ns;
            let stream_id = s.stream.id();
            sync.execute((s.start_ns, end_ns, stream_id, s.correlation, GLOBAL_PID, STREAM_SYNC, NO_EVENT))?;
        }
        for e in &step.event_records {
            event.execute((e.stream.id(), e.correlation, GLOBAL_PID, e.event_id, e.event_sync_id))?;
        }
        for o in &step.os_calls {
            let end_ns = o.start_ns + o.dur_ns;
            os_call.execute((o.start_ns, end_ns, global_tid(o.thread), strings.id(o.name)))?;
        }
        for s in &step.segments {
            segment.execute((s.time_ns, GLOBAL_PID, s.addr, s.size_bytes, s.correlation))?;
        }
        let n_slices = step.copies.len() + step.memsets.len() + step.syncs.len() + step.os_calls.len();
        written.n_slices += n_slices as u64;
        written.n_points += (step.event_records.len() + step.segments.len()) as u64;
    }
    Ok(training.now_ns())
}
