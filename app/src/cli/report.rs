//! `tracecard report`: where the time went, in a file.

use std::path::PathBuf;

use super::Selection;

/// Arguments of `report`.
#[derive(Debug, clap::Args)]
pub(super) struct ReportArgs {
    /// The profile
    file: PathBuf,
    /// How to write it
    #[arg(long, value_enum, default_value = "md")]
    format: Format,
    /// Where to write it; else to standard output
    #[arg(short, value_name = "OUT")]
    out: Option<PathBuf>,
    /// Rows a list at most [default: all in JSON, 20 in Markdown]
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    #[command(flatten)]
    selection: Selection,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Format {
    Md,
    Json,
}

/// Rows of a list in Markdown that a reader still reads.
const DEFAULT_MD_ROWS: usize = 20;

pub(super) fn run(args: &ReportArgs) -> anyhow::Result<()> {
    let run = super::load::load_selected(&args.file, &args.selection)?;
    let text = match args.format {
        Format::Md => crate::report::markdown(&run, args.top.unwrap_or(DEFAULT_MD_ROWS)),
        Format::Json => crate::report::json(&run, args.top)?,
    };
    super::write_result(text.as_bytes(), args.out.as_deref(), &[&args.file])
}
