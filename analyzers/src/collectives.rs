//! What devices send each other: one row a (collective, group, type, device), with bandwidths (SIG-10).
//!
//! Bandwidths are nccl-tests' (`doc/PERFORMANCE.md`): `algbw` is the size over the time, where the size is
//! that of the whole buffer (what an all-gather gives out, what a reduce-scatter takes in); `busbw` scales it
//! by what the links must carry. A rank that waits for others spends that time in the same kernel, so both
//! are lower bounds; splitting transfer from waiting needs the traces of several ranks.

use std::collections::BTreeMap;

use tracecard_model::{Collective, DeviceId, Progress, SliceId, SliceKind, Trace};

use crate::device_work::Label;
use crate::kernels::NO_DEVICE_WORK;
use crate::{AnalyzeError, Analyzer, Column, Input, Outcome, Table, Unit};

/// Communication by what is communicated.
pub(crate) const ANALYZER: Analyzer = Analyzer { id: "collectives", title: "Communication", run };

/// What communication is grouped by. Sorted as text, so that the order says something.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    kind: &'static str,
    group: Option<String>,
    size: Option<u32>,
    dtype: Option<String>,
    /// As [`crate::Derived::device_rank`] has it.
    device: (u32, DeviceId),
}

#[derive(Clone, Debug, Default)]
struct Row {
    count: i64,
    /// `None` once one of unknown size is met.
    bytes: Option<i64>,
    total_ns: i64,
    exposed_ns: i64,
    longest: Option<(i64, SliceId)>,
}

fn run(input: &Input<'_>, _: &Progress) -> Result<Outcome, AnalyzeError> {
    let (trace, derived) = (input.trace, input.derived);
    let work = derived.work();
    if work.rows.is_empty() {
        return Ok(Outcome::Abstained(NO_DEVICE_WORK.to_owned()));
    }
    let mut groups: BTreeMap<Key, Row> = BTreeMap::new();
    for (idx, device) in derived.shown_work().filter(|(idx, _)| work.rows[*idx].label == Label::Communication)
    {
        let (slice, dur_ns) = (work.rows[idx].slice, work.rows[idx].span.dur_ns());
        let args = args_of(input, idx, slice);
        let kind = kind_of(trace, slice, args);
        let text = |id: Option<tracecard_model::NameId>| id.map(|id| trace.names.text(id).to_owned());
        let key = Key {
            kind,
            group: args.and_then(|args| text(args.group)),
            size: args.and_then(|args| args.group_size),
            dtype: args.and_then(|args| text(args.dtype)),
            device: derived.device_rank(device),
        };
        let bytes = match args {
            Some(args) => size_bytes(trace, kind, args),
            None => trace.copies.get(slice).and_then(|copy| i64::try_from(copy.bytes?).ok()),
        };
        let row = groups.entry(key).or_insert_with(|| Row { bytes: Some(0), ..Row::default() });
        row.count += 1;
        row.bytes = row.bytes.and_then(|sum| sum.checked_add(bytes?));
        row.total_ns += dur_ns;
        row.exposed_ns += derived.wall_ns()[idx];
        if row.longest.is_none_or(|(longest_ns, _)| longest_ns < dur_ns) {
            row.longest = Some((dur_ns, slice));
        }
    }
    let mut rows: Vec<(Key, Row)> = groups.into_iter().collect();
    rows.sort_by(|(a_key, a), (b_key, b)| b.total_ns.cmp(&a.total_ns).then_with(|| a_key.cmp(b_key)));
    Ok(Outcome::Done(vec![table(input, &rows)]))
}

/// The arguments of the kernel itself; where the profiler lost them, those of the operator that launched it,
/// or of the NVTX range of NCCL in which it was launched.
fn args_of<'a>(input: &Input<'a>, idx: usize, slice: SliceId) -> Option<&'a Collective> {
    let trace = input.trace;
    let of_operator = || {
        let operator = input.derived.operators().operator.get(idx).copied().flatten()?;
        trace
            .collectives
            .get(operator)
            .filter(|args| args.name.is_none_or(|name| trace.names.text(name) != "wait"))
    };
    let of_range = || {
        let innermost = input.derived.ranges().get(idx)?.own;
        std::iter::successors(innermost, |range| trace.slices.parent(*range))
            .find_map(|range| trace.collectives.get(range))
    };
    trace.collectives.get(slice).or_else(of_operator).or_else(of_range)
}

/// Words in names of collectives and of their kernels, blanks and underscores left out; the first decides.
const KINDS: &[(&str, &str)] = &[
    ("reducescatter", "reduce_scatter"),
    ("allreduce", "all_reduce"),
    ("crossdevicereduce", "all_reduce"),
    ("quickreduce", "all_reduce"),
    ("allgather", "all_gather"),
    ("alltoall", "all_to_all"),
    ("deepep", "all_to_all"),
    ("broadcast", "broadcast"),
    ("sendrecv", "send_recv"),
    ("send", "send_recv"),
    ("recv", "send_recv"),
    ("barrier", "barrier"),
    ("reduce", "reduce"),
    ("gather", "gather"),
    ("scatter", "scatter"),
];

