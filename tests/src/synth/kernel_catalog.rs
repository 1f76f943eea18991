//! The kernels of the made-up run: names, resources and launch shapes as cuBLAS 12.8, PyTorch 2.9 and
//! NCCL 2.27 give them on an H100.
//!
//! The names are spelled as Kineto spells them, in both formats: nsys demangles templates a little
//! differently (`(int)4` for `4`), but one name for one kernel is what makes the formats comparable.

/// What is the same at every launch of a kernel.
#[derive(Debug)]
pub(crate) struct KernelSpec {
    /// The full signature.
    pub(crate) name: &'static str,
    /// The base name.
    pub(crate) short_name: &'static str,
    pub(crate) registers: i64,
    pub(crate) block: [i64; 3],
    pub(crate) static_shared_bytes: i64,
    pub(crate) dynamic_shared_bytes: i64,
    /// Thread block clusters; 0 where the launch has none.
    pub(crate) cluster: [i64; 3],
    /// Blocks that fit on one multiprocessor at the same time.
    pub(crate) blocks_per_sm: i64,
}

impl KernelSpec {
    pub(crate) fn threads_per_block(&self) -> i64 {
        self.block.iter().product()
    }

    pub(crate) fn shared_bytes(&self) -> i64 {
        self.static_shared_bytes + self.dynamic_shared_bytes
    }
}

/// cuBLAS's Hopper kernels: one 384-thread block per multiprocessor, in clusters of two.
const fn nvjet(name: &'static str, dynamic_shared_bytes: i64, cluster: [i64; 3]) -> KernelSpec {
    KernelSpec {
        name,
        short_name: name,
        registers: 168,
        block: [384, 1, 1],
        static_shared_bytes: 0,
        dynamic_shared_bytes,
        cluster,
        blocks_per_sm: 1,
    }
}

/// PyTorch's pointwise kernels: 128 threads, no shared memory.
const fn pointwise(name: &'static str, short_name: &'static str, registers: i64) -> KernelSpec {
    KernelSpec {
        name,
        short_name,
        registers,
        block: [128, 1, 1],
        static_shared_bytes: 0,
        dynamic_shared_bytes: 0,
        cluster: [0, 0, 0],
        blocks_per_sm: 16,
    }
}

pub(crate) static GEMM_BIAS: KernelSpec =
    nvjet("nvjet_tst_192x192_64x4_2x1_v_bz_coopB_bias_TNN", 213_196, [2, 1, 1]);
pub(crate) static GEMM_BIAS_WIDE: KernelSpec =
    nvjet("nvjet_tst_256x128_64x4_1x2_h_bz_coopA_bias_TNT", 213_148, [1, 2, 1]);
pub(crate) static GEMM_HEAD: KernelSpec =
    nvjet("nvjet_tst_256x128_64x4_1x2_h_bz_coopA_TNT", 213_148, [1, 2, 1]);
pub(crate) static GEMM_GRAD_INPUT: KernelSpec =
    nvjet("nvjet_tst_192x192_64x3_2x1_v_bz_coopB_NNN", 188_548, [2, 1, 1]);
pub(crate) static GEMM_GRAD_WEIGHT: KernelSpec =
    nvjet("nvjet_tst_128x160_64x5_2x4_v_bz_NTT", 221_364, [2, 4, 1]);

pub(crate) static FLASH_FORWARD: KernelSpec = KernelSpec {
    name: "void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, 128, 128, 4, false, false, cutlass::bfloat16_t, pytorch_flash::Flash_kernel_traits<64, 128, 128, 4, cutlass::bfloat16_t> >, false, true, false, false, false, true, false>(pytorch_flash::Flash_fwd_params)",
    short_name: "flash_fwd_kernel",
    registers: 255,
    block: [128, 1, 1],
    static_shared_bytes: 0,
    dynamic_shared_bytes: 49_152,
    cluster: [0, 0, 0],
    blocks_per_sm: 2,
};
pub(crate) static FLASH_BACKWARD_DOT: KernelSpec = KernelSpec {
    name: "void pytorch_flash::flash_bwd_dot_do_o_kernel<true, pytorch_flash::Flash_bwd_kernel_traits<64, 128, 128, 8, 4, 4, 4, false, false, cutlass::bfloat16_t, pytorch_flash::Flash_kernel_traits<64, 128, 128, 8, cutlass::bfloat16_t> > >(pytorch_flash::Flash_bwd_params)",
    short_name: "flash_bwd_dot_do_o_kernel",
    registers: 60,
    block: [256, 1, 1],
    static_shared_bytes: 0,
    dynamic_shared_bytes: 0,
    cluster: [0, 0, 0],
    blocks_per_sm: 4,
};
pub(crate) static FLASH_BACKWARD: KernelSpec = KernelSpec {
    name: "void pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<pytorch_flash::Flash_bwd_kernel_traits<64, 128, 128, 8, 4, 4, 4, false, false, cutlass::bfloat16_t, pytorch_flash::Flash_kernel_traits<64, 128, 128, 8, cutlass::bfloat16_t> >, false, true, false, false, false, true, false>(pytorch_flash::Flash_bwd_params)",
    short_name: "flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel",
    registers: 255,
    block: [256, 1, 1],
    static_shared_bytes: 0,
    dynamic_shared_bytes: 147_456,
    cluster: [0, 0, 0],
    blocks_per_sm: 1,
};
pub(crate) static FLASH_BACKWARD_CONVERT: KernelSpec = KernelSpec {
    name: "void pytorch_flash::flash_bwd_convert_dq_kernel<pytorch_flash::Flash_bwd_kernel_traits<64, 128, 128, 8, 4, 4, 4, false, false, cutlass::bfloat16_t, pytorch_flash::Flash_kernel_traits<64, 128, 128, 8, cutlass::bfloat16_t> > >(pytorch_flash::Flash_bwd_params, int)",
    short_name: "flash_bwd_convert_dq_kernel",
    registers: 71,
    block: [256, 1, 1],
    static_shared_bytes: 0,
    dynamic_shared_bytes: 16_384,
    cluster: [0, 0, 0],
    blocks_per_sm: 3,
};

