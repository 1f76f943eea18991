//! What was wrong in the input: counted, shown in trace health, never silent.

use indexmap::IndexMap;

/// How much an issue can spoil.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing; no number is affected.
    Info,
    /// Some numbers may be less sure; the text says which.
    Warning,
    /// Something that happened is not in the Trace.
    DataLoss,
}

impl Severity {
    /// The stable text used in reports.
    pub fn text(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::DataLoss => "data_loss",
        }
    }
}

/// One kind of trouble, with how often it was met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issue {
    /// How much it can spoil.
    pub severity: Severity,
    /// Stable code in snake case.
    pub code: &'static str,
    /// A sentence for the user: what, and what it means for the numbers.
    pub text: String,
    /// How many times.
    pub count: u64,
    /// The first one met, as the file has it.
    pub example: Option<String>,
}

/// The issues of one import, one entry a code.
#[derive(Clone, Debug, Default)]
pub struct IssueLog(IndexMap<&'static str, Issue>);

impl IssueLog {
    /// Count one more of a kind. The text and example of the first call are kept; `example` is only
    /// evaluated then, so it may be costly.
    pub fn count(
        &mut self,
        severity: Severity,
        code: &'static str,
        text: &str,
        example: impl FnOnce() -> String,
    ) {
        self.count_n(1, severity, code, text, example);
    }

    /// Count `n` more of a kind; nothing when `n` is 0.
    pub fn count_n(
        &mut self,
        n: u64,
        severity: Severity,
        code: &'static str,
        text: &str,
        example: impl FnOnce() -> String,
    ) {
        if n == 0 {
            return;
        }
        let issue = self.0.entry(code).or_insert_with(|| {
            let example = Some(example()).filter(|e| !e.is_empty());
            Issue { severity, code, text: text.to_owned(), count: 0, example }
        });
        issue.count += n;
        issue.severity = issue.severity.max(severity);
    }

    /// Add the counts of another log; on equal codes the earlier text and example stay.
    pub fn absorb(&mut self, other: Self) {
        for (code, issue) in other.0 {
            match self.0.entry(code) {
                indexmap::map::Entry::Occupied(mut here) => {
                    let here = here.get_mut();
                    here.count += issue.count;
                    here.severity = here.severity.max(issue.severity);
                }
                indexmap::map::Entry::Vacant(free) => {
                    free.insert(issue);
                }
            }
        }
    }

    /// The issue with this code.
    pub fn get(&self, code: &str) -> Option<&Issue> {
        self.0.get(code)
    }

    /// All issues, gravest first, ties by code.
    pub fn into_sorted(self) -> Vec<Issue> {
        let mut all: Vec<Issue> = self.0.into_values().collect();
        all.sort_by(|a, b| b.severity.cmp(&a.severity).then(a.code.cmp(b.code)));
        all
    }
}
