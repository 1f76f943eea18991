//! Files: whole, broken, being written, in odd places.

use super::*;

#[test]
fn the_file_is_not_touched_whatever_its_name() {
    let dir = TempDir::new().unwrap();
    let path = write(&dir, "t?x#1%20 ü.sqlite", BASE);
    std::fs::write(dir.path().join("t?x#1%20 ü.sqlite-wal"), b"unfinished").unwrap();
    let state = || (std::fs::read(&path).unwrap(), std::fs::metadata(&path).unwrap().modified().unwrap());
    let before = state();
    let mut permissions = std::fs::metadata(dir.path()).unwrap().permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(dir.path(), permissions.clone()).unwrap();

    let trace = open(&path, &Progress::new()).unwrap();
    assert_eq!(count(&trace, "unfinished_changes_beside_the_file"), 1);
    assert!(before == state());
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2);

    #[expect(clippy::permissions_set_readonly_false, reason = "a temporary folder, to be deleted")]
    permissions.set_readonly(false);
    std::fs::set_permissions(dir.path(), permissions).unwrap();
}

#[test]
fn broken_files_say_what_is_broken() {
    let dir = TempDir::new().unwrap();
    let whole = std::fs::read(write(&dir, "whole.sqlite", BASE)).unwrap();
    let broken = |name: &str, bytes: &[u8]| {
        let path = dir.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        error(&path)
    };
    assert!(broken("half", &whole[..8192]).starts_with("the export was cut short: the file has 8192 of "));
    assert!(broken("page", &whole[..1000]).starts_with("the export was cut short: 1000 bytes"));
    let mut zeroed = whole.clone();
    zeroed[..100].fill(0);
    assert!(broken("zeroed", &zeroed).starts_with("the header of this SQLite file is zeros"));
    let mut damaged = whole.clone();
    damaged[100..4096].fill(0xff);
    assert!(broken("damaged", &damaged).starts_with("SQLite cannot read the file"));
    let packed = zstd::encode_all(whole.as_slice(), 1).unwrap();
    assert!(broken("packed", &packed).starts_with("this is an SQLite file packed with zstd"));

    let other = write(&dir, "other.sqlite", "CREATE TABLE a (b)");
    assert!(
        error(&other).starts_with("this SQLite file is no Nsight Systems export: it has no table StringIds")
    );
    let names = write(&dir, "names.sqlite", "CREATE TABLE StringIds (id, value)");
    assert!(error(&names).contains("it has none of CUPTI_ACTIVITY_KIND_…, META_DATA_EXPORT"));
}

#[test]
fn damage_inside_a_table_loses_only_its_rows() {
    let dir = TempDir::new().unwrap();
    let series = "WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s LIMIT 2000)";
    let path = write(
        &dir,
        "t.sqlite",
        &format!(
            "{BASE}
             INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME {series} SELECT n, n + 1, 0, $TID, n, 4, 0 FROM s;
             INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid) VALUES (1, 2, 59, 'kept', $TID);"
        ),
    );
    let root: i64 = Connection::open(&path)
        .unwrap()
        .query_row("SELECT rootpage FROM sqlite_master WHERE name = 'CUPTI_ACTIVITY_KIND_RUNTIME'", [], |r| {
            r.get(0)
        })
        .unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    let at = (root as usize - 1) * 4096;
    // Keep the page's kind and size, break what it points to.
    bytes[at + 12..at + 40].fill(0xff);
    std::fs::write(&path, bytes).unwrap();
    let trace = open(&path, &Progress::new()).unwrap();
    assert!(trace.names.find("kept").is_some());
    assert_eq!(count(&trace, "table_damaged"), 1);
}

