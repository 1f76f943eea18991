//! What the tables about the file say, without reading events.

use tracecard_model::IssueLog;

use super::IMPORTER;
use super::meta_data::MetaData;
use super::read::open;
use super::target::Target;
use crate::{ImportError, Info, Input, TableInfo};

pub(super) fn info(input: &Input) -> Result<Info, ImportError> {
    let (connection, schema) = open(input)?;
    let mut issues = IssueLog::default();
    let meta = MetaData::read(&connection, &schema, &mut issues);
    let target = Target::read(&connection, &schema, &mut issues);
    let tables = schema
        .tables()
        .filter(|table| !table.name.starts_with("ENUM_") && table.n_rows_at_most() != Some(0))
        .map(|table| TableInfo {
            name: table.name.clone(),
            n_rows: table.n_rows_at_most(),
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
