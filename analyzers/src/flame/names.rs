//! From slices to frames: which layer a slice is of, and under which name it merges.

use std::borrow::Cow;

use tracecard_model::{NameId, SliceId, SliceKind, Trace};

use super::builder::Builder;
use super::tree::{Frame, FrameId, Layer};
use crate::normalise::{api_name, is_framework_range, op_name, range_name};

/// How Kineto names a module among the Python frames.
const MODULE: &str = "nn.Module: ";

/// The frame of each (kind of slice, name), found once.
pub(super) struct FrameNames<'a> {
    trace: &'a Trace,
    /// By kind, then by name.
    known: Vec<Vec<u32>>,
}

/// In [`FrameNames::known`]: not looked up yet.
const UNKNOWN: u32 = u32::MAX;

impl<'a> FrameNames<'a> {
    pub(super) fn new(trace: &'a Trace) -> Self {
        Self { trace, known: vec![Vec::new(); SliceKind::ALL.len()] }
    }

    /// The frame of a slice.
    pub(super) fn frame(&mut self, builder: &mut Builder, slice: SliceId) -> FrameId {
        let slices = &self.trace.slices;
        let (kind, name) = (slices.kinds()[slice.idx()], slices.names()[slice.idx()]);
        let known = &mut self.known[kind as usize];
        if known.is_empty() {
            known.resize(self.trace.names.len(), UNKNOWN);
        }
        let at = &mut known[name.idx()];
        if *at == UNKNOWN {
            *at = builder.frame(frame(kind, self.trace.names.text(name))).0;
        }
        FrameId(*at)
    }

    /// The frame of a function on a sampled stack.
    pub(super) fn sampled(&self, builder: &mut Builder, name: NameId) -> FrameId {
        builder.frame(Frame::new(Layer::Sampled, self.trace.names.text(name)))
    }
}

fn frame(kind: SliceKind, text: &str) -> Frame {
    // Texts of `emit_nvtx` are long, and many.
    let text = if kind == SliceKind::NvtxPushPop { op_name(text) } else { text };
    let layer = match kind {
        SliceKind::Python if text.starts_with(MODULE) => Layer::Module,
        SliceKind::Python => Layer::Python,
        SliceKind::NvtxPushPop | SliceKind::NvtxStartEnd if is_framework_range(text) => Layer::Op,
        SliceKind::NvtxPushPop | SliceKind::NvtxStartEnd | SliceKind::Annotation => Layer::Range,
        SliceKind::Op => Layer::Op,
        SliceKind::Library => Layer::Library,
        SliceKind::Api => Layer::Api,
        SliceKind::OsRuntime => Layer::OsRuntime,
        SliceKind::Kernel | SliceKind::Memcpy | SliceKind::Memset | SliceKind::Graph => Layer::Device,
        SliceKind::Overhead
        | SliceKind::Sync
        | SliceKind::GpuAnnotation
        | SliceKind::Running
        | SliceKind::Other => Layer::Other,
    };
    let name = match kind {
        SliceKind::NvtxPushPop | SliceKind::NvtxStartEnd | SliceKind::Annotation | SliceKind::Op => {
            range_name(text)
        }
        SliceKind::Api => Cow::Borrowed(api_name(text)),
        _ => Cow::Borrowed(text),
    };
    Frame::new(layer, &name)
}
