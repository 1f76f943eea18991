//! The device half of a chrome trace: CUDA calls, kernels, copies, memsets, and the arrows between them.

use std::io::Write;

use super::cpu::{write_collective, write_name};
use super::{Micros, timestamp};
use crate::synth::api::Library;
use crate::synth::description::{ApiCall, Copy, GpuAnnotation, Kernel, MemoryKind, Memset, PID, Stream};
use crate::synth::hardware::{MAX_THREADS_PER_SM, N_SMS};
use crate::synth::training::Training;
use crate::synth::{SynthError, Written};

/// Above this, Kineto's occupancy comes out as 0: it forgets that a kernel may opt in to more.
const SHARED_LIMIT_BYTES: i64 = 49_152;

/// Returns when the run ended.
pub(super) fn write(
    training: &mut Training,
    out: &mut impl Write,
    written: &mut Written,
) -> Result<i64, SynthError> {
    while training.next_step() {
        let step = training.step();
        for call in &step.api_calls {
            write_call(call, out)?;
        }
        for kernel in &step.kernels {
            write_kernel(kernel, out)?;
        }
        for copy in &step.copies {
            write_copy(copy, out)?;
        }
        for memset in &step.memsets {
            write_memset(memset, out)?;
        }
        for annotation in &step.gpu_annotations {
            write_annotation(annotation, out)?;
        }
        written.n_kernels += step.kernels.len() as u64;
        let n_device_slices =
            step.kernels.len() + step.copies.len() + step.memsets.len() + step.gpu_annotations.len();
        written.n_slices += (step.api_calls.len() + n_device_slices) as u64;
    }
    Ok(training.now_ns())
}

fn write_call(call: &ApiCall, out: &mut impl Write) -> Result<(), SynthError> {
    let category = match call.api.library() {
        Library::Runtime => "cuda_runtime",
        Library::Driver => "cuda_driver",
    };
    let tid = call.thread.tid();
    let ts = timestamp(call.start_ns);
    let name = call.api.name();
    write!(
        out,
        "  {{\n    \"ph\": \"X\", \"cat\": \"{category}\", \"name\": \"{name}\", \"pid\": {PID}, \
         \"tid\": {tid},\n    \"ts\": {ts}, \"dur\": {},\n    \"args\": {{\n      ",
        Micros(call.dur_ns)
    )?;
    write_op_id(call.op_id, out)?;
    write!(out, "\"cbid\": {}, \"correlation\": {}\n    }}\n  }},\n", call.api.cbid(), call.correlation)?;
    if call.api.enqueues_work() {
        write!(
            out,
            "  {{\n    \"ph\": \"s\", \"id\": {}, \"pid\": {PID}, \"tid\": {tid}, \"ts\": {ts},\n    \
             \"cat\": \"ac2g\", \"name\": \"ac2g\"\n  }},\n",
            call.correlation
        )?;
    }
    Ok(())
}

fn write_kernel(kernel: &Kernel, out: &mut impl Write) -> Result<(), SynthError> {
    let spec = kernel.spec;
    write_device_start("kernel", kernel.stream, kernel.start_ns, kernel.dur_ns, spec.name, out)?;
    write_op_id(kernel.op_id, out)?;
    let [grid_x, grid_y, grid_z] = kernel.grid;
    let [block_x, block_y, block_z] = spec.block;
    let threads = spec.threads_per_block();
    // Kineto computes in f32 and prints six decimals.
    let blocks_per_sm = (grid_x * grid_y * grid_z) as f32 / N_SMS as f32;
    let warps_per_sm = blocks_per_sm * (threads as f32 / 32.0);
    let resident_blocks = f64::from(blocks_per_sm).min(spec.blocks_per_sm as f64);
    let occupancy = 100.0 * resident_blocks * threads as f64 / MAX_THREADS_PER_SM as f64;
    let percent = if SHARED_LIMIT_BYTES < spec.shared_bytes() { 0 } else { (occupancy + 0.5) as i64 };
    write!(
        out,
        "\"queued\": 0, \"device\": 0, \"context\": 1,      \"stream\": {}, \"correlation\": {},      \
         \"registers per thread\": {},      \"shared memory\": {},      \"blocks per SM\": \
         {blocks_per_sm:.6},      \"warps per SM\": {warps_per_sm:.6},      \"grid\": [{grid_x}, {grid_y}, \
         {grid_z}],      \"block\": [{block_x}, {block_y}, {block_z}],      \"est. achieved occupancy %\": \
         {}",
        kernel.stream.id(),
        kernel.correlation,
        spec.registers,
        spec.shared_bytes(),
        percent.min(100),
    )?;
    if let Some(n_elems) = kernel.collective_n_elems {
        out.write_all(b", ")?;
        write_collective(n_elems, out)?;
    }
    out.write_all(b"\n    }\n  },\n")?;
    write_arrow_end(kernel.correlation, kernel.stream, kernel.start_ns, out)
}

