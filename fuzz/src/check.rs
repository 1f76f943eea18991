//! Opens a made-up file as the program does: it must end, without a panic, in bounded memory.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use tracecard_importers::{ImportError, info, open};
use tracecard_model::{Progress, Span, Trace, dump};

/// Memory that reading any file may take beside what it holds: threads, buffers, 16 MiB for an event.
const ALWAYS_BYTES: u64 = 384 << 20;

/// What a packed file may unpack to: 200 times its size, and 64 MiB (the importers' own limit).
const UNPACKED_RATIO: u64 = 200;
const UNPACKED_BYTES: u64 = 64 << 20;

/// Write the bytes to a file and open it. Panics when the importers do, or when they take too much memory.
pub fn check(bytes: &[u8]) {
    let path = scratch();
    if std::fs::write(path, bytes).is_err() {
        return;
    }
    check_file(path, bytes.len() as u64);
}

/// Open a file that lies there already.
pub fn check_file(path: &Path, size_bytes: u64) {
    let before_bytes = start_of_peak();
    let _ = info(path);
    match open(path, &Progress::new()) {
        Ok(trace) => use_all(&trace),
        Err(error) => check_message(&error),
    }
    if let (Some(before_bytes), Some(peak_bytes)) = (before_bytes, peak_bytes()) {
        let taken_bytes = peak_bytes.saturating_sub(before_bytes);
        let limit_bytes = ALWAYS_BYTES + UNPACKED_BYTES + UNPACKED_RATIO * size_bytes;
        assert!(
            taken_bytes <= limit_bytes,
            "a file of {size_bytes} bytes took {taken_bytes} bytes of memory, more than {limit_bytes}"
        );
    }
}

/// Where the file lies: in memory where Linux offers that.
pub fn scratch() -> &'static Path {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| {
        let in_memory = Path::new("/dev/shm");
        let dir = if in_memory.is_dir() { in_memory.to_owned() } else { std::env::temp_dir() };
        dir.join(format!("tracecard-fuzz-{}", std::process::id()))
    })
}

/// Read all that a Trace holds as text, and all that would be drawn at three zooms.
fn use_all(trace: &Trace) {
    let text = dump(trace);
    let Some(span) = trace.span() else { return };
    assert!(!text.is_empty(), "a trace of some length has no text");
    let all_ns = span.end_ns.saturating_sub(span.start_ns).max(1);
    for track in (0..trace.tracks.len()).map(tracecard_model::TrackId::from_idx) {
        for row in trace.lod.rows(track) {
            for (window, min_ns) in
                [(span, 1), (span, all_ns / 100), (Span { end_ns: span.start_ns, ..span }, 1)]
            {
                row.visit(&trace.slices, window, min_ns, |mark| assert!(0 < mark.count));
            }
        }
    }
}

/// The user reads it, so it is one short sentence, and the path.
fn check_message(error: &ImportError) {
    let text = error.to_string();
    assert!(!text.is_empty());
    assert!(text.len() < 4096, "a message of {} bytes: {text:.200}", text.len());
}

/// Begin a new peak, and say what is held now; `None` where the system does not tell.
fn start_of_peak() -> Option<u64> {
    std::fs::write("/proc/self/clear_refs", "5").ok()?;
    status_bytes("VmRSS:")
}

fn peak_bytes() -> Option<u64> {
    status_bytes("VmHWM:")
}

fn status_bytes(key: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let value = status.lines().find_map(|line| line.strip_prefix(key))?;
    let kib: u64 = value.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}
