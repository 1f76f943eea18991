//! Serialized ids: one 64-bit number for host, VM, process and thread.
//!
//! ```text
//! 63      56 55    48 47            24 23             0
//! | hardware |   VM   |     process   |     thread     |
//! ```

use std::fmt;

/// A serialized id of a thread or process. Stored signed in files, where it may be negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GlobalId(u64);

impl GlobalId {
    pub(crate) fn from_stored(stored: i64) -> Self {
        Self(stored as u64)
    }

    /// The process part with host and VM: what rows of one process have in common.
    pub(crate) fn process(self) -> GlobalProcess {
        GlobalProcess(self.0 >> 24)
    }

    /// The thread id of the operating system.
    pub(crate) fn tid(self) -> u32 {
        (self.0 & 0xff_ffff) as u32
    }
}

/// A process of one VM of one host: the upper 40 bits of a [`GlobalId`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct GlobalProcess(u64);

impl GlobalProcess {
    /// From the columns `hwId`, `vmId`, `processId` of the target tables.
    pub(crate) fn from_parts(hardware: i64, vm: i64, pid: i64) -> Self {
        Self((hardware as u64 & 0xff) << 32 | (vm as u64 & 0xff) << 24 | pid as u64 & 0xff_ffff)
    }

    /// The process id of the operating system.
    pub(crate) fn pid(self) -> u32 {
        (self.0 & 0xff_ffff) as u32
    }

    /// Host and VM.
    pub(crate) fn machine(self) -> Machine {
        Machine((self.0 >> 24) as u16)
    }
}

/// One VM of one host: the upper 16 bits of a [`GlobalId`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Machine(u16);

impl Machine {
    /// From a whole serialized id (`globalVid`, `vmId` of `TARGET_INFO_GPU`, `typeId` of GPU metrics).
    pub(crate) fn from_stored(stored: i64) -> Self {
        Self((stored as u64 >> 48) as u16)
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_cut_at_24_bits() {
        // A real one: VM 1, process 945 961, its main thread.
        let id = GlobalId::from_stored((1 << 48) | (945_961 << 24) | 945_961);
        assert_eq!((id.process().pid(), id.tid()), (945_961, 945_961));
        assert_eq!(id.process(), GlobalProcess::from_parts(0, 1, 945_961));
    }

    #[test]
    fn negative_ids_are_large_unsigned_ones() {
        let id = GlobalId::from_stored(-144_115_188_075_855_872);
        assert_eq!(id.process().machine().to_string(), "fe00");
        assert_eq!((id.process().pid(), id.tid()), (0, 0));
    }
}
