//! `TraceBuilder::finish`: where all formats become equal.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::amend::WITHDRAWN_NS;
use crate::builder::{FlowEnd, TrackInfo};
use crate::counters::counters;
use crate::gather::gather;
use crate::nest::{TrackColumns, lanes, nest};
use crate::{
    Cancelled, Counters, DeviceId, IssueLog, LinkKind, Links, Lod, Marks, ProcessId, Progress, RowIdx,
    Sample, Samples, Severity, SharedTable, SideTable, SliceFlags, SliceId, SliceKind, SliceRow, Slices,
    Span, Trace, TraceBuilder, Track, TrackFamily, TrackId, TrackKey,
};

/// In the map from pushed rows to slices: the row was dropped.
const DROPPED: u32 = u32::MAX;

/// 73 years: no time of a real trace lies farther from its zero, and sums of two such times still fit.
const LATEST_NS: i64 = 1 << 61;

/// Rows between two looks at the cancel button: some 50 ms.
const ROWS_A_STEP: usize = 1 << 22;

impl TraceBuilder {
    /// Sort, nest, link, fold: make the Trace. Cost O(n log n) on all cores.
    ///
    /// # Errors
    /// Only when cancelled; bad rows are dropped and counted in the issues.
    pub fn finish(mut self, progress: &Progress) -> Result<Trace, Cancelled> {
        progress.begin("Sorting", 6)?;
        drop_impossible(&mut self.slices, &mut self.issues);
        if self.zero_at_first_slice {
            self.shift_to_first_slice();
        }
        let (mut tracks, track_from_pushed) = self.ordered_tracks();
        let to_final = |slice: &mut SliceRow| slice.track = track_from_pushed[slice.track.idx()];
        self.slices.par_iter_mut().with_min_len(1 << 14).for_each(to_final);
        // Early, because what was pushed takes more room than the columns.
        let counters =
            counters(std::mem::take(&mut self.counters), &track_from_pushed, &mut self.issues, progress)?;
        let order = slice_order(&self.slices, &mut tracks, progress)?;
        progress.advance(1)?;

        let mut slice_from_row = vec![DROPPED; self.slices.len()];
        for (id, row) in order.iter().enumerate() {
            slice_from_row[*row as usize] = id as u32;
        }
        let mut slices = gather(&self.slices, &order, progress)?;
        drop((std::mem::take(&mut self.slices), order));
        progress.advance(1)?;

        nest_tracks(&mut slices, &mut tracks, self.meta.resolution_ns, progress)?;
        count_crossings(&slices, &tracks, &mut self.issues);
        progress.advance(1)?;

        let links = links(&slices, &tracks, self.flows, &track_from_pushed, progress)?;
        progress.advance(1)?;
        let lod = Lod::new(&slices, &tracks, progress)?;
        progress.advance(1)?;

        let marks = marks(self.marks, &track_from_pushed);
        self.memory_events.sort_by_key(|e| (e.time_ns, e.device, e.addr));
        let samples = samples(self.samples, &track_from_pushed);
        let span = span(&slices, &counters);
        self.names.complete();
        self.args.texts.complete();
        let trace = Trace {
            kernels: SharedTable {
                rows: side_table(self.kernels, &slice_from_row),
                values: self.kernel_shapes.into_iter().collect(),
            },
            copies: side_table(self.copies, &slice_from_row),
            ops: side_table(self.ops, &slice_from_row),
            collectives: side_table(self.collectives, &slice_from_row),
            domains: side_table(self.domains, &slice_from_row),
            api_errors: side_table(self.api_errors, &slice_from_row),
            call_stacks: side_table(self.call_stacks, &slice_from_row),
            stacks: self.stacks,
            samples,
            meta: self.meta,
            names: self.names,
            processes: self.processes.into_values().collect(),
            devices: self.devices.into_values().collect(),
            args: self.args,
            memory_events: self.memory_events,
            issues: self.issues.into_sorted(),
            tracks,
            slices,
            links,
            marks,
            counters,
            lod,
            span,
        };
        progress.advance(1)?;
        Ok(trace)
    }

