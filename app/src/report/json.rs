//! The JSON report, contract `tracecard.report/1`: keys are stable, unknown is null, never 0.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use serde::ser::{Serialize, SerializeMap as _, Serializer};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use tracecard_analyzers::{Cell, Table, Unit};
use tracecard_model::{SliceKind, Span, Trace};

use crate::cli::Loaded;

/// JSON whose objects keep the order of the contract.
enum Node {
    Value(Value),
    List(Vec<Node>),
    Object(Vec<(&'static str, Node)>),
}

impl Serialize for Node {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Value(value) => value.serialize(serializer),
            Self::List(nodes) => nodes.serialize(serializer),
            Self::Object(fields) => {
                let mut map = serializer.serialize_map(Some(fields.len()))?;
                for (key, node) in fields {
                    map.serialize_entry(key, node)?;
                }
                map.end()
            }
        }
    }
}

fn value(value: impl Into<Value>) -> Node {
    Node::Value(value.into())
}

/// The lists of the contract: key and table id, and the keys every row has (null where no table column of
/// that name exists).
const LISTS: &[(&str, &[&str])] = &[
    ("health", &["code", "severity", "count", "text", "example"]),
    (
        "collectives",
        &[
            "kind",
            "group",
            "size",
            "dtype",
            "device",
            "count",
            "bytes",
            "total_ns",
            "exposed_ns",
            "algbw_bytes_per_s",
            "busbw_bytes_per_s",
            "transfer_ns",
            "wait_ns",
        ],
    ),
    (
        "kernels",
        &[
            "name",
            "short_name",
            "family",
            "device",
            "count",
            "total_ns",
            "wall_ns",
            "mean_ns",
            "median_ns",
            "min_ns",
            "max_ns",
            "stddev_ns",
            "share_frac",
            "tensor_core",
            "occupancy_frac",
            "occupancy_limiter",
            "waves",
        ],
    ),
    (
        "operators",
        &[
            "name",
            "shapes",
            "dtype",
            "count",
            "self_device_ns",
            "total_device_ns",
            "wall_ns",
            "container",
            "self_cpu_ns",
            "total_cpu_ns",
            "flops",
            "flops_executed",
            "bytes",
            "flops_per_byte",
            "flops_per_s",
            "bytes_per_s",
            "bound",
            "roof_frac",
            "sm_active_frac",
            "occupancy_frac",
            "l2_hit_frac",
        ],
    ),
    ("apis", &["name", "count", "total_ns", "mean_ns", "max_ns", "errors"]),
    ("copies", &["kind", "src", "dst", "count", "total_ns", "bytes", "bytes_per_s"]),
    ("ranges", &["path", "domain", "count", "total_ns", "device_busy_ns", "median_ns", "p99_ns"]),
    ("counters", &["name", "device", "unit", "samples", "mean", "min", "max"]),
];

const DEVICE_KEYS: &[&str] = &[
    "device",
    "window_ns",
    "busy_ns",
    "compute_ns",
    "copy_ns",
    "comm_ns",
    "exposed_comm_ns",
    "exposed_copy_ns",
    "idle_ns",
];

const STEP_KEYS: &[&str] = &[
    "source",
    "count",
    "steady",
    "classes",
    "median_ns",
    "p95_ns",
    "max_ns",
    "cv",
    "host_median_ns",
    "flops",
    "mfu_frac",
    "items_per_s",
    "joules",
    "memory_peak_bytes",
];

