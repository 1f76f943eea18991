//! The end of a step: gradient clipping and AdamW, both over lists of tensors.

use super::api::Api;
use super::description::{Name, Thread};
use super::hardware::Work;
use super::kernel_catalog::{self as kernels, KernelSpec};
use super::machine::{Launch, Machine, NewOp};
use super::training::Training;

const THREAD: Thread = Thread::Main;
/// `kChunkSize` of `MultiTensorApply.cuh`.
const CHUNK_ELEMS: i64 = 65_536;
/// `depth_to_max_blocks` of the same file: chunks in one launch.
const CHUNKS_PER_LAUNCH: i64 = 320;

impl Training {
    pub(crate) fn optimizer(&mut self) {
        self.clip_gradients();
        let network = self.network;
        self.annotated(Name::Text("Optimizer.step#AdamW.step"), |run| {
            run.machine.work(THREAD, 60_000);
            run.machine.op(THREAD, NewOp::operator("aten::_fused_adamw_").inputs(network.fused_adamw), |m| {
                m.work(THREAD, 25_000);
                // Reads weight, gradient and both moments, writes all but the gradient.
                multi_tensor(m, &kernels::FUSED_ADAMW, network.total_elems, [8, 6]);
            });
        });
    }

    /// `torch.nn.utils.clip_grad_norm_`.
    fn clip_gradients(&mut self) {
        let network = self.network;
        let scalar = network.scalar;
        let machine = &mut self.machine;
        machine.work(THREAD, 45_000);
        machine.op(THREAD, NewOp::operator("aten::_foreach_norm").inputs(network.foreach_norm), |m| {
            m.work(THREAD, 20_000);
            multi_tensor(m, &kernels::FOREACH_NORM, network.total_elems, [2, 0]);
        });
        for (name, spec) in [
            ("aten::linalg_vector_norm", &kernels::SUM_ROWS),
            ("aten::add", &kernels::ADD),
            ("aten::reciprocal", &kernels::RECIPROCAL),
            ("aten::mul", &kernels::SCALE),
            ("aten::clamp", &kernels::CLAMP),
        ] {
            machine.op(THREAD, NewOp::operator(name).inputs(scalar), |m| {
                let launch = Launch { spec, grid: [1, 1, 1], work: Work::memory(1_024, 4) };
                m.launch(THREAD, Api::LaunchKernel, launch);
            });
        }
        machine.op(THREAD, NewOp::operator("aten::_foreach_mul_").inputs(network.foreach_mul), |m| {
            m.work(THREAD, 20_000);
            multi_tensor(m, &kernels::FOREACH_MUL, network.total_elems, [2, 2]);
        });
    }
}

/// Launches a kernel over all parameters, chunk by chunk. `bytes` are those read and written per element.
fn multi_tensor(m: &mut Machine, spec: &'static KernelSpec, n_elems: i64, bytes: [i64; 2]) {
    let mut left_elems = n_elems;
    while 0 < left_elems {
        let now_elems = left_elems.min(CHUNK_ELEMS * CHUNKS_PER_LAUNCH);
        let [read, written] = bytes;
        let grid = [(now_elems + CHUNK_ELEMS - 1) / CHUNK_ELEMS, 1, 1];
        let work = Work::memory(read * now_elems, written * now_elems);
        m.work(THREAD, 2_000);
        m.launch(THREAD, Api::LaunchKernel, Launch { spec, grid, work });
        left_elems -= now_elems;
    }
}