    fn shift_to_first_slice(&mut self) {
        let Some(zero_ns) = self.slices.iter().filter(|s| 0 <= s.dur_ns).map(|s| s.start_ns).min() else {
            return;
        };
        let shift = |t: &mut i64| *t = t.saturating_sub(zero_ns);
        self.slices.iter_mut().for_each(|s| shift(&mut s.start_ns));
        self.marks.iter_mut().for_each(|m| shift(&mut m.1));
        self.counters.iter_mut().for_each(|c| shift(&mut c.1));
        self.flows.iter_mut().for_each(|f| shift(&mut f.time_ns));
        self.memory_events.iter_mut().for_each(|e| shift(&mut e.time_ns));
        self.samples.iter_mut().for_each(|s| shift(&mut s.time_ns));
        self.meta.start_unix_ns = self.meta.start_unix_ns.map(|t| t.saturating_add(zero_ns));
    }

    /// Tracks in the order shown, each with a name, and where each pushed track went.
    fn ordered_tracks(&mut self) -> (Vec<Track>, Vec<TrackId>) {
        let pushed: Vec<(TrackKey, TrackInfo)> = std::mem::take(&mut self.tracks).into_iter().collect();
        let mut order: Vec<usize> = (0..pushed.len()).collect();
        order.sort_by_cached_key(|&idx| self.track_rank(&pushed[idx].0));
        let mut track_from_pushed = vec![TrackId(0); pushed.len()];
        let mut tracks = Vec::with_capacity(pushed.len());
        for (id, idx) in order.into_iter().enumerate() {
            track_from_pushed[idx] = TrackId::from_idx(id);
            let (key, info) = &pushed[idx];
            let name = info.name.clone().unwrap_or_else(|| self.default_track_name(key));
            let (first_slice, n_slices, n_rows) = (SliceId(0), 0, 0);
            tracks.push(Track { key: key.clone(), name, unit: info.unit, first_slice, n_slices, n_rows });
        }
        (tracks, track_from_pushed)
    }

    /// Host threads by process (main thread first), then devices by stream, then counters.
    fn track_rank(&self, key: &TrackKey) -> impl Ord + use<> {
        let group = match key.family {
            TrackFamily::Counter => 2,
            family if family.is_device() => 1,
            _ => 0,
        };
        let thread = key.thread.clone().unwrap_or_default();
        let os_pid =
            key.process.and_then(|p| self.processes.get_index(p.idx())).map(|(_, p)| p.os_pid.as_str());
        let is_main = os_pid == Some(thread.as_str());
        let number = thread.parse::<u64>().unwrap_or(u64::MAX);
        let device: Option<(u32, DeviceId)> =
            key.device.and_then(|d| self.devices.get_index(d.idx()).map(|(_, row)| (row.number, d)));
        let process = key.process.and_then(|p| {
            self.processes.get_index(p.idx()).map(|(key, row)| {
                // By number rather than by first appearance: rows of the same run come in any order.
                (row.os_pid.parse::<u64>().unwrap_or(u64::MAX), key.clone())
            })
        });
        let host = (if group == 0 { process.clone() } else { None }, !is_main, number, thread);
        (group, device, process, host, key.context, key.stream, key.family, key.label.clone())
    }

    fn default_track_name(&self, key: &TrackKey) -> String {
        if let Some(label) = &key.label {
            return label.clone();
        }
        match (&key.thread, key.stream, key.process) {
            (Some(thread), _, Some(process)) => match self.thread_names.get(&(process, thread.clone())) {
                Some(name) => name.clone(),
                None => format!("thread {thread}"),
            },
            (Some(thread), _, None) => format!("thread {thread}"),
            (None, Some(stream), _) => format!("stream {stream}"),
            (None, None, _) => key.family.text().to_owned(),
        }
    }
}

