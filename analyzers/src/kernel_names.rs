//! What a kernel's name tells: family, tensor cores, and a short form that a person can read.

use crate::patterns::{COMMUNICATION, FAMILIES, TENSOR_CORE};

/// Family of a kernel by its full name: `comm`, one of `assets/patterns/families.toml`, or `other`.
pub fn family(name: &str) -> &'static str {
    if COMMUNICATION.is_match(name) { "comm" } else { FAMILIES.label(name).unwrap_or("other") }
}

/// Does the kernel run on tensor cores? `None` where its name does not tell (SIG-9).
pub fn tensor_core(name: &str) -> Option<bool> {
    TENSOR_CORE.label(name).map(|label| label == "yes")
}

/// The function's own name without return type, namespaces, template arguments and parameters, followed
/// by the one template argument that says what it does, where there is one:
/// `void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>(…)` is
/// `vectorized_elementwise_kernel<CUDAFunctor_add>`.
pub fn short_name(name: &str) -> String {
    let name = name.strip_prefix("void ").unwrap_or(name).replace("(anonymous namespace)::", "");
    let (head, rest) = match name.find(['<', '(']) {
        Some(at) => name.split_at(at),
        None => return name,
    };
    let base = head.rsplit("::").next().unwrap_or(head).trim();
    if base.is_empty() {
        return name;
    }
    let arguments = if rest.starts_with('<') { rest } else { "" };
    match arguments.split(|c: char| !c.is_alphanumeric() && c != '_').find(|word| is_telling(word)) {
        Some(word) => format!("{base}<{word}>"),
        None => base.to_owned(),
    }
}

/// Words among template arguments that say what the kernel computes, in PyTorch's habit of naming.
fn is_telling(word: &str) -> bool {
    const WRAPPERS: &[&str] = &[
        "BinaryFunctor",
        "AUnaryFunctor",
        "BUnaryFunctor",
        "UnaryFunctor",
        "ReduceOp",
        "TensorListMetadata",
        "FusedOptimizerTensorListMetadata",
        "BinaryOpScalarFunctor_",
    ];
    const ENDINGS: &[&str] = &["Functor", "functor", "_functor_add", "Ops", "_kernel_cuda", "_kernel_impl"];
    let is_wrapper = WRAPPERS.contains(&word);
    !is_wrapper && (ENDINGS.iter().any(|ending| word.ends_with(ending)) || word.starts_with("CUDAFunctor"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, short: &str) {
        assert_eq!(short_name(name), short);
    }

    #[test]
    fn short_names_drop_what_only_the_compiler_needs() {
        check("ampere_sgemm_128x64_tn", "ampere_sgemm_128x64_tn");
        check("void dot_kernel<float, 128, 0>(int, float)", "dot_kernel");
        check(
            "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
            "ncclDevKernel_AllGather_RING_LL",
        );
        check(
            "void at::native::(anonymous namespace)::softmax_warp_forward<float, 8>(float*)",
            "softmax_warp_forward",
        );
    }

    #[test]
    fn short_names_keep_the_argument_that_tells_them_apart() {
        check(
            "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>>(int)",
            "vectorized_elementwise_kernel<CUDAFunctor_add>",
        );
        check(
            "void at::native::elementwise_kernel<128, 2, void at::native::gpu_kernel_impl_nocast<at::native::BinaryFunctor<float, float, float, at::native::binary_internal::MulFunctor<float>>>(at::TensorIteratorBase&)>(int)",
            "elementwise_kernel<MulFunctor>",
        );
        check(
            "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps<float, float>>>(T3)",
            "reduce_kernel<MeanOps>",
        );
    }

    #[test]
    fn odd_names_stay_as_they_are() {
        check("", "");
        check("<lambda>", "<lambda>");
        check("(anonymous)", "(anonymous)");
    }

    #[test]
    fn communication_comes_before_every_family() {
        assert_eq!(family("ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(…)"), "comm");
        assert_eq!(family("void vllm::cross_device_reduce_1stage<half, 8>"), "comm");
        assert_eq!(family("void at::native::reduce_kernel<512, 1>"), "reduce");
        assert_eq!(family("mandelbrot"), "other");
    }

    #[test]
    fn an_unknown_name_says_nothing_about_tensor_cores() {
        assert_eq!(tensor_core("nvjet_tst_128x256"), Some(true));
        assert_eq!(tensor_core("ampere_sgemm_128x64_tn"), Some(false));
        assert_eq!(tensor_core("mandelbrot"), None);
    }
}
