//! Counts CPU samples by the call stack they were taken with.

use tracecard_model::{Cancelled, Progress, StackId, Trace};

use super::builder::{Builder, Growing};
use super::names::FrameNames;
use super::tree::Measure;
use super::{Options, Thread, not_attributed};

/// Samples between two looks at the cancel button.
const SAMPLES_A_CHECK: usize = 1 << 13;

pub(super) fn grow(trace: &Trace, options: &Options, progress: &Progress) -> Result<Builder, Cancelled> {
    let mut builder = Builder::new(Measure::Samples);
    let names = FrameNames::new(trace);
    let mut node_of_stack: Vec<Option<Growing>> = vec![None; trace.stacks.len()];
    let mut track = None;
    let mut is_wanted = false;
    for (idx, sample) in trace.samples.rows().iter().enumerate() {
        if idx % SAMPLES_A_CHECK == 0 {
            progress.check()?;
        }
        if track != Some(sample.track) {
            track = Some(sample.track);
            is_wanted =
                Thread::of_track(trace, sample.track).is_some_and(|thread| options.has_thread(&thread));
        }
        if !is_wanted || options.span.is_some_and(|span| !span.contains(sample.time_ns)) {
            continue;
        }
        let node = sample
            .stack
            .and_then(|stack| node(trace, &names, &mut builder, &mut node_of_stack, stack, sample.time_ns));
        let node = node.unwrap_or_else(|| {
            let frame = builder.frame(not_attributed());
            builder.child(Growing::TOP, frame, i64::MAX)
        });
        builder.weigh(node, 1);
        builder.count(node, 1);
    }
    Ok(builder)
}

/// The node of a stack. Stacks share what they have in common, so each of their frames is looked up once.
fn node(
    trace: &Trace,
    names: &FrameNames<'_>,
    builder: &mut Builder,
    known: &mut [Option<Growing>],
    stack: StackId,
    at_ns: i64,
) -> Option<Growing> {
    let mut missing = Vec::new();
    let mut at = Some(stack);
    let mut node = Growing::TOP;
    while let Some(stack) = at {
        if let Some(found) = known.get(stack.idx()).copied().flatten() {
            node = found;
            break;
        }
        let row = trace.stacks.get(stack)?;
        missing.push((stack, row.frame));
        at = row.parent;
    }
    for (stack, frame) in missing.into_iter().rev() {
        let frame = names.sampled(builder, frame);
        node = builder.child(node, frame, at_ns);
        if let Some(known) = known.get_mut(stack.idx()) {
            *known = Some(node);
        }
    }
    (node != Growing::TOP).then_some(node)
}
