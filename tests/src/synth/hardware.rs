//! The made-up run's GPU: an H100 SXM, and how long work takes on it.
//!
//! Durations come from a roofline with an efficiency: the longer of operations over peak and bytes over
//! bandwidth, plus a fixed start-up. That is far from exact and near enough: the shares of a step look
//! like those of a real one.

/// Streaming multiprocessors.
pub(crate) const N_SMS: i64 = 132;
/// Resident threads per multiprocessor.
pub(crate) const MAX_THREADS_PER_SM: i64 = 2048;
/// Memory of the card, as the driver reports it.
pub(crate) const TOTAL_MEMORY_BYTES: i64 = 85_028_372_480;
/// Dense bf16 tensor peak (NVIDIA H100 data sheet, SXM).
const TENSOR_PEAK_FLOPS: f64 = 989.4e12;
/// HBM3 bandwidth (NVIDIA H100 data sheet, SXM).
pub(crate) const MEMORY_BYTES_PER_S: i64 = 3_352_320_000_000;
/// NVLink 4 bandwidth in one direction.
const LINK_BYTES_PER_S: f64 = 450e9;
/// PCIe 5 x16 bandwidth in one direction, after encoding.
const PCIE_BYTES_PER_S: f64 = 63e9;
/// GPU timestamps are multiples of this.
const TIMER_TICK_NS: i64 = 32;

/// What a kernel has to do.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Work {
    /// Operations on tensor cores.
    pub(crate) tensor_flops: f64,
    /// Share of the tensor peak it can reach (0 to 1).
    pub(crate) tensor_efficiency: f64,
    pub(crate) read_bytes: f64,
    pub(crate) written_bytes: f64,
    /// Sent over NVLink, and as much received.
    pub(crate) link_bytes: f64,
    /// Time it waits for others while it occupies its multiprocessors.
    pub(crate) wait_ns: i64,
}

impl Work {
    /// A matrix product `[m, k] × [k, n]` of 2-byte elements.
    pub(crate) fn gemm(m: i64, n: i64, k: i64) -> Self {
        let (m, n, k) = (m as f64, n as f64, k as f64);
        Self {
            tensor_flops: 2.0 * m * n * k,
            tensor_efficiency: 0.62,
            read_bytes: 2.0 * (m * k + k * n),
            written_bytes: 2.0 * m * n,
            ..Self::default()
        }
    }

    /// Reads and writes memory and computes nothing worth counting.
    pub(crate) fn memory(read_bytes: i64, written_bytes: i64) -> Self {
        Self { read_bytes: read_bytes as f64, written_bytes: written_bytes as f64, ..Self::default() }
    }

    /// A ring all-reduce of `size_bytes` over `n_ranks`: each rank sends 2 (n − 1) / n of it
    /// (NCCL's `PERFORMANCE.md`).
    pub(crate) fn all_reduce(size_bytes: i64, n_ranks: i64, wait_ns: i64) -> Self {
        let size_bytes = size_bytes as f64;
        let n_ranks = n_ranks as f64;
        Self {
            read_bytes: 2.0 * size_bytes,
            written_bytes: size_bytes,
            link_bytes: 2.0 * (n_ranks - 1.0) / n_ranks * size_bytes,
            wait_ns,
            ..Self::default()
        }
    }

    /// How long it takes alone on the device, on the GPU's time grid.
    pub(crate) fn duration_ns(&self) -> i64 {
        const START_UP_NS: f64 = 1_300.0;
        const MEMORY_EFFICIENCY: f64 = 0.80;
        const LINK_EFFICIENCY: f64 = 0.80;
        let tensor_s = if 0.0 < self.tensor_flops {
            self.tensor_flops / (TENSOR_PEAK_FLOPS * self.tensor_efficiency)
        } else {
            0.0
        };
        let bytes = self.read_bytes + self.written_bytes;
        let memory_s = bytes / (MEMORY_BYTES_PER_S as f64 * MEMORY_EFFICIENCY);
        let link_s = self.link_bytes / (LINK_BYTES_PER_S * LINK_EFFICIENCY);
        let busy_ns = tensor_s.max(memory_s).max(link_s) * 1e9 + START_UP_NS;
        on_timer_grid(busy_ns as i64 + self.wait_ns)
    }
}

/// How long a copy between host and device takes. Pageable memory goes through a staging buffer.
pub(crate) fn host_copy_ns(size_bytes: i64, is_pinned: bool) -> i64 {
    let bytes_per_s = if is_pinned { 54e9 } else { 9.5e9 };
    on_timer_grid(1_200 + (size_bytes as f64 / bytes_per_s * 1e9) as i64)
}

