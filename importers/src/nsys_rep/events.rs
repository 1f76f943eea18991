//! Events of unpacked blocks: each becomes a row of the table that exports put it into.

use rusqlite::types::ValueRef;
use tracecard_model::{Severity, TraceBuilder};

use super::fields::{Mapping, Mappings, Meaning};
use super::message::{Damaged, Fields, Value, each_field, field, take_bytes, take_field, take_varint};
use super::report::{Cell, MetricLayout, text};
use super::unread::{Kind, Unread};
use crate::nsys_tables::{Cells, Fragment, Frame, GPU_METRICS, Known, Record, TableReader};

/// Numbers of payloads that are looked at here.
const DEVICE_WORK: u32 = 107;
const CALL: u32 = 108;
const DIAGNOSTIC: u32 = 110;
const PROCESS: u32 = 113;
/// Which files are mapped into a process; nothing that happens in time.
const MODULES: u32 = 109;

/// The field of the class in [`CALL`].
const CLASS: u8 = 6;

/// What a worker makes of some blocks.
pub(super) struct Decoded<'k> {
    pub(super) fragment: Fragment<'k>,
    /// Rows that can only be read once all others are.
    pub(super) later: Vec<LaterRow>,
    pub(super) processes: Vec<Vec<Cell>>,
    pub(super) diagnostics: Vec<Vec<Cell>>,
    pub(super) unread: Unread,
    /// Tables that got rows; many times, but not twice in a row.
    pub(super) tables: Vec<&'static str>,
    pub(super) n_events: u64,
    pub(super) n_generic_events: u64,
}

/// A row of the second pass. Its columns are all numbers, and few.
pub(super) struct LaterRow {
    pub(super) reader: &'static TableReader,
    pub(super) row_id: i64,
    /// Bit n: column n is not null.
    present: u8,
    values: [i64; LATER_COLUMNS],
}

/// Columns of the tables of the second pass.
const LATER_COLUMNS: usize = 8;

impl LaterRow {
    fn new(reader: &'static TableReader, row_id: i64, row: &[ValueRef<'_>]) -> Self {
        let mut later = Self { reader, row_id, present: 0, values: [0; LATER_COLUMNS] };
        for (idx, (slot, value)) in later.values.iter_mut().zip(row).enumerate() {
            if let ValueRef::Integer(value) = value {
                *slot = *value;
                later.present |= 1 << idx;
            }
        }
        later
    }

    /// The columns.
    pub(super) fn values(&self) -> [ValueRef<'static>; LATER_COLUMNS] {
        std::array::from_fn(|idx| match self.present >> idx & 1 {
            1 => ValueRef::Integer(self.values[idx]),
            _ => ValueRef::Null,
        })
    }
}

/// Columns of the processes and diagnostics.
pub(super) const PROCESS_COLUMNS: &[&str] = &["globalPid", "name"];
pub(super) const DIAGNOSTIC_COLUMNS: &[&str] = &["severity", "text"];

impl<'k> Decoded<'k> {
    pub(super) fn new(known: &'k Known, out: TraceBuilder) -> Self {
        Self {
            fragment: Fragment::new(known, out),
            later: Vec::new(),
            processes: Vec::new(),
            diagnostics: Vec::new(),
            unread: Unread::default(),
            tables: Vec::new(),
            n_events: 0,
            n_generic_events: 0,
        }
    }

    /// Read an unpacked block; `first_row` tells its rows from those of other blocks.
    pub(super) fn block(
        &mut self,
        block: &[u8],
        first_row: i64,
        mappings: &Mappings,
        metrics: &[MetricLayout],
    ) -> Result<(), Damaged> {
        let mut decoder = Decoder {
            out: self,
            mappings,
            metrics,
            payload: Fields::new(),
            part: Fields::new(),
            row: Vec::new(),
            frames: Vec::new(),
        };
        let mut rest = block;
        while !rest.is_empty() {
            let n_bytes = take_varint(&mut rest)?;
            let mut message = take_bytes(&mut rest, n_bytes)?;
            while let Some((number, value)) = take_field(&mut message)? {
                let row_id = first_row + (block.len() - rest.len() - message.len()) as i64;
                match (number, value) {
                    (1, Value::Bytes(event)) => {
                        decoder.out.n_events += 1;
                        decoder.event(event, row_id);
                    }
                    (2, Value::Bytes(event)) => {
                        decoder.out.n_generic_events += 1;
                        decoder.generic_event(event, row_id);
                    }
                    (number, _) => decoder.out.unread.count(Kind::BlockField(number)),
                }
            }
        }
        Ok(())
    }
}

