//! Which tables have a view, and what a reader wants to see of them first.

use crate::views::ViewId;

/// A table as a view.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// The view.
    pub view: ViewId,
    /// Id of the table in the analysis.
    pub table: &'static str,
    /// Id of the analyzer that makes it, and says why when it cannot.
    pub analyzer: &'static str,
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
        analyzer: "kernels",
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
        analyzer: "operators",
        columns: &["name", "shapes", "dtype", "count", "self_device_ns", "total_device_ns", "self_cpu_ns"],
        empty: "No operator ran in this window.",
    },
    Spec {
        view: ViewId::Apis,
        table: "apis",
        analyzer: "apis",
        columns: &["name", "count", "total_ns", "mean_ns", "median_ns", "max_ns", "errors"],
        empty: "No CUDA API call was recorded in this window.",
    },
    Spec {
        view: ViewId::Copies,
        table: "copies",
        analyzer: "copies",
        columns: &["kind", "src", "dst", "count", "total_ns", "bytes", "bytes_per_s"],
        empty: "Nothing was copied in this window.",
    },
    Spec {
        view: ViewId::Ranges,
        table: "ranges",
        analyzer: "ranges",
        columns: &["path", "kind", "count", "total_ns", "device_busy_ns", "median_ns", "p99_ns", "domain"],
        empty: "No NVTX range or annotation was recorded in this window.",
    },
    Spec {
        view: ViewId::Counters,
        table: "counters",
        analyzer: "counters",
        columns: &["name", "device", "samples", "mean", "min", "max", "unit"],
        empty: "No counter was recorded (nsys --gpu-metrics-devices=all records those of the GPU).",
    },
    Spec {
        view: ViewId::Steps,
        table: "step_list",
        analyzer: "steps",
        columns: &[
            "name", "device", "start_ns", "dur_ns", "compute_ns", "exposed_comm_ns", "exposed_copy_ns", "idle_ns",
            "idle_host_wait_ns", "host_ns", "steady",
        ],
        empty: "The devices ran no step in this window.",
    },
    Spec {
        view: ViewId::Idle,
        table: "idle_by_cause",
        analyzer: "devices",
        columns: &["cause", "device", "ns", "gaps", "longest_ns"],
        empty: "No device did any work in this window.",
    },
];

/// The table of a view; `None` for views that are no table.
pub fn spec(view: ViewId) -> Option<&'static Spec> {
    SPECS.iter().find(|spec| spec.view == view)
}