/// Rounds up to the GPU's time grid.
pub(crate) fn on_timer_grid(ns: i64) -> i64 {
    (ns + TIMER_TICK_NS - 1).div_euclid(TIMER_TICK_NS) * TIMER_TICK_NS
}

/// How much of the device something uses while it runs, in percent of each peak.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Load {
    pub(crate) graphics_active: f64,
    pub(crate) sms_active: f64,
    pub(crate) sm_issue: f64,
    pub(crate) tensor_active: f64,
    pub(crate) warps_in_flight: f64,
    pub(crate) dram_read: f64,
    pub(crate) dram_write: f64,
    pub(crate) nvlink: f64,
    pub(crate) pcie_rx: f64,
    pub(crate) pcie_tx: f64,
}

impl Load {
    /// The load of a kernel that does `work` in `dur_ns` with `n_blocks` blocks, whose blocks fill
    /// `occupancy` (0 to 1) of a multiprocessor's warps.
    pub(crate) fn of_kernel(work: &Work, dur_ns: i64, n_blocks: i64, occupancy: f64) -> Self {
        let dur_s = dur_ns.max(1) as f64 / 1e9;
        let percent = |amount: f64, per_s: f64| (100.0 * amount / dur_s / per_s).min(100.0);
        let sms_active = 97.0 * (n_blocks as f64 / N_SMS as f64).min(1.0);
        let tensor_active = percent(work.tensor_flops, TENSOR_PEAK_FLOPS);
        let memory = percent(work.read_bytes + work.written_bytes, MEMORY_BYTES_PER_S as f64);
        Self {
            graphics_active: 100.0,
            sms_active,
            // One wgmma keeps the tensor core busy for long: few instructions for much work.
            sm_issue: (0.18 * tensor_active + 0.42 * memory).min(sms_active),
            tensor_active,
            warps_in_flight: sms_active * occupancy,
            dram_read: percent(work.read_bytes, MEMORY_BYTES_PER_S as f64),
            dram_write: percent(work.written_bytes, MEMORY_BYTES_PER_S as f64),
            nvlink: percent(work.link_bytes, LINK_BYTES_PER_S),
            pcie_rx: 0.0,
            pcie_tx: 0.0,
        }
    }

    /// The load of a copy from the host.
    pub(crate) fn of_upload(size_bytes: i64, dur_ns: i64) -> Self {
        let dur_s = dur_ns.max(1) as f64 / 1e9;
        Self {
            pcie_rx: (100.0 * size_bytes as f64 / dur_s / PCIE_BYTES_PER_S).min(100.0),
            dram_write: (100.0 * size_bytes as f64 / dur_s / MEMORY_BYTES_PER_S as f64).min(100.0),
            ..Self::default()
        }
    }

    /// The load of a copy to the host.
    pub(crate) fn of_download(size_bytes: i64, dur_ns: i64) -> Self {
        let dur_s = dur_ns.max(1) as f64 / 1e9;
        Self { pcie_tx: (100.0 * size_bytes as f64 / dur_s / PCIE_BYTES_PER_S).min(100.0), ..Self::default() }
    }

    /// Adds `share` (0 to 1) of `other`.
    pub(crate) fn add(&mut self, other: &Self, share: f64) {
        self.graphics_active += share * other.graphics_active;
        self.sms_active += share * other.sms_active;
        self.sm_issue += share * other.sm_issue;
        self.tensor_active += share * other.tensor_active;
        self.warps_in_flight += share * other.warps_in_flight;
        self.dram_read += share * other.dram_read;
        self.dram_write += share * other.dram_write;
        self.nvlink += share * other.nvlink;
        self.pcie_rx += share * other.pcie_rx;
        self.pcie_tx += share * other.pcie_tx;
    }
}

#[cfg(test)]
mod tests {
    use super::{Work, on_timer_grid};

    #[test]
    fn a_large_gemm_runs_at_its_efficiency() {
        // 2 · 8192³ = 1.0995e12 operations at 0.62 · 989.4e12 per second: 1.792 ms.
        let ns = Work::gemm(8192, 8192, 8192).duration_ns();
        assert!((1_790_000..1_796_000).contains(&ns), "{ns}");
    }

    #[test]
    fn a_large_copy_runs_at_the_memory_bandwidth() {
        // 2 GB at 0.8 · 3.35232e12 bytes per second: 746 µs.
        let ns = Work::memory(1_000_000_000, 1_000_000_000).duration_ns();
        assert!((745_000..749_000).contains(&ns), "{ns}");
    }

    #[test]
    fn the_grid_rounds_up() {
        assert_eq!([0, 1, 32, 33].map(on_timer_grid), [0, 32, 32, 64]);
    }
}
