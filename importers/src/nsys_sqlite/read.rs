//! The order of reading: header, tables about the file, events in two passes, what needs all of them.

use std::collections::BTreeMap;

use rusqlite::Connection;
use tracecard_model::{Progress, Severity, TraceBuilder};

use super::columns::{RowIds, Schema};
use super::diagnostics::note_diagnostics;
use super::found::Found;
use super::fragment::{Fragment, Known};
use super::gpu_metrics::read_metrics;
use super::meta_data::MetaData;
use super::nvtx::{NVTX, push_unclosed};
use super::open::{check_header, connect, note_side_files};
use super::scan::{ScanError, absorb, parts, scan};
use super::strings::Strings;
use super::tables::{FIRST_PASS, SECOND_PASS, is_left_out};
use super::target::Target;
use crate::nsys_terms::global_id::GlobalId;
use crate::{ImportError, Input};

pub(super) fn read(input: &Input, into: &mut TraceBuilder, progress: &Progress) -> Result<(), ImportError> {
    let (connection, schema) = open(input)?;
    note_side_files(input.path(), &mut into.issues);
    let meta = MetaData::read(&connection, &schema, &mut into.issues);
    meta.note_issues(&mut into.issues);
    note_diagnostics(&connection, &schema, &mut into.issues);
    note_left_out(&schema, into);

    let target = Target::read(&connection, &schema, &mut into.issues);
    into.meta.tool = meta.tool();
    into.meta.has_return_values = true;
    into.meta.start_unix_ns = target.start_unix_ns;
    let mut known = Known {
        shift_ns: meta.shift_ns(target.start_unix_ns),
        schema: meta.schema(),
        metrics: read_metrics(&connection, &schema, &mut into.issues),
        strings: Strings::read(&connection, &schema, &mut into.issues, progress)?,
        before: Found::default(),
        target,
    };
    into.meta.properties = meta.properties;
    if !known.target.gpu_names.is_empty() {
        into.meta.properties.push(("GPUs in the machine".to_owned(), known.target.gpu_names.join(", ")));
    }
    drop(connection);

    let mut found = Found::default();
    for readers in [FIRST_PASS, SECOND_PASS] {
        let parts = parts(readers, &schema, input.size_bytes(), &mut into.issues);
        let mut of_pass = Found::default();
        let result = scan(input.path(), &parts, &known, into, &mut of_pass, progress);
        result.map_err(|error| match error {
            ScanError::Cancelled(cancelled) => ImportError::Cancelled(cancelled),
            ScanError::Open(error) => sqlite_error(input, &error),
        })?;
        of_pass.sort();
        found.absorb(std::mem::take(&mut known.before), 0);
        known.before = of_pass;
    }
    found.absorb(std::mem::take(&mut known.before), 0);
    finish(&known, found, into);
    note_missing_device_work(&schema, into);
    Ok(())
}

/// Check the header, connect, look at the tables.
pub(super) fn open(input: &Input) -> Result<(Connection, Schema), ImportError> {
    check_header(input)?;
    let connection = connect(input.path()).map_err(|error| sqlite_error(input, &error))?;
    let schema = Schema::read(&connection).map_err(|error| sqlite_error(input, &error))?;
    check_is_export(input, &schema)?;
    Ok((connection, schema))
}

fn sqlite_error(input: &Input, error: &rusqlite::Error) -> ImportError {
    input.unreadable(format!("SQLite cannot read the file ({error}); run nsys export or the copy again"))
}

/// An export has names, and something to name.
fn check_is_export(input: &Input, schema: &Schema) -> Result<(), ImportError> {
    const ANY_OF: &[&str] = &[
        "META_DATA_EXPORT",
        "EXPORT_META_DATA",
        "ANALYSIS_DETAILS",
        "TARGET_INFO_SESSION_START_TIME",
        "ThreadNames",
        "NVTX_EVENTS",
        "OSRT_API",
    ];
    let has_names = schema.table("StringIds").is_some_and(|table| table.has("id") && table.has("value"));
    let is_cupti = |name: &str| name.to_ascii_uppercase().starts_with("CUPTI_ACTIVITY_KIND_");
    let has_events = ANY_OF.iter().any(|name| schema.table(name).is_some())
        || schema.tables().any(|table| is_cupti(&table.name));
    if has_names && has_events {
        return Ok(());
    }
    let what = match (schema.tables().count(), has_names) {
        (0, _) => "it has no tables; the export may have been interrupted",
        (_, false) => "it has no table StringIds (id, value)",
        (_, true) => "it has none of CUPTI_ACTIVITY_KIND_…",
    };
    let rest = if has_names { format!(", {}", ANY_OF.join(", ")) } else { String::new() };
    Err(input.unreadable(format!(
        "this SQLite file is no Nsight Systems export: {what}{rest}; make one with nsys export --type sqlite REPORT"
    )))
}

/// Name the tables with events that are not read.
fn note_left_out(schema: &Schema, into: &mut TraceBuilder) {
    let left_out = schema.tables().filter(|table| table.rows != RowIds::Empty && is_left_out(&table.name));
    let mut names: Vec<&str> = left_out.map(|table| table.name.as_str()).collect();
    names.sort_unstable();
    let text = "tables of the export are not read yet";
    into.issues.count_n(names.len() as u64, Severity::Info, "tables_not_read", text, || names.join(", "));
}

/// What needs all rows: ends of open ranges, names of domains and threads, launches without work.
fn finish(known: &Known, mut found: Found, into: &mut TraceBuilder) {
    let unclosed = std::mem::take(&mut found.unclosed);
    if !unclosed.is_empty() {
        // The last thing that the file knows of, rather than the end of the session, which in a file cut
        // out of a longer one lies far behind everything else.
        let end_ns = found.last_ns.unwrap_or(0);
        let mut last = Fragment::new(known, NVTX.table, NVTX.number);
        unclosed.iter().for_each(|range| push_unclosed(&mut last, range, end_ns));
        absorb(last, into, &mut found);
    }
    for (row, owner, domain) in &found.domain_rows {
        let name = found.domain_names.get(&(*owner, *domain));
        let name = match name.filter(|name| !name.is_empty()) {
            Some(name) => into.names.intern(name),
            None => into.names.intern(&format!("domain {domain}")),
        };
        into.push_domain(*row, name);
    }
    name_threads(known, &found, into);
    if found.n_nvtx == 0 && !found.domain_names.is_empty() {
        // Seen with the `nvtx` package 0.2.17 under nsys 2023.4.4.
        let text = "the program made NVTX domains but no ranges were recorded; its NVTX library may be newer than nsys";
        into.issues.count(Severity::Warning, "nvtx_domains_without_ranges", text, String::new);
    }

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

/// Say so when nothing of CUDA was recorded: absence of data is not an idle GPU.
fn note_missing_device_work(schema: &Schema, into: &mut TraceBuilder) {
    let has_rows = |name: &str| schema.table(name).is_some_and(|table| table.rows != RowIds::Empty);
    let cuda = ["KERNEL", "MEMCPY", "MEMSET", "RUNTIME", "GRAPH_TRACE"];
    if !cuda.iter().any(|kind| has_rows(&format!("CUPTI_ACTIVITY_KIND_{kind}"))) {
        let text = "the file has neither CUDA calls nor device work: CUDA was not traced or not used; nothing can be \
                    said about the GPU";
        into.issues.count(Severity::Warning, "no_cuda_in_file", text, String::new);
    }
}
