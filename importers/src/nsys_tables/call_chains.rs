//! Call stacks: in exports tables of frames, several rows a stack; in reports a list in the record itself.

use rustc_hash::FxHashMap;
use tracecard_model::{Cancelled, IssueLog, Progress, Severity, StackId, StackRow};

use super::cells::{Cells, Frame};
use super::fragment::Fragment;
use super::small_tables::SmallTables;

/// A table of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChainTable {
    /// Of CPU samples.
    Samples,
    /// Of calls into the system.
    OsRuntime,
    /// Of CUDA calls.
    Cuda,
}

const TABLES: [&str; 3] = ["SAMPLING_CALLCHAINS", "OSRT_CALLCHAINS", "CUDA_CALLCHAINS"];

/// The stacks of all three tables.
#[derive(Debug, Default)]
pub(crate) struct CallChains([Chains; 3]);

/// The stacks of one table.
#[derive(Debug, Default)]
struct Chains {
    /// Number of the stack → where its frames are.
    ranges: FxHashMap<i64, std::ops::Range<usize>>,
    /// Frames of one stack after the other, each innermost first.
    frames: Vec<Frame>,
}

/// Rows between two looks at the cancel button.
const ROWS_A_STEP: u64 = 4096;

impl CallChains {
    /// Load them all; `n_rows` says how many rows a table has, for the progress bar.
    pub(crate) fn read(
        tables: &dyn SmallTables,
        issues: &mut IssueLog,
        n_rows: impl Fn(&str) -> u64,
        progress: &Progress,
    ) -> Result<Self, Cancelled> {
        let mut chains = Self::default();
        // Row ids may lie 2⁶⁴ apart, and then a table claims as many rows.
        let n_all = TABLES.iter().fold(0, |sum: u64, table| sum.saturating_add(n_rows(table)));
        if n_all == 0 {
            return Ok(chains);
        }
        progress.begin("Reading call stacks", n_all)?;
        for (table, chains) in TABLES.iter().zip(&mut chains.0) {
            *chains = Chains::read(tables, issues, table, progress)?;
        }
        Ok(chains)
    }

    fn get(&self, table: ChainTable, chain: i64) -> Option<&[Frame]> {
        let chains = self.0.get(table as usize)?;
        chains.frames.get(chains.ranges.get(&chain)?.clone())
    }
}

impl Chains {
    fn read(
        tables: &dyn SmallTables,
        issues: &mut IssueLog,
        table: &str,
        progress: &Progress,
    ) -> Result<Self, Cancelled> {
        let mut rows: Vec<(i64, i64, Frame)> = Vec::new();
        let (mut n_read, mut n_bad) = (0_u64, 0);
        let mut is_cancelled = Ok(());
        tables.each_row(issues, table, &["id", "stackDepth", "symbol", "module"], &mut |cells| {
            match cells.ints() {
                [Some(chain), Some(depth), Some(symbol), module] => {
                    rows.push((chain, depth, Frame { symbol, module }));
                }
                _ => n_bad += 1,
            }
            n_read += 1;
            if n_read.is_multiple_of(ROWS_A_STEP) {
                is_cancelled = progress.advance(ROWS_A_STEP);
            }
            is_cancelled.is_ok()
        });
        is_cancelled?;
        let text = "frames of call stacks lack their number, place or function; they are left out";
        issues.count_n(n_bad, Severity::Warning, "call_stack_frames_unreadable", text, || table.to_owned());
        // Rows come sorted up to 2024.5, and in any order since.
        if !rows.is_sorted_by_key(|row| (row.0, row.1)) {
            rows.sort_by_key(|row| (row.0, row.1));
        }
        let mut chains = Self::default();
        for stack in rows.chunk_by(|a, b| a.0 == b.0) {
            let start = chains.frames.len();
            chains.frames.extend(stack.iter().map(|row| row.2));
            chains.ranges.insert(stack[0].0, start..chains.frames.len());
        }
        Ok(chains)
    }
}

impl Fragment<'_> {
    /// The call stack of a row: its own, or the one with this number; `None` where there is none.
    pub(crate) fn call_stack(
        &mut self,
        cells: &Cells<'_>,
        table: ChainTable,
        chain: Option<i64>,
    ) -> Option<StackId> {
        let known = self.known;
        let frames = match cells.frames() {
            [] => known.call_chains.get(table, chain?)?,
            frames => frames,
        };
        let mut parent = None;
        for frame in frames.iter().rev() {
            let name = self.name_of(frame.symbol);
            let module = frame.module.map(|module| self.module_of(module));
            parent = Some(self.out.stacks.intern(StackRow { parent, frame: name, module }));
        }
        parent
    }
}
