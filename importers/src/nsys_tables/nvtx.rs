//! `NVTX_EVENTS`: ranges, marks, domains, thread names.
//!
//! The text lies in `text`, or in the row of `StringIds` with number `textId`. Push/pop ranges nest on their
//! thread, across domains. Start/end ranges may be ended by another thread and lie on a track of the process.
//!
//! A range that was never closed has no end, or (exports since 2022) the end of the capture. Either way it
//! was open when the capture ended, so it ends there and is flagged; nobody knows when it would have ended.
//!
//! A payload is a number, JSON or bytes. Bytes of NCCL say what its calls move; the rest is counted, for there
//! is no place to show it.

use tracecard_model::{NameId, Severity, SliceFlags, SliceKind, TrackFamily};

use super::cells::Cells;
use super::found::UnclosedRange;
use super::fragment::{Fragment, NewSlice};
use super::payloads::NcclPayload;
use super::tables::TableReader;

pub(crate) const NVTX: TableReader = TableReader {
    number: 12,
    table: "NVTX_EVENTS",
    label: "",
    required: &["start", "eventType"],
    columns: &[
        "start",
        "end",
        "eventType",
        "globalTid",
        "domainId",
        "textId",
        "text",
        "binaryData",
        OTHER_PAYLOADS,
    ],
    read,
};

/// Columns of the text in [`NVTX`].
const TEXT_ID: usize = 5;
const TEXT: usize = 6;
/// Columns of the payload: bytes, and anything else.
const BINARY: usize = 7;
const OTHER: usize = 8;

/// All columns that may hold a payload that is no bytes; at most one does.
pub(crate) const OTHER_PAYLOADS: &str =
    "uint64Value|int64Value|doubleValue|uint32Value|int32Value|floatValue|jsonTextId|jsonText";

/// The domain of ranges that name none.
const DEFAULT_DOMAIN: i64 = 0;

fn read(fragment: &mut Fragment<'_>, cells: &Cells<'_>) {
    let numbers @ [start, end, kind, global_tid, domain] = cells.ints();
    match kind {
        Some(59 | 70) => read_range(fragment, cells, SliceKind::NvtxPushPop, numbers),
        Some(60 | 71) => read_range(fragment, cells, SliceKind::NvtxStartEnd, numbers),
        Some(34) => {
            let Some(time_ns) = fragment.time(start) else {
                return fragment.bad_row(cells, &format!("start {start:?}, end {end:?}"));
            };
            let name = text(fragment, cells);
            let track = fragment.thread_track(TrackFamily::Nvtx, global_tid);
            fragment.out.push_mark(track, time_ns, name);
            fragment.found.n_nvtx += 1;
            if cells.has(BINARY) || cells.has(OTHER) {
                note_hidden_payload(fragment, name);
            }
        }
        Some(39) => {
            let name = text(fragment, cells);
            let name = fragment.out.names.text(name).to_owned();
            fragment.found.nvtx_thread_names.extend(global_tid.map(|tid| (tid, name)));
        }
        Some(75) => {
            let name = text(fragment, cells);
            let name = fragment.out.names.text(name).to_owned();
            let owner = fragment.owner(global_tid);
            fragment.found.domain_names.entry((owner, domain.unwrap_or(DEFAULT_DOMAIN))).or_insert(name);
        }
        // Names of categories, and the ends of domains.
        Some(33 | 76) => {}
        kind => {
            let text = "NVTX rows are of a kind that is not known; they are left out";
            fragment.out.issues.count(Severity::Warning, "nvtx_unknown_kind", text, || format!("{kind:?}"));
        }
    }
}

