//! Facts beside the events: `deviceProperties`, `distributedInfo`, `baseTimeNanoseconds`, capture options.
//!
//! Each value is parsed on its own: garbage in one never costs another, nor an event.
//! Host and user names, paths and command lines are not read.

use serde_json::Value;
use tracecard_model::{Device, IssueLog, Severity, TraceBuilder};

use super::fragment::Found;

/// Keys whose values are shown as they are: options and versions, nothing personal.
const SHOWN: &[&str] = &[
    "schemaVersion",
    "record_shapes",
    "with_stack",
    "with_flops",
    "with_modules",
    "profile_memory",
    "cupti_version",
    "cuda_runtime_version",
    "cuda_driver_version",
    "hip_runtime_version",
    "hip_driver_version",
    "roctracer_version",
    "rocprofiler-sdk_version",
    "trace_id",
];

/// What the members of the top level say.
#[derive(Debug, Default)]
pub(super) struct Members {
    /// One a device, in file order: its number in the file and what is known of it.
    pub(super) devices: Vec<Device>,
    pub(super) base_time_ns: Option<i64>,
    pub(super) rank: Option<u32>,
    /// (key, value) for the user.
    pub(super) properties: Vec<(String, String)>,
    /// The keys in file order.
    pub(super) keys: Vec<String>,
}

impl Members {
    /// Parse what can be parsed; count what cannot.
    pub(super) fn new(found: &Found, issues: &mut IssueLog) -> Self {
        let mut members = Self::default();
        for (key, raw) in &found.members {
            members.keys.push(key.clone());
            if raw.is_empty() {
                continue;
            }
            let is_wanted =
                matches!(key.as_str(), "deviceProperties" | "distributedInfo" | "baseTimeNanoseconds");
            if !is_wanted && !SHOWN.contains(&key.as_str()) {
                continue;
            }
            let Ok(value) = serde_json::from_str::<Value>(&String::from_utf8_lossy(raw)) else {
                let text = "facts beside the events are no JSON; they are left out";
                issues.count(Severity::Info, "metadata_unreadable", text, || key.clone());
                continue;
            };
            match key.as_str() {
                "deviceProperties" => {
                    members.devices = value.as_array().into_iter().flatten().filter_map(device).collect();
                }
                "distributedInfo" => members.read_distributed(&value),
                "baseTimeNanoseconds" => members.base_time_ns = integer(&value),
                _ => members.properties.push((key.clone(), shown(&value))),
            }
        }
        members
    }

    fn read_distributed(&mut self, value: &Value) {
        self.rank = value.get("rank").and_then(integer).and_then(|rank| u32::try_from(rank).ok());
        for key in ["rank", "world_size", "backend", "nccl_version"] {
            if let Some(value) = value.get(key) {
                self.properties.push((key.to_owned(), shown(value)));
            }
        }
    }

    /// Complete the devices that have work in this trace.
    pub(super) fn apply_devices(&self, builder: &mut TraceBuilder) {
        for properties in &self.devices {
            // In files merged from several ranks a device is known as `process/number`.
            if let Some(device) = builder.find_device(&properties.number.to_string()) {
                *builder.device_mut(device) = properties.clone();
            }
        }
    }
}

fn integer(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => number.as_i64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A device as `deviceProperties` lists it.
fn device(value: &Value) -> Option<Device> {
    let wide =
        |key: &str| value.get(key).and_then(integer).and_then(|v| u64::try_from(v).ok()).filter(|v| 0 < *v);
    let narrow = |key: &str| wide(key).and_then(|v| u32::try_from(v).ok());
    let number = u32::try_from(value.get("id").and_then(integer)?).ok()?;
    let name = value.get("name").and_then(Value::as_str).filter(|name| !name.is_empty()).map(str::to_owned);
    // Minor versions may be 0.
    let minor = value.get("computeMinor").and_then(integer).and_then(|v| u32::try_from(v).ok());
    let threads = narrow("maxThreadsPerMultiprocessor");
    let warp = narrow("warpSize");
    Some(Device {
        number,
        name,
        compute_capability: narrow("computeMajor").zip(minor),
        sm_count: narrow("numSms"),
        memory_bytes: wide("totalGlobalMem"),
        max_warps_per_sm: threads.zip(warp).map(|(threads, warp)| threads / warp),
        registers_per_sm: narrow("regsPerMultiprocessor"),
        shared_bytes_per_sm: narrow("sharedMemPerMultiprocessor")
            .or(narrow("maxSharedMemoryPerMultiProcessor")),
        shared_bytes_per_block_optin: narrow("sharedMemPerBlockOptin"),
        ..Device::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(all: &[(&str, &str)]) -> (Members, IssueLog) {
        let mut issues = IssueLog::default();
        let members = all.iter().map(|(key, value)| ((*key).to_owned(), value.as_bytes().to_vec())).collect();
        (Members::new(&Found { members, ..Found::default() }, &mut issues), issues)
    }

    #[test]
    fn devices_are_read_and_zero_is_unknown() {
        let text = r#"[{"id": 1, "name": "", "numSms": 0, "computeMajor": 9, "computeMinor": 0,
                       "maxThreadsPerMultiprocessor": 2048, "warpSize": 32, "totalGlobalMem": 85}, {"name": "x"}]"#;
        let (members, issues) = members(&[("deviceProperties", text)]);
        let [device] = members.devices.as_slice() else { panic!("{members:?}") };
        assert_eq!((device.number, &device.name, device.sm_count), (1, &None, None));
        assert_eq!(device.compute_capability, Some((9, 0)));
        assert_eq!((device.max_warps_per_sm, device.memory_bytes), (Some(64), Some(85)));
        assert!(issues.into_sorted().is_empty());
    }

    #[test]
    fn garbage_in_one_member_costs_only_that_one() {
        let (members, issues) = members(&[
            ("deviceProperties", "[{]"),
            ("distributedInfo", r#"{"rank": "3", "world_size": 8, "backend": "nccl"}"#),
            ("host_name", "\"secret\""),
            ("baseTimeNanoseconds", "1790857026000000000"),
        ]);
        assert_eq!(members.rank, Some(3));
        assert_eq!(members.base_time_ns, Some(1_790_857_026_000_000_000));
        assert_eq!(issues.get("metadata_unreadable").map(|issue| issue.count), Some(1));
        assert!(members.properties.iter().all(|(_, value)| value != "secret"));
    }
}
