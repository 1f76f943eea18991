//! A Trace from a few lines of text, for tests: three slices say more than a real file.
//!
//! ```text
//! device 0 H100 sm=132               # optional; a stream makes its device
//! thread 1 ops                       # family: ops, nvtx, python, api, os_runtime, …
//!   op aten::mm 0 100 dims=[[4,8],[8,2]] types=["float","float"]
//!   annotation ProfilerStep#1 0 500
//! thread 1 api
//!   api cudaLaunchKernel 10 5 #1     # NAME START DUR, #CORRELATION
//! stream 0:7                         # DEVICE:STREAM; also `graph 0:7`, `sync 0:7`
//!   kernel gemm 20 60 #1 grid=128x1x1 block=256x1x1 regs=64 shared=1024
//!   h2d copy 90 10 #2 bytes=4096 src=pageable dst=device
//!   memset set 95 1 bytes=64
//! counter 0 frac "SMs Active"        # DEVICE UNIT NAME
//!   0 0.5
//! memory 0 10 4096                   # DEVICE TIME DELTA [ALLOCATED RESERVED]
//! resolution 1000
//! ```
//! Names with blanks are quoted. `process P` before tracks switches the process (default 1).

use crate::{
    ArgsRow, Collective, Copy, CopyKind, Kernel, MemoryEvent, MemoryKind, Op, ProcessId, Progress, RowIdx,
    SliceFlags, SliceKind, SliceRow, Trace, TraceBuilder, TrackFamily, TrackId, TrackKey, Unit,
};

/// A line of a fixture that could not be understood.
#[derive(Debug, thiserror::Error)]
#[error("fixture line {line}: {text}")]
pub struct FixtureError {
    line: usize,
    text: String,
}

/// The Trace that the lines describe.
///
/// # Errors
/// The first line that is not understood.
pub fn fixture(text: &str) -> Result<Trace, FixtureError> {
    let mut state = State { builder: TraceBuilder::new(), process: ProcessId(0), track: None };
    state.builder.meta.format = "fixture";
    state.builder.meta.has_return_values = true;
    state.process = state.builder.process("1");
    for (idx, line) in text.lines().enumerate() {
        let content = line.split(" # ").next().unwrap_or_default();
        if state.line(&words(content)).is_none() {
            return Err(FixtureError { line: idx + 1, text: line.to_owned() });
        }
    }
    let cancelled = |_| FixtureError { line: 0, text: "cancelled".to_owned() };
    state.builder.finish(&Progress::new()).map_err(cancelled)
}

/// Words, where a quoted stretch is one.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![];
    let mut word = String::new();
    let mut is_quoted = false;
    let mut is_word = false;
    for c in line.chars() {
        match c {
            '"' if !is_word || is_quoted => {
                is_quoted = !is_quoted;
                is_word = true;
            }
            c if c.is_whitespace() && !is_quoted => {
                if is_word {
                    words.push(std::mem::take(&mut word));
                }
                is_word = false;
            }
            c => {
                is_word = true;
                word.push(c);
            }
        }
    }
    if is_word {
        words.push(word);
    }
    words
}

struct State {
    builder: TraceBuilder,
    process: ProcessId,
    track: Option<TrackId>,
}

impl State {
    fn line(&mut self, words: &[String]) -> Option<()> {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match *words.as_slice() {
            [] => {}
            ["process", key] => self.process = self.builder.process(key),
            ["resolution", ns] => self.builder.meta.resolution_ns = ns.parse().ok()?,
            ["thread", thread, family] => {
                let family = TrackFamily::from_text(family)?;
                self.track = Some(self.builder.track(TrackKey::thread(family, self.process, thread)));
            }
            [family @ ("stream" | "graph" | "sync" | "gpu_annotation"), at] => {
                let (number, stream) = at.split_once(':')?;
                let device = self.builder.device(number, number.parse().ok()?);
                let family = TrackFamily::from_text(family)?;
                let stream = Some(stream.parse().ok()?);
                let key = TrackKey::stream(family, self.process, device, None, stream);
                self.track = Some(self.builder.track(key));
            }
            ["counter", number, unit, name] => {
                let device = self.builder.device(number, number.parse().ok()?);
                let track = self.builder.track(TrackKey::counter(None, Some(device), name));
                self.builder.set_unit(track, Unit::from_text(unit)?);
                self.track = Some(track);
            }
            ["device", number, name, ref rest @ ..] => {
                let device = self.builder.device(number, number.parse().ok()?);
                let row = self.builder.device_mut(device);
                row.name = Some(name.to_owned());
                for setting in rest {
                    match setting.split_once('=')? {
                        ("sm", n) => row.sm_count = Some(n.parse().ok()?),
                        ("memory", n) => row.memory_bytes = Some(n.parse().ok()?),
                        ("dram", n) => row.dram_bytes_per_s = Some(n.parse().ok()?),
                        _ => return None,
                    }
                }
            }
            ["memory", number, time, delta, ref totals @ ..] => {
                let device = self.builder.device(number, number.parse().ok()?);
                let total = |idx: usize| totals.get(idx).and_then(|t| t.parse().ok());
                self.builder.push_memory_event(MemoryEvent {
                    time_ns: time.parse().ok()?,
                    device: Some(device),
                    process: Some(self.process),
                    addr: None,
                    delta_bytes: delta.parse().ok()?,
                    total_allocated_bytes: total(0),
                    total_reserved_bytes: total(1),
                });
            }
            ["mark", name, time] => {
                let name = self.builder.names.intern(name);
                self.builder.push_mark(self.track?, time.parse().ok()?, name);
            }
            ["flow", id, end @ ("from" | "to"), time] => {
                let (id, time_ns) = (id.parse().ok()?, time.parse().ok()?);
                let kind = crate::LinkKind::ForwardBackward;
                self.builder.push_flow_end(kind, id, end == "to", self.track?, time_ns);
            }
            [time, value] => {
                self.builder.push_counter(self.track?, time.parse().ok()?, value.parse().ok()?);
            }
            [kind, name, start, dur, ref rest @ ..] => self.slice(kind, name, start, dur, rest)?,
            _ => return None,
        }
        Some(())
    }

