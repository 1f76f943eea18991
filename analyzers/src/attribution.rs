//! Which operator, and which of the user's ranges, launched each slice of device work (SIG-4).
//!
//! Device slice → its launch → the innermost operator on the launching thread that contains the launch's
//! start. Never by the `External id` of PyTorch's files, which was wrong for three years of versions.

use rustc_hash::FxHashMap;
use tracecard_model::{LinkKind, ProcessId, SliceId, SliceKind, Trace, TrackFamily, TrackId};

use crate::device_work::DeviceWork;
use crate::normalise::op_text;

/// Where a run's framework operators are to be found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Framework {
    /// Slices of kind op.
    Ops,
    /// NVTX ranges that PyTorch's `emit_nvtx` writes.
    EmitNvtx,
    /// There are none.
    #[default]
    None,
}

impl Framework {
    /// The family of the tracks that carry the operators.
    pub(crate) fn family(self) -> Option<TrackFamily> {
        match self {
            Self::Ops => Some(TrackFamily::Ops),
            Self::EmitNvtx => Some(TrackFamily::Nvtx),
            Self::None => None,
        }
    }
}

/// The operator of each row of work.
#[derive(Debug, Default)]
pub(crate) struct Attribution {
    /// What kind of operators there are.
    pub(crate) framework: Framework,
    /// Per name: would a slice of the operators' kind with this name be an operator?
    pub(crate) is_operator_name: Vec<bool>,
    /// By work index.
    pub(crate) operator: Vec<Option<SliceId>>,
}

impl Attribution {
    /// Is this slice an operator?
    pub(crate) fn is_operator(&self, trace: &Trace, slice: SliceId) -> bool {
        let idx = slice.idx();
        let kind = match self.framework {
            Framework::Ops => SliceKind::Op,
            Framework::EmitNvtx => SliceKind::NvtxPushPop,
            Framework::None => return false,
        };
        trace.slices.kinds()[idx] == kind && self.is_operator_name[trace.slices.names()[idx].idx()]
    }
}

/// Find the operators and give each row of work its own. O(n · depth).
pub(crate) fn attribute_operators(trace: &Trace, work: &DeviceWork) -> Attribution {
    let kinds = trace.slices.kinds();
    let mut attribution = if kinds.contains(&SliceKind::Op) {
        // Before torch 1.12 the profiler's own step marks are operators.
        let is_operator = |name: &str| !name.starts_with("ProfilerStep#");
        let is_operator_name = trace.names.iter().map(|(_, name)| is_operator(name)).collect();
        Attribution { framework: Framework::Ops, is_operator_name, operator: Vec::new() }
    } else if kinds.contains(&SliceKind::NvtxPushPop) {
        let is_operator_name: Vec<bool> =
            trace.names.iter().map(|(_, name)| is_emitted_operator(name)).collect();
        let framework = if is_operator_name.contains(&true) { Framework::EmitNvtx } else { Framework::None };
        Attribution { framework, is_operator_name, operator: Vec::new() }
    } else {
        Attribution::default()
    };
    attribution.operator = match attribution.framework.family() {
        Some(family) => innermost(trace, work, family, |slice| attribution.is_operator(trace, slice)),
        None => vec![None; work.rows.len()],
    };
    attribution
}

/// A range text as `emit_nvtx` writes them, and no mark of the profiler or of an optimizer's step.
fn is_emitted_operator(text: &str) -> bool {
    const MARKS: &[&str] = &["ProfilerStep#", "Optimizer.step#", "Optimizer.zero_grad#", "## "];
    let parsed = op_text(text);
    (parsed.is_marked || text.starts_with("aten::")) && !MARKS.iter().any(|mark| text.starts_with(mark))
}

/// A thread of a process.
pub(crate) type Thread<'a> = (Option<ProcessId>, Option<&'a str>);

/// The thread that a track belongs to.
pub(crate) fn thread_of(trace: &Trace, track: TrackId) -> Thread<'_> {
    let key = trace.tracks.get(track.idx()).map(|track| &track.key);
    (key.and_then(|key| key.process), key.and_then(|key| key.thread.as_deref()))
}

/// The track of this family of each thread that has one.
pub(crate) fn tracks_of(trace: &Trace, family: TrackFamily) -> FxHashMap<Thread<'_>, TrackId> {
    let tracks = trace.tracks.iter().enumerate().filter(|(_, track)| track.key.family == family);
    tracks.map(|(idx, _)| (thread_of(trace, TrackId::from_idx(idx)), TrackId::from_idx(idx))).collect()
}

/// For each row of work the innermost accepted slice, on the launching thread's track of this family, that
/// contains the start of the launch.
fn innermost(
    trace: &Trace,
    work: &DeviceWork,
    family: TrackFamily,
    is_accepted: impl Fn(SliceId) -> bool,
) -> Vec<Option<SliceId>> {
    let tracks = tracks_of(trace, family);
    innermost_on(trace, work, |thread| tracks.get(&thread).copied(), is_accepted)
}

