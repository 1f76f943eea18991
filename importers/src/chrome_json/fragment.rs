//! What one block of the file gives: rows, and what can only be settled when the whole file is known.

use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxBuildHasher;
use tracecard_model::{Kernel, RowIdx, TraceBuilder};

use super::pairs::Pair;

/// A part of the trace, made by a worker from one block.
#[derive(Debug, Default)]
pub(super) struct Fragment {
    pub(super) builder: TraceBuilder,
    pub(super) found: Found,
}

/// What waits for the rest of the file.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Events that were read: objects with a phase.
    pub(super) n_events: u64,
    /// Some event has a backslash that escapes nothing.
    pub(super) has_illegal_escape: bool,
    /// Some time is no whole number of µs.
    pub(super) has_ns: bool,
    /// Earliest start and latest end of the slices that can be trusted.
    pub(super) span_ns: Option<(i64, i64)>,
    /// Slices that start at 0: without a time if everything else is far away.
    pub(super) at_zero: Vec<RowIdx>,
    /// Slices with an impossible or missing duration: they end with the trace.
    pub(super) endless: Vec<RowIdx>,
    /// Halves of slices, to be joined (`B` and `E`, `b` and `e`).
    pub(super) pairs: Vec<Pair>,
    /// Where the halves of [`Self::pairs`] lie.
    pub(super) pair_lanes: IndexSet<PairLane, FxBuildHasher>,
    /// Instants of the recording as a whole.
    pub(super) marks: Vec<(i64, String)>,
    /// Launch shapes that stand on the launch (ROCm), by correlation id.
    pub(super) launch_shapes: Vec<(i64, Kernel)>,
    /// Kernels without a launch shape, by correlation id.
    pub(super) shapeless: Vec<(i64, RowIdx)>,
    /// Threads with operators as (pid, tid), in file order.
    pub(super) op_threads: IndexSet<(String, String), FxBuildHasher>,
    /// Names of processes by pid.
    pub(super) process_names: IndexMap<String, String, FxBuildHasher>,
    /// Names of threads and streams by (pid, tid).
    pub(super) thread_names: IndexMap<(String, String), String, FxBuildHasher>,
    /// Members of the top level beside the events, in file order, as (key, raw value); `traceEvents` itself
    /// is among them with an empty value.
    pub(super) members: Vec<(String, Vec<u8>)>,
    /// How long the profiler says it recorded.
    pub(super) recorded_ns: Option<i64>,
    /// Signs of the version that wrote the file.
    pub(super) signs: Signs,
}

/// Where the halves of a slice meet: the thread, and for asynchronous ones their category and id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct PairLane {
    pub(super) pid: String,
    pub(super) tid: String,
    /// Category and id of an asynchronous slice.
    pub(super) asynchronous: Option<(String, String)>,
}

/// What tells the versions and flavours of profilers apart.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Signs {
    /// Category `Operator`: torch 1.8, 1.9.
    pub(super) has_operator: bool,
    /// `Input dims`: torch 1.8.
    pub(super) has_lower_dims: bool,
    /// `Trace name` in the arguments of operators: torch up to 1.13.
    pub(super) has_trace_name: bool,
    /// `Ev Idx`: torch 2.0 and later.
    pub(super) has_ev_idx: bool,
    /// `Concrete Inputs`: torch 2.1 and later.
    pub(super) has_concrete_inputs: bool,
    /// Process `CPU functions`: the exporter of `torch.autograd.profiler`.
    pub(super) has_cpu_functions: bool,
}

impl Fragment {
    /// Nothing yet, to be absorbed by the whole file's.
    pub(super) fn new() -> Self {
        Self { builder: TraceBuilder::fragment(), found: Found::default() }
    }

    /// Nothing yet, to absorb those of all blocks: here every text has one id.
    pub(super) fn whole() -> Self {
        Self { builder: TraceBuilder::new(), found: Found::default() }
    }

    /// Join the fragment that follows in the file.
    pub(super) fn absorb(&mut self, next: Self) {
        let base = self.builder.n_slices() as u32;
        let Self { builder, found: next } = next;
        let row = |r: RowIdx| RowIdx(r.0 + base);
        let found = &mut self.found;
        let names = &mut self.builder.names;
        found.pairs.extend(next.pairs.into_iter().map(|pair| Pair {
            name: names.intern(builder.names.text(pair.name)),
            lane:
                next.pair_lanes.get_index(pair.lane).map_or(0, |l| found.pair_lanes.insert_full(l.clone()).0),
            ..pair
        }));
        self.builder.absorb(builder);
        found.n_events += next.n_events;
        found.has_illegal_escape |= next.has_illegal_escape;
        found.has_ns |= next.has_ns;
        if let Some((start_ns, end_ns)) = next.span_ns {
            found.widen(start_ns, end_ns);
        }
        found.at_zero.extend(next.at_zero.into_iter().map(row));
        found.endless.extend(next.endless.into_iter().map(row));
        found.marks.extend(next.marks);
        found.launch_shapes.extend(next.launch_shapes);
        found.shapeless.extend(next.shapeless.into_iter().map(|(id, r)| (id, row(r))));
        found.op_threads.extend(next.op_threads);
        found.process_names.extend(next.process_names);
        found.thread_names.extend(next.thread_names);
        found.members.extend(next.members);
        found.recorded_ns = next.recorded_ns.or(found.recorded_ns);
        found.signs = found.signs.or(next.signs);
    }
}

impl Found {
    /// Note a slice whose times can be trusted.
    pub(super) fn widen(&mut self, start_ns: i64, end_ns: i64) {
        let (first_ns, last_ns) = self.span_ns.unwrap_or((start_ns, end_ns));
        self.span_ns = Some((first_ns.min(start_ns), last_ns.max(end_ns)));
    }
}

impl Signs {
    fn or(self, other: Self) -> Self {
        Self {
            has_operator: self.has_operator | other.has_operator,
            has_lower_dims: self.has_lower_dims | other.has_lower_dims,
            has_trace_name: self.has_trace_name | other.has_trace_name,
            has_ev_idx: self.has_ev_idx | other.has_ev_idx,
            has_concrete_inputs: self.has_concrete_inputs | other.has_concrete_inputs,
            has_cpu_functions: self.has_cpu_functions | other.has_cpu_functions,
        }
    }
}
