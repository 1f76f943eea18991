//! Writes the file that a target makes of an input of libFuzzer: `cargo run --example file TARGET INPUT FILE`.
//!
//! A case that was found is kept as this file, in `found/TARGET/`: the replay only opens it.

use std::process::ExitCode;

use tracecard_fuzz::input::make;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [target, input, file] = args.as_slice() else {
        eprintln!("usage: file TARGET INPUT FILE");
        return ExitCode::from(2);
    };
    let written = std::fs::read(input).and_then(|bytes| std::fs::write(file, make(target, &bytes)));
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cannot make {file} of {input}: {error}");
            ExitCode::FAILURE
        }
    }
}
