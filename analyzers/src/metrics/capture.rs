//! Which command captures an L2 hit rate on a device, where the file has none.
//!
//! Of nsys's stock metric sets only those of graphics throughput carry it, and they exist for Turing, GA10x and
//! Ada (`GpuMetrics/*.config` of nsys 2023.4). Elsewhere Nsight Compute measures it, kernel by kernel.

use rustc_hash::FxHashMap;
use tracecard_model::{Device, NameId, SliceKind, Trace};

use crate::device_work::WorkRow;
use crate::kernel_names::{family, short_name};

/// Metric sets with an L2 hit rate, by compute capability.
const SETS: &[((u32, u32), &str)] = &[((7, 5), "tu10x-gfxt"), ((8, 6), "ga10x-gfxt"), ((8, 9), "ad10x-gfxt")];

/// The command; `None` where none is known for the device. `rows` are its work.
pub(crate) fn l2_command(trace: &Trace, device: &Device, rows: &[WorkRow]) -> Option<String> {
    let is_nsys = trace.meta.format.starts_with("nsys");
    // AMD's devices state a compute capability, too, with wave slots that no NVIDIA GPU of that capability has.
    let is_amd = device.max_warps_per_sm == Some(32) && device.compute_capability.is_some_and(|cc| 9 <= cc.0);
    if (device.compute_capability.is_none() && !is_nsys) || is_amd {
        return None;
    }
    let set = SETS.iter().find(|(capability, _)| Some(*capability) == device.compute_capability);
    if let Some((_, set)) = set {
        return Some(format!(
            "nsys profile --gpu-metrics-devices=all --gpu-metrics-set={set} -o run python train.py"
        ));
    }
    let kernel = longest_kernel(trace, rows).map_or_else(String::new, |name| {
        let name: String = name.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        if name.is_empty() { name } else { format!(" -k regex:{name}") }
    });
    Some(format!("ncu --section MemoryWorkloadAnalysis --launch-count 5{kernel} -o l2 python train.py"))
}

/// Short name of the kernel with the most time, communication apart.
fn longest_kernel(trace: &Trace, rows: &[WorkRow]) -> Option<String> {
    let mut total_ns: FxHashMap<NameId, i64> = FxHashMap::default();
    for row in rows.iter().filter(|row| trace.slices.kinds()[row.slice.idx()] == SliceKind::Kernel) {
        *total_ns.entry(trace.slices.names()[row.slice.idx()]).or_default() += row.span.dur_ns();
    }
    total_ns.retain(|name, _| family(trace.names.text(*name)) != "comm");
    let longest = total_ns.into_iter().max_by_key(|(name, ns)| (*ns, std::cmp::Reverse(*name)))?;
    Some(short_name(trace.names.text(longest.0)))
}

#[cfg(test)]
mod tests {
    use tracecard_model::fixture;

    use super::*;
    use crate::device_work::DeviceWork;

    fn check(capability: Option<(u32, u32)>, warps: Option<u32>, expected: Option<&str>) {
        let trace = fixture(
            "stream 0:7\n  kernel short 0 5\n  kernel \"void ns::gemm<float>(int)\" 10 50\n  kernel short 70 5\n  kernel ncclDevKernel_AllReduce 80 90",
        )
        .unwrap();
        let device = Device { compute_capability: capability, max_warps_per_sm: warps, ..Device::default() };
        let work = DeviceWork::new(&trace);
        assert_eq!(l2_command(&trace, &device, &work.rows).as_deref(), expected);
    }

    #[test]
    fn the_command_fits_the_device() {
        let nsys =
            "nsys profile --gpu-metrics-devices=all --gpu-metrics-set=ad10x-gfxt -o run python train.py";
        check(Some((8, 9)), Some(48), Some(nsys));
        let ncu = "ncu --section MemoryWorkloadAnalysis --launch-count 5 -k regex:gemm -o l2 python train.py";
        check(Some((9, 0)), Some(64), Some(ncu));
        // gfx942 says 9.4 with 32 waves; of what states nothing nothing is known.
        check(Some((9, 4)), Some(32), None);
        check(None, None, None);
    }
}
