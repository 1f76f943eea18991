//! Where the ticks of the time axis stand and what they say.

use crate::format;
use crate::time_scale::TimeScale;

/// One tick.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// Where.
    pub x_pt: f32,
    /// What it says; `None` for the small ticks between.
    pub label: Option<String>,
}

/// The ticks of a view.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// From left to right.
    pub ticks: Vec<Tick>,
    /// What the labels are counted from, when written out they would be too long to tell apart:
    /// `12.3456 s`, and the labels read `+200 ns`.
    pub base: Option<String>,
}

/// Room for a label and some air.
const MIN_LABEL_DISTANCE_PT: f64 = 96.0;

/// Ticks for a canvas of this width.
pub fn axis(scale: &TimeScale, width_pt: f32) -> Axis {
    let span = scale.view().span();
    let step_ns = round_step_ns(scale.ns_per_pt() * MIN_LABEL_DISTANCE_PT);
    let largest_ns = span.start_ns.unsigned_abs().max(span.end_ns.unsigned_abs());
    let is_absolute = format::tick(span.start_ns, step_ns, largest_ns).is_some();
    let block_ns = step_ns.saturating_mul(1_000);
    let base_ns = if is_absolute { 0 } else { span.start_ns.div_euclid(block_ns).saturating_mul(block_ns) };
    let base = (!is_absolute).then(|| {
        let text = format::tick(base_ns, block_ns, largest_ns);
        text.unwrap_or_else(|| format::exact_ns(base_ns))
    });
    let label = |t_ns: i64| {
        if is_absolute {
            return format::tick(t_ns, step_ns, largest_ns).unwrap_or_default();
        }
        let offset_ns = t_ns.saturating_sub(base_ns);
        format!("+{}", format::ns(offset_ns as f64))
    };

    let minor_ns = if 5 <= step_ns { step_ns / 5 } else { step_ns };
    let mut ticks = Vec::new();
    let mut t_ns = span.start_ns.div_euclid(minor_ns).saturating_mul(minor_ns);
    let left_pt = scale.x_from_ns(span.start_ns);
    while t_ns <= span.end_ns {
        let x_pt = scale.x_from_ns(t_ns);
        let is_major = t_ns.rem_euclid(step_ns) == 0;
        if left_pt - 1.0 <= x_pt && x_pt <= left_pt + width_pt + 1.0 {
            ticks.push(Tick { x_pt, label: is_major.then(|| label(t_ns)) });
        }
        let Some(next_ns) = t_ns.checked_add(minor_ns) else { break };
        t_ns = next_ns;
    }
    Axis { ticks, base }
}

/// The smallest of 1, 2, 5 × 10ᵏ ns that is not smaller; at least 1 ns.
fn round_step_ns(at_least_ns: f64) -> i64 {
    let mut power_ns = 1_i64;
    loop {
        for factor in [1, 2, 5] {
            let step_ns = power_ns.saturating_mul(factor);
            if at_least_ns <= step_ns as f64 {
                return step_ns;
            }
        }
        let Some(next_ns) = power_ns.checked_mul(10) else { return power_ns };
        power_ns = next_ns;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time_scale::View;
    use tracecard_model::Span;

    fn check(start_ns: i64, end_ns: i64, base: Option<&str>, expected: &[&str]) {
        let scale = TimeScale::new(View::of(Span::new(start_ns, end_ns)), 0.0, 500.0);
        let axis = axis(&scale, 500.0);
        let labels: Vec<_> = axis.ticks.iter().filter_map(|tick| tick.label.as_deref()).collect();
        assert_eq!((axis.base.as_deref(), labels.as_slice()), (base, expected));
    }

    #[test]
    fn labels_have_the_unit_of_the_run_and_no_needless_digits() {
        check(0, 1_000_000, None, &["0.0 ms", "0.2 ms", "0.4 ms", "0.6 ms", "0.8 ms", "1.0 ms"]);
        check(0, 20, None, &["0 ns", "5 ns", "10 ns", "15 ns", "20 ns"]);
        check(3_000_000_000, 8_000_000_000, None, &["3 s", "4 s", "5 s", "6 s", "7 s", "8 s"]);
        check(-2_000, 2_000, None, &["-2 µs", "-1 µs", "0 µs", "1 µs", "2 µs"]);
    }

    #[test]
    fn far_from_zero_labels_count_from_a_base() {
        let start_ns = 12_345_678_000;
        let labels = ["+78 µs", "+78.2 µs", "+78.4 µs", "+78.6 µs", "+78.8 µs", "+79 µs"];
        check(start_ns, start_ns + 1_000, Some("12.3456 s"), &labels);
    }
}
