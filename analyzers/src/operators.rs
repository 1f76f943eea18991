//! Which operators take the time (SIG-4): one row a (name, shapes, element type).
//!
//! Device time belongs to the operator that launched the work itself, not to those around it. What no
//! operator launched is one row, so that the column adds up to all device time.

use rustc_hash::FxHashMap;
use tracecard_model::{Progress, SliceId};

use crate::attribution::{Attribution, Framework};
use crate::call_tree::visit_self_ns;
use crate::idle::is_graph_launch;
use crate::metrics::{Averages, of_work, operator_columns};
use crate::op_key::{OpKey, OpKeys};
use crate::{AnalyzeError, Analyzer, Column, Input, Outcome, Table, Unit};

/// Operators by name, shapes and type.
pub(crate) const ANALYZER: Analyzer = Analyzer { id: "operators", title: "Operators by device time", run };

/// The row of device work that no operator launched.
pub const NOT_ATTRIBUTED: &str = "(not attributed)";

/// Names of operators that stand for a compiled region or a graph, whose kernels are not theirs alone.
const CONTAINERS: &[&str] = &[
    "Torch-Compiled Region",
    "CompiledFunction",
    "## Call CompiledFxGraph",
    "execute_",
    "CUDAGraph",
    "cuda_graph",
];

#[derive(Clone, Default)]
struct Row {
    name: String,
    shapes: Option<String>,
    dtype: Option<&'static str>,
    count: i64,
    self_device_ns: i64,
    total_device_ns: i64,
    wall_ns: i64,
    graph_ns: i64,
    /// `None` in the row of what no operator launched.
    self_cpu_ns: Option<i64>,
    total_cpu_ns: Option<i64>,
    /// (own device time, duration, slice): the costliest call.
    example: Option<(i64, i64, SliceId)>,
    /// Sampled metrics while its own kernels ran; `None` where nothing was sampled.
    averages: Option<Averages>,
}

impl Row {
    fn is_container(&self) -> bool {
        CONTAINERS.iter().any(|name| self.name.starts_with(name))
            || (0 < self.graph_ns && self.self_device_ns <= self.graph_ns * 2)
    }

    fn offer_example(&mut self, offer: (i64, i64, SliceId)) {
        if self.example.is_none_or(|(device_ns, dur_ns, _)| (device_ns, dur_ns) < (offer.0, offer.1)) {
            self.example = Some(offer);
        }
    }
}

fn run(input: &Input<'_>, progress: &Progress) -> Result<Outcome, AnalyzeError> {
    let attribution = input.derived.operators();
    if attribution.framework == Framework::None {
        let reason = "the file has no framework operators: record with torch.profiler, or under nsys with \
             torch.autograd.profiler.emit_nvtx(record_shapes=True) or --pytorch=autograd-shapes-nvtx; kernels are ranked by themselves";
        return Ok(Outcome::Abstained(reason.to_owned()));
    }
    let own = OwnDevice::new(input);
    progress.check()?;
    let mut keys = OpKeys::new(input.trace, attribution.framework);
    let (row_of, mut rows) = rows(input, attribution, &own, &mut keys);
    progress.check()?;
    add_averages(input, attribution, &row_of, &mut rows);
    add_totals(input, own, &row_of, &mut rows);
    progress.check()?;
    add_self_cpu(input, attribution, &row_of, &mut rows);
    rows.extend(not_attributed(input, attribution));
    // Without device work the host's time ranks.
    rows.sort_by(|a, b| {
        let rank = |row: &Row| (row.self_device_ns, row.self_cpu_ns.unwrap_or(0));
        let key = |row: &Row| (row.name.clone(), row.shapes.clone(), row.dtype);
        rank(b).cmp(&rank(a)).then_with(|| key(a).cmp(&key(b)))
    });
    Ok(Outcome::Done(vec![table(input, &rows)]))
}

/// Device time that each slice launched itself, by slice id up to the last one that did.
struct OwnDevice {
    self_ns: Vec<i64>,
    wall_ns: Vec<i64>,
    graph_ns: Vec<i64>,
}