fn kind_of(trace: &Trace, slice: SliceId, args: Option<&Collective>) -> &'static str {
    if trace.slices.kinds()[slice.idx()] == SliceKind::Memcpy {
        return "p2p_copy";
    }
    let told = args.and_then(|args| args.name).map(|name| trace.names.text(name));
    [told, Some(trace.name(slice))].into_iter().flatten().find_map(kind_from_name).unwrap_or("other")
}

fn kind_from_name(name: &str) -> Option<&'static str> {
    let name: String = name.to_lowercase().chars().filter(char::is_ascii_alphanumeric).collect();
    KINDS.iter().find(|(word, _)| name.contains(word)).map(|(_, kind)| *kind)
}

/// The size that nccl-tests would state; `None` where elements or type are not known.
fn size_bytes(trace: &Trace, kind: &str, args: &Collective) -> Option<i64> {
    if let Some(bytes) = args.bytes {
        return i64::try_from(bytes).ok();
    }
    let elements = match kind {
        "all_gather" => {
            args.out_elements.or_else(|| args.in_elements?.checked_mul(u64::from(args.group_size?)))
        }
        _ => args.in_elements,
    }?;
    let width = element_bytes(trace.names.text(args.dtype?))?;
    i64::try_from(elements.checked_mul(width)?).ok()
}

/// Bytes of one element; names as PyTorch's `record_param_comms` writes them, and NCCL's own.
fn element_bytes(dtype: &str) -> Option<u64> {
    Some(match dtype.to_lowercase().as_str() {
        "byte" | "char" | "bool" | "int8" | "uint8" | "float8_e4m3fn" | "float8_e5m2" => 1,
        "bfloat16" | "half" | "float16" | "short" | "int16" => 2,
        "float" | "float32" | "int" | "int32" | "uint32" => 4,
        "double" | "float64" | "long" | "int64" | "uint64" | "complexfloat" => 8,
        "complexdouble" => 16,
        _ => return None,
    })
}

/// How much more than the size the links carry, for a group of `n` (nccl-tests).
fn bus_factor(kind: &str, n: u32) -> Option<f64> {
    let n = f64::from(n);
    match kind {
        "all_reduce" => Some(2.0 * (n - 1.0) / n),
        "all_gather" | "reduce_scatter" | "all_to_all" => Some((n - 1.0) / n),
        "broadcast" | "reduce" | "send_recv" | "p2p_copy" => Some(1.0),
        _ => None,
    }
}

