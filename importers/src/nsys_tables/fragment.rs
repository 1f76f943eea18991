//! What one worker makes of a part of a table: rows of the Trace, and findings for later.

use rustc_hash::FxHashMap;
use tracecard_model::{
    DeviceId, NameId, ProcessId, RowIdx, Severity, SliceFlags, SliceKind, SliceRow, TraceBuilder,
    TrackFamily, TrackId, TrackKey,
};

use super::call_chains::CallChains;
use super::cells::Cells;
use super::found::Found;
use super::payloads::PayloadSchemas;
use super::strings::Strings;
use super::tables::TableReader;
use super::target::{FoundDevice, Owner, Target};
use crate::nsys_terms::api_name;
use crate::nsys_terms::copy_kind::CopyCodes;
use crate::nsys_terms::global_id::{GlobalId, Machine};
use crate::nsys_terms::gpu_metric::GpuMetric;
use crate::nsys_terms::sync_class::SyncClass;

/// What is known before a table is read. Shared by all workers.
pub(crate) struct Known {
    /// All texts.
    pub(crate) strings: Strings,
    /// The machine.
    pub(crate) target: Target,
    /// What to take from every time stamp to get ns after the session start.
    pub(crate) shift_ns: i64,
    /// Call stacks of exports.
    pub(crate) call_chains: CallChains,
    /// GPU metrics by (type, metric number); `None` for markers that are no metric.
    pub(crate) metrics: FxHashMap<(i64, i64), Option<GpuMetric>>,
    /// How payloads of NVTX ranges are laid out.
    pub(crate) payloads: PayloadSchemas,
    /// What the tables of the first pass told, for those of the second.
    pub(crate) before: Found,
}

/// Where on a device something happened, as the file has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    pub(crate) family: TrackFamily,
    pub(crate) process: Option<i64>,
    pub(crate) device: Option<i64>,
    pub(crate) context: Option<i64>,
    pub(crate) stream: Option<i64>,
}

/// A slice before the fragment adds where it was found.
#[derive(Clone, Copy)]
pub(crate) struct NewSlice {
    pub(crate) track: TrackId,
    pub(crate) kind: SliceKind,
    pub(crate) name: NameId,
    pub(crate) start_ns: i64,
    pub(crate) dur_ns: i64,
    pub(crate) correlation: Option<i64>,
}

/// An API function.
#[derive(Clone, Copy)]
pub(crate) struct ApiFunction {
    pub(crate) name: NameId,
    pub(crate) is_launch: bool,
    pub(crate) is_query: bool,
    pub(crate) is_profiler_start: bool,
    pub(crate) sync: Option<SyncClass>,
}

/// No time stamp of a real capture lies 146 years from its start; drivers write 0x8000… for "unknown".
const LATEST_NS: i64 = 1 << 62;

/// Rows of one part of one table.
pub(crate) struct Fragment<'a> {
    /// What was known before.
    pub(crate) known: &'a Known,
    /// The rows.
    pub(crate) out: TraceBuilder,
    /// Findings for later.
    pub(crate) found: Found,
    table: &'static str,
    label: &'static str,
    source_table: u8,
    processes: FxHashMap<Owner, ProcessId>,
    devices: FxHashMap<(Owner, i64), DeviceId>,
    threads: FxHashMap<(TrackFamily, Option<i64>), TrackId>,
    places: FxHashMap<Place, TrackId>,
    last_thread: Option<((TrackFamily, Option<i64>), TrackId)>,
    last_place: Option<(Place, TrackId)>,
    names: FxHashMap<i64, NameId>,
    api_functions: FxHashMap<i64, ApiFunction>,
    copy_names: FxHashMap<CopyCodes, NameId>,
    modules: FxHashMap<i64, NameId>,
    /// Tracks of GPU metrics; `None` for what is no metric.
    pub(crate) metric_tracks: FxHashMap<(i64, i64), Option<(TrackId, f64)>>,
}

