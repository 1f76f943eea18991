//! Names of CUDA API calls: `cudaLaunchKernel_v7000`, `cudaMemcpyAsync_ptsz_v7000`.

/// The name without the version and per-thread-stream suffixes, for grouping.
pub(crate) fn base_name(name: &str) -> &str {
    let mut base = name;
    loop {
        let shorter = base
            .strip_suffix("_ptsz")
            .or_else(|| base.strip_suffix("_ptds"))
            .or_else(|| without_version(base));
        match shorter {
            Some(shorter) if !shorter.is_empty() => base = shorter,
            _ => return base,
        }
    }
}

/// `_v` and at least four digits: real names such as `cuMemFree_v2` keep theirs.
fn without_version(name: &str) -> Option<&str> {
    let (base, digits) = name.rsplit_once("_v")?;
    (4 <= digits.len() && digits.bytes().all(|b| b.is_ascii_digit())).then_some(base)
}

/// Does a call of this base name enqueue kernels (one, or those of a graph)?
pub(crate) fn is_launch(base: &str) -> bool {
    ["cudaLaunch", "cuLaunch", "cudaGraphLaunch", "cuGraphLaunch"].iter().any(|start| base.starts_with(start))
        // A host function is enqueued like a kernel but runs on the CPU.
        && !base.contains("HostFunc")
}

/// Does a call of this base name begin a profiling session (again)?
pub(crate) fn is_profiler_start(base: &str) -> bool {
    base.ends_with("ProfilerStart")
}

/// Does a call of this base name ask whether work is done? It returns 600 (not ready) when all is well.
pub(crate) fn is_query(base: &str) -> bool {
    base.ends_with("Query")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_go_and_real_names_stay() {
        let base = |name| base_name(name);
        assert_eq!(base("cudaLaunchKernel_v7000"), "cudaLaunchKernel");
        assert_eq!(base("cudaMemcpyAsync_ptsz_v7000"), "cudaMemcpyAsync");
        assert_eq!(base("cuLaunchKernel_ptsz"), "cuLaunchKernel");
        assert_eq!(base("cuMemFree_v2"), "cuMemFree_v2");
        assert_eq!(base("_v7000"), "_v7000");
    }

    #[test]
    fn launches_are_told_from_host_functions() {
        assert!(is_launch("cudaLaunchKernelExC") && is_launch("cuGraphLaunch"));
        assert!(!is_launch("cudaLaunchHostFunc") && !is_launch("cudaMalloc"));
    }
}
