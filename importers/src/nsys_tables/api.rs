//! `CUPTI_ACTIVITY_KIND_RUNTIME`: calls of the CUDA runtime and driver.

use tracecard_model::{Severity, SliceKind, TrackFamily};

use super::call_chains::ChainTable;
use super::cells::Cells;
use super::fragment::{Fragment, NewSlice};
use super::tables::TableReader;

pub(crate) const API: TableReader = TableReader {
    number: 4,
    table: "CUPTI_ACTIVITY_KIND_RUNTIME",
    label: "",
    required: &["start", "end"],
    columns: &[
        "start",
        "end",
        "eventClass",
        "globalTid",
        "correlationId",
        "returnValue",
        "nameId",
        "callchainId",
    ],
    read,
};

/// Columns of the name and of the call stack in [`API`].
const NAME: usize = 6;
const CHAIN: usize = 7;

/// Class of the rows that repeat a call to hold its backtrace: each call would count twice.
const BACKTRACE_CLASS: i64 = 67;

/// What `cudaEventQuery` and `cudaStreamQuery` return while work is running.
const NOT_READY: i64 = 600;

fn read(fragment: &mut Fragment<'_>, cells: &Cells<'_>) {
    let [start, end, class, global_tid, correlation, return_value] = cells.ints();
    if class == Some(BACKTRACE_CLASS) {
        let text = "rows repeat an API call to hold its backtrace; they are not counted as calls";
        fragment.out.issues.count(Severity::Info, "api_backtrace_rows", text, String::new);
        return;
    }
    let Some((start_ns, dur_ns)) = fragment.span(cells, start, end) else { return };
    let track = fragment.thread_track(TrackFamily::Api, global_tid);
    let function = fragment.api_function(cells, NAME);
    let slice = NewSlice { track, kind: SliceKind::Api, name: function.name, start_ns, dur_ns, correlation };
    let row = fragment.push(cells, slice);
    let chain = cells.int(CHAIN).filter(|chain| *chain != 0);
    if let Some(stack) = fragment.call_stack(cells, ChainTable::Cuda, chain) {
        fragment.out.push_call_stack(row, stack);
    }

    let return_value = return_value.unwrap_or(0);
    let has_failed = return_value != 0 && !(function.is_query && return_value == NOT_READY);
    if has_failed {
        fragment.out.push_api_error(row, return_value);
    }
    if function.is_launch && !has_failed {
        fragment.note_launch(global_tid, function.name);
    }
    if function.is_profiler_start {
        let owner = fragment.owner(global_tid);
        *fragment.found.profiler_starts.entry(owner).or_default() += 1;
    }
    if let (Some(class), Some(correlation)) = (function.sync, correlation) {
        let owner = fragment.owner(global_tid);
        fragment.found.sync_calls.push((owner, correlation, class));
    }
}
