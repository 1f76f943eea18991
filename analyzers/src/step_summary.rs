//! How long a step takes and what it is made of (SIG-1): the answer that the overview begins with.

use tracecard_model::Progress;

use crate::idle::Cause;
use crate::partition::Split;
use crate::steps::{DeviceStep, StepStats, Steps};
use crate::{AnalyzeError, Analyzer, Column, Input, Outcome, Table, Unit};

/// The steps in one row, by class, and one by one.
pub(crate) const ANALYZER: Analyzer = Analyzer { id: "steps", title: "Steps", run };

fn run(input: &Input<'_>, progress: &Progress) -> Result<Outcome, AnalyzeError> {
    let steps = match input.derived.steps() {
        Ok(steps) => steps,
        Err(reason) => return Ok(Outcome::Abstained(reason.to_owned())),
    };
    progress.check()?;
    Ok(Outcome::Done(vec![headline(input, steps), class_table(input, steps), step_table(input, steps)]))
}

/// Is the step looked at: of a shown device and, where there is a window, wholly inside it?
fn is_shown(input: &Input<'_>, step: &DeviceStep) -> bool {
    let window = input.derived.window();
    let is_inside = input.params.window.is_none()
        || (window.start_ns <= step.span.start_ns && step.span.end_ns <= window.end_ns);
    is_inside && input.derived.is_shown(step.device)
}

fn split(input: &Input<'_>, step: &DeviceStep) -> Option<Split> {
    input.derived.partition(step.device).map(|part| part.split(step.span))
}

/// A host range this much shorter than the device period means that the host runs ahead.
const HOST_DIFFERS_FRAC: f64 = 0.1;

