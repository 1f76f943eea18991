//! `SCHED_EVENTS`: when each thread was switched onto a CPU and off it.
//!
//! Rows come in any order, so they are paired once all are read. What has no counterpart is counted, not
//! guessed: a thread that runs when the recording begins has an end and no start.

use tracecard_model::{Severity, SliceFlags, SliceKind, TrackFamily};

use super::cells::Cells;
use super::fragment::{Fragment, NewSlice};
use super::tables::TableReader;

pub(crate) const SCHEDULING: TableReader = TableReader {
    number: 13,
    table: "SCHED_EVENTS",
    label: "",
    required: &["start", "isSchedIn"],
    columns: &["start", "cpu", "isSchedIn", "globalTid"],
    read,
};

/// A thread enters or leaves a CPU. Ordered by thread, time, leaving first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Switch {
    thread: Option<i64>,
    time_ns: i64,
    is_in: bool,
    cpu: Option<i64>,
    row_id: i64,
}

fn read(fragment: &mut Fragment<'_>, cells: &Cells<'_>) {
    let [start, cpu, is_in, thread] = cells.ints();
    let Some(time_ns) = fragment.time(start) else {
        return fragment.bad_row(cells, &format!("start {start:?}"));
    };
    if thread.is_none() {
        let text = "switches onto or off CPUs do not say of which thread; they are left out";
        return fragment.out.issues.count(Severity::Info, "switches_without_thread", text, String::new);
    }
    let is_in = is_in.is_some_and(|is_in| is_in != 0);
    fragment.found.switches.push(Switch { thread, time_ns, is_in, cpu, row_id: cells.row_id() });
}

/// Make slices of the switches of some threads, sorted. The recording ended at `end_ns`.
pub(crate) fn push_running(fragment: &mut Fragment<'_>, switches: &[Switch], end_ns: i64) {
    fragment.enter(&SCHEDULING);
    let mut running: Option<Switch> = None;
    let mut n_unpaired = 0;
    let mut idx = 0;
    while let Some(switch) = switches.get(idx).copied() {
        let next = switches.get(idx + 1).copied();
        let is_last = next.is_none_or(|next| next.thread != switch.thread);
        // Off and on at one instant while the thread does not run: it came on and went off at once, unless it
        // goes off once more later.
        let after = switches.get(idx + 2).filter(|after| after.thread == switch.thread);
        let is_blink = |next: &Switch| {
            next.is_in
                && !switch.is_in
                && (next.thread, next.time_ns) == (switch.thread, switch.time_ns)
                && after.is_none_or(|after| after.is_in)
        };
        if running.is_none()
            && let Some(next) = next.filter(is_blink)
        {
            push_slice(fragment, next, switch.time_ns, SliceFlags::NONE);
            idx += 2;
            continue;
        }
        match (switch.is_in, running.take()) {
            (true, before) => {
                n_unpaired += u64::from(before.is_some());
                running = Some(switch);
            }
            (false, Some(before)) => push_slice(fragment, before, switch.time_ns, SliceFlags::NONE),
            (false, None) => n_unpaired += 1,
        }
        if is_last && let Some(open) = running.take() {
            push_slice(fragment, open, end_ns.max(open.time_ns), SliceFlags::UNCLOSED);
        }
        idx += 1;
    }
    let text = "switches of threads onto or off CPUs have no counterpart; the time between is not drawn";
    fragment.out.issues.count_n(
        n_unpaired,
        Severity::Info,
        "switches_without_counterpart",
        text,
        String::new,
    );
}

fn push_slice(fragment: &mut Fragment<'_>, on: Switch, end_ns: i64, flags: SliceFlags) {
    let track = fragment.thread_track(TrackFamily::Scheduling, on.thread);
    let name = match on.cpu {
        Some(cpu) => fragment.out.names.intern(&format!("CPU {cpu}")),
        None => fragment.out.names.intern("CPU"),
    };
    let slice = NewSlice {
        track,
        kind: SliceKind::Running,
        name,
        start_ns: on.time_ns,
        dur_ns: end_ns - on.time_ns,
        correlation: None,
    };
    fragment.push_from(on.row_id, slice, flags);
}

/// Ranges of sorted switches that belong to whole threads, of about `n` switches each.
pub(crate) fn whole_threads(switches: &[Switch], n: usize) -> Vec<&[Switch]> {
    let mut parts = Vec::new();
    let mut rest = switches;
    while n < rest.len() {
        let thread = rest[n].thread;
        let end = n + rest[n..].partition_point(|switch| switch.thread == thread);
        let (part, tail) = rest.split_at(end);
        parts.push(part);
        rest = tail;
    }
    parts.extend(Some(rest).filter(|rest| !rest.is_empty()));
    parts
}
