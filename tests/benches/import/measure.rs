//! What is measured, and what a measurement tells.

use std::error::Error;
use std::path::Path;
use std::process::Command;

use crate::child::CHILD;

/// What a child process does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// Read until before the Trace is finished.
    Read,
    /// Open as the program does.
    Open,
    /// Scan the needed columns of an export.
    FloorSqlite,
    /// Unpack the blocks of a report and walk their fields.
    FloorReport,
    /// Scan the events of a plain chrome trace.
    FloorJson,
    /// Unpack a gzip file.
    FloorGz,
}

impl Task {
    const ALL: [Self; 6] =
        [Self::Read, Self::Open, Self::FloorSqlite, Self::FloorReport, Self::FloorJson, Self::FloorGz];

    /// From the word that stands for it on a command line.
    pub(crate) fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|task| task.word() == word)
    }

    fn word(self) -> String {
        format!("{self:?}")
    }
}

/// What one child process tells, or the best of several.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measured {
    pub(crate) seconds: f64,
    /// Slices of the Trace; 0 for a floor and for reading alone.
    pub(crate) n_slices: u64,
    /// Memory at the end, the Trace still there.
    pub(crate) resident_bytes: u64,
    /// The most memory at any time.
    pub(crate) peak_bytes: u64,
}

/// How often each measurement is taken; the best counts, for all else is the noise of the machine.
const N_TIMES: usize = 3;

/// Measure a task on a file in processes of its own.
pub(crate) fn measure(
    task: Task,
    file: &Path,
    n_threads: usize,
) -> Result<Measured, Box<dyn Error + Send + Sync>> {
    let mut best: Option<Measured> = None;
    for _ in 0..N_TIMES {
        let now = once(task, file, n_threads)?;
        best = Some(best.map_or(now, |best| Measured {
            seconds: best.seconds.min(now.seconds),
            n_slices: now.n_slices,
            resident_bytes: best.resident_bytes.min(now.resident_bytes),
            peak_bytes: best.peak_bytes.min(now.peak_bytes),
        }));
    }
    best.ok_or_else(|| "nothing was measured".into())
}

fn once(task: Task, file: &Path, n_threads: usize) -> Result<Measured, Box<dyn Error + Send + Sync>> {
    let output = Command::new(std::env::current_exe()?)
        .args([CHILD, &task.word()])
        .arg(file)
        .arg(n_threads.to_string())
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let &[seconds, n_slices, resident_bytes, peak_bytes] = numbers.as_slice() else {
        let error = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{task:?} of {} failed: {error}", file.display()).into());
    };
    Ok(Measured {
        seconds,
        n_slices: n_slices as u64,
        resident_bytes: resident_bytes as u64,
        peak_bytes: peak_bytes as u64,
    })
}
