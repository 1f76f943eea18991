//! Counters (`C`): one track for each number of their `args`, in the model's units.

use tracecard_model::{Severity, TrackKey, Unit};

use super::event::Event;
use super::mapper::{Mapper, device_number};
use super::number;

impl<'a> Mapper<'a, '_> {
    /// Add the samples of a counter event.
    pub(super) fn push_counter(&mut self, event: &Event<'a>) {
        let Some(time_ns) = self.time_ns(event) else { return };
        let name = self.text(event.name);
        let pid = self.label(&event.pid);
        let device = device_of_counter(&pid, &name);
        let builder = &mut self.fragment.builder;
        let (process, device) = match device {
            Some(number) => (None, Some(builder.device(&number.to_string(), number))),
            None => (Some(builder.process(&pid)), None),
        };
        for (key, value) in &event.args {
            let key = self.text(*key);
            let label =
                if key.is_empty() || key == name { name.to_string() } else { format!("{name} {key}") };
            let builder = &mut self.fragment.builder;
            let Some(value) = number::real(value) else {
                let text = "counter samples are not numbers; they are left out";
                builder.issues.count(Severity::Warning, "counter_not_a_number", text, || label);
                continue;
            };
            let (unit, scale) = unit(&label);
            let track = builder.track(TrackKey::counter(process, device, label));
            builder.set_unit(track, unit);
            builder.push_counter(track, time_ns, value * scale);
        }
    }
}

/// Kineto and Cuspy put hardware counters into a process `GPU 0 Counters`; the TensorBoard plugin calls the
/// counter `GPU 0 Utilization`.
fn device_of_counter(pid: &str, name: &str) -> Option<u32> {
    let number = |text: &str| {
        let word = text.strip_prefix("GPU ")?.split_ascii_whitespace().next()?;
        word.bytes().all(|b| b.is_ascii_digit()).then(|| device_number(word))
    };
    number(pid).or_else(|| number(name))
}

/// The unit that a counter's name ends with or holds in parentheses, and what takes its values to ours.
fn unit(label: &str) -> (Unit, f64) {
    let word = match label.rsplit_once('(').and_then(|(_, rest)| rest.split_once(')')) {
        Some((unit, _)) => unit.trim(),
        None => label.rsplit(' ').next().unwrap_or_default(),
    };
    match word {
        "%" => (Unit::Frac, 0.01),
        // The TensorBoard plugin writes shares of 1.
        "Utilization" | "Efficiency" if label.starts_with("GPU ") => (Unit::Frac, 1.0),
        "GB/s" | "GBps" => (Unit::BytesPerS, 1e9),
        "MB/s" | "MBps" => (Unit::BytesPerS, 1e6),
        "B/s" | "bytes/s" => (Unit::BytesPerS, 1.0),
        "GHz" => (Unit::Hz, 1e9),
        "MHz" => (Unit::Hz, 1e6),
        "Hz" => (Unit::Hz, 1.0),
        "W" | "Watts" | "watts" => (Unit::W, 1.0),
        "mW" => (Unit::W, 1e-3),
        "C" | "°C" | "Celsius" => (Unit::C, 1.0),
        "bytes" | "Bytes" | "B" => (Unit::Bytes, 1.0),
        "KB" | "kB" => (Unit::Bytes, 1e3),
        "MB" => (Unit::Bytes, 1e6),
        "GB" => (Unit::Bytes, 1e9),
        "KiB" => (Unit::Bytes, 1024.0),
        "MiB" => (Unit::Bytes, 1024.0 * 1024.0),
        "GiB" => (Unit::Bytes, 1024.0 * 1024.0 * 1024.0),
        word if word.ends_with('%') => (Unit::Frac, 0.01),
        _ => (Unit::Count, 1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_come_from_names() {
        for (label, expected) in [
            ("SM Active (%)", (Unit::Frac, 0.01)),
            ("GPU 0 Utilization", (Unit::Frac, 1.0)),
            ("GPU 0 Est. SM Efficiency", (Unit::Frac, 1.0)),
            ("Power (W)", (Unit::W, 1.0)),
            ("Temperature (C)", (Unit::C, 1.0)),
            ("SM Clock (MHz)", (Unit::Hz, 1e6)),
            ("DRAM read GB/s", (Unit::BytesPerS, 1e9)),
            ("heap bytes", (Unit::Bytes, 1.0)),
            ("NVLink RX", (Unit::Count, 1.0)),
            ("", (Unit::Count, 1.0)),
        ] {
            assert_eq!(unit(label), expected, "{label}");
        }
    }

    #[test]
    fn devices_come_from_the_process_or_the_name() {
        assert_eq!(device_of_counter("GPU 3 Counters", "Power (W)"), Some(3));
        assert_eq!(device_of_counter("0", "GPU 1 Utilization"), Some(1));
        assert_eq!(device_of_counter("123", "GPU Utilization"), None);
        assert_eq!(device_of_counter("123", "queue length"), None);
    }
}