pub(crate) static LAYER_NORM: KernelSpec = KernelSpec {
    name: "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float>(int, float, c10::BFloat16 const*, c10::BFloat16 const*, c10::BFloat16 const*, float*, float*, c10::BFloat16*)",
    short_name: "vectorized_layer_norm_kernel",
    registers: 34,
    block: [32, 4, 1],
    static_shared_bytes: 0,
    dynamic_shared_bytes: 24,
    cluster: [0, 0, 0],
    blocks_per_sm: 12,
};
pub(crate) static LAYER_NORM_GRAD_INPUT: KernelSpec = KernelSpec {
    name: "void at::native::(anonymous namespace)::layer_norm_grad_input_kernel_vectorized<c10::BFloat16, float>(c10::BFloat16 const*, c10::BFloat16 const*, float const*, float const*, c10::BFloat16 const*, c10::BFloat16*, int)",
    short_name: "layer_norm_grad_input_kernel_vectorized",
    registers: 40,
    block: [128, 1, 1],
    static_shared_bytes: 0,
    dynamic_shared_bytes: 16,
    cluster: [0, 0, 0],
    blocks_per_sm: 12,
};
pub(crate) static LAYER_NORM_GRAD_WEIGHT: KernelSpec = KernelSpec {
    name: "void at::native::(anonymous namespace)::GammaBetaBackwardCUDAKernelTemplate<c10::BFloat16, float, 64u, 1u, 32u, true, true>(long, long, c10::BFloat16 const*, c10::BFloat16 const*, float const*, float const*, c10::BFloat16*, c10::BFloat16*)",
    short_name: "GammaBetaBackwardCUDAKernelTemplate",
    registers: 48,
    block: [64, 1, 1],
    static_shared_bytes: 0,
    dynamic_shared_bytes: 0,
    cluster: [0, 0, 0],
    blocks_per_sm: 20,
};
pub(crate) static SUM_ROWS: KernelSpec = KernelSpec {
    name: "void at::native::reduce_kernel<128, 4, at::native::ReduceOp<c10::BFloat16, at::native::func_wrapper_t<c10::BFloat16, at::native::sum_functor<c10::BFloat16, float, c10::BFloat16>::operator()(at::TensorIterator&)::{lambda(float, float)#1}>, unsigned int, c10::BFloat16, 4, 4> >(at::native::ReduceOp<c10::BFloat16, at::native::func_wrapper_t<c10::BFloat16, at::native::sum_functor<c10::BFloat16, float, c10::BFloat16>::operator()(at::TensorIterator&)::{lambda(float, float)#1}>, unsigned int, c10::BFloat16, 4, 4>)",
    short_name: "reduce_kernel",
    registers: 48,
    block: [32, 4, 1],
    static_shared_bytes: 16,
    dynamic_shared_bytes: 2_048,
    cluster: [0, 0, 0],
    blocks_per_sm: 10,
};
pub(crate) static LOG_SOFTMAX: KernelSpec = KernelSpec {
    name: "void at::native::(anonymous namespace)::cunn_SoftMaxForward<8, c10::BFloat16, float, float, at::native::(anonymous namespace)::LogSoftMaxForwardEpilogue>(float*, c10::BFloat16 const*, int)",
    short_name: "cunn_SoftMaxForward",
    registers: 36,
    block: [1024, 1, 1],
    static_shared_bytes: 0,
    dynamic_shared_bytes: 128,
    cluster: [0, 0, 0],
    blocks_per_sm: 1,
};
pub(crate) static LOG_SOFTMAX_BACKWARD: KernelSpec = KernelSpec {
    name: "void at::native::(anonymous namespace)::cunn_SoftMaxBackward<8, float, float, c10::BFloat16, at::native::(anonymous namespace)::LogSoftMaxBackwardEpilogue>(c10::BFloat16*, float const*, float const*, long)",
    short_name: "cunn_SoftMaxBackward",
    registers: 38,
    block: [1024, 1, 1],
    static_shared_bytes: 0,
    dynamic_shared_bytes: 128,
    cluster: [0, 0, 0],
    blocks_per_sm: 1,
};
pub(crate) static NLL_LOSS: KernelSpec = KernelSpec {
    name: "void at::native::(anonymous namespace)::nll_loss_forward_reduce_cuda_kernel_2d<float, float, long>(float*, float*, float const*, long const*, float const*, bool, long, long, long, long)",
    short_name: "nll_loss_forward_reduce_cuda_kernel_2d",
    registers: 28,
    block: [512, 1, 1],
    static_shared_bytes: 4_096,
    dynamic_shared_bytes: 0,
    cluster: [0, 0, 0],
    blocks_per_sm: 4,
};
pub(crate) static NLL_LOSS_BACKWARD: KernelSpec = KernelSpec {
    name: "void at::native::(anonymous namespace)::nll_loss_backward_reduce_cuda_kernel_2d<float, long>(float*, float const*, long const*, float const*, float const*, bool, int, int, long, long)",
    short_name: "nll_loss_backward_reduce_cuda_kernel_2d",
    registers: 25,
    block: [512, 1, 1],
    static_shared_bytes: 0,
    dynamic_shared_bytes: 0,
    cluster: [0, 0, 0],
    blocks_per_sm: 4,
};
pub(crate) static EMBEDDING: KernelSpec = KernelSpec {
    name: "void at::native::(anonymous namespace)::vectorized_gather_kernel<16, long>(char*, char*, long*, int, long, long, long, long, bool)",
    short_name: "vectorized_gather_kernel",
    registers: 32,
    block: [128, 1, 1],
    static_shared_bytes: 0,
    dynamic_shared_bytes: 0,
    cluster: [0, 0, 0],
    blocks_per_sm: 16,
};
pub(crate) static EMBEDDING_BACKWARD: KernelSpec = KernelSpec {
    name: "void at::native::(anonymous namespace)::embedding_backward_feature_kernel<c10::BFloat16, float, long>(long const*, c10::BFloat16 const*, c10::BFloat16*, int, long, int)",
    short_name: "embedding_backward_feature_kernel",
    registers: 40,
    block: [32, 32, 1],
    static_shared_bytes: 0,
    dynamic_shared_bytes: 12_288,
    cluster: [0, 0, 0],
    blocks_per_sm: 1,
};

