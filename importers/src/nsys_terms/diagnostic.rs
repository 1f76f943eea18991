//! Messages of the profiler about its own capture, turned into issues.

use tracecard_model::Severity;

/// What a message means for the Trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Diagnosis {
    /// Code of the issue.
    pub(crate) code: &'static str,
    /// How much it can spoil.
    pub(crate) severity: Severity,
    /// What it means, for the user.
    pub(crate) text: &'static str,
    /// How many things are affected: the number in the message where it has one, else 1.
    pub(crate) count: u64,
}

/// Known messages: (a part of it, code, severity, meaning). The first that fits counts.
const KNOWN: &[(&str, &str, Severity, &str)] = &[
    (
        "incomplete CUPTI events dropped",
        "cupti_events_dropped",
        Severity::DataLoss,
        "device work that had not finished when the capture stopped was dropped",
    ),
    (
        "CUPTI events might be missing",
        "cupti_events_missing",
        Severity::DataLoss,
        "the profiler says that device work may be missing",
    ),
    (
        "OpenGL events might be missing",
        "opengl_not_traced",
        Severity::Info,
        "OpenGL could not be traced in full; CUDA is not affected",
    ),
    (
        "events might have been collected",
        "events_not_all_collected",
        Severity::DataLoss,
        "the profiler says that not all events were collected",
    ),
    (
        "events might be missing",
        "events_not_all_collected",
        Severity::DataLoss,
        "the profiler says that not all events were collected",
    ),
    (
        "ActivityFlushAll returned",
        "cupti_flush_failed",
        Severity::DataLoss,
        "the profiler could not fetch its device records; device work may be missing",
    ),
    (
        "CUDA profiling might have not been started correctly",
        "cuda_profiling_not_started",
        Severity::Warning,
        "CUDA profiling may not have started in a process; its device work would be missing",
    ),
    (
        "No CUDA events collected",
        "no_cuda_events",
        Severity::Info,
        "no CUDA events were collected in a process; helper processes often use none",
    ),
    (
        "CUDA driver version",
        "cuda_driver_too_new",
        Severity::Warning,
        "the CUDA driver is newer than the profiler supports; records may be missing or wrong",
    ),
    (
        "Unified Memory cannot be traced",
        "unified_memory_not_traced",
        Severity::Warning,
        "unified-memory migrations could not be traced on a device",
    ),
    (
        "Scheduling information is absent",
        "no_scheduling_information",
        Severity::Info,
        "thread scheduling was not recorded",
    ),
    (
        "perf event paranoid level",
        "cpu_sampling_not_allowed",
        Severity::Info,
        "CPU sampling was not allowed by the system (perf_event_paranoid)",
    ),
    (
        "CUDA hardware tracing is not supported",
        "software_cuda_trace",
        Severity::Info,
        "CUDA was traced in software, which costs more overhead a launch than hardware tracing",
    ),
    (
        "No NVTX events collected",
        "no_nvtx_events",
        Severity::Info,
        "no NVTX ranges were recorded, though the profiler looked for them",
    ),
    (
        "events collected. Does the process use",
        "no_events_of_a_kind",
        Severity::Info,
        "nothing was recorded of something that the profiler looked for",
    ),
];

/// What a message means; `None` for the many that only say that all went well. `level` is 1 for notes,
/// 2 for warnings, 3 for errors.
pub(crate) fn diagnose(level: Option<i64>, message: &str) -> Option<Diagnosis> {
    if let Some((_, code, severity, text)) = KNOWN.iter().find(|(part, ..)| message.contains(part)) {
        let count = if message.contains("dropped:") { first_number(message) } else { None };
        let count = count.unwrap_or(1);
        return (0 < count).then_some(Diagnosis { code, severity: *severity, text, count });
    }
    let (code, severity, text) = match level {
        Some(3) => ("profiler_error", Severity::Warning, "the profiler reported errors of its own"),
        Some(2) => ("profiler_warning", Severity::Warning, "the profiler reported warnings of its own"),
        _ => return None,
    };
    Some(Diagnosis { code, severity, text, count: 1 })
}

/// The message on one line, up to the first word that may tell a user or a host: a path (which may have
/// blanks), a setting, what follows the word "host".
pub(crate) fn without_paths(message: &str) -> String {
    let is_told = |word: &&str| {
        let is_path = word.contains('\\') || word.starts_with(['/', '~']) || 1 < word.matches('/').count();
        is_path || word.contains(['=', '@']) || word.eq_ignore_ascii_case("host")
    };
    let mut words: Vec<&str> = message.split_whitespace().take_while(|word| !is_told(word)).collect();
    if words.len() < message.split_whitespace().count() {
        words.push("…");
    }
    words.join(" ")
}

fn first_number(message: &str) -> Option<u64> {
    let digits = message.split(|c: char| !c.is_ascii_digit()).find(|part| !part.is_empty())?;
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_are_counted_and_chatter_is_not() {
        let lost =
            diagnose(Some(1), "Number of incomplete CUPTI events dropped: 2. Incomplete events appear when");
        assert_eq!(
            lost.map(|d| (d.code, d.count, d.severity)),
            Some(("cupti_events_dropped", 2, Severity::DataLoss))
        );
        assert_eq!(diagnose(Some(1), "Number of CUPTI events produced: \t30, CUPTI buffers: 50."), None);
        assert_eq!(diagnose(Some(2), "Something new").map(|d| d.code), Some("profiler_warning"));
        let nvtx = diagnose(Some(2), "Not all NVTX events might have been collected.");
        assert_eq!(nvtx.map(|d| d.code), Some("events_not_all_collected"));
    }

    #[test]
    fn paths_do_not_tell_users() {
        assert_eq!(without_paths("Loaded\n the\t/home/me/nsight/lib.so.12 now"), "Loaded the …");
        assert_eq!(without_paths(r"Cannot open C:\Users\John Smith\x.dll"), "Cannot open …");
        assert_eq!(without_paths("Lost contact to host ALICE-PC; HOME=/home/alice"), "Lost contact to …");
        assert_eq!(without_paths("No CPU IP/backtrace samples"), "No CPU IP/backtrace samples");
    }
}
