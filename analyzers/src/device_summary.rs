//! What each device did with the window: compute, communication, copies, idle by cause (SIG-2, SIG-3).

use tracecard_model::{DeviceId, Progress, Spans};

use crate::idle::{Cause, Gap};
use crate::kernels::NO_DEVICE_WORK;
use crate::partition::{DevicePartition, Split};
use crate::{AnalyzeError, Analyzer, Column, Input, Outcome, Table, Unit};

/// One row a device, and one a (device, cause of idling).
pub(crate) const ANALYZER: Analyzer = Analyzer { id: "devices", title: "What the devices did", run };

struct Row<'a> {
    part: &'a DevicePartition,
    split: Split,
    before_capture: BeforeCapture,
}

/// Work that was launched before the capture began: it has no launch and ran before the first work that
/// has one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BeforeCapture {
    pub(crate) count: i64,
    /// Union of its spans.
    pub(crate) busy_ns: i64,
}

fn run(input: &Input<'_>, _: &Progress) -> Result<Outcome, AnalyzeError> {
    let derived = input.derived;
    if derived.work().rows.is_empty() {
        return Ok(Outcome::Abstained(NO_DEVICE_WORK.to_owned()));
    }
    let rows: Vec<Row<'_>> = derived
        .partitions()
        .iter()
        .filter(|part| derived.is_shown(part.device))
        .map(|part| {
            let split = part.split(part.window);
            Row { part, split, before_capture: before_capture(input, part.device) }
        })
        .collect();
    Ok(Outcome::Done(vec![device_table(input, &rows), idle_table(input, &rows)]))
}

/// What of a device's shown work was launched before the capture.
pub(crate) fn before_capture(input: &Input<'_>, device: DeviceId) -> BeforeCapture {
    let work = input.derived.work();
    let range = work.devices.iter().find(|(id, _)| *id == device).map_or(0..0, |(_, range)| range.clone());
    let rows = &work.rows[range];
    if rows.iter().all(|row| row.launch().is_none()) {
        // Launches were not recorded at all: nothing tells when the work was launched.
        return BeforeCapture::default();
    }
    let spans: Vec<_> = rows
        .iter()
        .take_while(|row| row.launch().is_none())
        .map(|row| row.span)
        .filter(|span| input.derived.is_in_window(*span))
        .collect();
    BeforeCapture { count: spans.len() as i64, busy_ns: Spans::union_of(spans).total_ns() }
}

fn device_table(input: &Input<'_>, rows: &[Row<'_>]) -> Table {
    let ns = |id, title, doc, value: fn(&Row<'_>) -> i64| {
        Column::ints(id, title, Unit::Ns, doc, rows.iter().map(|row| Some(value(row))))
    };
    let name = |row: &Row<'_>| input.trace.devices.get(row.part.device.idx())?.name.clone();
    let columns = vec![
        Column::ints(
            "device",
            "Device",
            Unit::Number,
            "Number of the device",
            rows.iter().map(|r| input.derived.device_number(r.part.device)),
        ),
        Column::texts("name", "Name", "Product name", rows.iter().map(name)),
        ns(
            "window_ns",
            "Window",
            "Length of the window; compute + exposed communication + exposed copies + idle, exactly",
            |r| r.part.window.dur_ns(),
        ),
        ns(
            "busy_ns",
            "Busy",
            "Time in which anything ran. High is no sign of health: copies and waiting communication are busy too",
            |r| r.split.busy_ns(),
        ),
        ns(
            "compute_ns",
            "Compute",
            "Time in which kernels ran that do not communicate, whole graphs, memsets or copies inside the device",
            |r| r.split.compute_ns,
        ),
        ns("copy_ns", "Copies", "Time in which copies between host and device ran, covered or not", |r| {
            r.part.copy.total_ns()
        }),
        ns("comm_ns", "Communication", "Time in which communication ran, covered by compute or not", |r| {
            r.part.communication.total_ns()
        }),
        ns("exposed_comm_ns", "Exposed communication", "Communication that no compute covers", |r| {
            r.split.exposed_comm_ns
        }),
        ns(
            "exposed_copy_ns",
            "Exposed copies",
            "Copies between host and device that neither compute nor communication covers",
            |r| r.split.exposed_copy_ns,
        ),
        ns("idle_ns", "Idle", "Time in which nothing ran", |r| r.split.idle_ns()),
        ns(
            "before_capture_ns",
            "Launched before capture",
            "Busy time of work that was launched before the capture began; it belongs to no step",
            |r| r.before_capture.busy_ns,
        ),
        Column::ints(
            "before_capture",
            "Slices launched before capture",
            Unit::Count,
            "How many slices that is",
            rows.iter().map(|r| Some(r.before_capture.count)),
        ),
    ];
    Table { id: "devices", title: "Devices", columns }
}

