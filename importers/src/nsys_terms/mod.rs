//! What the numbers and names of Nsight Systems mean, whichever file they come from.
//!
//! Pure functions without I/O, shared by the readers of its SQLite export and of its reports. Checked on
//! public exports of nsys 2020 to 2026.2; where NVIDIA's own labels are wrong, the module says so.

pub(crate) mod api_name;
pub(crate) mod copy_kind;
pub(crate) mod diagnostic;
pub(crate) mod event_class;
pub(crate) mod global_id;
pub(crate) mod gpu_metric;
pub(crate) mod nccl;
pub(crate) mod sync_class;