    fn slice(&mut self, kind_text: &str, name: &str, start: &str, dur: &str, rest: &[&str]) -> Option<()> {
        let copy_kind = CopyKind::from_text(kind_text).filter(|kind| *kind != CopyKind::Memset);
        let kind = if copy_kind.is_some() { SliceKind::Memcpy } else { SliceKind::from_text(kind_text)? };
        let correlation =
            rest.iter().find_map(|w| w.strip_prefix('#')).map_or(Some(0), |c| c.parse().ok())?;
        let name = self.builder.names.intern(name);
        let is_unclosed = rest.contains(&"unclosed");
        let row = self.builder.push_slice(SliceRow {
            track: self.track?,
            kind,
            flags: if is_unclosed { SliceFlags::UNCLOSED } else { SliceFlags::NONE },
            name,
            start_ns: start.parse().ok()?,
            dur_ns: dur.parse().ok()?,
            correlation,
            source_table: 0,
            source_row: 0,
        });
        let settings: Vec<(&str, &str)> = rest.iter().filter_map(|w| w.split_once('=')).collect();
        let setting = |key: &str| settings.iter().find(|s| s.0 == key).map(|s| s.1);
        let number = |key: &str| setting(key).and_then(|n| n.parse::<u64>().ok());
        let memory = |key: &str| setting(key).and_then(MemoryKind::from_text);
        match kind {
            SliceKind::Kernel => self.builder.push_kernel(
                row,
                Kernel {
                    grid: setting("grid").and_then(shape),
                    block: setting("block").and_then(shape),
                    registers: number("regs").map(|n| n as u32),
                    shared_bytes: number("shared").map(|n| n as u32),
                    graph_node_id: number("graph_node"),
                    graph_id: number("graph").map(|n| n as u32),
                    ..Kernel::default()
                },
            ),
            SliceKind::Memcpy | SliceKind::Memset => self.builder.push_copy(
                row,
                Copy {
                    kind: copy_kind.unwrap_or(CopyKind::Memset),
                    src: memory("src"),
                    dst: memory("dst"),
                    bytes: number("bytes"),
                    is_migration: false,
                },
            ),
            SliceKind::Op => self.op(row, setting),
            SliceKind::Api => {
                if let Some(error) = number("error") {
                    self.builder.push_api_error(row, error as i64);
                }
            }
            _ => {}
        }
        if let Some(domain) = setting("domain") {
            let domain = self.builder.names.intern(domain);
            self.builder.push_domain(row, domain);
        }
        if let Some(collective) = setting("collective") {
            let name = Some(self.builder.names.intern(collective));
            let group_size = number("group_size").map(|n| n as u32);
            let dtype = setting("dtype").map(|d| self.builder.names.intern(d));
            let (in_elements, out_elements) = (number("in"), number("out"));
            let row_value =
                Collective { name, dtype, in_elements, out_elements, group_size, ..Collective::default() };
            self.builder.push_collective(row, row_value);
        }
        Some(())
    }

    fn op<'t>(&mut self, row: RowIdx, setting: impl Fn(&str) -> Option<&'t str>) {
        let args = &mut self.builder.args;
        let mut text = |key: &str| setting(key).map(|t| args.intern_text(t));
        let (dims, types, strides, concrete) =
            (text("dims"), text("types"), text("strides"), text("concrete"));
        let args_row = ArgsRow { dims, types, strides, concrete };
        let args = (args_row != ArgsRow::default()).then(|| self.builder.args.intern(args_row));
        let sequence = setting("seq").and_then(|n| n.parse().ok());
        if args.is_some() || sequence.is_some() {
            self.builder.push_op(row, Op { args, sequence, forward_thread: None });
        }
    }
}

fn shape(text: &str) -> Option<[u32; 3]> {
    let mut sides = text.split('x').map(str::parse);
    let mut side = || sides.next()?.ok();
    Some([side()?, side()?, side()?])
}
