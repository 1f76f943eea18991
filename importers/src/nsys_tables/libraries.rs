//! Calls into libraries and runtimes, and graphics work of GPUs: plain slices with the label of their library.
//!
//! All these tables have a start, an end, a name and a thread; what else they have differs and is not read.
//! Tables of MPI and UCX, which nsys makes of NVTX ranges, have no end where a call never returned.

use tracecard_model::{NameId, Severity, SliceFlags, SliceKind, TrackFamily};

use super::cells::Cells;
use super::found::UnclosedRange;
use super::fragment::{Fragment, NewSlice};
use super::tables::TableReader;
use crate::nsys_terms::event_class::is_marker;
use crate::nsys_terms::global_id::GlobalProcess;

const CALL_COLUMNS: &[&str] = &["start", "end", "globalTid", "eventClass", "nameId", "textId", "text"];

/// Columns of the name in [`CALL_COLUMNS`].
const NAME_ID: usize = 4;
const TEXT_ID: usize = 5;
const TEXT: usize = 6;

const fn calls(number: u8, table: &'static str, label: &'static str) -> TableReader {
    TableReader { number, table, label, required: &["start", "end"], columns: CALL_COLUMNS, read: read_call }
}

/// As [`calls`], for messages that programs send to their debugger: with a text of their own beside the
/// function, and no end where they are instants.
const fn messages(number: u8, table: &'static str, label: &'static str) -> TableReader {
    TableReader { number, table, label, required: &["start"], columns: CALL_COLUMNS, read: read_message }
}

const fn gpu_work(number: u8, table: &'static str, label: &'static str) -> TableReader {
    TableReader {
        number,
        table,
        label,
        required: &["start", "end"],
        columns: &["start", "end", "globalTid", "nameId", "gpu"],
        read: read_gpu_work,
    }
}

/// Label of calls to MPI, and name of the NVTX domain in which profiles of MPI programs hold them.
pub(crate) const MPI: &str = "MPI";

/// All tables.
pub(crate) const LIBRARIES: &[TableReader] = &[
    calls(40, "CUDNN_EVENTS", "cuDNN"),
    calls(41, "CUBLAS_EVENTS", "cuBLAS"),
    calls(42, "CUPTI_ACTIVITY_KIND_OPENACC_OTHER", "OpenACC"),
    calls(43, "CUPTI_ACTIVITY_KIND_OPENACC_DATA", "OpenACC"),
    calls(44, "CUPTI_ACTIVITY_KIND_OPENACC_LAUNCH", "OpenACC"),
    calls(45, "MPI_OTHER_EVENTS", MPI),
    calls(46, "MPI_P2P_EVENTS", MPI),
    calls(47, "MPI_COLLECTIVES_EVENTS", MPI),
    calls(48, "MPI_START_WAIT_EVENTS", MPI),
    calls(49, "UCP_EVENTS", "UCX"),
    calls(50, "UCP_SUBMIT_EVENTS", "UCX"),
    calls(51, "UCP_PROGRESS_EVENTS", "UCX"),
    calls(52, "OPENGL_API", "OpenGL"),
    messages(53, "KHR_DEBUG_EVENTS", "OpenGL"),
    calls(54, "VULKAN_API", "Vulkan"),
    messages(55, "VULKAN_DEBUG_API", "Vulkan"),
    calls(56, "DX11_API", "DirectX"),
    calls(57, "DX12_API", "DirectX"),
    calls(58, "DXGI_API", "DirectX"),
    calls(59, "NVVIDEO_ENCODER_API", "NVENC"),
    calls(60, "NVVIDEO_DECODER_API", "NVDEC"),
    calls(61, "NVVIDEO_JPEG_API", "nvJPEG"),
    calls(62, "OPENXR_EVENTS", "OpenXR"),
    calls(63, "OPENMP_EVENT_KIND_THREAD", "OpenMP"),
    calls(64, "OPENMP_EVENT_KIND_PARALLEL", "OpenMP"),
    calls(65, "OPENMP_EVENT_KIND_SYNC_REGION_WAIT", "OpenMP"),
    calls(66, "OPENMP_EVENT_KIND_SYNC_REGION", "OpenMP"),
    calls(67, "OPENMP_EVENT_KIND_TASK", "OpenMP"),
    calls(68, "OPENMP_EVENT_KIND_MASTER", "OpenMP"),
    calls(69, "OPENMP_EVENT_KIND_REDUCTION", "OpenMP"),
    calls(70, "OPENMP_EVENT_KIND_TASK_CREATE", "OpenMP"),
    calls(71, "OPENMP_EVENT_KIND_TASK_SCHEDULE", "OpenMP"),
    calls(72, "OPENMP_EVENT_KIND_CANCEL", "OpenMP"),
    calls(73, "OPENMP_EVENT_KIND_MUTEX_WAIT", "OpenMP"),
    calls(74, "OPENMP_EVENT_KIND_CRITICAL_SECTION", "OpenMP"),
    calls(75, "OPENMP_EVENT_KIND_MUTEX_RELEASED", "OpenMP"),
    calls(76, "OPENMP_EVENT_KIND_LOCK_INIT", "OpenMP"),
    calls(77, "OPENMP_EVENT_KIND_LOCK_DESTROY", "OpenMP"),
    calls(78, "OPENMP_EVENT_KIND_WORKSHARE", "OpenMP"),
    calls(79, "OPENMP_EVENT_KIND_DISPATCH", "OpenMP"),
    calls(80, "OPENMP_EVENT_KIND_FLUSH", "OpenMP"),
    gpu_work(81, "OPENGL_WORKLOAD", "OpenGL"),
    gpu_work(82, "VULKAN_WORKLOAD", "Vulkan"),
    gpu_work(83, "DX12_WORKLOAD", "DirectX"),
    messages(84, "D3D11_PIX_DEBUG_API", "DirectX"),
    messages(85, "D3D12_PIX_DEBUG_API", "DirectX"),
];

