//! Direction and memory of a copy, from its name (Kineto) or its arguments (Cuspy, ROCm, MTIA).

use tracecard_model::{Copy, CopyKind, MemoryKind};

use super::args::DeviceArgs;

/// A copy named like `Memcpy HtoD (Pageable -> Device)`.
pub(super) fn copy(name: &[u8], args: &DeviceArgs<'_>) -> Copy {
    let name = String::from_utf8_lossy(name);
    let word = name.split_ascii_whitespace().nth(1).unwrap_or_default();
    let argument =
        |text: Option<super::scan::RawStr<'_>>| text.map(|t| String::from_utf8_lossy(t.bytes).into_owned());
    let kind = match argument(args.copy_kind).and_then(|text| copy_kind(&text)) {
        Some(kind) => kind,
        None => copy_kind(word).unwrap_or(CopyKind::Unknown),
    };
    let (src, dst) = memories(&name);
    let src = argument(args.src).and_then(|text| memory_kind(&text)).or(src);
    let dst = argument(args.dst).and_then(|text| memory_kind(&text)).or(dst);
    Copy { kind, src, dst, bytes: args.bytes, is_migration: false }
}

/// A fill named like `Memset (Device)`.
pub(super) fn memset(name: &[u8], args: &DeviceArgs<'_>) -> Copy {
    let name = String::from_utf8_lossy(name);
    let dst = parenthesis(&name).and_then(memory_kind);
    Copy { kind: CopyKind::Memset, src: None, dst, bytes: args.bytes, is_migration: false }
}

/// `A` is a CUDA array: device memory. XPU writes `M2D` for what comes from host memory.
fn copy_kind(text: &str) -> Option<CopyKind> {
    Some(match text {
        "HtoD" | "HtoA" | "H2D" | "M2D" | "HOST_TO_DEVICE" | "HostToDevice" => CopyKind::HostToDevice,
        "DtoH" | "AtoH" | "D2H" | "D2M" | "DEVICE_TO_HOST" | "DeviceToHost" => CopyKind::DeviceToHost,
        "DtoD" | "AtoA" | "AtoD" | "DtoA" | "D2D" | "DEVICE_TO_DEVICE" | "DeviceToDevice" => {
            CopyKind::DeviceToDevice
        }
        "PtoP" | "P2P" | "PEER_TO_PEER" => CopyKind::PeerToPeer,
        "HtoH" | "H2H" | "HOST_TO_HOST" | "HostToHost" => CopyKind::HostToHost,
        _ => return None,
    })
}

/// ROCm says `Host` without telling whether the pages are locked: unknown.
fn memory_kind(text: &str) -> Option<MemoryKind> {
    Some(match text.to_ascii_lowercase().as_str() {
        "pageable" => MemoryKind::Pageable,
        "pinned" => MemoryKind::Pinned,
        "device" | "device_static" | "device static" => MemoryKind::Device,
        "array" => MemoryKind::Array,
        "managed" | "managed_static" | "managed static" => MemoryKind::Managed,
        _ => return None,
    })
}

fn parenthesis(name: &str) -> Option<&str> {
    let (_, rest) = name.split_once('(')?;
    Some(rest.split_once(')')?.0)
}

fn memories(name: &str) -> (Option<MemoryKind>, Option<MemoryKind>) {
    match parenthesis(name).and_then(|inner| inner.split_once("->")) {
        Some((src, dst)) => (memory_kind(src.trim()), memory_kind(dst.trim())),
        None => (None, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chrome_json::scan::RawStr;

    fn check(
        name: &str,
        args: DeviceArgs<'_>,
        kind: CopyKind,
        src: Option<MemoryKind>,
        dst: Option<MemoryKind>,
    ) {
        let copy = copy(name.as_bytes(), &args);
        assert_eq!((copy.kind, copy.src, copy.dst), (kind, src, dst), "{name}");
    }

    #[test]
    fn names_of_kineto_tell_direction_and_memory() {
        let none = DeviceArgs::default();
        let (pageable, pinned, device) = (MemoryKind::Pageable, MemoryKind::Pinned, MemoryKind::Device);
        check("Memcpy HtoD (Pageable -> Device)", none, CopyKind::HostToDevice, Some(pageable), Some(device));
        check("Memcpy DtoH (Device -> Pinned)", none, CopyKind::DeviceToHost, Some(device), Some(pinned));
        check("Memcpy DtoD (Device -> Device)", none, CopyKind::DeviceToDevice, Some(device), Some(device));
        check("Memcpy PtoP (Device -> Device)", none, CopyKind::PeerToPeer, Some(device), Some(device));
        check("Memcpy HtoD (Host -> Device)", none, CopyKind::HostToDevice, None, Some(device));
        check("Memcpy", none, CopyKind::Unknown, None, None);
    }

    #[test]
    fn arguments_of_cuspy_tell_it_too() {
        let raw = |bytes| Some(RawStr { bytes, has_backslash: false });
        let args = DeviceArgs {
            copy_kind: raw(b"HtoD"),
            src: raw(b"pinned"),
            dst: raw(b"device"),
            ..DeviceArgs::default()
        };
        check("Memcpy", args, CopyKind::HostToDevice, Some(MemoryKind::Pinned), Some(MemoryKind::Device));
    }

    #[test]
    fn memsets_have_a_destination() {
        let args = DeviceArgs { bytes: Some(64), ..DeviceArgs::default() };
        let device = Some(MemoryKind::Device);
        let expected =
            Copy { kind: CopyKind::Memset, src: None, dst: device, bytes: Some(64), is_migration: false };
        assert_eq!(memset(b"Memset (Device)", &args), expected);
        assert_eq!(memset(b"Memset (Unknown)", &args).dst, None);
    }
}
