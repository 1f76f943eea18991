//! The same rows as SQLite gives, of tables of every shape; what is not plain is left to it.

use std::fs::File;
use std::path::Path;

use rusqlite::Connection;
use rusqlite::types::ValueRef;
use tempfile::TempDir;

use super::*;
use crate::nsys_sqlite::columns::{PlainTable, RowIds, Schema};

const WANTED: &[&str] = &["a", "b|c", "missing", "id", "d"];

/// Its row id, and its values as text.
type Row = (i64, Vec<String>);

/// The rows as SQLite gives them, and as the pages do; of the leaves one by one, so that row ids at their ends are
/// checked too.
fn both(sql: &str) -> (Vec<Row>, Result<Vec<Row>, NotPlain>) {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("t.sqlite");
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch(sql).unwrap();
    let schema = Schema::read(&connection).unwrap();
    let table = schema.table("t").unwrap();
    let by_sqlite = sqlite_rows(&connection, &table.select(WANTED), WANTED.len()).unwrap();
    drop(connection);
    let by_pages = table.plain.as_ref().ok_or(NotPlain).and_then(|plain| read(&path, plain, WANTED));
    (by_sqlite, by_pages)
}

fn read(path: &Path, plain: &PlainTable, wanted: &[&str]) -> Result<Vec<Row>, NotPlain> {
    let bytes = std::fs::read(path).unwrap();
    let layout = Layout::read(&bytes, bytes.len() as u64)?;
    let mut file = File::open(path).unwrap();
    let plan = Plan::new(&plain.columns, wanted)?;
    let all = leaves(&mut file, layout, plain.root)?;
    let mut rows = Vec::new();
    let mut from = i64::MIN;
    for idx in 0..all.len() {
        let to = all.last_row_id(idx).unwrap_or(i64::MAX);
        let push = |row_id: i64, values: &[ValueRef<'_>]| {
            rows.push((row_id, values.iter().map(|value| shown(*value)).collect()));
            Ok::<(), NotPlain>(())
        };
        each_row(
            &mut file,
            layout,
            all.pages(idx..idx + 1),
            &plan,
            from..=to,
            &mut Buffers::default(),
            push,
        )?;
        from = to.saturating_add(1);
    }
    Ok(rows)
}

fn same(sql: &str) {
    let (by_sqlite, by_pages) = both(sql);
    assert!(!by_sqlite.is_empty());
    assert!(by_pages.as_ref() == Ok(&by_sqlite), "{sql}");
}

fn left_to_sqlite(sql: &str) {
    assert_eq!(both(sql).1, Err(NotPlain), "{sql}");
}

#[test]
fn values_of_every_kind_are_the_same() {
    same(
        "CREATE TABLE t (a, b, c, d);
         INSERT INTO t VALUES (NULL, 0, 1, 2), (-1, NULL, 127, -128), (128, NULL, -129, 32767),
            (32768, NULL, -32769, 8388607), (8388608, 1, -8388609, 2147483647), (2147483648, 1, -2147483649, 9),
            (140737488355327, 1, -140737488355328, 9), (140737488355328, 1, -140737488355329, 9),
            (9223372036854775807, 1, -9223372036854775808, 9), (0.5, -0.0, 1e300, 9e999), ('text', x'00ff', '', x''),
            ('ü', NULL, NULL, NULL);",
    );
}

#[test]
fn row_ids_of_every_size_and_gaps_between_them() {
    same(
        "CREATE TABLE t (a, d); INSERT INTO t (rowid, a) VALUES (-9223372036854775808, 1), (-70000, 2), (-1, 3),
            (0, 4), (127, 5), (128, 6), (16384, 7), (2097152, 8), (9223372036854775807, 9);",
    );
    same(
        "CREATE TABLE t (a REAL, b TEXT, d NUMERIC); INSERT INTO t VALUES (3, 3, '3'), (0.5, 0.5, 'x'), (1e20, 2, 3);",
    );
    same("CREATE TABLE t (d, id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1, 7, 2), (3, 900000, 4);");
    same("CREATE TABLE t (d, id INTEGER, a, PRIMARY KEY (id)); INSERT INTO t VALUES (1, 7, 2), (3, 9, 4);");
    same("CREATE TABLE t (id INT PRIMARY KEY, a); INSERT INTO t VALUES (5, 2), (3, 4);");
    same(
        "CREATE TABLE t (id INTEGER, a, d, PRIMARY KEY (id, a)); INSERT INTO t VALUES (5, 2, 1), (3, 4, 1);",
    );
}

#[test]
fn tables_of_many_pages_of_every_size() {
    for page_bytes in [512, 1024, 4096, 65536] {
        same(&format!(
            "PRAGMA page_size = {page_bytes}; CREATE TABLE t (a, b, c, d);
             WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s LIMIT 30000)
             INSERT INTO t SELECT n, CASE WHEN n % 3 THEN n * n END, 'text ' || n, n * 0.25 FROM s;
             DELETE FROM t WHERE a % 7 = 0 OR a BETWEEN 2000 AND 9000;"
        ));
    }
}

