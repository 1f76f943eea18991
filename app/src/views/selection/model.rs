//! What a summary depends on, and all of it as text.

use std::fmt::Write as _;

use tracecard_analyzers::selection::Selected;
use tracecard_model::Trace;

use crate::format;
use crate::run::RunId;
use crate::views::timeline::Area;

/// What a summary depends on.
#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    /// The run.
    pub run: RunId,
    /// Is its analysis there? Without it nothing is known of devices and metrics.
    pub is_analysed: bool,
    /// The stretch.
    pub area: Area,
}

/// Everything known about a stretch, as text for the clipboard: raw numbers, tab-separated.
pub fn text(trace: &Trace, area: &Area, selected: &Selected) -> String {
    let mut text = String::new();
    let span = area.span;
    let _ = writeln!(
        text,
        "selection\tstart_ns {}\tend_ns {}\tdur_ns {}",
        span.start_ns,
        span.end_ns,
        span.dur_ns()
    );
    let number = |device: tracecard_model::DeviceId| {
        trace.devices.get(device.idx()).map_or_else(String::new, |row| row.number.to_string())
    };
    if !selected.devices.is_empty() {
        let _ = writeln!(
            text,
            "\ndevice\tbusy_ns\tcompute_ns\texposed_comm_ns\texposed_copy_ns\tidle_ns\tgaps\tlongest_gap_ns"
        );
    }
    for inside in &selected.devices {
        let split = &inside.split;
        let _ = writeln!(
            text,
            "{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}",
            number(inside.device),
            split.busy_ns(),
            split.compute_ns,
            split.exposed_comm_ns,
            split.exposed_copy_ns,
            split.idle_ns(),
            inside.n_gaps,
            inside.longest_gap_ns
        );
    }
    if !selected.counters.is_empty() {
        let _ = writeln!(text, "\ncounter\tdevice\tmin\tmean\tmax");
    }
    for counter in &selected.counters {
        let device = counter.device.map(number).unwrap_or_default();
        let value = |value: f64| format::counter_value(value, counter.unit);
        let summary = &counter.summary;
        let _ = writeln!(
            text,
            "{}\t{device}\t{}\t{}\t{}",
            counter.name,
            value(summary.min),
            value(summary.mean),
            value(summary.max)
        );
    }
    for table in [&selected.slices, &selected.gaps] {
        if table.n_rows() == 0 {
            continue;
        }
        let shown = table.columns.iter().filter(|column| column.unit != tracecard_analyzers::Unit::Slice);
        let ids: Vec<&str> = shown.map(|column| column.id).collect();
        let rows: Vec<u32> = (0..table.n_rows() as u32).collect();
        let _ = write!(text, "\n{}", crate::views::table::tsv(table, &ids, &rows));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracecard_analyzers::{Params, run_all, selection};
    use tracecard_model::{Progress, Span, fixture};

    #[test]
    fn everything_is_copied_with_raw_numbers() {
        let trace = fixture(
            "thread 1 api\n  api l 0 10 #1\nstream 0:7\n  kernel k 20 60 #1\ncounter 0 count depth\n  0 1\n  50 3",
        )
        .unwrap();
        let analysis = run_all(&trace, &Params::default(), &Progress::new()).unwrap();
        let area = Area::of_all_lanes(Span::new(10, 60));
        let resolved = area.resolved(&trace, None);
        let selected =
            selection::select(&trace, &analysis.partitions, None, &resolved, &Progress::new()).unwrap();
        // Busy 20..60, idle 10..20. depth: 1 for 40, 3 for 10 = 70 / 50.
        assert_eq!(
            text(&trace, &area, &selected),
            "selection\tstart_ns 10\tend_ns 60\tdur_ns 50\n\
             \n\
             device\tbusy_ns\tcompute_ns\texposed_comm_ns\texposed_copy_ns\tidle_ns\tgaps\tlongest_gap_ns\n\
             0\t40\t40\t0\t0\t10\t1\t10\n\
             \n\
             counter\tdevice\tmin\tmean\tmax\n\
             depth\t0\t1\t1.4\t3\n\
             \n\
             name\tkind\tcount\tself_ns\ttotal_ns\tshare_frac\tlongest_ns\n\
             k\tkernel\t1\t40\t40\t1\t40\n\
             \n\
             cause\tdevice\tstart_ns\tdur_ns\n\
             host_wait\t0\t10\t10\n"
        );
    }
}
