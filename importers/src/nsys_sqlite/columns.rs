//! Which tables and columns a file has: asked, never assumed.
//!
//! Columns come and go with every version of nsys, tables exist only when they have rows, and users add
//! columns of their own. So every query is built from what is there; what is missing reads as null.

use rusqlite::{Connection, Row};

use super::pages::TableColumn;

/// The tables of a file.
#[derive(Debug, Default)]
pub(super) struct Schema {
    tables: Vec<Table>,
}

/// One table.
#[derive(Debug)]
pub(super) struct Table {
    /// Name as in the file.
    pub(super) name: String,
    /// Names of its columns in lower case.
    columns: Vec<String>,
    /// Row ids, for reading in parts.
    pub(super) rows: RowIds,
    /// Where its rows lie in the file, if they hold just its columns, one after the other.
    pub(super) plain: Option<PlainTable>,
}

/// A table whose rows can be read from the pages of the file.
#[derive(Debug)]
pub(super) struct PlainTable {
    /// The page at the top of its tree.
    pub(super) root: u32,
    /// Its columns.
    pub(super) columns: Vec<TableColumn>,
}

/// Which rows a table has, without counting them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowIds {
    /// No rows.
    Empty,
    /// Smallest and largest row id; there may be gaps.
    Range(i64, i64),
    /// The table has no row ids, and at least one row.
    Unknown,
}

impl Schema {
    /// Look at all tables. Costs about a millisecond, whatever the size of the file.
    pub(super) fn read(connection: &Connection) -> rusqlite::Result<Self> {
        // Views and virtual tables could run code of the file's choice.
        let tables = connection
            .prepare(
                "SELECT name, rootpage, sql LIKE '%desc%' FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' \
                 AND upper(ltrim(sql)) LIKE 'CREATE TABLE%' ORDER BY rowid",
            )?
            .query_map([], |row| Ok((row.get::<_, String>(0)?, row.get(1).ok(), row.get(2)?)))?
            .collect::<Result<Vec<_>, _>>()?
            .into_iter()
            .map(|(name, root, has_desc)| Table::read(connection, name, root, has_desc))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Self { tables })
    }

    /// A table by name, in any case. A table of NVTX that is missing or empty may have a newer form, with a
    /// version behind its name (`NVTX_EVENTS_V2`).
    pub(super) fn table(&self, name: &str) -> Option<&Table> {
        let exact = self.tables.iter().find(|table| table.name.eq_ignore_ascii_case(name));
        if exact.is_some_and(|table| table.rows != RowIds::Empty) || !name.starts_with("NVTX_") {
            return exact;
        }
        let versions = self.tables.iter().filter(|table| table.rows != RowIds::Empty).filter_map(|table| {
            let (base, version) = version_of(&table.name)?;
            base.eq_ignore_ascii_case(name).then_some((version, table))
        });
        versions.max_by_key(|(version, _)| *version).map(|(_, table)| table).or(exact)
    }

    /// Is a table read under the name of another?
    pub(super) fn stands_for_another(&self, table: &Table) -> bool {
        let base = version_of(&table.name).and_then(|(base, _)| self.table(base));
        base.is_some_and(|read| std::ptr::eq(read, table))
    }

    /// All tables in file order.
    pub(super) fn tables(&self) -> impl Iterator<Item = &Table> {
        self.tables.iter()
    }
}

/// What SQLite says of a column.
struct Described {
    /// In lower case.
    name: String,
    /// Computed; some of these lie in no row.
    is_hidden: bool,
    has_default: bool,
    /// Its place in the primary key, from 1; 0 for none.
    key: i64,
    is_integer: bool,
}

impl Described {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            name: row.get(0)?,
            is_hidden: row.get(1)?,
            has_default: row.get(2)?,
            key: row.get(3)?,
            is_integer: row.get(4)?,
        })
    }
}

