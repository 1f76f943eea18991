//! PyTorch or chrome trace.

use tracecard_model::{Progress, TraceBuilder};

use crate::{ImportError, Importer, Info, Input};

/// PyTorch or chrome trace.
pub(crate) const IMPORTER: Importer =
    Importer { id: "kineto-json", title: "PyTorch or chrome trace", sniff, read, info };

fn sniff(_: &Input) -> bool {
    false
}

fn read(input: &Input, _: &mut TraceBuilder, _: &Progress) -> Result<(), ImportError> {
    Err(input.unreadable("placeholder"))
}

fn info(input: &Input) -> Result<Info, ImportError> {
    Err(input.unreadable("placeholder"))
}
