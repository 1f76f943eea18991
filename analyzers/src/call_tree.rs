//! Self time on the host after the rules of torch's `key_averages` (`torch/autograd/profiler_util.py`).
//!
//! Per thread, operators, annotations and API calls form one tree: an API call is a child of the operator
//! that made it, so an operator's self time does not hold its launches. Python frames take no part: that is
//! torch 2.4–2.11's rule, and since files do not name their torch version, ours for all. torch from 2.12 on
//! counts frames as children where stacks were recorded, and then shows smaller self times for annotations.
//! Exact stamps nest strictly; whole-µs stamps (torch 1.10–2.3) with 1 µs of tolerance, clamped.

use rustc_hash::FxHashMap;
use tracecard_model::{NameId, ProcessId, SliceId, Trace, TrackFamily, TrackId};

/// What torch leaves out before it builds its tree: the profiler's own calls.
const LEFT_OUT: &[&str] = &[
    "profiler::_record_function_enter",
    "profiler::_record_function_enter_new",
    "profiler::_record_function_exit",
    "aten::is_leaf",
    "aten::output_nr",
    "aten::_version",
];

/// Visit every slice on tracks of this family with its self time: its duration less that of its direct
/// children, among them API calls. O(n).
pub(crate) fn visit_self_ns(trace: &Trace, family: TrackFamily, mut visit: impl FnMut(SliceId, i64)) {
    let left_out: Vec<NameId> = LEFT_OUT.iter().filter_map(|name| trace.names.find(name)).collect();
    let mut api_from_thread: FxHashMap<(Option<ProcessId>, Option<&str>), TrackId> = FxHashMap::default();
    for (idx, track) in trace.tracks.iter().enumerate().filter(|(_, t)| t.key.family == TrackFamily::Api) {
        api_from_thread.insert((track.key.process, track.key.thread.as_deref()), TrackId::from_idx(idx));
    }
    let tolerance_ns = if 1 < trace.meta.resolution_ns { trace.meta.resolution_ns } else { 0 };
    for (idx, track) in trace.tracks.iter().enumerate().filter(|(_, t)| t.key.family == family) {
        let api = api_from_thread.get(&(track.key.process, track.key.thread.as_deref()));
        let slices = trace.slices_on(TrackId::from_idx(idx));
        let is_counted = |slice: &SliceId| !left_out.contains(&trace.slices.names()[slice.idx()]);
        let calls = api.map(|api| trace.slices_on(*api));
        visit_thread(trace, slices.filter(is_counted), calls.into_iter().flatten(), tolerance_ns, &mut visit);
    }
}

struct Open {
    slice: SliceId,
    is_call: bool,
    end_ns: i64,
    self_ns: i64,
}

fn visit_thread(
    trace: &Trace,
    slices: impl Iterator<Item = SliceId>,
    calls: impl Iterator<Item = SliceId>,
    tolerance_ns: i64,
    visit: &mut impl FnMut(SliceId, i64),
) {
    let (mut slices, mut calls) = (slices.peekable(), calls.peekable());
    let rank = |slice: &SliceId| {
        let span = trace.slices.span(*slice);
        (span.start_ns, std::cmp::Reverse(span.end_ns))
    };
    let mut open: Vec<Open> = Vec::new();
    let mut close = |open: Open| {
        if !open.is_call {
            visit(open.slice, open.self_ns.max(0));
        }
    };
    loop {
        // Of equal spans the operator comes first: it made the call.
        let is_call = match (slices.peek(), calls.peek()) {
            (None, None) => break,
            (Some(slice), Some(call)) => rank(call) < rank(slice),
            (slice, _) => slice.is_none(),
        };
        let Some(slice) = (if is_call { calls.next() } else { slices.next() }) else { break };
        let span = trace.slices.span(slice);
        while let Some(top) = open.pop() {
            if span.start_ns < top.end_ns && span.end_ns <= top.end_ns.saturating_add(tolerance_ns) {
                open.push(top);
                break;
            }
            close(top);
        }
        let mut end_ns = span.end_ns;
        if let Some(parent) = open.last_mut() {
            end_ns = end_ns.min(parent.end_ns);
            parent.self_ns -= end_ns - span.start_ns;
        }
        open.push(Open { slice, is_call, end_ns, self_ns: span.dur_ns() });
    }
    while let Some(top) = open.pop() {
        close(top);
    }
}

#[cfg(test)]
mod tests {
    use tracecard_model::fixture;

    use super::*;

    fn check(text: &str, expected: &str) {
        let trace = fixture(text).unwrap();
        let mut all = Vec::new();
        visit_self_ns(&trace, TrackFamily::Ops, |slice, self_ns| all.push((slice, self_ns)));
        all.sort();
        let lines: Vec<String> =
            all.iter().map(|(slice, ns)| format!("{} {ns}", trace.name(*slice))).collect();
        assert_eq!(lines.join(", "), expected);
    }

    #[test]
    fn calls_are_children_of_the_operator_that_made_them() {
        // linear 100 − mm 40 = 60; mm 40 − launch 10 = 30; the driver call inside the runtime call counts once.
        check(
            "thread 1 ops\n  op linear 0 100\n  op mm 20 40\nthread 1 api\n  api cudaLaunchKernel 30 10\n  api cuLaunchKernel 32 5",
            "linear 60, mm 30",
        );
    }

    #[test]
    fn the_profilers_own_calls_are_left_out() {
        check("thread 1 ops\n  op x 0 100\n  op aten::is_leaf 10 20\n  op y 12 5", "x 95, y 5");
    }

    #[test]
    fn exact_stamps_nest_strictly_and_rounded_ones_within_a_microsecond() {
        let text = "thread 1 ops\n  op x 0 100\n  op y 50 51";
        check(text, "x 100, y 51");
        // The child is clamped to its parent: 100 − 50 = 50.
        check(&format!("resolution 1000\n{text}"), "x 50, y 51");
    }

    #[test]
    fn another_threads_calls_take_nothing_away() {
        check("thread 1 ops\n  op x 0 100\nthread 2 api\n  api l 10 20", "x 100");
        check("thread 1 api\n  api l 10 20", "");
    }

    #[test]
    fn of_equal_spans_the_operator_made_the_call() {
        check("thread 1 ops\n  op x 0 10\nthread 1 api\n  api l 0 10", "x 0");
    }
}