#[test]
fn info_reads_headers_only() {
    let dir = TempDir::new().unwrap();
    let path = write(
        &dir,
        "t.sqlite",
        &format!(
            "{BASE} CREATE TABLE TARGET_INFO_GPU (id, name); INSERT INTO TARGET_INFO_GPU VALUES (1, 'B'), (0, 'A');
             INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME (rowid, start, end, nameId) VALUES (1, 1, 2, 1), (50, 1, 2, 1);"
        ),
    );
    let info = info(&path).unwrap();
    assert_eq!(info.devices, ["A", "B"]);
    let table = info.tables.iter().find(|table| table.name == "CUPTI_ACTIVITY_KIND_RUNTIME").unwrap();
    assert_eq!((table.n_rows, table.is_estimate), (Some(50), true));
    assert!(info.tables.iter().all(|table| table.name != "CUPTI_ACTIVITY_KIND_KERNEL"));
}

/// Reads the folder that `TRACECARD_CORPUS` names.
#[test]
fn tables_of_calls_have_the_names_that_nsys_gives_them() {
    let Some(corpus) = std::env::var_os("TRACECARD_CORPUS") else {
        return eprintln!("skipped: TRACECARD_CORPUS is not set");
    };
    // Made with --lazy=false: all tables that nsys 2022.2 knows, most of them empty.
    let path = Path::new(&corpus).join("nsys/2022.2_schema2.9.1_mpi_backtrace_lazyfalse.sqlite");
    let database = super::super::read::open(&crate::Input::open(&path).unwrap()).unwrap();
    let is_expected = |name: &str| {
        ["_API", "_WORKLOAD"].iter().any(|end| name.ends_with(end))
            || ["OPENMP_", "CUDNN_", "CUBLAS_", "CUPTI_", "KHR_"].iter().any(|start| name.starts_with(start))
    };
    let names: Vec<&str> = database.schema.tables().map(|table| table.name.as_str()).collect();
    assert_eq!(names.iter().filter(|name| is_expected(name)).count(), 42);
    let unread: Vec<_> =
        names.iter().filter(|name| is_expected(name) && crate::nsys_tables::is_left_out(name)).collect();
    assert_eq!(unread, [&""; 0]);
}

#[test]
fn row_estimates_are_no_more_than_the_file_can_hold() {
    let dir = TempDir::new().unwrap();
    let path = write(
        &dir,
        "t.sqlite",
        &format!(
            "{BASE} INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME (rowid, start, end, nameId) VALUES (1, 1, 2, 1),
                (9000000000000000000, 1, 2, 1);"
        ),
    );
    let info = info(&path).unwrap();
    let table = info.tables.iter().find(|table| table.name == "CUPTI_ACTIVITY_KIND_RUNTIME").unwrap();
    assert!(table.is_estimate && table.n_rows.is_some_and(|n| n <= info.size_bytes), "{table:?}");
}

#[test]
fn a_file_in_the_middle_of_an_export_opens_or_says_so() {
    let dir = TempDir::new().unwrap();
    let path = write(&dir, "live.sqlite", BASE);
    // A transaction that outgrows the cache: rows reach the file before the header counts them.
    let writer = Connection::open(&path).unwrap();
    writer
        .execute_batch(
            "PRAGMA cache_size = 10; BEGIN;
             WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s LIMIT 20000)
                INSERT INTO NVTX_EVENTS (start, end, eventType, text) SELECT n, n + 1, 59, 'range' FROM s;",
        )
        .unwrap();
    assert!(std::fs::metadata(dir.path().join("live.sqlite-journal")).unwrap().len() > 0);
    match open(&path, &Progress::new()) {
        Ok(trace) => {
            assert_eq!(count(&trace, "unfinished_changes_beside_the_file"), 1);
            assert_eq!(count(&trace, "file_longer_than_counted"), 1);
        }
        Err(error) => assert!(error.to_string().starts_with("the export is still being written"), "{error}"),
    }
    writer.execute_batch("COMMIT").unwrap();
    let trace = open(&path, &Progress::new()).unwrap();
    assert_eq!((trace.slices.len(), count(&trace, "file_longer_than_counted")), (20_000, 0));

    // Less than the header counts, and a journal: the copy or the export is not done.
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(dir.path().join("cut.sqlite"), &bytes[..bytes.len() / 2]).unwrap();
    std::fs::write(dir.path().join("cut.sqlite-journal"), b"unfinished").unwrap();
    assert!(
        error(&dir.path().join("cut.sqlite"))
            .starts_with("the export is still being written, or was interrupted")
    );
}