pub(crate) static ADD: KernelSpec = pointwise(
    "void at::native::vectorized_elementwise_kernel<8, at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul>)",
    "vectorized_elementwise_kernel",
    34,
);
pub(crate) static GELU: KernelSpec = pointwise(
    "void at::native::vectorized_elementwise_kernel<8, at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, at::native::GeluType)::{lambda()#2}::operator()() const::{lambda()#4}::operator()() const::{lambda(c10::BFloat16)#1}, std::array<char*, 2ul> >(int, at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, at::native::GeluType)::{lambda()#2}::operator()() const::{lambda()#4}::operator()() const::{lambda(c10::BFloat16)#1}, std::array<char*, 2ul>)",
    "vectorized_elementwise_kernel",
    30,
);
pub(crate) static GELU_BACKWARD: KernelSpec = pointwise(
    "void at::native::vectorized_elementwise_kernel<8, at::native::GeluBackwardCUDAKernelImpl(at::TensorIteratorBase&, at::native::GeluType)::{lambda()#2}::operator()() const::{lambda()#4}::operator()() const::{lambda(c10::BFloat16, c10::BFloat16)#1}, std::array<char*, 3ul> >(int, at::native::GeluBackwardCUDAKernelImpl(at::TensorIteratorBase&, at::native::GeluType)::{lambda()#2}::operator()() const::{lambda()#4}::operator()() const::{lambda(c10::BFloat16, c10::BFloat16)#1}, std::array<char*, 3ul>)",
    "vectorized_elementwise_kernel",
    38,
);
pub(crate) static SCALE: KernelSpec = pointwise(
    "void at::native::vectorized_elementwise_kernel<8, at::native::AUnaryFunctor<c10::BFloat16, c10::BFloat16, c10::BFloat16, at::native::binary_internal::MulFunctor<float> >, std::array<char*, 2ul> >(int, at::native::AUnaryFunctor<c10::BFloat16, c10::BFloat16, c10::BFloat16, at::native::binary_internal::MulFunctor<float> >, std::array<char*, 2ul>)",
    "vectorized_elementwise_kernel",
    24,
);
pub(crate) static FILL: KernelSpec = pointwise(
    "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, std::array<char*, 1ul> >(int, at::native::FillFunctor<float>, std::array<char*, 1ul>)",
    "vectorized_elementwise_kernel",
    16,
);
pub(crate) static TO_BF16: KernelSpec = pointwise(
    "void at::native::vectorized_elementwise_kernel<8, at::native::bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda(float)#1}, std::array<char*, 2ul> >(int, at::native::bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda(float)#1}, std::array<char*, 2ul>)",
    "vectorized_elementwise_kernel",
    32,
);
pub(crate) static RECIPROCAL: KernelSpec = pointwise(
    "void at::native::vectorized_elementwise_kernel<4, at::native::reciprocal_kernel_cuda(at::TensorIteratorBase&)::{lambda()#1}::operator()() const::{lambda()#1}::operator()() const::{lambda(float)#1}, std::array<char*, 2ul> >(int, at::native::reciprocal_kernel_cuda(at::TensorIteratorBase&)::{lambda()#1}::operator()() const::{lambda()#1}::operator()() const::{lambda(float)#1}, std::array<char*, 2ul>)",
    "vectorized_elementwise_kernel",
    20,
);
pub(crate) static CLAMP: KernelSpec = pointwise(
    "void at::native::vectorized_elementwise_kernel<4, at::native::(anonymous namespace)::launch_clamp_scalar(at::TensorIteratorBase&, c10::Scalar, c10::Scalar, at::native::detail::ClampLimits)::{lambda()#1}::operator()() const::{lambda()#7}::operator()() const::{lambda(float)#1}, std::array<char*, 2ul> >(int, at::native::(anonymous namespace)::launch_clamp_scalar(at::TensorIteratorBase&, c10::Scalar, c10::Scalar, at::native::detail::ClampLimits)::{lambda()#1}::operator()() const::{lambda()#7}::operator()() const::{lambda(float)#1}, std::array<char*, 2ul>)",
    "vectorized_elementwise_kernel",
    22,
);

