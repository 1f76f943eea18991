//! What can only be decided when the whole file was read: which slices have no time, where unfinished ones end,
//! which process launched what a device did, what time 0 is.

use std::path::Path;

use rustc_hash::FxHashMap;
use tracecard_model::{Kernel, ProcessId, TraceBuilder, TrackFamily, TrackKey};

use super::fragment::{Found, Fragment};
use super::members::Members;
use super::{names, pairs, version};

/// Slices at 0 are without a time if everything else begins later than this.
const FAR_FROM_ZERO_NS: i64 = 1_000_000_000;

/// Times from here on count from 1970 (2001-01-01): no clock that starts at boot gets there.
const ABSOLUTE_FROM_NS: i64 = 978_307_200 * 1_000_000_000;

/// Finish the trace of the whole file.
pub(super) fn settle(whole: &mut Fragment, path: &Path) {
    settle_zero(whole);
    let Fragment { builder, found } = whole;
    pairs::join(found, builder);
    if let Some((_, end_ns)) = found.span_ns {
        for row in &found.endless {
            if let Some(slice) = builder.slice_mut(*row) {
                slice.dur_ns = end_ns.saturating_sub(slice.start_ns).max(0);
            }
        }
    }
    borrow_launch_shapes(found, builder);
    names::apply(found, builder);
    let main = builder.adopt_device_tracks();
    let members = Members::new(found, &mut builder.issues);
    members.apply_devices(builder);
    if let (Some(process), Some(rank)) = (main, members.rank.or_else(|| rank_of_name(path))) {
        builder.process_mut(process).rank = Some(rank);
    }
    push_marks(found, builder, main);

    let meta = &mut builder.meta;
    let is_absolute = found.span_ns.is_some_and(|(start_ns, _)| ABSOLUTE_FROM_NS <= start_ns);
    meta.start_unix_ns = if is_absolute { Some(0) } else { members.base_time_ns };
    meta.resolution_ns = if found.has_ns || found.span_ns.is_none() { 1 } else { 1000 };
    meta.tool = version::tool(&members.keys, found.signs, found.has_ns);
    meta.properties = members.properties;
    if let Some(recorded_ns) = found.recorded_ns {
        meta.properties.push(("recorded_ns".to_owned(), recorded_ns.to_string()));
    }
    builder.zero_at_first_slice = true;
}

/// Torch 2.12 wrote whole halves of traces with `"ts": 0.000`: such events are counted and taken back, unless
/// the trace really begins about 0.
fn settle_zero(whole: &mut Fragment) {
    let at_zero = std::mem::take(&mut whole.found.at_zero);
    let is_far = whole.found.span_ns.is_some_and(|(start_ns, _)| FAR_FROM_ZERO_NS < start_ns);
    if !is_far {
        for row in at_zero {
            if let Some(slice) = whole.builder.slice_mut(row) {
                let end_ns = slice.dur_ns;
                whole.found.widen(0, end_ns);
            }
        }
        return;
    }
    let mut example = None;
    for row in &at_zero {
        if let Some(slice) = whole.builder.slice_mut(*row) {
            let name = slice.name;
            example = example.or(Some(name));
        }
        whole.builder.withdraw_slice(*row);
    }
    whole.found.endless.retain(|row| at_zero.binary_search(row).is_err());
    let example = example.map(|name| whole.builder.names.text(name).to_owned());
    let n_marks = whole.found.marks.len();
    whole.found.marks.retain(|(time_ns, _)| *time_ns != 0);
    let n_instants = whole.builder.withdraw_instants_at(0) + (n_marks - whole.found.marks.len()) as u64;
    whole.count_without_time(at_zero.len() as u64 + n_instants, || example.unwrap_or_default());
}

/// ROCm writes grid and block on the launch; the kernel gets them through the correlation id.
fn borrow_launch_shapes(found: &mut Found, builder: &mut TraceBuilder) {
    let shapes: FxHashMap<i64, Kernel> = std::mem::take(&mut found.launch_shapes).into_iter().collect();
    for (correlation, row) in std::mem::take(&mut found.shapeless) {
        if let Some(kernel) = shapes.get(&correlation) {
            builder.push_kernel(row, *kernel);
        }
    }
}

/// Instants of the recording go to the main thread of the process that owns it.
fn push_marks(found: &mut Found, builder: &mut TraceBuilder, main: Option<ProcessId>) {
    let Some(main) = main else { return };
    let key = builder.process_mut(main).key.clone();
    let mut threads = found.op_threads.iter().filter(|(pid, _)| *pid == key).map(|(_, tid)| tid);
    let first = threads.clone().next();
    let Some(thread) = threads.find(|tid| **tid == key).or(first) else { return };
    let track = builder.track(TrackKey::thread(TrackFamily::Ops, main, thread.as_str()));
    for (time_ns, name) in std::mem::take(&mut found.marks) {
        let name = builder.names.intern(&name);
        builder.push_mark(track, time_ns, name);
    }
}

/// The rank in `trace_rank_3.json` or `rank-0.Apr_03.pt.trace.json`, for files that do not state it.
fn rank_of_name(path: &Path) -> Option<u32> {
    let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
    let (_, after) = name.split_once("rank")?;
    let digits = after.strip_prefix(['-', '_']).unwrap_or(after);
    let n_digits = digits.bytes().take_while(u8::is_ascii_digit).count();
    digits.get(..n_digits)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_found_in_file_names() {
        for (name, rank) in [
            ("rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz", Some(0)),
            ("/tmp/run/trace_rank12.json", Some(12)),
            ("Rank_3.json", Some(3)),
            ("rank_unknown.json", None),
            ("/rank_1/trace.json", None),
        ] {
            assert_eq!(rank_of_name(Path::new(name)), rank, "{name}");
        }
    }
}
