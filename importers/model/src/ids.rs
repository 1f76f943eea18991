//! One newtype per kind of id. Ids of one kind count from 0 and index the table of that kind.

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// The id as an index into its table.
            pub fn idx(self) -> usize {
                self.0 as usize
            }

            /// The id of the row at `idx`; tables hold fewer than 2³² rows (the builder refuses more).
            pub fn from_idx(idx: usize) -> Self {
                Self(idx as u32)
            }
        }
    };
}

id!(
    /// A row of [`crate::Slices`], in the order (track, start, longest first).
    SliceId
);
id!(
    /// A row of [`crate::Trace::tracks`].
    TrackId
);
id!(
    /// A row of [`crate::Trace::processes`].
    ProcessId
);
id!(
    /// A row of [`crate::Stacks`].
    StackId
);
id!(
    /// A row of [`crate::Trace::devices`]: one physical accelerator, as far as the file can tell.
    DeviceId
);
id!(
    /// An interned text of [`crate::Names`].
    NameId
);
id!(
    /// An interned set of operator arguments ([`crate::Args`]).
    ArgsId
);
id!(
    /// A slice as pushed, before `finish()` gives it its [`SliceId`].
    RowIdx
);

/// The number that ties a launch to its device work inside one process; not an id of ours.
///
/// 0 means "none" in the tools we read and never reaches the Trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CorrelationId(pub i64);
