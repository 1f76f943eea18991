//! Steps as device periods (SIG-1).
//!
//! On a device, step k lasts from the start of the first slice launched in step k to that of the first slice
//! launched in step k + 1; the last one to the end of its last slice. Work belongs to the step in which it
//! was *launched*. The host's own range is kept beside: the host may run far ahead of the device, and its
//! range then says nothing about how long a step takes.

use std::ops::Range;

use rustc_hash::FxHashMap;
use tracecard_model::{DeviceId, NameId, ProcessId, SliceFlags, SliceId, SliceKind, Span, Trace};

use crate::device_work::{DeviceWork, WorkRow};
use crate::normalise::api_name;
use crate::stats::{median, percentile};
use crate::step_classes::{KernelCounts, classes, past_warm_up};
use crate::step_source::{CompiledRule, HostStep, WholeName, nvtx_steps, profiler_steps, ranges_named};

/// The steps of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Steps {
    /// Where they come from: `ProfilerStep`, `nvtx:NAME`, `user:RULE`.
    pub source: String,
    /// As the host saw them, by (process, start); empty where the rule speaks of kernels.
    pub host: Vec<HostStep>,
    /// As the devices ran them, by (device, start); empty without device work.
    pub on_device: Vec<DeviceStep>,
}

/// One step on one device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeviceStep {
    /// The device.
    pub device: DeviceId,
    /// Which step of its process, from 0; gaps are steps without work on this device.
    pub number: u32,
    /// The device period.
    pub span: Span,
    /// Its host range, an index into [`Steps::host`]; `None` where the rule speaks of kernels.
    pub host: Option<u32>,
    /// The first slice launched in it.
    pub first: SliceId,
    /// Kernels launched in it.
    pub n_kernels: u32,
    /// Steps of one class launch the same kernels; numbered in the order they occur.
    pub class: u32,
    /// Past warming up, not cut by the capture, without loading or allocating what others do not.
    pub is_steady: bool,
}

/// The numbers about the steps of one class on one device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepStats {
    /// The device.
    pub device: DeviceId,
    /// The class.
    pub class: u32,
    /// Steps of the class.
    pub count: usize,
    /// Those of them that are steady. The numbers below are about these where there are at least 3 (or all
    /// of fewer), else about all.
    pub steady: usize,
    /// Median length; between two middle ones their mean, rounded down.
    pub median_ns: i64,
    /// 95th percentile (nearest rank).
    pub p95_ns: i64,
    /// Longest.
    pub max_ns: i64,
    /// Standard deviation (n − 1) over mean; `None` for a single step.
    pub cv: Option<f64>,
    /// Median length of the host ranges; `None` where there are none.
    pub host_median_ns: Option<i64>,
    /// The step whose length is nearest the median (the earliest of equals): an index into
    /// [`Steps::on_device`].
    pub typical: usize,
}

impl Steps {
    /// What a step is called: its range's name, or `step N`.
    pub fn name(&self, trace: &Trace, step: &DeviceStep) -> String {
        let host = step.host.and_then(|host| self.host.get(host as usize));
        host.map_or_else(|| format!("step {}", step.number), |host| trace.name(host.slice).to_owned())
    }

    /// The numbers per (device, class) over the steps that `is_wanted`, by device and class.
    pub fn stats(&self, is_wanted: impl Fn(&DeviceStep) -> bool) -> Vec<StepStats> {
        let mut groups: Vec<(DeviceId, u32, Vec<usize>)> = Vec::new();
        for (idx, step) in self.on_device.iter().enumerate().filter(|(_, step)| is_wanted(step)) {
            match groups.iter_mut().find(|g| (g.0, g.1) == (step.device, step.class)) {
                Some(group) => group.2.push(idx),
                None => groups.push((step.device, step.class, vec![idx])),
            }
        }
        // Devices stay in their order; the classes of each are sorted.
        for of_device in groups.chunk_by_mut(|a, b| a.0 == b.0) {
            of_device.sort_by_key(|group| group.1);
        }
        groups.iter().filter_map(|(device, class, members)| self.stats_of(*device, *class, members)).collect()
    }