/// Drop slices that end before they start or lie beyond [`LATEST_NS`]: an impossible row spoils every sum.
/// They stay in place with a negative duration and are left out of the order.
fn drop_impossible(slices: &mut [SliceRow], issues: &mut IssueLog) {
    let is_impossible = |slice: &SliceRow| {
        let end_ns = slice.start_ns.checked_add(slice.dur_ns);
        slice.dur_ns != WITHDRAWN_NS
            && (slice.dur_ns < 0
                || slice.start_ns < -LATEST_NS
                || end_ns.is_none_or(|end_ns| LATEST_NS < end_ns))
    };
    if !slices.par_chunks(1 << 16).any(|rows| rows.iter().any(is_impossible)) {
        return;
    }
    let Some(first) = slices.iter().position(is_impossible) else { return };
    let example = format!("start {} ns, duration {} ns", slices[first].start_ns, slices[first].dur_ns);
    let mut n_dropped = 0;
    for slice in slices[first..].iter_mut().filter(|slice| is_impossible(slice)) {
        slice.dur_ns = -1;
        n_dropped += 1;
    }
    let text = "slices end before they start; they are left out of every number";
    issues.count_n(n_dropped, Severity::DataLoss, "negative_duration", text, || example);
}

/// Rows in slice order; sets each track's range.
fn slice_order(
    slices: &[SliceRow],
    tracks: &mut [Track],
    progress: &Progress,
) -> Result<Vec<u32>, Cancelled> {
    let is_kept = |s: &SliceRow| 0 <= s.dur_ns;
    for step in slices.chunks(ROWS_A_STEP) {
        progress.check()?;
        for slice in step.iter().filter(|s| is_kept(s)) {
            tracks[slice.track.idx()].n_slices += 1;
        }
    }
    let mut next = Vec::with_capacity(tracks.len());
    let mut n_kept = 0;
    for track in tracks.iter_mut() {
        track.first_slice = SliceId(n_kept);
        next.push(n_kept as usize);
        n_kept += track.n_slices;
    }
    let mut order = vec![0_u32; n_kept as usize];
    for (step, first) in slices.chunks(ROWS_A_STEP).zip((0..).step_by(ROWS_A_STEP)) {
        progress.check()?;
        for (row, slice) in (first..).zip(step).filter(|(_, s)| is_kept(s)) {
            let at = &mut next[slice.track.idx()];
            order[*at] = row;
            *at += 1;
        }
    }
    let mut rest = order.as_mut_slice();
    let mut parts = Vec::with_capacity(tracks.len());
    for track in tracks.iter() {
        let (part, tail) = rest.split_at_mut(track.n_slices as usize);
        parts.push(part);
        rest = tail;
    }
    let rank = |row: &u32| {
        let slice = &slices[*row as usize];
        (slice.start_ns, std::cmp::Reverse(slice.dur_ns), *row)
    };
    parts.into_par_iter().try_for_each(|part| {
        progress.check()?;
        // Rows mostly come in order, or in a few runs that are; this sort merges runs. Stretches first, so that
        // a cancelled sort of many million rows ends soon.
        for stretch in part.chunks_mut(ROWS_A_STEP) {
            progress.check()?;
            stretch.sort_by_key(rank);
        }
        if ROWS_A_STEP < part.len() {
            part.sort_by_key(rank);
        }
        Ok(())
    })?;
    Ok(order)
}