impl OwnDevice {
    fn new(input: &Input<'_>) -> Self {
        let (derived, work) = (input.derived, input.derived.work());
        let operators = &derived.operators().operator;
        let n = operators.iter().flatten().map(|slice| slice.idx() + 1).max().unwrap_or(0);
        let mut own = Self { self_ns: vec![0; n], wall_ns: vec![0; n], graph_ns: vec![0; n] };
        for (idx, _) in derived.shown_work() {
            let Some(operator) = operators[idx] else { continue };
            let row = &work.rows[idx];
            own.self_ns[operator.idx()] += row.span.dur_ns();
            own.wall_ns[operator.idx()] += derived.wall_ns()[idx];
            if row.launch().is_some_and(|launch| is_graph_launch(input.trace, launch)) {
                own.graph_ns[operator.idx()] += row.span.dur_ns();
            }
        }
        own
    }

    fn of(column: &[i64], slice: SliceId) -> i64 {
        column.get(slice.idx()).copied().unwrap_or(0)
    }
}

/// In `row_of`: no operator.
const NO_ROW: u32 = u32::MAX;

/// Rows with counts, own device time and examples; and the row of each operator, by slice id.
fn rows(
    input: &Input<'_>,
    attribution: &Attribution,
    own: &OwnDevice,
    keys: &mut OpKeys<'_>,
) -> (Vec<u32>, Vec<Row>) {
    let trace = input.trace;
    let mut row_from_key: FxHashMap<OpKey, u32> = FxHashMap::default();
    let mut rows: Vec<Row> = Vec::new();
    let mut row_of: Vec<u32> = Vec::new();
    let mut side_rows = trace.ops.iter().peekable();
    for slice in trace.slice_ids().filter(|slice| attribution.is_operator(trace, *slice)) {
        while side_rows.next_if(|(at, _)| *at < slice).is_some() {}
        let args = side_rows.next_if(|(at, _)| *at == slice).and_then(|(_, op)| op.args);
        let key = keys.key(slice, args);
        let row = *row_from_key.entry(key).or_insert_with(|| {
            rows.push(Row {
                name: keys.name(key).to_owned(),
                shapes: keys.shapes(key).map(str::to_owned),
                dtype: keys.dtype(key),
                ..Row::default()
            });
            (rows.len() - 1) as u32
        });
        row_of.resize(slice.idx(), NO_ROW);
        row_of.push(row);
        let row = &mut rows[row as usize];
        let self_ns = OwnDevice::of(&own.self_ns, slice);
        row.self_device_ns += self_ns;
        row.wall_ns += OwnDevice::of(&own.wall_ns, slice);
        row.graph_ns += OwnDevice::of(&own.graph_ns, slice);
        let span = trace.slices.span(slice);
        if input.derived.is_in_window(span) {
            row.count += 1;
            row.offer_example((self_ns, span.dur_ns(), slice));
        } else if 0 < self_ns {
            // Work in the window whose operator ran before it.
            row.offer_example((self_ns, span.dur_ns(), slice));
        }
    }
    (row_of, rows)
}

/// The operator around an operator, annotations left out.
fn enclosing(input: &Input<'_>, row_of: &[u32], slice: SliceId) -> Option<SliceId> {
    let mut at = input.trace.slices.parent(slice);
    while let Some(parent) = at.filter(|parent| row_of.get(parent.idx()).is_none_or(|row| *row == NO_ROW)) {
        at = input.trace.slices.parent(parent);
    }
    at
}

/// Is the operator inside another one of its own row? Its totals are in that one's already.
fn is_inside_itself(input: &Input<'_>, row_of: &[u32], slice: SliceId) -> bool {
    let row = row_of[slice.idx()];
    let mut at = enclosing(input, row_of, slice);
    while let Some(parent) = at {
        if row_of[parent.idx()] == row {
            return true;
        }
        at = enclosing(input, row_of, parent);
    }
    false
}

