//! PyTorch profiler traces and other chrome traces (`trace_event` JSON).
//!
//! Written by Kineto of torch 1.8 to 2.15 (CUDA, ROCm, XPU, MTIA), its Python exporters, its Cuspy back-end, and
//! `torch.autograd.profiler`; files of Ascend, JAX and others open as plain slices. Found out from files of 22
//! torch versions, from about 240 public traces, and from Kineto's `output_json.cpp`. For users:
//! `docs/formats.md`. The known troubles of such files, with their tests: `tests/troubles.rs`.
//!
//! Read: complete and half events, instants, counters, names, forward–backward arrows, `[memory]`, and of the
//! facts beside them devices, distribution, capture options. Left out, on purpose: `External id` (wrong in
//! many versions), `ac2g` arrows (correlation says more), stacks, printed bandwidths and occupancies (wrong in
//! some versions; both follow from what is kept).
//!
//! The file is streamed in blocks and never held as a whole:
//!
//! ```text
//! blocks ──▶ walk, event, mapper (workers) ──▶ join ──▶ settle
//! bytes cut   bytes → events → rows             file      what needs
//! at events                                     order     the whole
//! ```

mod ahead;
mod args;
mod blocks;
mod categories;
mod copy;
mod counters;
mod event;
mod flows;
mod fragment;
mod instants;
mod join;
mod lenient;
mod mapper;
mod members;
mod names;
mod number;
mod pairs;
mod pipeline;
mod repairs;
mod scan;
mod settle;
mod skip;
mod slices;
mod sniff;
mod string;
#[cfg(test)]
mod tests;
mod time;
mod version;
mod walk;

use std::io;

use tracecard_model::{Progress, Severity, TraceBuilder};

use self::fragment::Fragment;
use self::pipeline::{Outcome, Plan};
use self::string::Backslashes;
use crate::{Compression, ImportError, Importer, Input};

/// PyTorch or chrome trace.
pub(crate) const IMPORTER: Importer = Importer {
    id: "kineto-json",
    title: "PyTorch or chrome trace",
    sniff: sniff::sniff,
    read,
    info: sniff::info,
};

/// Do these first bytes belong to such a trace?
pub(crate) fn is_trace(head: &[u8]) -> bool {
    sniff::looks_like_trace(head)
}

fn read(input: &Input, builder: &mut TraceBuilder, progress: &Progress) -> Result<(), ImportError> {
    read_with(input, builder, progress, Plan::new())
}

fn read_with(
    input: &Input,
    builder: &mut TraceBuilder,
    progress: &Progress,
    plan: Plan,
) -> Result<(), ImportError> {
    if let Some(reason) = sniff::known_other(input.head()) {
        return Err(input.unreadable(reason));
    }
    let mut backslashes = Backslashes::Escape;
    let (mut whole, error) = loop {
        progress.begin("Reading", input.size_bytes())?;
        let mut start = Fragment::whole();
        start.builder.meta.format = builder.meta.format;
        match pipeline::run(input.reader()?, start, backslashes, plan, progress)? {
            Outcome::Read(whole, error) => break (whole, error),
            Outcome::NotEscaped => backslashes = Backslashes::Literal,
        }
    };
    if let Some(error) = error {
        if let Some(error) = input.too_large(&error) {
            return Err(error);
        }
        note_broken_reading(input, &mut whole, error)?;
    }
    // The list itself is kept without a value.
    let has_list = whole.found.members.iter().any(|(key, value)| key == "traceEvents" && value.is_empty());
    if whole.found.n_events == 0 && !has_list {
        if whole.builder.issues.get("file_truncated").is_some() {
            return Err(input.unreadable(
                "the file ends before its first event: the recording or the copy did not finish; \
                 if it is still being written, open it again when it is complete",
            ));
        }
        return Err(input.unreadable(
            "this is JSON or a piece of it, but no trace: it has neither \"traceEvents\" nor events with \"ph\"; \
             export a PyTorch profile with prof.export_chrome_trace(\"trace.json\")",
        ));
    }
    settle::settle(&mut whole, input.path());
    *builder = whole.builder;
    Ok(())
}

/// A damaged archive keeps what could be unpacked; a disk that cannot be read is an error.
fn note_broken_reading(input: &Input, whole: &mut Fragment, error: io::Error) -> Result<(), ImportError> {
    if input.compression() == Compression::Plain {
        return Err(input.io_error(error));
    }
    let issues = &mut whole.builder.issues;
    // The checksum of what came before was right, else flate2 would not have looked for the next header. It has
    // no kind of its own for this.
    let is_behind = input.compression() == Compression::Gzip && error.to_string() == "invalid gzip header";
    if is_behind && issues.get("file_truncated").is_none() {
        let text = "bytes that are no gzip stand behind the archive; they are passed over";
        issues.count(Severity::Info, "bytes_behind_archive", text, String::new);
        return Ok(());
    }
    let n_events = whole.found.n_events;
    let what = match error.kind() {
        io::ErrorKind::UnexpectedEof => "the archive ends too early".to_owned(),
        _ => format!("the archive is damaged ({error})"),
    };
    let text = format!("{what}; {n_events} events could be unpacked and are kept");
    issues.count(Severity::DataLoss, "archive_damaged", &text, String::new);
    Ok(())
}
