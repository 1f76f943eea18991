//! Which tool wrote the file, as far as its layout tells: Kineto does not state torch's version.
//!
//! Signs by version, recorded with torch 1.8.1 … 2.15.0: whole µs before 2.4; `trace_id` since 2.6;
//! `baseTimeNanoseconds` before the events since 2.8; `host_name` since 2.12.

use super::fragment::Signs;

/// The tool in words; `None` where nothing points to one.
pub(super) fn tool(keys: &[String], signs: Signs, has_ns: bool) -> Option<String> {
    let position = |key: &str| keys.iter().position(|k| k == key);
    if signs.has_cpu_functions {
        return Some("torch.autograd.profiler".to_owned());
    }
    if position("schemaVersion").is_none() {
        // The first releases wrote a bare list.
        return signs
            .has_operator
            .then(|| "PyTorch profiler (Kineto), torch 1.8 by the layout of the file".to_owned());
    }
    let events = position("traceEvents")?;
    // Recorded on demand by a daemon, which adds keys of its own.
    if position("username").is_some() {
        return Some("PyTorch profiler (Kineto)".to_owned());
    }
    let versions = match position("baseTimeNanoseconds") {
        _ if position("host_name").is_some() && position("trace_id").is_some() => "torch 2.12 or later",
        Some(base) if base < events => "torch 2.8–2.11",
        Some(_) if position("trace_id").is_some() => "torch 2.6–2.7",
        Some(_) => "torch 2.4–2.5",
        None if has_ns => "torch 2.4 or later",
        None if signs.has_concrete_inputs => "torch 2.1–2.3",
        None if signs.has_ev_idx => "torch 2.0–2.3",
        None if signs.has_lower_dims => "torch 1.8",
        None if signs.has_operator => "torch 1.9",
        None if signs.has_trace_name => "torch 1.10–1.13",
        None => return Some("PyTorch profiler (Kineto)".to_owned()),
    };
    Some(format!("PyTorch profiler (Kineto), {versions} by the layout of the file"))
}