    fn stats_of(&self, device: DeviceId, class: u32, members: &[usize]) -> Option<StepStats> {
        let step = |idx: &usize| self.on_device.get(*idx);
        let steady: Vec<usize> =
            members.iter().copied().filter(|i| step(i).is_some_and(|s| s.is_steady)).collect();
        let counted = if 3.min(members.len()) <= steady.len() { steady.as_slice() } else { members };
        let mut durs_ns: Vec<i64> = counted.iter().filter_map(step).map(|s| s.span.dur_ns()).collect();
        let mean_ns = durs_ns.iter().sum::<i64>() as f64 / durs_ns.len() as f64;
        let squares: f64 = durs_ns.iter().map(|dur_ns| (*dur_ns as f64 - mean_ns).powi(2)).sum();
        let cv = (2 <= durs_ns.len() && 0.0 < mean_ns)
            .then(|| (squares / (durs_ns.len() - 1) as f64).sqrt() / mean_ns);
        let median_ns = median(&mut durs_ns)?.floor() as i64;
        let host = |idx: &usize| self.host.get(step(idx)?.host? as usize);
        let mut host_ns: Vec<i64> = counted.iter().filter_map(host).map(|host| host.span.dur_ns()).collect();
        let distance_ns = |idx: &&usize| step(idx).map(|s| s.span.dur_ns().abs_diff(median_ns));
        Some(StepStats {
            device,
            class,
            count: members.len(),
            steady: steady.len(),
            median_ns,
            p95_ns: percentile(&mut durs_ns, 0.95)?,
            max_ns: *durs_ns.iter().max()?,
            cv,
            host_median_ns: median(&mut host_ns).map(|ns| ns.floor() as i64),
            typical: *counted.iter().min_by_key(distance_ns)?,
        })
    }

    /// The class that a device's headline speaks of: the one with the most steps, then the most time, then
    /// the first. Per device, by device.
    pub fn main_stats(&self, is_wanted: impl Fn(&DeviceStep) -> bool) -> Vec<StepStats> {
        let mut main: Vec<StepStats> = Vec::new();
        for stats in self.stats(is_wanted) {
            let weight = |s: &StepStats| (s.count, s.median_ns.saturating_mul(s.count as i64));
            match main.last_mut().filter(|last| last.device == stats.device) {
                Some(last) if weight(last) < weight(&stats) => *last = stats,
                Some(_) => {}
                None => main.push(stats),
            }
        }
        main
    }
}

/// Find the steps.
///
/// # Errors
/// There are none; the text says what to do about it.
pub(crate) fn find(trace: &Trace, work: &DeviceWork, rule: Option<&CompiledRule>) -> Result<Steps, String> {
    const NVTX: &[SliceKind] = &[SliceKind::NvtxPushPop, SliceKind::NvtxStartEnd];
    const ANNOTATIONS: &[SliceKind] = &[SliceKind::Annotation, SliceKind::Op];
    let (source, host) = match rule {
        Some(CompiledRule::Nvtx(name)) => {
            let host = ranges_named(trace, NVTX, |text| name.is_match(text));
            (format!("user:nvtx:{}", name.text), some_or_say(host, "NVTX range", name)?)
        }
        Some(CompiledRule::Annotation(name)) => {
            let host = ranges_named(trace, ANNOTATIONS, |text| name.is_match(text));
            (format!("user:annotation:{}", name.text), some_or_say(host, "annotation", name)?)
        }
        Some(CompiledRule::Kernel(name)) => {
            let on_device = some_or_say(steps_from_anchors(trace, work, name), "kernel", name)?;
            return Ok(Steps { source: format!("user:kernel:{}", name.text), host: Vec::new(), on_device });
        }
        Some(CompiledRule::Every(n)) => {
            let on_device = steps_of_every(trace, work, *n);
            if on_device.is_empty() {
                return Err(format!("no device runs {n} kernels, as --steps every:{n} asks"));
            }
            return Ok(Steps { source: format!("user:every:{n}"), host: Vec::new(), on_device });
        }
        None => match profiler_steps(trace) {
            host if host.is_empty() => nvtx_steps(trace, work)?,
            host => ("ProfilerStep".to_owned(), host),
        },
    };
    let on_device = steps_from_host(trace, work, &host);
    Ok(Steps { source, host, on_device })
}