struct Decoder<'a, 'k, 'b> {
    out: &'a mut Decoded<'k>,
    mappings: &'a Mappings,
    metrics: &'a [MetricLayout],
    payload: Fields<'b>,
    part: Fields<'b>,
    row: Vec<ValueRef<'b>>,
    frames: Vec<Frame>,
}

impl<'b> Decoder<'_, '_, 'b> {
    fn event(&mut self, event: &'b [u8], row_id: i64) {
        if self.try_event(event, row_id).is_err() {
            self.damaged(row_id);
        }
    }

    fn generic_event(&mut self, event: &'b [u8], row_id: i64) {
        if self.try_generic_event(event, row_id).is_err() {
            self.damaged(row_id);
        }
    }

    fn damaged(&mut self, row_id: i64) {
        let text = "records of the report cannot be read; they are left out";
        let example = || format!("block {}, byte {}", row_id >> 32, row_id & 0xffff_ffff);
        self.out.fragment.out.issues.count(Severity::DataLoss, "damaged_records", text, example);
    }

    fn try_event(&mut self, mut event: &'b [u8], row_id: i64) -> Result<(), Damaged> {
        let mut kind = 0;
        let mut payload = (0, &[][..]);
        while let Some((number, value)) = take_field(&mut event)? {
            match value {
                Value::Int(value) if number == 1 => kind = value,
                Value::Bytes(bytes) => payload = (number, bytes),
                _ => {}
            }
        }
        let (number, payload) = payload;
        match number {
            DIAGNOSTIC => return self.diagnostic(payload),
            PROCESS => return self.process(payload),
            MODULES => return Ok(()),
            _ => {}
        }
        let part = self.payload.read(payload)?;
        self.part.clear();
        let mappings = self.mappings;
        let mut class = None;
        let meaning = match (number, part) {
            (DEVICE_WORK, Some((part, bytes))) => {
                self.part.read(bytes)?;
                class = Some(i64::from(part));
                mappings.part(part)
            }
            (CALL, _) => {
                class = Some(self.payload.int(CLASS).unwrap_or(0));
                mappings.class(class.unwrap_or(0))
            }
            (number, _) => mappings.payload(number),
        };
        match meaning {
            Meaning::Row(mapping) => return self.push(mapping, payload, row_id),
            Meaning::Ignored => {}
            Meaning::Unknown => self.out.unread.count(Kind::Event { kind, payload: number, class }),
        }
        Ok(())
    }

    fn push(&mut self, mapping: &Mapping, payload: &'b [u8], row_id: i64) -> Result<(), Damaged> {
        mapping.fill(&self.payload, &self.part, &mut self.row);
        if self.out.tables.last() != Some(&mapping.reader.table) {
            self.out.tables.push(mapping.reader.table);
        }
        if mapping.is_second_pass {
            self.out.later.push(LaterRow::new(mapping.reader, row_id, &self.row));
            return Ok(());
        }
        self.frames.clear();
        if let Some(stack) = mapping.stack.filter(|stack| self.payload.bytes(*stack).is_some()) {
            let frames = &mut self.frames;
            let mut n_bad = 0;
            each_field(payload, |number, value| {
                if let (true, Value::Bytes(frame)) = (number == u32::from(stack), value) {
                    let frame = call_frame(frame);
                    n_bad += u64::from(frame.is_none());
                    frames.extend(frame);
                }
            })?;
            let text = "frames of call stacks cannot be read; the stacks are shorter than they were";
            self.out.fragment.out.issues.count_n(n_bad, Severity::DataLoss, "bad_frames", text, String::new);
        }
        let record = Record { row_id, values: &self.row, frames: &self.frames };
        self.out.fragment.read(mapping.reader, &Cells::of_record(record));
        Ok(())
    }

