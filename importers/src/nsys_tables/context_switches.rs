//! `GPU_CONTEXT_SWITCH_EVENTS`: when a GPU changed from one context to another (`--gpuctxsw=true`).
//!
//! `FECS_EVENTS`, its name before 2023.4, is not read: no file says what its numbers mean.

use tracecard_model::TrackFamily;

use super::cells::Cells;
use super::fragment::Fragment;
use super::tables::TableReader;
use crate::nsys_terms::global_id::GlobalProcess;

pub(crate) const CONTEXT_SWITCHES: TableReader = TableReader {
    number: 21,
    table: "GPU_CONTEXT_SWITCH_EVENTS",
    label: "context switches",
    required: &["timestamp", "tag"],
    columns: &["timestamp", "tag", "globalPid", "gpuId"],
    read,
};

/// The exports' own `ENUM_GPU_CTX_SWITCH`.
const TAGS: &[&str] = &[
    "start of frame",
    "request by host",
    "front-end ACK",
    "front-end ACK WFI",
    "front-end ACK GFXP",
    "front-end ACK CTAP",
    "front-end ACK CILP",
    "save end",
    "restore start",
    "context start",
    "invalid time",
    "engine reset",
];

/// The tag of rows whose time means nothing.
const INVALID_TIME: i64 = 10;

fn read(fragment: &mut Fragment<'_>, cells: &Cells<'_>) {
    let [time, tag, process, gpu] = cells.ints();
    let Some(time_ns) = fragment.time(time).filter(|_| tag != Some(INVALID_TIME)) else {
        return fragment.bad_row(cells, &format!("time {time:?}, tag {tag:?}"));
    };
    let owner = fragment.owner(process);
    let machine = owner.map(GlobalProcess::machine).or(fragment.known.target.home);
    let device = gpu.zip(machine).map(|(gpu, machine)| fragment.gpu(machine, gpu));
    let process = process.map(|_| fragment.process(owner));
    let track = fragment.labelled_track(TrackFamily::DeviceOther, process, device);
    let known = tag.and_then(|tag| TAGS.get(usize::try_from(tag).ok()?));
    let name = match known {
        Some(name) => fragment.out.names.intern(name),
        None => fragment.out.names.intern("context switch"),
    };
    fragment.out.push_mark(track, time_ns, name);
}
