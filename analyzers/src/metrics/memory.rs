//! Memory of a device over time, from allocations and frees.

use std::collections::BTreeMap;

use tracecard_model::{DeviceId, MemoryEvent, Trace};

use super::series::Steps;

/// Memory of a device.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// Bytes allocated; starts at 0 where the file states no totals.
    pub(crate) allocated: Option<Steps>,
    /// Bytes reserved; `None` where the file does not state them.
    pub(crate) reserved: Option<Steps>,
    /// Does the file state totals? Where not, only what the capture saw is counted.
    pub(crate) is_total: bool,
}

/// The memory of one device; several processes add up. O(n log p).
pub(crate) fn memory(trace: &Trace, device: DeviceId) -> Memory {
    let events: Vec<&MemoryEvent> =
        trace.memory_events.iter().filter(|event| event.device == Some(device)).collect();
    let is_total = events.iter().any(|event| event.total_allocated_bytes.is_some());
    let end_ns = trace.span().map_or(0, |run| run.end_ns);
    let allocated = sum_of(&events, end_ns, |event, now| match event.total_allocated_bytes {
        Some(total) => Some(total),
        None if is_total => None,
        None => Some(now.unwrap_or(0).saturating_add(event.delta_bytes)),
    });
    let reserved = sum_of(&events, end_ns, |event, _| event.total_reserved_bytes);
    Memory { allocated, reserved, is_total }
}

/// The sum over processes of a total that each event sets; events that say nothing leave it as it is.
fn sum_of(
    events: &[&MemoryEvent],
    end_ns: i64,
    total: impl Fn(&MemoryEvent, Option<i64>) -> Option<i64>,
) -> Option<Steps> {
    let mut of_process = BTreeMap::new();
    let mut sum = 0_i64;
    let mut steps = Steps::default();
    for event in events {
        let before = of_process.get(&event.process).copied();
        let Some(now) = total(event, before) else { continue };
        of_process.insert(event.process, now);
        sum = sum.saturating_add(now).saturating_sub(before.unwrap_or(0));
        steps.push_change(event.time_ns, sum as f64);
    }
    steps.last_ns = end_ns.max(steps.starts_ns.last().copied()?);
    Some(steps)
}

#[cfg(test)]
mod tests {
    use tracecard_model::fixture;

    use super::*;

    fn text(steps: Option<&Steps>) -> String {
        let step = |(t, v): (&i64, &f64)| format!("{t}:{v}");
        let Some(steps) = steps else { return "none".to_owned() };
        steps.starts_ns.iter().zip(&steps.values).map(step).collect::<Vec<_>>().join(" ")
    }

    fn check(lines: &str, allocated: &str, reserved: &str) {
        let memory = memory(&fixture(lines).unwrap(), DeviceId(0));
        assert_eq!(text(memory.allocated.as_ref()), allocated);
        assert_eq!(text(memory.reserved.as_ref()), reserved);
    }

    #[test]
    fn stated_totals_are_taken() {
        check("memory 0 10 4 104 200\nmemory 0 20 -4 100 200", "10:104 20:100", "10:200");
    }

    #[test]
    fn without_totals_what_the_capture_saw_is_counted() {
        check("memory 0 10 4\nmemory 0 20 6\nmemory 0 30 -4", "10:4 20:10 30:6", "none");
    }

    #[test]
    fn processes_add_up_and_other_devices_do_not() {
        check(
            "memory 0 10 4 4 8\nprocess 2\nmemory 0 20 6 6 10\nmemory 1 25 99 99 99\nprocess 1\nmemory 0 30 -4 0 8",
            "10:4 20:10 30:6",
            "10:8 20:18",
        );
    }

    #[test]
    fn no_events_no_tracks() {
        check("stream 0:7\n  kernel k 0 1", "none", "none");
    }
}