fn nest_tracks(
    slices: &mut Slices,
    tracks: &mut [Track],
    resolution_ns: i64,
    progress: &Progress,
) -> Result<(), Cancelled> {
    // Exact time stamps get no tolerance: a child that ends later than its parent is no child.
    let tolerance_ns = if resolution_ns <= 1 { 0 } else { resolution_ns };
    let mut start_ns = slices.start_ns.as_slice();
    let mut dur_ns = slices.dur_ns.as_slice();
    let mut self_ns = slices.self_ns.as_mut_slice();
    let mut depth = slices.depth.as_mut_slice();
    let mut parent = slices.parent.as_mut_slice();
    let mut flags = slices.flags.as_mut_slice();
    let mut parts = Vec::with_capacity(tracks.len());
    for track in tracks.iter_mut() {
        let n = track.n_slices as usize;
        let columns = TrackColumns {
            base: track.first_slice.0,
            start_ns: start_ns.split_off(..n).unwrap_or_default(),
            dur_ns: dur_ns.split_off(..n).unwrap_or_default(),
            self_ns: self_ns.split_off_mut(..n).unwrap_or_default(),
            depth: depth.split_off_mut(..n).unwrap_or_default(),
            parent: parent.split_off_mut(..n).unwrap_or_default(),
            flags: flags.split_off_mut(..n).unwrap_or_default(),
        };
        parts.push((track, columns));
    }
    parts.into_par_iter().try_for_each(|(track, mut columns)| {
        progress.check()?;
        let nests = track.key.family.nests();
        track.n_rows = if nests { nest(&mut columns, tolerance_ns) } else { lanes(&mut columns) };
        Ok(())
    })
}

fn count_crossings(slices: &Slices, tracks: &[Track], issues: &mut IssueLog) {
    for (code, family_nests, text) in [
        (
            "overlapping_device_slices",
            false,
            "slices of one stream overlap; all are kept, on lanes of their own",
        ),
        (
            "crossing_host_slices",
            true,
            "slices of one thread cross without nesting; all are kept, on rows of their own",
        ),
    ] {
        for track in tracks {
            let family = track.key.family;
            if family.nests() != family_nests || family == TrackFamily::NvtxStartEnd {
                continue;
            }
            let range = track.range();
            let is_crossing = |flags: &&SliceFlags| flags.has(SliceFlags::CROSSING);
            let n = slices.flags[range].iter().filter(is_crossing).count() as u64;
            issues.count_n(n, Severity::Info, code, text, || track.name.clone());
        }
    }
}

fn side_table<T: Send>(rows: Vec<(RowIdx, T)>, slice_from_row: &[u32]) -> SideTable<T> {
    let mut rows: Vec<(SliceId, T)> = rows
        .into_iter()
        .map(|(row, value)| (SliceId(slice_from_row[row.idx()]), value))
        .filter(|(slice, _)| slice.0 != DROPPED)
        .collect();
    if !rows.is_sorted_by_key(|r| r.0) {
        rows.par_sort_by_key(|r| r.0);
    }
    rows.dedup_by_key(|r| r.0);
    let (slices, rows) = rows.into_iter().unzip();
    SideTable { slices, rows }
}

fn links(
    slices: &Slices,
    tracks: &[Track],
    flows: Vec<FlowEnd>,
    track_from_pushed: &[TrackId],
    progress: &Progress,
) -> Result<Links, Cancelled> {
    let mut rows = launch_links(slices, tracks, progress)?;
    rows.extend(flow_links(slices, tracks, flows, track_from_pushed));
    progress.check()?;
    rows.sort();
    rows.dedup();
    let mut by_target: Vec<u32> = (0..rows.len() as u32).collect();
    progress.check()?;
    by_target.sort_by_key(|idx| {
        let (kind, from, to) = rows[*idx as usize];
        (to, kind, from)
    });
    Ok(Links { rows, by_target })
}

/// A slice with a correlation id: (process, correlation, slice).
type Correlated = (Option<ProcessId>, i64, u32);