/// The report as JSON text. `top` cuts the lists.
///
/// # Errors
/// When the file cannot be read again for its hash.
pub fn json(run: &Loaded, top: Option<usize>) -> anyhow::Result<String> {
    let mut fields = vec![("schema", value("tracecard.report/1")), ("run", run_node(run)?)];
    let mut lists: Vec<(&'static str, Node)> =
        LISTS.iter().map(|(id, keys)| (*id, list_node(run.analysis.table(id), keys, top))).collect();
    let rest = lists.split_off(1);
    fields.append(&mut lists);
    fields.push(("devices", devices_node(run)));
    let steps = run.analysis.table("steps").filter(|table| 0 < table.n_rows());
    fields.push(("steps", steps.map_or(value(Value::Null), |table| row_node(table, 0, STEP_KEYS))));
    fields.extend(rest);
    fields.push(("findings", Node::List(Vec::new())));
    fields.push(("unknown", Node::List(Vec::new())));
    let abstained = run.analysis.abstained.iter();
    let reason = |(id, reason): &(&'static str, String)| {
        Node::Object(vec![("analyzer", value(*id)), ("reason", value(reason.as_str()))])
    };
    fields.push(("abstained", Node::List(abstained.map(reason).collect())));
    let mut text = serde_json::to_string_pretty(&Node::Object(fields))?;
    text.push('\n');
    Ok(text)
}

fn run_node(run: &Loaded) -> anyhow::Result<Node> {
    let trace = &run.trace;
    let window = run.window();
    let kinds = trace.slices.kinds();
    let count = |is_wanted: fn(SliceKind) -> bool| value(kinds.iter().filter(|k| is_wanted(**k)).count());
    let counts = vec![
        ("slices", value(trace.slices.len())),
        ("kernels", count(|k| k == SliceKind::Kernel)),
        ("copies", count(|k| matches!(k, SliceKind::Memcpy | SliceKind::Memset))),
        ("api_calls", count(|k| k == SliceKind::Api)),
        ("ops", count(|k| k == SliceKind::Op)),
        ("nvtx", count(|k| matches!(k, SliceKind::NvtxPushPop | SliceKind::NvtxStartEnd))),
        ("counters", value(trace.counters.len())),
        ("links", value(trace.links.rows().len())),
    ];
    let window_node = match window {
        Some(span) => Node::List(vec![value(span.start_ns), value(span.end_ns)]),
        None => value(Value::Null),
    };
    Ok(Node::Object(vec![
        ("path", value(run.path.display().to_string())),
        ("sha256", value(sha256(&run.path)?)),
        ("format", value(trace.meta.format)),
        ("tool", value(trace.meta.tool.clone())),
        ("start_unix_ns", value(trace.meta.start_unix_ns)),
        ("window_ns", window_node),
        ("duration_ns", value(window.map(Span::dur_ns))),
        ("counts", Node::Object(counts)),
        ("devices", device_properties(trace)),
    ]))
}

fn device_properties(trace: &Trace) -> Node {
    let rows = trace.devices.iter().map(|device| {
        let capability = device.compute_capability.map(|(major, minor)| format!("{major}.{minor}"));
        Node::Object(vec![
            ("device", value(device.number)),
            ("name", value(device.name.clone())),
            ("compute_capability", value(capability)),
            ("sm_count", value(device.sm_count)),
            ("memory_bytes", value(device.memory_bytes)),
            ("dram_bytes_per_s", value(device.dram_bytes_per_s)),
        ])
    });
    Node::List(rows.collect())
}

fn devices_node(run: &Loaded) -> Node {
    let Some(table) = run.analysis.table("devices") else { return Node::List(Vec::new()) };
    let causes = run.analysis.table("idle_by_cause");
    let rows = (0..table.n_rows()).map(|row| {
        let device = table.int(row, "device");
        let of_device = |causes: &Table| -> Vec<Node> {
            let rows = (0..causes.n_rows()).filter(|cause| causes.int(*cause, "device") == device);
            rows.map(|cause| row_node(causes, cause, &["cause", "ns"])).collect()
        };
        let Node::Object(mut fields) = row_node(table, row, DEVICE_KEYS) else { return value(Value::Null) };
        fields.push(("idle_by_cause", Node::List(causes.map(of_device).unwrap_or_default())));
        Node::Object(fields)
    });
    Node::List(rows.collect())
}

fn list_node(table: Option<&Table>, keys: &[&'static str], top: Option<usize>) -> Node {
    let Some(table) = table else { return Node::List(Vec::new()) };
    let n_rows = table.n_rows().min(top.unwrap_or(usize::MAX));
    Node::List((0..n_rows).map(|row| row_node(table, row, keys)).collect())
}

/// The contract's keys first, then what else the table has.
fn row_node(table: &Table, row: usize, keys: &[&'static str]) -> Node {
    let mut fields: Vec<(&'static str, Node)> =
        keys.iter().map(|key| (*key, cell_node(table.cell(row, key)))).collect();
    for column in &table.columns {
        if column.unit != Unit::Slice && !keys.contains(&column.id) {
            fields.push((column.id, cell_node(column.data.cell(row))));
        }
    }
    Node::Object(fields)
}

fn cell_node(cell: Cell<'_>) -> Node {
    match cell {
        Cell::Unknown | Cell::Slice(_) => value(Value::Null),
        Cell::Int(int) => value(int),
        Cell::Real(real) => value(real),
        Cell::Text(text) => value(text),
        Cell::Flag(flag) => value(flag),
    }
}

/// Hash of the bytes as they lie on disk.
fn sha256(path: &Path) -> std::io::Result<String> {
    let mut file = File::open(path)?;
    let mut hasher = Sha256::new();
    let mut block = vec![0; 1 << 20];
    loop {
        let n = file.read(&mut block)?;
        if n == 0 {
            break;
        }
        hasher.update(&block[..n]);
    }
    Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}
