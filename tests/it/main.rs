//! What only shows when the packages work together: goldens, real traces, the project's own rules.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod corpus;
mod flames;
mod fuzz_found;
mod metrics;
mod nsys_goldens;
mod real_traces;
mod report_twin;
mod tidy;
mod torch_goldens;
