//! Nsight Systems reports (`.nsys-rep`, `.qdrep`): recognised and dated, not read; the SQLite export is.
//!
//! Found from report files: an ASCII line `NVIDIA Tegra Profiler Report VERSION.\n` at the start, `[END]` as
//! the last bytes of a complete report.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use tracecard_model::{Progress, TraceBuilder};

use crate::{ImportError, Importer, Info, Input};

/// Recognises reports and says what to do with them.
pub(crate) const IMPORTER: Importer =
    Importer { id: "nsys-rep", title: "Nsight Systems report", sniff, read, info };

const MAGIC: &[u8] = b"NVIDIA Tegra Profiler Report ";

fn sniff(input: &Input) -> bool {
    input.head().starts_with(MAGIC)
}

fn read(input: &Input, _: &mut TraceBuilder, _: &Progress) -> Result<(), ImportError> {
    let version = version(input).unwrap_or_else(|| "2023.2 or older".to_owned());
    let stem = input.path().file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let cut = if is_complete(input) { "" } else { "; it has no end mark, so it was probably cut short" };
    Err(input.unreadable(format!(
        "this is an Nsight Systems report (version {version}){cut}; export it with an nsys of that version or newer: \
         nsys export --type sqlite --output {stem}.sqlite {}",
        input.path().display(),
    )))
}

fn info(input: &Input) -> Result<Info, ImportError> {
    let tool = Some(match version(input) {
        Some(version) => format!("nsys {version}"),
        None => "nsys 2023.2 or older".to_owned(),
    });
    let size_bytes = input.size_bytes();
    let complete = if is_complete(input) { "yes" } else { "no: the end mark is missing" };
    let properties = vec![("complete".to_owned(), complete.to_owned())];
    Ok(Info { format: IMPORTER.id, title: IMPORTER.title, tool, size_bytes, properties, ..Info::default() })
}

/// `2026.1.1.204` from `2026@1@1@204-261137176666v0`; `None` for reports before 2023.3, which have `1`.
fn version(input: &Input) -> Option<String> {
    let line = input.head().strip_prefix(MAGIC)?.split(|b| *b == b'\n').next()?;
    let numbers = std::str::from_utf8(line).ok()?.split('-').next()?;
    numbers.contains('@').then(|| numbers.replace('@', "."))
}

fn is_complete(input: &Input) -> bool {
    let mut end = Vec::new();
    let read_end = || -> std::io::Result<()> {
        let mut file = File::open(input.path())?;
        file.seek(SeekFrom::End(-5))?;
        file.read_to_end(&mut end)?;
        Ok(())
    };
    let mut read_end = read_end;
    read_end().is_ok() && end == b"[END]"
}
