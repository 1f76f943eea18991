//! What is done once all rows are read.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;
use tracecard_model::{Cancelled, Progress, Severity, SliceKind, TraceBuilder, TrackFamily};

use super::found::Found;
use super::fragment::{Fragment, Known};
use super::libraries::{MPI, push_unclosed_call};
use super::nvtx::push_unclosed;
use super::scheduling::{push_running, whole_threads};
use crate::in_order::in_order;
use crate::nsys_terms::global_id::GlobalId;

/// Builders that were emptied, to be filled by the next fragments.
#[derive(Default)]
pub(crate) struct Spare(Mutex<Vec<TraceBuilder>>);

impl Spare {
    /// A builder for a fragment.
    pub(crate) fn take(&self) -> TraceBuilder {
        let spare = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        spare.unwrap_or_else(TraceBuilder::fragment)
    }

    /// Join a fragment, and keep its builder.
    pub(crate) fn absorb(&self, fragment: Fragment<'_>, into: &mut TraceBuilder, found: &mut Found) {
        let builder = absorb(fragment, into, found);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(builder);
    }
}

/// Join a fragment; gives back its builder, empty.
fn absorb(fragment: Fragment<'_>, into: &mut TraceBuilder, found: &mut Found) -> TraceBuilder {
    let base = into.n_slices();
    found.absorb(fragment.found, base);
    into.absorb(fragment.out)
}

/// What needs all rows: ends of open ranges, time on CPUs, names of domains and threads, launches without
/// work.
///
/// # Errors
/// When cancelled.
pub(crate) fn finish(
    known: &Known,
    mut found: Found,
    into: &mut TraceBuilder,
    progress: &Progress,
) -> Result<(), Cancelled> {
    // The last thing that the file knows of, rather than the end of the session, which in a file cut
    // out of a longer one lies far behind everything else.
    let last_ns = found.last_ns.unwrap_or(0);
    // A single impossible time must not stretch what was open.
    let end_ns = known.target.end_ns.map_or(last_ns, |end_ns| end_ns.min(last_ns));
    let unclosed = std::mem::take(&mut found.unclosed);
    if !unclosed.is_empty() {
        let mut last = Fragment::new(known, TraceBuilder::fragment());
        for range in &unclosed {
            last.enter(range.reader);
            match range.kind {
                SliceKind::Library => push_unclosed_call(&mut last, range, end_ns),
                _ => push_unclosed(&mut last, range, end_ns),
            }
        }
        absorb(last, into, &mut found);
    }
    pair_switches(known, &mut found, end_ns, into, progress)?;
    for (row, owner, domain) in &found.domain_rows {
        let name = found.domain_names.get(&(*owner, *domain));
        match name.filter(|name| !name.is_empty()) {
            // Exports since 2022 have these in tables of their own, without a domain.
            Some(name) if name == MPI => into.move_slice(*row, SliceKind::Library, TrackFamily::Library, MPI),
            Some(name) => {
                let name = into.names.intern(name);
                into.push_domain(*row, name);
            }
            None => {
                let name = into.names.intern(&format!("domain {domain}"));
                into.push_domain(*row, name);
            }
        }
    }
    name_processes(known, &found, into);
    std::mem::take(&mut found.nccl).finish(known, into);
    name_threads(known, &found, into);
    if found.n_nvtx == 0 && !found.domain_names.is_empty() {
        // Seen with the `nvtx` package 0.2.17 under nsys 2023.4.4.
        let text = "the program made NVTX domains but no ranges were recorded; its NVTX library may be newer than nsys";
        into.issues.count(Severity::Warning, "nvtx_domains_without_ranges", text, String::new);
    }

    if known.payloads.has_sizes() && found.n_binary_payloads == 0 {
        let text = "NCCL told how many bytes its calls move, but the export left it out: export again with \
                    nsys export --include-blobs=true";
        into.issues.count(Severity::Info, "nccl_sizes_not_exported", text, String::new);
    }
    note_repeated_sessions(&found, into);

    let n_missing = found.missing_strings.len() as u64;
    let text = "names are missing in the file; the numbers of the names are shown instead";
    into.issues.count_n(n_missing, Severity::Warning, "names_missing", text, || {
        found.missing_strings.first().map(|id| format!("#{id}")).unwrap_or_default()
    });
    for (owner, (n_launches, name)) in &found.launches {
        if found.with_device_work.contains(owner) {
            continue;
        }
        let text = "kernels were launched but no device work was recorded; this is not an idle GPU. Known causes: \
                    forked worker processes, launches into a graph that was not traced, WSL2, a CUDA runtime that \
                    the profiler could not hook, an earlier CUDA error";
        let pid = known.target.process_key(*owner).1;
        let example = || format!("{n_launches} launches in process {pid}, the first by {name}");
        into.issues.count_n(*n_launches, Severity::DataLoss, "launches_without_device_rows", text, example);
    }
    Ok(())
}

