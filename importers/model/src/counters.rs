//! Counter samples, brought from the order of pushing into columns by (track, time).

use crate::{Cancelled, Counters, IssueLog, Progress, Severity, TrackId};

/// Samples between two looks at the cancel button.
const ROWS_A_STEP: usize = 1 << 20;

/// Columns of the samples; `track_from_pushed` says where each pushed track went. O(n) where the samples of
/// each track were pushed in time order, as they are in all files.
pub(crate) fn counters(
    rows: Vec<(TrackId, i64, f64)>,
    track_from_pushed: &[TrackId],
    issues: &mut IssueLog,
    progress: &Progress,
) -> Result<Counters, Cancelled> {
    let mut next = vec![0_usize; track_from_pushed.len() + 1];
    for row in rows.iter().filter(|row| row.2.is_finite()) {
        next[track_from_pushed[row.0.idx()].idx() + 1] += 1;
    }
    for idx in 1..next.len() {
        next[idx] += next[idx - 1];
    }
    let starts = next.clone();
    let n_kept = next.last().copied().unwrap_or(0);
    let n_lost = (rows.len() - n_kept) as u64;
    let text = "counter samples are not numbers; they are left out";
    issues.count_n(n_lost, Severity::Warning, "counter_not_a_number", text, String::new);

    let mut time_ns = vec![0_i64; n_kept];
    let mut value = vec![0.0; n_kept];
    for step in rows.chunks(ROWS_A_STEP) {
        progress.check()?;
        for row in step.iter().filter(|row| row.2.is_finite()) {
            let to = track_from_pushed[row.0.idx()];
            let at = &mut next[to.idx()];
            (time_ns[*at], value[*at]) = (row.1, row.2);
            *at += 1;
        }
    }
    drop(rows);
    for range in starts.windows(2).map(|pair| pair[0]..pair[1]) {
        progress.check()?;
        if !time_ns[range.clone()].is_sorted() {
            let samples = time_ns[range.clone()].iter().copied().zip(value[range.clone()].iter().copied());
            let mut sorted: Vec<(i64, f64)> = samples.collect();
            sorted.sort_by_key(|sample| sample.0);
            for (at, sample) in range.zip(sorted) {
                (time_ns[at], value[at]) = sample;
            }
        }
    }
    Ok(Counters { starts, time_ns, value })
}
