//! `DIAGNOSTIC_EVENT` (since 2024.2): what the profiler says about its own capture.

use tracecard_model::IssueLog;

use super::small_tables::SmallTables;
use crate::nsys_terms::diagnostic::{Diagnosis, diagnose, without_paths};

/// Turn the messages that matter into issues.
pub(crate) fn note_diagnostics(tables: &dyn SmallTables, issues: &mut IssueLog) {
    let mut found: Vec<(Diagnosis, String)> = Vec::new();
    tables.each_row(issues, "DIAGNOSTIC_EVENT", &["severity", "text"], &mut |cells| {
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
