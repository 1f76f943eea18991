//! The importer on tiny databases made here: SQL in, dump out.

mod cuda;
mod files;
mod host;
mod machine;
mod nvtx;
mod payloads;
mod schemas;
mod troubles;

use std::path::{Path, PathBuf};

use rusqlite::Connection;
use tempfile::TempDir;
use tracecard_model::{LinkKind, Progress, Severity, SliceFlags, Trace, dump};

use crate::{ImportError, info, open};

/// What most tests need: names, one process, one thread.
const BASE: &str = "
    CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
    INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel_v7000'), (2, 'void gemm<float>(int)'), (3, 'gemm'),
        (4, 'cudaDeviceSynchronize_v3020'), (5, 'main thread'), (6, 'cudaEventQuery_v3020'), (7, 'poll');
    CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);
    INSERT INTO PROCESSES VALUES (281474976710656 + (10 << 24), 10, '/home/me/bin/train');
    CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER,
        globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER);
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER,
        contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER,
        shortName INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER,
        blockZ INTEGER, registersPerThread INTEGER, staticSharedMemory INTEGER, dynamicSharedMemory INTEGER);
    CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER,
        text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER);
";

/// Process 10 of VM 1, and its main thread.
const PID: i64 = (1 << 48) + (10 << 24);
const TID: i64 = PID + 10;

fn write(dir: &TempDir, name: &str, sql: &str) -> PathBuf {
    let path = dir.path().join(name);
    let connection = Connection::open(&path).unwrap();
    // Serialized ids by name keep the statements short.
    let sql = sql.replace("$PID", &PID.to_string()).replace("$TID", &TID.to_string());
    connection.execute_batch(&sql).unwrap();
    path
}

fn import(sql: &str) -> Trace {
    let dir = TempDir::new().unwrap();
    open(&write(&dir, "t.sqlite", sql), &Progress::new()).unwrap()
}

/// The dump of what `sql` adds to [`BASE`].
fn check(sql: &str, expected: &str) {
    check_whole(&format!("{BASE}{sql}"), expected);
}

fn check_whole(sql: &str, expected: &str) {
    let lines = |text: &str| -> Vec<String> {
        text.lines().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect()
    };
    let is_of_base = |line: &String| line.starts_with("wall clock ") || line.starts_with("process ");
    let found: Vec<_> = lines(&dump(&import(sql))).into_iter().filter(|line| !is_of_base(line)).collect();
    assert_eq!(found, lines(expected));
}

fn error(path: &Path) -> String {
    open(path, &Progress::new()).unwrap_err().to_string()
}

fn count(trace: &Trace, code: &str) -> u64 {
    trace.issues.iter().find(|issue| issue.code == code).map_or(0, |issue| issue.count)
}
