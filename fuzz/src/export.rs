//! Makes an nsys export with odd schemas and values out of any bytes.
//!
//! Tables have real names; columns may be missing, doubled in meaning, of any type, and hold what does not fit;
//! row ids have gaps, are negative or absent; texts are no UTF-8 or lie under numbers that nobody uses.
//! At last some bytes of the file may be damaged.

use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use crate::choices::Choices;
use crate::export_tables::{Holds, KEYS, TABLES, Table};

/// An export out of any bytes; empty when SQLite itself refuses.
pub fn export(bytes: &[u8]) -> Vec<u8> {
    let mut choices = Choices::new(bytes);
    let mut file = write(&mut choices).unwrap_or_default();
    if choices.one_in(8) {
        damage(&mut choices, &mut file);
    }
    file
}

fn write(choices: &mut Choices<'_>) -> rusqlite::Result<Vec<u8>> {
    const PAGE_BYTES: &[u32] = &[4096, 512, 1024, 65_536];
    const ENCODINGS: &[&str] = &["UTF-8", "UTF-8", "UTF-16le", "UTF-16be"];
    let mut conn = Connection::open_in_memory()?;
    let page_bytes = choices.one_of(PAGE_BYTES).unwrap_or(4096);
    let encoding = choices.one_of(ENCODINGS).unwrap_or("UTF-8");
    conn.execute_batch(&format!("PRAGMA page_size = {page_bytes}; PRAGMA encoding = '{encoding}'; BEGIN;"))?;
    texts(choices, &conn)?;
    // The first tables always: a file without device work is refused early.
    let n_tables = 1 + choices.below(10);
    for idx in 0..n_tables {
        let table = if idx < 3 { TABLES.get(idx).copied() } else { choices.one_of(TABLES) };
        let Some(table) = table else { continue };
        // Twice the same table, a name that SQLite refuses: go on.
        let _ = add_table(choices, &conn, table);
    }
    conn.execute_batch("COMMIT")?;
    Ok(conn.serialize("main")?.to_vec())
}

fn texts(choices: &mut Choices<'_>, conn: &Connection) -> rusqlite::Result<()> {
    const SCHEMAS: &[&str] = &[
        "id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL",
        "id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL",
        "id, value",
        "value BLOB, id TEXT",
        "id INTEGER NOT NULL PRIMARY KEY, value TEXT) WITHOUT ROWID --",
        "id REAL, value INTEGER, rowid TEXT",
    ];
    let schema = choices.one_of(SCHEMAS).unwrap_or("id, value");
    conn.execute_batch(&format!("CREATE TABLE StringIds ({schema}\n)"))?;
    let mut insert = conn.prepare("INSERT OR IGNORE INTO StringIds (id, value) VALUES (?1, ?2)")?;
    for id in 0..choices.below(24) as i64 {
        let id = if choices.one_in(8) { choices.int() } else { id };
        let value = if choices.one_in(6) { odd(choices) } else { Value::Text(format!("name {id}")) };
        // A NULL where none may be.
        let _ = insert.execute((Value::Integer(id), value));
    }
    Ok(())
}

fn add_table(choices: &mut Choices<'_>, conn: &Connection, table: Table) -> rusqlite::Result<()> {
    let (name, all) = table;
    let columns: Vec<(&str, Holds)> = all.iter().filter(|_| !choices.one_in(24)).copied().collect();
    let name = if choices.one_in(24) { name.to_lowercase() } else { name.to_owned() };
    conn.execute_batch(&schema(choices, &name, &columns))?;
    let marks: Vec<String> = (1..=columns.len()).map(|idx| format!("?{idx}")).collect();
    let names: Vec<String> = columns.iter().map(|(column, _)| format!("\"{column}\"")).collect();
    let (mut names, mut marks) = (names.join(", "), marks.join(", "));
    let has_odd_ids = choices.one_in(6);
    if has_odd_ids {
        names.push_str(", rowid");
        marks.push_str(&format!(", ?{}", columns.len() + 1));
    }
    let mut insert =
        conn.prepare(&format!("INSERT OR REPLACE INTO \"{name}\" ({names}) VALUES ({marks})"))?;
    for row in 0..choices.below(12) as i64 {
        let mut values: Vec<Value> = columns.iter().map(|(_, holds)| value(choices, *holds, row)).collect();
        if has_odd_ids {
            values.push(Value::Integer(choices.int()));
        }
        // A constraint that this row breaks.
        let _ = insert.execute(params_from_iter(values));
    }
    Ok(())
}

