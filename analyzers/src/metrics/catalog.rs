//! Which metrics there are, in the order shown, and what a counter's name says about it.
//!
//! Names are told apart by `assets/patterns/metrics.toml`. A counter that no line there matches is no metric and
//! stays what it is: a plain counter.

use tracecard_model::Unit;

use crate::patterns::METRICS;

/// A metric as the user meets it.
#[derive(Debug)]
pub(crate) struct Entry {
    /// Stable id; the label of the pattern file where counters carry it.
    pub(crate) id: &'static str,
    /// What the user reads.
    pub(crate) title: &'static str,
    /// Is it shown at first?
    pub(crate) is_primary: bool,
    /// What one has to know to read it right; may be empty.
    pub(crate) note: &'static str,
}

const fn first(id: &'static str, title: &'static str, note: &'static str) -> Entry {
    Entry { id, title, is_primary: true, note }
}

const fn more(id: &'static str, title: &'static str, note: &'static str) -> Entry {
    Entry { id, title, is_primary: false, note }
}

/// Every metric in the order shown.
pub(crate) const CATALOG: &[Entry] = &[
    first("sm_active", "SM active", "Share of the SMs that had at least one warp, averaged over all SMs."),
    first("sm_issue", "SM issue", "Share of cycles in which an SM sub-partition issued an instruction."),
    first("tensor_active", "Tensor active", "Share of cycles in which tensor cores were busy."),
    first(
        "occupancy_active_sm",
        "Occupancy, active SMs",
        "Warps in flight over those that the active SMs have room for. Only this compares with the achieved \
         occupancy of Nsight Compute. Tensor-core kernels run at low occupancy by design.",
    ),
    first(
        "warps_in_flight",
        "Occupancy of the device",
        "Compute warps in flight over those that all SMs have room for, idle ones included.",
    ),
    first(
        "warps_unallocated",
        "Unallocated warps",
        "Room for warps on active SMs that nothing used, over that of all SMs.",
    ),
    first(
        "occupancy_theoretical",
        "Theoretical occupancy",
        "Computed from registers, shared memory and block size of the running kernel, not measured: what fits on \
         an SM, with the largest shared-memory carve-out. Of kernels at once, the earliest started counts.",
    ),
    first("l2_hit", "L2 hit rate", "Share of the sectors looked up in L2 that it held."),
    first("dram_read", "DRAM read", "Read bandwidth of the device memory."),
    first("dram_write", "DRAM write", "Write bandwidth of the device memory."),
    first("dram", "DRAM", "Reads and writes of the device memory together."),
    first("nvlink_rx", "NVLink receive", ""),
    first("nvlink_tx", "NVLink send", ""),
    first(
        "pcie_rx",
        "PCIe receive",
        "What the device receives: copies from the host, and the host's own writes.",
    ),
    first("pcie_tx", "PCIe send", "What the device sends."),
    first("ctc_rx", "NVLink-C2C receive", "The link between GPU and CPU of one package (nsys: CTC)."),
    first("ctc_tx", "NVLink-C2C send", "The link between GPU and CPU of one package (nsys: CTC)."),
    first(
        "copies_h2d",
        "H2D copies",
        "Bytes per second of the copies in flight: each copy's bytes over its duration, summed.",
    ),
    first(
        "copies_d2h",
        "D2H copies",
        "Bytes per second of the copies in flight: each copy's bytes over its duration, summed.",
    ),
    first(
        "launch_queue",
        "Launch queue",
        "Launches that the host has begun and the device has not: at 0 the device waits for the host. A launch of a \
         CUDA graph counts once.",
    ),
    first(
        "launch_delay",
        "Launch delay",
        "Start on the device less start of the launch, while that work runs. Short: the device waits for the host; \
         long: the host runs ahead.",
    ),
    first("memory_allocated", "Allocated", "Device memory in use."),
    first("memory_reserved", "Reserved", "Device memory that the framework's allocator holds, used or not."),
    first("power", "Power", ""),
    first("sm_clock", "SM clock", "It falls under load where power or temperature is the limit."),
    more("memory_clock", "Memory clock", ""),
    more("sys_clock", "System clock", ""),
    more("temperature", "Temperature", ""),
    more("fan", "Fan", ""),
    more(
        "gr_active",
        "Graphics engine active",
        "Share of time in which compute or graphics work was in flight.",
    ),
    more("utilization", "Estimated utilisation", "An estimate of the TensorBoard plugin, not a measurement."),
    more("compute_in_flight", "Compute in flight", ""),
    more("copy_engine", "Copy engine active", ""),
    more("l1_hit", "L1 hit rate", ""),
    more("l2_l1_hit", "L2 hit rate of L1's requests", ""),
    more("warps_count", "Warps per cycle", ""),
    more("graphics_warps", "Graphics warps in flight", ""),
    more("pcie_bar", "PCIe requests to BAR1", ""),
];

/// The entry with this id.
pub(crate) fn entry(id: &str) -> Option<&'static Entry> {
    CATALOG.iter().find(|entry| entry.id == id)
}

/// Place of an id in the order shown.
pub(crate) fn rank(id: &str) -> usize {
    CATALOG.iter().position(|entry| entry.id == id).unwrap_or(CATALOG.len())
}

/// What a counter is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recognised {
    pub(crate) entry: &'static Entry,
    pub(crate) unit: Unit,
    /// What its values are multiplied with.
    pub(crate) scale: f64,
}

