//! What NCCL says of its calls in payloads of its NVTX ranges: labels of the fields and names of the functions
//! as NCCL's own `src/include/nvtx_payload_schemas.h` and `src/collectives.cc` have them.

/// A field of a payload that means something here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NcclField {
    /// What all ranks of a communicator share; 0 for none.
    Communicator,
    /// Bytes of one message.
    Bytes,
    /// Ranks of the communicator.
    Ranks,
    /// The rank of the caller in it.
    Rank,
}

impl NcclField {
    /// The field with this label.
    pub(crate) fn from_label(label: &str) -> Option<Self> {
        match label {
            "NCCL communicator ID" => Some(Self::Communicator),
            "Message size [bytes]" => Some(Self::Bytes),
            "No. of ranks" => Some(Self::Ranks),
            "Rank" => Some(Self::Rank),
            _ => None,
        }
    }
}

/// A function that communicates.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NcclFunction {
    /// Its name, which is also that of its range.
    pub(crate) name: &'static str,
    /// Is the size that of one rank's part, rather than of the whole buffer?
    pub(crate) is_size_per_rank: bool,
}

const FUNCTIONS: &[NcclFunction] = &[
    NcclFunction { name: "ncclAllReduce", is_size_per_rank: false },
    NcclFunction { name: "ncclBroadcast", is_size_per_rank: false },
    NcclFunction { name: "ncclBcast", is_size_per_rank: false },
    NcclFunction { name: "ncclReduce", is_size_per_rank: false },
    NcclFunction { name: "ncclSend", is_size_per_rank: false },
    NcclFunction { name: "ncclRecv", is_size_per_rank: false },
    NcclFunction { name: "ncclAllGather", is_size_per_rank: true },
    NcclFunction { name: "ncclReduceScatter", is_size_per_rank: true },
    NcclFunction { name: "ncclAlltoAll", is_size_per_rank: true },
    NcclFunction { name: "ncclAllToAll", is_size_per_rank: true },
    NcclFunction { name: "ncclGather", is_size_per_rank: true },
    NcclFunction { name: "ncclScatter", is_size_per_rank: true },
];

impl NcclFunction {
    /// The function with this name.
    pub(crate) fn from_name(name: &str) -> Option<&'static Self> {
        FUNCTIONS.iter().find(|function| function.name == name)
    }
}