fn table(input: &Input<'_>, rows: &[(Key, Row)]) -> Table {
    let algbw = |row: &Row| Some(row.bytes? as f64 * 1e9 / row.total_ns as f64);
    let busbw = |(key, row): &(Key, Row)| {
        let needs_size = matches!(key.kind, "all_reduce" | "all_gather" | "reduce_scatter" | "all_to_all");
        let n = if needs_size { key.size.filter(|n| 0 < *n)? } else { 1 };
        Some(algbw(row)? * bus_factor(key.kind, n)?)
    };
    let ns = |id, title, doc, value: fn(&Row) -> i64| {
        Column::ints(id, title, Unit::Ns, doc, rows.iter().map(|(_, row)| Some(value(row))))
    };
    let columns = vec![
        Column::texts(
            "kind",
            "Kind",
            "all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, reduce, send_recv, p2p_copy, …, other",
            rows.iter().map(|(key, _)| Some(key.kind.to_owned())),
        ),
        Column::texts(
            "group",
            "Group",
            "Name of the process group; unknown where the file does not say",
            rows.iter().map(|(key, _)| key.group.clone()),
        ),
        Column::ints(
            "size",
            "Ranks",
            Unit::Count,
            "Ranks in the group; unknown where the file does not say",
            rows.iter().map(|(key, _)| key.size.map(i64::from)),
        ),
        Column::texts(
            "dtype",
            "Type",
            "Element type as the file names it",
            rows.iter().map(|(key, _)| key.dtype.clone()),
        ),
        Column::ints(
            "device",
            "Device",
            Unit::Number,
            "Number of the device",
            rows.iter().map(|(key, _)| input.derived.device_number(key.device.1)),
        ),
        Column::ints("count", "Count", Unit::Count, "How many", rows.iter().map(|(_, row)| Some(row.count))),
        Column::ints(
            "bytes",
            "Bytes",
            Unit::Bytes,
            "Sum of the whole buffers' sizes; unknown where any is",
            rows.iter().map(|(_, row)| row.bytes),
        ),
        ns("total_ns", "Total", "Sum of the durations, waiting for other ranks included", |row| row.total_ns),
        ns("exposed_ns", "Exposed", "The part that no compute covers", |row| row.exposed_ns),
        Column::reals(
            "algbw_bytes_per_s",
            "Algorithm bandwidth",
            Unit::BytesPerS,
            "Bytes over total time; waiting makes it lower",
            rows.iter().map(|(_, row)| algbw(row)),
        ),
        Column::reals(
            "busbw_bytes_per_s",
            "Bus bandwidth",
            Unit::BytesPerS,
            "What the links carried, after nccl-tests; unknown without the size of the group",
            rows.iter().map(busbw),
        ),
        Column::slices(
            "example",
            "Longest",
            "The longest one",
            rows.iter().map(|(_, row)| row.longest.map(|l| l.1)),
        ),
    ];
    Table { id: "collectives", title: "Communication", columns }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{check_abstains, check_table};

    fn check(text: &str, expected: &str) {
        let columns = [
            "kind",
            "size",
            "dtype",
            "device",
            "count",
            "bytes",
            "total_ns",
            "exposed_ns",
            "algbw_bytes_per_s",
            "busbw_bytes_per_s",
        ];
        check_table(&ANALYZER, text, "collectives", &columns, expected);
    }

    #[test]
    fn bandwidths_are_those_of_nccl_tests() {
        // All-reduce of 1000 floats in 8 µs: 4000 B / 8000 ns = 5e8 B/s, × 2·7/8 = 8.75e8.
        // All-gather of 100 half in, 800 out: 1600 B / 4000 ns = 4e8, × 7/8 = 3.5e8; 2000 of it under a gemm.
        check(
            "stream 0:7\n  kernel gemm 10000 4000\nstream 0:8\n\
             \x20 kernel ncclDevKernel_AllReduce 0 8000 collective=allreduce group_size=8 dtype=Float in=1000 out=1000\n\
             \x20 kernel ncclDevKernel_AllGather 12000 4000 collective=_allgather_base group_size=8 dtype=BFloat16 in=100 out=800",
            "all_reduce | 8 | Float | 0 | 1 | 4000 | 8000 | 8000 | 500000000 | 875000000\n\
             all_gather | 8 | BFloat16 | 0 | 1 | 1600 | 4000 | 2000 | 400000000 | 350000000",
        );
    }

    #[test]
    fn what_the_kernel_lost_its_operator_knows() {
        check(
            "thread 1 ops\n  op record_param_comms 0 50 collective=_reduce_scatter_base group_size=2 dtype=Float in=10\n\
             thread 1 api\n  api l 10 5 #1\nstream 0:7\n  kernel ncclDevKernel_ReduceScatter 20 40 #1",
            "reduce_scatter | 2 | Float | 0 | 1 | 40 | 40 | 40 | 1000000000 | 500000000",
        );
    }

    #[test]
    fn what_only_the_nvtx_range_of_nccl_knows() {
        // The second kernel was launched when a group ended, outside the range of its call.
        check(
            "thread 1 nvtx\n  nvtx_push_pop step 0 90\n\
             \x20 nvtx_push_pop ncclReduceScatter 0 50 collective=ncclReduceScatter group_size=2 dtype=Float in=10\n\
             thread 1 api\n  api l 10 5 #1\n  api l 60 5 #2\n\
             stream 0:7\n  kernel ncclDevKernel_ReduceScatter 20 40 #1\n  kernel ncclDevKernel_AllReduce 70 10 #2",
            "reduce_scatter | 2 | Float | 0 | 1 | 40 | 40 | 40 | 1000000000 | 500000000\n\
             all_reduce | - | - | 0 | 1 | - | 10 | 10 | - | -",
        );
    }

    #[test]
    fn what_is_not_known_stays_unknown() {
        check(
            "stream 0:7\n  kernel ncclDevKernel_SendRecv 0 10\n  kernel mscclpp::x 10 10\n  p2p copy 20 10 bytes=50",
            "other | - | - | 0 | 1 | - | 10 | 10 | - | -\n\
             p2p_copy | - | - | 0 | 1 | 50 | 10 | 10 | 5000000000 | 5000000000\n\
             send_recv | - | - | 0 | 1 | - | 10 | 10 | - | -",
        );
    }

    #[test]
    fn equal_times_go_by_kind_and_device() {
        check(
            "stream 1:7\n  kernel ncclX_Broadcast 0 10\nstream 0:7\n  kernel ncclX_Broadcast 0 10",
            "broadcast | - | - | 0 | 1 | - | 10 | 10 | - | -\nbroadcast | - | - | 1 | 1 | - | 10 | 10 | - | -",
        );
    }

    #[test]
    fn nothing_communicated_is_an_empty_table() {
        check("stream 0:7\n  kernel gemm 0 10\n  h2d up 10 10", "");
        check_abstains(&ANALYZER, "", "no device work");
    }

    #[test]
    fn kinds_are_read_from_any_spelling() {
        for (name, kind) in [
            ("_reduce_scatter_base", "reduce_scatter"),
            ("all_to_allv", "all_to_all"),
            ("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(…)", "all_reduce"),
            ("void vllm::cross_device_reduce_1stage<half, 8>", "all_reduce"),
            ("allgather_into_tensor_coalesced", "all_gather"),
        ] {
            assert_eq!(kind_from_name(name), Some(kind), "{name}");
        }
        assert_eq!(kind_from_name("mystery"), None);
    }
}