fn innermost_on<'a>(
    trace: &'a Trace,
    work: &DeviceWork,
    track_for: impl Fn(Thread<'a>) -> Option<TrackId>,
    is_accepted: impl Fn(SliceId) -> bool,
) -> Vec<Option<SliceId>> {
    let mut found = vec![None; work.rows.len()];
    let starts_ns = trace.slices.starts_ns();
    // Links are sorted by launch, and launches by (thread, start): one forward walk per thread.
    let launches = trace.links.rows().iter().filter(|(kind, ..)| *kind == LinkKind::Launch);
    let mut api_track = None;
    let mut walk: Option<Walk> = None;
    for (_, launch, slice) in launches {
        let Some(at) = work.index_of(*slice) else { continue };
        let track = trace.slices.tracks()[launch.idx()];
        if api_track != Some(track) {
            api_track = Some(track);
            let track = track_for(thread_of(trace, track)).and_then(|track| trace.tracks.get(track.idx()));
            walk = track.map(|track| Walk { next: track.range().start, range: track.range() });
        }
        let Some(walk) = &mut walk else { continue };
        found[at] = walk.innermost(trace, starts_ns[launch.idx()], &is_accepted);
    }
    found
}

/// A forward walk over the slices of one track.
struct Walk {
    range: std::ops::Range<usize>,
    /// The first slice not yet begun.
    next: usize,
}

impl Walk {
    /// The innermost accepted slice that contains the instant; instants come in ascending order.
    fn innermost(
        &mut self,
        trace: &Trace,
        t_ns: i64,
        is_accepted: impl Fn(SliceId) -> bool,
    ) -> Option<SliceId> {
        let starts_ns = trace.slices.starts_ns();
        while self.next < self.range.end && starts_ns[self.next] <= t_ns {
            self.next += 1;
        }
        // Where stamps are rounded down to whole µs, a call may start on the very stamp its operator ends on.
        let slack_ns = if 1 < trace.meta.resolution_ns { 1 } else { 0 };
        let last = self.next.checked_sub(1).filter(|last| self.range.start <= *last)?;
        let mut at = Some(SliceId::from_idx(last));
        while let Some(slice) = at {
            if t_ns < trace.slices.span(slice).end_ns + slack_ns && is_accepted(slice) {
                return Some(slice);
            }
            at = trace.slices.parent(slice);
        }
        None
    }
}

/// The ranges that a row of work was launched in: the innermost of each chain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LaunchRanges {
    /// On the launching thread.
    pub(crate) own: Option<SliceId>,
    /// On the thread that called backward, where autograd's thread launched it.
    pub(crate) caller: Option<SliceId>,
}

/// The innermost NVTX range or annotation that each row of work was launched in, by work index.
///
/// Autograd runs backward on a thread of its own while the calling thread waits; without looking at the
/// caller, a user's `backward` range would seem to launch nothing.
pub(crate) fn attribute_ranges(trace: &Trace, work: &DeviceWork) -> Vec<LaunchRanges> {
    let nvtx = |slice: SliceId| trace.slices.kinds()[slice.idx()] == SliceKind::NvtxPushPop;
    let annotation = |slice: SliceId| trace.slices.kinds()[slice.idx()] == SliceKind::Annotation;
    let mut found = vec![LaunchRanges::default(); work.rows.len()];
    for (family, is_range) in [
        (TrackFamily::Ops, &annotation as &dyn Fn(SliceId) -> bool),
        (TrackFamily::Nvtx, &nvtx as &dyn Fn(SliceId) -> bool),
    ] {
        let tracks = tracks_of(trace, family);
        if tracks.is_empty() {
            continue;
        }
        let own = innermost_on(trace, work, |thread| tracks.get(&thread).copied(), is_range);
        let callers = autograd_callers(trace, &tracks);
        let caller = innermost_on(trace, work, |thread| callers.get(&thread).copied(), is_range);
        for ((found, own), caller) in found.iter_mut().zip(own).zip(caller) {
            found.own = own.or(found.own);
            found.caller = caller.or(found.caller);
        }
    }
    found
}

/// For each of autograd's threads the track of the thread that called backward: the main thread of its
/// process, or the only other thread with slices.
fn autograd_callers<'a>(
    trace: &'a Trace,
    tracks: &FxHashMap<Thread<'a>, TrackId>,
) -> FxHashMap<Thread<'a>, TrackId> {
    let mut threads: Vec<(Thread<'a>, TrackId)> =
        tracks.iter().map(|(thread, track)| (*thread, *track)).collect();
    threads.sort_by_key(|(_, track)| *track);
    let is_main = |(process, thread): Thread<'a>| {
        let os_pid = process.and_then(|p| trace.processes.get(p.idx())).map(|p| p.os_pid.as_str());
        os_pid.is_some() && os_pid == thread
    };
    let (autograd, others): (Vec<_>, Vec<_>) = threads
        .into_iter()
        .partition(|(thread, track)| !is_main(*thread) && is_autograd_track(trace, *track));
    let mut callers = FxHashMap::default();
    for (thread, _) in autograd {
        let mut of_process = others.iter().filter(|other| other.0.0 == thread.0);
        let main = of_process.clone().find(|other| is_main(other.0));
        let only = of_process.next().filter(|_| of_process.next().is_none());
        if let Some((_, track)) = main.or(only) {
            callers.insert(thread, *track);
        }
    }
    callers
}

