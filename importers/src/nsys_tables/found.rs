//! Findings of the workers that other tables or the end of the import need.

use std::collections::{BTreeMap, BTreeSet};

use tracecard_model::{RowIdx, SliceKind};

use super::nccl::NcclFound;
use super::payloads::NcclPayload;
use super::scheduling::Switch;
use super::tables::TableReader;
use super::target::Owner;
use crate::nsys_terms::sync_class::SyncClass;

/// Findings, joined in the order of the file. Keys are ordered, so that nothing depends on hashing.
#[derive(Default)]
pub(crate) struct Found {
    /// Processes with rows.
    pub(crate) processes: BTreeSet<Owner>,
    /// Latest time stamp in ns.
    pub(crate) last_ns: Option<i64>,
    /// Numbers of names that the file lacks.
    pub(crate) missing_strings: BTreeSet<i64>,
    /// (process, context) → ordinal of its device, as device rows have it.
    pub(crate) ordinal_from_context: BTreeMap<(Owner, i64), i64>,
    /// (process, correlation) of calls that synchronise; sorted by [`Self::sort`].
    pub(crate) sync_calls: Vec<(Owner, i64, SyncClass)>,
    /// (process, correlation) of graph launches whose nodes were recorded; sorted by [`Self::sort`].
    pub(crate) node_launches: Vec<(Owner, i64)>,
    /// Successful launches by process: how many, and the name of the first.
    pub(crate) launches: BTreeMap<Owner, (u64, String)>,
    /// Processes with kernels, copies or graphs.
    pub(crate) with_device_work: BTreeSet<Owner>,
    /// Switches of threads onto and off CPUs, in file order.
    pub(crate) switches: Vec<Switch>,
    /// NVTX ranges and marks.
    pub(crate) n_nvtx: u64,
    /// Payloads of NVTX ranges that are bytes.
    pub(crate) n_binary_payloads: u64,
    /// Times that each process began to profile by `cudaProfilerStart`.
    pub(crate) profiler_starts: BTreeMap<Owner, u64>,
    /// Ranges outside the default NVTX domain: (row, process, domain).
    pub(crate) domain_rows: Vec<(RowIdx, Owner, i64)>,
    /// Names of NVTX domains.
    pub(crate) domain_names: BTreeMap<(Owner, i64), String>,
    /// Ranges that were never closed.
    pub(crate) unclosed: Vec<UnclosedRange>,
    /// Calls of NCCL.
    pub(crate) nccl: NcclFound,
    /// Names that the program gave to its threads through NVTX: (serialized thread id, name).
    pub(crate) nvtx_thread_names: Vec<(i64, String)>,
}

/// A range or call without an end; it ends with the capture.
pub(crate) struct UnclosedRange {
    /// The table that holds it.
    pub(crate) reader: &'static TableReader,
    /// Push/pop, start/end or a call into a library.
    pub(crate) kind: SliceKind,
    /// When it began.
    pub(crate) start_ns: i64,
    /// Its thread.
    pub(crate) global_tid: Option<i64>,
    /// Its text.
    pub(crate) name: String,
    /// Its domain; 0 for the default one.
    pub(crate) domain: i64,
    /// Its row in the file.
    pub(crate) row_id: i64,
    /// What its payload says.
    pub(crate) payload: Option<NcclPayload>,
}

impl Found {
    /// Add the findings of a fragment whose first slice became row `base`.
    pub(crate) fn absorb(&mut self, other: Self, base: usize) {
        self.processes.extend(other.processes);
        self.last_ns = self.last_ns.max(other.last_ns);
        self.missing_strings.extend(other.missing_strings);
        for (key, ordinal) in other.ordinal_from_context {
            self.ordinal_from_context.entry(key).or_insert(ordinal);
        }
        self.sync_calls.extend(other.sync_calls);
        self.node_launches.extend(other.node_launches);
        for (owner, (n, name)) in other.launches {
            self.launches.entry(owner).or_insert((0, name)).0 += n;
        }
        self.with_device_work.extend(other.with_device_work);
        self.switches.extend(other.switches);
        self.n_nvtx += other.n_nvtx;
        self.n_binary_payloads += other.n_binary_payloads;
        for (owner, n) in other.profiler_starts {
            *self.profiler_starts.entry(owner).or_default() += n;
        }
        let shift = |row: RowIdx| RowIdx::from_idx(row.idx() + base);
        self.domain_rows
            .extend(other.domain_rows.into_iter().map(|(row, owner, domain)| (shift(row), owner, domain)));
        for (key, name) in other.domain_names {
            self.domain_names.entry(key).or_insert(name);
        }
        self.unclosed.extend(other.unclosed);
        self.nccl.absorb(other.nccl, base);
        self.nvtx_thread_names.extend(other.nvtx_thread_names);
    }

    /// Sort what is searched.
    pub(crate) fn sort(&mut self) {
        self.sync_calls.sort_by_key(|call| (call.0, call.1));
        self.node_launches.sort_unstable();
        self.node_launches.dedup();
    }

    /// What the API call with this correlation waited for.
    pub(crate) fn sync_class(&self, owner: Owner, correlation: i64) -> Option<SyncClass> {
        let first = self.sync_calls.partition_point(|call| (call.0, call.1) < (owner, correlation));
        self.sync_calls.get(first).filter(|call| (call.0, call.1) == (owner, correlation)).map(|call| call.2)
    }

    /// Were the nodes of the graph with this launch recorded?
    pub(crate) fn has_nodes(&self, owner: Owner, correlation: i64) -> bool {
        self.node_launches.binary_search(&(owner, correlation)).is_ok()
    }
}
