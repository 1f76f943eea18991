//! `PROFILER_OVERHEAD` (time nsys took) and `CUPTI_ACTIVITY_KIND_OVERHEAD` (time CUPTI and the driver took:
//! lazy loading of kernels, full command buffers – stalls that the program feels).

use tracecard_model::{NameId, SliceKind, TrackFamily};

use super::cells::Cells;
use super::fragment::{Fragment, NewSlice};
use super::tables::TableReader;

const COLUMNS: &[&str] = &["start", "end", "globalTid", "overheadType", "nameId"];

/// The column of the name.
const NAME: usize = 4;

pub(crate) const PROFILER_OVERHEAD: TableReader = TableReader {
    number: 8,
    table: "PROFILER_OVERHEAD",
    label: "",
    required: &["start", "end"],
    columns: COLUMNS,
    read,
};

pub(crate) const CUPTI_OVERHEAD: TableReader = TableReader {
    number: 9,
    table: "CUPTI_ACTIVITY_KIND_OVERHEAD",
    label: "",
    required: &["start", "end"],
    columns: COLUMNS,
    read,
};

fn read(fragment: &mut Fragment<'_>, cells: &Cells<'_>) {
    let [start, end, global_tid, kind] = cells.ints();
    let Some((start_ns, dur_ns)) = fragment.span(cells, start, end) else { return };
    let track = fragment.thread_track(TrackFamily::Overhead, global_tid);
    let name = overhead_name(fragment, cells, kind);
    let slice = NewSlice { track, kind: SliceKind::Overhead, name, start_ns, dur_ns, correlation: None };
    fragment.push(cells, slice);
}

fn overhead_name(fragment: &mut Fragment<'_>, cells: &Cells<'_>, kind: Option<i64>) -> NameId {
    if cells.int(NAME).is_none_or(|id| fragment.has_text(id) || kind.is_none())
        && let Some(name) = fragment.name(cells, NAME)
    {
        return name;
    }
    // The values of CUpti_ActivityOverheadKind in the order that nsys numbers them.
    let text = match kind {
        Some(2) => "JIT compilation",
        Some(3) => "Buffer flush",
        Some(4) => "Instrumentation",
        Some(5) => "Resource creation",
        Some(6) => "Runtime module load",
        Some(7) => "Lazy function loading",
        Some(8) => "Command buffer full",
        _ => "Overhead",
    };
    fragment.out.names.intern(text)
}
