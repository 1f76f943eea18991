//! NVTX ranges: the operators as `torch.autograd.profiler.emit_nvtx` writes them, the ranges that the
//! training script opens, and NCCL's own.

use std::fmt::Write as _;

use rusqlite::{Connection, params};

use super::global_tid;
use super::strings::Strings;
use crate::synth::description::{Autograd, Name, Op, OpKind, Thread};
use crate::synth::signature::Signatures;
use crate::synth::training::Training;
use crate::synth::{SynthError, Written};

const PUSH_POP_RANGE: i64 = 59;
const DOMAIN_CREATE: i64 = 75;
/// The domain that everything without one is in.
const DEFAULT_DOMAIN: i64 = 0;
const NCCL_DOMAIN: i64 = 1;
/// When NCCL registered its domain: before the capture's first step.
const NCCL_DOMAIN_NS: i64 = 1_204_377;

pub(super) fn write(
    conn: &Connection,
    training: &mut Training,
    strings: &mut Strings,
    written: &mut Written,
) -> Result<(), SynthError> {
    conn.execute(
        "INSERT INTO NVTX_EVENTS (start, eventType, text, globalTid, domainId) VALUES (?1, ?2, 'NCCL', ?3, ?4)",
        (NCCL_DOMAIN_NS, DOMAIN_CREATE, global_tid(Thread::Main), NCCL_DOMAIN),
    )?;
    let mut insert = conn.prepare(
        "INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, textId, domainId)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    let mut text = String::new();
    let records_shapes = training.config.records_shapes;
    while training.next_step() {
        let step = training.step();
        for op in &step.ops {
            text.clear();
            let signatures = records_shapes.then_some(&training.signatures);
            describe(op, signatures, &mut text);
            let end_ns = op.start_ns + op.dur_ns;
            let tid = global_tid(op.thread);
            let no_text_id = None::<i64>;
            insert.execute(params![
                op.start_ns,
                end_ns,
                PUSH_POP_RANGE,
                text,
                tid,
                no_text_id,
                DEFAULT_DOMAIN
            ])?;
        }
        for call in &step.nccl_calls {
            let end_ns = call.start_ns + call.dur_ns;
            let tid = global_tid(call.thread);
            let no_text = None::<&str>;
            let text_id = strings.id(call.name);
            insert.execute(params![
                call.start_ns,
                end_ns,
                PUSH_POP_RANGE,
                no_text,
                tid,
                text_id,
                NCCL_DOMAIN
            ])?;
        }
        written.n_slices += (step.ops.len() + step.nccl_calls.len()) as u64;
    }
    Ok(())
}

/// The text of a range, as `getNvtxStr` of `torch/csrc/profiler/util.cpp` composes it. Tensor lists have
/// no sizes there, and input edges are left out here.
fn describe(op: &Op, signatures: Option<&Signatures>, text: &mut String) {
    match op.name {
        Name::Text(name) => text.push_str(name),
        // Writing to a String cannot fail.
        Name::Step(number) => {
            let _ = write!(text, "step {number}");
        }
    }
    if op.kind == OpKind::Annotation {
        return;
    }
    if let Autograd::Forward(seq) | Autograd::Backward(seq) = op.autograd {
        let _ = write!(text, ", seq = {seq}");
    }
    let _ = write!(text, ", op_id = {}", op.op_id);
    let sizes = signatures.zip(op.signature).map(|(all, id)| all.get(id).sizes.as_str());
    if let Some(sizes) = sizes {
        let _ = write!(text, ", sizes = {sizes}");
    }
}
