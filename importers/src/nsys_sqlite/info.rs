//! What the tables about the file say, without reading events.

use tracecard_model::IssueLog;

use super::IMPORTER;
use super::parts::SMALLEST_ROW_BYTES;
use super::read::open;
use crate::nsys_tables::{MetaData, Target};
use crate::{ImportError, Info, Input, TableInfo};

pub(super) fn info(input: &Input) -> Result<Info, ImportError> {
    let database = open(input)?;
    let mut issues = IssueLog::default();
    let meta = MetaData::read(&database, &mut issues);
    let target = Target::read(&database, &mut issues);
    // Row ids have gaps; a row takes some bytes at least.
    let most_rows = input.size_bytes() / SMALLEST_ROW_BYTES;
    let tables = database
        .schema
        .tables()
        .filter(|table| !table.name.starts_with("ENUM_") && table.n_rows_at_most() != Some(0))
        .map(|table| TableInfo {
            name: table.name.clone(),
            n_rows: table.n_rows_at_most().map(|n_rows| n_rows.min(most_rows)),
            is_estimate: true,
        })
        .collect();
    Ok(Info {
        format: IMPORTER.id,
        title: IMPORTER.title,
        tool: meta.tool(),
        size_bytes: input.size_bytes(),
        devices: target.gpu_names,
        tables,
        properties: meta.properties,
    })
}