/// What the user's expression found, or that it found nothing.
fn some_or_say<T>(found: Vec<T>, what: &str, name: &WholeName) -> Result<Vec<T>, String> {
    if found.is_empty() {
        let text = &name.text;
        return Err(format!(
            "no {what} is called {text:?}; --steps takes a regular expression for the whole name"
        ));
    }
    Ok(found)
}

/// A step of one device while its work is being collected.
#[derive(Clone, Copy)]
struct Open {
    host: u32,
    number: u32,
    first: SliceId,
    start_ns: i64,
    end_ns: i64,
    work_ns: i64,
}

fn steps_from_host(trace: &Trace, work: &DeviceWork, host: &[HostStep]) -> Vec<DeviceStep> {
    let mut of_process: FxHashMap<Option<ProcessId>, Range<usize>> = FxHashMap::default();
    let mut at = 0;
    for chunk in host.chunk_by(|a, b| a.process == b.process) {
        if let Some(first) = chunk.first() {
            of_process.insert(first.process, at..at + chunk.len());
        }
        at += chunk.len();
    }
    let host_of = |row: &WorkRow| -> Option<usize> {
        let launch = row.launch()?;
        let range = of_process.get(&trace.track_of(launch).key.process)?;
        let start_ns = trace.slices.starts_ns()[launch.idx()];
        let after = host[range.clone()].partition_point(|step| step.span.start_ns <= start_ns);
        let idx = range.start + after.checked_sub(1)?;
        host[idx].span.contains(start_ns).then_some(idx)
    };
    let number_of = |host_idx: usize| {
        let range = host.get(host_idx).and_then(|step| of_process.get(&step.process));
        (host_idx - range.map_or(0, |range| range.start)) as u32
    };
    let mut steps = Vec::new();
    let mut kernels: Vec<(u32, NameId)> = Vec::new();
    for (device, range) in &work.devices {
        let rows = &work.rows[range.clone()];
        let mut open: Vec<Option<Open>> = vec![None; host.len()];
        let hosts: Vec<Option<usize>> = rows.iter().map(host_of).collect();
        for (row, host_idx) in rows.iter().zip(&hosts).filter_map(|(row, host)| Some((row, (*host)?))) {
            let number = number_of(host_idx);
            let (start_ns, end_ns) = (row.span.start_ns, row.span.end_ns);
            let step = open[host_idx].get_or_insert(Open {
                host: host_idx as u32,
                number,
                first: row.slice,
                start_ns,
                end_ns,
                work_ns: 0,
            });
            step.end_ns = step.end_ns.max(end_ns);
            step.work_ns += row.span.dur_ns();
        }
        // Where several processes share a device, the steps are those of the one that works most on it.
        let mut work_ns: Vec<(Option<ProcessId>, i64)> = Vec::new();
        for step in open.iter().flatten() {
            let process = host.get(step.host as usize).and_then(|h| h.process);
            match work_ns.last_mut().filter(|last| last.0 == process) {
                Some(last) => last.1 += step.work_ns,
                None => work_ns.push((process, step.work_ns)),
            }
        }
        let most =
            work_ns.iter().max_by_key(|(process, ns)| (*ns, std::cmp::Reverse(*process))).map(|most| most.0);
        let is_of_most = |step: &Open| host.get(step.host as usize).map(|h| h.process) == most;
        let open: Vec<Open> = open.into_iter().flatten().filter(is_of_most).collect();
        let base = steps.len();
        let mut step_from_host: FxHashMap<usize, u32> = FxHashMap::default();
        let mut start_ns = i64::MIN;
        for (idx, step) in open.iter().enumerate() {
            // A slice of a later step that started before one of an earlier step cannot turn time back.
            start_ns = start_ns.max(step.start_ns);
            let end_ns = open.get(idx + 1).map_or(step.end_ns, |next| next.start_ns);
            step_from_host.insert(step.host as usize, (base + idx) as u32);
            steps.push(DeviceStep {
                device: *device,
                number: step.number,
                span: Span::new(start_ns, end_ns),
                host: Some(step.host),
                first: step.first,
                n_kernels: 0,
                class: 0,
                is_steady: false,
            });
        }
        for (row, host_idx) in rows.iter().zip(&hosts) {
            let step = host_idx.and_then(|host_idx| step_from_host.get(&host_idx));
            if let Some(step) = step.filter(|_| is_kernel(trace, row.slice)) {
                kernels.push((*step, trace.slices.names()[row.slice.idx()]));
            }
        }
    }
    classify(&mut steps, kernels);
    let is_disturbed = disturbed(trace, host);
    mark_steady(&mut steps, |step| step.host.is_some_and(|host| is_disturbed[host as usize]));
    steps
}

