//! All that is known about one slice, as fields: for the details view, tool-tips and copies.

use tracecard_model::{LinkKind, SliceFlags, SliceId, SliceKind, Trace};

use crate::format;

/// One line: what it is, and its value as shown.
pub type Field = (&'static str, String);

/// A group of fields.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// Heading.
    pub title: &'static str,
    /// Its fields; only what is known.
    pub fields: Vec<Field>,
}

/// A slice that is tied to the one described.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tie {
    /// What it is to the described slice.
    pub role: &'static str,
    /// The other slice.
    pub slice: SliceId,
}

/// At most so many ties of one kind are listed.
const MAX_TIES: usize = 50;

/// Why a device is idle, in words.
pub fn cause_title(cause: tracecard_analyzers::Cause) -> &'static str {
    use tracecard_analyzers::Cause;
    match cause {
        Cause::HostWait => "waits for the host",
        Cause::KernelWait => "launch latency",
        Cause::Other => "waits for something else",
        Cause::GraphInternal => "inside a graph",
        Cause::Unknown => "cause unknown",
    }
}

/// What a kind of slice is called.
pub fn kind_title(kind: SliceKind) -> &'static str {
    match kind {
        SliceKind::Op => "Operator",
        SliceKind::Annotation => "Annotation",
        SliceKind::Python => "Python frame",
        SliceKind::Api => "CUDA API call",
        SliceKind::OsRuntime => "OS call",
        SliceKind::NvtxPushPop => "NVTX range",
        SliceKind::NvtxStartEnd => "NVTX start/end range",
        SliceKind::Overhead => "Profiler overhead",
        SliceKind::Kernel => "Kernel",
        SliceKind::Memcpy => "Copy",
        SliceKind::Memset => "Memory set",
        SliceKind::Graph => "CUDA graph",
        SliceKind::Sync => "Synchronisation",
        SliceKind::GpuAnnotation => "Annotation on the device",
        SliceKind::Running => "Thread on a CPU",
        SliceKind::Library => "Library call",
        SliceKind::Other => "Other",
    }
}

/// The two lines of a tool-tip after the name: when and how long, then where.
pub fn brief(trace: &Trace, slice: SliceId) -> Vec<Field> {
    let span = trace.slices.span(slice);
    let mut fields =
        vec![("Duration", format::ns(span.dur_ns() as f64)), ("Start", format::ns(span.start_ns as f64))];
    if let Some(self_ns) = self_ns(trace, slice) {
        fields.insert(1, ("Self", format::ns(self_ns as f64)));
    }
    if let Some(launch) = trace.launch_of(slice) {
        fields.push(("Queue delay", queue_delay(trace, launch, slice)));
    }
    fields
}

/// Everything, in sections.
pub fn sections(trace: &Trace, slice: SliceId) -> Vec<Section> {
    let all = [
        Section { title: "Time", fields: time(trace, slice) },
        Section { title: "Launch shape", fields: kernel(trace, slice) },
        Section { title: "Copy", fields: copy(trace, slice) },
        Section { title: "Arguments", fields: op(trace, slice) },
        Section { title: "Communication", fields: collective(trace, slice) },
        Section { title: "Place", fields: place(trace, slice) },
    ];
    all.into_iter().filter(|section| !section.fields.is_empty()).collect()
}

/// Slices tied to this one: its launch, what it launched, forward and backward, parent.
pub fn ties(trace: &Trace, slice: SliceId) -> Vec<Tie> {
    let mut ties = Vec::new();
    let mut one = |role, other: Option<SliceId>| ties.extend(other.map(|slice| Tie { role, slice }));
    one("Inside", trace.slices.parent(slice));
    one("Launched by", trace.launch_of(slice));
    one("Caused by", trace.links.source(LinkKind::Sync, slice));
    one("Forward of it", trace.links.source(LinkKind::ForwardBackward, slice));
    for (role, kind) in [
        ("Launches", LinkKind::Launch),
        ("Synchronises", LinkKind::Sync),
        ("Backward of it", LinkKind::ForwardBackward),
    ] {
        ties.extend(trace.links.targets(kind, slice).take(MAX_TIES).map(|slice| Tie { role, slice }));
    }
    ties
}

