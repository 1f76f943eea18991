//! Names and units of sampled GPU metrics.
//!
//! Metric numbers differ between reports, so a metric is known by its name; names changed three times:
//! `SM Active` (to 2023.2), `SM Active [Throughput %]` (2023.3), `SMs Active [Throughput %]` (2024 on).

use tracecard_model::Unit;

/// A metric as the Trace has it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GpuMetric {
    /// The newest spelling, without the bracket where the unit says as much.
    pub(crate) name: String,
    /// Unit of the values.
    pub(crate) unit: Unit,
    /// What a stored value is multiplied with.
    pub(crate) scale: f64,
}

/// Old spellings of the part before the bracket.
const RENAMED: &[(&str, &str)] = &[
    ("SM Active", "SMs Active"),
    ("DRAM Read Throughput", "DRAM Read Bandwidth"),
    ("DRAM Write Throughput", "DRAM Write Bandwidth"),
    ("VRAM Read Bandwidth", "DRAM Read Bandwidth"),
    ("VRAM Write Bandwidth", "DRAM Write Bandwidth"),
    ("GPU Memory Read Bandwidth", "DRAM Read Bandwidth"),
    ("GPU Memory Write Bandwidth", "DRAM Write Bandwidth"),
];

impl GpuMetric {
    /// The metric with this name in the file; `None` for markers that are no metric.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        if name == "EndTimestamp" {
            return None;
        }
        let (base, bracket) = match name.trim().strip_suffix(']').and_then(|rest| rest.rsplit_once('[')) {
            Some((base, bracket)) => (base.trim(), Some(bracket.trim())),
            None => (name.trim(), None),
        };
        let base = base.replace(" In Flight", " in Flight");
        let base = match RENAMED.iter().find(|(old, _)| *old == base) {
            Some((_, new)) => (*new).to_owned(),
            None => base,
        };
        let frac = |name| Some(Self { name, unit: Unit::Frac, scale: 0.01 });
        let plain = |name, unit| Some(Self { name, unit, scale: 1.0 });
        match bracket {
            Some(bracket) if bracket.ends_with('%') => frac(base),
            // Labelled MHz in every export, and Hz in truth.
            Some("MHz" | "Hz" | "GHz") => plain(base, Unit::Hz),
            Some(bracket @ ("GB/s" | "MB/s" | "B/s")) => {
                plain(format!("{base} [{bracket}]"), Unit::BytesPerS)
            }
            Some(bracket) => plain(format!("{base} [{bracket}]"), Unit::Count),
            None if base.contains("Clock") => plain(base, Unit::Hz),
            None if base.contains("Requests") => plain(format!("{base} [Requests]"), Unit::Count),
            None => frac(base),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(name: &str) -> String {
        match GpuMetric::from_name(name) {
            Some(metric) => format!("{} {} ×{}", metric.name, metric.unit.text(), metric.scale),
            None => "-".to_owned(),
        }
    }

    #[test]
    fn old_and_new_spellings_meet() {
        assert_eq!(text("SM Active"), "SMs Active frac ×0.01");
        assert_eq!(text("SM Active [Throughput %]"), "SMs Active frac ×0.01");
        assert_eq!(text("SMs Active [Throughput %]"), "SMs Active frac ×0.01");
        assert_eq!(text("DRAM Read Throughput"), "DRAM Read Bandwidth frac ×0.01");
        assert_eq!(text("Compute Warps In Flight"), "Compute Warps in Flight frac ×0.01");
    }

    #[test]
    fn units_follow_the_bracket_but_clocks_are_hz() {
        assert_eq!(text("GPC Clock Frequency [MHz]"), "GPC Clock Frequency Hz ×1");
        assert_eq!(text("GPC Clock Frequency"), "GPC Clock Frequency Hz ×1");
        assert_eq!(text("Pixel Warps in Flight [Avg]"), "Pixel Warps in Flight [Avg] count ×1");
        assert_eq!(text("PCIe Write Requests to BAR1"), "PCIe Write Requests to BAR1 [Requests] count ×1");
        assert_eq!(text("L2 Hit Rate [Ratio %]"), "L2 Hit Rate frac ×0.01");
        assert_eq!(text("EndTimestamp"), "-");
    }
}
