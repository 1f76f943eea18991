//! The program `tracecard`: parse the command line, run a command or the window, exit with a code.

use std::process::ExitCode;

fn main() -> ExitCode {
    tracecard::cli::run(std::env::args_os())
}