impl<'a> Fragment<'a> {
    /// Nothing yet; the rows go into an empty builder.
    pub(crate) fn new(known: &'a Known, out: TraceBuilder) -> Self {
        Self {
            known,
            out,
            found: Found::default(),
            table: "",
            label: "",
            source_table: 0,
            processes: FxHashMap::default(),
            devices: FxHashMap::default(),
            threads: FxHashMap::default(),
            places: FxHashMap::default(),
            last_thread: None,
            last_place: None,
            names: FxHashMap::default(),
            api_functions: FxHashMap::default(),
            copy_names: FxHashMap::default(),
            modules: FxHashMap::default(),
            metric_tracks: FxHashMap::default(),
        }
    }

    /// Add a row of a table; rows of one fragment may come from several.
    pub(crate) fn read(&mut self, reader: &TableReader, cells: &Cells<'_>) {
        self.enter(reader);
        (reader.read)(self, cells);
    }

    /// What follows is of this table.
    pub(crate) fn enter(&mut self, reader: &TableReader) {
        self.table = reader.table;
        self.label = reader.label;
        self.source_table = reader.number;
    }

    /// Name of the table.
    pub(crate) fn table(&self) -> &'static str {
        self.table
    }

    /// Label of the tracks of the table.
    pub(crate) fn label(&self) -> &'static str {
        self.label
    }

    /// Count a row that cannot be read, with an example.
    pub(crate) fn bad_row(&mut self, cells: &Cells<'_>, why: &str) {
        let text = "rows without a usable time or with impossible values are left out";
        let (table, row_id) = (self.table, cells.row_id());
        self.out
            .issues
            .count(Severity::DataLoss, "unreadable_rows", text, || format!("{table} row {row_id}: {why}"));
    }

    /// A time stamp in ns after the session start; `None` (uncounted) where it is missing or impossible.
    pub(crate) fn time(&mut self, stored: Option<i64>) -> Option<i64> {
        let time_ns = stored?.checked_sub(self.known.shift_ns)?;
        if !(-LATEST_NS..LATEST_NS).contains(&time_ns) {
            return None;
        }
        self.found.last_ns = self.found.last_ns.max(Some(time_ns));
        Some(time_ns)
    }

    /// Start and duration; a row without is counted. The duration may be negative: `finish()` counts those.
    pub(crate) fn span(
        &mut self,
        cells: &Cells<'_>,
        start: Option<i64>,
        end: Option<i64>,
    ) -> Option<(i64, i64)> {
        match (self.time(start), self.time(end)) {
            (Some(start_ns), Some(end_ns)) => Some((start_ns, end_ns - start_ns)),
            _ => {
                self.bad_row(cells, &format!("start {start:?}, end {end:?}"));
                None
            }
        }
    }

    /// As [`Self::span`], for device tables, where CUPTI writes 0 to 0 for "not collected".
    pub(crate) fn device_span(
        &mut self,
        cells: &Cells<'_>,
        start: Option<i64>,
        end: Option<i64>,
    ) -> Option<(i64, i64)> {
        if (start, end) == (Some(0), Some(0)) {
            let text = "the profiler could not collect the times of some device work; it is left out";
            let (table, row_id) = (self.table, cells.row_id());
            let example = || format!("{table} row {row_id}");
            self.out.issues.count(Severity::DataLoss, "device_times_not_collected", text, example);
            return None;
        }
        self.span(cells, start, end)
    }

    /// The process of a row.
    pub(crate) fn owner(&self, global_id: Option<i64>) -> Owner {
        global_id.map(|id| GlobalId::from_stored(id).process()).or(self.known.target.sole_process)
    }

    /// The process in the Trace.
    pub(crate) fn process(&mut self, owner: Owner) -> ProcessId {
        if let Some(id) = self.processes.get(&owner) {
            return *id;
        }
        let target = &self.known.target;
        let (key, pid) = target.process_key(owner);
        let id = self.out.process(&key);
        let row = self.out.process_mut(id);
        row.os_pid = pid;
        self.found.processes.insert(owner);
        self.processes.insert(owner, id);
        id
    }

    /// The track of one family of a thread.
    pub(crate) fn thread_track(&mut self, family: TrackFamily, global_tid: Option<i64>) -> TrackId {
        let key = (family, global_tid);
        if let Some((last, track)) = self.last_thread
            && last == key
        {
            return track;
        }
        let track = match self.threads.get(&key) {
            Some(track) => *track,
            None => {
                let process = self.process(self.owner(global_tid));
                let tid = global_tid.map(|id| GlobalId::from_stored(id).tid().to_string());
                let thread = tid.unwrap_or_else(|| "unknown".to_owned());
                let track = self.out.track(TrackKey::thread(family, process, thread));
                self.threads.insert(key, track);
                track
            }
        };
        self.last_thread = Some((key, track));
        track
    }

    /// The track of calls into a library of a thread, with the label of the table.
    pub(crate) fn library_track(&mut self, global_tid: Option<i64>) -> TrackId {
        let process = self.process(self.owner(global_tid));
        let tid = global_tid.map(|id| GlobalId::from_stored(id).tid().to_string());
        let thread = tid.unwrap_or_else(|| "unknown".to_owned());
        let mut key = TrackKey::thread(TrackFamily::Library, process, thread);
        key.label = Some(self.label.to_owned());
        self.out.track(key)
    }

    /// The track of start/end ranges: they belong to the process of a thread rather than to the thread.
    pub(crate) fn start_end_track(&mut self, global_tid: Option<i64>) -> TrackId {
        let family = TrackFamily::NvtxStartEnd;
        if let Some(track) = self.threads.get(&(family, global_tid)) {
            return *track;
        }
        let process = Some(self.process(self.owner(global_tid)));
        let (thread, device, context, stream, label) = (None, None, None, None, None);
        let track = self.out.track(TrackKey { family, process, thread, device, context, stream, label });
        self.out.set_track_name(track, "NVTX start/end ranges");
        self.threads.insert((family, global_tid), track);
        track
    }

    /// The track of a stream: streams repeat in every process, device and context.
    pub(crate) fn stream_track(&mut self, place: Place) -> TrackId {
        if let Some((last, track)) = self.last_place
            && last == place
        {
            return track;
        }
        let track = match self.places.get(&place) {
            Some(track) => *track,
            None => {
                let track = self.new_stream_track(place);
                self.places.insert(place, track);
                track
            }
        };
        self.last_place = Some((place, track));
        track
    }

    fn new_stream_track(&mut self, place: Place) -> TrackId {
        let owner = self.owner(place.process);
        let process = self.process(owner);
        let device = place.device.map(|ordinal| self.device(owner, ordinal));
        // Context 0 is none: unified-memory migrations have it on every device.
        if let (Some(ordinal), Some(context @ 1..)) = (place.device, place.context) {
            self.found.ordinal_from_context.entry((owner, context)).or_insert(ordinal);
        }
        if matches!(place.family, TrackFamily::Stream | TrackFamily::Graph) {
            self.found.with_device_work.insert(owner);
        }
        let track = self.out.track(TrackKey {
            family: place.family,
            process: Some(process),
            thread: None,
            device,
            context: place.context,
            stream: place.stream,
            label: None,
        });
        if let (Some(context), Some(stream)) = (place.context, place.stream)
            && let Some(name) = self.known.target.stream_name(owner, context, stream)
        {
            self.out.set_track_name(track, name);
        }
        track
    }

    /// The device with this ordinal in a process.
    pub(crate) fn device(&mut self, owner: Owner, ordinal: i64) -> DeviceId {
        if let Some(id) = self.devices.get(&(owner, ordinal)) {
            return *id;
        }
        let id = self.add_device(self.known.target.device(owner, ordinal));
        self.devices.insert((owner, ordinal), id);
        id
    }

    /// The GPU with this number.
    pub(crate) fn gpu(&mut self, machine: Machine, number: i64) -> DeviceId {
        self.add_device(self.known.target.gpu(Some(machine), number))
    }

    fn add_device(&mut self, found: FoundDevice) -> DeviceId {
        let id = self.out.device(&found.key, found.device.number);
        *self.out.device_mut(id) = found.device;
        id
    }

    /// The name in a column: the text of its number, `#number` where the file lacks it, or the text itself
    /// where a script put one there; `None` for null.
    pub(crate) fn name(&mut self, cells: &Cells<'_>, idx: usize) -> Option<NameId> {
        match cells.int(idx) {
            Some(id) => Some(self.name_of(id)),
            None => cells.word(idx).map(|word| self.out.names.intern(&word)),
        }
    }

    /// The name with a number.
    pub(crate) fn name_of(&mut self, id: i64) -> NameId {
        if let Some(name) = self.names.get(&id) {
            return *name;
        }
        let name = match self.known.strings.get(id) {
            Some(text) => self.out.names.intern(text),
            None => {
                self.found.missing_strings.insert(id);
                self.out.names.intern(&format!("#{id}"))
            }
        };
        self.names.insert(id, name);
        name
    }

    /// The name of the library or program with this number, without its folder: that may tell who the user is.
    pub(crate) fn module_of(&mut self, id: i64) -> NameId {
        if let Some(name) = self.modules.get(&id) {
            return *name;
        }
        let name = match self.known.strings.get(id) {
            Some(path) => self.out.names.intern(path.rsplit(['/', '\\']).next().unwrap_or_default()),
            None => self.name_of(id),
        };
        self.modules.insert(id, name);
        name
    }

    /// Does the file have the text of this number?
    pub(crate) fn has_text(&self, id: i64) -> bool {
        self.known.strings.get(id).is_some()
    }

    /// The name of rows that have none.
    pub(crate) fn unnamed(&mut self) -> NameId {
        self.out.names.intern("(unnamed)")
    }

    /// The API function in a column.
    pub(crate) fn api_function(&mut self, cells: &Cells<'_>, idx: usize) -> ApiFunction {
        let id = cells.int(idx);
        if let Some(function) = id.and_then(|id| self.api_functions.get(&id)) {
            return *function;
        }
        let full = match self.name(cells, idx) {
            Some(name) => self.out.names.text(name).to_owned(),
            None => "(unnamed)".to_owned(),
        };
        let base = api_name::base_name(&full);
        let function = ApiFunction {
            name: self.out.names.intern(base),
            is_launch: api_name::is_launch(base),
            is_query: api_name::is_query(base),
            is_profiler_start: api_name::is_profiler_start(base),
            sync: SyncClass::from_api(base),
        };
        if let Some(id) = id {
            self.api_functions.insert(id, function);
        }
        function
    }

    /// The name of a copy.
    pub(crate) fn copy_name(&mut self, codes: CopyCodes) -> NameId {
        *self.copy_names.entry(codes).or_insert_with(|| self.out.names.intern(&codes.name()))
    }

    /// Note a successful launch.
    pub(crate) fn note_launch(&mut self, global_tid: Option<i64>, name: NameId) {
        let owner = self.owner(global_tid);
        let names = &self.out.names;
        self.found.launches.entry(owner).or_insert_with(|| (0, names.text(name).to_owned())).0 += 1;
    }

    /// Note that the nodes of a graph launch were recorded.
    pub(crate) fn note_node(&mut self, global_pid: Option<i64>, correlation: Option<i64>) {
        let Some(correlation) = correlation else { return };
        let launch = (self.owner(global_pid), correlation);
        // All nodes of one launch come in a row.
        if self.found.node_launches.last() != Some(&launch) {
            self.found.node_launches.push(launch);
        }
    }

    /// Add a slice found in a row.
    pub(crate) fn push(&mut self, cells: &Cells<'_>, slice: NewSlice) -> RowIdx {
        self.push_from(cells.row_id(), slice, SliceFlags::NONE)
    }

    /// Add a slice with something special about it.
    pub(crate) fn push_from(&mut self, row_id: i64, slice: NewSlice, flags: SliceFlags) -> RowIdx {
        let NewSlice { track, kind, name, start_ns, dur_ns, correlation } = slice;
        self.out.push_slice(SliceRow {
            track,
            kind,
            flags,
            name,
            start_ns,
            dur_ns,
            correlation: correlation.unwrap_or(0),
            source_table: self.source_table,
            source_row: row_id,
        })
    }
}
