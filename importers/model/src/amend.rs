//! What importers put right once they have seen the whole file: rows that turn out to be no slices, ends that
//! were unknown, the process that device work belongs to.

use rustc_hash::FxHashMap;

use crate::{DeviceId, ProcessId, RowIdx, SliceKind, SliceRow, TraceBuilder, TrackFamily, TrackId, TrackKey};

/// Marks a withdrawn row: `finish()` leaves it out without counting it, the importer has.
pub(crate) const WITHDRAWN_NS: i64 = i64::MIN;

impl TraceBuilder {
    /// A pushed slice, to be changed; `None` when there is no such row.
    pub fn slice_mut(&mut self, row: RowIdx) -> Option<&mut SliceRow> {
        self.slices.get_mut(row.idx())
    }

    /// Move a pushed slice to the track of this family and label of the same process and thread.
    pub fn move_slice(&mut self, row: RowIdx, kind: SliceKind, family: TrackFamily, label: &str) {
        let Some(key) = self.slices.get(row.idx()).and_then(|slice| self.tracks.get_index(slice.track.idx()))
        else {
            return;
        };
        let key = TrackKey { family, label: Some(label.to_owned()), ..key.0.clone() };
        let track = self.track(key);
        if let Some(slice) = self.slices.get_mut(row.idx()) {
            (slice.track, slice.kind) = (track, kind);
        }
    }

    /// Take a pushed slice back, with its rows in side tables. The importer counts it as an issue.
    pub fn withdraw_slice(&mut self, row: RowIdx) {
        if let Some(slice) = self.slices.get_mut(row.idx()) {
            slice.dur_ns = WITHDRAWN_NS;
        }
    }

    /// Take back the marks, counter samples and memory events of an instant; says how many there were. For
    /// files in which that time means "not known".
    pub fn withdraw_instants_at(&mut self, time_ns: i64) -> u64 {
        let n_before = self.marks.len() + self.counters.len() + self.memory_events.len();
        self.marks.retain(|mark| mark.1 != time_ns);
        self.counters.retain(|sample| sample.1 != time_ns);
        self.memory_events.retain(|event| event.time_ns != time_ns);
        (n_before - self.marks.len() - self.counters.len() - self.memory_events.len()) as u64
    }

    /// The process with this key, if there is one.
    pub fn find_process(&self, key: &str) -> Option<ProcessId> {
        self.processes.get_index_of(key).map(ProcessId::from_idx)
    }

    /// The device with this key, if there is one.
    pub fn find_device(&self, key: &str) -> Option<DeviceId> {
        self.devices.get_index_of(key).map(DeviceId::from_idx)
    }

    /// The track with this key, if there is one.
    pub fn find_track(&self, key: &TrackKey) -> Option<TrackId> {
        self.tracks.get_index_of(key).map(TrackId::from_idx)
    }

    /// Give device tracks that were pushed without a process the one that launched their work: with several
    /// candidates, the one whose API calls have most correlation ids of the device, ties by first pushed.
    /// Returns the process that owns most device work, else that with most API calls, else most slices.
    /// Cost O(slices).
    pub fn adopt_device_tracks(&mut self) -> Option<ProcessId> {
        let owner_of_row = |row: &SliceRow| self.tracks.get_index(row.track.idx()).map(|(key, _)| key);
        let mut n_slices = vec![0_u64; self.processes.len()];
        let mut n_calls = vec![0_u64; self.processes.len()];
        for row in &self.slices {
            if let Some(process) = owner_of_row(row).and_then(|key| key.process) {
                n_slices[process.idx()] += 1;
                n_calls[process.idx()] += u64::from(row.kind == SliceKind::Api);
            }
        }
        let main = most(&n_calls).or_else(|| most(&n_slices))?;
        let mut owner_from_device: FxHashMap<DeviceId, ProcessId> = FxHashMap::default();
        let mut main_owner = main;
        if 1 < n_calls.iter().filter(|n| 0 < **n).count() {
            let votes = self.launch_votes();
            let total: Vec<u64> = (0..n_calls.len()).map(|p| votes.values().map(|v| v[p]).sum()).collect();
            main_owner = most(&total).unwrap_or(main);
            owner_from_device = votes.iter().filter_map(|(device, v)| Some((*device, most(v)?))).collect();
        }
        let is_orphan = |key: &TrackKey| key.process.is_none() && key.family.is_device();
        if self.tracks.keys().any(is_orphan) {
            let tracks = std::mem::take(&mut self.tracks);
            for (mut key, info) in tracks {
                if is_orphan(&key) {
                    let owner = key.device.and_then(|d| owner_from_device.get(&d)).copied();
                    key.process = Some(owner.unwrap_or(main_owner));
                    if self.tracks.contains_key(&key) {
                        key.process = None;
                    }
                }
                self.tracks.insert(key, info);
            }
        }
        Some(main_owner)
    }

