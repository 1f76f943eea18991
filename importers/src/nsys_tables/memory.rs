//! `CUDA_GPU_MEMORY_USAGE_EVENTS`: allocations and frees (`--cuda-memory-usage=true`). And
//! `CUDA_GPU_MEMORY_POOL_EVENTS`: what becomes of the pools of `cudaMallocAsync`.

use tracecard_model::{MemoryEvent, MemoryKind, TrackFamily};

use super::cells::Cells;
use super::fragment::Fragment;
use super::tables::TableReader;
use crate::nsys_terms::copy_kind::memory_kind;

pub(crate) const MEMORY_USAGE: TableReader = TableReader {
    number: 10,
    table: "CUDA_GPU_MEMORY_USAGE_EVENTS",
    label: "",
    required: &["start", "bytes", "memoryOperationType"],
    columns: &["start", "globalPid", "deviceId", "address", "bytes", "memKind", "memoryOperationType"],
    read,
};

pub(crate) const MEMORY_POOLS: TableReader = TableReader {
    number: 20,
    table: "CUDA_GPU_MEMORY_POOL_EVENTS",
    label: "memory pools",
    required: &["start", "operationType"],
    columns: &["start", "globalPid", "deviceId", "operationType"],
    read: read_pool,
};

fn read_pool(fragment: &mut Fragment<'_>, cells: &Cells<'_>) {
    let [start, process, device, operation] = cells.ints();
    let Some(time_ns) = fragment.time(start) else {
        return fragment.bad_row(cells, &format!("start {start:?}"));
    };
    // The exports' own ENUM_CUDA_MEMPOOL_OPER.
    let name = match operation {
        Some(1) => "pool created",
        Some(2) => "pool destroyed",
        Some(3) => "pool trimmed",
        _ => "pool changed",
    };
    let owner = fragment.owner(process);
    let process = Some(fragment.process(owner));
    let device = device.map(|ordinal| fragment.device(owner, ordinal));
    let track = fragment.labelled_track(TrackFamily::DeviceOther, process, device);
    let name = fragment.out.names.intern(name);
    fragment.out.push_mark(track, time_ns, name);
}

fn read(fragment: &mut Fragment<'_>, cells: &Cells<'_>) {
    let [start, process, device, address, bytes, memory, operation] = cells.ints();
    let delta_bytes = match (operation, bytes) {
        (Some(0), Some(bytes @ 0..)) => bytes,
        (Some(1), Some(bytes @ 0..)) => -bytes,
        _ => return fragment.bad_row(cells, &format!("operation {operation:?}, bytes {bytes:?}")),
    };
    let Some(time_ns) = fragment.time(start) else {
        return fragment.bad_row(cells, &format!("start {start:?}"));
    };
    let owner = fragment.owner(process);
    let process = Some(fragment.process(owner));
    // Host memory has a device number too: that of the context it was made in.
    let is_host = matches!(memory.and_then(memory_kind), Some(MemoryKind::Pageable | MemoryKind::Pinned));
    let device = if is_host { None } else { device.map(|ordinal| fragment.device(owner, ordinal)) };
    fragment.out.push_memory_event(MemoryEvent {
        time_ns,
        device,
        process,
        addr: address.map(|address| address as u64),
        delta_bytes,
        total_allocated_bytes: None,
        total_reserved_bytes: None,
    });
}
