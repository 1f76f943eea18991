//! Classes of calls, as the exports' own `ENUM_NSYS_EVENT_CLASS` numbers them.

/// Classes of rows that only mark where the recording of a library begins or ends: start and finish of GL (8,
/// 9), CUDA (10, 11), NVTX (6, 7), system calls (31, 32), cuDNN, cuBLAS, NVmedia, DirectX, OpenACC, Vulkan, …
const MARKERS: &[i64] = &[
    6, 7, 8, 9, 10, 11, 31, 32, 33, 34, 35, 36, 39, 40, 43, 44, 45, 46, 55, 56, 63, 64, 68, 69, 72, 73, 79,
    80, 84, 85, 87, 88, 90, 91, 99, 100, 105, 106, 109, 110,
];

/// Does the row mark a start or finish rather than a call?
pub(crate) fn is_marker(class: i64) -> bool {
    MARKERS.contains(&class)
}
