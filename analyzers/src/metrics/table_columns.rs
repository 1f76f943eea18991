//! What metrics add to the tables of kernels and operators.

use rustc_hash::FxHashMap;
use tracecard_model::{DeviceId, NameId, SliceId, SliceKind};

use super::averages::Averages;
use super::occupancy::{Limiters, Occupancy};
use super::theoretical::OccupancyOf;
use crate::{Column, Derived, Unit};

/// A row of the table of kernels.
pub(crate) struct KernelRow {
    pub(crate) name: NameId,
    pub(crate) device: DeviceId,
    pub(crate) longest: SliceId,
}

/// Theoretical occupancy of all calls of a row.
#[derive(Clone, Copy, Default)]
struct Theoretical {
    /// Occupancy times duration.
    area: f64,
    held_ns: f64,
    has_unknown: bool,
    of_longest: Option<Occupancy>,
}

/// Columns of theoretical and measured occupancy, SM activity, L2 and DRAM, for rows of kernels.
pub(crate) fn kernel_columns(derived: &Derived<'_>, rows: &[KernelRow]) -> Vec<Column> {
    let theoretical = theoretical_of(derived, rows);
    let averages = &derived.metrics().averages;
    let of_row = |row: &KernelRow| averages.of_kernel(row.device, row.name).copied();
    let measured: Vec<Option<Averages>> = rows.iter().map(of_row).collect();
    let frac = |row: &Theoretical| (!row.has_unknown && 0.0 < row.held_ns).then(|| row.area / row.held_ns);
    let mut columns = vec![
        Column::reals(
            "occupancy_frac",
            "Theoretical occupancy",
            Unit::Frac,
            "Warps that fit on an SM by registers, shared memory and block size over those it has room for; mean over calls by time. Computed, not measured. Unknown where launch shapes or limits of the device are",
            theoretical.iter().map(frac),
        ),
        Column::texts(
            "occupancy_limiter",
            "Limited by",
            "What keeps more warps from an SM in the longest call: warps, registers, shared_memory or blocks; the first where several do",
            theoretical.iter().map(|row| Some(limiter(row.of_longest?.limiters)?.to_owned())),
        ),
        Column::reals(
            "waves",
            "Waves",
            Unit::Number,
            "Blocks of the longest call over those that run at once on the whole device",
            theoretical.iter().map(|row| row.of_longest?.waves),
        ),
    ];
    columns.extend(measured_columns(&measured, "sm_occupancy_frac"));
    columns
}

/// Columns of measured metrics for rows of operators.
pub(crate) fn operator_columns(averages: &[Option<Averages>]) -> Vec<Column> {
    measured_columns(averages, "occupancy_frac")
}

fn measured_columns(rows: &[Option<Averages>], occupancy_id: &'static str) -> Vec<Column> {
    let mean = |id, title, doc, value: fn(&Averages) -> Option<f64>| {
        Column::reals(id, title, Unit::Frac, doc, rows.iter().map(|row| row.as_ref().and_then(value)))
    };
    vec![
        mean(
            "sm_active_frac",
            "SM active",
            "Mean of the samples that speak of nothing but these kernels. Unknown where it was not sampled, or where the kernels are too short for the sampling",
            |a| a.mean("sm_active"),
        ),
        mean("tensor_active_frac", "Tensor active", "Mean tensor-core activity of the same samples", |a| {
            a.mean("tensor_active")
        }),
        mean(
            occupancy_id,
            "Measured occupancy",
            "Mean occupancy per active SM of the same samples; compares with achieved occupancy",
            |a| a.mean("occupancy_active_sm"),
        ),
        mean("l2_hit_frac", "L2 hit rate", "Mean L2 hit rate of the same samples", |a| a.mean("l2_hit")),
        mean(
            "dram_frac",
            "DRAM",
            "Mean of reads and writes of the same samples, as a share of the peak",
            Averages::dram,
        ),
        Column::ints(
            "metric_samples",
            "Samples",
            Unit::Count,
            "Samples that speak of nothing but these kernels; means need 30, or one call as long as three",
            rows.iter().map(|row| row.as_ref().map(|a| a.n_samples as i64)),
        ),
    ]
}

/// The first limiter, as the JSON report names it.
fn limiter(limiters: Limiters) -> Option<&'static str> {
    let all = [
        (limiters.warps, "warps"),
        (limiters.registers, "registers"),
        (limiters.shared_memory, "shared_memory"),
        (limiters.blocks, "blocks"),
    ];
    all.iter().find(|(binds, _)| *binds).map(|(_, name)| *name)
}

fn theoretical_of(derived: &Derived<'_>, rows: &[KernelRow]) -> Vec<Theoretical> {
    let (trace, work) = (derived.trace, derived.work());
    let row_from_key: FxHashMap<(NameId, DeviceId), usize> =
        rows.iter().enumerate().map(|(idx, row)| ((row.name, row.device), idx)).collect();
    let mut found = vec![Theoretical::default(); rows.len()];
    let mut occupancy: Option<(DeviceId, OccupancyOf<'_>)> = None;
    for (idx, device) in derived.shown_work() {
        let slice = work.rows[idx].slice;
        if trace.slices.kinds()[slice.idx()] != SliceKind::Kernel {
            continue;
        }
        let key = (trace.slices.names()[slice.idx()], device);
        let (Some(at), Some(limits)) = (row_from_key.get(&key), trace.devices.get(device.idx())) else {
            continue;
        };
        // Work comes device by device.
        if occupancy.as_ref().is_none_or(|(of, _)| *of != device) {
            occupancy = Some((device, OccupancyOf::new(limits)));
        }
        let kernel = trace.kernels.get(slice);
        let of_call = occupancy.as_mut().zip(kernel).and_then(|((_, known), kernel)| known.of(kernel).ok());
        let row = &mut found[*at];
        match of_call {
            Some(of_call) => {
                let dur_ns = work.rows[idx].span.dur_ns() as f64;
                row.area += of_call.frac * dur_ns;
                row.held_ns += dur_ns;
            }
            None => row.has_unknown = true,
        }
        if rows[*at].longest == slice {
            row.of_longest = of_call;
        }
    }
    found
}