fn read_range(
    fragment: &mut Fragment<'_>,
    cells: &Cells<'_>,
    kind: SliceKind,
    [start, end, _, global_tid, domain]: [Option<i64>; 5],
) {
    let domain = domain.unwrap_or(DEFAULT_DOMAIN);
    let name = text(fragment, cells);
    fragment.found.n_nvtx += 1;
    let payload = payload(fragment, cells, domain, name);
    if end.is_none()
        && let Some(start_ns) = fragment.time(start)
    {
        let name = fragment.out.names.text(name).to_owned();
        let row_id = cells.row_id();
        let reader = &NVTX;
        let range = UnclosedRange { reader, kind, start_ns, global_tid, name, domain, row_id, payload };
        fragment.found.unclosed.push(range);
        return;
    }
    let Some((start_ns, dur_ns)) = fragment.span(cells, start, end) else { return };
    let ends_with_capture = fragment.known.target.end_ns == Some(start_ns + dur_ns);
    let flags = if ends_with_capture { SliceFlags::UNCLOSED } else { SliceFlags::NONE };
    push_range(
        fragment,
        Range { kind, name, start_ns, dur_ns, global_tid, domain, row_id: cells.row_id(), flags, payload },
    );
}

/// Add a range that was never closed; the capture ended at `end_ns`.
pub(crate) fn push_unclosed(fragment: &mut Fragment<'_>, range: &UnclosedRange, end_ns: i64) {
    let UnclosedRange { kind, start_ns, global_tid, domain, row_id, payload, .. } = *range;
    let name = fragment.out.names.intern(&range.name);
    let dur_ns = end_ns.saturating_sub(start_ns).max(0);
    let flags = SliceFlags::UNCLOSED;
    push_range(fragment, Range { kind, name, start_ns, dur_ns, global_tid, domain, row_id, flags, payload });
}

#[derive(Clone, Copy)]
struct Range {
    kind: SliceKind,
    name: NameId,
    start_ns: i64,
    dur_ns: i64,
    global_tid: Option<i64>,
    domain: i64,
    row_id: i64,
    flags: SliceFlags,
    payload: Option<NcclPayload>,
}

fn push_range(fragment: &mut Fragment<'_>, range: Range) {
    let Range { kind, name, start_ns, dur_ns, global_tid, domain, row_id, flags, payload } = range;
    let track = match kind {
        SliceKind::NvtxStartEnd => fragment.start_end_track(global_tid),
        _ => fragment.thread_track(TrackFamily::Nvtx, global_tid),
    };
    let slice = NewSlice { track, kind, name, start_ns, dur_ns, correlation: None };
    let row = fragment.push_from(row_id, slice, flags);
    if let Some(payload) = payload {
        let owner = fragment.owner(global_tid);
        fragment.found.nccl.note(row, fragment.out.names.text(name), owner, payload);
    }
    if domain != DEFAULT_DOMAIN {
        let owner = fragment.owner(global_tid);
        fragment.found.domain_rows.push((row, owner, domain));
    }
    if flags.has(SliceFlags::UNCLOSED) {
        let text = "NVTX ranges were still open when the capture ended; they are drawn to its end";
        let example = || fragment.out.names.text(name).to_owned();
        fragment.out.issues.count(Severity::Info, "nvtx_unclosed_ranges", text, example);
    }
}

/// What the payload of a row says; one that says nothing here is counted.
fn payload(fragment: &mut Fragment<'_>, cells: &Cells<'_>, domain: i64, name: NameId) -> Option<NcclPayload> {
    let has_binary = cells.has(BINARY);
    let data = if has_binary { cells.bytes(BINARY) } else { None };
    fragment.found.n_binary_payloads += u64::from(data.is_some());
    let payload = data.and_then(|data| fragment.known.payloads.decode(domain, data));
    if payload.is_none() && (has_binary || cells.has(OTHER)) {
        note_hidden_payload(fragment, name);
    }
    payload
}

fn note_hidden_payload(fragment: &mut Fragment<'_>, name: NameId) {
    let text = "NVTX ranges and marks carry values that are not shown";
    let example = || fragment.out.names.text(name).to_owned();
    fragment.out.issues.count(Severity::Info, "nvtx_payloads_not_shown", text, example);
}

/// The text of a row; a script may have left out the column or the string.
fn text(fragment: &mut Fragment<'_>, cells: &Cells<'_>) -> NameId {
    if let Some(text) = cells.text(TEXT) {
        return fragment.out.names.intern(&text);
    }
    fragment.name(cells, TEXT_ID).unwrap_or_else(|| fragment.unnamed())
}
