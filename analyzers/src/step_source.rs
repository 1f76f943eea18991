//! Where steps come from: the user's rule, `ProfilerStep#N`, or an NVTX range that behaves like a step (SIG-1).

use regex::Regex;
use rustc_hash::FxHashMap;
use tracecard_model::{NameId, Names, ProcessId, SliceId, SliceKind, Span, Trace, TrackFamily, TrackId};

use crate::device_work::DeviceWork;
use crate::normalise::{is_framework_range, op_text, range_name};
use crate::{AnalyzeError, StepRule};

/// One round of the loop as the host saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostStep {
    /// The process it ran in.
    pub process: Option<ProcessId>,
    /// The range on the host.
    pub span: Span,
    /// The range itself.
    pub slice: SliceId,
}

/// A user's rule with its expression compiled.
#[derive(Clone, Debug)]
pub(crate) enum CompiledRule {
    Nvtx(WholeName),
    Annotation(WholeName),
    Kernel(WholeName),
    Every(u32),
}

/// An expression that must match a whole name.
#[derive(Clone, Debug)]
pub(crate) struct WholeName {
    /// As the user wrote it.
    pub(crate) text: String,
    regex: Regex,
}

impl WholeName {
    fn new(text: &str) -> Result<Self, AnalyzeError> {
        let compiled = Regex::new(&format!("^(?:{text})$"));
        let regex = compiled.map_err(|error| {
            let reason = error.to_string();
            let reason = reason.lines().last().unwrap_or_default().trim();
            let reason = reason.strip_prefix("error: ").unwrap_or(reason);
            AnalyzeError::BadParams(format!("the step rule {text:?} is no regular expression: {reason}"))
        })?;
        Ok(Self { text: text.to_owned(), regex })
    }

    /// Does it match the name, with or without what `emit_nvtx` appends?
    pub(crate) fn is_match(&self, name: &str) -> bool {
        self.regex.is_match(name) || self.regex.is_match(op_text(name).name)
    }
}

impl CompiledRule {
    /// Compile the rule.
    pub(crate) fn new(rule: &StepRule) -> Result<Self, AnalyzeError> {
        match rule {
            StepRule::Nvtx(text) => WholeName::new(text).map(Self::Nvtx),
            StepRule::Annotation(text) => WholeName::new(text).map(Self::Annotation),
            StepRule::Kernel(text) => WholeName::new(text).map(Self::Kernel),
            StepRule::Every(0) => {
                let text = "a step of every 0 kernels has no kernel; use 1 or more".to_owned();
                Err(AnalyzeError::BadParams(text))
            }
            StepRule::Every(n) => Ok(Self::Every(*n)),
        }
    }
}

/// The ranges of these kinds whose name is wanted, by (process, start), without overlap in a process.
///
/// Where ranges of one process overlap (nested, or threads that each have their own), those of the thread
/// with the most of them are taken, and of these the outermost.
pub(crate) fn ranges_named(
    trace: &Trace,
    kinds: &[SliceKind],
    is_wanted: impl Fn(&str) -> bool,
) -> Vec<HostStep> {
    let mut is_wanted_name: Vec<Option<bool>> = vec![None; trace.names.len()];
    let mut found: Vec<(Option<ProcessId>, TrackId, Span, SliceId)> = Vec::new();
    for slice in trace.slice_ids() {
        let idx = slice.idx();
        if !kinds.contains(&trace.slices.kinds()[idx]) {
            continue;
        }
        let name = trace.slices.names()[idx];
        if *is_wanted_name[name.idx()].get_or_insert_with(|| is_wanted(trace.names.text(name))) {
            let track = trace.slices.tracks()[idx];
            found.push((trace.track_of(slice).key.process, track, trace.slices.span(slice), slice));
        }
    }
    found.sort_by_key(|(process, _, span, slice)| {
        (*process, span.start_ns, std::cmp::Reverse(span.end_ns), *slice)
    });
    let mut steps = Vec::new();
    for of_process in found.chunk_by(|a, b| a.0 == b.0) {
        let mut kept: Vec<_> = of_process.to_vec();
        if !is_disjoint(kept.iter().map(|row| row.2)) {
            let mut n_from_track: FxHashMap<TrackId, usize> = FxHashMap::default();
            for row in &kept {
                *n_from_track.entry(row.1).or_default() += 1;
            }
            let most = n_from_track.iter().max_by_key(|(track, n)| (**n, std::cmp::Reverse(**track)));
            let track = most.map(|(track, _)| *track);
            kept.retain(|row| Some(row.1) == track);
        }
        let mut end_ns = i64::MIN;
        for (process, _, span, slice) in kept {
            if end_ns <= span.start_ns {
                end_ns = span.end_ns;
                steps.push(HostStep { process, span, slice });
            }
        }
    }
    steps
}

