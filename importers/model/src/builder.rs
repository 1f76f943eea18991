//! TraceBuilder: importers push rows here, in any order and from any number of workers.
//!
//! A worker fills a builder of its own (a fragment); [`TraceBuilder::absorb`] joins fragments, translating
//! their ids. Nothing is sorted, nested or linked before `finish()`.

use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxBuildHasher;

use crate::{
    Args, ArgsRow, Collective, Copy, Device, DeviceId, IssueLog, Kernel, LinkKind, MemoryEvent, Meta, NameId,
    Names, Op, Process, ProcessId, RowIdx, Sample, SliceFlags, SliceKind, StackId, Stacks, TrackId, TrackKey,
    Unit,
};

/// A slice as an importer sees it.
#[derive(Clone, Copy, Debug)]
pub struct SliceRow {
    /// Its track.
    pub track: TrackId,
    /// What it is.
    pub kind: SliceKind,
    /// What is special about it.
    pub flags: SliceFlags,
    /// Its name.
    pub name: NameId,
    /// Start in ns.
    pub start_ns: i64,
    /// Duration in ns; `finish()` drops and counts negative ones.
    pub dur_ns: i64,
    /// The tool's correlation id; 0 for none.
    pub correlation: i64,
    /// The importer's own number of the table it came from.
    pub source_table: u8,
    /// Row id or byte offset in it.
    pub source_row: i64,
}

/// One end of an arrow between slices, found by the slice that starts at `time_ns` on `track`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FlowEnd {
    pub(crate) kind: LinkKind,
    pub(crate) id: i64,
    pub(crate) is_target: bool,
    pub(crate) track: TrackId,
    pub(crate) time_ns: i64,
}

/// Name and unit of a track, as far as told.
#[derive(Clone, Debug, Default)]
pub(crate) struct TrackInfo {
    pub(crate) name: Option<String>,
    pub(crate) unit: Option<Unit>,
}

/// Collects the rows of a Trace.
#[derive(Debug, Default)]
pub struct TraceBuilder {
    /// Facts about the file.
    pub meta: Meta,
    /// What was wrong in the input.
    pub issues: IssueLog,
    /// Interned slice and mark names.
    pub names: Names,
    /// Interned call stacks; their texts are interned in [`Self::names`].
    pub stacks: Stacks,
    /// Interned operator arguments.
    pub args: Args,
    /// Set time 0 to the start of the first slice (chrome); else times stay as pushed.
    pub zero_at_first_slice: bool,
    pub(crate) processes: IndexMap<String, Process>,
    pub(crate) devices: IndexMap<String, Device>,
    pub(crate) tracks: IndexMap<TrackKey, TrackInfo, FxBuildHasher>,
    pub(crate) thread_names: IndexMap<(ProcessId, String), String, FxBuildHasher>,
    pub(crate) slices: Vec<SliceRow>,
    /// Launch shapes by number; most kernels share theirs with others.
    pub(crate) kernel_shapes: IndexSet<Kernel, FxBuildHasher>,
    pub(crate) kernels: Vec<(RowIdx, u32)>,
    pub(crate) copies: Vec<(RowIdx, Copy)>,
    pub(crate) ops: Vec<(RowIdx, Op)>,
    pub(crate) collectives: Vec<(RowIdx, Collective)>,
    pub(crate) domains: Vec<(RowIdx, NameId)>,
    pub(crate) api_errors: Vec<(RowIdx, i64)>,
    pub(crate) call_stacks: Vec<(RowIdx, StackId)>,
    pub(crate) samples: Vec<Sample>,
    pub(crate) flows: Vec<FlowEnd>,
    pub(crate) marks: Vec<(TrackId, i64, NameId)>,
    pub(crate) counters: Vec<(TrackId, i64, f64)>,
    pub(crate) memory_events: Vec<MemoryEvent>,
}

impl TraceBuilder {
    /// Nothing yet.
    pub fn new() -> Self {
        Self { meta: Meta { resolution_ns: 1, ..Meta::default() }, ..Self::default() }
    }

    /// Nothing yet, for a worker whose rows are soon absorbed by another builder. A text may get several ids.
    pub fn fragment() -> Self {
        Self { names: Names::of_fragment(), ..Self::new() }
    }

    /// The process with this key, new if unseen.
    pub fn process(&mut self, key: &str) -> ProcessId {
        if let Some(idx) = self.processes.get_index_of(key) {
            return ProcessId::from_idx(idx);
        }
        let row = Process { key: key.to_owned(), os_pid: key.to_owned(), ..Process::default() };
        ProcessId::from_idx(self.processes.insert_full(key.to_owned(), row).0)
    }