fn idle_table(input: &Input<'_>, rows: &[Row<'_>]) -> Table {
    let causes: Vec<(&Row<'_>, Cause)> =
        rows.iter().flat_map(|row| Cause::ALL.into_iter().map(move |cause| (row, cause))).collect();
    fn gaps<'a>(row: &'a Row<'_>, cause: Cause) -> impl DoubleEndedIterator<Item = &'a Gap> {
        row.part.gaps.iter().filter(move |gap| gap.cause == cause)
    }
    // The first of the longest, by time.
    let longest = |row: &Row<'_>, cause| gaps(row, cause).rev().max_by_key(|gap| gap.span.dur_ns()).copied();
    let columns = vec![
        Column::ints(
            "device",
            "Device",
            Unit::Number,
            "Number of the device",
            causes.iter().map(|(row, _)| input.derived.device_number(row.part.device)),
        ),
        Column::texts(
            "cause",
            "Cause",
            "Why nothing ran: host_wait (the launch was not done), kernel_wait (at most 5 µs between launched work), other (launched, yet it waited), graph_internal (between nodes of a graph replay), unknown (no launch in the file)",
            causes.iter().map(|(_, cause)| Some(cause.text().to_owned())),
        ),
        Column::ints(
            "ns",
            "Idle",
            Unit::Ns,
            "Sum over all gaps of this cause, however short",
            causes.iter().map(|(row, cause)| Some(row.split.idle_by_cause_ns[cause.idx()])),
        ),
        Column::ints(
            "gaps",
            "Gaps",
            Unit::Count,
            "How many gaps",
            causes.iter().map(|(row, cause)| Some(gaps(row, *cause).count() as i64)),
        ),
        Column::ints(
            "longest_ns",
            "Longest",
            Unit::Ns,
            "The longest gap; unknown where there is none",
            causes.iter().map(|(row, cause)| longest(row, *cause).map(|gap| gap.span.dur_ns())),
        ),
        Column::slices(
            "example",
            "Ends longest",
            "What ran after the longest gap",
            causes.iter().map(|(row, cause)| longest(row, *cause)?.ended_by),
        ),
    ];
    Table { id: "idle_by_cause", title: "Idle by cause", columns }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Params;
    use crate::testing::{check_abstains, check_table, check_table_with, in_window};

    const COLUMNS: &[&str] = &[
        "device",
        "window_ns",
        "busy_ns",
        "compute_ns",
        "copy_ns",
        "comm_ns",
        "exposed_comm_ns",
        "exposed_copy_ns",
        "idle_ns",
        "before_capture",
    ];

    // old 0..5 was launched before the capture; gemm 20..50, nccl 40..70 (20 exposed), copy 60..90 (20 exposed);
    // idle 5..20 (launched at 10: host) and 90..100 (nothing more is launched: host).
    const RUN: &str = "device 0 H100\nthread 1 api\n  api l 10 5 #1\n  api l 15 1 #2\n  api l 16 1 #3\n  api end 99 1\n\
         stream 0:7\n  kernel old 0 5\n  kernel gemm 20 30 #1\nstream 0:8\n  kernel ncclX 40 30 #2\nstream 0:9\n  h2d c 60 30 #3";

    #[test]
    fn the_parts_add_up_to_the_window() {
        // 35 compute + 20 + 20 + 25 idle = 100.
        check_table(&ANALYZER, RUN, "devices", COLUMNS, "0 | 100 | 75 | 35 | 30 | 30 | 20 | 20 | 25 | 1");
        check_table(
            &ANALYZER,
            RUN,
            "idle_by_cause",
            &["cause", "ns", "gaps", "longest_ns"],
            "host_wait | 15 | 1 | 15\nkernel_wait | 0 | 0 | -\nother | 0 | 0 | -\ngraph_internal | 0 | 0 | -\nunknown | 10 | 1 | 10",
        );
    }

    #[test]
    fn graphics_page_faults_and_threads_on_cpus_are_no_work() {
        let others = "thread 2 device_other\n  other \"3 page faults\" 5 90\nthread 2 scheduling\n  running \"CPU 0\" 0 100\n\
                      thread 2 library\n  library cudnnConvolutionForward 0 100\nthread 2 samples";
        check_table(
            &ANALYZER,
            &format!("{RUN}\n{others}"),
            "devices",
            COLUMNS,
            "0 | 100 | 75 | 35 | 30 | 30 | 20 | 20 | 25 | 1",
        );
    }

    #[test]
    fn a_window_is_labelled_for_itself() {
        // 30..65: compute 30..50, communication 50..65 exposed (copy 60..65 is covered by it).
        check_table_with(
            &ANALYZER,
            RUN,
            &in_window(30, 65),
            "devices",
            COLUMNS,
            "0 | 35 | 35 | 20 | 5 | 25 | 15 | 0 | 0 | 0",
        );
    }

    #[test]
    fn a_chosen_device_stands_alone() {
        let params = Params { device: Some(1), ..Params::default() };
        let text = "stream 0:7\n  kernel a 0 10\nstream 1:7\n  kernel a 0 5\n";
        check_table_with(
            &ANALYZER,
            text,
            &params,
            "devices",
            &["device", "compute_ns", "idle_ns"],
            "1 | 5 | 5",
        );
    }

    #[test]
    fn devices_come_by_number_even_where_they_are_equal() {
        let text = "stream 1:7\n  kernel a 0 5\nstream 0:7\n  kernel a 0 5";
        check_table(&ANALYZER, text, "devices", &["device", "compute_ns"], "0 | 5\n1 | 5");
    }

    #[test]
    fn without_device_work_nobody_says_zero() {
        check_abstains(
            &ANALYZER,
            "device 0 H100\nthread 1 api\n  api cudaLaunchKernel 0 5 #1",
            "no device work",
        );
        check_abstains(&ANALYZER, "", "no device work");
    }
}