/// Spans by start: does each end before the next begins?
fn is_disjoint(spans: impl Iterator<Item = Span>) -> bool {
    let mut end_ns = i64::MIN;
    for span in spans {
        if span.start_ns < end_ns {
            return false;
        }
        end_ns = span.end_ns;
    }
    true
}

/// The steps that PyTorch's profiler marks.
pub(crate) fn profiler_steps(trace: &Trace) -> Vec<HostStep> {
    // Before torch 1.12 they are operators, not annotations.
    ranges_named(trace, &[SliceKind::Annotation, SliceKind::Op], |name| name.starts_with("ProfilerStep#"))
}

/// A name whose ranges might be the steps.
struct Candidate {
    name: NameId,
    steps: Vec<HostStep>,
    covered_ns: i64,
}

/// What an NVTX range must cover of the device's work to be taken for the step.
const MIN_COVER_FRAC: f64 = 0.6;
/// How often it must repeat.
const MIN_REPEATS: usize = 3;

/// An NVTX range that behaves like a step: its normalised name repeats at least 3 times on a thread without
/// overlapping itself, each launches device work, together at least 60 % of all of it, and it is not the
/// framework's or a library's. Of several, one that is called a step, then the longest. The other thread's
/// launches count too: backward runs on a thread of its own.
///
/// # Errors
/// No such range; the text names the nearest ones.
pub(crate) fn nvtx_steps(trace: &Trace, work: &DeviceWork) -> Result<(String, Vec<HostStep>), String> {
    let total_ns: i64 = work.rows.iter().map(|row| row.span.dur_ns()).sum();
    let (names, candidates) = candidates(trace, work);
    let is_step =
        |c: &&Candidate| (total_ns as f64) * MIN_COVER_FRAC <= c.covered_ns as f64 && 0 < c.covered_ns;
    let host_ns = |c: &Candidate| c.steps.iter().map(|s| s.span.dur_ns()).sum::<i64>();
    let rank = |c: &&Candidate| {
        let name = names.text(c.name);
        let lower = name.to_lowercase();
        let is_called_so = ["step", "iter", "batch"].iter().any(|word| lower.contains(word));
        (is_called_so, host_ns(c), std::cmp::Reverse(name.to_owned()))
    };
    if let Some(best) = candidates.iter().filter(is_step).max_by_key(rank) {
        return Ok((format!("nvtx:{}", names.text(best.name)), best.steps.clone()));
    }
    let mut nearest: Vec<&Candidate> = candidates.iter().filter(|c| 0 < c.covered_ns).collect();
    nearest.sort_by_key(|c| (std::cmp::Reverse(c.covered_ns), names.text(c.name).to_owned()));
    let nearest: Vec<String> = nearest.iter().take(3).map(|c| format!("{:?}", names.text(c.name))).collect();
    Err(if nearest.is_empty() {
        "no range marks the steps; record with torch.profiler's step() or an NVTX range a step, or say what a \
         step is with --steps"
            .to_owned()
    } else {
        let list = nearest.join(", ");
        format!(
            "no range repeats like a step over most of the device work; the nearest are {list}; choose one with --steps nvtx:NAME"
        )
    })
}

/// Libraries that mark their own calls in a domain of theirs.
const LIBRARY_DOMAINS: &[&str] = &[
    "nccl", "cublas", "cudnn", "cufft", "cusolver", "cusparse", "cccl", "cub", "thrust", "libcudf", "rmm",
    "cutensor", "nvshmem", "ucx", "openacc",
];

fn is_library_domain(domain: &str) -> bool {
    let domain = domain.to_lowercase();
    LIBRARY_DOMAINS.iter().any(|library| domain.contains(library))
}