    /// The row of a process, to be filled in.
    pub fn process_mut(&mut self, id: ProcessId) -> &mut Process {
        &mut self.processes[id.idx()]
    }

    /// The device with this key (an importer's own naming, e.g. `host/gpu 0`), new if unseen.
    pub fn device(&mut self, key: &str, number: u32) -> DeviceId {
        if let Some(idx) = self.devices.get_index_of(key) {
            return DeviceId::from_idx(idx);
        }
        let row = Device { number, ..Device::default() };
        DeviceId::from_idx(self.devices.insert_full(key.to_owned(), row).0)
    }

    /// The row of a device, to be filled in.
    pub fn device_mut(&mut self, id: DeviceId) -> &mut Device {
        &mut self.devices[id.idx()]
    }

    /// The track with this key, new if unseen.
    pub fn track(&mut self, key: TrackKey) -> TrackId {
        let entry = self.tracks.entry(key);
        let idx = entry.index();
        entry.or_default();
        TrackId::from_idx(idx)
    }

    /// What the user reads beside the track; the last name wins. Without one, `finish()` makes one.
    pub fn set_track_name(&mut self, track: TrackId, name: impl Into<String>) {
        self.tracks[track.idx()].name = Some(name.into());
    }

    /// Name of a thread, for all tracks of it that have no name of their own; the last one wins.
    pub fn set_thread_name(&mut self, process: ProcessId, thread: &str, name: &str) {
        self.thread_names.insert((process, thread.to_owned()), name.to_owned());
    }

    /// Unit of a counter's values.
    pub fn set_unit(&mut self, track: TrackId, unit: Unit) {
        self.tracks[track.idx()].unit = Some(unit);
    }

    /// Add a slice.
    pub fn push_slice(&mut self, row: SliceRow) -> RowIdx {
        let idx = RowIdx::from_idx(self.slices.len());
        self.slices.push(row);
        idx
    }

    /// How many slices were pushed.
    pub fn n_slices(&self) -> usize {
        self.slices.len()
    }

    /// Launch shape of a pushed kernel.
    pub fn push_kernel(&mut self, row: RowIdx, kernel: Kernel) {
        let shape = self.kernel_shapes.insert_full(kernel).0 as u32;
        self.kernels.push((row, shape));
    }

    /// Direction and size of a pushed copy or memset.
    pub fn push_copy(&mut self, row: RowIdx, copy: Copy) {
        self.copies.push((row, copy));
    }

    /// Arguments of a pushed operator.
    pub fn push_op(&mut self, row: RowIdx, op: Op) {
        self.ops.push((row, op));
    }

    /// What a pushed communication slice moves. Its names are interned in [`Self::names`].
    pub fn push_collective(&mut self, row: RowIdx, collective: Collective) {
        self.collectives.push((row, collective));
    }

    /// NVTX domain of a pushed range.
    pub fn push_domain(&mut self, row: RowIdx, domain: NameId) {
        self.domains.push((row, domain));
    }

    /// Return value of a pushed API call that failed.
    pub fn push_api_error(&mut self, row: RowIdx, return_value: i64) {
        self.api_errors.push((row, return_value));
    }

    /// Call stack of a pushed slice.
    pub fn push_call_stack(&mut self, row: RowIdx, stack: StackId) {
        self.call_stacks.push((row, stack));
    }

    /// A CPU sample, on a track of [`crate::TrackFamily::Samples`].
    pub fn push_sample(&mut self, sample: Sample) {
        self.samples.push(sample);
    }

    /// One end of an arrow: the innermost slice that starts at `time_ns` on `track`. Ends with equal
    /// (kind, id) are joined by `finish()`.
    pub fn push_flow_end(&mut self, kind: LinkKind, id: i64, is_target: bool, track: TrackId, time_ns: i64) {
        self.flows.push(FlowEnd { kind, id, is_target, track, time_ns });
    }

    /// An instant.
    pub fn push_mark(&mut self, track: TrackId, time_ns: i64, name: NameId) {
        self.marks.push((track, time_ns, name));
    }

    /// A counter sample in the track's unit. A value that is not a number is counted, not kept.
    pub fn push_counter(&mut self, track: TrackId, time_ns: i64, value: f64) {
        self.counters.push((track, time_ns, value));
    }

    /// An allocation or free.
    pub fn push_memory_event(&mut self, event: MemoryEvent) {
        self.memory_events.push(event);
    }

