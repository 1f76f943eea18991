//! The floor of exports: the columns that the importer asks for, fetched and looked at, nothing kept.

use std::error::Error;
use std::hint::black_box;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};

/// The tables that the gates are about, with the columns that the importer reads of them.
const TABLES: &[(&str, &str)] = &[
    (
        "CUPTI_ACTIVITY_KIND_KERNEL",
        "rowid, start, end, deviceId, contextId, streamId, correlationId, globalPid, gridX, gridY, gridZ, blockX, \
         blockY, blockZ, registersPerThread, staticSharedMemory, dynamicSharedMemory, graphNodeId, graphId, \
         clusterX, clusterY, clusterZ, demangledName, shortName",
    ),
    (
        "CUPTI_ACTIVITY_KIND_RUNTIME",
        "rowid, start, end, eventClass, globalTid, correlationId, returnValue, nameId, callchainId",
    ),
    ("NVTX_EVENTS", "rowid, start, end, eventType, globalTid, domainId, textId, text"),
];

/// Rows in one part, as in the importer.
const ROWS_A_PART: i64 = 1 << 17;

/// Read all rows on so many threads.
pub(crate) fn scan(export: &Path, n_threads: usize) -> Result<(), Box<dyn Error + Send + Sync>> {
    let conn = connect(export)?;
    let mut parts: Vec<(String, i64)> = Vec::new();
    for (table, columns) in TABLES {
        let last: Option<i64> =
            conn.query_row(&format!("SELECT max(rowid) FROM {table}"), [], |row| row.get(0))?;
        let sql = format!("SELECT {columns} FROM {table} WHERE rowid BETWEEN ?1 AND ?2");
        let starts = (0..=last.unwrap_or(-1)).step_by(ROWS_A_PART as usize);
        parts.extend(starts.map(|start| (sql.clone(), start)));
    }
    let next = AtomicUsize::new(0);
    let work = || -> rusqlite::Result<()> {
        let conn = connect(export)?;
        while let Some((sql, start)) = parts.get(next.fetch_add(1, Relaxed)) {
            read(&conn, sql, *start)?;
        }
        Ok(())
    };
    thread::scope(|scope| -> Result<(), Box<dyn Error + Send + Sync>> {
        let workers: Vec<_> = (0..n_threads).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            worker.join().map_err(|_| "a thread of the floor died")??;
        }
        Ok(())
    })
}

fn connect(export: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(export, flags)
}

fn read(conn: &Connection, sql: &str, start: i64) -> rusqlite::Result<()> {
    let mut statement = conn.prepare(sql)?;
    let n_columns = statement.column_count();
    let mut rows = statement.query([start, start + ROWS_A_PART - 1])?;
    let mut sum = 0_i64;
    while let Some(row) = rows.next()? {
        for idx in 0..n_columns {
            sum = sum.wrapping_add(match row.get_ref(idx)? {
                ValueRef::Integer(value) => value,
                ValueRef::Text(text) => text.len() as i64,
                _ => 0,
            });
        }
    }
    black_box(sum);
    Ok(())
}
