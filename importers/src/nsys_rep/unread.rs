//! Records that are not known: counted by kind and shown, never dropped in silence.

use std::collections::BTreeMap;

use tracecard_model::{IssueLog, Severity};

/// What tells kinds of records apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// An event.
    Event {
        /// Type of the event.
        kind: i64,
        /// Field of its payload.
        payload: u32,
        /// Class of a call, or field of the nested message of device work.
        class: Option<i64>,
    },
    /// An event of a type that the report describes itself.
    Generic(i64),
    /// A field of a block beside events.
    BlockField(u32),
    /// Beyond the number of kinds that are told apart.
    More,
}

/// Kinds that are told apart, and kinds that are shown.
const MAX_KINDS: usize = 1000;
const SHOWN_KINDS: usize = 8;

/// Counts by kind.
#[derive(Debug, Default)]
pub(super) struct Unread(BTreeMap<Kind, u64>);

impl Unread {
    pub(super) fn count(&mut self, kind: Kind) {
        self.add(kind, 1);
    }

    fn add(&mut self, kind: Kind, n: u64) {
        // A broken file may have as many kinds as records.
        let kind = if self.0.len() < MAX_KINDS || self.0.contains_key(&kind) { kind } else { Kind::More };
        *self.0.entry(kind).or_default() += n;
    }

    pub(super) fn absorb(&mut self, other: Self) {
        for (kind, n) in other.0 {
            self.add(kind, n);
        }
    }

    /// Report what was not read.
    pub(super) fn note(&self, issues: &mut IssueLog) {
        let n_records = self.0.values().sum();
        let n_kinds = self.0.len();
        let (records, kinds) = (plural(n_records, "record"), plural(n_kinds as u64, "kind"));
        let text = format!(
            "{records} of {kinds} that Tracecard does not know were not read; what they say is missing"
        );
        issues.count_n(n_records, Severity::DataLoss, "records_not_read", &text, || self.kinds());
    }

    fn kinds(&self) -> String {
        let n_more = self.0.len().saturating_sub(SHOWN_KINDS);
        let kinds = self.0.iter().take(SHOWN_KINDS).map(|(kind, n)| match kind {
            Kind::Event { kind, payload, class: None } => format!("type {kind}, payload {payload} (×{n})"),
            Kind::Event { kind, payload, class: Some(class) } => {
                format!("type {kind}, payload {payload}, class {class} (×{n})")
            }
            Kind::Generic(kind) => format!("generic type {kind} (×{n})"),
            Kind::BlockField(field) => format!("block field {field} (×{n})"),
            Kind::More => format!("others (×{n})"),
        });
        let more = (0 < n_more).then(|| format!("and {n_more} more"));
        kinds.chain(more).collect::<Vec<_>>().join("; ")
    }
}

fn plural(n: u64, word: &str) -> String {
    if n == 1 { format!("{n} {word}") } else { format!("{n} {word}s") }
}