impl Table {
    fn read(
        connection: &Connection,
        name: String,
        root: Option<u32>,
        has_desc: bool,
    ) -> rusqlite::Result<Self> {
        let described = connection
            .prepare(
                "SELECT lower(name), hidden <> 0, dflt_value IS NOT NULL, pk, lower(type) = 'integer' \
                 FROM pragma_table_xinfo(?1)",
            )?
            .query_map([&name], Described::read)?
            .collect::<Result<Vec<_>, _>>()?;
        let n_keys = described.iter().filter(|column| 0 < column.key).count();
        let is_row_id = |column: &Described| column.key == 1 && n_keys == 1 && column.is_integer;
        // A key in descending order is a column of its own, any other is the row id.
        let is_odd =
            |column: &Described| column.is_hidden || column.has_default || has_desc && is_row_id(column);
        let plain = root.filter(|_| !described.iter().any(is_odd)).map(|root| {
            let column =
                |column: &Described| TableColumn { name: column.name.clone(), is_row_id: is_row_id(column) };
            PlainTable { root, columns: described.iter().map(column).collect() }
        });
        let shown = described.into_iter().filter(|column| !column.is_hidden);
        let columns: Vec<String> = shown.map(|column| column.name).collect();
        let quoted = quote(&name);
        // A column of the name "rowid" hides the row id. Two queries, for each alone is answered by one step.
        let range = if columns.iter().any(|column| column == "rowid") {
            None
        } else {
            let sql = format!("SELECT (SELECT min(rowid) FROM {quoted}), (SELECT max(rowid) FROM {quoted})");
            // An error means a table WITHOUT ROWID.
            connection.query_row(&sql, [], |row| Ok(row.get(0).ok().zip(row.get(1).ok()))).ok()
        };
        let rows = match range {
            Some(Some((first, last))) => RowIds::Range(first, last),
            Some(None) => RowIds::Empty,
            None => {
                let sql = format!("SELECT EXISTS (SELECT 1 FROM {quoted})");
                let has_rows = connection.query_row(&sql, [], |row| row.get(0)).unwrap_or(true);
                if has_rows { RowIds::Unknown } else { RowIds::Empty }
            }
        };
        Ok(Self { name, columns, rows, plain })
    }

    /// Does it have this column?
    pub(super) fn has(&self, column: &str) -> bool {
        self.columns.iter().any(|have| have.eq_ignore_ascii_case(column))
    }

    /// Rows at most, from the row ids; `None` for tables without.
    pub(super) fn n_rows_at_most(&self) -> Option<u64> {
        match self.rows {
            RowIds::Empty => Some(0),
            RowIds::Range(first, last) => Some(last.abs_diff(first).saturating_add(1)),
            RowIds::Unknown => None,
        }
    }

    /// The SQL of a column, or of the first of several that is not null: `a|b`.
    fn value(&self, column: &str) -> String {
        let quoted: Vec<String> = column.split('|').filter(|column| self.has(column)).map(quote).collect();
        match quoted.as_slice() {
            [] => "NULL".to_owned(),
            [only] => only.clone(),
            several => format!("coalesce({})", several.join(", ")),
        }
    }

    /// `SELECT rowid, column, … FROM table`, with NULL for what is missing.
    pub(super) fn select(&self, columns: &[&str]) -> String {
        let row_id = if matches!(self.rows, RowIds::Range(..)) { "rowid" } else { "NULL" };
        let mut sql = format!("SELECT {row_id}");
        for column in columns {
            sql.push_str(", ");
            sql.push_str(&self.value(column));
        }
        sql.push_str(" FROM ");
        sql.push_str(&quote(&self.name));
        sql
    }
}

/// `NVTX_EVENTS` and 2, from `NVTX_EVENTS_V2`.
fn version_of(name: &str) -> Option<(&str, u32)> {
    let at = name.to_ascii_uppercase().rfind("_V")?;
    let (base, version) = name.split_at_checked(at)?;
    Some((base, version.get(2..)?.parse().ok()?))
}

fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(sql: &str) -> Schema {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(sql).unwrap();
        Schema::read(&connection).unwrap()
    }

    #[test]
    fn missing_columns_read_as_null() {
        let schema = schema("CREATE TABLE T (Start INTEGER, x INTEGER); INSERT INTO T VALUES (1, 2)");
        let table = schema.table("t").unwrap();
        assert_eq!(table.select(&["start", "end"]), r#"SELECT rowid, "start", NULL FROM "T""#);
        assert_eq!(table.rows, RowIds::Range(1, 1));
    }

    #[test]
    fn tables_without_row_ids_are_noticed() {
        let schema = schema(
            "CREATE TABLE A (id INTEGER PRIMARY KEY) WITHOUT ROWID; INSERT INTO A VALUES (7); \
             CREATE TABLE B (rowid TEXT); CREATE TABLE C (a); CREATE VIEW V AS SELECT 1 AS a",
        );
        let rows: Vec<_> = schema.tables().map(|table| table.rows).collect();
        assert_eq!(rows, [RowIds::Unknown, RowIds::Empty, RowIds::Empty]);
    }
}