fn headline(input: &Input<'_>, steps: &Steps) -> Table {
    let shown = |step: &DeviceStep| is_shown(input, step);
    // The slowest device speaks for the run; of equals the first.
    let main = steps.main_stats(shown);
    let slowest = main.iter().rev().max_by_key(|stats| stats.median_ns);
    let of_device: Vec<&DeviceStep> = steps
        .on_device
        .iter()
        .filter(|s| shown(s) && slowest.is_some_and(|m| m.device == s.device))
        .collect();
    let window = input.derived.window();
    let host: Vec<i64> = steps
        .host
        .iter()
        .map(|host| host.span)
        .filter(|span| {
            input.params.window.is_none()
                || (window.start_ns <= span.start_ns && span.end_ns <= window.end_ns)
        })
        .map(tracecard_model::Span::dur_ns)
        .collect();
    let count = if slowest.is_some() { of_device.len() } else { host.len() };
    let n_classes = slowest.map(|_| {
        let mut classes: Vec<u32> = of_device.iter().map(|step| step.class).collect();
        classes.sort_unstable();
        classes.dedup();
        classes.len() as i64
    });
    let host_median_ns = match slowest {
        Some(stats) => stats.host_median_ns,
        None => crate::stats::median(&mut host.clone()).map(|ns| ns.floor() as i64),
    };
    let typical = slowest.and_then(|stats| steps.on_device.get(stats.typical));
    let parts = typical.and_then(|step| split(input, step));
    let items_per_s =
        slowest.and_then(|stats| Some(input.params.items_per_step? * 1e9 / stats.median_ns as f64));
    let host_pace = slowest.and_then(|stats| {
        let ratio = host_median_ns? as f64 / stats.median_ns as f64;
        if ratio < 1.0 - HOST_DIFFERS_FRAC {
            Some("host runs ahead".to_owned())
        } else if 1.0 + HOST_DIFFERS_FRAC < ratio {
            Some("host behind".to_owned())
        } else {
            None
        }
    });
    let ns = |id, title, doc, value: Option<i64>| Column::ints(id, title, Unit::Ns, doc, [value]);
    let stat = |value: fn(&StepStats) -> i64| slowest.map(value);
    let part = |value: fn(&Split) -> i64| parts.as_ref().map(value);
    let mut columns = vec![
        Column::texts(
            "source",
            "Source",
            "What marks the steps: ProfilerStep, nvtx:NAME, user:RULE",
            [Some(steps.source.clone())],
        ),
        Column::ints(
            "device",
            "Device",
            Unit::Number,
            "The slowest device, which the numbers are about; unknown without device work",
            [slowest.and_then(|s| input.derived.device_number(s.device))],
        ),
        Column::ints(
            "count",
            "Steps",
            Unit::Count,
            "Steps of that device; of the host without device work",
            [Some(count as i64)],
        ),
        Column::ints(
            "steady",
            "Steady",
            Unit::Count,
            "Steps past warming up, not cut by the capture; unknown without device work",
            [slowest.map(|_| of_device.iter().filter(|s| s.is_steady).count() as i64)],
        ),
        Column::ints(
            "classes",
            "Classes",
            Unit::Count,
            "Kinds of steps, told by the kernels they launch; the numbers are about the most frequent",
            [n_classes],
        ),
        ns(
            "median_ns",
            "Median",
            "Median length on the device, over steady steps where there are at least 3",
            stat(|s| s.median_ns),
        ),
        ns("p95_ns", "95 %", "Length that 95 % of the steps keep below (nearest rank)", stat(|s| s.p95_ns)),
        ns("max_ns", "Max", "The longest", stat(|s| s.max_ns)),
        Column::reals(
            "cv",
            "Variation",
            Unit::Frac,
            "Standard deviation over mean; unknown for a single step",
            [slowest.and_then(|s| s.cv)],
        ),
        ns(
            "host_median_ns",
            "Host median",
            "Median length of the range on the host; the host may run far ahead of the device",
            host_median_ns,
        ),
        Column::texts(
            "host_pace",
            "Host pace",
            "\"host runs ahead\" or \"host behind\" where host and device differ by more than 10 %",
            [host_pace],
        ),
        Column::reals(
            "items_per_s",
            "Items per second",
            Unit::Number,
            "Items per step, as the user gave them, over the median",
            [items_per_s],
        ),
        ns(
            "typical_ns",
            "Typical step",
            "The step nearest the median; the parts below are its parts and add up to it exactly",
            typical.map(|s| s.span.dur_ns()),
        ),
        ns("compute_ns", "Compute", "Compute of the typical step", part(|p| p.compute_ns)),
        ns(
            "exposed_comm_ns",
            "Exposed communication",
            "Communication of the typical step that no compute covers",
            part(|p| p.exposed_comm_ns),
        ),
        ns(
            "exposed_copy_ns",
            "Exposed copies",
            "Copies of the typical step that nothing covers",
            part(|p| p.exposed_copy_ns),
        ),
        ns("idle_ns", "Idle", "Idle time of the typical step", part(Split::idle_ns)),
    ];
    columns.extend(idle_columns(&[parts]));
    columns.push(Column::slices(
        "example",
        "Typical step begins",
        "The first slice of the typical step",
        [typical.map(|s| s.first)],
    ));
    Table { id: "steps", title: "Steps", columns }
}

/// One column a cause of idling.
fn idle_columns(splits: &[Option<Split>]) -> Vec<Column> {
    let column = |id, title, doc, cause: Cause| {
        let cells =
            splits.iter().map(|split| split.as_ref().map(|split| split.idle_by_cause_ns[cause.idx()]));
        Column::ints(id, title, Unit::Ns, doc, cells)
    };
    vec![
        column(
            "idle_host_wait_ns",
            "Idle: host",
            "Idle while the launch of what came next was not done",
            Cause::HostWait,
        ),
        column(
            "idle_kernel_wait_ns",
            "Idle: launch latency",
            "Idle for at most 5 µs between launched work",
            Cause::KernelWait,
        ),
        column(
            "idle_other_ns",
            "Idle: other",
            "Idle although what came next was launched: an event, another stream",
            Cause::Other,
        ),
        column(
            "idle_graph_internal_ns",
            "Idle: inside graphs",
            "Idle between nodes of one graph replay",
            Cause::GraphInternal,
        ),
        column(
            "idle_unknown_ns",
            "Idle: unknown",
            "Idle before work whose launch is not in the file",
            Cause::Unknown,
        ),
    ]
}

