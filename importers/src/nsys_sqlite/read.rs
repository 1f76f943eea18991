//! The order of reading: header, tables about the file, events in two passes, what needs all of them.

use tracecard_model::{Progress, Severity, TraceBuilder};

use super::columns::{RowIds, Schema};
use super::database::Database;
use super::open::{check_header, connect, has_journal, note_growth, note_side_files};
use super::parts::{SMALLEST_ROW_BYTES, parts};
use super::scan::{ScanError, scan};
use crate::nsys_tables::{
    CallChains, Found, Known, MetaData, PayloadSchemas, Strings, TableReader, Target, finish, first_pass,
    is_left_out, note_diagnostics, note_missing_device_work, read_metrics, second_pass,
};
use crate::{ImportError, Input};

pub(super) fn read(input: &Input, into: &mut TraceBuilder, progress: &Progress) -> Result<(), ImportError> {
    let database = open(input)?;
    let schema = &database.schema;
    note_side_files(input.path(), &mut into.issues);
    note_growth(input, &mut into.issues);
    let meta = MetaData::read(&database, &mut into.issues);
    meta.note_issues(&mut into.issues);
    note_diagnostics(&database, &mut into.issues);
    note_left_out(schema, into);

    let target = Target::read(&database, &mut into.issues);
    into.meta.tool = meta.tool();
    into.meta.has_return_values = true;
    into.meta.start_unix_ns = target.start_unix_ns;
    let n_rows = |name: &str| schema.table(name).and_then(super::columns::Table::n_rows_at_most).unwrap_or(0);
    let n_strings = n_rows("StringIds");
    let mut known = Known {
        shift_ns: meta.shift_ns(target.start_unix_ns),
        call_chains: CallChains::read(&database, &mut into.issues, n_rows, progress)?,
        metrics: read_metrics(&database, &mut into.issues),
        payloads: PayloadSchemas::read(&database, &mut into.issues),
        strings: Strings::read(&database, &mut into.issues, n_strings, progress)?,
        before: Found::default(),
        target,
    };
    into.meta.properties = meta.properties;
    if !known.target.gpu_names.is_empty() {
        into.meta.properties.push(("GPUs in the machine".to_owned(), known.target.gpu_names.join(", ")));
    }

    let mut found = Found::default();
    let passes: [Vec<&TableReader>; 2] = [first_pass().collect(), second_pass().collect()];
    for readers in passes {
        let parts = parts(&readers, &database, input, &mut into.issues);
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
    finish(&known, found, into, progress)?;
    let has_rows = |name: &str| schema.table(name).is_some_and(|table| table.rows != RowIds::Empty);
    note_missing_device_work(has_rows, into);
    Ok(())
}

/// Check the header, connect, look at the tables.
pub(super) fn open(input: &Input) -> Result<Database, ImportError> {
    check_header(input)?;
    let connection = connect(input.path()).map_err(|error| sqlite_error(input, &error))?;
    let schema = Schema::read(&connection).map_err(|error| sqlite_error(input, &error))?;
    check_is_export(input, &schema)?;
    let rows_at_most = input.size_bytes() / SMALLEST_ROW_BYTES;
    Ok(Database { connection, schema, rows_at_most })
}

fn sqlite_error(input: &Input, error: &rusqlite::Error) -> ImportError {
    if has_journal(input.path()) {
        return input.unreadable(format!(
            "the export is still being written, or was interrupted: SQLite cannot read it as it is ({error}); open it \
             again when nsys export is done"
        ));
    }
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
        (0, _) => "it has no tables; the export may have been interrupted, or be still running",
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
    // The same samples once more, in another form.
    let has_metrics = schema.table("GPU_METRICS").is_some_and(|table| table.rows != RowIds::Empty);
    let is_repeated = |name: &str| has_metrics && name == "GENERIC_EVENTS";
    let left_out = schema.tables().filter(|table| {
        table.rows != RowIds::Empty
            && is_left_out(&table.name)
            && !schema.stands_for_another(table)
            && !is_repeated(&table.name)
    });
    let mut names: Vec<&str> = left_out.map(|table| table.name.as_str()).collect();
    names.sort_unstable();
    let text = "tables of the export are not read yet";
    into.issues.count_n(names.len() as u64, Severity::Info, "tables_not_read", text, || names.join(", "));
}