/// As text, for the clipboard.
pub fn text(trace: &Trace, slice: SliceId) -> String {
    let mut text = format!("{}\n", trace.name(slice));
    for (title, value) in sections(trace, slice).iter().flat_map(|section| &section.fields) {
        text.push_str(&format!("{title}\t{value}\n"));
    }
    text
}

fn self_ns(trace: &Trace, slice: SliceId) -> Option<i64> {
    let self_ns = *trace.slices.selfs_ns().get(slice.idx())?;
    let is_nesting = trace.track_of(slice).key.family.nests();
    (is_nesting && self_ns != trace.slices.span(slice).dur_ns()).then_some(self_ns)
}

/// Device start less the end of the launch call; negative when the work began before the call returned.
fn queue_delay(trace: &Trace, launch: SliceId, slice: SliceId) -> String {
    let delay_ns = trace.slices.span(slice).start_ns.saturating_sub(trace.slices.span(launch).end_ns);
    format::ns(delay_ns as f64)
}

fn time(trace: &Trace, slice: SliceId) -> Vec<Field> {
    let span = trace.slices.span(slice);
    let mut fields = vec![("Duration", format::ns(span.dur_ns() as f64))];
    if 1_000 <= span.dur_ns() {
        fields.push(("  exactly", format::exact_ns(span.dur_ns())));
    }
    if let Some(self_ns) = self_ns(trace, slice) {
        fields.push(("Self", format::ns(self_ns as f64)));
    }
    fields.push(("Start", format::exact_ns(span.start_ns)));
    fields.push(("End", format::exact_ns(span.end_ns)));
    if let Some(launch) = trace.launch_of(slice) {
        fields.push(("Queue delay", queue_delay(trace, launch, slice)));
    }
    let flags = trace.slices.flags().get(slice.idx()).copied().unwrap_or_default();
    if flags.has(SliceFlags::UNCLOSED) {
        fields.push(("Note", "still open when the capture ended".to_owned()));
    }
    if flags.has(SliceFlags::CROSSING) {
        fields.push(("Note", "overlaps its neighbours".to_owned()));
    }
    fields
}

fn kernel(trace: &Trace, slice: SliceId) -> Vec<Field> {
    let Some(kernel) = trace.kernels.get(slice) else { return Vec::new() };
    let shape = |sides: [u32; 3]| {
        let product: u64 = sides.iter().map(|side| u64::from(*side)).product();
        let product = format::count(i64::try_from(product).unwrap_or(i64::MAX));
        format!("{} × {} × {} = {product}", sides[0], sides[1], sides[2])
    };
    let shared = |bytes: u32| format::bytes(f64::from(bytes));
    let fields = [
        ("Grid", kernel.grid.map(shape)),
        ("Block", kernel.block.map(shape)),
        ("Cluster", kernel.cluster.map(|sides| shape(sides.map(u32::from)))),
        ("Registers / thread", kernel.registers.map(|n| n.to_string())),
        ("Shared / block", kernel.shared_bytes.map(shared)),
        ("  of it dynamic", kernel.shared_dynamic_bytes.map(shared)),
        ("CUDA graph", kernel.graph_id.map(|id| id.to_string())),
        ("Graph node", kernel.graph_node_id.map(|id| id.to_string())),
    ];
    known(fields)
}

fn copy(trace: &Trace, slice: SliceId) -> Vec<Field> {
    let Some(copy) = trace.copies.get(slice) else { return Vec::new() };
    let dur_ns = trace.slices.span(slice).dur_ns();
    let rate = copy.bytes.filter(|_| 0 < dur_ns).map(|bytes| bytes as f64 * 1e9 / dur_ns as f64);
    let side = |kind: Option<tracecard_model::MemoryKind>| kind.map(|kind| kind.text().to_owned());
    let fields = [
        ("Direction", Some(copy.kind.text().to_owned())),
        ("From", side(copy.src)),
        ("To", side(copy.dst)),
        ("Size", copy.bytes.map(|bytes| format::bytes(bytes as f64))),
        ("Rate", rate.map(format::bytes_per_s)),
        ("Note", copy.is_migration.then(|| "migration of unified memory".to_owned())),
    ];
    known(fields)
}