fn class_table(input: &Input<'_>, steps: &Steps) -> Table {
    let stats = steps.stats(|step| is_shown(input, step));
    let ints = |id, title, unit, doc, value: fn(&StepStats) -> Option<i64>| {
        Column::ints(id, title, unit, doc, stats.iter().map(value))
    };
    let columns = vec![
        Column::ints(
            "device",
            "Device",
            Unit::Number,
            "Number of the device",
            stats.iter().map(|s| input.derived.device_number(s.device)),
        ),
        ints(
            "class",
            "Class",
            Unit::Number,
            "Steps of one class launch the same kernels; in the order they first occur",
            |s| Some(i64::from(s.class)),
        ),
        ints("count", "Steps", Unit::Count, "Steps of the class", |s| Some(s.count as i64)),
        ints("steady", "Steady", Unit::Count, "Steady ones of them", |s| Some(s.steady as i64)),
        ints("median_ns", "Median", Unit::Ns, "Median length on the device", |s| Some(s.median_ns)),
        ints("p95_ns", "95 %", Unit::Ns, "95th percentile (nearest rank)", |s| Some(s.p95_ns)),
        ints("max_ns", "Max", Unit::Ns, "The longest", |s| Some(s.max_ns)),
        Column::reals(
            "cv",
            "Variation",
            Unit::Frac,
            "Standard deviation over mean; unknown for a single step",
            stats.iter().map(|s| s.cv),
        ),
        ints("host_median_ns", "Host median", Unit::Ns, "Median length of the range on the host", |s| {
            s.host_median_ns
        }),
    ];
    Table { id: "step_classes", title: "Kinds of steps", columns }
}

fn step_table(input: &Input<'_>, steps: &Steps) -> Table {
    let rows: Vec<&DeviceStep> = steps.on_device.iter().filter(|step| is_shown(input, step)).collect();
    let splits: Vec<Option<Split>> = rows.iter().map(|step| split(input, step)).collect();
    let host = |step: &DeviceStep| steps.host.get(step.host? as usize);
    let ints = |id, title, unit, doc, value: fn(&DeviceStep) -> i64| {
        Column::ints(id, title, unit, doc, rows.iter().map(|step| Some(value(step))))
    };
    let parts = |id, title, doc, value: fn(&Split) -> i64| {
        Column::ints(id, title, Unit::Ns, doc, splits.iter().map(|split| split.as_ref().map(value)))
    };
    let mut columns = vec![
        Column::texts(
            "name",
            "Step",
            "Name of the range that marks it",
            rows.iter().map(|step| Some(steps.name(input.trace, step))),
        ),
        Column::ints(
            "step",
            "Step number",
            Unit::Number,
            "The number at the end of its name; of names without one the place among the steps, from 0",
            rows.iter().map(|s| Some(shown_number(input, steps, s))),
        ),
        ints("number", "Place", Unit::Number, "Which step of its process, from 0", |s| i64::from(s.number)),
        Column::ints(
            "device",
            "Device",
            Unit::Number,
            "Number of the device",
            rows.iter().map(|s| input.derived.device_number(s.device)),
        ),
        ints("start_ns", "Start", Unit::Ns, "Start of the first slice launched in it", |s| s.span.start_ns),
        ints(
            "end_ns",
            "End",
            Unit::Ns,
            "Start of the first slice of the next step; of the last step, end of its last slice",
            |s| s.span.end_ns,
        ),
        ints("dur_ns", "Length", Unit::Ns, "The device period; its parts add up to it exactly", |s| {
            s.span.dur_ns()
        }),
        Column::ints(
            "host_ns",
            "On the host",
            Unit::Ns,
            "Length of the range on the host; unknown where the rule speaks of kernels",
            rows.iter().map(|s| host(s).map(|h| h.span.dur_ns())),
        ),
        ints("kernels", "Kernels", Unit::Count, "Kernels launched in it", |s| i64::from(s.n_kernels)),
        ints("class", "Class", Unit::Number, "Steps of one class launch the same kernels", |s| {
            i64::from(s.class)
        }),
        Column::flags(
            "steady",
            "Steady",
            "Past warming up, not cut by the capture",
            rows.iter().map(|s| Some(s.is_steady)),
        ),
        parts("compute_ns", "Compute", "Compute in the period", |p| p.compute_ns),
        parts(
            "exposed_comm_ns",
            "Exposed communication",
            "Communication in the period that no compute covers",
            |p| p.exposed_comm_ns,
        ),
        parts("exposed_copy_ns", "Exposed copies", "Copies in the period that nothing covers", |p| {
            p.exposed_copy_ns
        }),
        parts("idle_ns", "Idle", "Idle time in the period", Split::idle_ns),
    ];
    columns.extend(idle_columns(&splits));
    columns.push(Column::slices(
        "host",
        "Range",
        "The range on the host",
        rows.iter().map(|s| host(s).map(|h| h.slice)),
    ));
    columns.push(Column::slices(
        "example",
        "First slice",
        "The first slice launched in it",
        rows.iter().map(|s| Some(s.first)),
    ));
    Table { id: "step_list", title: "Steps one by one", columns }
}