fn schema(choices: &mut Choices<'_>, name: &str, columns: &[(&str, Holds)]) -> String {
    const TYPES: &[&str] = &["INTEGER", "INTEGER", "INTEGER", "INTEGER NOT NULL", "TEXT", "REAL", "BLOB", ""];
    let mut list: Vec<String> = columns
        .iter()
        .map(|(column, holds)| {
            let kind = match holds {
                Holds::Text | Holds::Key => "TEXT",
                _ => choices.one_of(TYPES).unwrap_or(""),
            };
            let column = if choices.one_in(32) { column.to_uppercase() } else { (*column).to_owned() };
            format!("\"{column}\" {kind}")
        })
        .collect();
    let mut behind = "";
    match choices.below(24) {
        20 => list.push("\"rowid\" TEXT".to_owned()),
        21 => list.push("\"a \"\" b; --\" INTEGER DEFAULT 7".to_owned()),
        22 => list.push("\"sum\" AS (1 + 1)".to_owned()),
        23 => {
            let first = columns.first().map_or("start", |column| column.0);
            list.push(format!("PRIMARY KEY (\"{first}\")"));
            behind = " WITHOUT ROWID";
        }
        _ => {}
    }
    if choices.one_in(64) {
        return format!("CREATE VIEW \"{name}\" AS SELECT 1 AS start, 2 AS \"end\"");
    }
    format!("CREATE TABLE \"{name}\" ({}){behind}", list.join(", "))
}

/// Mostly what fits, so that rows are not all dropped at once.
fn value(choices: &mut Choices<'_>, holds: Holds, row: i64) -> Value {
    if choices.one_in(12) {
        return odd(choices);
    }
    let byte = i64::from(choices.byte());
    match holds {
        Holds::Time => Value::Integer(100 * row + byte),
        Holds::Name => Value::Integer(byte % 26),
        Holds::Thread => Value::Integer(1 << 48 | (100 + byte % 2) << 24 | (byte / 2 % 4)),
        Holds::Small => match byte {
            // Types of NVTX records, and types of GPU metrics.
            0..=63 => Value::Integer(byte),
            64..=127 => Value::Integer([59, 60, 34, 75, 39, 33, 70, 71][byte as usize % 8]),
            128..=159 => Value::Integer(281_479_271_677_952 + byte % 2),
            _ => Value::Integer(byte % 4),
        },
        Holds::Text => Value::Text(format!("text {}", byte % 8)),
        Holds::Key => match KEYS.get(byte as usize % KEYS.len()) {
            Some(key) => Value::Text((*key).to_owned()),
            None => Value::Null,
        },
    }
}

/// What a program that rewrites exports might leave, and what none would.
fn odd(choices: &mut Choices<'_>) -> Value {
    const TEXTS: &[&str] =
        &["", "12", "-5", " 7 ", "18446744073709551615", "3.24", "1e400", "NaN", "ü\u{0}x"];
    const REALS: &[f64] = &[0.5, -0.0, 1e300, f64::INFINITY, f64::NEG_INFINITY, 9.3e18, 4.0];
    match choices.below(8) {
        0 => Value::Null,
        1..=3 => Value::Integer(choices.int()),
        4 => Value::Real(choices.one_of(REALS).unwrap_or(0.0)),
        5 => Value::Text(choices.one_of(TEXTS).unwrap_or("").to_owned()),
        6 => Value::Text(String::from_utf8_lossy(choices.bytes(40)).into_owned()),
        _ => Value::Blob(choices.bytes(40).to_vec()),
    }
}

/// Change some bytes, or cut.
fn damage(choices: &mut Choices<'_>, file: &mut Vec<u8>) {
    if choices.one_in(4) {
        let at = choices.below(file.len());
        file.truncate(at);
    }
    for _ in 0..choices.below(6) {
        let (at, byte) = (choices.below(file.len()), choices.byte());
        if let Some(place) = file.get_mut(at) {
            *place = byte;
        }
    }
}
