//! Which rows of a table are shown, and in which order.

use std::cmp::Ordering;

use tracecard_analyzers::{Cell, Data, Table};

use super::Sort;

/// Rows that contain the filter in one of their texts, in the wanted order: rows of equal rank stay in the
/// order of the table, unknown cells come last either way.
pub fn order(table: &Table, filter: &str, sort: Option<&Sort>) -> Vec<u32> {
    let filter = filter.trim().to_lowercase();
    let texts: Vec<&Vec<Option<String>>> = table
        .columns
        .iter()
        .filter_map(|column| match &column.data {
            Data::Text(cells) => Some(cells),
            _ => None,
        })
        .collect();
    let is_shown = |row: &u32| {
        filter.is_empty()
            || texts.iter().any(|cells| {
                cells.get(*row as usize).and_then(Option::as_ref).is_some_and(|text| holds(text, &filter))
            })
    };
    let mut rows: Vec<u32> = (0..table.n_rows() as u32).filter(is_shown).collect();
    if let Some((sort, column)) = sort.and_then(|sort| Some((sort, table.column(sort.column)?))) {
        rows.sort_by(|a, b| {
            let (a, b) = (column.data.cell(*a as usize), column.data.cell(*b as usize));
            match (a, b) {
                (Cell::Unknown, Cell::Unknown) => Ordering::Equal,
                (Cell::Unknown, _) => Ordering::Greater,
                (_, Cell::Unknown) => Ordering::Less,
                _ if sort.is_descending => compare(b, a),
                _ => compare(a, b),
            }
        });
    }
    rows
}

/// Substring, upper and lower case alike; `needle` is in lower case.
fn holds(text: &str, needle: &str) -> bool {
    if text.is_ascii() && needle.is_ascii() {
        let (text, needle) = (text.as_bytes(), needle.as_bytes());
        return text.windows(needle.len()).any(|part| part.eq_ignore_ascii_case(needle));
    }
    text.to_lowercase().contains(needle)
}

fn compare(a: Cell<'_>, b: Cell<'_>) -> Ordering {
    match (a, b) {
        (Cell::Int(a), Cell::Int(b)) => a.cmp(&b),
        (Cell::Real(a), Cell::Real(b)) => a.total_cmp(&b),
        (Cell::Text(a), Cell::Text(b)) => a.cmp(b),
        (Cell::Flag(a), Cell::Flag(b)) => a.cmp(&b),
        (Cell::Slice(a), Cell::Slice(b)) => a.cmp(&b),
        // A column has one type.
        _ => Ordering::Equal,
    }
}

/// Rows as tab-separated text with a header, for the clipboard: raw numbers, units in the column ids.
pub fn tsv(table: &Table, columns: &[&str], rows: &[u32]) -> String {
    let columns: Vec<_> = columns.iter().filter_map(|id| table.column(id)).collect();
    let mut text = columns.iter().map(|column| column.id).collect::<Vec<_>>().join("\t");
    text.push('\n');
    for row in rows {
        for (idx, column) in columns.iter().enumerate() {
            if 0 < idx {
                text.push('\t');
            }
            text.push_str(&crate::format::raw_cell(column.data.cell(*row as usize)));
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracecard_analyzers::{Column, Unit};

    fn table() -> Table {
        let names = ["gemm", "Softmax", "copy", "gemm_tn"].map(|name| Some(name.to_owned()));
        let totals = [Some(30), None, Some(10), Some(30)];
        let column = |id, unit, data| Column { id, title: id, unit, doc: "", data };
        Table {
            id: "kernels",
            title: "Kernels",
            columns: vec![
                column("name", Unit::Text, Data::Text(names.to_vec())),
                column("total_ns", Unit::Ns, Data::Int(totals.to_vec())),
            ],
        }
    }

    #[test]
    fn without_a_wish_the_order_is_that_of_the_table() {
        assert_eq!(order(&table(), "", None), [0, 1, 2, 3]);
    }

    #[test]
    fn unknown_is_last_either_way_and_equal_rows_keep_their_order() {
        let by_total = |is_descending| Sort { column: "total_ns", is_descending };
        assert_eq!(order(&table(), "", Some(&by_total(true))), [0, 3, 2, 1]);
        assert_eq!(order(&table(), "", Some(&by_total(false))), [2, 0, 3, 1]);
    }

    #[test]
    fn the_filter_is_a_substring_without_regard_to_case() {
        assert_eq!(order(&table(), "GEMM", None), [0, 3]);
        assert_eq!(order(&table(), " soft ", None), [1]);
        assert!(order(&table(), "nothing", None).is_empty());
    }

    #[test]
    fn copied_rows_are_raw_and_in_the_shown_order() {
        let text = tsv(&table(), &["name", "total_ns"], &[2, 1]);
        assert_eq!(text, "name\ttotal_ns\ncopy\t10\nSoftmax\t\n");
    }
}