/// Device work and sync records find the API call with their correlation id in the same process; where
/// several calls share one, the first.
fn launch_links(
    slices: &Slices,
    tracks: &[Track],
    progress: &Progress,
) -> Result<Vec<(LinkKind, SliceId, SliceId)>, Cancelled> {
    let with_correlation = |is_wanted: fn(SliceKind) -> bool| -> Result<Vec<Correlated>, Cancelled> {
        progress.check()?;
        let mut found: Vec<Correlated> = (0..slices.len())
            .into_par_iter()
            .with_min_len(1 << 14)
            .filter(|id| is_wanted(slices.kind[*id]))
            .filter_map(|id| {
                let correlation = slices.correlation(SliceId::from_idx(id))?;
                Some((tracks[slices.track[id].idx()].key.process, correlation.0, id as u32))
            })
            .collect();
        // In order of time, which is that of the correlation ids on each track: a few sorted runs.
        progress.check()?;
        found.sort();
        Ok(found)
    };
    let is_target = |kind: SliceKind| kind.is_device_work() || kind == SliceKind::Sync;
    let (calls, targets) =
        rayon::join(|| with_correlation(|kind| kind == SliceKind::Api), || with_correlation(is_target));
    let (mut calls, targets) = (calls?, targets?);
    progress.check()?;
    calls.dedup_by_key(|call| (call.0, call.1));
    let mut links = Vec::with_capacity(targets.len());
    let mut at = 0;
    for (idx, (process, correlation, to)) in targets.into_iter().enumerate() {
        if idx.is_multiple_of(ROWS_A_STEP) {
            progress.check()?;
        }
        while at < calls.len() && (calls[at].0, calls[at].1) < (process, correlation) {
            at += 1;
        }
        if let Some(call) = calls.get(at).filter(|call| (call.0, call.1) == (process, correlation)) {
            let is_sync = slices.kind[to as usize] == SliceKind::Sync;
            let kind = if is_sync { LinkKind::Sync } else { LinkKind::Launch };
            links.push((kind, SliceId(call.2), SliceId(to)));
        }
    }
    Ok(links)
}

fn flow_links(
    slices: &Slices,
    tracks: &[Track],
    flows: Vec<FlowEnd>,
    track_from_pushed: &[TrackId],
) -> Vec<(LinkKind, SliceId, SliceId)> {
    // The innermost slice that starts at the instant: the last of equal starts.
    let slice_at = |end: &FlowEnd| -> Option<SliceId> {
        let range = tracks[track_from_pushed[end.track.idx()].idx()].range();
        let starts_ns = &slices.start_ns[range.clone()];
        let after = starts_ns.partition_point(|start| *start <= end.time_ns);
        let idx = after.checked_sub(1).filter(|idx| starts_ns[*idx] == end.time_ns)?;
        Some(SliceId::from_idx(range.start + idx))
    };
    let (targets, sources): (Vec<_>, Vec<_>) = flows.into_iter().partition(|end| end.is_target);
    let mut from: FxHashMap<(LinkKind, i64), SliceId> = FxHashMap::default();
    for end in &sources {
        if let Some(slice) = slice_at(end) {
            from.entry((end.kind, end.id)).or_insert(slice);
        }
    }
    let target = |end: &FlowEnd| Some((end.kind, *from.get(&(end.kind, end.id))?, slice_at(end)?));
    targets.iter().filter_map(target).filter(|(_, from, to)| from != to).collect()
}

fn marks(rows: Vec<(TrackId, i64, crate::NameId)>, track_from_pushed: &[TrackId]) -> Marks {
    let mut rows: Vec<_> = rows.into_iter().map(|(t, at, n)| (track_from_pushed[t.idx()], at, n)).collect();
    rows.par_sort_by_key(|row| (row.0, row.1));
    let mut marks = Marks::default();
    for (track, time_ns, name) in rows {
        marks.track.push(track);
        marks.time_ns.push(time_ns);
        marks.name.push(name);
    }
    marks
}

fn samples(mut rows: Vec<Sample>, track_from_pushed: &[TrackId]) -> Samples {
    rows.iter_mut().for_each(|sample| sample.track = track_from_pushed[sample.track.idx()]);
    rows.par_sort_by_key(|sample| (sample.track, sample.time_ns, sample.cpu));
    Samples { rows }
}

fn span(slices: &Slices, counters: &Counters) -> Option<Span> {
    let starts_ns = slices.start_ns.iter().chain(&counters.time_ns);
    let start_ns = *starts_ns.min()?;
    let slice_ends_ns = slices.start_ns.iter().zip(&slices.dur_ns).map(|(start, dur)| start + dur);
    let end_ns = slice_ends_ns.chain(counters.time_ns.iter().copied()).max()?;
    Some(Span::new(start_ns, end_ns))
}
