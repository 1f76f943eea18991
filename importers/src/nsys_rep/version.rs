//! Versions of nsys as reports write them: `2026.1.1.204`.

use tracecard_model::{IssueLog, Severity};

/// Year and number of a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version {
    year: u32,
    number: u32,
}

/// The newest release of which reports were read.
const NEWEST: Version = Version { year: 2026, number: 2 };

impl Version {
    /// From `2026.1.1.204`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.split('.');
        Some(Self { year: numbers.next()?.parse().ok()?, number: numbers.next()?.parse().ok()? })
    }

    /// Warn of releases that were never seen.
    pub(super) fn note_issues(version: Option<Self>, text: Option<&str>, issues: &mut IssueLog) {
        match version {
            Some(version) if version <= NEWEST => {}
            Some(_) => {
                let explanation = "the report was made by a newer nsys than any whose reports were tried (2026.2); what \
                                   its counts can check was right, but fields may have changed meaning";
                issues.count(Severity::Warning, "newer_report", explanation, || {
                    format!("nsys {}", text.unwrap_or_default())
                });
            }
            None => {
                let explanation = "the report does not say which nsys made it";
                issues.count(Severity::Warning, "report_version_unknown", explanation, String::new);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_years_and_numbers() {
        assert_eq!(Version::parse("2026.1.1.204"), Some(Version { year: 2026, number: 1 }));
        assert_eq!(Version::parse("2031.1"), Some(Version { year: 2031, number: 1 }));
        assert_eq!(Version::parse(""), None);
        assert!(NEWEST < Version { year: 2026, number: 4 });
    }
}
