//! The work of each device in the order it started, with what it is and who launched it.

use std::ops::Range;

use rayon::prelude::*;
use rustc_hash::FxHashSet;
use tracecard_model::{CopyKind, DeviceId, LinkKind, NameId, SliceId, SliceKind, Span, Trace};

use crate::patterns::COMMUNICATION;

/// What an instant of a device is spent on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Label {
    /// Kernels that do not communicate, whole graphs, memsets and copies inside one device.
    Compute,
    /// Kernels of `assets/patterns/communication.toml` and copies between devices.
    Communication,
    /// Copies between host and device.
    Copy,
}

/// In [`WorkRow::launch`]: the file has no launch for it.
const NO_LAUNCH: u32 = u32::MAX;

/// One slice of device work.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WorkRow {
    /// From start to end, whole even where a window cuts it.
    pub(crate) span: Span,
    /// The slice.
    pub(crate) slice: SliceId,
    launch: u32,
    /// What it is.
    pub(crate) label: Label,
}

impl WorkRow {
    /// The API call that enqueued it; `None` where the file has none.
    pub(crate) fn launch(&self) -> Option<SliceId> {
        (self.launch != NO_LAUNCH).then_some(SliceId(self.launch))
    }
}

/// The work of all devices. An index into [`Self::rows`] is called a work index.
#[derive(Debug, Default)]
pub(crate) struct DeviceWork {
    /// By device, then start, then slice id.
    pub(crate) rows: Vec<WorkRow>,
    /// The devices that have work, by the number shown to the user, each with its rows.
    pub(crate) devices: Vec<(DeviceId, Range<usize>)>,
    /// Work index of each slice from `first_slice` on; [`NO_LAUNCH`]-like maximum where it is no work.
    index: Vec<u32>,
    first_slice: u32,
}

impl DeviceWork {
    /// Collect and sort. O(n log n).
    pub(crate) fn new(trace: &Trace) -> Self {
        let mut rows = linked_rows(trace);
        let device = |row: &WorkRow| trace.track_of(row.slice).key.device;
        let Some(first_slice) = rows.iter().map(|row| row.slice.0).min() else { return Self::default() };
        let last_slice = rows.iter().map(|row| row.slice.0).max().unwrap_or(first_slice);

        let rank = |row: &WorkRow| {
            let device = trace.track_of(row.slice).key.device.unwrap_or(DeviceId(0));
            let number = trace.devices.get(device.idx()).map_or(0, |d| d.number);
            (number, device, row.span.start_ns, row.slice)
        };
        rows.par_sort_unstable_by_key(rank);
        let mut devices: Vec<(DeviceId, Range<usize>)> = Vec::new();
        for chunk in rows.chunk_by(|a, b| device(a) == device(b)) {
            let start = devices.last().map_or(0, |(_, range)| range.end);
            let id = chunk.first().and_then(device).unwrap_or(DeviceId(0));
            devices.push((id, start..start + chunk.len()));
        }
        let mut index = vec![u32::MAX; (last_slice - first_slice) as usize + 1];
        for (idx, row) in rows.iter().enumerate() {
            index[(row.slice.0 - first_slice) as usize] = idx as u32;
        }
        Self { rows, devices, index, first_slice }
    }

    /// The work index of a slice; `None` where it is no work of a device.
    pub(crate) fn index_of(&self, slice: SliceId) -> Option<usize> {
        let at = slice.0.checked_sub(self.first_slice)? as usize;
        self.index.get(at).filter(|idx| **idx != u32::MAX).map(|idx| *idx as usize)
    }
}

/// All device work in slice order, with its launches. O(n).
pub(crate) fn linked_rows(trace: &Trace) -> Vec<WorkRow> {
    let mut rows = labelled_rows(trace);
    rows.retain(|row| trace.track_of(row.slice).key.device.is_some());
    let (Some(first), Some(last)) = (rows.first().map(|r| r.slice.0), rows.last().map(|r| r.slice.0)) else {
        return rows;
    };
    let mut launch = vec![NO_LAUNCH; (last - first) as usize + 1];
    for (kind, from, to) in trace.links.rows() {
        let at = to.0.checked_sub(first).and_then(|at| launch.get_mut(at as usize));
        if let (LinkKind::Launch, Some(at)) = (kind, at) {
            *at = from.0;
        }
    }
    for row in &mut rows {
        row.launch = launch[(row.slice.0 - first) as usize];
    }
    drop_graphs_with_nodes(trace, &mut rows);
    rows
}

