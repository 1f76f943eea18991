//! Tables of a Trace as polars frames, for queries. Copies: O(rows of the table).

use polars::prelude::{Column, DataFrame, NamedFrom, Series};

use crate::schema::{self, Kind};
use crate::{DeviceId, MemoryKind, SliceId, Trace, Unit};

/// One table as a frame with exactly the columns that [`schema`] lists; `None` for an unknown table.
pub fn frame(trace: &Trace, table: &str) -> Option<DataFrame> {
    let schema = schema::TABLES.iter().find(|t| t.name == table)?;
    let columns: Vec<Column> = schema.columns.iter().map(|c| column(trace, table, c).into()).collect();
    DataFrame::new_infer_height(columns).ok()
}

/// The values of one column, row by row.
enum Values<'a> {
    Int(Box<dyn Iterator<Item = Option<i64>> + 'a>),
    Real(Box<dyn Iterator<Item = Option<f64>> + 'a>),
    Text(Box<dyn Iterator<Item = Option<&'a str>> + 'a>),
}

fn column(trace: &Trace, table: &str, column: &schema::Column) -> Series {
    let name = column.name.into();
    match values(trace, table, column.name) {
        Some(Values::Int(all)) => Series::new(name, all.collect::<Vec<_>>()),
        Some(Values::Real(all)) => Series::new(name, all.collect::<Vec<_>>()),
        Some(Values::Text(all)) => Series::new(name, all.collect::<Vec<_>>()),
        // A column that is in the schema and not here is a bug that the test of this module finds.
        None => match column.kind {
            Kind::Int => Series::new(name, Vec::<i64>::new()),
            Kind::Real => Series::new(name, Vec::<f64>::new()),
            Kind::Text => Series::new(name, Vec::<&str>::new()),
        },
    }
}

macro_rules! column_fns {
    ($($fn_name:ident, $variant:ident, $value:ty;)+) => {
        $(fn $fn_name<'a>(all: impl Iterator<Item = Option<$value>> + 'a) -> Option<Values<'a>> {
            Some(Values::$variant(Box::new(all)))
        })+
    };
}
column_fns! { ints, Int, i64; reals, Real, f64; }

fn texts<'a>(all: impl Iterator<Item = Option<&'a str>> + 'a) -> Option<Values<'a>> {
    Some(Values::Text(Box::new(all)))
}

fn key<'a>(n: usize) -> Option<Values<'a>> {
    ints((0..n as i64).map(Some))
}

fn values<'a>(trace: &'a Trace, table: &str, name: &str) -> Option<Values<'a>> {
    match table {
        "processes" => process_values(trace, name),
        "devices" => device_values(trace, name),
        "tracks" => track_values(trace, name),
        "slices" => slice_values(trace, name),
        "kernels" => kernel_values(trace, name),
        "copies" => copy_values(trace, name),
        "ops" => op_values(trace, name),
        "links" => link_values(trace, name),
        "counters" => counter_values(trace, name),
        "marks" => mark_values(trace, name),
        "memory_events" => memory_values(trace, name),
        "stacks" => stack_values(trace, name),
        "samples" => sample_values(trace, name),
        _ => None,
    }
}

fn process_values<'a>(trace: &'a Trace, name: &str) -> Option<Values<'a>> {
    let all = trace.processes.iter();
    match name {
        "process_id" => key(trace.processes.len()),
        "os_pid" => texts(all.map(|p| Some(p.os_pid.as_str()))),
        "name" => texts(all.map(|p| p.name.as_deref())),
        "rank" => ints(all.map(|p| p.rank.map(i64::from))),
        _ => None,
    }
}

fn device_values<'a>(trace: &'a Trace, name: &str) -> Option<Values<'a>> {
    let all = trace.devices.iter();
    match name {
        "device_id" => key(trace.devices.len()),
        "number" => ints(all.map(|d| Some(i64::from(d.number)))),
        "name" => texts(all.map(|d| d.name.as_deref())),
        "sm_count" => ints(all.map(|d| d.sm_count.map(i64::from))),
        "memory_bytes" => ints(all.map(|d| d.memory_bytes.map(|v| v as i64))),
        "dram_bytes_per_s" => ints(all.map(|d| d.dram_bytes_per_s.map(|v| v as i64))),
        "l2_bytes" => ints(all.map(|d| d.l2_bytes.map(|v| v as i64))),
        _ => None,
    }
}