/// The metric that a counter with this name carries; `None` where the name is not understood.
pub(crate) fn recognise(name: &str, unit: Option<Unit>) -> Option<Recognised> {
    let entry = entry(METRICS.label(name.trim())?)?;
    let unit = unit.unwrap_or(Unit::Count);
    // Raw CUPTI names carry no unit that importers know: these are percentages.
    let is_raw_percent = unit == Unit::Count && (name.ends_with(".pct") || name.contains("pct_of_peak"));
    if is_raw_percent {
        return Some(Recognised { entry, unit: Unit::Frac, scale: 0.01 });
    }
    Some(Recognised { entry, unit, scale: 1.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_unique() {
        let mut ids: Vec<&str> = CATALOG.iter().map(|entry| entry.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), CATALOG.len());
    }

    fn check(names: &[&str], expected: &str) {
        let id = |name: &&str| recognise(name, None).map_or("-", |found| found.entry.id);
        assert_eq!(names.iter().map(id).collect::<Vec<_>>().join(" "), expected);
    }

    /// nsys 2022.4 on an RTX 3090, as the export spells them.
    #[test]
    fn every_name_of_the_set_of_2022_is_understood() {
        check(
            &[
                "PCIe Write Requests to BAR1",
                "PCIe Read Requests to BAR1",
                "PCIe TX Throughput",
                "PCIe RX Throughput",
                "DRAM Write Throughput",
                "GPC Clock Frequency",
                "SYS Clock Frequency",
                "GR Active",
                "Sync Compute In Flight",
                "Async Compute In Flight",
                "SM Active",
                "SM Issue",
                "Tensor Active",
                "Vertex/Tess/Geometry Warps In Flight",
                "Pixel Warps In Flight",
                "Compute Warps In Flight",
                "Unallocated Warps in Active SMs",
                "DRAM Read Throughput",
            ],
            "pcie_bar pcie_bar pcie_tx pcie_rx dram_write sm_clock sys_clock gr_active compute_in_flight \
             compute_in_flight sm_active sm_issue tensor_active graphics_warps graphics_warps warps_in_flight \
             warps_unallocated dram_read",
        );
    }

    /// nsys 2023.4 on an RTX 3060, as the importer spells them.
    #[test]
    fn every_name_of_the_set_of_2023_is_understood() {
        check(
            &[
                "GPC Clock Frequency",
                "SYS Clock Frequency",
                "GR Active",
                "Sync Compute in Flight",
                "Async Compute in Flight",
                "SMs Active",
                "SM Issue",
                "Tensor Active",
                "Vertex/Tess/Geometry Warps in Flight",
                "Vertex/Tess/Geometry Warps in Flight [Avg]",
                "Vertex/Tess/Geometry Warps in Flight [Avg Warps per Cycle]",
                "Pixel Warps in Flight [Avg]",
                "Compute Warps in Flight",
                "Compute Warps in Flight [Avg]",
                "Compute Warps in Flight [Avg Warps per Cycle]",
                "Unallocated Warps in Active SMs",
                "Unallocated Warps in Active SMs [Avg]",
                "DRAM Read Bandwidth",
                "DRAM Write Bandwidth",
                "PCIe RX Throughput",
                "PCIe TX Throughput",
                "PCIe Read Requests to BAR1 [Requests]",
                "EndTimestamp",
            ],
            "sm_clock sys_clock gr_active compute_in_flight compute_in_flight sm_active sm_issue tensor_active \
             graphics_warps graphics_warps graphics_warps graphics_warps warps_in_flight warps_count warps_count \
             warps_unallocated warps_count dram_read dram_write pcie_rx pcie_tx pcie_bar -",
        );
    }

    /// The sets of data-centre GPUs, of graphics throughput, and what PyTorch writes.
    #[test]
    fn names_of_other_sets_and_tools_are_understood() {
        check(
            &[
                "SMs Active [Throughput %]",
                "NVLink RX Responses User Data",
                "NVLink TX Requests Protocol Data",
                "L2 Hit Rate",
                "L2 Hit Rate from L1",
                "L1 Hit Rate",
                "Async Copy Engine Active",
                "Power (W)",
                "Temperature (C)",
                "SM Clock (MHz)",
                "Memory Clock (MHz)",
                "Fan Speed (%)",
                "SM Active (%)",
                "DRAM BW (%)",
                "HBM BW (%)",
                "HBM Read (%)",
                "NVLink RX",
                "GPU 0 Utilization",
                "lts__t_sector_hit_rate.pct",
                "sm__warps_active.avg.pct_of_peak_sustained_active",
            ],
            "sm_active nvlink_rx nvlink_tx l2_hit l2_l1_hit l1_hit copy_engine power temperature sm_clock \
             memory_clock fan sm_active dram dram dram_read nvlink_rx utilization l2_hit occupancy_active_sm",
        );
    }

    #[test]
    fn what_is_not_understood_is_no_metric() {
        check(&["queue length", "SM Activeness", "L2 Hits", "Power Limit (W)", ""], "- - - - -");
    }

    #[test]
    fn raw_percentages_are_shares() {
        let found = recognise("lts__t_sector_hit_rate.pct", Some(Unit::Count)).unwrap();
        assert_eq!((found.unit, found.scale), (Unit::Frac, 0.01));
        let found = recognise("SMs Active", Some(Unit::Frac)).unwrap();
        assert_eq!((found.unit, found.scale), (Unit::Frac, 1.0));
    }
}
