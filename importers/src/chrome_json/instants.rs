//! Instants: allocations (`[memory]`), marks of the recording, marks on threads.

use tracecard_model::{MemoryEvent, Severity, TrackFamily};

use super::args;
use super::event::Event;
use super::mapper::{Mapper, device_number};
use super::number;
use super::scan::Value;

impl<'a> Mapper<'a, '_> {
    /// Add an event without a duration.
    pub(super) fn push_instant(&mut self, event: &Event<'a>) {
        let Some(time_ns) = self.time_ns(event) else { return };
        match event.name.bytes {
            b"[memory]" => self.push_memory(event, time_ns),
            name if name == b"Record Window End" || name.starts_with(b"Iteration Start: ") => {
                let name = self.text(event.name).into_owned();
                self.fragment.found.marks.push((time_ns, name));
            }
            _ => {
                let is_torch = event.category.bytes == b"cpu_instant_event";
                let family = if is_torch { TrackFamily::Ops } else { TrackFamily::Other };
                let track = self.thread_track(family, event);
                let name = self.name(event.name);
                self.fragment.builder.push_mark(track, time_ns, name);
            }
        }
    }

    fn push_memory(&mut self, event: &Event<'a>, time_ns: i64) {
        let find = |key: &[u8]| args::find(&event.args, key);
        let Some(delta_bytes) = number::integer(&find(b"Bytes")) else {
            let text = "allocations do not say how many bytes; they are left out";
            self.fragment.builder.issues.count(Severity::DataLoss, "memory_without_bytes", text, String::new);
            return;
        };
        // Torch's device types: 0 is the host, 1 CUDA, 6 HIP, others other accelerators.
        let is_host = number::integer(&find(b"Device Type")) == Some(0);
        let device_id = find(b"Device Id");
        let device = if is_host || number::count(&device_id).is_none() {
            None
        } else {
            let key = self.label(&device_id);
            Some(self.fragment.builder.device(&key, device_number(&key)))
        };
        let process = match event.pid {
            Value::Missing => None,
            pid => {
                let pid = self.label(&pid);
                Some(self.fragment.builder.process(&pid))
            }
        };
        let addr = number::id(&find(b"Addr")).map(i64::cast_unsigned);
        self.fragment.builder.push_memory_event(MemoryEvent {
            time_ns,
            device,
            process,
            addr,
            delta_bytes,
            total_allocated_bytes: number::integer(&find(b"Total Allocated")),
            total_reserved_bytes: number::integer(&find(b"Total Reserved")),
        });
    }
}
