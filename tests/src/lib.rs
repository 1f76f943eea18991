//! The tests of Tracecard: goldens, pictures, GUI, CLI, benches, and the trace synthesiser they share.

pub mod synth;