/// Names that repeat without overlapping themselves and launch work each time.
fn candidates(trace: &Trace, work: &DeviceWork) -> (Names, Vec<Candidate>) {
    let mut names = Names::default();
    // Per raw name: its normalised id, or `None` for the framework's own.
    let mut normalised: Vec<Option<Option<NameId>>> = vec![None; trace.names.len()];
    let mut groups: FxHashMap<(NameId, Option<NameId>, TrackId), Vec<SliceId>> = FxHashMap::default();
    for (idx, track) in trace.tracks.iter().enumerate() {
        if !matches!(track.key.family, TrackFamily::Nvtx | TrackFamily::NvtxStartEnd) {
            continue;
        }
        let id = TrackId::from_idx(idx);
        for slice in trace.slices_on(id) {
            let raw = trace.slices.names()[slice.idx()];
            let name = *normalised[raw.idx()].get_or_insert_with(|| {
                let text = trace.names.text(raw);
                (!is_framework_range(text)).then(|| names.intern(&range_name(text)))
            });
            let domain = trace.domains.get(slice).copied();
            let is_library = domain.is_some_and(|domain| is_library_domain(trace.names.text(domain)));
            if let Some(name) = name.filter(|_| !is_library) {
                groups.entry((name, domain, id)).or_default().push(slice);
            }
        }
    }
    let launched = Launched::new(trace, work);
    // Of one process the track with the most rounds, of one name all processes.
    let mut rows: Vec<_> = groups
        .into_iter()
        .filter(|(_, slices)| MIN_REPEATS <= slices.len())
        .filter(|(_, slices)| is_disjoint(slices.iter().map(|slice| trace.slices.span(*slice))))
        .map(|((name, domain, track), slices)| {
            let process = trace.tracks.get(track.idx()).and_then(|track| track.key.process);
            (name, domain, process, std::cmp::Reverse(slices.len()), track, slices)
        })
        .collect();
    rows.sort();
    rows.dedup_by(|b, a| (a.0, a.1, a.2) == (b.0, b.1, b.2));
    let mut candidates = Vec::new();
    for rows in rows.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        let mut candidate = Candidate { name: rows[0].0, steps: Vec::new(), covered_ns: 0 };
        let mut is_each_at_work = true;
        for (_, _, process, _, _, slices) in rows {
            for slice in slices {
                let span = trace.slices.span(*slice);
                let (n, dur_ns) = launched.within(*process, span);
                is_each_at_work &= 0 < n;
                candidate.covered_ns += dur_ns;
                candidate.steps.push(HostStep { process: *process, span, slice: *slice });
            }
        }
        if is_each_at_work {
            candidates.push(candidate);
        }
    }
    (names, candidates)
}

/// Device work by the time of its launch, so that a range's share costs two searches.
struct Launched {
    /// Sorted (process, launch start).
    keys: Vec<(Option<ProcessId>, i64)>,
    /// Sum of durations before each key, and of all.
    before_ns: Vec<i64>,
}

impl Launched {
    fn new(trace: &Trace, work: &DeviceWork) -> Self {
        let mut rows: Vec<(Option<ProcessId>, i64, i64)> = work
            .rows
            .iter()
            .filter_map(|row| {
                let launch = row.launch()?;
                let start_ns = trace.slices.starts_ns()[launch.idx()];
                Some((trace.track_of(launch).key.process, start_ns, row.span.dur_ns()))
            })
            .collect();
        rows.sort_unstable();
        let mut before_ns = vec![0];
        let mut sum_ns = 0;
        before_ns.extend(rows.iter().map(|row| {
            sum_ns += row.2;
            sum_ns
        }));
        Self { keys: rows.into_iter().map(|row| (row.0, row.1)).collect(), before_ns }
    }

    /// How many slices of work the process launched in the span, and their time.
    fn within(&self, process: Option<ProcessId>, span: Span) -> (usize, i64) {
        let first = self.keys.partition_point(|key| *key < (process, span.start_ns));
        let end = self.keys.partition_point(|key| *key < (process, span.end_ns));
        (end - first, self.before_ns[end] - self.before_ns[first])
    }
}

#[cfg(test)]
mod tests {
    use tracecard_model::fixture;

    use super::*;

    fn check_named(text: &str, expected: &str) {
        let trace = fixture(text).unwrap();
        let steps = ranges_named(&trace, &[SliceKind::NvtxPushPop], |name| name.starts_with("step"));
        let spans: Vec<String> = steps
            .iter()
            .map(|s| format!("{}:{}..{}", s.process.map_or(0, |p| p.0), s.span.start_ns, s.span.end_ns))
            .collect();
        assert_eq!(spans.join(" "), expected);
    }

    fn check_nvtx(text: &str, expected: Result<&str, &str>) {
        let trace = fixture(text).unwrap();
        match (nvtx_steps(&trace, &DeviceWork::new(&trace)), expected) {
            (Ok((source, _)), Ok(expected)) => assert_eq!(source, expected),
            (Err(reason), Err(expected)) => assert!(reason.contains(expected), "{reason}"),
            (found, _) => panic!("{found:?}"),
        }
    }

