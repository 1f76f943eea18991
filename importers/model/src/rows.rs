//! The rows of the small tables and of the side tables keyed by slice.

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

use crate::{ArgsId, CopyKind, DeviceId, MemoryKind, NameId, Names, ProcessId, SliceId, TrackFamily, Unit};

/// Rows that only some slices have, sorted by slice. At most one row a slice.
#[derive(Clone, Debug)]
pub struct SideTable<T> {
    pub(crate) slices: Vec<SliceId>,
    pub(crate) rows: Vec<T>,
}

impl<T> Default for SideTable<T> {
    fn default() -> Self {
        Self { slices: Vec::new(), rows: Vec::new() }
    }
}

impl<T> SideTable<T> {
    /// The row of a slice. O(log n).
    pub fn get(&self, slice: SliceId) -> Option<&T> {
        self.slices.binary_search(&slice).ok().and_then(|idx| self.rows.get(idx))
    }

    /// All rows in slice order.
    pub fn iter(&self) -> impl Iterator<Item = (SliceId, &T)> {
        self.slices.iter().copied().zip(&self.rows)
    }

    /// How many slices have a row.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// No slice has one.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The slices that have a row, ascending.
    pub fn slices(&self) -> &[SliceId] {
        &self.slices
    }
}

/// As [`SideTable`], for rows that many slices share: each value is kept once.
#[derive(Clone, Debug)]
pub struct SharedTable<T> {
    pub(crate) rows: SideTable<u32>,
    pub(crate) values: Vec<T>,
}

impl<T> Default for SharedTable<T> {
    fn default() -> Self {
        Self { rows: SideTable::default(), values: Vec::new() }
    }
}

impl<T> SharedTable<T> {
    /// The row of a slice. O(log n).
    pub fn get(&self, slice: SliceId) -> Option<&T> {
        self.rows.get(slice).and_then(|idx| self.values.get(*idx as usize))
    }

    /// All rows in slice order.
    pub fn iter(&self) -> impl Iterator<Item = (SliceId, &T)> {
        self.rows.iter().filter_map(|(slice, idx)| Some((slice, self.values.get(*idx as usize)?)))
    }

    /// How many slices have a row.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// No slice has one.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

/// An operating-system process of the traced run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Process {
    /// What tells processes of one file apart (the tool's own id, as text).
    pub key: String,
    /// The process id as the file has it; may be text in chrome traces.
    pub os_pid: String,
    /// Program or display name; `None` where the file has none.
    pub name: Option<String>,
    /// Host name; `None` where the file has none or it is not read on purpose.
    pub host: Option<String>,
    /// Rank in a distributed job; `None` where unknown.
    pub rank: Option<u32>,
}

/// One physical accelerator, as far as the file can tell, with the limits the file states.
///
/// Every field but the number may be unknown (`None`).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Device {
    /// The number shown to the user: the physical GPU where known, else the ordinal in the process.
    pub number: u32,
    /// Product name.
    pub name: Option<String>,
    /// Compute capability (major, minor).
    pub compute_capability: Option<(u32, u32)>,
    /// Streaming multiprocessors.
    pub sm_count: Option<u32>,
    /// Device memory in bytes.
    pub memory_bytes: Option<u64>,
    /// Peak DRAM bandwidth in bytes/s.
    pub dram_bytes_per_s: Option<u64>,
    /// L2 cache in bytes.
    pub l2_bytes: Option<u64>,
    /// Maximum SM clock in Hz.
    pub clock_hz: Option<u64>,
    /// Resident warps an SM holds at most.
    pub max_warps_per_sm: Option<u32>,
    /// Resident blocks an SM holds at most.
    pub max_blocks_per_sm: Option<u32>,
    /// 32-bit registers of an SM.
    pub registers_per_sm: Option<u32>,
    /// Shared memory of an SM in bytes.
    pub shared_bytes_per_sm: Option<u32>,
    /// Shared memory a block may opt into, in bytes.
    pub shared_bytes_per_block_optin: Option<u32>,
    /// Universally unique id or bus location, where the file has one.
    pub uuid: Option<String>,
}

/// What makes two rows belong to one track.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TrackKey {
    /// What the track carries.
    pub family: TrackFamily,
    /// The process; `None` for device-wide counters.
    pub process: Option<ProcessId>,
    /// The thread id as text; `None` for device tracks.
    pub thread: Option<String>,
    /// The device; `None` for host tracks.
    pub device: Option<DeviceId>,
    /// The CUDA context; stream ids repeat across contexts.
    pub context: Option<i64>,
    /// The stream.
    pub stream: Option<i64>,
    /// Counter name, or what else tells such tracks apart.
    pub label: Option<String>,
}

impl TrackKey {
    /// A track of one thread.
    pub fn thread(family: TrackFamily, process: ProcessId, thread: impl Into<String>) -> Self {
        let thread = Some(thread.into());
        Self {
            family,
            process: Some(process),
            thread,
            device: None,
            context: None,
            stream: None,
            label: None,
        }
    }

    /// A track of one stream of one context of a process on a device.
    pub fn stream(
        family: TrackFamily,
        process: ProcessId,
        device: DeviceId,
        context: Option<i64>,
        stream: Option<i64>,
    ) -> Self {
        let process = Some(process);
        Self { family, process, thread: None, device: Some(device), context, stream, label: None }
    }

    /// A counter of a device or of a process.
    pub fn counter(process: Option<ProcessId>, device: Option<DeviceId>, name: impl Into<String>) -> Self {
        let label = Some(name.into());
        Self {
            family: TrackFamily::Counter,
            process,
            thread: None,
            device,
            context: None,
            stream: None,
            label,
        }
    }
}

