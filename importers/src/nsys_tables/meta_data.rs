//! `META_DATA_EXPORT` (before 2023.3 `EXPORT_META_DATA`), `META_DATA_CAPTURE`, `TARGET_INFO_SYSTEM_ENV`:
//! which nsys wrote the file, and how it was told to.
//!
//! These tables also hold host and user names, paths, command lines and the environment. Only the keys
//! listed here are read.

use tracecard_model::{IssueLog, Severity};

use super::small_tables::SmallTables;

/// What the file says about its making.
#[derive(Debug, Default)]
pub(crate) struct MetaData {
    /// Version of the nsys that exported it: `2026.2.1.210`.
    product: Option<String>,
    /// Version of its schema: `3.25.0`.
    schema: Option<String>,
    /// Which tables and times were exported, where not all were.
    partial: Vec<String>,
    /// Were time stamps moved to ns since 1970?
    is_normalized: bool,
    /// By how much else time stamps were moved, in ns.
    moved_ns: i64,
    /// Facts worth showing: (key, value).
    pub(crate) properties: Vec<(String, String)>,
}

/// Keys of `META_DATA_CAPTURE` that are shown: (end of the key, what the user reads).
const CAPTURE_KEYS: &[(&str, &str)] = &[
    ("CUDA_GRAPH_TRACE_OPTIONS:MODE", "CUDA graph trace"),
    ("CUDA_TRACE_SCOPE", "CUDA trace scope"),
    ("COLLECT_GPU_MEMORY_USAGE", "CUDA memory usage"),
    ("GPU_METRICS_OPTIONS:SAMPLING_FREQUENCY", "GPU metrics sampling (Hz)"),
    ("OS_RUNTIME_OPTIONS:DURATION_THRESHOLD_NS", "OS runtime calls shorter than this are not recorded (ns)"),
    ("LINUX_PERF_OPTIONS:SAMPLING_PERIOD", "CPU sampling period (events)"),
    ("RUN_DURATION_MS", "capture duration (ms)"),
];

/// Keys of `TARGET_INFO_SYSTEM_ENV` that are shown.
const SYSTEM_KEYS: &[(&str, &str)] = &[
    ("NvDriverVersion", "NVIDIA driver"),
    ("CudaDriverVersion", "CUDA driver version"),
    ("CpuDescription", "CPU"),
    ("CpuCores", "CPU cores"),
    ("OsDescription", "operating system"),
];

/// The newest major version of the schema that was seen.
const NEWEST_MAJOR: u32 = 3;

impl MetaData {
    /// Read the tables; all are optional.
    pub(crate) fn read(tables: &dyn SmallTables, issues: &mut IssueLog) -> Self {
        let mut meta = Self::default();
        for table in ["EXPORT_META_DATA", "META_DATA_EXPORT"] {
            tables.each_row(issues, table, &["name", "value"], &mut |cells| {
                if let (Some(name), Some(value)) = (cells.text(0), cells.text(1)) {
                    meta.add_export(&name, value.trim());
                }
                true
            });
        }
        meta.add_capture(tables, issues);
        tables.each_row(issues, "TARGET_INFO_SYSTEM_ENV", &["name", "value"], &mut |cells| {
            if let (Some(name), Some(value)) = (cells.text(0), cells.text(1))
                && let Some((_, label)) = SYSTEM_KEYS.iter().find(|(key, _)| *key == name)
            {
                let value =
                    if *label == "CUDA driver version" { cuda_version(&value) } else { value.into_owned() };
                meta.add_property(label, &value);
            }
            true
        });
        meta
    }

    fn add_export(&mut self, name: &str, value: &str) {
        match name {
            "EXPORT_PRODUCT_VERSION" => self.product = Some(value.to_owned()),
            "EXPORT_SCHEMA_VERSION" => self.schema = Some(value.to_owned()),
            "EXPORT_PARAM_TABLES_TO_EXPORT" | "EXPORT_PARAM_TIMES_TO_EXPORT" if !value.is_empty() => {
                let what = if name.contains("TABLES") { "tables" } else { "times" };
                self.partial.push(format!("{what}: {value}"));
            }
            "EXPORT_PARAM_TIME_NORMALIZE" => self.is_normalized = value.eq_ignore_ascii_case("true"),
            "EXPORT_PARAM_TIME_SHIFT" | "EXPORT_CONFIG_TIME_SHIFT" => {
                let moved_ns: i64 = value.parse().unwrap_or(0);
                self.moved_ns = self.moved_ns.saturating_add(moved_ns);
            }
            _ => {}
        }
    }

    fn add_capture(&mut self, tables: &dyn SmallTables, issues: &mut IssueLog) {
        let mut traced: Vec<String> = Vec::new();
        let mut found: Vec<(usize, String)> = Vec::new();
        tables.each_row(issues, "META_DATA_CAPTURE", &["name", "value"], &mut |cells| {
            let (Some(name), Some(value)) = (cells.text(0), cells.text(1)) else { return true };
            if name == "CAPTURE_EVENT_TYPE" {
                traced.push(value.into_owned());
            } else if let Some(idx) = CAPTURE_KEYS.iter().position(|(key, _)| name.ends_with(key))
                && !found.iter().any(|(have, _)| *have == idx)
            {
                found.push((idx, value.into_owned()));
            }
            true
        });
        if !traced.is_empty() {
            traced.sort_unstable();
            traced.dedup();
            self.add_property("traced", &traced.join(", "));
        }
        found.sort_by_key(|(idx, _)| *idx);
        for (idx, value) in found {
            if let Some((_, label)) = CAPTURE_KEYS.get(idx) {
                self.add_property(label, &value);
            }
        }
    }

    fn add_property(&mut self, label: &str, value: &str) {
        let is_new = !self.properties.iter().any(|(have, _)| have == label);
        if is_new && !value.is_empty() {
            self.properties.push((label.to_owned(), value.to_owned()));
        }
    }

    /// The tool in words; `None` for exports before 2022, which do not say.
    pub(crate) fn tool(&self) -> Option<String> {
        let schema = self.schema.as_ref().map(|schema| format!(" (schema {schema})"));
        self.product.as_ref().map(|product| format!("nsys {product}{}", schema.unwrap_or_default()))
    }

    /// Version of the schema: (major, minor).
    fn schema(&self) -> Option<(u32, u32)> {
        let mut numbers = self.schema.as_ref()?.split('.');
        Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
    }

    /// What to take from every time stamp to get ns after the session start.
    pub(crate) fn shift_ns(&self, start_unix_ns: Option<i64>) -> i64 {
        let normalized_ns = if self.is_normalized { start_unix_ns.unwrap_or(0) } else { 0 };
        normalized_ns.saturating_add(self.moved_ns)
    }

    /// Report what makes the file less than a whole capture.
    pub(crate) fn note_issues(&self, issues: &mut IssueLog) {
        for partial in &self.partial {
            let text = "the export holds only some tables or times of the capture";
            issues.count(Severity::DataLoss, "partial_export", text, || partial.clone());
        }
        if self.schema().is_some_and(|(major, _)| NEWEST_MAJOR < major) {
            let text =
                "the schema of the export is newer than any that was seen; columns may have changed meaning";
            issues.count(Severity::Warning, "newer_schema", text, || self.schema.clone().unwrap_or_default());
        }
    }
}

/// `12.3` from `12030`.
fn cuda_version(value: &str) -> String {
    match value.parse::<u32>() {
        Ok(version) => format!("{}.{}", version / 1000, version % 1000 / 10),
        Err(_) => value.to_owned(),
    }
}
