//! The joint between a file format and the model.

use std::io;
use std::path::PathBuf;

use tracecard_model::{Cancelled, Progress, TraceBuilder};

use crate::Input;

/// One file format.
#[derive(Debug)]
pub struct Importer {
    /// Stable id, as in reports: `nsys-sqlite`.
    pub id: &'static str,
    /// What the user reads.
    pub title: &'static str,
    /// Is the file of this format? Looks at [`Input::head`] only.
    pub sniff: fn(&Input) -> bool,
    /// Read everything into the builder.
    pub read: fn(&Input, &mut TraceBuilder, &Progress) -> Result<(), ImportError>,
    /// What the headers say.
    pub info: fn(&Input) -> Result<Info, ImportError>,
}

/// What the headers of a file say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Info {
    /// Id of the importer.
    pub format: &'static str,
    /// What the user reads.
    pub title: &'static str,
    /// Tool and version that wrote the file; `None` where it does not say.
    pub tool: Option<String>,
    /// Size on disk in bytes.
    pub size_bytes: u64,
    /// Names of the devices, in file order.
    pub devices: Vec<String>,
    /// Tables or sections with rows.
    pub tables: Vec<TableInfo>,
    /// Other facts: (key, value).
    pub properties: Vec<(String, String)>,
}

/// One table or section of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableInfo {
    /// Name in the file.
    pub name: String,
    /// Rows; `None` where the headers do not tell.
    pub n_rows: Option<u64>,
    /// Is `n_rows` an estimate (from the largest row id)?
    pub is_estimate: bool,
}

/// Why a file cannot be read. Messages say what failed, why, and what to try; the path comes last.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The operating system refuses.
    #[error("cannot read the file: {source}\n{}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Nothing in it.
    #[error("the file is empty; the capture or the copy did not finish\n{}", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// No importer knows it.
    #[error("{looks_like}; Tracecard opens Nsight Systems reports and their SQLite exports, and PyTorch or chrome traces (.json, .gz, .zst, .zip)\n{}", path.display())]
    Unrecognised {
        /// The file.
        path: PathBuf,
        /// What the first bytes look like, as a clause.
        looks_like: String,
    },
    /// Known format, but it cannot be read as it is; the text says why and what to try.
    #[error("{reason}\n{}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What is wrong and what to try, as a sentence without a full stop.
        reason: String,
    },
    /// The user stopped it.
    #[error("cancelled")]
    Cancelled(#[from] Cancelled),
}