/// A whole-graph bar covers its nodes. Where the nodes of its launch are in the file, they are the work, and
/// the bar would count them twice and hide the gaps between them.
fn drop_graphs_with_nodes(trace: &Trace, rows: &mut Vec<WorkRow>) {
    let is_graph = |row: &WorkRow| trace.slices.kinds()[row.slice.idx()] == SliceKind::Graph;
    if !rows.iter().any(is_graph) {
        return;
    }
    let with_nodes: FxHashSet<SliceId> =
        rows.iter().filter(|row| !is_graph(row)).filter_map(WorkRow::launch).collect();
    rows.retain(|row| !is_graph(row) || row.launch().is_none_or(|launch| !with_nodes.contains(&launch)));
}

/// All device work in slice order, launches still open.
fn labelled_rows(trace: &Trace) -> Vec<WorkRow> {
    let slices = &trace.slices;
    let (kinds, names) = (slices.kinds(), slices.names());
    let communicates = communicating_names(trace);
    let mut copies = trace.copies.iter().peekable();
    let mut collectives = trace.collectives.slices().iter().peekable();
    let mut rows = Vec::new();
    for idx in 0..slices.len() {
        let slice = SliceId::from_idx(idx);
        let kind = kinds[idx];
        if !kind.is_device_work() {
            continue;
        }
        // Both side tables are in slice order, as this loop is.
        while copies.next_if(|(at, _)| *at < slice).is_some() {}
        while collectives.next_if(|at| **at < slice).is_some() {}
        let copy_kind = copies.next_if(|(at, _)| *at == slice).map(|(_, copy)| copy.kind);
        let is_collective = collectives.next_if(|at| **at == slice).is_some();
        let label = match (kind, copy_kind) {
            _ if is_collective => Label::Communication,
            (SliceKind::Kernel, _) if communicates[names[idx].idx()] => Label::Communication,
            (SliceKind::Memcpy, Some(CopyKind::PeerToPeer)) => Label::Communication,
            (SliceKind::Memcpy, Some(CopyKind::DeviceToDevice)) => Label::Compute,
            (SliceKind::Memcpy, _) => Label::Copy,
            _ => Label::Compute,
        };
        rows.push(WorkRow { span: slices.span(slice), slice, launch: NO_LAUNCH, label });
    }
    rows
}

/// Per name: is it that of a kernel which communicates? Only names of kernels are looked at, each once.
fn communicating_names(trace: &Trace) -> Vec<bool> {
    let mut is_kernel = vec![false; trace.names.len()];
    for (kind, name) in trace.slices.kinds().iter().zip(trace.slices.names()) {
        is_kernel[name.idx()] |= *kind == SliceKind::Kernel;
    }
    is_kernel
        .into_par_iter()
        .enumerate()
        .with_min_len(64)
        .map(|(name, is_kernel)| {
            is_kernel && COMMUNICATION.is_match(trace.names.text(NameId::from_idx(name)))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use tracecard_model::fixture;

    use super::*;

    fn check(text: &str, expected: &str) {
        let trace = fixture(text).unwrap();
        let work = DeviceWork::new(&trace);
        let lines: Vec<String> = work
            .rows
            .iter()
            .enumerate()
            .map(|(idx, row)| {
                assert_eq!(work.index_of(row.slice), Some(idx));
                let launch = row.launch().map_or("-", |launch| trace.name(launch));
                let (device, _) = work.devices.iter().find(|(_, range)| range.contains(&idx)).unwrap();
                format!(
                    "{} {} {:?} {launch}",
                    trace.devices[device.idx()].number,
                    trace.name(row.slice),
                    row.label
                )
            })
            .collect();
        assert_eq!(lines.join("\n"), expected.trim());
    }

    #[test]
    fn work_is_sorted_by_device_and_start_and_labelled() {
        check(
            "thread 1 api\n  api launch 0 1 #1\n  api copy 2 1 #2\n\
             stream 1:7\n  kernel late 50 5 #1\n  d2d inner 20 5\n  memset set 30 5\n\
             stream 0:7\n  kernel ncclDevKernel_AllReduce 40 5\n  h2d up 10 5 #2\n\
             stream 0:8\n  p2p peer 20 5\n  kernel marked 60 5 collective=allreduce\n\
             graph 0:7\n  graph whole 70 5\nsync 0:7\n  sync wait 80 5",
            "0 up Copy copy\n0 peer Communication -\n0 ncclDevKernel_AllReduce Communication -\n\
             0 marked Communication -\n0 whole Compute -\n\
             1 inner Compute -\n1 set Compute -\n1 late Compute launch",
        );
    }

    #[test]
    fn equal_starts_are_in_slice_order() {
        check("stream 0:7\n  kernel a 5 5\nstream 0:8\n  kernel b 5 9", "0 a Compute -\n0 b Compute -");
    }

    #[test]
    fn no_work_has_no_devices() {
        let work = DeviceWork::new(&fixture("thread 1 ops\n  op x 0 5").unwrap());
        assert!(work.devices.is_empty());
        assert_eq!(work.index_of(SliceId(0)), None);
    }
}
