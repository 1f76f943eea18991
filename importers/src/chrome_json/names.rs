//! Names of processes, threads and streams (`M` events), in any position and repeated at will.

use tracecard_model::{TraceBuilder, TrackFamily, TrackKey};

use super::args;
use super::event::Event;
use super::fragment::Found;
use super::mapper::{Mapper, stream_id};
use super::scan::{RawStr, Value};

impl<'a> Mapper<'a, '_> {
    /// Keep a name. Sort indexes and labels add nothing: order and device follow from the events.
    pub(super) fn push_metadata(&mut self, event: &Event<'a>) {
        let Some(name) = args::text(&args::find(&event.args, b"name")) else { return };
        let name = self.text(name).trim().to_owned();
        let pid = self.label(&event.pid).into_owned();
        match event.name.bytes {
            b"process_name" => {
                self.fragment.found.process_names.insert(pid, name);
            }
            b"thread_name" => {
                let tid = self.label(&event.tid).into_owned();
                self.fragment.found.thread_names.insert((pid, tid), name);
            }
            _ => {}
        }
    }
}

/// Give the names to the processes, threads and streams that have slices. Call before streams have a process.
pub(super) fn apply(found: &Found, builder: &mut TraceBuilder) {
    for (pid, name) in &found.process_names {
        if let Some(process) = builder.find_process(pid) {
            builder.process_mut(process).name = Some(name.clone());
        }
    }
    for ((pid, tid), name) in &found.thread_names {
        if let Some(process) = builder.find_process(pid) {
            // Windows has no thread names: `thread 18184 ()`.
            builder.set_thread_name(process, tid, name.strip_suffix(" ()").unwrap_or(name));
        }
        let stream = stream_id(&Value::Text(RawStr { bytes: tid.as_bytes(), has_backslash: false }));
        if let (Some(device), false) = (builder.find_device(pid), is_plain_stream_name(name)) {
            let key = TrackKey {
                family: TrackFamily::Stream,
                process: None,
                thread: None,
                device: Some(device),
                context: None,
                stream,
                label: None,
            };
            if let Some(track) = builder.find_track(&key) {
                builder.set_track_name(track, name.as_str());
            }
        }
    }
}

/// `stream 7`, `stream 7 context`, `stream 7 (sync)`: says nothing that the number does not.
fn is_plain_stream_name(name: &str) -> bool {
    let mut words = name.split_ascii_whitespace();
    words.next().is_some_and(|word| word.eq_ignore_ascii_case("stream"))
        && words.next().is_some_and(|word| word.bytes().all(|b| b.is_ascii_digit()))
        && matches!(words.next(), None | Some("context" | "(sync)"))
}
