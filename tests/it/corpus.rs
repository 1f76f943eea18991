//! Real traces that lie outside the project: where they are, and how to open one with its analysis.

use std::path::{Path, PathBuf};

use tracecard_analyzers::{Analysis, Params, Table, run_all};
use tracecard_importers::open;
use tracecard_model::{Progress, Trace};

/// The folder of real traces; `None`, said aloud, where there is none on this machine.
pub(crate) fn corpus() -> Option<PathBuf> {
    let folder = std::env::var_os("TRACECARD_CORPUS").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("skipped: TRACECARD_CORPUS is not set");
    }
    folder
}

/// A trace with what all analyzers say about it.
pub(crate) struct Run {
    pub(crate) trace: Trace,
    pub(crate) analysis: Analysis,
}

impl Run {
    /// Open and analyse.
    pub(crate) fn open(path: &Path, params: &Params) -> Self {
        let trace =
            open(path, &Progress::new()).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let analysis = run_all(&trace, params, &Progress::new()).unwrap();
        check_sums(path, &analysis);
        Self { trace, analysis }
    }

    /// A table that must be there.
    pub(crate) fn table(&self, id: &str) -> &Table {
        self.analysis.table(id).unwrap_or_else(|| panic!("no table {id}: {:?}", self.analysis.abstained))
    }

    /// A whole number of a table's row.
    pub(crate) fn int(&self, table: &str, row: usize, column: &str) -> i64 {
        let table = self.table(table);
        table.int(row, column).unwrap_or_else(|| panic!("{}.{column} of row {row} is unknown", table.id))
    }
}

/// What must hold for every run: the device partition adds up, no share is above 1.
fn check_sums(path: &Path, analysis: &Analysis) {
    let parts = ["compute_ns", "exposed_comm_ns", "exposed_copy_ns", "idle_ns"];
    for (id, whole) in [("devices", "window_ns"), ("step_list", "dur_ns"), ("steps", "typical_ns")] {
        let Some(table) = analysis.table(id) else { continue };
        for row in 0..table.n_rows() {
            let sum: Option<i64> = parts.iter().map(|part| table.int(row, part)).sum();
            assert_eq!(sum, table.int(row, whole), "{}: {id} row {row}", path.display());
        }
    }
    for table in &analysis.tables {
        for column in table.columns.iter().filter(|column| column.id.ends_with("share_frac")) {
            for row in 0..table.n_rows() {
                let share = table.real(row, column.id).unwrap_or(0.0);
                assert!(
                    (0.0..=1.0).contains(&share),
                    "{}: {}.{} is {share}",
                    path.display(),
                    table.id,
                    column.id
                );
            }
        }
    }
    let (Some(operators), Some(devices)) = (analysis.table("operators"), analysis.table("devices")) else {
        return;
    };
    // Wall times of all operators are all busy time of all devices.
    let sum = |table: &Table, column: &str| -> i64 {
        (0..table.n_rows()).filter_map(|row| table.int(row, column)).sum()
    };
    assert_eq!(sum(operators, "wall_ns"), sum(devices, "busy_ns"), "{}", path.display());
}

/// Rows of a CSV file after RFC 4180, header first.
pub(crate) fn csv(path: &Path) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(path).unwrap();
    let mut rows = vec![vec![String::new()]];
    let mut is_quoted = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let row = rows.last_mut().unwrap();
        match c {
            '"' if is_quoted && chars.peek() == Some(&'"') => {
                chars.next();
                row.last_mut().unwrap().push('"');
            }
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => row.push(String::new()),
            '\r' if !is_quoted => {}
            '\n' if !is_quoted => rows.push(vec![String::new()]),
            c => row.last_mut().unwrap().push(c),
        }
    }
    rows.retain(|row| row.len() > 1 || !row[0].is_empty());
    rows
}
