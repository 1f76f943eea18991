//! GPU metrics as nsys samples them: each sample says what happened since the one before.

use super::hardware::Load;
use super::rng::Rng;

/// Something on the device, and how much of it it uses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Activity {
    pub(crate) start_ns: i64,
    pub(crate) end_ns: i64,
    pub(crate) load: Load,
}

/// The metrics in the order of [`MetricSample::values`]: nsys's general set for GH100.
pub(crate) const METRICS: [&str; 16] = [
    "GPC Clock Frequency [MHz]",
    "SYS Clock Frequency [MHz]",
    "GR Active [Throughput %]",
    "SMs Active [Throughput %]",
    "SM Issue [Throughput %]",
    "Tensor Active [Throughput %]",
    "Compute Warps in Flight [Throughput %]",
    "Compute Warps in Flight [Avg Warps per Cycle]",
    "Unallocated Warps in Active SMs [Throughput %]",
    "Unallocated Warps in Active SMs [Avg Warps per Cycle]",
    "DRAM Read Bandwidth [Throughput %]",
    "DRAM Write Bandwidth [Throughput %]",
    "NVLink RX Responses User Data [Throughput %]",
    "NVLink TX Responses User Data [Throughput %]",
    "PCIe RX Throughput [Throughput %]",
    "PCIe TX Throughput [Throughput %]",
];

/// Warps that fit on one multiprocessor.
const WARPS_PER_SM: f64 = 64.0;

/// nsys samples no faster than this.
const MAX_SAMPLES_PER_S: i64 = 200_000;

/// One sample of all metrics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MetricSample {
    pub(crate) time_ns: i64,
    /// In the order of [`METRICS`]. Clocks are in Hz, whatever the name says, as nsys exports them.
    pub(crate) values: [i64; METRICS.len()],
}

/// Samples a stream of activities at a fixed rate.
#[derive(Debug)]
pub(crate) struct Sampler {
    rng: Rng,
    period_ns: i64,
    next_sample_ns: i64,
    /// Sorted by start; those that ended before the next sample's interval are gone.
    pending: Vec<Activity>,
}

impl Sampler {
    /// A sampler that takes its first sample one period after `start_ns`.
    pub(crate) fn new(rng: Rng, samples_per_s: i64, start_ns: i64) -> Self {
        let period_ns = 1_000_000_000 / samples_per_s.clamp(1, MAX_SAMPLES_PER_S);
        Self { rng, period_ns, next_sample_ns: start_ns + period_ns, pending: Vec::new() }
    }

    /// Takes over `activities` and writes all samples up to `until_ns`. Later activities must start
    /// after `until_ns`.
    pub(crate) fn sample(
        &mut self,
        activities: &mut Vec<Activity>,
        until_ns: i64,
        samples: &mut Vec<MetricSample>,
    ) {
        self.pending.append(activities);
        self.pending.sort_by_key(|activity| (activity.start_ns, activity.end_ns));
        let mut first = 0;
        while self.next_sample_ns <= until_ns {
            let end_ns = self.next_sample_ns;
            let start_ns = end_ns - self.period_ns;
            while self.pending.get(first).is_some_and(|activity| activity.end_ns <= start_ns) {
                first += 1;
            }
            let mut load = Load::default();
            let overlapping = self.pending[first..].iter().take_while(|activity| activity.start_ns < end_ns);
            for activity in overlapping {
                let overlap_ns = activity.end_ns.min(end_ns) - activity.start_ns.max(start_ns);
                load.add(&activity.load, overlap_ns.max(0) as f64 / self.period_ns as f64);
            }
            samples.push(self.values_at(end_ns, &load));
            self.next_sample_ns += self.period_ns;
        }
        self.pending.drain(..first);
    }

    fn values_at(&mut self, time_ns: i64, load: &Load) -> MetricSample {
        let percent = |value: f64| (value.min(100.0) + 0.5) as i64;
        let sms_active = load.sms_active.min(97.0);
        let warps = load.warps_in_flight.min(sms_active);
        let unallocated = sms_active - warps;
        // The clock falls a little under tensor load: the power limit.
        let gpc_clock_hz = 1_980_000_000 - (load.tensor_active.min(100.0) * 4_300_000.0) as i64;
        let values = [
            gpc_clock_hz + self.rng.between(-2_000_000, 2_000_000),
            1_665_000_000 + self.rng.between(-500_000, 500_000),
            percent(load.graphics_active),
            percent(sms_active),
            percent(load.sm_issue.min(sms_active)),
            percent(load.tensor_active),
            percent(warps),
            (warps / 100.0 * WARPS_PER_SM + 0.5) as i64,
            percent(unallocated),
            (unallocated / 100.0 * WARPS_PER_SM + 0.5) as i64,
            percent(load.dram_read),
            percent(load.dram_write),
            percent(load.nvlink),
            percent(load.nvlink),
            percent(load.pcie_rx),
            percent(load.pcie_tx),
        ];
        MetricSample { time_ns, values }
    }
}

#[cfg(test)]
mod tests {
    use super::{Activity, Sampler};
    use crate::synth::hardware::Load;
    use crate::synth::rng::Rng;

    #[test]
    fn a_sample_is_the_mean_over_its_interval() {
        // 10 kHz: intervals of 100 000 ns. Busy in [50 000, 125 000): half of the first, a quarter of
        // the second, nothing of the third.
        let mut sampler = Sampler::new(Rng::from_seed(1), 10_000, 0);
        let load = Load { sms_active: 80.0, dram_read: 40.0, ..Load::default() };
        let mut activities = vec![Activity { start_ns: 50_000, end_ns: 125_000, load }];
        let mut samples = Vec::new();
        sampler.sample(&mut activities, 300_000, &mut samples);
        let read: Vec<_> = samples.iter().map(|s| (s.time_ns, s.values[3], s.values[10])).collect();
        assert_eq!(read, [(100_000, 40, 20), (200_000, 20, 10), (300_000, 0, 0)]);
    }
}