/// PyTorch's kernels over lists of tensors: 512 threads, metadata in the parameters.
const fn multi_tensor(name: &'static str, registers: i64) -> KernelSpec {
    KernelSpec {
        name,
        short_name: "multi_tensor_apply_kernel",
        registers,
        block: [512, 1, 1],
        static_shared_bytes: 0,
        dynamic_shared_bytes: 0,
        cluster: [0, 0, 0],
        blocks_per_sm: 2,
    }
}

pub(crate) static FUSED_ADAMW: KernelSpec = multi_tensor(
    "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous namespace)::FusedOptimizerTensorListMetadata<4>, at::native::(anonymous namespace)::FusedAdamMathFunctor<c10::BFloat16, 4, (at::native::ADAM_MODE)1, false>, float const*, double, double, double, double, double, bool, float const*, float const*>(at::native::(anonymous namespace)::FusedOptimizerTensorListMetadata<4>, at::native::(anonymous namespace)::FusedAdamMathFunctor<c10::BFloat16, 4, (at::native::ADAM_MODE)1, false>, float const*, double, double, double, double, double, bool, float const*, float const*)",
    62,
);
pub(crate) static FOREACH_NORM: KernelSpec = multi_tensor(
    "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous namespace)::TensorListMetadata<1>, at::native::(anonymous namespace)::LpNormFunctor<c10::BFloat16, (at::native::NormType)1, c10::BFloat16, 1, 1, 0>, float*, int>(at::native::(anonymous namespace)::TensorListMetadata<1>, at::native::(anonymous namespace)::LpNormFunctor<c10::BFloat16, (at::native::NormType)1, c10::BFloat16, 1, 1, 0>, float*, int)",
    40,
);
pub(crate) static FOREACH_MUL: KernelSpec = multi_tensor(
    "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous namespace)::TensorListMetadata<1>, at::native::(anonymous namespace)::BinaryOpListAlphaFunctor<c10::BFloat16, 1, 1, 0>, std::multiplies<float>, float*, float>(at::native::(anonymous namespace)::TensorListMetadata<1>, at::native::(anonymous namespace)::BinaryOpListAlphaFunctor<c10::BFloat16, 1, 1, 0>, std::multiplies<float>, float*, float)",
    34,
);

pub(crate) static ALL_REDUCE: KernelSpec = KernelSpec {
    name: "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
    short_name: "ncclDevKernel_AllReduce_Sum_bf16_RING_LL",
    registers: 96,
    block: [544, 1, 1],
    static_shared_bytes: 21_568,
    dynamic_shared_bytes: 82_240,
    cluster: [4, 1, 1],
    blocks_per_sm: 1,
};