fn operators(row_of: &[u32]) -> impl DoubleEndedIterator<Item = (SliceId, usize)> {
    let all = row_of.iter().enumerate().filter(|(_, row)| **row != NO_ROW);
    all.map(|(idx, row)| (SliceId::from_idx(idx), *row as usize))
}

fn add_averages(input: &Input<'_>, attribution: &Attribution, row_of: &[u32], rows: &mut [Row]) {
    let metrics = input.derived.metrics();
    if metrics.averages.kernels.is_empty() {
        return;
    }
    let key = |idx: usize| {
        let operator = attribution.operator[idx]?;
        row_of.get(operator.idx()).copied().filter(|row| *row != NO_ROW)
    };
    let averages = of_work(input.derived, &metrics.tracks, rows.len(), key);
    rows.iter_mut().zip(averages).for_each(|(row, averages)| row.averages = Some(averages));
}

/// Totals: own time and that of all operators inside.
fn add_totals(input: &Input<'_>, own: OwnDevice, row_of: &[u32], rows: &mut [Row]) {
    let mut device_ns = own.self_ns;
    device_ns.resize(row_of.len(), 0);
    // Children come after their parents in slice order.
    for (slice, row) in operators(row_of).rev() {
        let total_ns = device_ns[slice.idx()];
        if let Some(parent) = enclosing(input, row_of, slice).filter(|_| total_ns != 0) {
            device_ns[parent.idx()] += total_ns;
        }
        let row = &mut rows[row];
        let total_cpu_ns = row.total_cpu_ns.get_or_insert(0);
        if is_inside_itself(input, row_of, slice) {
            continue;
        }
        row.total_device_ns += total_ns;
        let span = input.trace.slices.span(slice);
        if input.derived.is_in_window(span) {
            *total_cpu_ns += span.dur_ns();
        }
    }
}

fn add_self_cpu(input: &Input<'_>, attribution: &Attribution, row_of: &[u32], rows: &mut [Row]) {
    let Some(family) = attribution.framework.family() else { return };
    visit_self_ns(input.trace, family, |slice, self_ns| {
        let row = row_of.get(slice.idx()).and_then(|row| rows.get_mut(*row as usize));
        if let Some(row) = row {
            let self_cpu_ns = row.self_cpu_ns.get_or_insert(0);
            if input.derived.is_in_window(input.trace.slices.span(slice)) {
                *self_cpu_ns += self_ns;
            }
        }
    });
}

fn not_attributed(input: &Input<'_>, attribution: &Attribution) -> Option<Row> {
    let (derived, work) = (input.derived, input.derived.work());
    let mut row = Row { name: NOT_ATTRIBUTED.to_owned(), ..Row::default() };
    for (idx, _) in derived.shown_work().filter(|(idx, _)| attribution.operator[*idx].is_none()) {
        let dur_ns = work.rows[idx].span.dur_ns();
        row.count += 1;
        row.self_device_ns += dur_ns;
        row.total_device_ns += dur_ns;
        row.wall_ns += derived.wall_ns()[idx];
        if work.rows[idx].launch().is_some_and(|launch| is_graph_launch(input.trace, launch)) {
            row.graph_ns += dur_ns;
        }
        row.offer_example((dur_ns, dur_ns, work.rows[idx].slice));
    }
    (0 < row.count).then_some(row)
}