    /// Per device, how many of its correlation ids each process called; ids of several processes are left out.
    fn launch_votes(&self) -> FxHashMap<DeviceId, Vec<u64>> {
        let key = |row: &SliceRow| self.tracks.get_index(row.track.idx()).map(|(key, _)| key);
        let with_correlation = || self.slices.iter().filter(|row| row.correlation != 0);
        let mut caller: FxHashMap<i64, Option<ProcessId>> = FxHashMap::default();
        for row in with_correlation().filter(|row| row.kind == SliceKind::Api) {
            let process = key(row).and_then(|key| key.process);
            caller
                .entry(row.correlation)
                .and_modify(|p| *p = p.filter(|p| Some(*p) == process))
                .or_insert(process);
        }
        let mut votes: FxHashMap<DeviceId, Vec<u64>> = FxHashMap::default();
        for row in with_correlation().filter(|row| row.kind != SliceKind::Api) {
            let Some(device) =
                key(row).filter(|key| key.family == TrackFamily::Stream).and_then(|key| key.device)
            else {
                continue;
            };
            if let Some(Some(process)) = caller.get(&row.correlation) {
                votes.entry(device).or_insert_with(|| vec![0; self.processes.len()])[process.idx()] += 1;
            }
        }
        votes
    }
}

/// The index of the largest count, the first of equals; `None` when all are 0.
fn most(counts: &[u64]) -> Option<ProcessId> {
    let (idx, n) = counts.iter().enumerate().max_by_key(|(idx, n)| (**n, std::cmp::Reverse(*idx)))?;
    (0 < *n).then(|| ProcessId::from_idx(idx))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Progress, SliceFlags, dump};

    fn row(
        track: TrackId,
        kind: SliceKind,
        name: crate::NameId,
        start_ns: i64,
        correlation: i64,
    ) -> SliceRow {
        let (flags, dur_ns) = (SliceFlags::NONE, 10);
        SliceRow { track, kind, flags, name, start_ns, dur_ns, correlation, source_table: 0, source_row: 0 }
    }

    fn orphan_stream(builder: &mut TraceBuilder, device: DeviceId) -> TrackId {
        let (family, stream) = (TrackFamily::Stream, Some(7));
        let key = TrackKey {
            family,
            process: None,
            thread: None,
            device: Some(device),
            context: None,
            stream,
            label: None,
        };
        builder.track(key)
    }

    #[test]
    fn device_work_goes_to_the_process_that_launched_it() {
        let mut builder = TraceBuilder::new();
        let name = builder.names.intern("x");
        for (pid, correlations) in [("10", 1..4), ("20", 3..9)] {
            let process = builder.process(pid);
            let api = builder.track(TrackKey::thread(TrackFamily::Api, process, pid));
            for correlation in correlations {
                builder.push_slice(row(api, SliceKind::Api, name, correlation, correlation));
            }
        }
        for (number, correlations) in [(0, 1..3), (1, 4..9)] {
            let device = builder.device(&number.to_string(), number);
            let stream = orphan_stream(&mut builder, device);
            for correlation in correlations {
                builder.push_slice(row(stream, SliceKind::Kernel, name, 100 + correlation, correlation));
            }
        }
        assert_eq!(builder.adopt_device_tracks(), builder.find_process("20"));
        let text = dump(&builder.finish(&Progress::new()).unwrap());
        assert!(text.contains("stream \"stream 7\" process=10 device=0\n"), "{text}");
        assert!(text.contains("stream \"stream 7\" process=20 device=1\n"), "{text}");
    }

    #[test]
    fn withdrawn_slices_are_gone_without_an_issue() {
        let mut builder = TraceBuilder::new();
        let name = builder.names.intern("x");
        let process = builder.process("1");
        let ops = builder.track(TrackKey::thread(TrackFamily::Ops, process, "1"));
        let first = builder.push_slice(row(ops, SliceKind::Op, name, 0, 0));
        let second = builder.push_slice(row(ops, SliceKind::Op, name, 50, 0));
        builder.withdraw_slice(first);
        builder.slice_mut(second).unwrap().dur_ns = 7;
        let text = dump(&builder.finish(&Progress::new()).unwrap());
        assert_eq!(text, "ops \"thread 1\" process=1\n  op \"x\" 50 +7\n");
    }

    #[test]
    fn without_processes_nothing_is_adopted() {
        let mut builder = TraceBuilder::new();
        let device = builder.device("0", 0);
        let stream = orphan_stream(&mut builder, device);
        let name = builder.names.intern("k");
        builder.push_slice(row(stream, SliceKind::Kernel, name, 0, 1));
        assert_eq!(builder.adopt_device_tracks(), None);
        assert_eq!(
            dump(&builder.finish(&Progress::new()).unwrap()),
            "device 0 None sm=None\nstream \"stream 7\" device=0\n  kernel \"k\" 0 +10\n"
        );
    }
}
