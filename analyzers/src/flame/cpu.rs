//! Weighs stacks by the time that threads spent in them.

use tracecard_model::{Cancelled, Progress, Trace};

use super::builder::{Builder, Growing};
use super::names::FrameNames;
use super::sweep::{Pushed, Stack, threads, visit};
use super::tree::Measure;
use super::{Options, tolerance_ns};

pub(super) fn grow(trace: &Trace, options: &Options, progress: &Progress) -> Result<Builder, Cancelled> {
    let mut builder = Builder::new(Measure::CpuNs);
    let mut names = FrameNames::new(trace);
    let mut stack = Stack::new(Growing::TOP, tolerance_ns(trace));
    for thread in threads(trace).iter().filter(|thread| options.has_thread(&thread.thread)) {
        stack.clear();
        visit(trace, thread, options.layers, &mut names, &mut builder, progress, |builder, begin| {
            let Some(frame) = begin.frame else { return };
            let (mut start_ns, mut end_ns) = (begin.start_ns, begin.end_ns);
            if let Some(span) = options.span {
                let is_before = end_ns < span.start_ns || (end_ns == span.start_ns && start_ns < end_ns);
                if is_before || span.end_ns <= start_ns {
                    return;
                }
                (start_ns, end_ns) = (start_ns.max(span.start_ns), end_ns.min(span.end_ns));
            }
            stack.advance_weighing(builder, start_ns);
            let pushed = stack.push(frame, end_ns);
            if pushed != Pushed::InPlace {
                builder.simplify(1);
            }
            if pushed != Pushed::TooDeep {
                let node = stack.node(builder);
                builder.count(node, 1);
                builder.show(node, end_ns - start_ns, begin.slice);
            }
        })?;
        stack.advance_weighing(&mut builder, i64::MAX);
    }
    Ok(builder)
}
