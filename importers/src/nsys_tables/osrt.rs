//! `OSRT_API`: calls of the operating-system runtime (`poll`, `pthread_cond_wait`).

use tracecard_model::{Severity, SliceKind, TrackFamily};

use super::cells::Cells;
use super::fragment::{Fragment, NewSlice};
use super::tables::TableReader;

pub(crate) const OS_RUNTIME: TableReader = TableReader {
    number: 7,
    table: "OSRT_API",
    required: &["start", "end"],
    columns: &["start", "end", "eventClass", "globalTid", "nameId"],
    read,
};

/// The column of the name in [`OS_RUNTIME`].
const NAME: usize = 4;

/// Classes of the rows that say when the profiler began and ended to record calls.
const RECORDING_MARKERS: std::ops::RangeInclusive<i64> = 31..=32;

fn read(fragment: &mut Fragment<'_>, cells: &Cells<'_>) {
    let [start, end, class, global_tid] = cells.ints();
    if class.is_some_and(|class| RECORDING_MARKERS.contains(&class)) {
        let text = "rows say when the recording of system calls began and ended; they are no calls";
        fragment.out.issues.count(Severity::Info, "os_runtime_markers", text, String::new);
        return;
    }
    let Some((start_ns, dur_ns)) = fragment.span(cells, start, end) else { return };
    let track = fragment.thread_track(TrackFamily::OsRuntime, global_tid);
    let name = fragment.name(cells, NAME);
    let name = name.unwrap_or_else(|| fragment.unnamed());
    let slice = NewSlice { track, kind: SliceKind::OsRuntime, name, start_ns, dur_ns, correlation: None };
    fragment.push(cells, slice);
}
