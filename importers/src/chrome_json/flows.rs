//! Arrows. Forward → backward is kept; launch → kernel (`ac2g`) is not: correlation ids say the same, for
//! every kernel of a graph too, and name both ends exactly.

use tracecard_model::{LinkKind, TrackFamily};

use super::event::Event;
use super::mapper::Mapper;
use super::number;

impl<'a> Mapper<'a, '_> {
    /// Add one end of an arrow.
    pub(super) fn push_flow(&mut self, event: &Event<'a>) {
        // `forward_backward` up to torch 2.0.
        if !matches!(event.category.bytes, b"fwdbwd" | b"forward_backward") {
            return;
        }
        let Some(id) = number::id(&event.id) else { return };
        let Some(time_ns) = self.time_ns(event) else { return };
        let track = self.thread_track(TrackFamily::Ops, event);
        let is_target = event.phase == b'f';
        self.fragment.builder.push_flow_end(LinkKind::ForwardBackward, id, is_target, track, time_ns);
    }
}