fn is_kernel(trace: &Trace, slice: SliceId) -> bool {
    matches!(trace.slices.kinds()[slice.idx()], SliceKind::Kernel | SliceKind::Graph)
}

/// Steps that each begin with a kernel of a wanted name.
fn steps_from_anchors(trace: &Trace, work: &DeviceWork, anchor: &WholeName) -> Vec<DeviceStep> {
    let mut is_wanted_name: Vec<Option<bool>> = vec![None; trace.names.len()];
    steps_from_starts(trace, work, |rows| {
        let mut is_anchor = |row: &WorkRow| {
            let name = trace.slices.names()[row.slice.idx()];
            is_kernel(trace, row.slice)
                && *is_wanted_name[name.idx()].get_or_insert_with(|| anchor.is_match(trace.names.text(name)))
        };
        let starts = rows.iter().enumerate().filter(|(_, row)| is_anchor(row)).map(|(idx, _)| idx).collect();
        (starts, rows.len())
    })
}

/// Steps of `n` kernels each; what is left over at the end is no step.
fn steps_of_every(trace: &Trace, work: &DeviceWork, n: u32) -> Vec<DeviceStep> {
    steps_from_starts(trace, work, |rows| {
        let kernels: Vec<usize> = rows
            .iter()
            .enumerate()
            .filter(|(_, row)| is_kernel(trace, row.slice))
            .map(|(idx, _)| idx)
            .collect();
        let n = n as usize;
        let whole = kernels.len() / n * n;
        let end = kernels.get(whole).copied().unwrap_or(rows.len());
        (kernels[..whole].iter().copied().step_by(n).collect(), end)
    })
}

/// Steps of each device from the rows they begin with and the row where the last one ends.
fn steps_from_starts(
    trace: &Trace,
    work: &DeviceWork,
    mut starts_of: impl FnMut(&[WorkRow]) -> (Vec<usize>, usize),
) -> Vec<DeviceStep> {
    let mut steps = Vec::new();
    let mut kernels: Vec<(u32, NameId)> = Vec::new();
    for (device, range) in &work.devices {
        let rows = &work.rows[range.clone()];
        let (starts, end) = starts_of(rows);
        for (number, start) in starts.iter().enumerate() {
            let next = starts.get(number + 1).copied().unwrap_or(end);
            let inside = &rows[*start..next.max(*start)];
            let Some(first) = inside.first() else { continue };
            let last_end_ns = inside.iter().map(|row| row.span.end_ns).max().unwrap_or(first.span.end_ns);
            let end_ns = rows.get(next).map_or(last_end_ns, |row| row.span.start_ns);
            let step = steps.len() as u32;
            let of_step = inside.iter().filter(|row| is_kernel(trace, row.slice));
            kernels.extend(of_step.map(|row| (step, trace.slices.names()[row.slice.idx()])));
            steps.push(DeviceStep {
                device: *device,
                number: number as u32,
                span: Span::new(first.span.start_ns, end_ns),
                host: None,
                first: first.slice,
                n_kernels: 0,
                class: 0,
                is_steady: false,
            });
        }
    }
    classify(&mut steps, kernels);
    mark_steady(&mut steps, |_| false);
    steps
}

/// Set the kernel counts and classes from (step, kernel name) pairs.
fn classify(steps: &mut [DeviceStep], mut kernels: Vec<(u32, NameId)>) {
    kernels.sort_unstable();
    let mut counts: Vec<KernelCounts> = vec![Vec::new(); steps.len()];
    for run in kernels.chunk_by(|a, b| a == b) {
        if let Some((step, name)) = run.first() {
            counts[*step as usize].push((*name, run.len() as u32));
        }
    }
    for ((step, class), counts) in steps.iter_mut().zip(classes(&counts)).zip(&counts) {
        step.class = class;
        step.n_kernels = counts.iter().map(|count| count.1).sum();
    }
}

