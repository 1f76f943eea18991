//! The order of rows of each table view: made between frames, in a job when it is long work.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::App;
use super::open::Output;
use crate::memo::Memo;
use crate::run::RunId;
use crate::state::Slot;
use crate::views::ViewId;
use crate::views::table::{self, Sort};

/// What an order depends on.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OrderKey {
    run: RunId,
    sort: Option<Sort>,
    filter: String,
}

/// The order of rows by table view.
#[derive(Debug, Default)]
pub(super) struct Orders(BTreeMap<ViewId, Memo<OrderKey, Vec<u32>>>);

/// Sorting more rows than this could be felt, so it happens in a job.
const MAX_ROWS_AT_ONCE: usize = 20_000;

impl Orders {
    /// Rows in the order wanted last; `None` before the first one is made.
    pub(super) fn of(&self, view: ViewId) -> Option<&[u32]> {
        self.0.get(&view).and_then(Memo::last).map(Vec::as_slice)
    }

    pub(super) fn set(&mut self, view: ViewId, key: OrderKey, rows: Vec<u32>) {
        self.0.entry(view).or_default().set(key, rows);
    }
}

impl App {
    /// Make the orders that table views want and do not have.
    pub(super) fn prepare_tables(&mut self) {
        let Some(run) = &self.run else { return };
        let Some(analysis) = run.analysis() else { return };
        for spec in table::SPECS {
            let Some(rows) = analysis.table(spec.table).map(tracecard_analyzers::Table::n_rows) else {
                continue;
            };
            let state = self.state.tables.get(&spec.view);
            let sort = state.and_then(|state| state.sort);
            let filter = state.map_or_else(String::new, |state| state.filter.clone());
            let key = OrderKey { run: run.id, sort, filter };
            let memo = self.orders.0.entry(spec.view).or_default();
            if memo.is_for(&key) {
                continue;
            }
            if rows <= MAX_ROWS_AT_ONCE {
                if let Some(table) = analysis.table(spec.table) {
                    memo.get(key, |key| table::order(table, &key.filter, key.sort.as_ref()));
                }
                continue;
            }
            let slot = Slot::Order(spec.view);
            if self.orders_wanted.get(&spec.view) == Some(&key) && self.jobs.status(slot).is_some() {
                continue;
            }
            self.orders_wanted.insert(spec.view, key.clone());
            let (analysis, view) = (Arc::clone(analysis), spec.view);
            self.jobs.start(slot, format!("Ordering {}", view.title()), move |_| {
                let rows = analysis
                    .table(spec.table)
                    .map_or_else(Vec::new, |table| table::order(table, &key.filter, key.sort.as_ref()));
                Ok(Output::Ordered { view, key, rows })
            });
        }
    }
}
