//! Every table and column of a Trace: type, unit, when it is null, what it means.
//!
//! This is what [`crate::frame`] produces and what queries see. All times are ns from the start of the
//! trace, all sizes bytes. "Fills" names the importers that fill a column; none named = all.

/// Type of a column as queries see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Whole number, 64 bits, signed.
    Int,
    /// Real number.
    Real,
    /// Text.
    Text,
}

/// One column.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Name.
    pub name: &'static str,
    /// Type.
    pub kind: Kind,
    /// May it be null?
    pub is_nullable: bool,
    /// Unit, meaning, and what null says.
    pub doc: &'static str,
}

/// One table.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// Name.
    pub name: &'static str,
    /// What a row is.
    pub doc: &'static str,
    /// Its columns in order.
    pub columns: &'static [Column],
}

const fn int(name: &'static str, doc: &'static str) -> Column {
    Column { name, kind: Kind::Int, is_nullable: false, doc }
}
const fn real(name: &'static str, doc: &'static str) -> Column {
    Column { name, kind: Kind::Real, is_nullable: false, doc }
}
const fn text(name: &'static str, doc: &'static str) -> Column {
    Column { name, kind: Kind::Text, is_nullable: false, doc }
}
const fn or_null(column: Column) -> Column {
    Column { is_nullable: true, ..column }
}

/// All tables, in the order documented to the user.
pub const TABLES: &[Table] = &[
    PROCESSES, DEVICES, TRACKS, SLICES, KERNELS, COPIES, OPS, LINKS, COUNTERS, MARKS, MEMORY, STACKS, SAMPLES,
];

/// Processes of the run.
pub const PROCESSES: Table = Table {
    name: "processes",
    doc: "one row a process",
    columns: &[
        int("process_id", "key"),
        text("os_pid", "process id as the file has it"),
        or_null(text("name", "program or display name; null where the file has none")),
        or_null(int("rank", "rank in a distributed job; null where unknown")),
    ],
};

/// Devices of the run.
pub const DEVICES: Table = Table {
    name: "devices",
    doc: "one row a physical accelerator, as far as the file can tell",
    columns: &[
        int("device_id", "key"),
        int("number", "number shown to the user"),
        or_null(text("name", "product name")),
        or_null(int("sm_count", "streaming multiprocessors")),
        or_null(int("memory_bytes", "device memory")),
        or_null(int("dram_bytes_per_s", "peak DRAM bandwidth as the file states it (nsys)")),
        or_null(int("l2_bytes", "L2 cache (nsys)")),
    ],
};

/// Tracks of the run.
pub const TRACKS: Table = Table {
    name: "tracks",
    doc: "one row a lane of slices or a counter",
    columns: &[
        int("track_id", "key"),
        text("family", "what the track carries: ops, nvtx, python, api, stream, counter, …"),
        text("name", "what the user reads"),
        or_null(int("process_id", "process; null for device-wide counters")),
        or_null(text("thread", "thread id; null for device tracks")),
        or_null(int("device_id", "device; null for host tracks")),
        or_null(int("context", "CUDA context (nsys)")),
        or_null(int("stream", "stream; null for host tracks")),
        or_null(text("unit", "unit of a counter's values")),
    ],
};

/// Everything with a start and a duration.
pub const SLICES: Table = Table {
    name: "slices",
    doc: "one row a slice, sorted by (track, start, longest first)",
    columns: &[
        int("slice_id", "key"),
        int("track_id", "its track"),
        text("kind", "op, annotation, python, api, os_runtime, nvtx_push_pop, kernel, memcpy, memset, …"),
        text("name", "full name as the file has it"),
        int("start_ns", "start"),
        int("dur_ns", "duration, never negative"),
        int("self_ns", "duration less that of the children on the same track"),
        int("depth", "nesting depth, or lane on tracks that do not nest"),
        or_null(int("parent_id", "slice it is nested in on its track; null at the top")),
        or_null(int("correlation", "number that ties a launch to its device work inside one process")),
    ],
};