fn mark_steady(steps: &mut [DeviceStep], is_disturbed: impl Fn(&DeviceStep) -> bool) {
    let mut groups: FxHashMap<(DeviceId, u32), Vec<usize>> = FxHashMap::default();
    for (idx, step) in steps.iter().enumerate() {
        groups.entry((step.device, step.class)).or_default().push(idx);
    }
    for members in groups.values() {
        let durs_ns: Vec<i64> = members.iter().map(|idx| steps[*idx].span.dur_ns()).collect();
        for (idx, is_past) in members.iter().zip(past_warm_up(&durs_ns)) {
            steps[*idx].is_steady = is_past && !is_disturbed(&steps[*idx]);
        }
    }
}

/// Which host steps the profiler or the first use of something disturbed: the very first one of the run,
/// one that the capture cut, and those that load code or allocate memory where most steps do not.
fn disturbed(trace: &Trace, host: &[HostStep]) -> Vec<bool> {
    let mut is_setting_up = vec![false; host.len()];
    let mut is_setup_name: Vec<Option<bool>> = vec![None; trace.names.len()];
    for slice in trace.slice_ids() {
        let idx = slice.idx();
        if !matches!(trace.slices.kinds()[idx], SliceKind::Api | SliceKind::Overhead) {
            continue;
        }
        let name = trace.slices.names()[idx];
        if !*is_setup_name[name.idx()].get_or_insert_with(|| is_setup(trace.names.text(name))) {
            continue;
        }
        let key = (trace.track_of(slice).key.process, trace.slices.starts_ns()[idx]);
        let after = host.partition_point(|step| (step.process, step.span.start_ns) <= key);
        if let Some(at) =
            after.checked_sub(1).filter(|at| host[*at].process == key.0 && host[*at].span.contains(key.1))
        {
            is_setting_up[at] = true;
        }
    }
    let n_setting_up = is_setting_up.iter().filter(|is| **is).count();
    let is_usual = host.len() < n_setting_up * 2;
    host.iter()
        .zip(is_setting_up)
        .map(|(step, is_setting_up)| {
            let is_cut = trace.slices.flags()[step.slice.idx()].has(SliceFlags::UNCLOSED);
            is_cut || trace.name(step.slice) == "ProfilerStep#0" || (is_setting_up && !is_usual)
        })
        .collect()
}

/// Calls and overheads that belong to the first use of something.
fn is_setup(name: &str) -> bool {
    const PREFIXES: &[&str] = &[
        "cudaMalloc",
        "cuMemAlloc",
        "hipMalloc",
        "cuModuleLoad",
        "cuLibraryLoad",
        "cudaGraphInstantiate",
        "cuGraphInstantiate",
        "hipModuleLoad",
    ];
    const OVERHEADS: &[&str] =
        &["Runtime Triggered Module Loading", "Lazy Function Loading", "Driver Compiler"];
    let name = api_name(name);
    // The stream-ordered allocator is what steady steps use.
    !name.contains("Async")
        && (PREFIXES.iter().any(|prefix| name.starts_with(prefix)) || OVERHEADS.contains(&name))
}

#[cfg(test)]
mod tests {
    use tracecard_model::fixture;

    use super::*;

    fn check(text: &str, expected: &str) {
        let trace = fixture(text).unwrap();
        let steps = find(&trace, &DeviceWork::new(&trace), None).unwrap();
        let lines: Vec<String> = steps
            .on_device
            .iter()
            .map(|step| {
                let device = trace.devices[step.device.idx()].number;
                let steady = if step.is_steady { " steady" } else { "" };
                let name = steps.name(&trace, step);
                format!(
                    "{device} {name} {}..{} class {}{steady}",
                    step.span.start_ns, step.span.end_ns, step.class
                )
            })
            .collect();
        assert_eq!(lines.join("\n"), expected);
    }

