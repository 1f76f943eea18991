//! `CUPTI_ACTIVITY_KIND_CUDA_EVENT`: records of CUDA events. And `CUDA_GRAPH_*_EVENTS`: making of graphs.
//!
//! An event record has a time only with `--cuda-event-trace`, and then marks the instant on its stream.

use tracecard_model::{Severity, TrackFamily};

use super::cells::Cells;
use super::fragment::{Fragment, Place};
use super::tables::TableReader;

pub(crate) const CUDA_EVENTS: TableReader = TableReader {
    number: 15,
    table: "CUPTI_ACTIVITY_KIND_CUDA_EVENT",
    label: "",
    required: &["eventId"],
    columns: &["timestamp", "deviceId", "contextId", "streamId", "globalPid", "eventId"],
    read: read_event,
};

const fn graph_making(number: u8, table: &'static str) -> TableReader {
    TableReader {
        number,
        table,
        label: "",
        required: &["start"],
        columns: &["start", "globalTid", "nameId"],
        read: read_graph_making,
    }
}

pub(crate) const GRAPH_EVENTS: TableReader = graph_making(16, "CUDA_GRAPH_EVENTS");
pub(crate) const GRAPH_NODE_EVENTS: TableReader = graph_making(17, "CUDA_GRAPH_NODE_EVENTS");

fn read_event(fragment: &mut Fragment<'_>, cells: &Cells<'_>) {
    let [time, device, context, stream, process, event] = cells.ints();
    let time_ns = time.filter(|time| *time != 0).and_then(|time| fragment.time(Some(time)));
    let Some(time_ns) = time_ns else {
        let text = "records of CUDA events have no time; nsys takes it only with --cuda-event-trace=true";
        return fragment.out.issues.count(Severity::Info, "cuda_events_without_time", text, String::new);
    };
    let place = Place { family: TrackFamily::Stream, process, device, context, stream };
    let track = fragment.stream_track(place);
    let name = match event {
        Some(event) => fragment.out.names.intern(&format!("event {event}")),
        None => fragment.out.names.intern("event"),
    };
    fragment.out.push_mark(track, time_ns, name);
}

fn read_graph_making(fragment: &mut Fragment<'_>, cells: &Cells<'_>) {
    let [start, global_tid] = cells.ints();
    let Some(time_ns) = fragment.time(start) else {
        return fragment.bad_row(cells, &format!("start {start:?}"));
    };
    let track = fragment.thread_track(TrackFamily::Api, global_tid);
    let name = fragment.name(cells, 2);
    let name = name.unwrap_or_else(|| fragment.unnamed());
    fragment.out.push_mark(track, time_ns, name);
}