/// Launch shapes.
pub const KERNELS: Table = Table {
    name: "kernels",
    doc: "one row a kernel slice whose launch shape the file has",
    columns: &[
        int("slice_id", "key, into slices"),
        or_null(int("grid_x", "blocks")),
        or_null(int("grid_y", "blocks")),
        or_null(int("grid_z", "blocks")),
        or_null(int("block_x", "threads")),
        or_null(int("block_y", "threads")),
        or_null(int("block_z", "threads")),
        or_null(int("registers", "32-bit registers a thread")),
        or_null(int("shared_bytes", "static plus dynamic shared memory a block")),
    ],
};

/// Copies and memsets.
pub const COPIES: Table = Table {
    name: "copies",
    doc: "one row a memory copy or set",
    columns: &[
        int("slice_id", "key, into slices"),
        text("kind", "h2d, d2h, d2d, p2p, h2h, memset, unknown"),
        or_null(text("src", "pageable, pinned, device, array, managed")),
        or_null(text("dst", "pageable, pinned, device, array, managed")),
        or_null(int("bytes", "size")),
    ],
};

/// Operators with arguments.
pub const OPS: Table = Table {
    name: "ops",
    doc: "one row an operator slice with arguments (kineto)",
    columns: &[
        int("slice_id", "key, into slices"),
        or_null(text("dims", "input shapes; null where shapes were not recorded")),
        or_null(text("types", "input types as the file spells them")),
        or_null(text("strides", "input strides")),
        or_null(text("concrete", "scalar arguments")),
        or_null(int("sequence", "autograd sequence number")),
    ],
};

/// Ties between slices.
pub const LINKS: Table = Table {
    name: "links",
    doc: "one row a tie between two slices",
    columns: &[
        text("kind", "launch, sync, forward_backward"),
        int("from_id", "slice, e.g. the launch"),
        int("to_id", "slice, e.g. the kernel"),
    ],
};

/// Counter samples.
pub const COUNTERS: Table = Table {
    name: "counters",
    doc: "one row a sample",
    columns: &[
        int("track_id", "its counter, into tracks"),
        int("time_ns", "when"),
        real("value", "in the track's unit"),
    ],
};

/// Instants.
pub const MARKS: Table = Table {
    name: "marks",
    doc: "one row an instant",
    columns: &[int("track_id", "its track"), int("time_ns", "when"), text("name", "text")],
};

/// Allocations and frees.
pub const MEMORY: Table = Table {
    name: "memory_events",
    doc: "one row an allocation or free",
    columns: &[
        int("time_ns", "when"),
        or_null(int("device_id", "device; null for host memory")),
        or_null(int("addr", "address, wrapped to 64 bits signed")),
        int("delta_bytes", "positive: allocated; negative: freed"),
        or_null(int("total_allocated_bytes", "allocated after the event, as the file states it (kineto)")),
        or_null(int("total_reserved_bytes", "reserved after the event, as the file states it (kineto)")),
    ],
};

/// Frames of call stacks.
pub const STACKS: Table = Table {
    name: "stacks",
    doc: "one row a frame of a call stack; the stack is the chain of parents (nsys)",
    columns: &[
        int("stack_id", "key"),
        or_null(int("parent_id", "the stack without this frame, into stacks; null at the root")),
        text("frame", "function"),
        or_null(text(
            "module",
            "library or program that holds the function; null where the file does not say",
        )),
    ],
};

/// CPU samples.
pub const SAMPLES: Table = Table {
    name: "samples",
    doc: "one row a CPU sample (nsys)",
    columns: &[
        int("track_id", "its thread, into tracks"),
        int("time_ns", "when"),
        or_null(int("cpu", "CPU it ran on")),
        or_null(int("stack_id", "call stack, into stacks; null where none was taken")),
    ],
};