    /// Steps of 100 from `first` on, each with one kernel of 50 right away, and `extra` in the API track.
    fn run(first: i64, n: i64, extra: &str) -> String {
        let lines = |line: &dyn Fn(i64) -> String| (0..n).map(line).collect::<String>();
        format!(
            "thread 1 ops\n{}thread 1 api\n{}{extra}stream 0:7\n{}",
            lines(&|i| format!("  annotation ProfilerStep#{} {} 100\n", first + i, i * 100)),
            lines(&|i| format!("  api l {} 1 #{}\n", i * 100 + 5, i + 1)),
            lines(&|i| format!("  kernel k {} 95 #{}\n", i * 100 + 6, i + 1))
        )
    }

    #[test]
    fn steady_steps_are_past_the_first_of_all_and_uncut() {
        check(
            &run(0, 4, ""),
            "0 ProfilerStep#0 6..106 class 0\n0 ProfilerStep#1 106..206 class 0 steady\n\
             0 ProfilerStep#2 206..306 class 0 steady\n0 ProfilerStep#3 306..401 class 0 steady",
        );
        let cut = run(1, 4, "").replace("ProfilerStep#4 300 100", "ProfilerStep#4 300 100 unclosed");
        check(
            &cut,
            "0 ProfilerStep#1 6..106 class 0 steady\n0 ProfilerStep#2 106..206 class 0 steady\n\
             0 ProfilerStep#3 206..306 class 0 steady\n0 ProfilerStep#4 306..401 class 0",
        );
    }

    #[test]
    fn a_step_that_allocates_is_not_steady_unless_all_do() {
        let once = "  api cudaMalloc 110 5\n";
        check(
            &run(1, 3, once),
            "0 ProfilerStep#1 6..106 class 0 steady\n0 ProfilerStep#2 106..206 class 0\n0 ProfilerStep#3 206..301 class 0 steady",
        );
        let always = "  api cudaMalloc 10 5\n  api cudaMalloc 110 5\n  api cudaMalloc 210 5\n";
        check(
            &run(1, 3, always),
            "0 ProfilerStep#1 6..106 class 0 steady\n0 ProfilerStep#2 106..206 class 0 steady\n0 ProfilerStep#3 206..301 class 0 steady",
        );
    }

    #[test]
    fn another_threads_launches_belong_to_the_step() {
        check(
            "thread 1 ops\n  annotation ProfilerStep#1 0 100\nthread 2 api\n  api l 50 1 #1\nstream 0:7\n  kernel k 60 5 #1",
            "0 ProfilerStep#1 60..65 class 0 steady",
        );
    }

    #[test]
    fn each_process_has_its_own_steps_and_device() {
        check(
            "thread 1 ops\n  annotation ProfilerStep#1 0 100\nthread 1 api\n  api l 5 1 #1\nstream 0:7\n  kernel k 10 5 #1\n\
             process 2\nthread 1 ops\n  annotation ProfilerStep#7 50 100\nthread 1 api\n  api l 60 1 #1\nstream 1:7\n  kernel k 70 9 #1",
            "0 ProfilerStep#1 10..15 class 0 steady\n1 ProfilerStep#7 70..79 class 0 steady",
        );
    }

    #[test]
    fn work_out_of_order_cannot_turn_time_back() {
        // The second step's slice runs first, on another stream: its period cannot begin before the first's.
        check(
            "thread 1 ops\n  annotation ProfilerStep#1 0 50\n  annotation ProfilerStep#2 50 50\nthread 1 api\n  api l 5 1 #1\n  api l 60 1 #2\n\
             stream 0:7\n  kernel k 100 5 #1\nstream 0:8\n  kernel k 70 5 #2",
            "0 ProfilerStep#1 100..100 class 0\n0 ProfilerStep#2 100..100 class 0",
        );
    }

    #[test]
    fn a_step_without_work_leaves_a_gap_in_the_numbers() {
        check(
            "thread 1 ops\n  annotation ProfilerStep#1 0 50\n  annotation ProfilerStep#2 50 50\n  annotation ProfilerStep#3 100 50\n\
             thread 1 api\n  api l 5 1 #1\n  api l 110 1 #2\nstream 0:7\n  kernel k 10 5 #1\n  kernel k 120 5 #2",
            "0 ProfilerStep#1 10..120 class 0\n0 ProfilerStep#3 120..125 class 0",
        );
    }
}
