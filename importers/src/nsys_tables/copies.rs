//! `CUPTI_ACTIVITY_KIND_MEMCPY` and `_MEMSET`.
//!
//! Unified-memory migrations are rows of the copy table with correlation 0: no API call is behind them.

use tracecard_model::{Copy, CopyKind, SliceKind, TrackFamily};

use super::cells::Cells;
use super::fragment::{Fragment, NewSlice, Place};
use super::tables::TableReader;
use crate::nsys_terms::copy_kind::{CopyCodes, memory_kind, memset_name};

pub(crate) const COPIES: TableReader = TableReader {
    number: 2,
    table: "CUPTI_ACTIVITY_KIND_MEMCPY",
    label: "",
    required: &["start", "end"],
    columns: &[
        "start",
        "end",
        "deviceId",
        "contextId",
        "streamId",
        "correlationId",
        "globalPid",
        "bytes",
        "copyKind",
        "srcKind",
        "dstKind",
        "graphNodeId",
    ],
    read: read_copy,
};

pub(crate) const MEMSETS: TableReader = TableReader {
    number: 3,
    table: "CUPTI_ACTIVITY_KIND_MEMSET",
    label: "",
    required: &["start", "end"],
    columns: &[
        "start",
        "end",
        "deviceId",
        "contextId",
        "streamId",
        "correlationId",
        "globalPid",
        "bytes",
        "memKind",
        "graphNodeId",
    ],
    read: read_memset,
};

fn read_copy(fragment: &mut Fragment<'_>, cells: &Cells<'_>) {
    let [start, end, device, context, stream, correlation, process, bytes, kind, src, dst, node] =
        cells.ints();
    let Some((start_ns, dur_ns)) = fragment.device_span(cells, start, end) else { return };
    let track =
        fragment.stream_track(Place { family: TrackFamily::Stream, process, device, context, stream });
    let codes = CopyCodes { kind, src, dst };
    let name = fragment.copy_name(codes);
    let row = fragment
        .push(cells, NewSlice { track, kind: SliceKind::Memcpy, name, start_ns, dur_ns, correlation });
    fragment.out.push_copy(row, codes.copy(bytes.and_then(|bytes| u64::try_from(bytes).ok())));
    if node.is_some_and(|node| node != 0) {
        fragment.note_node(process, correlation);
    }
}

fn read_memset(fragment: &mut Fragment<'_>, cells: &Cells<'_>) {
    let [start, end, device, context, stream, correlation, process, bytes, memory, node] = cells.ints();
    let Some((start_ns, dur_ns)) = fragment.device_span(cells, start, end) else { return };
    let track =
        fragment.stream_track(Place { family: TrackFamily::Stream, process, device, context, stream });
    let name = fragment.out.names.intern(&memset_name(memory));
    let row = fragment
        .push(cells, NewSlice { track, kind: SliceKind::Memset, name, start_ns, dur_ns, correlation });
    let bytes = bytes.and_then(|bytes| u64::try_from(bytes).ok());
    let dst = memory.and_then(memory_kind);
    let copy = Copy { kind: CopyKind::Memset, src: None, dst, bytes, is_migration: false };
    fragment.out.push_copy(row, copy);
    if node.is_some_and(|node| node != 0) {
        fragment.note_node(process, correlation);
    }
}
