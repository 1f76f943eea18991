//! Theoretical occupancy: how many warps of a kernel fit on an SM at once, and what limits them (SIG-8).
//!
//! The formula is that of NVIDIA's `cuda_occupancy.h` (nvidia-cuda-runtime 13.5.37). It does not know clusters,
//! which can only lower the result, nor the carve-out that the driver chose: the largest one is assumed.

use tracecard_model::{Device, Kernel};

/// Per-SM limits by compute capability: CUDA programming guide and `cuda_occupancy.h`.
struct Limits {
    capability: (u32, u32),
    warps: u32,
    blocks: u32,
    shared_bytes: u32,
    shared_optin_bytes: u32,
    shared_reserved_bytes: u32,
    shared_unit_bytes: u32,
}

const fn limits(
    capability: (u32, u32),
    warps: u32,
    blocks: u32,
    shared_bytes: u32,
    shared_reserved_bytes: u32,
    shared_unit_bytes: u32,
) -> Limits {
    let shared_optin_bytes = shared_bytes - shared_reserved_bytes;
    Limits {
        capability,
        warps,
        blocks,
        shared_bytes,
        shared_optin_bytes,
        shared_reserved_bytes,
        shared_unit_bytes,
    }
}

const LIMITS: &[Limits] = &[
    limits((7, 0), 64, 32, 98_304, 0, 256),
    limits((7, 5), 32, 16, 65_536, 0, 256),
    limits((8, 0), 64, 32, 167_936, 1024, 128),
    limits((8, 6), 48, 16, 102_400, 1024, 128),
    limits((8, 7), 48, 16, 167_936, 1024, 128),
    limits((8, 9), 48, 24, 102_400, 1024, 128),
    limits((9, 0), 64, 32, 233_472, 1024, 128),
    limits((10, 0), 64, 32, 233_472, 1024, 128),
    limits((10, 3), 64, 32, 233_472, 1024, 128),
    limits((12, 0), 48, 24, 102_400, 1024, 128),
];

/// Threads of a warp on every NVIDIA GPU.
const WARP_THREADS: u32 = 32;
/// Registers come in such units per warp (compute capability 3.x to 12.x).
const REGISTER_UNIT: u32 = 256;
/// Registers of an SM (3.7 apart, all since 3.x).
const REGISTERS_PER_SM: u32 = 65_536;
/// An SM has four sub-partitions with registers of their own (6.0 apart).
const SUB_PARTITIONS: u32 = 4;
/// Shared memory that a block gets without asking for more.
const SHARED_DEFAULT_BYTES: u32 = 49_152;
/// No block has more threads.
const MAX_BLOCK_THREADS: u64 = 1024;
/// No thread has more registers.
const MAX_REGISTERS: u32 = 256;

/// What keeps more blocks from an SM; several may bind at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limiters {
    /// Threads: the warps of an SM are taken.
    pub warps: bool,
    /// Registers.
    pub registers: bool,
    /// Shared memory.
    pub shared_memory: bool,
    /// The number of blocks an SM holds.
    pub blocks: bool,
}

impl Limiters {
    /// In words, `registers, shared memory`.
    pub fn text(self) -> String {
        let all = [
            (self.warps, "warps"),
            (self.registers, "registers"),
            (self.shared_memory, "shared memory"),
            (self.blocks, "blocks"),
        ];
        all.iter().filter(|(is_one, _)| *is_one).map(|(_, name)| *name).collect::<Vec<_>>().join(", ")
    }
}

/// How a kernel fits on the SMs of a device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Occupancy {
    /// Blocks on one SM at once.
    pub blocks_per_sm: u32,
    /// Their warps over those an SM has room for, 0–1.
    pub frac: f64,
    /// What keeps more from it.
    pub limiters: Limiters,
    /// Blocks of the grid over blocks that run at once; `None` where grid or number of SMs is unknown.
    pub waves: Option<f64>,
    /// With the blocks the grid has for each SM: what Kineto calls "est. achieved occupancy", without its fault
    /// of saying 0 above 48 KiB of shared memory. An estimate, no measurement.
    pub achieved_estimate_frac: Option<f64>,
}