fn track_values<'a>(trace: &'a Trace, name: &str) -> Option<Values<'a>> {
    let all = trace.tracks.iter();
    match name {
        "track_id" => key(trace.tracks.len()),
        "family" => texts(all.map(|t| Some(t.key.family.text()))),
        "name" => texts(all.map(|t| Some(t.name.as_str()))),
        "process_id" => ints(all.map(|t| t.key.process.map(|p| i64::from(p.0)))),
        "thread" => texts(all.map(|t| t.key.thread.as_deref())),
        "device_id" => ints(all.map(|t| device_int(t.key.device))),
        "context" => ints(all.map(|t| t.key.context)),
        "stream" => ints(all.map(|t| t.key.stream)),
        "unit" => texts(all.map(|t| t.unit.map(Unit::text))),
        _ => None,
    }
}

fn stack_values<'a>(trace: &'a Trace, name: &str) -> Option<Values<'a>> {
    let all = trace.stacks.rows();
    match name {
        "stack_id" => key(trace.stacks.len()),
        "parent_id" => ints(all.map(|row| row.parent.map(|parent| i64::from(parent.0)))),
        "frame" => texts(all.map(|row| Some(trace.names.text(row.frame)))),
        "module" => texts(all.map(|row| row.module.map(|module| trace.names.text(module)))),
        _ => None,
    }
}

fn sample_values<'a>(trace: &'a Trace, name: &str) -> Option<Values<'a>> {
    let all = trace.samples.rows().iter();
    match name {
        "track_id" => ints(all.map(|s| Some(i64::from(s.track.0)))),
        "time_ns" => ints(all.map(|s| Some(s.time_ns))),
        "cpu" => ints(all.map(|s| s.cpu.map(i64::from))),
        "stack_id" => ints(all.map(|s| s.stack.map(|stack| i64::from(stack.0)))),
        _ => None,
    }
}

fn device_int(device: Option<DeviceId>) -> Option<i64> {
    device.map(|d| i64::from(d.0))
}

fn slice_values<'a>(trace: &'a Trace, name: &str) -> Option<Values<'a>> {
    let slices = &trace.slices;
    match name {
        "slice_id" => key(slices.len()),
        "track_id" => ints(slices.track.iter().map(|t| Some(i64::from(t.0)))),
        "kind" => texts(slices.kind.iter().map(|k| Some(k.text()))),
        "name" => texts(slices.name.iter().map(|n| Some(trace.names.text(*n)))),
        "start_ns" => ints(slices.start_ns.iter().copied().map(Some)),
        "dur_ns" => ints(slices.dur_ns.iter().copied().map(Some)),
        "self_ns" => ints(slices.self_ns.iter().copied().map(Some)),
        "depth" => ints(slices.depth.iter().map(|d| Some(i64::from(*d)))),
        "parent_id" => ints(trace.slice_ids().map(|id| slices.parent(id).map(|p| i64::from(p.0)))),
        "correlation" => ints(trace.slice_ids().map(|id| slices.correlation(id).map(|c| c.0))),
        _ => None,
    }
}

fn slice_int(slice: SliceId) -> Option<i64> {
    Some(i64::from(slice.0))
}

fn kernel_values<'a>(trace: &'a Trace, name: &str) -> Option<Values<'a>> {
    let all = trace.kernels.iter();
    let axis = |of: Option<[u32; 3]>, axis: usize| of.map(|v| i64::from(v[axis]));
    match name {
        "slice_id" => ints(all.map(|(s, _)| slice_int(s))),
        "grid_x" => ints(all.map(move |(_, k)| axis(k.grid, 0))),
        "grid_y" => ints(all.map(move |(_, k)| axis(k.grid, 1))),
        "grid_z" => ints(all.map(move |(_, k)| axis(k.grid, 2))),
        "block_x" => ints(all.map(move |(_, k)| axis(k.block, 0))),
        "block_y" => ints(all.map(move |(_, k)| axis(k.block, 1))),
        "block_z" => ints(all.map(move |(_, k)| axis(k.block, 2))),
        "registers" => ints(all.map(|(_, k)| k.registers.map(i64::from))),
        "shared_bytes" => ints(all.map(|(_, k)| k.shared_bytes.map(i64::from))),
        _ => None,
    }
}

fn copy_values<'a>(trace: &'a Trace, name: &str) -> Option<Values<'a>> {
    let all = trace.copies.iter();
    match name {
        "slice_id" => ints(all.map(|(s, _)| slice_int(s))),
        "kind" => texts(all.map(|(_, c)| Some(c.kind.text()))),
        "src" => texts(all.map(|(_, c)| c.src.map(MemoryKind::text))),
        "dst" => texts(all.map(|(_, c)| c.dst.map(MemoryKind::text))),
        "bytes" => ints(all.map(|(_, c)| c.bytes.map(|b| b as i64))),
        _ => None,
    }
}

