//! The CPU half of a chrome trace: operators, annotations, forward-to-backward arrows, tensor memory.

use std::io::Write;

use super::{Micros, timestamp};
use crate::synth::description::{Autograd, Flow, Name, Op, OpKind, PID, TensorEvent};
use crate::synth::signature::Signatures;
use crate::synth::training::{N_RANKS, Training};
use crate::synth::{SynthError, Written};

pub(super) fn write(
    training: &mut Training,
    out: &mut impl Write,
    written: &mut Written,
) -> Result<(), SynthError> {
    let mut event_idx = 0;
    let records_shapes = training.config.records_shapes;
    let records_memory = training.config.records_memory;
    while training.next_step() {
        let step = training.step();
        for op in &step.ops {
            write_op(op, records_shapes.then_some(&training.signatures), event_idx, out)?;
            event_idx += 1;
        }
        written.n_slices += step.ops.len() as u64;
        if records_memory {
            for event in &step.tensor_events {
                write_memory(event, event_idx, out)?;
                event_idx += 1;
            }
            written.n_points += step.tensor_events.len() as u64;
        }
    }
    Ok(())
}

fn write_op(
    op: &Op,
    signatures: Option<&Signatures>,
    event_idx: i64,
    out: &mut impl Write,
) -> Result<(), SynthError> {
    let category = match op.kind {
        OpKind::Operator => "cpu_op",
        OpKind::Annotation => "user_annotation",
    };
    let tid = op.thread.tid();
    let ts = timestamp(op.start_ns);
    write!(out, "  {{\n    \"ph\": \"X\", \"cat\": \"{category}\", \"name\": \"")?;
    write_name(op.name, out)?;
    write!(
        out,
        "\", \"pid\": {PID}, \"tid\": {tid},\n    \"ts\": {ts}, \"dur\": {},\n    \"args\": {{\n      \
         \"External id\": {},",
        Micros(op.dur_ns),
        op.op_id
    )?;
    match op.autograd {
        Autograd::None => {}
        Autograd::Forward(seq) => write!(out, "\"Sequence number\": {seq}, \"Fwd thread id\": 0, ")?,
        Autograd::Backward(seq) => write!(out, "\"Sequence number\": {seq}, \"Fwd thread id\": 1, ")?,
    }
    out.write_all(b"\"Record function id\": 0, ")?;
    if let Some(n_elems) = op.collective_n_elems {
        write_collective(n_elems, out)?;
        out.write_all(b", \"Rank\": 0, \"Global rank start\": 0, \"Global rank stride\": 1, ")?;
    }
    if let Some((all, id)) = signatures.zip(op.signature) {
        write!(out, "{}, ", all.get(id).chrome_args)?;
    }
    write!(out, "\"Ev Idx\": {event_idx}\n    }}\n  }},\n")?;
    if let Some(flow) = op.flow {
        let (phase, id, binding) = match flow {
            Flow::Start(id) => ("s", id, ""),
            Flow::End(id) => ("f", id, ", \"bp\": \"e\""),
        };
        write!(
            out,
            "  {{\n    \"ph\": \"{phase}\", \"id\": {id}, \"pid\": {PID}, \"tid\": {tid}, \"ts\": {ts},\n    \
             \"cat\": \"fwdbwd\", \"name\": \"fwdbwd\"{binding}\n  }},\n"
        )?;
    }
    Ok(())
}

/// The name of an operator or annotation.
pub(super) fn write_name(name: Name, out: &mut impl Write) -> Result<(), SynthError> {
    match name {
        Name::Text(text) => out.write_all(text.as_bytes())?,
        Name::Step(number) => write!(out, "ProfilerStep#{number}")?,
    }
    Ok(())
}

/// The arguments that an all-reduce of the gradients has on both sides.
pub(super) fn write_collective(n_elems: i64, out: &mut impl Write) -> Result<(), SynthError> {
    write!(
        out,
        "\"Collective name\": \"allreduce\", \"In msg nelems\": {n_elems}, \"Out msg nelems\": {n_elems}, \
         \"Group size\": {N_RANKS}, \"dtype\": \"BFloat16\", \"In split size\": \"[]\", \
         \"Out split size\": \"[]\", \"Process Group Name\": \"0\", \"Process Group Description\": \
         \"default_pg\", \"Process Group Ranks\": \"[0, 1, 2, 3, 4, 5, 6, 7]\""
    )?;
    Ok(())
}

fn write_memory(event: &TensorEvent, event_idx: i64, out: &mut impl Write) -> Result<(), SynthError> {
    write!(
        out,
        "  {{\n    \"ph\": \"i\", \"cat\": \"cpu_instant_event\", \"s\": \"t\", \"name\": \"[memory]\", \
         \"pid\": {PID}, \"tid\": {},\n    \"ts\": {},\n    \"args\": {{\n      \"Total Reserved\": {}, \
         \"Total Allocated\": {}, \"Bytes\": {}, \"Device Id\": 0, \"Device Type\": 1, \"Addr\": {}, \
         \"finished\": false, \"Ev Idx\": {event_idx}\n    }}\n  }},\n",
        event.thread.tid(),
        timestamp(event.time_ns),
        event.total_reserved_bytes,
        event.total_allocated_bytes,
        event.delta_bytes,
        event.addr,
    )?;
    Ok(())
}
