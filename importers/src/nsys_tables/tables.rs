//! The list of tables that become rows of the Trace.

use super::cells::Cells;
use super::fragment::Fragment;
use super::{
    api, context_switches, copies, events, gpu_metrics, graphs, kernels, libraries, memory, nvtx, osrt,
    overheads, page_faults, samples, scheduling, sync,
};

/// How one table is read.
pub(crate) struct TableReader {
    /// The number that slices of it carry as their source.
    pub(crate) number: u8,
    /// Name in the file.
    pub(crate) table: &'static str,
    /// Label of its tracks, where several tables share a family of tracks; else empty.
    pub(crate) label: &'static str,
    /// Columns without which no row can be read.
    pub(crate) required: &'static [&'static str],
    /// Columns asked for, in the order in which [`Self::read`] sees them. `a|b` is the first of both that is
    /// not null.
    pub(crate) columns: &'static [&'static str],
    /// Add one row to a fragment.
    pub(crate) read: fn(&mut Fragment<'_>, &Cells<'_>),
}

/// Tables that stand for themselves.
const CORE: &[TableReader] = &[
    kernels::KERNELS,
    copies::COPIES,
    copies::MEMSETS,
    api::API,
    nvtx::NVTX,
    osrt::OS_RUNTIME,
    overheads::PROFILER_OVERHEAD,
    overheads::CUPTI_OVERHEAD,
    memory::MEMORY_USAGE,
    gpu_metrics::GPU_METRICS,
    scheduling::SCHEDULING,
    samples::SAMPLES,
    events::CUDA_EVENTS,
    events::GRAPH_EVENTS,
    events::GRAPH_NODE_EVENTS,
    page_faults::CPU_PAGE_FAULTS,
    page_faults::GPU_PAGE_FAULTS,
    memory::MEMORY_POOLS,
    context_switches::CONTEXT_SWITCHES,
];

/// Tables of the first pass.
pub(crate) fn first_pass() -> impl Iterator<Item = &'static TableReader> {
    CORE.iter().chain(libraries::LIBRARIES)
}

/// Tables that need to know what those of the first pass told.
const SECOND_PASS: &[TableReader] = &[sync::SYNCS, graphs::GRAPHS];

/// Tables of the second pass.
pub(crate) fn second_pass() -> impl Iterator<Item = &'static TableReader> {
    SECOND_PASS.iter()
}

/// Tables read elsewhere: about the file, the machine, names.
const READ_ELSEWHERE: &[&str] = &[
    "StringIds",
    "PROCESSES",
    "ThreadNames",
    "MPI_RANKS",
    "ANALYSIS_DETAILS",
    "DIAGNOSTIC_EVENT",
    "META_DATA_EXPORT",
    "META_DATA_CAPTURE",
    "EXPORT_META_DATA",
    "SAMPLING_CALLCHAINS",
    "OSRT_CALLCHAINS",
    "CUDA_CALLCHAINS",
];

/// Starts of names of tables that hold no events: labels, descriptions, copies of files.
const NO_EVENTS: &[&str] = &[
    "ENUM_",
    "TARGET_INFO_",
    "UnwindMethodType",
    "MPI_COMMUNICATORS",
    "ANALYSIS_FILE",
    "ProcessStreams",
    "GENERIC_EVENT_SOURCES",
    "GENERIC_EVENT_TYPE",
    "NVTX_PAYLOAD_SCHEMA",
    "OSRT_FILE_ACCESS_DESCRIPTORS",
    "PMU_EVENT_REQUESTS",
    "NVTX_PAYLOAD_ENUM",
    "NVTX_SCOPES",
    "OSRT_ARGUMENTS",
];

/// Does a table hold events that are not read?
pub(crate) fn is_left_out(table: &str) -> bool {
    let is_read = first_pass().chain(second_pass()).any(|reader| reader.table.eq_ignore_ascii_case(table));
    let is_known = READ_ELSEWHERE.iter().any(|known| known.eq_ignore_ascii_case(table));
    let is_description = NO_EVENTS.iter().any(|start| table.starts_with(start));
    !(is_read || is_known || is_description)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn source_numbers_are_unique() {
        let mut numbers: Vec<u8> = first_pass().chain(second_pass()).map(|reader| reader.number).collect();
        let n_tables = numbers.len();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), n_tables);
    }
}