fn op(trace: &Trace, slice: SliceId) -> Vec<Field> {
    let op = trace.ops.get(slice);
    let args = op.and_then(|op| op.args).map(|args| trace.args.get(args)).unwrap_or_default();
    let text = |id| trace.args.text(id).to_owned();
    let fields = [
        ("Shapes", args.dims.map(text)),
        ("Types", args.types.map(text)),
        ("Strides", args.strides.map(text)),
        ("Values", args.concrete.map(text)),
        ("Sequence number", op.and_then(|op| op.sequence).map(|n| n.to_string())),
        ("NVTX domain", trace.domains.get(slice).map(|domain| trace.names.text(*domain).to_owned())),
        ("Returned", trace.api_errors.get(slice).map(|value| format!("error {value}"))),
    ];
    known(fields)
}

fn collective(trace: &Trace, slice: SliceId) -> Vec<Field> {
    let Some(row) = trace.collectives.get(slice) else { return Vec::new() };
    let name = |id| trace.names.text(id).to_owned();
    let count = |n: u64| format::count(i64::try_from(n).unwrap_or(i64::MAX));
    let fields = [
        ("Collective", row.name.map(name)),
        ("Type", row.dtype.map(name)),
        ("Elements in", row.in_elements.map(count)),
        ("Elements out", row.out_elements.map(count)),
        ("Message", row.bytes.map(|bytes| format::bytes(bytes as f64))),
        ("Group", row.group.map(name)),
        ("Ranks", row.group_size.map(|n| n.to_string())),
        ("Sequence", row.sequence.map(|n| n.to_string())),
    ];
    known(fields)
}

fn place(trace: &Trace, slice: SliceId) -> Vec<Field> {
    let track = trace.track_of(slice);
    let device = track.key.device.and_then(|id| trace.devices.get(id.idx()));
    let process = track.key.process.and_then(|id| trace.processes.get(id.idx()));
    let fields = [
        ("Track", Some(track.name.clone())),
        (
            "Device",
            device.map(|row| {
                row.name
                    .clone()
                    .map_or_else(|| row.number.to_string(), |name| format!("{} · {name}", row.number))
            }),
        ),
        ("Context", track.key.context.map(|id| id.to_string())),
        ("Stream", track.key.stream.map(|id| id.to_string())),
        ("Thread", track.key.thread.clone()),
        ("Process", process.map(|row| row.os_pid.clone())),
        ("Correlation", trace.slices.correlation(slice).map(|id| id.0.to_string())),
    ];
    known(fields)
}

fn known<const N: usize>(fields: [(&'static str, Option<String>); N]) -> Vec<Field> {
    fields.into_iter().filter_map(|(title, value)| Some((title, value?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracecard_model::fixture;

    const TRACE: &str = "
        thread 1 api
          api cudaLaunchKernel 10 5 #1
        stream 0:7
          kernel gemm 20 60 #1 grid=128x1x1 block=256x1x1 regs=64
          h2d copy 90 10 bytes=4096 src=pageable dst=device";

    fn lines(name: &str) -> Vec<String> {
        let trace = fixture(TRACE).unwrap();
        let slice = trace.slice_ids().find(|id| trace.name(*id) == name).unwrap();
        let sections = sections(&trace, slice);
        sections.iter().flat_map(|s| s.fields.iter().map(|(key, value)| format!("{key}: {value}"))).collect()
    }

    #[test]
    fn a_kernel_has_its_launch_shape_and_its_queue_delay() {
        let lines = lines("gemm");
        for line in
            ["Duration: 60 ns", "Grid: 128 × 1 × 1 = 128", "Registers / thread: 64", "Queue delay: 5 ns"]
        {
            assert!(lines.iter().any(|l| l == line), "{line} in {lines:?}");
        }
        assert!(!lines.iter().any(|l| l.starts_with("Cluster")), "unknown is left out");
    }

    #[test]
    fn a_copy_has_its_rate() {
        // 4096 B in 10 ns are 409.6 GB/s.
        assert!(lines("copy").contains(&"Rate: 409.6 GB/s".to_owned()));
    }

    #[test]
    fn launch_and_kernel_are_tied_both_ways() {
        let trace = fixture(TRACE).unwrap();
        let id = |name: &str| trace.slice_ids().find(|id| trace.name(*id) == name).unwrap();
        let (launch, kernel) = (id("cudaLaunchKernel"), id("gemm"));
        assert_eq!(ties(&trace, kernel), [Tie { role: "Launched by", slice: launch }]);
        assert_eq!(ties(&trace, launch), [Tie { role: "Launches", slice: kernel }]);
    }
}