fn op_values<'a>(trace: &'a Trace, name: &str) -> Option<Values<'a>> {
    let all = trace.ops.iter().map(|(slice, op)| (slice, op, op.args.map(|a| trace.args.get(a))));
    let text = |id: Option<crate::NameId>| id.map(|id| trace.args.text(id));
    match name {
        "slice_id" => ints(all.map(|(s, ..)| slice_int(s))),
        "dims" => texts(all.map(move |(.., a)| text(a.and_then(|a| a.dims)))),
        "types" => texts(all.map(move |(.., a)| text(a.and_then(|a| a.types)))),
        "strides" => texts(all.map(move |(.., a)| text(a.and_then(|a| a.strides)))),
        "concrete" => texts(all.map(move |(.., a)| text(a.and_then(|a| a.concrete)))),
        "sequence" => ints(all.map(|(_, op, _)| op.sequence)),
        _ => None,
    }
}

fn link_values<'a>(trace: &'a Trace, name: &str) -> Option<Values<'a>> {
    let all = trace.links.rows().iter();
    match name {
        "kind" => texts(all.map(|l| Some(l.0.text()))),
        "from_id" => ints(all.map(|l| slice_int(l.1))),
        "to_id" => ints(all.map(|l| slice_int(l.2))),
        _ => None,
    }
}

fn counter_values<'a>(trace: &'a Trace, name: &str) -> Option<Values<'a>> {
    let counters = &trace.counters;
    match name {
        "track_id" => ints(counters.tracks().map(|t| Some(i64::from(t.0)))),
        "time_ns" => ints(counters.time_ns.iter().copied().map(Some)),
        "value" => reals(counters.value.iter().copied().map(Some)),
        _ => None,
    }
}

fn mark_values<'a>(trace: &'a Trace, name: &str) -> Option<Values<'a>> {
    let all = trace.marks.iter();
    match name {
        "track_id" => ints(all.map(|m| Some(i64::from(m.0.0)))),
        "time_ns" => ints(all.map(|m| Some(m.1))),
        "name" => texts(all.map(|m| Some(trace.names.text(m.2)))),
        _ => None,
    }
}

fn memory_values<'a>(trace: &'a Trace, name: &str) -> Option<Values<'a>> {
    let all = trace.memory_events.iter();
    match name {
        "time_ns" => ints(all.map(|e| Some(e.time_ns))),
        "device_id" => ints(all.map(|e| device_int(e.device))),
        "addr" => ints(all.map(|e| e.addr.map(|a| a as i64))),
        "delta_bytes" => ints(all.map(|e| Some(e.delta_bytes))),
        "total_allocated_bytes" => ints(all.map(|e| e.total_allocated_bytes)),
        "total_reserved_bytes" => ints(all.map(|e| e.total_reserved_bytes)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_of_the_schema_is_filled() {
        let trace = Trace::default();
        for table in schema::TABLES {
            for column in table.columns {
                let kind = match values(&trace, table.name, column.name) {
                    Some(Values::Int(_)) => Kind::Int,
                    Some(Values::Real(_)) => Kind::Real,
                    Some(Values::Text(_)) => Kind::Text,
                    None => panic!("{}.{} is in the schema but not filled", table.name, column.name),
                };
                assert_eq!(kind, column.kind, "{}.{}", table.name, column.name);
            }
            assert!(frame(&trace, table.name).is_some());
        }
        assert!(frame(&trace, "nonsense").is_none());
    }

    #[test]
    fn columns_that_must_not_be_null_are_not() {
        let text = "thread 1 ops\n  op aten::mm 0 10\nthread 1 api\n  api launch 1 2 #5\n\
                    stream 0:7\n  kernel gemm 5 9 #5 grid=1x2x3\n  h2d copy 20 2 #9 bytes=64";
        let trace = crate::fixture(text).unwrap();
        for table in schema::TABLES {
            let frame = frame(&trace, table.name).unwrap();
            for column in table.columns.iter().filter(|c| !c.is_nullable) {
                let n_null = frame.column(column.name).unwrap().null_count();
                assert_eq!(n_null, 0, "{}.{}", table.name, column.name);
            }
        }
        assert_eq!(frame(&trace, "slices").unwrap().height(), 4);
        assert_eq!(frame(&trace, "links").unwrap().height(), 1);
    }
}