/// The number that the user knows the step by: `ProfilerStep#12` is step 12.
fn shown_number(input: &Input<'_>, steps: &Steps, step: &DeviceStep) -> i64 {
    let name = steps.name(input.trace, step);
    let n_digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
    let digits = name.get(name.len() - n_digits..).unwrap_or_default();
    digits.parse().unwrap_or_else(|_| i64::from(step.number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{check_abstains, check_table, check_table_with, in_window};
    use crate::{Params, StepRule};

    // Host steps of 100 from 0; each launches a gemm at +10 and a copy at +20. The device runs them late:
    // gemm at 200, 300, 400 for 50, copy right behind it for 10; old ran before any of them.
    const RUN: &str = "thread 1 ops\n  annotation ProfilerStep#1 0 100\n  annotation ProfilerStep#2 100 100\n  annotation ProfilerStep#3 200 100\n\
         thread 1 api\n  api l 10 5 #1\n  api c 20 5 #2\n  api l 110 5 #3\n  api c 120 5 #4\n  api l 210 5 #5\n  api c 220 5 #6\n\
         stream 0:7\n  kernel old 100 20\n  kernel gemm 200 50 #1\n  h2d x 250 10 #2\n  kernel gemm 300 50 #3\n  h2d x 350 10 #4\n\
         \x20 kernel gemm 400 50 #5\n  h2d x 450 10 #6";

    #[test]
    fn a_step_is_a_device_period_with_parts_that_add_up() {
        // Period 1: 200..300 = 50 compute + 10 copy + 40 idle; the gemm that ends the gap 260..300 was launched
        // at 110..115: longer than 5 µs? No, 40 ns: launch latency. The last ends with its copy: 400..460.
        check_table(
            &ANALYZER,
            RUN,
            "step_list",
            &[
                "name",
                "step",
                "start_ns",
                "dur_ns",
                "host_ns",
                "kernels",
                "class",
                "compute_ns",
                "exposed_comm_ns",
                "exposed_copy_ns",
                "idle_ns",
                "idle_kernel_wait_ns",
            ],
            "ProfilerStep#1 | 1 | 200 | 100 | 100 | 1 | 0 | 50 | 0 | 10 | 40 | 40\n\
             ProfilerStep#2 | 2 | 300 | 100 | 100 | 1 | 0 | 50 | 0 | 10 | 40 | 40\n\
             ProfilerStep#3 | 3 | 400 | 60 | 100 | 1 | 0 | 50 | 0 | 10 | 0 | 0",
        );
        // 60 is 40 % off the median of 100: no 3 in a row are near, none is steady, all count.
        check_table(
            &ANALYZER,
            RUN,
            "steps",
            &[
                "source",
                "device",
                "count",
                "steady",
                "classes",
                "median_ns",
                "p95_ns",
                "max_ns",
                "host_median_ns",
                "typical_ns",
                "compute_ns",
                "exposed_copy_ns",
                "idle_ns",
            ],
            "ProfilerStep | 0 | 3 | 0 | 1 | 100 | 100 | 100 | 100 | 100 | 50 | 10 | 40",
        );
    }

    #[test]
    fn the_slowest_device_speaks() {
        let text = "thread 1 ops\n  annotation ProfilerStep#1 0 50\n  annotation ProfilerStep#2 50 50\n\
             thread 1 api\n  api l 0 1 #1\n  api l 2 1 #2\n  api l 50 1 #3\n  api l 52 1 #4\n\
             stream 0:7\n  kernel a 10 10 #1\n  kernel a 60 10 #3\nstream 1:7\n  kernel a 10 10 #2\n  kernel a 90 50 #4";
        // Device 0: 50 and 10, median 30. Device 1: 80 and 50, median 65.
        check_table(
            &ANALYZER,
            text,
            "steps",
            &["device", "median_ns", "host_median_ns", "host_pace"],
            "1 | 65 | 50 | host runs ahead",
        );
    }

    #[test]
    fn equally_slow_devices_are_spoken_for_by_the_first() {
        let text = "thread 1 ops\n  annotation ProfilerStep#1 0 50\nthread 1 api\n  api l 0 1 #1\n  api l 2 1 #2\n\
             stream 0:7\n  kernel a 10 10 #1\nstream 1:7\n  kernel a 10 10 #2";
        check_table(&ANALYZER, text, "steps", &["device", "median_ns", "cv"], "0 | 10 | -");
    }

    #[test]
    fn alternating_steps_are_classes_of_their_own() {
        let mut text = "thread 1 ops\n".to_owned();
        for step in 0..4 {
            text += &format!("  annotation ProfilerStep#{} {} 100\n", step + 1, step * 100);
        }
        text += "thread 1 api\n";
        for step in 0..4 {
            text += &format!(
                "  api l {} 1 #{}\n  api l {} 1 #{}\n",
                step * 100,
                step * 2 + 1,
                step * 100 + 2,
                step * 2 + 2
            );
        }
        text += "stream 0:7\n";
        for step in 0..4 {
            let second = if step % 2 == 0 { "b" } else { "adam" };
            text += &format!("  kernel a {} 10 #{}\n", 1000 + step * 100, step * 2 + 1);
            text += &format!("  kernel {second} {} 10 #{}\n", 1050 + step * 100, step * 2 + 2);
        }
        // Steps 100, 100, 100 and the last 60: class 0 has 100 and 100, class 1 100 and 60.
        check_table(
            &ANALYZER,
            &text,
            "step_classes",
            &["class", "count", "steady", "median_ns"],
            "0 | 2 | 2 | 100\n1 | 2 | 0 | 80",
        );
        check_table(
            &ANALYZER,
            &text,
            "steps",
            &["count", "steady", "classes", "median_ns"],
            "4 | 2 | 2 | 100",
        );
    }

    #[test]
    fn a_window_counts_the_steps_inside() {
        check_table_with(
            &ANALYZER,
            RUN,
            &in_window(250, 460),
            "step_list",
            &["name"],
            "ProfilerStep#2\nProfilerStep#3",
        );
        check_table_with(&ANALYZER, RUN, &in_window(0, 50), "steps", &["count", "median_ns"], "0 | -");
    }

    #[test]
    fn without_device_work_only_the_host_is_known() {
        check_table(
            &ANALYZER,
            "thread 1 ops\n  annotation ProfilerStep#1 0 50\n  annotation ProfilerStep#2 50 70",
            "steps",
            &["source", "device", "count", "steady", "median_ns", "host_median_ns", "compute_ns"],
            "ProfilerStep | - | 2 | - | - | 60 | -",
        );
    }

    #[test]
    fn a_user_says_what_a_step_is() {
        let with = |rule| Params { steps: Some(rule), items_per_step: Some(32.0), ..Params::default() };
        let columns = ["source", "count", "median_ns", "max_ns", "host_median_ns"];
        // gemm starts at 200, 300, 400; the last lasts to the end of the run's last slice at 460.
        let text = "user:kernel:gemm | 3 | 100 | 100 | -";
        check_table_with(&ANALYZER, RUN, &with(StepRule::Kernel("gemm".to_owned())), "steps", &columns, text);
        // Old and gemm 100..300, gemm and gemm 300..460: two classes, the longer speaks.
        let text = "user:every:2 | 2 | 200 | 200 | -";
        check_table_with(&ANALYZER, RUN, &with(StepRule::Every(2)), "steps", &columns, text);
        // 3 kernels from 100 to the fourth at 400; the rest is no step.
        let text = "user:every:3 | 1 | 300 | 300 | -";
        check_table_with(&ANALYZER, RUN, &with(StepRule::Every(3)), "steps", &columns, text);
        let text = "user:annotation:ProfilerStep#[12] | 2 | 80 | 100 | 100";
        let rule = StepRule::Annotation("ProfilerStep#[12]".to_owned());
        check_table_with(&ANALYZER, RUN, &with(rule), "steps", &columns, text);
        let text = "320000000"; // 32 items in 100 ns
        check_table_with(
            &ANALYZER,
            RUN,
            &with(StepRule::Kernel("gemm".to_owned())),
            "steps",
            &["items_per_s"],
            text,
        );
    }

    #[test]
    fn a_range_that_repeats_over_the_work_is_the_step() {
        let text = "thread 1 nvtx\n  nvtx_push_pop \"train step 1\" 0 50\n  nvtx_push_pop \"fwd\" 5 20\n  nvtx_push_pop \"train step 2\" 50 50\n\
             \x20 nvtx_push_pop \"fwd\" 55 20\n  nvtx_push_pop \"train step 3\" 100 50\n  nvtx_push_pop \"fwd\" 105 20\n\
             thread 1 api\n  api l 10 1 #1\n  api l 60 1 #2\n  api l 110 1 #3\n\
             stream 0:7\n  kernel a 20 10 #1\n  kernel a 70 10 #2\n  kernel a 120 10 #3";
        check_table(
            &ANALYZER,
            text,
            "steps",
            &["source", "count", "median_ns"],
            "nvtx:train step * | 3 | 50",
        );
    }

    #[test]
    fn no_step_is_invented() {
        check_abstains(&ANALYZER, "stream 0:7\n  kernel a 0 5\n  kernel a 10 5\n  kernel a 20 5", "--steps");
        // Twice is not often enough, and operators are no steps.
        let ops = |n: i64, name: &str| {
            let mut text = "thread 1 nvtx\n".to_owned();
            (0..n).for_each(|i| text += &format!("  nvtx_push_pop {name} {} 8\n", i * 10));
            text += "thread 1 api\n";
            (0..n).for_each(|i| text += &format!("  api l {} 1 #{}\n", i * 10 + 1, i + 1));
            text += "stream 0:7\n";
            (0..n).for_each(|i| text += &format!("  kernel a {} 5 #{}\n", i * 10 + 5, i + 1));
            text
        };
        check_abstains(&ANALYZER, &ops(2, "iter"), "--steps");
        check_abstains(&ANALYZER, &ops(9, "aten::mm"), "--steps");
        check_abstains(&ANALYZER, "", "--steps");
        let params = Params { steps: Some(StepRule::Nvtx("nothing".to_owned())), ..Params::default() };
        let outcome = crate::testing::run(&ANALYZER, RUN, &params);
        assert!(
            matches!(outcome, Outcome::Abstained(reason) if reason.contains("no NVTX range is called \"nothing\""))
        );
    }
}
