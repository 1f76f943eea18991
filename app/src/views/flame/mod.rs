//! Merged flame graphs: where the time went, by call stack.
//!
//! ```text
//! ┌ weight · view · scope · threads · frames · filter · share ────┐
//! ├ edits as chips, Undo ─────────────────────────────────────────┤
//! │ All                                                           │
//! │ train.py                                          │ GPU idle  │
//! │ aten::linear               │ aten::relu │ ▒▒ 12   │ host wait │
//! └───────────────────────────────────────────────────────────────┘
//! ```
//! The trees are made in a job of their own; while one is made the last one stays on screen.

mod bar;
mod keys;
mod layout;
mod list;
mod menu;
mod model;
mod paint;
mod state;
#[cfg(test)]
mod tests;
mod tooltip;
mod ui;

use tracecard_analyzers::flame::{Layer, Measure};

pub use layout::{Bar, Canvas, Items, layout};
pub use model::{Key, Shown, model};
pub use state::{Cursor, Scope, Side, State, View};
pub use ui::{Cache, ui};

use crate::format;

/// A weight in its unit.
fn weight_text(measure: Measure, weight: i64) -> String {
    match measure {
        Measure::CpuNs | Measure::DeviceNs => format::ns(weight as f64),
        Measure::Samples => format::counted(usize::try_from(weight).unwrap_or_default(), "sample"),
    }
}

/// What a layer is called.
fn layer_title(layer: Layer) -> &'static str {
    match layer {
        Layer::Note => "Note",
        Layer::Idle => "Idle time",
        Layer::Python => "Python frame",
        Layer::Module => "nn.Module",
        Layer::Range => "NVTX range or annotation",
        Layer::Op => "Operator",
        Layer::Library => "Library call",
        Layer::Other => "Other slice",
        Layer::Api => "CUDA API call",
        Layer::OsRuntime => "OS call",
        Layer::Sampled => "Sampled function",
        Layer::Device => "Device work",
    }
}
