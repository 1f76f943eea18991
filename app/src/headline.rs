//! The answer in one line: how long a step takes and what it is made of; without steps, the window.
//!
//! "Busy" alone is a false sign of health (a device can be 99 % busy with 2 % compute), so the line always
//! has all four parts, and they add up to the whole exactly.

use tracecard_analyzers::{Analysis, Table};

use crate::format;

/// What a part of a device's time is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartKind {
    /// Kernels that are not communication.
    Compute,
    /// Communication that no compute covers.
    Communication,
    /// Copies that nothing covers.
    Copy,
    /// Nothing runs.
    Idle,
}

impl PartKind {
    /// The word in the line.
    pub fn label(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::Communication => "communication",
            Self::Copy => "copy",
            Self::Idle => "idle",
        }
    }
}

/// One line: a whole and its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Headline {
    /// What is divided: `Step on device 0`, `Window on device 1`.
    pub subject: String,
    /// Its length in ns.
    pub total_ns: i64,
    /// Its parts; they add up to the length.
    pub parts: Vec<(PartKind, i64)>,
    /// How much of the idle time waits for the host; `None` where it cannot be told.
    pub host_wait_ns: Option<i64>,
    /// What to know beside it: how many steps, the host's own pace.
    pub note: Option<String>,
}

impl Headline {
    /// `Step on device 0: 12.1 ms = compute 10.5 ms + communication 0.9 ms + copy 0.1 ms + idle 0.6 ms (host 0.4 ms)`.
    pub fn text(&self) -> String {
        let parts: Vec<String> = self
            .parts
            .iter()
            .map(|(kind, ns)| format!("{} {}", kind.label(), format::ns(*ns as f64)))
            .collect();
        let host =
            self.host_wait_ns.map(|ns| format!(" (host {})", format::ns(ns as f64))).unwrap_or_default();
        let note = self.note.as_deref().map(|note| format!("; {note}")).unwrap_or_default();
        format!("{}: {} = {}{host}{note}", self.subject, format::ns(self.total_ns as f64), parts.join(" + "))
    }

    /// The line without its note.
    pub fn sum_text(&self) -> String {
        Self { note: None, ..self.clone() }.text()
    }

    /// A part as a share of the whole, 0–1; `None` for an empty whole.
    pub fn frac(&self, part_ns: i64) -> Option<f64> {
        (0 < self.total_ns).then(|| part_ns as f64 / self.total_ns as f64)
    }
}

/// The typical step where the run has steps on a device, then the window of every device, the one with the
/// least compute first. Empty when no device did any work.
pub fn headlines(analysis: &Analysis) -> Vec<Headline> {
    let step = analysis.table("steps").and_then(step_headline);
    step.into_iter().chain(window_headlines(analysis)).collect()
}

fn step_headline(table: &Table) -> Option<Headline> {
    let ns = |column: &str| table.int(0, column);
    let device = ns("device")?;
    let count = ns("count")?;
    let mut note = format!("nearest the median of {}", format::counted(count.max(0) as usize, "step"));
    if let (Some(pace), Some(host_ns)) = (table.text(0, "host_pace"), ns("host_median_ns")) {
        note.push_str(&format!("; {pace}: its own step is {}", format::ns(host_ns as f64)));
    }
    Some(Headline {
        subject: format!("Step on device {device}"),
        total_ns: ns("typical_ns")?,
        parts: parts(ns)?,
        host_wait_ns: ns("idle_host_wait_ns"),
        note: Some(note),
    })
}

fn window_headlines(analysis: &Analysis) -> Vec<Headline> {
    let Some(table) = analysis.table("devices") else { return Vec::new() };
    let line = |row: usize| {
        let ns = |column: &str| table.int(row, column);
        let device = ns("device")?;
        let total_ns = ns("window_ns")?;
        let subject = format!("Window on device {device}");
        let host_wait_ns = analysis.table("idle_by_cause").and_then(|causes| host_wait_ns(causes, device));
        Some(Headline { subject, total_ns, parts: parts(ns)?, host_wait_ns, note: None })
    };
    let mut lines: Vec<Headline> = (0..table.n_rows()).filter_map(line).collect();
    // Stable: devices with equal compute stay in their own order.
    lines.sort_by_key(|line| line.parts.first().map(|part| part.1));
    lines
}

fn parts<'t>(ns: impl Fn(&'t str) -> Option<i64>) -> Option<Vec<(PartKind, i64)>> {
    Some(vec![
        (PartKind::Compute, ns("compute_ns")?),
        (PartKind::Communication, ns("exposed_comm_ns")?),
        (PartKind::Copy, ns("exposed_copy_ns")?),
        (PartKind::Idle, ns("idle_ns")?),
    ])
}

fn host_wait_ns(causes: &Table, device: i64) -> Option<i64> {
    let is_it = |row: &usize| {
        causes.int(*row, "device") == Some(device) && causes.text(*row, "cause") == Some("host_wait")
    };
    (0..causes.n_rows()).find(is_it).and_then(|row| causes.int(row, "ns"))
}

#[cfg(test)]
mod tests {
    use tracecard_analyzers::{Params, run_all};
    use tracecard_model::{Progress, fixture};

    use super::*;

    fn lines(text: &str) -> Vec<String> {
        let analysis = run_all(&fixture(text).unwrap(), &Params::default(), &Progress::new()).unwrap();
        headlines(&analysis).iter().map(Headline::text).collect()
    }

    #[test]
    fn without_steps_the_window_is_divided() {
        // 0..100: gemm 40, copy 20 of which 10 under the gemm, idle 100 − 50 = 50. The copy's launch ends
        // at 95, after the gap 50..100 began: the host was late.
        let text = "thread 1 api\n api a 0 1 #1\n api b 90 5 #2\nstream 0:7\n kernel gemm 0 40 #1\nstream 0:8\n h2d x 30 20\n\
                    stream 0:7\n kernel last 100 0 #2";
        let lines = lines(text);
        assert_eq!(lines.len(), 1);
        let expected =
            "Window on device 0: 100 ns = compute 40 ns + communication 0 ns + copy 10 ns + idle 50 ns";
        assert!(lines[0].starts_with(expected), "{}", lines[0]);
    }

    #[test]
    fn no_device_no_answer() {
        assert!(lines("thread 1 ops\n op a 0 10").is_empty());
    }
}
