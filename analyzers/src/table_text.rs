//! A table as text: compact for tests, Markdown, CSV and TSV for people and other programs.
//!
//! Numbers are written in their raw units (ns, bytes, fractions), so that what is pasted elsewhere can be
//! computed with; the app formats what it shows.

use std::fmt::Write;

use crate::{Cell, Table};

impl Table {
    /// The named columns (none named: all) as lines of cells separated by ` | `, unknown as `-`.
    pub fn to_text(&self, columns: &[&str]) -> String {
        let all: Vec<&str> = self.columns.iter().map(|c| c.id).collect();
        let columns = if columns.is_empty() { all.as_slice() } else { columns };
        let mut out = columns.join(" | ");
        out.push('\n');
        for row in 0..self.n_rows() {
            let cells: Vec<String> = columns.iter().map(|id| cell_text(self.cell(row, id), "-")).collect();
            out.push_str(cells.join(" | ").trim_end());
            out.push('\n');
        }
        out
    }

    /// A GitHub-flavoured Markdown table under the columns' titles; unknown is `—`.
    pub fn to_markdown(&self) -> String {
        let titles: Vec<String> = self.columns.iter().map(|c| markdown_cell(c.title)).collect();
        let rules: Vec<&str> =
            self.columns.iter().map(|c| if is_number(c) { "---:" } else { "---" }).collect();
        let mut out = format!("| {} |\n| {} |\n", titles.join(" | "), rules.join(" | "));
        for row in 0..self.n_rows() {
            let cell = |column: &crate::Column| markdown_cell(&cell_text(column.data.cell(row), "—"));
            let cells: Vec<String> = self.columns.iter().map(cell).collect();
            // Writing to a String cannot fail.
            let _ = writeln!(out, "| {} |", cells.join(" | "));
        }
        out
    }

    /// Comma-separated values after RFC 4180 with the columns' ids as header; unknown is empty.
    pub fn to_csv(&self) -> String {
        self.separated(csv_field, ",")
    }

    /// Tab-separated values with the columns' ids as header; tabs and line breaks inside texts become
    /// blanks, unknown is empty. This is what spreadsheets take from the clipboard.
    pub fn to_tsv(&self) -> String {
        self.separated(|text| text.replace(['\t', '\n', '\r'], " "), "\t")
    }

    fn separated(&self, field: impl Fn(&str) -> String, separator: &str) -> String {
        let ids: Vec<String> = self.columns.iter().map(|c| field(c.id)).collect();
        let mut out = ids.join(separator);
        out.push('\n');
        for row in 0..self.n_rows() {
            let cell = |column: &crate::Column| field(&cell_text(column.data.cell(row), ""));
            let cells: Vec<String> = self.columns.iter().map(cell).collect();
            out.push_str(&cells.join(separator));
            out.push('\n');
        }
        out
    }
}

fn is_number(column: &crate::Column) -> bool {
    matches!(column.data, crate::Data::Int(_) | crate::Data::Real(_))
}

/// A cell in its raw unit. Slices show their id, which is only good inside one run.
fn cell_text(cell: Cell<'_>, unknown: &str) -> String {
    match cell {
        Cell::Unknown => unknown.to_owned(),
        Cell::Int(value) => value.to_string(),
        Cell::Real(value) => value.to_string(),
        Cell::Text(text) => text.to_owned(),
        Cell::Flag(is_set) => if is_set { "yes" } else { "no" }.to_owned(),
        Cell::Slice(slice) => slice.0.to_string(),
    }
}

/// A quote is doubled; a field with a quote, comma, line break, or blank at an end is quoted.
fn csv_field(text: &str) -> String {
    let needs_quotes = text.contains([',', '"', '\n', '\r']) || text.trim() != text;
    if needs_quotes { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

/// Pipes would end the cell, line breaks the row; a name must not become markup.
fn markdown_cell(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '|' | '\\' | '`' | '*' | '_' | '<' | '>' | '[' | ']' => {
                out.push('\\');
                out.push(c);
            }
            '\n' | '\r' => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use tracecard_model::SliceId;

    use crate::{Column, Table, Unit};

    fn table() -> Table {
        Table {
            id: "t",
            title: "T",
            columns: vec![
                Column::texts(
                    "name",
                    "Name",
                    "",
                    ["plain", "a,b", "say \"hi\"", "two\nlines\t|"].map(|t| Some(t.to_owned())),
                ),
                Column::ints("n", "N", Unit::Count, "", [Some(1), None, Some(-3), Some(4)]),
                Column::reals("x", "X", Unit::Frac, "", [Some(0.5), Some(f64::NAN), None, Some(2.0)]),
                Column::flags("f", "F", "", [Some(true), Some(false), None, None]),
                Column::slices("s", "S", "", [Some(SliceId(7)), None, None, None]),
            ],
        }
    }

    #[test]
    fn csv_quotes_what_must_be_quoted() {
        let expected = "name,n,x,f,s\nplain,1,0.5,yes,7\n\"a,b\",,,no,\n\"say \"\"hi\"\"\",-3,,,\n\
                        \"two\nlines\t|\",4,2,,\n";
        assert_eq!(table().to_csv(), expected);
    }

    #[test]
    fn tsv_keeps_one_row_on_one_line() {
        let expected = "name\tn\tx\tf\ts\nplain\t1\t0.5\tyes\t7\na,b\t\t\tno\t\nsay \"hi\"\t-3\t\t\t\n\
                        two lines |\t4\t2\t\t\n";
        assert_eq!(table().to_tsv(), expected);
    }

    #[test]
    fn markdown_escapes_what_would_be_markup() {
        let text = table().to_markdown();
        assert!(text.starts_with("| Name | N | X | F | S |\n| --- | ---: | ---: | --- | --- |\n"), "{text}");
        assert!(text.contains("| two lines\t\\| | 4 | 2 | — | — |\n"), "{text}");
    }

    #[test]
    fn text_shows_chosen_columns() {
        assert_eq!(table().to_text(&["n", "name"]).lines().nth(2), Some("- | a,b"));
        assert_eq!(table().to_text(&["nonsense"]).lines().nth(1), Some("-"));
    }

    #[test]
    fn an_empty_table_is_its_header() {
        let table = Table { id: "t", title: "T", columns: vec![Column::ints("n", "N", Unit::Count, "", [])] };
        assert_eq!(table.to_csv(), "n\n");
        assert_eq!(table.to_markdown(), "| N |\n| ---: |\n");
    }
}