    fn diagnostic(&mut self, payload: &[u8]) -> Result<(), Damaged> {
        let severity = field(payload, 3)?.and_then(Value::int).map_or(Cell::Null, Cell::Int);
        if let Some(message) = field(payload, 4)?.and_then(Value::bytes) {
            self.out.diagnostics.push(vec![severity, text(message)]);
        }
        Ok(())
    }

    /// Field 6 is the name, field 5 the path; an event with neither is not exported. Command line, executable
    /// and working directory (7 to 9) are not read.
    fn process(&mut self, payload: &[u8]) -> Result<(), Damaged> {
        let bytes = |wanted| field(payload, wanted).map(|value| value.and_then(Value::bytes));
        let name = bytes(6)?.or(bytes(5)?);
        if let (Some(process), Some(name)) = (field(payload, 2)?.and_then(Value::int), name) {
            self.out.processes.push(vec![Cell::Int(process), text(name)]);
        }
        Ok(())
    }

    /// `{1: type, 2: time, 3: packed values}`: a sample of all metrics of a GPU, or something else.
    fn try_generic_event(&mut self, event: &'b [u8], row_id: i64) -> Result<(), Damaged> {
        let mut kind = 0;
        let mut time = ValueRef::Null;
        let mut packed = &[][..];
        each_field(event, |number, value| match (number, value) {
            (1, Value::Int(value)) => kind = value,
            (2, Value::Int(value)) => time = ValueRef::Integer(value),
            (3, Value::Bytes(bytes)) => packed = bytes,
            _ => {}
        })?;
        // Types with 2 or 3 in the second byte: the end of the sampling, and a list of metrics.
        if is_metrics(kind & !0x300) && matches!(kind & 0x300, 0x200 | 0x300) {
            return Ok(());
        }
        let layout = self.metrics.iter().find(|layout| layout.kind == kind && is_metrics(kind));
        let Some(layout) = layout else {
            self.out.unread.count(Kind::Generic(kind));
            return Ok(());
        };
        if layout.metrics.iter().any(|place| packed.len() < place.end) {
            return Err(Damaged);
        }
        for (number, place) in layout.metrics.iter().enumerate().filter(|(_, place)| !place.is_empty()) {
            let end = place.end.min(place.start.saturating_add(8));
            let value = packed.get(place.start..end).map(|bytes| {
                bytes.iter().rev().fold(0_u64, |value, byte| value << 8 | u64::from(*byte)) as i64
            });
            let value = value.map_or(ValueRef::Null, ValueRef::Integer);
            // The columns of GPU_METRICS.
            let row = [time, ValueRef::Integer(kind), ValueRef::Integer(number as i64), value];
            let record = Record { row_id, values: &row, frames: &[] };
            self.out.fragment.read(&GPU_METRICS, &Cells::of_record(record));
        }
        Ok(())
    }
}

/// Types of GPU metrics: VM 1, group 1, and the number of the GPU in the low byte.
fn is_metrics(kind: i64) -> bool {
    kind & 0xffff_ffff_ff00 == 0x0001_0000_0000
}

/// `{1: symbol, 2: module, …}`, numbers of texts.
fn call_frame(frame: &[u8]) -> Option<Frame> {
    let mut symbol = None;
    let mut module = None;
    each_field(frame, |number, value| match number {
        1 => symbol = value.int(),
        2 => module = value.int(),
        _ => {}
    })
    .ok()?;
    Some(Frame { symbol: symbol?, module })
}

#[cfg(test)]
mod tests {
    use crate::nsys_tables::second_pass;

    #[test]
    fn rows_that_wait_have_room_for_their_columns() {
        assert!(second_pass().all(|reader| reader.columns.len() <= super::LATER_COLUMNS));
    }
}