/// CUPTI of CUDA 13.1 update 1 and before ties launches of graphs to wrong records from the second session on.
fn note_repeated_sessions(found: &Found, into: &mut TraceBuilder) {
    let with_graphs: BTreeSet<_> = found.node_launches.iter().map(|(owner, _)| *owner).collect();
    let repeated =
        found.profiler_starts.iter().filter(|(owner, n)| 1 < **n && with_graphs.contains(owner)).count();
    let text = "the program began to profile more than once and launched CUDA graphs: CUPTI up to CUDA 13.1 update 1 \
                may tie their kernels to wrong launches";
    into.issues.count_n(repeated as u64, Severity::Warning, "graph_launches_unsure", text, String::new);
}

/// Switches in one part of the pairing.
const SWITCHES_A_PART: usize = 1 << 17;

/// Make slices of the switches of all threads.
fn pair_switches(
    known: &Known,
    found: &mut Found,
    end_ns: i64,
    into: &mut TraceBuilder,
    progress: &Progress,
) -> Result<(), Cancelled> {
    let mut switches = std::mem::take(&mut found.switches);
    progress.check()?;
    switches.par_sort_unstable();
    let parts = whole_threads(&switches, SWITCHES_A_PART);
    let spare = Spare::default();
    let work = |_: &mut (), idx: usize| {
        progress.check()?;
        let mut fragment = Fragment::new(known, spare.take());
        push_running(&mut fragment, parts[idx], end_ns);
        Ok(fragment)
    };
    in_order(parts.len(), || (), work, |fragment| spare.absorb(fragment, into, found))
}

/// Give processes with rows the names of their programs, and their MPI ranks.
fn name_processes(known: &Known, found: &Found, into: &mut TraceBuilder) {
    for owner in &found.processes {
        let id = into.process(&known.target.process_key(*owner).0);
        let row = into.process_mut(id);
        row.name = known.target.process_name(*owner).map(str::to_owned);
        row.rank = known.target.rank(*owner);
    }
}

/// Give threads of processes with rows their names: those of the system, then those of the program itself.
fn name_threads(known: &Known, found: &Found, into: &mut TraceBuilder) {
    let by_system =
        known.target.thread_names.iter().filter_map(|(id, name)| Some((*id, known.strings.get(*name)?)));
    let by_program =
        found.nvtx_thread_names.iter().map(|(id, name)| (GlobalId::from_stored(*id), name.as_str()));
    let mut names = BTreeMap::new();
    for (id, name) in by_system.chain(by_program).filter(|(_, name)| !name.is_empty()) {
        names.insert((Some(id.process()), id.tid()), name);
    }
    for ((owner, tid), name) in names {
        if found.processes.contains(&owner) {
            let process = into.process(&known.target.process_key(owner).0);
            into.set_thread_name(process, &tid.to_string(), name);
        }
    }
}

/// Say so when nothing of CUDA was recorded: absence of data is not an idle GPU. `has_rows` says whether a
/// table has any.
pub(crate) fn note_missing_device_work(has_rows: impl Fn(&str) -> bool, into: &mut TraceBuilder) {
    let cuda = ["KERNEL", "MEMCPY", "MEMSET", "RUNTIME", "GRAPH_TRACE"];
    if !cuda.iter().any(|kind| has_rows(&format!("CUPTI_ACTIVITY_KIND_{kind}"))) {
        let text = "the file has neither CUDA calls nor device work: CUDA was not traced or not used; nothing can be \
                    said about the GPU";
        into.issues.count(Severity::Warning, "no_cuda_in_file", text, String::new);
    }
}
