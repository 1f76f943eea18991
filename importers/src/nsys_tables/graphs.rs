//! `CUPTI_ACTIVITY_KIND_GRAPH_TRACE`: whole CUDA graphs, one bar a launch.
//!
//! With nsys' default `--cuda-graph-trace=graph` the kernels inside are not in the file. With `node` they
//! are, and then the bar covers them. Read after the kernels, to tell the two apart.

use tracecard_model::{Severity, SliceKind, TrackFamily};

use super::cells::Cells;
use super::fragment::{Fragment, NewSlice, Place};
use super::tables::TableReader;

pub(crate) const GRAPHS: TableReader = TableReader {
    number: 6,
    table: "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
    label: "",
    required: &["start", "end"],
    columns: &["start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid", "graphId"],
    read,
};

/// Device and context of a graph that began on the host.
const BEGAN_ON_HOST: i64 = i32::MAX as i64;

fn read(fragment: &mut Fragment<'_>, cells: &Cells<'_>) {
    let [start, end, device, context, stream, correlation, process, graph] = cells.ints();
    let Some((start_ns, dur_ns)) = fragment.device_span(cells, start, end) else { return };
    let [device, context] = [device, context].map(|id| id.filter(|id| *id != BEGAN_ON_HOST));
    let track = fragment.stream_track(Place { family: TrackFamily::Graph, process, device, context, stream });
    let name = match graph {
        Some(graph) => fragment.out.names.intern(&format!("CUDA graph {graph}")),
        None => fragment.out.names.intern("CUDA graph"),
    };
    fragment.push(cells, NewSlice { track, kind: SliceKind::Graph, name, start_ns, dur_ns, correlation });

    let owner = fragment.owner(process);
    let has_nodes =
        correlation.is_some_and(|correlation| fragment.known.before.has_nodes(owner, correlation));
    if !has_nodes {
        let text = "CUDA graphs were recorded as a whole; their kernels are not in the file. Record again with \
                    --cuda-graph-trace=node to see them";
        fragment.out.issues.count(Severity::DataLoss, "cuda_graph_without_nodes", text, String::new);
    }
}