#[test]
fn rows_longer_than_a_page() {
    for page_bytes in [512, 4096] {
        same(&format!(
            "PRAGMA page_size = {page_bytes}; CREATE TABLE t (a, b, d);
             WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s LIMIT 9000)
             INSERT INTO t SELECT n, CASE WHEN n % 10 = 0 THEN printf('%.*c', n, 'x') END, n FROM s;"
        ));
    }
}

#[test]
fn rows_from_before_a_column_was_added_end_early() {
    same(
        "CREATE TABLE t (a); INSERT INTO t VALUES (1); ALTER TABLE t ADD COLUMN d; INSERT INTO t VALUES (2, 3);",
    );
    same("CREATE TABLE t (a, x, d); INSERT INTO t VALUES (1, 2, 3); ALTER TABLE t DROP COLUMN x;");
}

#[test]
fn what_is_not_plain_is_left_to_sqlite() {
    let rows = "INSERT INTO t (a) VALUES (1), (2);";
    left_to_sqlite(&format!("CREATE TABLE t (a, d DEFAULT 5); {rows}"));
    left_to_sqlite(&format!("CREATE TABLE t (a, d AS (a + 1)); {rows}"));
    left_to_sqlite(&format!("CREATE TABLE t (a, id INTEGER PRIMARY KEY DESC); {rows}"));
    left_to_sqlite(&format!("PRAGMA encoding = 'UTF-16'; CREATE TABLE t (a); {rows}"));
}

#[test]
fn damage_is_left_to_sqlite() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("t.sqlite");
    let connection = Connection::open(&path).unwrap();
    connection
        .execute_batch(
            "PRAGMA page_size = 512; CREATE TABLE t (a, d);
             WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s LIMIT 120)
             INSERT INTO t SELECT n, CASE WHEN n % 20 THEN 'x' || n ELSE printf('%.*c', 9 * n, 'x') END FROM s;",
        )
        .unwrap();
    let schema = Schema::read(&connection).unwrap();
    let plain = schema.table("t").unwrap().plain.as_ref().unwrap();
    drop(connection);
    let whole = std::fs::read(&path).unwrap();
    let (mut n_same, mut n_left) = (0, 0);
    // A step that shares no factor with the size of a page meets every kind of place.
    for (at, byte) in
        (512..whole.len()).step_by(37).flat_map(|at| [0, 1, 5, 13, 0x7f, 0xff].map(|byte| (at, byte)))
    {
        let mut damaged = whole.clone();
        damaged[at] = byte;
        std::fs::write(&path, &damaged).unwrap();
        let Ok(by_pages) = read(&path, plain, WANTED) else {
            n_left += 1;
            continue;
        };
        let connection = Connection::open(&path).unwrap();
        let by_sqlite = sqlite_rows(&connection, "SELECT rowid, a, NULL, NULL, NULL, d FROM t", WANTED.len());
        assert!(by_sqlite.as_ref() == Ok(&by_pages), "byte {at} is {byte}");
        n_same += 1;
    }
    assert!(0 < n_same && 0 < n_left);
}

/// Whole numbers in columns of type REAL lie in the file as integers; readers of tables take either.
fn shown(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Real(value) if value.fract() == 0.0 && value.abs() < 1e15 => format!("Integer({value})"),
        value => format!("{value:?}"),
    }
}

fn sqlite_rows(connection: &Connection, sql: &str, n_values: usize) -> rusqlite::Result<Vec<Row>> {
    let mut statement = connection.prepare(&format!("{sql} ORDER BY rowid"))?;
    let mut rows = statement.query([])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let values = (1..=n_values).map(|at| Ok(shown(row.get_ref(at)?)));
        found.push((row.get(0)?, values.collect::<rusqlite::Result<_>>()?));
    }
    Ok(found)
}

#[test]
fn tables_of_real_exports_are_the_same() {
    let Some(corpus) = std::env::var_os("TRACECARD_CORPUS") else {
        println!("skipped: TRACECARD_CORPUS is not set");
        return;
    };
    let mut n_tables = 0;
    for entry in std::fs::read_dir(Path::new(&corpus).join("nsys")).unwrap() {
        let path = entry.unwrap().path();
        let Some(connection) =
            Connection::open(&path).ok().filter(|_| path.extension() == Some("sqlite".as_ref()))
        else {
            continue;
        };
        let Ok(schema) = Schema::read(&connection) else { continue };
        for table in schema.tables() {
            let (Some(plain), RowIds::Range(..)) = (&table.plain, table.rows) else { continue };
            let wanted: Vec<&str> =
                plain.columns.iter().take(32).map(|column| column.name.as_str()).collect();
            // Long texts, and files of another encoding.
            let Ok(by_pages) = read(&path, plain, &wanted) else { continue };
            let by_sqlite = sqlite_rows(&connection, &table.select(&wanted), wanted.len());
            assert!(by_sqlite.as_ref() == Ok(&by_pages), "{} of {}", table.name, path.display());
            n_tables += 1;
        }
    }
    assert!(100 < n_tables, "{n_tables}");
}
