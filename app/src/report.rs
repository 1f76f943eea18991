//! A run with its analysis as text: Markdown for people, JSON for programs.
//!
//! Every number comes from a table of the analysis or from the trace; nothing is computed here.

mod json;
mod markdown;

pub use json::json;
pub use markdown::markdown;
