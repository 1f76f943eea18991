//! A table of results: columns with a unit, cells that may be unknown.

use tracecard_model::SliceId;

/// Unit of a column's numbers; decides how they are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A name or text.
    Text,
    /// Nanoseconds.
    Ns,
    /// Bytes.
    Bytes,
    /// Bytes per second.
    BytesPerS,
    /// A number of things.
    Count,
    /// A fraction, 0–1.
    Frac,
    /// A plain number.
    Number,
    /// Yes or no.
    Flag,
    /// A slice to show in the timeline; no number.
    Slice,
}

/// The cells of one column; `None` is unknown.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// Whole numbers.
    Int(Vec<Option<i64>>),
    /// Real numbers, all finite.
    Real(Vec<Option<f64>>),
    /// Texts.
    Text(Vec<Option<String>>),
    /// Yes or no.
    Flag(Vec<Option<bool>>),
    /// Slices of the trace.
    Slice(Vec<Option<SliceId>>),
}

/// One cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    /// Not known.
    Unknown,
    /// A whole number.
    Int(i64),
    /// A real number.
    Real(f64),
    /// A text.
    Text(&'a str),
    /// Yes or no.
    Flag(bool),
    /// A slice.
    Slice(SliceId),
}

/// One column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Stable id; the key in the JSON report.
    pub id: &'static str,
    /// Heading, in sentence case.
    pub title: &'static str,
    /// Unit of the cells.
    pub unit: Unit,
    /// What the number means, for the tool-tip.
    pub doc: &'static str,
    /// The cells.
    pub data: Data,
}

/// Rows of results, all columns of one length.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Stable id; the key in the JSON report.
    pub id: &'static str,
    /// Heading, in sentence case.
    pub title: &'static str,
    /// The columns.
    pub columns: Vec<Column>,
}

impl Column {
    /// A column of whole numbers.
    pub fn ints(
        id: &'static str,
        title: &'static str,
        unit: Unit,
        doc: &'static str,
        cells: impl IntoIterator<Item = Option<i64>>,
    ) -> Self {
        Self { id, title, unit, doc, data: Data::Int(cells.into_iter().collect()) }
    }

    /// A column of real numbers. What is not finite (a division by zero) is unknown.
    pub fn reals(
        id: &'static str,
        title: &'static str,
        unit: Unit,
        doc: &'static str,
        cells: impl IntoIterator<Item = Option<f64>>,
    ) -> Self {
        let finite = cells.into_iter().map(|cell| cell.filter(|value| value.is_finite()));
        Self { id, title, unit, doc, data: Data::Real(finite.collect()) }
    }

    /// A column of texts.
    pub fn texts(
        id: &'static str,
        title: &'static str,
        doc: &'static str,
        cells: impl IntoIterator<Item = Option<String>>,
    ) -> Self {
        Self { id, title, unit: Unit::Text, doc, data: Data::Text(cells.into_iter().collect()) }
    }

    /// A column of yes and no.
    pub fn flags(
        id: &'static str,
        title: &'static str,
        doc: &'static str,
        cells: impl IntoIterator<Item = Option<bool>>,
    ) -> Self {
        Self { id, title, unit: Unit::Flag, doc, data: Data::Flag(cells.into_iter().collect()) }
    }

    /// A column of slices to show.
    pub fn slices(
        id: &'static str,
        title: &'static str,
        doc: &'static str,
        cells: impl IntoIterator<Item = Option<SliceId>>,
    ) -> Self {
        Self { id, title, unit: Unit::Slice, doc, data: Data::Slice(cells.into_iter().collect()) }
    }
}

impl Data {
    /// How many cells.
    pub fn len(&self) -> usize {
        match self {
            Self::Int(cells) => cells.len(),
            Self::Real(cells) => cells.len(),
            Self::Text(cells) => cells.len(),
            Self::Flag(cells) => cells.len(),
            Self::Slice(cells) => cells.len(),
        }
    }

    /// None?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The cell of a row; unknown beyond the end.
    pub fn cell(&self, row: usize) -> Cell<'_> {
        fn known<'a, T>(cells: &'a [Option<T>], row: usize, cell: impl Fn(&'a T) -> Cell<'a>) -> Cell<'a> {
            cells.get(row).and_then(Option::as_ref).map_or(Cell::Unknown, cell)
        }
        match self {
            Self::Int(cells) => known(cells, row, |v| Cell::Int(*v)),
            Self::Real(cells) => known(cells, row, |v| Cell::Real(*v)),
            Self::Text(cells) => known(cells, row, |v| Cell::Text(v)),
            Self::Flag(cells) => known(cells, row, |v| Cell::Flag(*v)),
            Self::Slice(cells) => known(cells, row, |v| Cell::Slice(*v)),
        }
    }
}

impl Table {
    /// How many rows.
    pub fn n_rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.data.len())
    }

    /// The column with this id.
    pub fn column(&self, id: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.id == id)
    }

    /// One cell; unknown where column or row do not exist.
    pub fn cell(&self, row: usize, column: &str) -> Cell<'_> {
        self.column(column).map_or(Cell::Unknown, |column| column.data.cell(row))
    }

    /// A whole number; `None` where unknown or no whole number.
    pub fn int(&self, row: usize, column: &str) -> Option<i64> {
        match self.cell(row, column) {
            Cell::Int(value) => Some(value),
            _ => None,
        }
    }

    /// A real number, or a whole one as such; `None` where unknown or no number.
    pub fn real(&self, row: usize, column: &str) -> Option<f64> {
        match self.cell(row, column) {
            Cell::Real(value) => Some(value),
            Cell::Int(value) => Some(value as f64),
            _ => None,
        }
    }

    /// Yes or no; `None` where unknown or neither.
    pub fn flag(&self, row: usize, column: &str) -> Option<bool> {
        match self.cell(row, column) {
            Cell::Flag(value) => Some(value),
            _ => None,
        }
    }

    /// A slice; `None` where unknown or no slice.
    pub fn slice(&self, row: usize, column: &str) -> Option<SliceId> {
        match self.cell(row, column) {
            Cell::Slice(value) => Some(value),
            _ => None,
        }
    }

    /// A text; `None` where unknown or no text.
    pub fn text(&self, row: usize, column: &str) -> Option<&str> {
        match self.cell(row, column) {
            Cell::Text(value) => Some(value),
            _ => None,
        }
    }
}
