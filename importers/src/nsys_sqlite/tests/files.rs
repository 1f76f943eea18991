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