    #[test]
    fn of_nested_ranges_the_outermost_are_steps() {
        check_named(
            "thread 1 nvtx\n  nvtx_push_pop step 0 50\n  nvtx_push_pop step_inner 10 20\n  nvtx_push_pop step 60 40",
            "0:0..50 0:60..100",
        );
    }

    #[test]
    fn of_overlapping_threads_the_one_with_the_most_counts() {
        check_named(
            "thread 1 nvtx\n  nvtx_push_pop step 0 90\nthread 2 nvtx\n  nvtx_push_pop step 0 40\n  nvtx_push_pop step 50 40",
            "0:0..40 0:50..90",
        );
        // Threads that take turns are one loop.
        check_named(
            "thread 1 nvtx\n  nvtx_push_pop step 0 40\nthread 2 nvtx\n  nvtx_push_pop step 50 40",
            "0:0..40 0:50..90",
        );
    }

    #[test]
    fn processes_step_for_themselves() {
        check_named(
            "thread 1 nvtx\n  nvtx_push_pop step 0 40\nprocess 2\nthread 1 nvtx\n  nvtx_push_pop step 10 40",
            "0:0..40 1:10..50",
        );
    }

    /// `n` rounds of a range, each launching one kernel of 5 ns.
    fn rounds(n: i64, range: &str) -> String {
        let line = |i: i64, text: &str| {
            text.replace("AT", &(i * 10).to_string()).replace("ID", &(i + 1).to_string())
        };
        let lines = |text: &str| (0..n).map(|i| line(i, text)).collect::<String>();
        format!(
            "thread 1 nvtx\n{}thread 1 api\n{}stream 0:7\n{}",
            lines(&format!("  nvtx_push_pop {range} AT 8\n")),
            lines("  api l AT 1 #ID\n"),
            lines("  kernel k AT 5 #ID\n")
        )
    }

    #[test]
    fn a_range_must_cover_most_of_the_work() {
        check_nvtx(&rounds(3, "\"round ID\""), Ok("nvtx:round *"));
        // 15 of 15 + 12 ns are 56 %.
        check_nvtx(&format!("{}  kernel other 100 12", rounds(3, "round")), Err("the nearest are \"round\""));
        check_nvtx(&format!("{}  kernel other 100 10", rounds(3, "round")), Ok("nvtx:round"));
        check_nvtx(&rounds(2, "round"), Err("no range marks the steps"));
    }

    #[test]
    fn each_round_must_launch_work() {
        check_nvtx(
            &rounds(3, "round").replace("kernel k 20 5 #3", "kernel k 20 5"),
            Err("no range marks the steps"),
        );
    }

    #[test]
    fn a_librarys_ranges_are_no_steps() {
        let with_domain = |domain: &str| rounds(3, "round").replace(" 8\n", &format!(" 8 domain={domain}\n"));
        check_nvtx(&with_domain("NCCL"), Err("no range marks the steps"));
        check_nvtx(&with_domain("trainer"), Ok("nvtx:round"));
        check_nvtx(&rounds(3, "ncclAllReduce"), Err("no range marks the steps"));
        check_nvtx(&rounds(3, "MmBackward0"), Err("no range marks the steps"));
    }

    #[test]
    fn of_several_ranges_one_called_a_step_wins_then_the_longest() {
        let outer = "thread 1 nvtx\n  nvtx_push_pop outer 0 9\n  nvtx_push_pop outer 10 9\n  nvtx_push_pop outer 20 9\n";
        check_nvtx(&format!("{outer}{}", rounds(3, "inner")), Ok("nvtx:outer"));
        check_nvtx(&format!("{outer}{}", rounds(3, "my_step")), Ok("nvtx:my_step"));
    }

    #[test]
    fn a_rule_matches_whole_names_with_or_without_what_is_appended() {
        let name = WholeName::new("aten::m+").unwrap();
        assert!(name.is_match("aten::mm") && name.is_match("aten::mm, op_id = 5"));
        assert!(!name.is_match("aten::mmx") && !name.is_match("x aten::mm"));
        assert!(WholeName::new("a|b").unwrap().is_match("b"));
        let AnalyzeError::BadParams(text) = WholeName::new("(").unwrap_err() else { panic!() };
        assert!(text.contains("\"(\" is no regular expression: unclosed group"), "{text}");
    }
}