    /// Join a fragment: its processes, devices, tracks, names and arguments are found here by key or
    /// text (new ones are added), its rows appended behind ours. Facts in `meta` stay ours. Gives the fragment
    /// back, empty, to be filled again without asking the system for memory.
    pub fn absorb(&mut self, mut other: Self) -> Self {
        let process: Vec<ProcessId> = other
            .processes
            .drain(..)
            .map(|(key, row)| {
                let id = self.process(&key);
                merge_process(self.process_mut(id), row);
                id
            })
            .collect();
        let device: Vec<DeviceId> = other
            .devices
            .drain(..)
            .map(|(key, row)| match self.devices.get_index_of(&key) {
                Some(idx) => DeviceId::from_idx(idx),
                None => DeviceId::from_idx(self.devices.insert_full(key, row).0),
            })
            .collect();
        let track: Vec<TrackId> = other
            .tracks
            .drain(..)
            .map(|(mut key, info)| {
                key.process = key.process.map(|p| process[p.idx()]);
                key.device = key.device.map(|d| device[d.idx()]);
                let id = self.track(key);
                let here = &mut self.tracks[id.idx()];
                here.name = info.name.or(here.name.take());
                here.unit = info.unit.or(here.unit);
                id
            })
            .collect();
        for ((id, thread), name) in other.thread_names.drain(..) {
            self.thread_names.insert((process[id.idx()], thread), name);
        }
        let name = self.names.absorb(&other.names);
        let stack = self.stacks.absorb(&other.stacks, &name);
        let text = self.args.texts.absorb(&other.args.texts);
        let to_text = |id: Option<NameId>| id.map(|id| text[id.idx()]);
        let args: Vec<_> = other
            .args
            .rows
            .iter()
            .map(|row| ArgsRow {
                dims: to_text(row.dims),
                types: to_text(row.types),
                strides: to_text(row.strides),
                concrete: to_text(row.concrete),
            })
            .map(|row| self.args.intern(row))
            .collect();

        let base = self.slices.len() as u32;
        let row = |r: RowIdx| RowIdx(r.0 + base);
        let to_name = |id: Option<NameId>| id.map(|id| name[id.idx()]);
        self.slices.extend(other.slices.drain(..).map(|s| SliceRow {
            track: track[s.track.idx()],
            name: name[s.name.idx()],
            ..s
        }));
        let shapes = &mut self.kernel_shapes;
        let shape: Vec<u32> =
            other.kernel_shapes.drain(..).map(|shape| shapes.insert_full(shape).0 as u32).collect();
        self.kernels.extend(other.kernels.drain(..).map(|(r, k)| (row(r), shape[k as usize])));
        self.copies.extend(other.copies.drain(..).map(|(r, c)| (row(r), c)));
        self.ops.extend(
            other.ops.drain(..).map(|(r, o)| (row(r), Op { args: o.args.map(|a| args[a.idx()]), ..o })),
        );
        self.collectives.extend(other.collectives.drain(..).map(|(r, c)| {
            let (name, dtype, group) = (to_name(c.name), to_name(c.dtype), to_name(c.group));
            (row(r), Collective { name, dtype, group, ..c })
        }));
        self.domains.extend(other.domains.drain(..).map(|(r, d)| (row(r), name[d.idx()])));
        self.api_errors.extend(other.api_errors.drain(..).map(|(r, e)| (row(r), e)));
        self.call_stacks.extend(other.call_stacks.drain(..).map(|(r, s)| (row(r), stack[s.idx()])));
        self.samples.extend(other.samples.drain(..).map(|s| Sample {
            track: track[s.track.idx()],
            stack: s.stack.map(|s| stack[s.idx()]),
            ..s
        }));
        self.flows.extend(other.flows.drain(..).map(|f| FlowEnd { track: track[f.track.idx()], ..f }));
        self.marks.extend(other.marks.drain(..).map(|(t, at, n)| (track[t.idx()], at, name[n.idx()])));
        self.counters.extend(other.counters.drain(..).map(|(t, at, v)| (track[t.idx()], at, v)));
        self.memory_events.extend(other.memory_events.drain(..).map(|e| MemoryEvent {
            device: e.device.map(|d| device[d.idx()]),
            process: e.process.map(|p| process[p.idx()]),
            ..e
        }));
        self.issues.absorb(std::mem::take(&mut other.issues));
        other.names.clear();
        other.stacks = Stacks::default();
        other.args.clear();
        other
    }
}

/// Facts that only one of two rows of a process has are kept.
fn merge_process(here: &mut Process, other: Process) {
    if other.os_pid != other.key {
        here.os_pid = other.os_pid;
    }
    here.name = other.name.or(here.name.take());
    here.host = other.host.or(here.host.take());
    here.rank = other.rank.or(here.rank);
}
