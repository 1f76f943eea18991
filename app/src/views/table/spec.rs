//! Which tables have a view, and what a reader wants to see of them first.

use crate::views::ViewId;

/// A table as a view.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// The view.
    pub view: ViewId,
    /// Id of the table in the analysis.
    pub table: &'static str,
    /// Columns shown until the user picks others, in order; those the table lacks are left out.
    pub columns: &'static [&'static str],
    /// What to say when the table has no rows.
    pub empty: &'static str,
}

/// Every table view.
pub const SPECS: &[Spec] = &[
    Spec {
        view: ViewId::Kernels,
        table: "kernels",
        columns: &[
            "name",
            "family",
            "device",
            "count",
            "total_ns",
            "share_frac",
            "mean_ns",
            "median_ns",
            "max_ns",
        ],
        empty: "No kernel ran in this window. Was the GPU traced (nsys -t cuda, ProfilerActivity.CUDA)?",
    },
    Spec {
        view: ViewId::Operators,
        table: "operators",
        columns: &["name", "shapes", "dtype", "count", "self_device_ns", "total_device_ns", "self_cpu_ns"],
        empty: "No operator ran in this window.",
    },
    Spec {
        view: ViewId::Collectives,
        table: "collectives",
        columns: &["kind", "group", "size", "dtype", "device", "count", "bytes", "total_ns", "exposed_ns"],
        empty: "Nothing was communicated in this window.",
    },
    Spec {
        view: ViewId::Apis,
        table: "apis",
        columns: &["name", "count", "total_ns", "mean_ns", "median_ns", "max_ns", "errors"],
        empty: "No CUDA API call was recorded in this window.",
    },
    Spec {
        view: ViewId::Copies,
        table: "copies",
        columns: &["kind", "src", "dst", "device", "count", "total_ns", "bytes", "bytes_per_s"],
        empty: "Nothing was copied in this window.",
    },
    Spec {
        view: ViewId::Ranges,
        table: "ranges",
        columns: &["path", "domain", "count", "total_ns", "device_busy_ns", "median_ns", "p99_ns"],
        empty: "No NVTX range or annotation was recorded in this window.",
    },
    Spec {
        view: ViewId::Counters,
        table: "counters",
        columns: &["name", "device", "samples", "mean", "min", "max", "unit"],
        empty: "No counter was recorded (nsys --gpu-metrics-devices=all records those of the GPU).",
    },
    Spec {
        view: ViewId::Steps,
        table: "step_list",
        columns: &["step", "device", "start_ns", "dur_ns", "compute_ns", "comm_ns", "copy_ns", "idle_ns"],
        empty: "No steps were found.",
    },
    Spec {
        view: ViewId::Gaps,
        table: "gaps",
        columns: &["device", "cause", "start_ns", "dur_ns", "detail"],
        empty: "The devices never waited long enough to be listed.",
    },
];

/// The table of a view; `None` for views that are no table.
pub fn spec(view: ViewId) -> Option<&'static Spec> {
    SPECS.iter().find(|spec| spec.view == view)
}