fn read_call(fragment: &mut Fragment<'_>, cells: &Cells<'_>) {
    let [start, end, global_tid, class] = cells.ints();
    if class.is_some_and(is_marker) {
        let text = "rows say when the recording of a library began and ended; they are no calls";
        let table = fragment.table();
        return fragment.out.issues.count(Severity::Info, "library_markers", text, || table.to_owned());
    }
    let name = fragment.name(cells, NAME_ID).or_else(|| fragment.name(cells, TEXT_ID));
    let name = name.or_else(|| cells.text(TEXT).map(|text| fragment.out.names.intern(&text)));
    let name = name.unwrap_or_else(|| fragment.unnamed());
    if end.is_none()
        && let Some(start_ns) = fragment.time(start)
        && let Some(reader) = LIBRARIES.iter().find(|reader| reader.table == fragment.table())
    {
        let (kind, name) = (SliceKind::Library, fragment.out.names.text(name).to_owned());
        let (domain, row_id, payload) = (0, cells.row_id(), None);
        let range = UnclosedRange { reader, kind, start_ns, global_tid, name, domain, row_id, payload };
        return fragment.found.unclosed.push(range);
    }
    push_call(fragment, cells, name);
}

/// Add a call that was never closed; the capture ended at `end_ns`.
pub(crate) fn push_unclosed_call(fragment: &mut Fragment<'_>, range: &UnclosedRange, end_ns: i64) {
    let track = fragment.library_track(range.global_tid);
    let name = fragment.out.names.intern(&range.name);
    let (start_ns, dur_ns) = (range.start_ns, end_ns.saturating_sub(range.start_ns).max(0));
    let slice = NewSlice { track, kind: range.kind, name, start_ns, dur_ns, correlation: None };
    fragment.push_from(range.row_id, slice, SliceFlags::UNCLOSED);
}

/// Classes of these tables are numbers of their own.
fn read_message(fragment: &mut Fragment<'_>, cells: &Cells<'_>) {
    let [start, end, global_tid] = cells.ints();
    let name = fragment.name(cells, TEXT_ID).or_else(|| fragment.name(cells, NAME_ID));
    let name = name.unwrap_or_else(|| fragment.unnamed());
    if end.is_some() {
        return push_call(fragment, cells, name);
    }
    let Some(time_ns) = fragment.time(start) else {
        return fragment.bad_row(cells, &format!("start {start:?}"));
    };
    let track = fragment.library_track(global_tid);
    fragment.out.push_mark(track, time_ns, name);
}

fn push_call(fragment: &mut Fragment<'_>, cells: &Cells<'_>, name: NameId) {
    let [start, end, global_tid] = cells.ints();
    let Some((start_ns, dur_ns)) = fragment.span(cells, start, end) else { return };
    let track = fragment.library_track(global_tid);
    let slice = NewSlice { track, kind: SliceKind::Library, name, start_ns, dur_ns, correlation: None };
    fragment.push(cells, slice);
}

fn read_gpu_work(fragment: &mut Fragment<'_>, cells: &Cells<'_>) {
    let [start, end, global_tid] = cells.ints();
    let Some((start_ns, dur_ns)) = fragment.span(cells, start, end) else { return };
    let owner = fragment.owner(global_tid);
    let process = fragment.process(owner);
    let gpu = cells.int(4);
    let machine = owner.map(GlobalProcess::machine);
    let device = gpu.zip(machine).map(|(gpu, machine)| fragment.gpu(machine, gpu));
    let track = fragment.labelled_track(TrackFamily::DeviceOther, Some(process), device);
    let name = fragment.name(cells, 3);
    let name = name.unwrap_or_else(|| fragment.unnamed());
    let slice = NewSlice { track, kind: SliceKind::Other, name, start_ns, dur_ns, correlation: None };
    fragment.push(cells, slice);
}
