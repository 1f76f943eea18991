//! What was accepted although it is no JSON, and how trace health says so: one stable code each.

use std::ops::BitOrAssign;

use tracecard_model::{IssueLog, Severity};

/// A set of repairs, of one event or one fact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Repairs(u16);

impl Repairs {
    pub(super) const NONE: Self = Self(0);
    /// A backslash stands before a character that cannot be escaped: the writer did not escape at all.
    pub(super) const ILLEGAL_ESCAPE: Self = Self(1);
    /// `N/A`, `inf`, `NaN` and other bare words.
    pub(super) const BARE_WORD: Self = Self(1 << 1);
    /// Nothing where a value should be.
    pub(super) const MISSING_VALUE: Self = Self(1 << 2);
    /// A comma that separates nothing.
    pub(super) const STRAY_COMMA: Self = Self(1 << 3);
    /// A key without its opening quote, or without both.
    pub(super) const BARE_KEY: Self = Self(1 << 4);
    /// A raw control character in a string.
    pub(super) const CONTROL: Self = Self(1 << 5);
    /// Bytes that are no UTF-8.
    pub(super) const NO_UTF8: Self = Self(1 << 6);
    /// Two events without a comma between them.
    pub(super) const MISSING_COMMA: Self = Self(1 << 7);
    /// A brace that closes nothing, or the bracket before it is missing.
    pub(super) const STRAY_BRACE: Self = Self(1 << 8);
    /// Something before or behind the trace.
    pub(super) const OUTSIDE: Self = Self(1 << 9);

    /// Is any of these in the set?
    pub(super) fn has(self, any: Self) -> bool {
        self.0 & any.0 != 0
    }

    /// Count each repair in the set once.
    pub(super) fn count(self, issues: &mut IssueLog, example: impl Fn() -> String) {
        if self == Self::NONE {
            return;
        }
        for (repair, code, text) in ALL {
            if self.has(*repair) {
                issues.count(Severity::Info, code, text, &example);
            }
        }
    }
}

impl BitOrAssign for Repairs {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

/// Each repair with its code and what the user reads.
const ALL: &[(Repairs, &str, &str)] = &[
    (
        Repairs::ILLEGAL_ESCAPE,
        "unescaped_backslashes",
        "backslashes were not escaped; in this file all are read as they stand",
    ),
    (
        Repairs::BARE_WORD,
        "bare_words",
        "values are words without quotes (N/A, inf, NaN); such values are unknown",
    ),
    (Repairs::MISSING_VALUE, "missing_values", "keys have no value; such values are unknown"),
    (Repairs::STRAY_COMMA, "stray_commas", "commas separate nothing; they are passed over"),
    (Repairs::BARE_KEY, "bare_keys", "keys lack a quote; they are read as if it were there"),
    (
        Repairs::CONTROL,
        "control_characters",
        "texts hold raw line ends, tabs or control characters; they are kept",
    ),
    (Repairs::NO_UTF8, "invalid_utf8", "texts hold bytes that are no UTF-8; they show as \u{fffd}"),
    (
        Repairs::MISSING_COMMA,
        "missing_commas",
        "events have no comma between them; they are read all the same",
    ),
    (
        Repairs::STRAY_BRACE,
        "stray_braces",
        "braces close nothing, or a bracket is missing before them; they are passed over",
    ),
    (Repairs::OUTSIDE, "bytes_outside", "bytes stand before or behind the trace; they are passed over"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_repair_has_its_own_code() {
        let mut all = Repairs::NONE;
        for (repair, ..) in ALL {
            assert!(!all.has(*repair));
            all |= *repair;
        }
        let mut issues = IssueLog::default();
        all.count(&mut issues, || "here".to_owned());
        let issues = issues.into_sorted();
        assert_eq!(issues.len(), ALL.len());
        assert!(issues.iter().all(|issue| issue.count == 1 && issue.example.as_deref() == Some("here")));
    }
}
