//! How the analyzers' tests ask: fixture in, text out.

use tracecard_model::{Progress, Span, fixture};

use crate::{Analyzer, Derived, Input, Outcome, Params};

/// Run one analyzer on a fixture.
pub(crate) fn run(analyzer: &Analyzer, text: &str, params: &Params) -> Outcome {
    let trace = fixture(text).unwrap();
    let derived = Derived::new(&trace, params).unwrap();
    let input = Input { trace: &trace, params, derived: &derived };
    (analyzer.run)(&input, &Progress::new()).unwrap()
}

/// The rows of a table that the analyzer gives, cells separated by ` | `.
pub(crate) fn check_table(analyzer: &Analyzer, text: &str, table: &str, columns: &[&str], expected: &str) {
    check_table_with(analyzer, text, &Params::default(), table, columns, expected);
}

/// As [`check_table`], with the user's choices.
pub(crate) fn check_table_with(
    analyzer: &Analyzer,
    text: &str,
    params: &Params,
    table: &str,
    columns: &[&str],
    expected: &str,
) {
    let tables = match run(analyzer, text, params) {
        Outcome::Done(tables) => tables,
        Outcome::Abstained(reason) => panic!("abstained: {reason}"),
    };
    let table = tables.iter().find(|t| t.id == table).unwrap();
    for column in &table.columns {
        assert_eq!(column.data.len(), table.n_rows(), "{} has another length", column.id);
        assert!(!column.doc.is_empty(), "{} has no doc", column.id);
    }
    let unknown: Vec<_> = columns.iter().filter(|id| table.column(id).is_none()).collect();
    assert!(unknown.is_empty(), "no columns {unknown:?}");
    let text = table.to_text(columns);
    let rows = text.split_once('\n').unwrap().1.trim_end();
    assert_eq!(rows, expected);
}

/// The analyzer declines, with a reason that says this.
pub(crate) fn check_abstains(analyzer: &Analyzer, text: &str, reason: &str) {
    match run(analyzer, text, &Params::default()) {
        Outcome::Abstained(text) => assert!(text.contains(reason), "{text}"),
        Outcome::Done(tables) => panic!("gave {} tables", tables.len()),
    }
}

/// Only this part of the run.
pub(crate) fn in_window(start_ns: i64, end_ns: i64) -> Params {
    Params { window: Some(Span::new(start_ns, end_ns)), ..Params::default() }
}
