//! `OSRT_API`: calls of the operating-system runtime (`poll`, `pthread_cond_wait`).

use tracecard_model::{Severity, SliceKind, TrackFamily};

use super::call_chains::ChainTable;
use super::cells::Cells;
use super::fragment::{Fragment, NewSlice};
use super::tables::TableReader;
use crate::nsys_terms::event_class::is_marker;

pub(crate) const OS_RUNTIME: TableReader = TableReader {
    number: 7,
    table: "OSRT_API",
    label: "",
    required: &["start", "end"],
    columns: &["start", "end", "eventClass", "globalTid", "nameId", "callchainId"],
    read,
};

/// Columns of the name and of the call stack in [`OS_RUNTIME`].
const NAME: usize = 4;
const CHAIN: usize = 5;

fn read(fragment: &mut Fragment<'_>, cells: &Cells<'_>) {
    let [start, end, class, global_tid] = cells.ints();
    if class.is_some_and(is_marker) {
        let text = "rows say when the recording of system calls began and ended; they are no calls";
        fragment.out.issues.count(Severity::Info, "os_runtime_markers", text, String::new);
        return;
    }
    let Some((start_ns, dur_ns)) = fragment.span(cells, start, end) else { return };
    let track = fragment.thread_track(TrackFamily::OsRuntime, global_tid);
    let name = fragment.name(cells, NAME);
    let name = name.unwrap_or_else(|| fragment.unnamed());
    let slice = NewSlice { track, kind: SliceKind::OsRuntime, name, start_ns, dur_ns, correlation: None };
    let row = fragment.push(cells, slice);
    // 0 is none.
    let chain = cells.int(CHAIN).filter(|chain| *chain != 0);
    if let Some(stack) = fragment.call_stack(cells, ChainTable::OsRuntime, chain) {
        fragment.out.push_call_stack(row, stack);
    }
}
