//! Name patterns as data: which kernels communicate, what family they are, whether they use tensor cores.
//!
//! The files lie in `assets/patterns/` and are embedded. Each line carries names that it must match and
//! names that it must not; the test here holds all lines to them, so adding a line needs no code.

use std::sync::LazyLock;

use regex::{RegexSet, RegexSetBuilder};
use serde::Deserialize;

/// One line of a pattern file.
#[derive(Debug, Deserialize)]
struct Pattern {
    /// What a name that matches is called; empty in files that only say yes.
    #[serde(default)]
    label: String,
    regex: String,
    #[cfg_attr(not(test), expect(dead_code, reason = "what the tests hold the line to"))]
    matches: Vec<String>,
    #[cfg_attr(not(test), expect(dead_code, reason = "what the tests hold the line to"))]
    rejects: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct PatternFile {
    pattern: Vec<Pattern>,
}

/// The lines of one pattern file, first match decides.
#[derive(Debug)]
pub(crate) struct Patterns {
    lines: Vec<Pattern>,
    set: RegexSet,
}

impl Patterns {
    fn parse(text: &str) -> Self {
        let file: PatternFile = match toml::from_str(text) {
            Ok(file) => file,
            Err(error) => unreachable!("an embedded file that the tests have parsed: {error}"),
        };
        let expressions = file.pattern.iter().map(|line| line.regex.as_str());
        match RegexSetBuilder::new(expressions).case_insensitive(true).build() {
            Ok(set) => Self { lines: file.pattern, set },
            Err(error) => unreachable!("an embedded expression that the tests have compiled: {error}"),
        }
    }

    /// The label of the first line that matches the name. O(length of the name).
    pub(crate) fn label(&self, name: &str) -> Option<&str> {
        let first = self.set.matches(name).iter().next()?;
        self.lines.get(first).map(|line| line.label.as_str())
    }

    /// Does any line match?
    pub(crate) fn is_match(&self, name: &str) -> bool {
        self.set.is_match(name)
    }
}

/// Kernels that communicate (SIG-10).
pub(crate) static COMMUNICATION: LazyLock<Patterns> =
    LazyLock::new(|| Patterns::parse(include_str!("../../assets/patterns/communication.toml")));

/// Families of kernels.
pub(crate) static FAMILIES: LazyLock<Patterns> =
    LazyLock::new(|| Patterns::parse(include_str!("../../assets/patterns/families.toml")));

/// Use of tensor cores (SIG-9): `yes`, `no`.
pub(crate) static TENSOR_CORE: LazyLock<Patterns> =
    LazyLock::new(|| Patterns::parse(include_str!("../../assets/patterns/tensor_core.toml")));

/// Counters of devices by what they mean.
pub(crate) static METRICS: LazyLock<Patterns> =
    LazyLock::new(|| Patterns::parse(include_str!("../../assets/patterns/metrics.toml")));

#[cfg(test)]
mod tests {
    use super::*;

    /// Every line by itself matches and rejects what it says; where lines have labels, its names are met
    /// by no earlier line.
    fn check(patterns: &Patterns, labels: &[&str]) {
        for (idx, line) in patterns.lines.iter().enumerate() {
            assert!(labels.contains(&line.label.as_str()), "{}: unknown label {:?}", line.regex, line.label);
            for name in &line.matches {
                let met: Vec<usize> = patterns.set.matches(name).iter().collect();
                assert!(met.contains(&idx), "{} does not match {name}", line.regex);
                let first = &patterns.lines[met[0]];
                assert_eq!(first.label, line.label, "{name}: {} comes first", first.regex);
            }
            for name in &line.rejects {
                assert!(!patterns.set.matches(name).matched(idx), "{} matches {name}", line.regex);
            }
            assert!(!line.rejects.is_empty(), "{} rejects nothing", line.regex);
        }
    }

    #[test]
    fn every_communication_line_does_what_it_says() {
        check(&COMMUNICATION, &[""]);
    }

    #[test]
    fn every_family_line_does_what_it_says() {
        check(
            &FAMILIES,
            &["gemm", "conv", "attention", "norm", "elementwise", "reduce", "copy", "optimizer"],
        );
    }

    #[test]
    fn every_tensor_core_line_does_what_it_says() {
        check(&TENSOR_CORE, &["yes", "no"]);
    }

    #[test]
    fn every_metric_line_does_what_it_says() {
        let ids: Vec<&str> = crate::metrics::metric_ids().collect();
        check(&METRICS, &ids);
    }
}