/// The theoretical occupancy of a kernel on a device.
///
/// # Errors
/// Why it is not known.
pub fn theoretical(device: &Device, kernel: &Kernel) -> Result<Occupancy, &'static str> {
    let Some(block) = kernel.block else { return Err("the file does not say the block size") };
    let Some(registers) = kernel.registers else {
        return Err("the file does not say the registers a thread");
    };
    let Some(shared_bytes) = kernel.shared_bytes else {
        return Err("the file does not say the shared memory");
    };
    let Some(capability) = device.compute_capability else {
        return Err("the file does not say the compute capability of the device");
    };
    let Some(limits) = LIMITS.iter().find(|row| row.capability == capability) else {
        return Err("limits of this compute capability are not known");
    };
    if device.max_warps_per_sm.is_some_and(|warps| warps != 0 && warps != limits.warps) {
        return Err("the device is none that this formula is for");
    }
    let threads: u64 = block.iter().map(|side| u64::from(*side)).product();
    if threads == 0 || MAX_BLOCK_THREADS < threads || MAX_REGISTERS < registers {
        return Err("the launch shape is impossible");
    }
    let warps = (threads as u32).div_ceil(WARP_THREADS);
    let known = |stated: Option<u32>, table: u32| stated.filter(|n| *n != 0).unwrap_or(table);
    let registers_per_sm = known(device.registers_per_sm, REGISTERS_PER_SM);
    let max_blocks = known(device.max_blocks_per_sm, limits.blocks);
    let shared_per_sm = known(device.shared_bytes_per_sm, limits.shared_bytes);
    let shared_optin = known(device.shared_bytes_per_block_optin, limits.shared_optin_bytes);

    let by_warps = limits.warps / warps;
    let by_registers = blocks_by_registers(warps, registers, registers_per_sm);
    let by_shared = blocks_by_shared(shared_bytes, shared_per_sm, shared_optin, limits);
    let bounds = [Some(by_warps), by_registers, by_shared, Some(max_blocks)];
    let blocks_per_sm = bounds.iter().flatten().copied().min().unwrap_or(0);
    if blocks_per_sm == 0 {
        return Err("the launch shape does not fit on this device");
    }
    let binds = |bound: Option<u32>| bound == Some(blocks_per_sm);
    let limiters = Limiters {
        warps: binds(Some(by_warps)),
        registers: binds(by_registers),
        shared_memory: binds(by_shared),
        blocks: binds(Some(max_blocks)),
    };
    let occupancy = |blocks: f64| blocks * f64::from(warps) / f64::from(limits.warps);
    let grid_blocks = kernel.grid.map(|grid| grid.iter().map(|side| f64::from(*side)).product::<f64>());
    let blocks_each =
        grid_blocks.zip(device.sm_count.filter(|n| *n != 0)).map(|(blocks, sms)| blocks / f64::from(sms));
    Ok(Occupancy {
        blocks_per_sm,
        frac: occupancy(f64::from(blocks_per_sm)),
        limiters,
        waves: blocks_each.map(|blocks| blocks / f64::from(blocks_per_sm)),
        achieved_estimate_frac: blocks_each.map(|blocks| occupancy(blocks.min(f64::from(blocks_per_sm)))),
    })
}

/// `None`: no limit. Registers are given out per sub-partition, so they are rounded there first.
fn blocks_by_registers(warps: u32, registers: u32, registers_per_sm: u32) -> Option<u32> {
    let per_warp = (registers * WARP_THREADS).next_multiple_of(REGISTER_UNIT);
    if per_warp == 0 {
        return None;
    }
    if REGISTERS_PER_SM < per_warp * warps.next_multiple_of(SUB_PARTITIONS) {
        return Some(0);
    }
    Some(registers_per_sm / SUB_PARTITIONS / per_warp * SUB_PARTITIONS / warps)
}

