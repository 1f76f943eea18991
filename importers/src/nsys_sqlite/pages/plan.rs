//! Which columns of a table are wanted, and where their values go.

use rusqlite::types::ValueRef;

use super::NotPlain;

/// Columns that one table may be asked for.
pub(super) const MAX_VALUES: usize = 32;

/// The values of a row: the wanted columns, then those that stand in for others.
pub(super) type Values<'a> = [ValueRef<'a>; MAX_VALUES];

/// What to take out of a row.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// For every column of the table up to the last wanted one: the place of its value.
    pub(super) places: Vec<Option<u8>>,
    /// Wanted values that are the first of several which is not null: their place, and those of the several.
    pub(super) choices: Vec<(u8, Vec<u8>)>,
    /// The place of a column that is another name of the row id; rows hold null there.
    pub(super) row_id: Option<u8>,
    /// Wanted columns.
    pub(super) n_wanted: usize,
}

/// A column of a table.
#[derive(Debug)]
pub(crate) struct TableColumn {
    /// Its name in lower case.
    pub(crate) name: String,
    /// Another name of the row id?
    pub(crate) is_row_id: bool,
}

impl Plan {
    /// The plan for columns as table readers name them: a name, or `a|b` for the first that is not null. What the
    /// table lacks is null.
    pub(crate) fn new(table: &[TableColumn], wanted: &[&str]) -> Result<Self, NotPlain> {
        let n_wanted = wanted.len();
        let mut plan = Self { places: Vec::new(), choices: Vec::new(), row_id: None, n_wanted };
        let mut n_places = n_wanted;
        for (place, column) in (0..).zip(wanted) {
            let have: Vec<usize> = column
                .split('|')
                .filter_map(|name| table.iter().position(|have| have.name.eq_ignore_ascii_case(name)))
                .collect();
            if let [_, _, ..] = have.as_slice() {
                let several = n_places..n_places + have.len();
                n_places = several.end;
                let several: Vec<u8> = several.map(|place| place as u8).collect();
                for (idx, place) in have.iter().zip(&several) {
                    plan.put(*idx, *place, table)?;
                }
                plan.choices.push((place, several));
            } else if let Some(idx) = have.first() {
                plan.put(*idx, place, table)?;
            }
        }
        if n_places <= MAX_VALUES { Ok(plan) } else { Err(NotPlain) }
    }

    fn put(&mut self, column: usize, place: u8, table: &[TableColumn]) -> Result<(), NotPlain> {
        if self.places.len() <= column {
            self.places.resize(column + 1, None);
        }
        let slot = self.places.get_mut(column).ok_or(NotPlain)?;
        // A column that is wanted twice.
        if slot.is_some() {
            return Err(NotPlain);
        }
        *slot = Some(place);
        if table.get(column).is_some_and(|column| column.is_row_id) {
            self.row_id = Some(place);
        }
        Ok(())
    }
}
