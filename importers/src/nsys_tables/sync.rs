//! `CUPTI_ACTIVITY_KIND_SYNCHRONIZATION`: what the host or a stream waited for.
//!
//! Read after the API calls and the device work: the class of a record comes from its call (see
//! [`SyncClass`]), and its device from its context, because the device of the record itself was seen to be
//! 0 for work on another device (2026.2).

use tracecard_model::{SliceKind, TrackFamily};

use super::cells::Cells;
use super::fragment::{Fragment, NewSlice, Place};
use super::tables::TableReader;
use crate::nsys_terms::sync_class::SyncClass;

pub(crate) const SYNCS: TableReader = TableReader {
    number: 5,
    table: "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
    label: "",
    required: &["start", "end"],
    columns: &["start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid"],
    read,
};

fn read(fragment: &mut Fragment<'_>, cells: &Cells<'_>) {
    let [start, end, device, context, stream, correlation, process] = cells.ints();
    let Some((start_ns, dur_ns)) = fragment.device_span(cells, start, end) else { return };
    let owner = fragment.owner(process);
    let known = fragment.known;
    let seen = context.and_then(|context| known.before.ordinal_from_context.get(&(owner, context)).copied());
    let device = seen.or_else(|| known.target.ordinal_of_context(owner, context)).or(device);
    // Records of a whole context or an event have no stream: 2³²−1 in the file.
    let stream = stream.filter(|stream| (0..i64::from(u32::MAX)).contains(stream));
    let track = fragment.stream_track(Place { family: TrackFamily::Sync, process, device, context, stream });
    let class = correlation.and_then(|correlation| known.before.sync_class(owner, correlation));
    let name = fragment.out.names.intern(class.map_or("Sync", SyncClass::name));
    fragment.push(cells, NewSlice { track, kind: SliceKind::Sync, name, start_ns, dur_ns, correlation });
}
