//! A Trace as stable text, for goldens: two importers that read the same run must give the same dump.

use std::fmt::Write;

use crate::{LinkKind, SliceFlags, StackId, Trace, TrackFamily};

/// Everything the Trace says, track by track, one line a slice; ids appear nowhere, so the text does not
/// change when rows elsewhere do. Personal data is not in the Trace and so not here. O(n).
pub fn dump(trace: &Trace) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = write_dump(trace, &mut out);
    out
}

fn write_dump(trace: &Trace, out: &mut String) -> std::fmt::Result {
    if let Some(start_unix_ns) = trace.meta.start_unix_ns {
        writeln!(out, "wall clock {start_unix_ns}")?;
    }
    // A process without a name says nothing that its tracks do not.
    let is_named = |process: &&crate::Process| process.name.is_some() || process.rank.is_some();
    let mut processes: Vec<_> = trace.processes.iter().filter(is_named).collect();
    processes.sort_by_key(|process| (process.os_pid.parse::<u64>().ok(), &process.key));
    for process in processes {
        write!(out, "process {}", process.os_pid)?;
        if let Some(name) = &process.name {
            write!(out, " {name:?}")?;
        }
        writeln!(out, "{}", process.rank.map_or_else(String::new, |rank| format!(" rank={rank}")))?;
    }
    let mut devices: Vec<_> = trace.devices.iter().collect();
    devices.sort_by_key(|device| device.number);
    for device in devices {
        writeln!(out, "device {} {:?} sm={:?}", device.number, device.name, device.sm_count)?;
    }
    for (idx, track) in trace.tracks.iter().enumerate() {
        let id = crate::TrackId::from_idx(idx);
        let has_marks = trace.marks.iter().any(|mark| mark.0 == id);
        let has_points = !trace.counters.of(id).0.is_empty() || !trace.samples.of(id).is_empty();
        if track.n_slices == 0 && !has_marks && !has_points {
            continue;
        }
        let process = track.key.process.and_then(|p| trace.processes.get(p.idx()));
        write!(out, "{} {:?}", track.key.family.text(), track.name)?;
        if let Some(process) = process {
            write!(out, " process={}", process.os_pid)?;
        }
        if let Some(device) = track.key.device.and_then(|d| trace.devices.get(d.idx())) {
            write!(out, " device={}", device.number)?;
        }
        if let Some(unit) = track.unit {
            write!(out, " unit={}", unit.text())?;
        }
        writeln!(out)?;
        if track.key.family == TrackFamily::Counter {
            let (times_ns, values) = trace.counters.of(id);
            for (time_ns, value) in times_ns.iter().zip(values) {
                writeln!(out, "  {time_ns} = {value}")?;
            }
        }
        for slice in trace.slices_on(id) {
            write_slice(trace, slice, out)?;
        }
        for sample in trace.samples.of(id) {
            write!(out, "  sample {}", sample.time_ns)?;
            if let Some(cpu) = sample.cpu {
                write!(out, " cpu={cpu}")?;
            }
            if let Some(stack) = sample.stack {
                write_stack(trace, stack, out)?;
            }
            writeln!(out)?;
        }
        for (_, time_ns, name) in trace.marks.iter().filter(|mark| mark.0 == id) {
            writeln!(out, "  mark {:?} {time_ns}", trace.names.text(name))?;
        }
    }
    for event in &trace.memory_events {
        let device = event.device.and_then(|d| trace.devices.get(d.idx())).map(|d| d.number);
        writeln!(out, "memory {} device={device:?} {:+}", event.time_ns, event.delta_bytes)?;
    }
    for issue in &trace.issues {
        writeln!(out, "issue {} {} ×{}", issue.severity.text(), issue.code, issue.count)?;
    }
    Ok(())
}

/// The frames of a stack, innermost first.
fn write_stack(trace: &Trace, stack: StackId, out: &mut String) -> std::fmt::Result {
    let mut separator = " stack=";
    for row in trace.stacks.frames(stack) {
        write!(out, "{separator}{}", trace.names.text(row.frame))?;
        if let Some(module) = row.module {
            write!(out, "@{}", trace.names.text(module))?;
        }
        separator = ";";
    }
    Ok(())
}

fn write_slice(trace: &Trace, slice: crate::SliceId, out: &mut String) -> std::fmt::Result {
    let slices = &trace.slices;
    let idx = slice.idx();
    let indent = "  ".repeat(1 + usize::from(slices.depth[idx]));
    let (kind, start_ns, dur_ns) = (slices.kind[idx].text(), slices.start_ns[idx], slices.dur_ns[idx]);
    write!(out, "{indent}{kind} {:?} {start_ns} +{dur_ns}", trace.name(slice))?;
    if slices.self_ns[idx] != dur_ns {
        write!(out, " self={}", slices.self_ns[idx])?;
    }
    if let Some(domain) = trace.domains.get(slice) {
        write!(out, " domain={:?}", trace.names.text(*domain))?;
    }
    if let Some(kernel) = trace.kernels.get(slice) {
        let shape =
            |s: Option<[u32; 3]>| s.map_or_else(|| "?".to_owned(), |[x, y, z]| format!("{x}x{y}x{z}"));
        write!(out, " grid={} block={}", shape(kernel.grid), shape(kernel.block))?;
        if let Some(registers) = kernel.registers {
            write!(out, " regs={registers}")?;
        }
        if let Some(bytes) = kernel.shared_bytes {
            write!(out, " shared={bytes}")?;
        }
    }
    if let Some(copy) = trace.copies.get(slice) {
        let memory = |m: Option<crate::MemoryKind>| m.map_or("?", crate::MemoryKind::text);
        write!(out, " {} {}->{}", copy.kind.text(), memory(copy.src), memory(copy.dst))?;
        if let Some(bytes) = copy.bytes {
            write!(out, " bytes={bytes}")?;
        }
    }
    if let Some(args) = trace.ops.get(slice).and_then(|op| op.args) {
        let dims = trace.args.get(args).dims;
        write!(out, " dims={}", dims.map_or("?", |dims| trace.args.text(dims)))?;
    }
    if let Some(stack) = trace.call_stacks.get(slice) {
        write_stack(trace, *stack, out)?;
    }
    if let Some(error) = trace.api_errors.get(slice) {
        write!(out, " error={error}")?;
    }
    if slices.flags[idx].has(SliceFlags::UNCLOSED) {
        write!(out, " unclosed")?;
    }
    if slices.flags[idx].has(SliceFlags::CROSSING) {
        write!(out, " crossing")?;
    }
    if let Some(launch) = trace.links.source(LinkKind::Launch, slice) {
        write!(out, " <- {:?} {}", trace.name(launch), slices.start_ns[launch.idx()])?;
    }
    if let Some(forward) = trace.links.source(LinkKind::ForwardBackward, slice) {
        write!(out, " backward-of {:?} {}", trace.name(forward), slices.start_ns[forward.idx()])?;
    }
    writeln!(out)
}
