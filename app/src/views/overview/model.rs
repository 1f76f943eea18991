//! What the overview says: headlines, devices, and what takes most of the time.

use std::collections::BTreeMap;

use tracecard_analyzers::{Analysis, Cell, Table};
use tracecard_model::{SliceId, Trace};

use crate::headline::{Headline, headlines};

/// A name with its time.
#[derive(Clone, Debug, PartialEq)]
pub struct Top {
    /// Full name.
    pub name: String,
    /// Its time in ns.
    pub ns: i64,
    /// Share of all such time, 0–1; `None` where all is nothing.
    pub frac: Option<f64>,
    /// A slice to show.
    pub example: Option<SliceId>,
}

/// A ranking.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ranking {
    /// What is ranked by what: `Kernels by device time`.
    pub title: &'static str,
    /// The first of them.
    pub tops: Vec<Top>,
}

/// One device of the run.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceLine {
    /// `GPU 0`.
    pub label: String,
    /// Product name; `None` where unknown.
    pub name: Option<String>,
    /// How its window was spent.
    pub headline: Headline,
}

/// Everything the overview shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Model {
    /// The answer; `None` without device work.
    pub answer: Option<Headline>,
    /// Without device work: median length of the steps on the host in ns, and how many there are.
    pub host_step: Option<(i64, usize)>,
    /// Every device, the one with the least compute first.
    pub devices: Vec<DeviceLine>,
    /// What takes most of the time, at most two lists.
    pub rankings: Vec<Ranking>,
}

/// So many names of a ranking are kept; the tables have all.
const MAX_TOPS: usize = 12;

/// The overview of an analysed run.
pub fn model(trace: &Trace, analysis: &Analysis) -> Model {
    let lines = headlines(analysis);
    let devices = device_lines(analysis, &lines);
    let rankings: Vec<Ranking> = [
        ranking(trace, analysis, "kernels", "Kernels by device time", "total_ns"),
        ranking(trace, analysis, "operators", "Operators by device time", "self_device_ns")
            .or_else(|| ranking(trace, analysis, "operators", "Operators by CPU time", "self_cpu_ns")),
        // The host's own view matters where no device has any.
        Some("ranges").filter(|_| lines.is_empty()).and_then(|id| {
            ranking(trace, analysis, id, "Ranges by host time", "total_ns")
        }),
    ]
    .into_iter()
    .flatten()
    .collect();
    let host_step = analysis.table("steps").filter(|_| lines.is_empty()).and_then(|steps| {
        Some((steps.int(0, "host_median_ns")?, usize::try_from(steps.int(0, "count")?).ok()?))
    });
    Model { answer: lines.into_iter().next(), host_step, devices, rankings }
}

fn device_lines(analysis: &Analysis, lines: &[Headline]) -> Vec<DeviceLine> {
    let Some(table) = analysis.table("devices") else { return Vec::new() };
    // The headlines name devices by number in their subject; the table says which product that is.
    let named = |line: &Headline| {
        (0..table.n_rows()).find_map(|row| {
            let number = table.int(row, "device")?;
            (line.subject == format!("Window on device {number}"))
                .then(|| (format!("GPU {number}"), table.text(row, "name").map(str::to_owned)))
        })
    };
    let of_line = |line: &Headline| {
        let (label, name) = named(line)?;
        Some(DeviceLine { label, name, headline: line.clone() })
    };
    lines.iter().filter_map(of_line).collect()
}

fn ranking(
    trace: &Trace,
    analysis: &Analysis,
    id: &str,
    title: &'static str,
    column: &str,
) -> Option<Ranking> {
    let table = analysis.table(id)?;
    // Rows of one name (other shapes, other devices) are one here; the first of them has the example.
    let mut of_name: BTreeMap<&str, (usize, i64)> = BTreeMap::new();
    for row in 0..table.n_rows() {
        if let Some(ns) = table.int(row, column).filter(|ns| 0 < *ns) {
            of_name.entry(name_of(table, row)).or_insert((row, 0)).1 += ns;
        }
    }
    let mut rows: Vec<(usize, i64)> = of_name.into_values().collect();
    let all_ns: i64 = rows.iter().map(|row| row.1).sum();
    rows.sort_by_key(|(row, ns)| (std::cmp::Reverse(*ns), *row));
    let top = |(row, ns): &(usize, i64)| Top {
        name: name_of(table, *row).to_owned(),
        ns: *ns,
        frac: (0 < all_ns && id != "ranges").then(|| *ns as f64 / all_ns as f64),
        example: example_of(trace, table, *row),
    };
    let tops: Vec<Top> = rows.iter().take(MAX_TOPS).map(top).collect();
    (!tops.is_empty()).then_some(Ranking { title, tops })
}

fn name_of(table: &Table, row: usize) -> &str {
    table.text(row, "name").or_else(|| table.text(row, "path")).unwrap_or_default()
}

fn example_of(trace: &Trace, table: &Table, row: usize) -> Option<SliceId> {
    match table.cell(row, "example") {
        Cell::Slice(slice) => Some(slice).filter(|slice| slice.idx() < trace.slices.len()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracecard_analyzers::{Params, run_all};
    use tracecard_model::{Progress, fixture};

    fn of(text: &str) -> Model {
        let trace = fixture(text).unwrap();
        let analysis = run_all(&trace, &Params::default(), &Progress::new()).unwrap();
        model(&trace, &analysis)
    }

    #[test]
    fn the_answer_comes_first_and_devices_with_least_compute_lead() {
        let model = of("device 0 H100\ndevice 1 H100\n\
             thread 1 api\n api l 0 1 #1\n api l 1 1 #2\n\
             stream 0:7\n kernel gemm 0 90 #1\nstream 1:7\n kernel gemm 0 40 #2\n kernel soft 60 40");
        assert!(model.answer.is_some());
        let labels: Vec<_> = model.devices.iter().map(|line| line.label.as_str()).collect();
        assert_eq!(labels, ["GPU 1", "GPU 0"]);
        let kernels = &model.rankings[0];
        assert_eq!((kernels.title, kernels.tops[0].name.as_str()), ("Kernels by device time", "gemm"));
    }

    #[test]
    fn without_a_device_operators_are_ranked_by_cpu_time() {
        let model = of("thread 1 ops\n op aten::mm 0 100\n op aten::relu 200 20");
        assert_eq!(model.answer, None);
        let titles: Vec<_> = model.rankings.iter().map(|ranking| ranking.title).collect();
        assert_eq!(titles, ["Operators by CPU time"]);
        assert_eq!(model.rankings[0].tops[0].frac, Some(100.0 / 120.0));
    }

    #[test]
    fn an_empty_run_says_nothing() {
        assert_eq!(of(""), Model::default());
    }
}
