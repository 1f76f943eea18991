//! Files on which an importer once failed, or might: each must end without a panic, in bounded time and memory.
//!
//! They lie in `fuzz/found/`; `fuzz/README.md` says where they come from. Each is opened by a program of its
//! own, this one started again, for the peak of its memory is then its own, and an abort is only its own end.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use tracecard_importers::{info, open};
use tracecard_model::{Progress, dump};

/// Names the file that this program is to open.
const FILE_VARIABLE: &str = "TRACECARD_FOUND_FILE";

/// Far more than any of these small files takes, on a busy machine too.
const LONGEST: Duration = Duration::from_secs(20);

/// How often the memory is looked at meanwhile: a file that takes too much must not take all.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// What reading may take beside what the file holds: threads, buffers, a large event.
const ALWAYS_BYTES: u64 = 256 << 20;

/// What a packed file may unpack to, as the importers limit it: 200 times its size, and 64 MiB.
const UNPACKED_RATIO: u64 = 200;
const UNPACKED_BYTES: u64 = 64 << 20;

#[test]
fn found_files_end_without_a_panic() {
    let files = found();
    assert!(20 < files.len(), "only {} files", files.len());
    let program = std::env::current_exe().unwrap();
    for file in files {
        let output = Command::new(&program)
            .args(["--exact", "fuzz_found::the_named_file_ends", "--nocapture"])
            .env(FILE_VARIABLE, &file)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {}\n{text}", file.display(), output.status);
    }
}

#[test]
fn the_named_file_ends() {
    let Some(file) = std::env::var_os(FILE_VARIABLE).map(PathBuf::from) else { return };
    // A panic in any thread counts, even one that somebody catches.
    std::panic::set_hook(Box::new(|panic| {
        eprintln!("{panic}");
        std::process::exit(101);
    }));
    let size_bytes = std::fs::metadata(&file).unwrap().len();
    let limit_bytes = ALWAYS_BYTES + UNPACKED_BYTES + UNPACKED_RATIO * size_bytes;
    let check_memory = || {
        let peak_bytes = peak_bytes().unwrap_or(0);
        assert!(peak_bytes <= limit_bytes, "{peak_bytes} bytes of memory, more than {limit_bytes}");
    };
    let (done, is_done) = mpsc::channel();
    let begun = Instant::now();
    let work = std::thread::spawn(move || {
        let _ = info(&file);
        match open(&file, &Progress::new()) {
            Ok(trace) => assert!(!dump(&trace).is_empty()),
            Err(error) => assert!(error.to_string().len() < 4096, "a long message: {error}"),
        }
        done.send(()).unwrap();
    });
    while is_done.recv_timeout(BETWEEN_LOOKS).is_err() {
        assert!(begun.elapsed() < LONGEST, "it takes longer than {LONGEST:?}");
        check_memory();
    }
    work.join().unwrap();
    check_memory();
}

/// All files, in the order of their names.
fn found() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/found");
    let list = |dir: &Path| -> Vec<PathBuf> {
        std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect()
    };
    let mut files: Vec<PathBuf> = list(&root).iter().flat_map(|target| list(target)).collect();
    files.sort();
    files
}

/// The most memory that this program held so far; `None` where the system does not tell.
fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let value = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = value.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}
