//! The command line: what can be asked, and the exit code that answers.
//!
//! Codes: 0 done · 2 wrong arguments, or a result that cannot be written · 3 the input cannot be read · 4 cancelled · 70 a bug.
//! Standard output holds the result alone; progress goes to stderr, only where it is a terminal.

mod info;
mod load;
mod report;
mod shot;
mod time_window;

use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use tracecard_importers::ImportError;

pub use load::{Loaded, load};
pub use time_window::{StepWindow, TimeWindow};

/// Opens a GPU profile and says where the time went and why.
#[derive(Debug, Parser)]
#[command(name = "tracecard", version, args_conflicts_with_subcommands = true)]
struct Cli {
    /// Profiles to open in the window (none: the start page)
    files: Vec<PathBuf>,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Say what a file is, from its headers
    Info(info::InfoArgs),
    /// Write where the time went, as Markdown or JSON
    Report(report::ReportArgs),
    /// Draw a view into a PNG or SVG, without a display
    Shot(shot::ShotArgs),
}

/// Commands that the contract reserves; a file of such a name is opened as `./name`.
const RESERVED: &[&str] = &["compare", "query", "convert", "scrub", "bundle", "cards"];

/// Choices that narrow what is analysed.
#[derive(Clone, Debug, Default, Args)]
struct Selection {
    /// Part of the run, e.g. 500ms..1.2s, step:3, step:3..7
    #[arg(long, value_name = "A..B")]
    window: Option<TimeWindow>,
    /// Only this device
    #[arg(long, value_name = "D")]
    device: Option<u32>,
    /// What a step is: nvtx:REGEX, kernel:REGEX, annotation:REGEX or every:N
    #[arg(long, value_name = "RULE", value_parser = load::parse_steps)]
    steps: Option<tracecard_analyzers::StepRule>,
    /// Samples or tokens a step, for throughput
    #[arg(long, value_name = "N")]
    items_per_step: Option<f64>,
}

/// Arguments that make no sense together or for this file; exit code 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct BadArguments(String);

/// Run the program with these arguments (the first is its own name).
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args: Vec<OsString> = args.into_iter().collect();
    if let Some(word) = args.get(1).and_then(|arg| arg.to_str()).filter(|arg| RESERVED.contains(arg)) {
        eprintln!("tracecard: `{word}` is not part of this version; see `tracecard --help` for what is");
        return ExitCode::from(2);
    }
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => {
            let code = if error.use_stderr() { 2 } else { 0 };
            // Nothing is left to tell when stderr itself is gone.
            let _ = error.print();
            return ExitCode::from(code);
        }
    };
    let outcome = catch_unwind(AssertUnwindSafe(|| match cli.command {
        None => crate::gui::run_window(cli.files),
        Some(Command::Info(args)) => info::run(&args),
        Some(Command::Report(args)) => report::run(&args),
        Some(Command::Shot(args)) => shot::run(&args),
    }));
    match outcome {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(error)) => {
            if !is_closed_pipe(&error) {
                eprintln!("tracecard: {error:#}");
            }
            ExitCode::from(exit_code(&error))
        }
        Err(_) => {
            eprintln!("tracecard: this is a bug; please report it with the message above and the version");
            ExitCode::from(70)
        }
    }
}

fn exit_code(error: &anyhow::Error) -> u8 {
    use tracecard_analyzers::AnalyzeError;
    if is_closed_pipe(error) {
        return 0;
    }
    if error.is::<BadArguments>() {
        return 2;
    }
    match (error.downcast_ref::<ImportError>(), error.downcast_ref::<AnalyzeError>()) {
        (Some(ImportError::Cancelled(_)), _) | (_, Some(AnalyzeError::Cancelled(_))) => 4,
        (Some(_), _) => 3,
        (_, Some(AnalyzeError::BadParams(_))) => 2,
        // The result cannot be written, the picture is too large, no window can be opened: ask differently.
        _ => 2,
    }
}

/// `tracecard report … | head` closes our output; that is no error.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe)
}

/// Write a result to a file or to standard output. Never onto one of the inputs.
fn write_result(bytes: &[u8], out: Option<&Path>, inputs: &[&Path]) -> anyhow::Result<()> {
    use anyhow::Context as _;
    use std::io::Write as _;
    let Some(out) = out else {
        let mut stdout = std::io::stdout().lock();
        stdout.write_all(bytes)?;
        stdout.flush()?;
        return Ok(());
    };
    let same = |input: &&&Path| match (std::fs::canonicalize(input), std::fs::canonicalize(out)) {
        (Ok(input), Ok(out)) => input == out,
        _ => false,
    };
    if inputs.iter().any(|input| same(&input)) {
        return Err(BadArguments("the output would overwrite the trace; choose another -o".to_owned()).into());
    }
    std::fs::write(out, bytes).with_context(|| format!("cannot write the result\n{}", out.display()))
}
