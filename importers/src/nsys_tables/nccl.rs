//! Calls of NCCL, once all are known: a call names its communicator, and only the call that made the
//! communicator says how many ranks it has.

use std::collections::{BTreeMap, BTreeSet};

use tracecard_model::{Collective, RowIdx, TraceBuilder};

use super::fragment::Known;
use super::payloads::NcclPayload;
use super::target::Owner;
use crate::nsys_terms::nccl::NcclFunction;

/// Calls and communicators, in the order of the file.
#[derive(Debug, Default)]
pub(crate) struct NcclFound {
    /// Calls that communicate.
    calls: Vec<NcclCall>,
    /// (communicator, process, ranks, rank) of calls that made one.
    joins: Vec<(u64, Owner, u32, Option<u32>)>,
}

#[derive(Clone, Copy, Debug)]
struct NcclCall {
    row: RowIdx,
    function: Option<&'static NcclFunction>,
    communicator: Option<u64>,
    bytes: u64,
}

impl NcclFound {
    /// Note what the payload of a range says.
    pub(crate) fn note(&mut self, row: RowIdx, name: &str, owner: Owner, payload: NcclPayload) {
        let NcclPayload { communicator, bytes, n_ranks, rank } = payload;
        if let (Some(communicator), Some(n_ranks)) = (communicator, n_ranks) {
            self.joins.push((communicator, owner, n_ranks, rank));
        }
        if let Some(bytes) = bytes {
            self.calls.push(NcclCall { row, function: NcclFunction::from_name(name), communicator, bytes });
        }
    }

    /// Add the findings of a fragment whose first slice became row `base`.
    pub(crate) fn absorb(&mut self, other: Self, base: usize) {
        let shift = |row: RowIdx| RowIdx::from_idx(row.idx() + base);
        self.calls.extend(other.calls.into_iter().map(|call| NcclCall { row: shift(call.row), ..call }));
        self.joins.extend(other.joins);
    }

    /// Say of each call what it moved among how many, and of each process which rank it is.
    pub(crate) fn finish(mut self, known: &Known, into: &mut TraceBuilder) {
        self.joins.sort_unstable();
        self.joins.dedup();
        for call in &self.calls {
            let group_size = call.communicator.and_then(|communicator| self.n_ranks(communicator));
            let bytes = match call.function {
                Some(function) if !function.is_size_per_rank => Some(call.bytes),
                Some(_) => group_size.and_then(|n| call.bytes.checked_mul(u64::from(n))),
                // Whether the size is that of a part or the whole is not known.
                None => None,
            };
            let name = call.function.map(|function| into.names.intern(function.name));
            let group = call.communicator.map(|id| into.names.intern(&format!("communicator {id:#x}")));
            let collective = Collective { name, group, group_size, bytes, ..Collective::default() };
            into.push_collective(call.row, collective);
        }
        for (owner, rank) in self.ranks() {
            let id = into.process(&known.target.process_key(owner).0);
            let row = into.process_mut(id);
            row.rank = row.rank.or(Some(rank));
        }
    }

    /// The size of a communicator; `None` where no call made it or two disagree.
    fn n_ranks(&self, communicator: u64) -> Option<u32> {
        let first = self.joins.partition_point(|join| join.0 < communicator);
        let mut sizes =
            self.joins[first..].iter().take_while(|join| join.0 == communicator).map(|join| join.2);
        let size = sizes.next()?;
        sizes.all(|other| other == size).then_some(size)
    }

    /// The rank of each process: that in the largest communicator, if all processes with any are in it and
    /// no two of them have the same rank there.
    fn ranks(&self) -> BTreeMap<Owner, u32> {
        let owners: BTreeSet<Owner> = self.joins.iter().map(|join| join.1).collect();
        let mut communicators: Vec<u64> = self.joins.iter().map(|join| join.0).collect();
        communicators.dedup();
        let largest = communicators.iter().filter_map(|id| self.n_ranks(*id)).max();
        let mut candidates = communicators.iter().filter(|id| self.n_ranks(**id) == largest).map(|id| {
            let joins = self.joins.iter().filter(|join| join.0 == *id);
            joins.filter_map(|join| Some((join.1, join.3?))).collect::<Vec<_>>()
        });
        let Some(first) = candidates.next() else { return BTreeMap::new() };
        let ranks: BTreeMap<Owner, u32> = first.iter().copied().collect();
        let different: BTreeSet<u32> = ranks.values().copied().collect();
        let is_clear = ranks.len() == owners.len()
            && different.len() == owners.len()
            && first.len() == owners.len()
            && candidates.all(|other| other == first);
        if is_clear { ranks } else { BTreeMap::new() }
    }
}
