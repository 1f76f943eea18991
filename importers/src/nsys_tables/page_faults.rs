//! `CUDA_UM_CPU_PAGE_FAULT_EVENTS` and `CUDA_UM_GPU_PAGE_FAULT_EVENTS`: faults of unified memory.

use tracecard_model::{SliceKind, TrackFamily, TrackKey};

use super::cells::Cells;
use super::fragment::{Fragment, NewSlice};
use super::tables::TableReader;

pub(crate) const CPU_PAGE_FAULTS: TableReader = TableReader {
    number: 18,
    table: "CUDA_UM_CPU_PAGE_FAULT_EVENTS",
    label: "CPU page faults",
    required: &["start"],
    columns: &["start", "globalPid", "CpuInstruction"],
    read: read_cpu,
};

pub(crate) const GPU_PAGE_FAULTS: TableReader = TableReader {
    number: 19,
    table: "CUDA_UM_GPU_PAGE_FAULT_EVENTS",
    label: "GPU page faults",
    required: &["start", "end"],
    columns: &["start", "end", "globalPid", "deviceId", "numberOfPageFaults"],
    read: read_gpu,
};

fn read_cpu(fragment: &mut Fragment<'_>, cells: &Cells<'_>) {
    let [start, process] = cells.ints();
    let Some(time_ns) = fragment.time(start) else {
        return fragment.bad_row(cells, &format!("start {start:?}"));
    };
    let owner = fragment.owner(process);
    let process = Some(fragment.process(owner));
    let track = fragment.labelled_track(TrackFamily::Other, process, None);
    let name = fragment.name(cells, 2);
    let name = name.unwrap_or_else(|| fragment.out.names.intern("page fault"));
    fragment.out.push_mark(track, time_ns, name);
}

fn read_gpu(fragment: &mut Fragment<'_>, cells: &Cells<'_>) {
    let [start, end, process, device, n_faults] = cells.ints();
    let Some((start_ns, dur_ns)) = fragment.span(cells, start, end) else { return };
    let owner = fragment.owner(process);
    let process = Some(fragment.process(owner));
    let device = device.map(|ordinal| fragment.device(owner, ordinal));
    let track = fragment.labelled_track(TrackFamily::DeviceOther, process, device);
    let name = match n_faults {
        Some(n_faults) => format!("{n_faults} page faults"),
        None => "page faults".to_owned(),
    };
    let name = fragment.out.names.intern(&name);
    let slice = NewSlice { track, kind: SliceKind::Other, name, start_ns, dur_ns, correlation: None };
    fragment.push(cells, slice);
}

impl Fragment<'_> {
    /// A track of a process or device, with the label of the table.
    pub(crate) fn labelled_track(
        &mut self,
        family: TrackFamily,
        process: Option<tracecard_model::ProcessId>,
        device: Option<tracecard_model::DeviceId>,
    ) -> tracecard_model::TrackId {
        let label = Some(self.label().to_owned());
        self.out.track(TrackKey { family, process, thread: None, device, context: None, stream: None, label })
    }
}
