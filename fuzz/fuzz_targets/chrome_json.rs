//! Any bytes as a chrome trace.
#![no_main]
#![allow(unsafe_code, reason = "the macro exports the function that libFuzzer calls")]

use libfuzzer_sys::fuzz_target;
use tracecard_fuzz::{check::check, input::make};

fuzz_target!(|bytes: &[u8]| check(&make("chrome_json", bytes)));
