//! Numbers of copies (`copyKind`, `srcKind`, `dstKind`): the same in all versions seen.

use tracecard_model::{Copy, CopyKind, MemoryKind};

/// What a row of the copy tables says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CopyCodes {
    /// Direction; `None` where the column is missing or null.
    pub(crate) kind: Option<i64>,
    /// Memory on the source side.
    pub(crate) src: Option<i64>,
    /// Memory on the destination side.
    pub(crate) dst: Option<i64>,
}

impl CopyCodes {
    /// The row of the Trace. The direction is that of `copyKind`, even where the kinds of memory disagree.
    pub(crate) fn copy(self, bytes: Option<u64>) -> Copy {
        let kind = match self.kind {
            Some(1 | 3 | 11) => CopyKind::HostToDevice,
            Some(2 | 4 | 12) => CopyKind::DeviceToHost,
            Some(5..=8 | 13) => CopyKind::DeviceToDevice,
            Some(9) => CopyKind::HostToHost,
            Some(10) => CopyKind::PeerToPeer,
            _ => CopyKind::Unknown,
        };
        let is_migration = matches!(self.kind, Some(11..=13));
        // Migrations say "unknown" on both sides; what they move is managed memory by definition.
        let (src, dst) = if is_migration {
            (Some(MemoryKind::Managed), Some(MemoryKind::Managed))
        } else {
            (self.src.and_then(memory_kind), self.dst.and_then(memory_kind))
        };
        Copy { kind, src, dst, bytes, is_migration }
    }

    /// A name as Kineto spells it (`Memcpy HtoD (Pageable -> Device)`), so that the same copy has the same
    /// name in both kinds of profile.
    pub(crate) fn name(self) -> String {
        let direction = match self.kind {
            Some(1) => "HtoD",
            Some(2) => "DtoH",
            Some(3) => "HtoA",
            Some(4) => "AtoH",
            Some(5) => "AtoA",
            Some(6) => "AtoD",
            Some(7) => "DtoA",
            Some(8) => "DtoD",
            Some(9) => "HtoH",
            Some(10) => "PtoP",
            Some(11) => return "Memcpy unified HtoD".to_owned(),
            Some(12) => return "Memcpy unified DtoH".to_owned(),
            Some(13) => return "Memcpy unified DtoD".to_owned(),
            _ => "Unknown",
        };
        match (self.src, self.dst) {
            (None, None) => format!("Memcpy {direction}"),
            (src, dst) => format!("Memcpy {direction} ({} -> {})", memory_text(src), memory_text(dst)),
        }
    }
}

/// The name of a memory set, as Kineto spells it.
pub(crate) fn memset_name(memory: Option<i64>) -> String {
    match memory {
        Some(_) => format!("Memset ({})", memory_text(memory)),
        None => "Memset".to_owned(),
    }
}

/// Where memory of this number lies; `None` for "unknown".
pub(crate) fn memory_kind(code: i64) -> Option<MemoryKind> {
    Some(match code {
        0 => MemoryKind::Pageable,
        1 => MemoryKind::Pinned,
        2 | 5 => MemoryKind::Device,
        3 => MemoryKind::Array,
        4 | 6 => MemoryKind::Managed,
        _ => return None,
    })
}

fn memory_text(code: Option<i64>) -> &'static str {
    match code {
        Some(0) => "Pageable",
        Some(1) => "Pinned",
        Some(2) => "Device",
        Some(3) => "Array",
        Some(4) => "Managed",
        Some(5) => "Device Static",
        Some(6) => "Managed Static",
        _ => "Unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_named_as_kineto_names_them() {
        let codes = |kind, src, dst| CopyCodes { kind: Some(kind), src, dst };
        assert_eq!(codes(1, Some(0), Some(2)).name(), "Memcpy HtoD (Pageable -> Device)");
        assert_eq!(codes(8, None, None).name(), "Memcpy DtoD");
        assert_eq!(memset_name(Some(2)), "Memset (Device)");
    }

    #[test]
    fn migrations_move_managed_memory() {
        let copy = CopyCodes { kind: Some(12), src: Some(7), dst: Some(7) }.copy(Some(4096));
        assert_eq!(
            (copy.kind, copy.src, copy.is_migration),
            (CopyKind::DeviceToHost, Some(MemoryKind::Managed), true)
        );
    }
}
