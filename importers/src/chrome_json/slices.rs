//! Complete events (`X`) → slices, with what their `args` say.

use tracecard_model::{
    ArgsRow, Collective, NameId, Op, RowIdx, Severity, SliceFlags, SliceKind, SliceRow, TrackFamily, TrackId,
};

use super::args::{self, CollectiveArgs, DeviceArgs, OpArgs};
use super::categories::{Category, category};
use super::copy;
use super::event::Event;
use super::mapper::{Mapper, raw};
use super::number;
use super::scan::Value;
use super::string::compact;

/// Longer slices are taken for a broken duration: no capture lasts a month.
const MAX_DUR_NS: i64 = 30 * 24 * 3600 * 1_000_000_000;

impl<'a> Mapper<'a, '_> {
    /// Add an event with a start and a duration.
    pub(super) fn push_slice(&mut self, event: &Event<'a>, offset: i64) {
        let category = match category(event.category.bytes) {
            Category::Other if event.category.bytes.is_empty() => self.legacy_category(event),
            category => category,
        };
        match category {
            Category::Recording => self.push_recording(event),
            Category::Op | Category::Annotation => self.push_op(event, category, offset),
            Category::Python => {
                self.push_on_thread(event, TrackFamily::Python, SliceKind::Python, 0, offset);
            }
            Category::Overhead => {
                self.push_on_thread(event, TrackFamily::Overhead, SliceKind::Overhead, 0, offset);
            }
            Category::Other => {
                self.push_on_thread(event, TrackFamily::Other, SliceKind::Other, 0, offset);
            }
            Category::Api => self.push_call(event, offset),
            Category::Kernel
            | Category::Memcpy
            | Category::Memset
            | Category::GpuAnnotation
            | Category::Sync
            | Category::Mtia => self.push_on_stream(event, category, offset),
        }
    }

    /// `torch.autograd.profiler` writes no categories, and says by the process what ran where.
    fn legacy_category(&mut self, event: &Event<'a>) -> Category {
        match raw(&event.pid) {
            b"CPU functions" => {
                self.fragment.found.signs.has_cpu_functions = true;
                Category::Op
            }
            b"CUDA functions" => Category::Kernel,
            _ => Category::Other,
        }
    }

    /// The span of the recording: an instant, so that it does not stretch the trace.
    fn push_recording(&mut self, event: &Event<'a>) {
        let Some(start_ns) = self.time_ns(event) else { return };
        let name = self.text(event.name).into_owned();
        let found = &mut self.fragment.found;
        found.marks.push((start_ns, name));
        found.recorded_ns = number::ns(&event.dur).or(found.recorded_ns);
    }

    fn push_op(&mut self, event: &Event<'a>, category: Category, offset: i64) {
        let found = &mut self.fragment.found;
        found.signs.has_operator |= event.category.bytes == b"Operator";
        let args = OpArgs::new(&event.args, &mut found.signs);
        // Steps were operators up to torch 1.11.
        let is_annotation =
            category == Category::Annotation || event.name.bytes.starts_with(b"ProfilerStep#");
        let kind = if is_annotation { SliceKind::Annotation } else { SliceKind::Op };
        let Some(row) = self.push_on_thread(event, TrackFamily::Ops, kind, 0, offset) else { return };
        if args.is_unfinished {
            self.flag_unclosed(row);
        }
        let texts = [args.dims, args.types, args.strides, args.concrete];
        let has_args = texts.iter().any(Option::is_some);
        if has_args || args.sequence.is_some() || args.forward_thread.is_some() {
            let [dims, types, strides, concrete] = texts.map(|text| text.map(|text| self.args_text(text)));
            let set = ArgsRow { dims, types, strides, concrete };
            let args_id = has_args.then(|| self.fragment.builder.args.intern(set));
            let op = Op { args: args_id, sequence: args.sequence, forward_thread: args.forward_thread };
            self.fragment.builder.push_op(row, op);
        }
        self.push_collective(row, &args.collective);
    }

    fn args_text(&mut self, text: &[u8]) -> NameId {
        let text = compact(text, &mut self.buffer);
        self.fragment.builder.args.intern_text(&text)
    }

    fn push_call(&mut self, event: &Event<'a>, offset: i64) {
        let correlation = args::correlation(&event.args);
        self.push_on_thread(event, TrackFamily::Api, SliceKind::Api, correlation, offset);
        if correlation != 0 && event.args.iter().any(|(key, _)| key.bytes == b"grid") {
            // ROCm tells the launch shape only here.
            let args = DeviceArgs::new(&event.args);
            self.fragment.found.launch_shapes.push((correlation, args.kernel));
        }
    }

    fn push_on_stream(&mut self, event: &Event<'a>, category: Category, offset: i64) {
        let args = DeviceArgs::new(&event.args);
        let category = if category == Category::Mtia { mtia_category(event.name.bytes) } else { category };
        let (family, kind) = match category {
            Category::Memcpy => (TrackFamily::Stream, SliceKind::Memcpy),
            Category::Memset => (TrackFamily::Stream, SliceKind::Memset),
            Category::GpuAnnotation => (TrackFamily::GpuAnnotation, SliceKind::GpuAnnotation),
            Category::Sync => (TrackFamily::Sync, SliceKind::Sync),
            _ => (TrackFamily::Stream, SliceKind::Kernel),
        };
        let stream = if args.stream == Value::Missing { event.tid } else { args.stream };
        let track = self.stream_track(family, event, args.device, stream);
        let Some(row) = self.push_row(event, track, kind, args.correlation, offset) else { return };
        let builder = &mut self.fragment.builder;
        match category {
            Category::Kernel if args.has_shape() || args.kernel.graph_id.is_some() => {
                builder.push_kernel(row, args.kernel);
            }
            Category::Kernel if args.correlation != 0 => {
                self.fragment.found.shapeless.push((args.correlation, row));
            }
            Category::Memcpy => builder.push_copy(row, copy::copy(event.name.bytes, &args)),
            Category::Memset => builder.push_copy(row, copy::memset(event.name.bytes, &args)),
            _ => {}
        }
        self.push_collective(row, &args.collective);
    }

    fn push_collective(&mut self, row: RowIdx, args: &CollectiveArgs<'a>) {
        if args.name.is_none() && args.in_elements.is_none() && args.out_elements.is_none() {
            return;
        }
        let [name, dtype, group] =
            [args.name, args.dtype, args.group].map(|text| text.map(|text| self.name(text)));
        let collective = Collective {
            name,
            dtype,
            group,
            in_elements: args.in_elements,
            out_elements: args.out_elements,
            group_size: args.group_size,
            sequence: args.sequence,
            bytes: None,
        };
        self.fragment.builder.push_collective(row, collective);
    }

    fn push_on_thread(
        &mut self,
        event: &Event<'a>,
        family: TrackFamily,
        kind: SliceKind,
        correlation: i64,
        offset: i64,
    ) -> Option<RowIdx> {
        let track = self.thread_track(family, event);
        self.push_row(event, track, kind, correlation, offset)
    }

    fn push_row(
        &mut self,
        event: &Event<'a>,
        track: TrackId,
        kind: SliceKind,
        correlation: i64,
        offset: i64,
    ) -> Option<RowIdx> {
        let start_ns = self.time_ns(event)?;
        let name = self.name(event.name);
        let (dur_ns, is_known) = self.dur_ns(event, start_ns);
        let flags = SliceFlags::NONE;
        let row = SliceRow {
            track,
            kind,
            flags,
            name,
            start_ns,
            dur_ns,
            correlation,
            source_table: 0,
            source_row: offset,
        };
        let row = self.fragment.builder.push_slice(row);
        let found = &mut self.fragment.found;
        found.has_ns |= dur_ns % 1000 != 0;
        if start_ns == 0 {
            found.at_zero.push(row);
        } else {
            found.widen(start_ns, start_ns.saturating_add(dur_ns));
        }
        if !is_known {
            self.flag_unclosed(row);
            // Work of a device that never ended would drown every sum; a call that never returned did last.
            if !kind.is_device_work() {
                self.fragment.found.endless.push(row);
            }
        }
        Some(row)
    }

    /// The duration, and whether the slice has ended with it.
    fn dur_ns(&mut self, event: &Event<'a>, start_ns: i64) -> (i64, bool) {
        let issues = &mut self.fragment.builder.issues;
        let name = || String::from_utf8_lossy(event.name.bytes).into_owned();
        match number::ns(&event.dur) {
            Some(dur_ns @ 0..=MAX_DUR_NS) if start_ns.checked_add(dur_ns).is_some() => (dur_ns, true),
            None if event.dur == Value::Missing => {
                let text = "slices have no duration; they are taken as instants";
                issues.count(Severity::Warning, "events_without_duration", text, name);
                (0, true)
            }
            _ => {
                let text = "durations are negative or longer than a month; on the host such slices end with the trace, \
                            on a device they count nothing";
                issues.count(Severity::Warning, "impossible_durations", text, name);
                (0, false)
            }
        }
    }

    fn flag_unclosed(&mut self, row: RowIdx) {
        if let Some(slice) = self.fragment.builder.slice_mut(row) {
            slice.flags = slice.flags.with(SliceFlags::UNCLOSED);
        }
    }
}

/// MTIA devices report copies and waits beside programs.
fn mtia_category(name: &[u8]) -> Category {
    match name {
        b"dma_request" => Category::Memcpy,
        name if name.windows(4).any(|w| w == b"wait" || w == b"sync") => Category::Sync,
        _ => Category::Kernel,
    }
}