/// A lane of slices, or a counter.
#[derive(Clone, Debug, PartialEq)]
pub struct Track {
    /// What it is.
    pub key: TrackKey,
    /// What the user reads: thread name, "stream 7", counter name.
    pub name: String,
    /// Unit of a counter's values; `None` for slices.
    pub unit: Option<Unit>,
    /// First slice of the track.
    pub first_slice: SliceId,
    /// How many slices.
    pub n_slices: u32,
    /// Rows needed to draw it without overlap: deepest nesting, or number of lanes. 0 when empty.
    pub n_rows: u32,
}

impl Track {
    /// The track's slices as an index range into [`crate::Slices`].
    pub fn range(&self) -> std::ops::Range<usize> {
        self.first_slice.idx()..self.first_slice.idx() + self.n_slices as usize
    }
}

/// Launch shape and resources of a kernel. `None` is "the file does not say".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Kernel {
    /// Blocks in x, y, z.
    pub grid: Option<[u32; 3]>,
    /// Threads a block in x, y, z.
    pub block: Option<[u32; 3]>,
    /// Blocks a cluster in x, y, z; `None` also when it is no cluster launch.
    pub cluster: Option<[u8; 3]>,
    /// 32-bit registers a thread.
    pub registers: Option<u32>,
    /// Static plus dynamic shared memory a block, in bytes.
    pub shared_bytes: Option<u32>,
    /// The dynamic part of it, where the file tells them apart.
    pub shared_dynamic_bytes: Option<u32>,
    /// The CUDA graph it is a node of.
    pub graph_id: Option<u32>,
    /// Its node in that graph.
    pub graph_node_id: Option<u64>,
}

/// A memory copy or set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copy {
    /// Direction; [`CopyKind::Memset`] for sets.
    pub kind: CopyKind,
    /// Memory on the source side.
    pub src: Option<MemoryKind>,
    /// Memory on the destination side.
    pub dst: Option<MemoryKind>,
    /// Size in bytes.
    pub bytes: Option<u64>,
    /// Does the copy belong to a unified-memory migration (no API call behind it)?
    pub is_migration: bool,
}

/// Arguments of an operator call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Op {
    /// Shapes, types, strides, concrete values.
    pub args: Option<ArgsId>,
    /// Autograd sequence number; ties forward to backward.
    pub sequence: Option<i64>,
    /// The thread of the forward call, on backward operators.
    pub forward_thread: Option<u64>,
}

/// One set of operator arguments, each the JSON text of the file with blanks removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ArgsRow {
    /// `[[64,1024],[1024,4096]]`; `[]` for scalars and 0-dim tensors; lists of lists for tensor lists.
    pub dims: Option<NameId>,
    /// `["float","float"]`, as the file spells types.
    pub types: Option<NameId>,
    /// `[[1024,1],[4096,1]]`.
    pub strides: Option<NameId>,
    /// `["","","[1, 1]"]`: scalar arguments.
    pub concrete: Option<NameId>,
}

/// Interned argument sets; texts are interned in a pool of their own.
#[derive(Clone, Debug, Default)]
pub struct Args {
    pub(crate) texts: Names,
    pub(crate) rows: IndexSet<ArgsRow, FxBuildHasher>,
}

impl Args {
    /// Forget all sets, but keep the memory.
    pub(crate) fn clear(&mut self) {
        self.texts.clear();
        self.rows.clear();
    }

    /// The id of a text for use in an [`ArgsRow`].
    pub fn intern_text(&mut self, text: &str) -> NameId {
        self.texts.intern(text)
    }

    /// The id of a set of arguments.
    pub fn intern(&mut self, row: ArgsRow) -> ArgsId {
        ArgsId::from_idx(self.rows.insert_full(row).0)
    }

    /// The set of an id.
    pub fn get(&self, id: ArgsId) -> ArgsRow {
        self.rows.get_index(id.idx()).copied().unwrap_or_default()
    }

    /// A text of a set.
    pub fn text(&self, id: NameId) -> &str {
        self.texts.text(id)
    }

    /// How many different sets.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// None?
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

/// What a communication slice (host record or device kernel) moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Collective {
    /// `allreduce`, `_allgather_base`, … as the file names it.
    pub name: Option<NameId>,
    /// Element type as the file names it.
    pub dtype: Option<NameId>,
    /// Elements this rank puts in.
    pub in_elements: Option<u64>,
    /// Elements this rank gets out.
    pub out_elements: Option<u64>,
    /// Ranks in the group.
    pub group_size: Option<u32>,
    /// Name of the process group.
    pub group: Option<NameId>,
    /// Bytes of the whole buffer as nccl-tests counts them, where the file gives bytes rather than elements.
    pub bytes: Option<u64>,
    /// Sequence number inside the group.
    pub sequence: Option<i64>,
}

/// One allocation or free.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryEvent {
    /// When.
    pub time_ns: i64,
    /// The device; `None` for host memory.
    pub device: Option<DeviceId>,
    /// The process.
    pub process: Option<ProcessId>,
    /// Address; `None` where the file has none.
    pub addr: Option<u64>,
    /// Positive: allocated; negative: freed.
    pub delta_bytes: i64,
    /// Allocated in total after the event, as the file states it.
    pub total_allocated_bytes: Option<i64>,
    /// Reserved in total after the event, as the file states it.
    pub total_reserved_bytes: Option<i64>,
}
