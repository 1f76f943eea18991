//! `COMPOSITE_EVENTS`: CPU samples, with the call stacks of `SAMPLING_CALLCHAINS`.

use tracecard_model::{Sample, TrackFamily};

use super::call_chains::ChainTable;
use super::cells::Cells;
use super::fragment::Fragment;
use super::tables::TableReader;

pub(crate) const SAMPLES: TableReader = TableReader {
    number: 14,
    table: "COMPOSITE_EVENTS",
    label: "",
    required: &["start"],
    columns: &["start", "cpu", "globalTid", "id"],
    read,
};

fn read(fragment: &mut Fragment<'_>, cells: &Cells<'_>) {
    let [start, cpu, thread, chain] = cells.ints();
    let Some(time_ns) = fragment.time(start) else {
        return fragment.bad_row(cells, &format!("start {start:?}"));
    };
    let track = fragment.thread_track(TrackFamily::Samples, thread);
    let stack = fragment.call_stack(cells, ChainTable::Samples, chain);
    let cpu = cpu.and_then(|cpu| u32::try_from(cpu).ok());
    fragment.out.push_sample(Sample { track, time_ns, cpu, stack });
}
