//! Nsight Systems SQLite export.

use tracecard_model::{Progress, TraceBuilder};

use crate::{ImportError, Importer, Info, Input};

/// Nsight Systems SQLite export.
pub(crate) const IMPORTER: Importer = Importer { id: "nsys-sqlite", title: "Nsight Systems SQLite export", sniff, read, info };

fn sniff(_: &Input) -> bool {
    false
}

fn read(input: &Input, _: &mut TraceBuilder, _: &Progress) -> Result<(), ImportError> {
    Err(input.unreadable("placeholder"))
}

fn info(input: &Input) -> Result<Info, ImportError> {
    Err(input.unreadable("placeholder"))
}
