//! `DIAGNOSTIC_EVENT` (since 2024.2): what the profiler says about its own capture.

use rusqlite::Connection;
use tracecard_model::IssueLog;

use super::columns::Schema;
use super::small_tables::each_row;
use crate::nsys_terms::diagnostic::{Diagnosis, diagnose, without_paths};

/// Turn the messages that matter into issues.
pub(super) fn note_diagnostics(connection: &Connection, schema: &Schema, issues: &mut IssueLog) {
    let mut found: Vec<(Diagnosis, String)> = Vec::new();
    each_row(connection, schema, issues, "DIAGNOSTIC_EVENT", &["severity", "text"], |cells| {
        if let Some(message) = cells.text(1)
            && let Some(diagnosis) = diagnose(cells.int(0), &message)
        {
            found.push((diagnosis, without_paths(&message)));
        }
        true
    });
    for (diagnosis, message) in found {
        let Diagnosis { code, severity, text, count } = diagnosis;
        issues.count_n(count, severity, code, text, || message);
    }
}