fn write_copy(copy: &Copy, out: &mut impl Write) -> Result<(), SynthError> {
    let direction = if copy.to == MemoryKind::Device { "HtoD" } else { "DtoH" };
    let name = format!("Memcpy {direction} ({} -> {})", copy.from.word(), copy.to.word());
    write_device_start("gpu_memcpy", copy.stream, copy.start_ns, copy.dur_ns, &name, out)?;
    write_op_id(copy.op_id, out)?;
    write_bytes(copy.stream, copy.correlation, copy.size_bytes, copy.dur_ns, out)?;
    write_arrow_end(copy.correlation, copy.stream, copy.start_ns, out)
}

fn write_memset(memset: &Memset, out: &mut impl Write) -> Result<(), SynthError> {
    let Memset { stream, start_ns, dur_ns, .. } = *memset;
    write_device_start("gpu_memset", stream, start_ns, dur_ns, "Memset (Device)", out)?;
    write_op_id(memset.op_id, out)?;
    write_bytes(stream, memset.correlation, memset.size_bytes, dur_ns, out)?;
    write_arrow_end(memset.correlation, stream, start_ns, out)
}

fn write_annotation(annotation: &GpuAnnotation, out: &mut impl Write) -> Result<(), SynthError> {
    let stream = annotation.stream.id();
    // Kineto widens an annotation by 1 ns before and 2 ns behind, so that it encloses its kernels.
    let start_ns = annotation.start_ns - 1;
    let dur_ns = annotation.end_ns + 2 - start_ns;
    out.write_all(b"  {\n    \"ph\": \"X\", \"cat\": \"gpu_user_annotation\", \"name\": \"")?;
    write_name(annotation.name, out)?;
    write!(
        out,
        "\", \"pid\": 0, \"tid\": {stream},\n    \"ts\": {}, \"dur\": {},\n    \"args\": {{\n      \
         \"External id\": {}\n    }}\n  }},\n",
        timestamp(start_ns),
        Micros(dur_ns),
        annotation.op_id
    )?;
    Ok(())
}

/// The beginning of an event on a stream, up to its arguments.
fn write_device_start(
    category: &str,
    stream: Stream,
    start_ns: i64,
    dur_ns: i64,
    name: &str,
    out: &mut impl Write,
) -> Result<(), SynthError> {
    write!(
        out,
        "  {{\n    \"ph\": \"X\", \"cat\": \"{category}\", \"name\": \"{name}\", \"pid\": 0, \"tid\": {},\n    \
         \"ts\": {}, \"dur\": {},\n    \"args\": {{\n      ",
        stream.id(),
        timestamp(start_ns),
        Micros(dur_ns)
    )?;
    Ok(())
}

fn write_bytes(
    stream: Stream,
    correlation: i64,
    size_bytes: i64,
    dur_ns: i64,
    out: &mut impl Write,
) -> Result<(), SynthError> {
    write!(
        out,
        "\"device\": 0, \"context\": 1,      \"stream\": {}, \"correlation\": {correlation},      \
         \"bytes\": {size_bytes}, \"memory bandwidth (GB/s)\": {}\n    }}\n  }},\n",
        stream.id(),
        size_bytes as f64 / dur_ns as f64
    )?;
    Ok(())
}

fn write_op_id(op_id: Option<i64>, out: &mut impl Write) -> Result<(), SynthError> {
    if let Some(op_id) = op_id {
        write!(out, "\"External id\": {op_id},      ")?;
    }
    Ok(())
}

fn write_arrow_end(
    correlation: i64,
    stream: Stream,
    start_ns: i64,
    out: &mut impl Write,
) -> Result<(), SynthError> {
    write!(
        out,
        "  {{\n    \"ph\": \"f\", \"id\": {correlation}, \"pid\": 0, \"tid\": {}, \"ts\": {},\n    \
         \"cat\": \"ac2g\", \"name\": \"ac2g\", \"bp\": \"e\"\n  }},\n",
        stream.id(),
        timestamp(start_ns)
    )?;
    Ok(())
}