/// `None`: no limit.
fn blocks_by_shared(bytes: u32, per_sm: u32, optin: u32, limits: &Limits) -> Option<u32> {
    let wanted = bytes.checked_add(limits.shared_reserved_bytes)?;
    let limit = if SHARED_DEFAULT_BYTES < wanted { optin } else { SHARED_DEFAULT_BYTES };
    let taken = wanted.checked_next_multiple_of(limits.shared_unit_bytes)?;
    match taken {
        0 => None,
        taken if limit + limits.shared_reserved_bytes < taken => Some(0),
        taken => Some(per_sm / taken),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(capability: (u32, u32), sms: u32) -> Device {
        Device { compute_capability: Some(capability), sm_count: Some(sms), ..Device::default() }
    }

    fn kernel(block: u32, registers: u32, shared_bytes: u32) -> Kernel {
        Kernel {
            grid: Some([1000, 1, 1]),
            block: Some([block, 1, 1]),
            registers: Some(registers),
            shared_bytes: Some(shared_bytes),
            ..Kernel::default()
        }
    }

    fn check(capability: (u32, u32), block: u32, registers: u32, shared_bytes: u32, expected: &str) {
        let found = theoretical(&device(capability, 100), &kernel(block, registers, shared_bytes));
        let text = match found {
            Ok(o) => format!("{} {:.4} {}", o.blocks_per_sm, o.frac, o.limiters.text()),
            Err(reason) => reason.to_owned(),
        };
        assert_eq!(
            text, expected,
            "cc {capability:?}, {block} threads, {registers} registers, {shared_bytes} B"
        );
    }

    /// Computed with NVIDIA's `cuda_occupancy.h`; the limiters are every bound that is equal to the result.
    #[test]
    fn worked_values_of_the_vendors_header() {
        // A100
        check((8, 0), 256, 32, 0, "8 1.0000 warps, registers");
        check((8, 0), 128, 232, 101_376, "1 0.0625 shared memory"); // Kineto says 0
        check((8, 0), 256, 128, 49_152, "2 0.2500 registers");
        check((8, 0), 96, 40, 0, "16 0.7500 registers"); // rounding in sub-partitions
        check((8, 0), 32, 16, 0, "32 0.5000 blocks");
        // H100
        check((9, 0), 384, 168, 231_424, "1 0.1875 registers, shared memory");
        // A10, RTX 3090
        check((8, 6), 1024, 40, 0, "1 0.6667 warps, registers");
        check((8, 6), 64, 32, 0, "16 0.6667 blocks");
        // T4
        check((7, 5), 256, 64, 8_192, "4 1.0000 warps, registers");
        // L4, RTX 4090
        check((8, 9), 256, 40, 0, "6 1.0000 warps, registers");
        // Orin
        check((8, 7), 256, 64, 32_768, "4 0.6667 registers, shared memory");
        // RTX 5090
        check((12, 0), 192, 80, 40_960, "2 0.2500 shared memory");
        // B200
        check((10, 0), 128, 255, 0, "2 0.1250 registers");
    }

    #[test]
    fn waves_and_the_estimate_count_the_grid() {
        // A100, 256 threads, 32 registers: 8 blocks an SM. 1000 blocks over 100 SMs: 10 each, 1.25 waves.
        let device = device((8, 0), 100);
        let found = theoretical(&device, &kernel(256, 32, 0)).unwrap();
        assert_eq!((found.waves, found.achieved_estimate_frac), (Some(1.25), Some(1.0)));
        // 200 blocks: 2 an SM, 16 of 64 warps.
        let small = Kernel { grid: Some([200, 1, 1]), ..kernel(256, 32, 0) };
        let found = theoretical(&device, &small).unwrap();
        assert_eq!((found.waves, found.achieved_estimate_frac), (Some(0.25), Some(0.25)));
        let unknown = Device { sm_count: None, ..device };
        let found = theoretical(&unknown, &small).unwrap();
        assert_eq!((found.waves, found.achieved_estimate_frac), (None, None));
    }

    #[test]
    fn what_the_file_says_about_the_device_comes_first() {
        // 16 blocks instead of the 32 of the table; a 0 is no statement.
        let stated = Device { max_blocks_per_sm: Some(16), ..device((8, 0), 100) };
        assert_eq!(theoretical(&stated, &kernel(32, 16, 0)).unwrap().blocks_per_sm, 16);
        let zero = Device { max_blocks_per_sm: Some(0), ..device((8, 0), 100) };
        assert_eq!(theoretical(&zero, &kernel(32, 16, 0)).unwrap().blocks_per_sm, 32);
    }

    #[test]
    fn what_is_not_known_gives_a_reason() {
        let full = kernel(256, 32, 0);
        let reason = |device: &Device, kernel: &Kernel| theoretical(device, kernel).unwrap_err();
        assert!(reason(&Device::default(), &full).contains("compute capability"));
        assert!(reason(&device((3, 5), 1), &full).contains("not known"));
        // gfx90a says 9.0, as an H100 does, with 32 waves.
        let amd = Device { max_warps_per_sm: Some(32), ..device((9, 0), 104) };
        assert!(reason(&amd, &full).contains("none that this formula is for"));
        let nvidia = device((8, 0), 100);
        assert!(reason(&nvidia, &Kernel { block: None, ..full }).contains("block"));
        assert!(reason(&nvidia, &Kernel { registers: None, ..full }).contains("registers"));
        assert!(reason(&nvidia, &Kernel { shared_bytes: None, ..full }).contains("shared"));
        assert!(reason(&nvidia, &kernel(2000, 32, 0)).contains("impossible"));
        assert!(reason(&nvidia, &kernel(0, 32, 0)).contains("impossible"));
        // 1024 threads of 128 registers take 131 072, twice what an SM has.
        assert!(reason(&nvidia, &kernel(1024, 128, 0)).contains("does not fit"));
        assert!(reason(&nvidia, &kernel(32, 16, 200_000)).contains("does not fit"));
    }
}
