//! The arguments that are kept, out of `args`: of operators, of device work, of communication.

use tracecard_model::Kernel;

use super::fragment::Signs;
use super::number;
use super::scan::{RawStr, Value};

/// A member of `args`.
pub(super) type Member<'a> = (RawStr<'a>, Value<'a>);

/// What a collective moves: on `record_param_comms` and, since torch 2.2, on NCCL kernels.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CollectiveArgs<'a> {
    pub(super) name: Option<RawStr<'a>>,
    pub(super) dtype: Option<RawStr<'a>>,
    pub(super) group: Option<RawStr<'a>>,
    pub(super) in_elements: Option<u64>,
    pub(super) out_elements: Option<u64>,
    pub(super) group_size: Option<u32>,
    pub(super) sequence: Option<i64>,
}

impl<'a> CollectiveArgs<'a> {
    /// Take a member that belongs here.
    fn take(&mut self, key: &[u8], value: &Value<'a>) {
        match key {
            b"Collective name" => self.name = text(value),
            b"dtype" => self.dtype = text(value),
            b"In msg nelems" => self.in_elements = number::count(value),
            b"Out msg nelems" => self.out_elements = number::count(value),
            b"Group size" => self.group_size = number::count_u32(value),
            b"Process Group Name" => self.group = text(value),
            b"Seq" => self.sequence = number::integer(value),
            _ => {}
        }
    }
}

/// Arguments of an operator or annotation.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OpArgs<'a> {
    pub(super) dims: Option<&'a [u8]>,
    pub(super) types: Option<&'a [u8]>,
    pub(super) strides: Option<&'a [u8]>,
    pub(super) concrete: Option<&'a [u8]>,
    pub(super) sequence: Option<i64>,
    pub(super) forward_thread: Option<u64>,
    pub(super) is_unfinished: bool,
    pub(super) collective: CollectiveArgs<'a>,
}

impl<'a> OpArgs<'a> {
    /// Read the members; of equal keys the last one wins.
    pub(super) fn new(members: &[Member<'a>], signs: &mut Signs) -> Self {
        let mut args = Self::default();
        for (key, value) in members {
            match key.bytes {
                b"Input Dims" => args.dims = list(value),
                b"Input type" => args.types = list(value),
                b"Input Strides" => args.strides = list(value),
                b"Concrete Inputs" => {
                    args.concrete = list(value);
                    signs.has_concrete_inputs = true;
                }
                // Torch 1.8 writes `[]` when shapes were not recorded.
                b"Input dims" => {
                    args.dims = list(value).filter(|dims| *dims != b"[]");
                    signs.has_lower_dims = true;
                }
                // −1 means none.
                b"Sequence number" => args.sequence = number::integer(value).filter(|n| 0 <= *n),
                // 0 on forward operators.
                b"Fwd thread id" => args.forward_thread = number::count(value).filter(|n| 0 < *n),
                b"finished" => args.is_unfinished = is_false(value),
                b"Ev Idx" => signs.has_ev_idx = true,
                b"Trace name" => signs.has_trace_name = true,
                other => args.collective.take(other, value),
            }
        }
        if args.dims.is_none() && args.types == Some(b"[]") {
            args.types = None;
        }
        args
    }
}

/// Arguments of what runs on a device.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DeviceArgs<'a> {
    pub(super) device: Value<'a>,
    pub(super) stream: Value<'a>,
    pub(super) correlation: i64,
    pub(super) kernel: Kernel,
    pub(super) bytes: Option<u64>,
    /// `HtoD`, `DEVICE_TO_HOST`.
    pub(super) copy_kind: Option<RawStr<'a>>,
    pub(super) src: Option<RawStr<'a>>,
    pub(super) dst: Option<RawStr<'a>>,
    pub(super) collective: CollectiveArgs<'a>,
}

impl<'a> DeviceArgs<'a> {
    /// Read the members; of equal keys the last one wins.
    pub(super) fn new(members: &[Member<'a>]) -> Self {
        let mut args = Self::default();
        let kernel = &mut args.kernel;
        for (key, value) in members {
            match key.bytes {
                b"device" => args.device = *value,
                b"stream" => args.stream = *value,
                b"correlation" => args.correlation = number::id(value).unwrap_or(0),
                b"grid" => kernel.grid = number::shape(value),
                b"block" => kernel.block = number::shape(value),
                b"registers per thread" => kernel.registers = number::count_u32(value),
                b"shared memory" => kernel.shared_bytes = number::count_u32(value),
                b"graph id" => kernel.graph_id = number::count_u32(value),
                b"graph node id" => kernel.graph_node_id = number::count(value),
                b"bytes" | b"size" => args.bytes = number::count(value),
                b"copy kind" | b"kind" | b"direction" => args.copy_kind = text(value),
                b"src kind" => args.src = text(value),
                b"dst kind" => args.dst = text(value),
                other => args.collective.take(other, value),
            }
        }
        args
    }

    /// Does the file say how the kernel was launched?
    pub(super) fn has_shape(&self) -> bool {
        self.kernel.grid.is_some() || self.kernel.block.is_some()
    }
}

/// The number that ties a call to device work; 0 for none.
pub(super) fn correlation(members: &[Member<'_>]) -> i64 {
    let is_correlation = |member: &&Member<'_>| member.0.bytes == b"correlation";
    members.iter().rev().find(is_correlation).and_then(|(_, value)| number::id(value)).unwrap_or(0)
}

/// The last member with this key.
pub(super) fn find<'a>(members: &[Member<'a>], key: &[u8]) -> Value<'a> {
    members.iter().rev().find(|member| member.0.bytes == key).map_or(Value::Missing, |member| member.1)
}

/// A text that is not empty.
pub(super) fn text<'a>(value: &Value<'a>) -> Option<RawStr<'a>> {
    match value {
        Value::Text(text) if !text.bytes.is_empty() => Some(*text),
        _ => None,
    }
}

fn list<'a>(value: &Value<'a>) -> Option<&'a [u8]> {
    match value {
        Value::List(bytes) => Some(bytes),
        _ => None,
    }
}

fn is_false(value: &Value<'_>) -> bool {
    match value {
        Value::Word(word) => *word == b"false",
        Value::Text(text) => text.bytes == b"false",
        _ => false,
    }
}