fn table(input: &Input<'_>, rows: &[Row]) -> Table {
    // Operators that lie outside the window and launched nothing into it are no rows.
    let rows: Vec<&Row> = rows
        .iter()
        .filter(|row| 0 < row.count || row.self_device_ns != 0 || row.total_device_ns != 0)
        .collect();
    let has_device_work = !input.derived.work().rows.is_empty();
    let device = |id, title, doc, value: fn(&Row) -> i64| {
        Column::ints(id, title, Unit::Ns, doc, rows.iter().map(|row| has_device_work.then(|| value(row))))
    };
    let averages: Vec<Option<Averages>> = rows.iter().map(|row| row.averages).collect();
    let mut columns = vec![
        Column::texts(
            "name",
            "Operator",
            "Name of the operator; (not attributed) is device work without a launch or outside any operator",
            rows.iter().map(|r| Some(r.name.clone())),
        ),
        Column::texts(
            "shapes",
            "Input shapes",
            "Shapes of the inputs; unknown where they were not recorded (record_shapes=True)",
            rows.iter().map(|r| r.shapes.clone()),
        ),
        Column::texts(
            "dtype",
            "Type",
            "Element type of the first floating-point input, else of the first tensor; unknown where it was not recorded",
            rows.iter().map(|r| r.dtype.map(str::to_owned)),
        ),
        Column::ints(
            "count",
            "Calls",
            Unit::Count,
            "Calls; of (not attributed) slices of device work",
            rows.iter().map(|r| Some(r.count)),
        ),
        device(
            "self_device_ns",
            "Self device",
            "Durations of the device work that the operator launched itself; adds up to all device time. Unknown without device work",
            |r| r.self_device_ns,
        ),
        device(
            "total_device_ns",
            "Total device",
            "The same with the operators it called; rows overlap and must not be added",
            |r| r.total_device_ns,
        ),
        device(
            "wall_ns",
            "Wall",
            "Device time that is its own: of slices that run at once, the earliest started one counts",
            |r| r.wall_ns,
        ),
        Column::flags(
            "container",
            "Container",
            "Stands for a compiled region or a graph: its kernels have no operators of their own in the file",
            rows.iter().map(|r| Some(r.is_container())),
        ),
        Column::ints(
            "self_cpu_ns",
            "Self CPU",
            Unit::Ns,
            "Host time less that of operators, annotations and CUDA calls inside, as torch 2.4–2.11 counts it (Python frames take no part)",
            rows.iter().map(|r| r.self_cpu_ns),
        ),
        Column::ints(
            "total_cpu_ns",
            "Total CPU",
            Unit::Ns,
            "Host time; calls inside a call of the same row count once",
            rows.iter().map(|r| r.total_cpu_ns),
        ),
    ];
    columns.extend(operator_columns(&averages));
    columns.push(Column::slices(
        "example",
        "Costliest",
        "The call that launched the most device time, then the longest",
        rows.iter().map(|r| r.example.map(|e| e.2)),
    ));
    Table { id: "operators", title: "Operators", columns }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{check_abstains, check_table, check_table_with, in_window};

    const COLUMNS: &[&str] =
        &["name", "count", "self_device_ns", "total_device_ns", "wall_ns", "self_cpu_ns", "total_cpu_ns"];

    fn check(text: &str, expected: &str) {
        check_table(&ANALYZER, text, "operators", COLUMNS, expected);
    }

    #[test]
    fn device_time_belongs_to_who_launched_it() {
        // linear 0..100 (self 100 − mm 40 = 60), mm 20..60 (self 40 − launch 10 = 30) launches gemm (50).
        // linear itself launches bias (5) at 70: its call takes 2 off linear's self time: 58. old has no launch.
        check(
            "thread 1 ops\n  op aten::linear 0 100\n  op aten::mm 20 40\nthread 1 api\n  api l 30 10 #1\n  api l 70 2 #2\n\
             stream 0:7\n  kernel old 0 7\n  kernel gemm 50 50 #1\n  kernel bias 100 5 #2",
            "aten::mm | 1 | 50 | 50 | 50 | 30 | 40\n\
             (not attributed) | 1 | 7 | 7 | 7 | - | -\n\
             aten::linear | 1 | 5 | 55 | 5 | 58 | 100",
        );
    }

    #[test]
    fn shapes_and_types_make_rows() {
        check_table(
            &ANALYZER,
            "thread 1 ops\n  op aten::mm 0 10 dims=[[4,8],[8,2]] types=[\"float\",\"float\"]\n\
             \x20 op aten::mm 10 10 dims=[[4,8],[8,2]] types=[\"float\",\"float\"]\n\
             \x20 op aten::mm 20 30 dims=[[4,8],[8,2]] types=[\"c10::Half\",\"c10::Half\"]\n  op aten::mm 60 5",
            "operators",
            &["name", "shapes", "dtype", "count", "self_cpu_ns", "self_device_ns"],
            "aten::mm | [[4,8],[8,2]] | float16 | 1 | 30 | -\n\
             aten::mm | [[4,8],[8,2]] | float32 | 2 | 20 | -\n\
             aten::mm | - | - | 1 | 5 | -",
        );
    }

    #[test]
    fn a_call_inside_a_call_of_its_own_row_counts_once_in_totals() {
        // aten::to 0..100 calls aten::to 10..90, which launches 30.
        check(
            "thread 1 ops\n  op aten::to 0 100\n  op aten::to 10 80\nthread 1 api\n  api l 20 10 #1\nstream 0:7\n  kernel k 50 30 #1",
            "aten::to | 2 | 30 | 30 | 30 | 90 | 100",
        );
    }

    #[test]
    fn concurrent_work_has_less_wall_than_time() {
        check(
            "thread 1 ops\n  op a 0 10\n  op b 10 10\nthread 1 api\n  api l 1 1 #1\n  api l 11 1 #2\n\
             stream 0:7\n  kernel k 20 30 #1\nstream 0:8\n  kernel k 30 30 #2",
            "a | 1 | 30 | 30 | 30 | 9 | 10\nb | 1 | 30 | 30 | 10 | 9 | 10",
        );
    }

    #[test]
    fn graphs_and_compiled_regions_are_containers() {
        check_table(
            &ANALYZER,
            "thread 1 ops\n  op \"Torch-Compiled Region: 0/0\" 0 10\n  op my::replay 10 10\n  op aten::mm 20 10\n\
             thread 1 api\n  api cudaGraphLaunch 11 1 #1\n  api l 21 1 #2\n\
             stream 0:7\n  kernel n1 30 5 #1\n  kernel n2 40 5 #1\n  kernel gemm 50 3 #2",
            "operators",
            &["name", "self_device_ns", "container"],
            "my::replay | 10 | yes\naten::mm | 3 | no\nTorch-Compiled Region: 0/0 | 0 | yes",
        );
    }

    #[test]
    fn nvtx_operators_are_normalised() {
        check_table(
            &ANALYZER,
            "thread 1 nvtx\n  nvtx_push_pop \"aten::mm, op_id = 1, sizes = [[4, 8], [8, 2]]\" 0 10\n\
             \x20 nvtx_push_pop \"aten::mm, op_id = 2, sizes = [[4, 8], [8, 2]]\" 20 10\n\
             thread 1 api\n  api l 1 1 #1\nstream 0:7\n  kernel k 50 30 #1",
            "operators",
            &["name", "shapes", "dtype", "count", "self_device_ns", "self_cpu_ns"],
            "aten::mm | [[4,8],[8,2]] | - | 2 | 30 | 19",
        );
    }

    #[test]
    fn a_window_keeps_what_overlaps_it() {
        let text = "thread 1 ops\n  op a 0 10\n  op b 10 10\nthread 1 api\n  api l 1 1 #1\n  api l 11 1 #2\n\
             stream 0:7\n  kernel k 20 30 #1\n  kernel k 50 30 #2";
        // 55..80: only b's kernel; neither operator runs then.
        check_table_with(
            &ANALYZER,
            text,
            &in_window(55, 80),
            "operators",
            COLUMNS,
            "b | 0 | 30 | 30 | 25 | 0 | 0",
        );
    }

    #[test]
    fn without_operators_it_says_how_to_record_them() {
        check_abstains(&ANALYZER, "stream 0:7\n  kernel a 0 5", "emit_nvtx");
        check_abstains(&ANALYZER, "thread 1 nvtx\n  nvtx_push_pop forward 0 5", "emit_nvtx");
        check_abstains(&ANALYZER, "", "emit_nvtx");
    }
}
