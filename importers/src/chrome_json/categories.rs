//! What kind of slice an event is, from its `cat`.
//!
//! Kineto's names (`libkineto/include/ActivityType.h`) of all versions, in any case: torch 1.8 and 1.9 wrote
//! `Kernel`, `Memcpy`, `Operator`; ROCm uses CUDA's names; XPU, MTIA and `privateuse1` back-ends have their own.
//! The category alone decides between host and device: process 0 may be either.

/// What an event with a duration stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Category {
    Op,
    Annotation,
    Python,
    /// A call of a device runtime or driver.
    Api,
    Overhead,
    Kernel,
    Memcpy,
    Memset,
    /// A host annotation projected onto a stream, or a range of the CUPTI range profiler.
    GpuAnnotation,
    /// A synchronisation record, or a node of a CUDA graph that does no device work.
    Sync,
    /// A record of an MTIA device: a program, a copy or a wait, told apart by its name.
    Mtia,
    /// The span of the recording itself (`PyTorch Profiler (0)`): no work.
    Recording,
    /// A category that is not known, or none.
    Other,
}

/// The longest known name.
const LONGEST: usize = 24;

/// The category with this name.
pub(super) fn category(name: &[u8]) -> Category {
    let mut lower = [0_u8; LONGEST];
    let Some(lower) = lower.get_mut(..name.len()) else { return Category::Other };
    lower.copy_from_slice(name);
    lower.make_ascii_lowercase();
    match &*lower {
        b"cpu_op" | b"operator" => Category::Op,
        b"user_annotation" => Category::Annotation,
        b"python_function" => Category::Python,
        b"cuda_runtime"
        | b"cuda_driver"
        | b"runtime"
        | b"hip_runtime"
        | b"xpu_runtime"
        | b"xpu_driver"
        | b"mtia_runtime"
        | b"glow_runtime"
        | b"privateuse1_runtime"
        | b"privateuse1_driver" => Category::Api,
        b"overhead" => Category::Overhead,
        b"kernel" | b"hpu_op" | b"collective_comm" => Category::Kernel,
        b"gpu_memcpy" | b"memcpy" => Category::Memcpy,
        b"gpu_memset" | b"memset" => Category::Memset,
        b"gpu_user_annotation" | b"cuda_profiler_range" => Category::GpuAnnotation,
        b"cuda_sync" | b"xpu_sync" | b"cuda_event" | b"graph_event_node" | b"graph_host_node" => {
            Category::Sync
        }
        b"mtia_ccp_events" => Category::Mtia,
        b"trace" => Category::Recording,
        _ => Category::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_and_new_names_mean_the_same() {
        for (old, new) in [
            ("Operator", "cpu_op"),
            ("Kernel", "kernel"),
            ("Memcpy", "gpu_memcpy"),
            ("Memset", "gpu_memset"),
            ("Runtime", "cuda_runtime"),
            ("KERNEL", "hpu_op"),
            ("Runtime", "privateuse1_runtime"),
            ("", "a category that is longer than all known ones"),
        ] {
            assert_eq!(category(old.as_bytes()), category(new.as_bytes()), "{old} {new}");
        }
        assert_eq!(category(b"Trace"), Category::Recording);
    }
}