/// Does any operator at the top of the track belong to autograd's engine? One is enough: hooks, DDP and
/// optimizers in backward put other operators beside them, and before torch 1.9 nothing names the engine.
fn is_autograd_track(trace: &Trace, track: TrackId) -> bool {
    trace.slices_on(track).any(|slice| {
        let kind = trace.slices.kinds()[slice.idx()];
        trace.slices.parent(slice).is_none()
            && matches!(kind, SliceKind::Op | SliceKind::NvtxPushPop)
            && is_backward_name(trace.name(slice))
    })
}

/// `autograd::engine::…`, `torch::autograd::AccumulateGrad`, `MmBackward0`, `CudnnConvolutionBackward`.
fn is_backward_name(name: &str) -> bool {
    // Ranges of `emit_nvtx` carry `, seq = …` behind the name.
    let name = name.split(',').next().unwrap_or_default();
    name.starts_with("autograd::engine::")
        || name.starts_with("torch::autograd::")
        || name.trim_end_matches(|c: char| c.is_ascii_digit()).ends_with("Backward")
}

#[cfg(test)]
mod tests {
    use tracecard_model::fixture;

    use super::*;

    fn check(text: &str, expected: &str) {
        let trace = fixture(text).unwrap();
        let work = DeviceWork::new(&trace);
        let operators = attribute_operators(&trace, &work);
        let ranges = attribute_ranges(&trace, &work);
        let name = |slice: Option<SliceId>| slice.map_or("-", |slice| trace.name(slice)).to_owned();
        let lines: Vec<String> = (0..work.rows.len())
            .map(|idx| {
                let range = ranges[idx];
                let row = name(Some(work.rows[idx].slice));
                format!(
                    "{row}: {} in {} from {}",
                    name(operators.operator[idx]),
                    name(range.own),
                    name(range.caller)
                )
            })
            .collect();
        assert_eq!(lines.join("\n"), expected);
    }

    #[test]
    fn the_innermost_operator_that_contains_the_launch() {
        // aten::linear 10..40 holds aten::mm 15..30; launches at 20 (in mm), 35 (in linear only), 50 (in none).
        check(
            "thread 1 ops\n  annotation step 0 100\n  op aten::linear 10 30\n  op aten::mm 15 15\n\
             thread 1 api\n  api l 20 5 #1\n  api l 35 2 #2\n  api l 50 5 #3\n\
             stream 0:7\n  kernel a 60 5 #1\n  kernel b 70 5 #2\n  kernel c 80 5 #3\n  kernel d 90 5",
            "a: aten::mm in step from -\nb: aten::linear in step from -\nc: - in step from -\nd: - in - from -",
        );
    }

    #[test]
    fn an_end_belongs_to_the_next_unless_stamps_are_rounded() {
        let text = "thread 1 ops\n  op aten::mm 0 1000\nthread 1 api\n  api l 1000 500 #1\nstream 0:7\n  kernel a 2000 5 #1";
        check(text, "a: - in - from -");
        check(&format!("resolution 1000\n{text}"), "a: aten::mm in - from -");
    }

    #[test]
    fn another_thread_or_process_does_not_count() {
        check(
            "thread 1 ops\n  op aten::mm 0 100\nthread 2 api\n  api l 10 5 #1\n\
             process 2\nthread 1 api\n  api l 10 5 #1\nprocess 1\nstream 0:7\n  kernel a 20 5 #1",
            "a: - in - from -",
        );
    }

    #[test]
    fn nvtx_ranges_of_emit_nvtx_are_operators() {
        check(
            "thread 1 nvtx\n  nvtx_push_pop step 0 100\n  nvtx_push_pop \"aten::mm, op_id = 1\" 10 20\n\
             thread 1 api\n  api l 15 5 #1\n  api l 50 5 #2\nstream 0:7\n  kernel a 60 5 #1\n  kernel b 70 5 #2",
            "a: aten::mm, op_id = 1 in aten::mm, op_id = 1 from -\nb: - in step from -",
        );
    }

    #[test]
    fn backward_belongs_to_the_range_of_the_thread_that_called_it() {
        check(
            "thread 1 ops\n  annotation backward 0 100\n\
             thread 2 ops\n  op \"autograd::engine::evaluate_function: MmBackward0\" 10 50\n  op aten::mm 20 20\n\
             thread 2 api\n  api l 25 5 #1\nstream 0:7\n  kernel a 40 5 #1",
            "a: aten::mm in - from backward",
        );
    }

    #[test]
    fn no_launches_no_operators() {
        check("stream 0:7\n  kernel a 0 5", "a: - in - from -");
        check("thread 1 ops\n  op x 0 5", "");
    }
}
