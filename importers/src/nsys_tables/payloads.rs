//! `NVTX_EVENTS.binaryData`, laid out as `NVTX_PAYLOAD_SCHEMA_ENTRIES` says: what NCCL tells of its calls.
//!
//! Exports hold the bytes only when made with `--include-blobs=true`. Found out from public exports and from
//! readers of them, for NVIDIA does not describe it:
//! ```text
//! u64 domain, u64 schema, u64 bytes of the payload, u64 bytes of it and this header, the payload; little-endian
//! ```
//! The schemas are written once for every process, without saying for which: equal ones are taken once, and
//! those that differ are not used.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use tracecard_model::{IssueLog, Severity};

use super::small_tables::SmallTables;
use crate::nsys_terms::nccl::NcclField;

/// The schemas with fields that mean something here, by (domain, schema).
#[derive(Debug, Default)]
pub(crate) struct PayloadSchemas(FxHashMap<(i64, i64), Vec<Field>>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Field {
    meaning: NcclField,
    /// NVTX's number of the type.
    kind: i64,
    offset: usize,
}

/// What the payload of one range says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct NcclPayload {
    pub(crate) communicator: Option<u64>,
    pub(crate) bytes: Option<u64>,
    pub(crate) n_ranks: Option<u32>,
    pub(crate) rank: Option<u32>,
}

/// Bytes before the payload.
const HEADER_BYTES: usize = 32;

/// What a row of the table of entries says.
type Entry = (Option<i64>, Option<i64>, Option<String>, Option<i64>);

impl PayloadSchemas {
    /// Read the table; files without have no schemas.
    pub(crate) fn read(tables: &dyn SmallTables, issues: &mut IssueLog) -> Self {
        let mut schemas: BTreeMap<(i64, i64), BTreeMap<i64, Entry>> = BTreeMap::new();
        let mut unclear: Vec<(i64, i64)> = Vec::new();
        let columns = ["domainId", "schemaId", "idx", "type", "offset", "flags", "name"];
        tables.each_row(issues, "NVTX_PAYLOAD_SCHEMA_ENTRIES", &columns, &mut |cells| {
            let [Some(domain), Some(schema), Some(idx), kind, offset, flags] = cells.ints() else {
                return true;
            };
            let entry: Entry = (kind, offset, cells.text(6).map(std::borrow::Cow::into_owned), flags);
            let entries = schemas.entry((domain, schema)).or_default();
            if *entries.entry(idx).or_insert_with(|| entry.clone()) != entry {
                unclear.push((domain, schema));
            }
            true
        });
        unclear.sort_unstable();
        unclear.dedup();
        let text = "NVTX payloads are described in two ways; they are not read";
        let example = || unclear.first().map(|(_, schema)| format!("schema {schema}")).unwrap_or_default();
        issues.count_n(unclear.len() as u64, Severity::Info, "nvtx_payload_schemas_differ", text, example);
        let is_clear = |key: &(i64, i64)| unclear.binary_search(key).is_err();
        let known = schemas
            .into_iter()
            .filter(|(key, _)| is_clear(key))
            .map(|(key, entries)| (key, entries.into_values().filter_map(Field::new).collect::<Vec<_>>()));
        Self(known.filter(|(_, fields)| !fields.is_empty()).collect())
    }

    /// Does NCCL describe what it tells of its calls?
    pub(crate) fn has_sizes(&self) -> bool {
        self.0.values().flatten().any(|field| field.meaning == NcclField::Bytes)
    }

    /// What the payload of a range in a domain says; `None` where nothing is known of it.
    pub(crate) fn decode(&self, domain: i64, data: &[u8]) -> Option<NcclPayload> {
        let schema = word(data, 8)? as i64;
        let n_bytes = usize::try_from(word(data, 16)?).ok()?;
        let fields = self.0.get(&(domain, schema))?;
        let payload = data.get(HEADER_BYTES..HEADER_BYTES.checked_add(n_bytes)?)?;
        let mut found = NcclPayload::default();
        for field in fields {
            let Some(value) = field.read(payload) else { continue };
            let small = u32::try_from(value).ok();
            match field.meaning {
                NcclField::Communicator => found.communicator = Some(value).filter(|id| *id != 0),
                NcclField::Bytes => found.bytes = Some(value),
                NcclField::Ranks => found.n_ranks = small.filter(|n| 0 < *n && *n <= i32::MAX as u32),
                NcclField::Rank => found.rank = small.filter(|rank| *rank <= i32::MAX as u32),
            }
        }
        Some(found)
    }
}

impl Field {
    /// `None` for fields that mean nothing here, and for arrays and pointers (those have flags).
    fn new((kind, offset, label, flags): Entry) -> Option<Self> {
        let meaning = NcclField::from_label(label.as_deref()?)?;
        // The first field has no offset.
        let offset = usize::try_from(offset.unwrap_or(0)).ok()?;
        (flags.unwrap_or(0) == 0).then_some(Self { meaning, kind: kind?, offset })
    }

    fn read(self, payload: &[u8]) -> Option<u64> {
        match self.kind {
            // int, unsigned int and those of 32 bits.
            5 | 6 | 15 | 16 => {
                let end = self.offset.checked_add(4)?;
                Some(u64::from(u32::from_le_bytes(payload.get(self.offset..end)?.try_into().ok()?)))
            }
            // long long, those of 64 bits, and size_t.
            9 | 10 | 17 | 18 | 22 => word(payload, self.offset),
            _ => None,
        }
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at.checked_add(8)?)?.try_into().ok()?))
}
