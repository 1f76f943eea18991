//! `CUPTI_ACTIVITY_KIND_KERNEL`: kernels, with their launch shape.
//!
//! The name is the demangled one, or the short one where the file lacks it. Kernels of CUDA graphs (node
//! mode) say which node they are; before schema 3.23 the graph's number is the upper half of the node's.

use tracecard_model::{Kernel, SliceKind, TrackFamily};

use super::cells::Cells;
use super::fragment::{Fragment, NewSlice, Place};
use super::tables::TableReader;

pub(crate) const KERNELS: TableReader = TableReader {
    number: 1,
    table: "CUPTI_ACTIVITY_KIND_KERNEL",
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
        "gridX",
        "gridY",
        "gridZ",
        "blockX",
        "blockY",
        "blockZ",
        "registersPerThread",
        "staticSharedMemory",
        "dynamicSharedMemory",
        "graphNodeId",
        "graphId",
        "clusterX",
        "clusterY",
        "clusterZ",
        "demangledName",
        "shortName",
    ],
    read,
};

/// Columns of names in [`KERNELS`].
const DEMANGLED_NAME: usize = 21;
const SHORT_NAME: usize = 22;

fn read(fragment: &mut Fragment<'_>, cells: &Cells<'_>) {
    let [start, end, device, context, stream, correlation, process, rest @ ..] = cells.ints::<21>();
    let [
        grid_x,
        grid_y,
        grid_z,
        block_x,
        block_y,
        block_z,
        registers,
        fixed,
        dynamic,
        node,
        graph,
        cluster @ ..,
    ] = rest;
    let Some((start_ns, dur_ns)) = fragment.device_span(cells, start, end) else { return };
    let track =
        fragment.stream_track(Place { family: TrackFamily::Stream, process, device, context, stream });
    let name = kernel_name(fragment, cells);
    let row = fragment
        .push(cells, NewSlice { track, kind: SliceKind::Kernel, name, start_ns, dur_ns, correlation });

    let node = node.and_then(|node| u64::try_from(node).ok()).filter(|node| 0 < *node);
    let graph = graph.and_then(|graph| u32::try_from(graph).ok()).filter(|graph| 0 < *graph);
    if node.is_some() || graph.is_some() {
        fragment.note_node(process, correlation);
    }
    let small = |value: Option<i64>| value.and_then(|value| u32::try_from(value).ok());
    let [cluster_x, cluster_y, cluster_z] =
        cluster.map(|n| n.and_then(|n| u8::try_from(n).ok()).filter(|n| 0 < *n));
    fragment.out.push_kernel(
        row,
        Kernel {
            grid: shape([grid_x, grid_y, grid_z]),
            block: shape([block_x, block_y, block_z]),
            cluster: cluster_x.and_then(|x| Some([x, cluster_y?, cluster_z?])),
            registers: small(registers),
            shared_bytes: small(fixed.and_then(|fixed| fixed.checked_add(dynamic?))),
            shared_dynamic_bytes: small(dynamic),
            graph_id: graph.or_else(|| node.map(|node| (node >> 32) as u32).filter(|graph| 0 < *graph)),
            graph_node_id: node,
        },
    );
}

fn kernel_name(fragment: &mut Fragment<'_>, cells: &Cells<'_>) -> tracecard_model::NameId {
    for column in [DEMANGLED_NAME, SHORT_NAME] {
        if cells.int(column).is_none_or(|id| fragment.has_text(id))
            && let Some(name) = fragment.name(cells, column)
        {
            return name;
        }
    }
    // Neither text is in the file: show the number rather than drop the row.
    let name = fragment.name(cells, DEMANGLED_NAME).or_else(|| fragment.name(cells, SHORT_NAME));
    name.unwrap_or_else(|| fragment.unnamed())
}

/// All three sizes, or nothing: no launch has a size of 0.
fn shape(sizes: [Option<i64>; 3]) -> Option<[u32; 3]> {
    let [x, y, z] = sizes.map(|size| size.and_then(|size| u32::try_from(size).ok()).filter(|size| 0 < *size));
    Some([x?, y?, z?])
}
