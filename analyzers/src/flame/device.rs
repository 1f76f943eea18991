//! Weighs stacks by the time that devices spent on what was launched from them.

use rustc_hash::FxHashMap;
use tracecard_model::{DeviceId, Progress, SliceId, Span, Trace};

use super::builder::{Builder, Growing};
use super::names::FrameNames;
use super::sweep::{Pushed, Stack, threads, visit};
use super::tree::{Frame, Layer, Measure};
use super::{IDLE, Options, not_attributed, tolerance_ns};
use crate::device_work::linked_rows;
use crate::{AnalyzeError, Derived, DevicePartition, Params};

/// A slice of device work that is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Work {
    /// `None` first.
    launch: Option<SliceId>,
    slice: SliceId,
    /// The part of it inside the span looked at.
    dur_ns: i64,
}

pub(super) fn grow(
    trace: &Trace,
    partitions: Option<&[DevicePartition]>,
    options: &Options,
    progress: &Progress,
) -> Result<Builder, AnalyzeError> {
    let work = work(trace, options);
    progress.check()?;
    let mut growth =
        Growth { builder: Builder::new(Measure::DeviceNs), names: FrameNames::new(trace), trace };
    let mut is_placed = vec![false; work.len()];
    growth.launched(options, &work, &mut is_placed, progress)?;
    if options.threads.is_none() {
        for (work, _) in work.iter().zip(&is_placed).filter(|(_, is_placed)| !**is_placed) {
            let note = growth.note();
            growth.place(note, work);
        }
        match partitions {
            _ if !options.layers.has(Layer::Idle) => {}
            Some(partitions) => growth.idle(options, partitions),
            None => growth.idle(options, Derived::new(trace, &Params::default())?.partitions()),
        }
    }
    Ok(growth.builder)
}

/// All work that is looked at, by launch.
fn work(trace: &Trace, options: &Options) -> Vec<Work> {
    let rows = linked_rows(trace);
    let mut work: Vec<Work> = rows
        .iter()
        .filter_map(|row| {
            let is_seen = |span: Span| {
                span.overlaps(row.span) || row.span.is_empty() && span.contains(row.span.start_ns)
            };
            let inside = match options.span {
                Some(span) if is_seen(span) => row.span.intersect(span),
                Some(_) => return None,
                None => row.span,
            };
            Some(Work { launch: row.launch(), slice: row.slice, dur_ns: inside.dur_ns() })
        })
        .collect();
    work.sort_unstable();
    work
}

struct Growth<'a> {
    builder: Builder,
    names: FrameNames<'a>,
    trace: &'a Trace,
}

impl Growth<'_> {
    /// Work under the stacks that launched it.
    fn launched(
        &mut self,
        options: &Options,
        work: &[Work],
        is_placed: &mut [bool],
        progress: &Progress,
    ) -> Result<(), AnalyzeError> {
        let trace = self.trace;
        let slack_ns = tolerance_ns(trace).min(1);
        let mut stack = Stack::new(Growing::TOP, tolerance_ns(trace));
        let launches_in = |range: std::ops::Range<usize>| {
            let at = |idx: usize| work.partition_point(|work| work.launch < Some(SliceId::from_idx(idx)));
            at(range.start)..at(range.end)
        };
        for thread in threads(trace).iter().filter(|thread| options.has_thread(&thread.thread)) {
            if thread.calls(trace).all(|calls| launches_in(calls).is_empty()) {
                continue;
            }
            stack.clear();
            let (names, builder) = (&mut self.names, &mut self.builder);
            let mut found: Vec<(Growing, usize)> = Vec::new();
            visit(trace, thread, options.layers, names, builder, progress, |builder, begin| {
                // Where stamps are rounded down to whole µs, a call may start on the very stamp its operator
                // ends on.
                let at_ns = if begin.is_call { begin.start_ns - slack_ns } else { begin.start_ns };
                if begin.frame.is_some() || begin.is_call {
                    stack.advance(at_ns);
                }
                if let Some(frame) = begin.frame
                    && stack.push(frame, begin.end_ns) != Pushed::InPlace
                {
                    builder.simplify(1);
                }
                if begin.is_call {
                    let launched = launches_in(begin.slice.idx()..begin.slice.idx() + 1);
                    if !launched.is_empty() {
                        let node = stack.node(builder);
                        found.extend(launched.map(|at| (node, at)));
                    }
                }
            })?;
            for (node, at) in found {
                is_placed[at] = true;
                let node = if node == Growing::TOP { self.note() } else { node };
                self.place(node, &work[at]);
            }
        }
        Ok(())
    }

    fn note(&mut self) -> Growing {
        let frame = self.builder.frame(not_attributed());
        self.builder.child(Growing::TOP, frame, i64::MAX)
    }

    fn place(&mut self, under: Growing, work: &Work) {
        let frame = self.names.frame(&mut self.builder, work.slice);
        let start_ns = self.trace.slices.starts_ns()[work.slice.idx()];
        let node = self.builder.child(under, frame, start_ns);
        self.builder.weigh(node, work.dur_ns);
        self.builder.count(node, 1);
        self.builder.show(node, work.dur_ns, work.slice);
    }

    /// The gaps of all devices by cause, and by device where there are several.
    fn idle(&mut self, options: &Options, partitions: &[DevicePartition]) {
        let idle = self.builder.frame(Frame::new(Layer::Idle, IDLE));
        let number = |device: DeviceId| self.trace.devices.get(device.idx()).map_or(0, |d| d.number);
        let mut nodes: FxHashMap<(DeviceId, crate::Cause), Growing> = FxHashMap::default();
        for part in partitions {
            for gap in &part.gaps {
                let span = options.span.map_or(gap.span, |span| span.intersect(gap.span));
                if span.is_empty() {
                    continue;
                }
                let builder = &mut self.builder;
                let node = *nodes.entry((part.device, gap.cause)).or_insert_with(|| {
                    // Behind all else: it is no stack.
                    let root = builder.child(Growing::TOP, idle, i64::MAX);
                    let cause = Frame::new(Layer::Idle, &gap.cause.text().replace('_', " "));
                    let cause = builder.frame(cause);
                    let node = builder.child(root, cause, i64::MAX);
                    if partitions.len() < 2 {
                        return node;
                    }
                    let device = Frame::new(Layer::Idle, &format!("GPU {}", number(part.device)));
                    let device = builder.frame(device);
                    builder.child(node, device, i64::MAX)
                });
                builder.weigh(node, span.dur_ns());
                builder.count(node, 1);
                if let Some(slice) = gap.ended_by {
                    builder.show(node, span.dur_ns(), slice);
                }
            }
        }
    }
}
