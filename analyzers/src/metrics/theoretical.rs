//! Theoretical occupancy of the running kernel, over time.

use rustc_hash::FxHashMap;
use tracecard_model::{Device, Kernel, SliceKind, Trace};

use super::occupancy::{Occupancy, theoretical};
use super::series::Steps;
use crate::device_work::WorkRow;

/// The occupancy of kernels of one device; equal launch shapes are computed once.
pub(crate) struct OccupancyOf<'a> {
    device: &'a Device,
    known: FxHashMap<Kernel, Result<Occupancy, &'static str>>,
}

impl<'a> OccupancyOf<'a> {
    pub(crate) fn new(device: &'a Device) -> Self {
        Self { device, known: FxHashMap::default() }
    }

    pub(crate) fn of(&mut self, kernel: &Kernel) -> Result<Occupancy, &'static str> {
        *self.known.entry(*kernel).or_insert_with(|| theoretical(self.device, kernel))
    }
}

/// The step line of a device.
#[derive(Debug, Default)]
pub(crate) struct StepLine {
    pub(crate) steps: Steps,
    /// Kernels in all.
    pub(crate) n_kernels: usize,
    /// Why some are unknown: (how many, the reason most often met).
    pub(crate) unknown: Option<(usize, &'static str)>,
}

/// `rows` are the work of one device by start. O(n).
pub(crate) fn step_line(trace: &Trace, device: &Device, rows: &[WorkRow]) -> StepLine {
    let mut occupancy = OccupancyOf::new(device);
    let mut line = StepLine::default();
    let mut reasons: Vec<(&'static str, usize)> = Vec::new();
    let mut taken_until_ns = i64::MIN;
    for row in rows.iter().filter(|row| trace.slices.kinds()[row.slice.idx()] == SliceKind::Kernel) {
        line.n_kernels += 1;
        let kernel = trace.kernels.get(row.slice);
        let found =
            kernel.map_or(Err("the file does not say the launch shape"), |kernel| occupancy.of(kernel));
        if let Err(reason) = found {
            match reasons.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, n)) => *n += 1,
                None => reasons.push((reason, 1)),
            }
        }
        // Of kernels at once, the earliest started counts, known or not.
        let start_ns = row.span.start_ns.max(taken_until_ns);
        if row.span.end_ns <= start_ns {
            continue;
        }
        taken_until_ns = row.span.end_ns;
        if let Ok(found) = found {
            line.steps.starts_ns.push(start_ns);
            line.steps.ends_ns.push(row.span.end_ns);
            line.steps.values.push(found.frac);
            line.steps.slices.push(row.slice);
        }
    }
    let n_unknown = reasons.iter().map(|(_, n)| n).sum();
    line.unknown = reasons.iter().rev().max_by_key(|(_, n)| *n).map(|(reason, _)| (n_unknown, *reason));
    line
}

#[cfg(test)]
mod tests {
    use tracecard_model::fixture;

    use super::*;
    use crate::device_work::DeviceWork;

    #[test]
    fn the_earliest_started_counts_and_unknown_stays_open() {
        let mut trace = fixture(
            "device 0 A100 sm=108\nstream 0:7\n  kernel a 0 10 grid=10x1x1 block=256x1x1 regs=32 shared=0\n\
             \x20 kernel bare 20 10\nstream 0:8\n  kernel b 5 10 grid=10x1x1 block=32x1x1 regs=16 shared=0\n\
             \x20 kernel c 25 10 grid=10x1x1 block=32x1x1 regs=16 shared=0\n  h2d copy 50 5",
        )
        .unwrap();
        trace.devices[0].compute_capability = Some((8, 0));
        let work = DeviceWork::new(&trace);
        let line = step_line(&trace, &trace.devices[0], &work.rows);
        let steps = &line.steps;
        let text: Vec<String> = (0..steps.values.len())
            .map(|idx| {
                let name = trace.name(steps.slices[idx]);
                format!("{name} {}..{}:{}", steps.starts_ns[idx], steps.ends_ns[idx], steps.values[idx])
            })
            .collect();
        // The unknown `bare` takes 20..30; c is left with 30..35.
        assert_eq!(text, ["a 0..10:1", "b 10..15:0.5", "c 30..35:0.5"]);
        assert_eq!(line.n_kernels, 4);
        assert_eq!(line.unknown, Some((1, "the file does not say the block size")));
    }
}
