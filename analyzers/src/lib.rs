//! Turns a [`tracecard_model::Trace`] into tables.
//!
//! A good analyzer answers one question, says what it needs, and abstains with a reason where the trace does
//! not hold it. It does no I/O; the same trace and parameters give the same tables, to the byte.
//! Times are ns, shares are unions of spans and never above 1, unknown is null.

mod analyzer;
mod apis;
mod attribution;
mod call_tree;
mod collectives;
mod copies;
mod counters;
mod derived;
mod device_summary;
mod device_work;
pub mod flame;
mod grouped;
mod health;
mod idle;
mod idle_gaps;
mod kernel_names;
mod kernels;
pub mod metrics;
mod normalise;
mod nvtx_texts;
mod op_key;
mod operators;
mod partition;
mod patterns;
mod range_paths;
mod ranges;
mod run_all;
pub mod search;
pub mod selection;
mod span_index;
mod stats;
mod step_classes;
mod step_source;
mod step_summary;
mod steps;
mod table;
mod table_text;
#[cfg(test)]
mod testing;

pub use analyzer::{Analysis, AnalyzeError, Analyzer, Input, Outcome, Params, StepRule};
pub use derived::Derived;
pub use device_work::Label;
pub use idle::{Cause, Gap};
pub use kernel_names::{family, short_name, tensor_core};
pub use metrics::Metrics;
pub use normalise::{api_name, range_name};
pub use operators::NOT_ATTRIBUTED;
pub use partition::{DevicePartition, Split};
pub use run_all::run_all;
pub use span_index::{FoldedSpan, SpanIndex};
pub use step_source::HostStep;
pub use steps::{DeviceStep, StepStats, Steps};
pub use table::{Cell, Column, Data, Table, Unit};

/// Every analyzer, in the order shown to the user.
pub const ALL: &[Analyzer] = &[
    device_summary::ANALYZER,
    step_summary::ANALYZER,
    operators::ANALYZER,
    kernels::ANALYZER,
    collectives::ANALYZER,
    copies::ANALYZER,
    apis::ANALYZER,
    ranges::ANALYZER,
    nvtx_texts::ANALYZER,
    counters::ANALYZER,
    metrics::ANALYZER,
    idle_gaps::ANALYZER,
    health::ANALYZER,
];
