//! What the messages around the events say, without unpacking events.

use tracecard_model::IssueLog;

use super::IMPORTER;
use super::container::{Container, unknown_layout};
use super::message::Damaged;
use super::read::open;
use super::report::Report;
use super::stream::{Stream, Wanted};
use crate::nsys_tables::{MetaData, Strings, Target};
use crate::{ImportError, Info, Input, TableInfo};

pub(super) fn info(input: &Input) -> Result<Info, ImportError> {
    let mut file = open(input)?;
    let container = Container::open(input, &mut file)?;
    let stream = Stream::open(input, &container, &file, Wanted::Rest)?;
    let report = Report::read(&stream, &container.clocks, &Strings::default()).map_err(|Damaged| {
        unknown_layout(input, container.version.as_deref(), "its description of the machine cannot be read")
    })?;
    let mut issues = IssueLog::default();
    let target = Target::read(&report, &mut issues);
    let meta = MetaData::read(&report, &mut issues);
    let counts = [
        ("events", stream.layout.n_events),
        ("generic events", stream.layout.n_generic_events),
        ("texts", stream.layout.n_strings),
        ("thread names", stream.layout.n_threads),
    ];
    let tables = counts
        .iter()
        .filter(|(_, n)| 0 < *n)
        .map(|(name, n)| TableInfo { name: (*name).to_owned(), n_rows: Some(*n), is_estimate: false })
        .collect();
    Ok(Info {
        format: IMPORTER.id,
        title: IMPORTER.title,
        tool: container.version.map(|version| format!("nsys {version}")),
        size_bytes: input.size_bytes(),
        devices: target.gpu_names,
        tables,
        properties: meta.properties,
    })
}
