//! Calls into libraries and runtimes, and graphics work of GPUs: plain slices with the label of their library.
//!
//! All these tables have a start, an end, a name and a thread; what else they have differs and is not read.

use tracecard_model::{SliceKind, TrackFamily};

use super::cells::Cells;
use super::fragment::{Fragment, NewSlice};
use super::tables::TableReader;
use crate::nsys_terms::event_class::is_marker;
use crate::nsys_terms::global_id::GlobalProcess;

const CALL_COLUMNS: &[&str] = &["start", "end", "globalTid", "eventClass", "nameId", "textId", "text"];

const fn calls(number: u8, table: &'static str, label: &'static str) -> TableReader {
    TableReader { number, table, label, required: &["start", "end"], columns: CALL_COLUMNS, read: read_call }
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
    calls(53, "KHR_DEBUG_EVENTS", "OpenGL"),
    calls(54, "VULKAN_API", "Vulkan"),
    calls(55, "VULKAN_DEBUG_API", "Vulkan"),
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
];

fn read_call(fragment: &mut Fragment<'_>, cells: &Cells<'_>) {
    let [start, end, global_tid, class] = cells.ints();
    if class.is_some_and(is_marker) {
        return;
    }
    let Some((start_ns, dur_ns)) = fragment.span(cells, start, end) else { return };
    let track = fragment.library_track(global_tid);
    let name = fragment.name(cells, 4).or_else(|| fragment.name(cells, 5));
    let name = match (name, cells.text(6)) {
        (Some(name), _) => name,
        (None, Some(text)) => fragment.out.names.intern(&text),
        (None, None) => fragment.unnamed(),
    };
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
