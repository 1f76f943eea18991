//! Nsight Systems reports (`.nsys-rep`, before 2021.3 `.qdrep`), read without NVIDIA's tools.
//!
//! The format was found out from report files and their SQLite exports alone; no vendor's description was
//! used. A report is a container with a table of contents, blocks packed with LZ4, and ordinary protobuf. Its
//! records have the fields of the tables that an export has, so they go through the same
//! [`crate::nsys_tables`] and give the same Trace.
//!
//! What is not understood is refused with a message, or counted: the parts of the file say how many events,
//! texts and threads there are, and those numbers must come out. Reports hold host and user names, command
//! lines, the environment and what the program printed; none of that becomes part of a Trace.

mod clock;
mod container;
mod events;
mod fields;
mod info;
mod message;
mod read;
mod report;
mod stream;
mod strings;
mod unread;
mod version;

use crate::{Importer, Input};

/// Reads reports.
pub(crate) const IMPORTER: Importer =
    Importer { id: "nsys-rep", title: "Nsight Systems report", sniff, read: read::read, info: info::info };

fn sniff(input: &Input) -> bool {
    input.head().starts_with(container::MAGIC)
}
