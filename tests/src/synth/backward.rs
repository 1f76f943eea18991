//! The backward pass, on autograd's thread: the tape from its end, gradients to the parameters, and an
//! all-reduce whenever a bucket is full.

use super::allocator::Block;
use super::api::Api;
use super::description::{Autograd, Flow, Thread};
use super::forward::{gemm_grid, pointwise_grid};
use super::hardware::Work;
use super::kernel_catalog::{self as kernels, KernelSpec};
use super::machine::{Launch, Machine, NewOp};
use super::network::{Embedding, Linear, Parameter};
use super::signature::SignatureId;
use super::training::{Saved, Training};

const THREAD: Thread = Thread::Autograd;

/// The two names of an autograd node: of the engine's step and of the node itself.
#[derive(Clone, Copy, Debug)]
struct NodeName {
    evaluate: &'static str,
    apply: &'static str,
}

macro_rules! node_name {
    ($name:literal) => {
        NodeName { evaluate: concat!("autograd::engine::evaluate_function: ", $name), apply: $name }
    };
}

const ADD: NodeName = node_name!("AddBackward0");
const ADDMM: NodeName = node_name!("AddmmBackward0");
const ATTENTION: NodeName = node_name!("ScaledDotProductFlashAttentionBackward0");
const EMBEDDING: NodeName = node_name!("EmbeddingBackward0");
const GELU: NodeName = node_name!("GeluBackward0");
const LAYER_NORM: NodeName = node_name!("NativeLayerNormBackward0");
const LOG_SOFTMAX: NodeName = node_name!("LogSoftmaxBackward0");
const MM: NodeName = node_name!("MmBackward0");
const NLL_LOSS: NodeName = node_name!("NllLossBackward0");
const ACCUMULATE: NodeName = node_name!("torch::autograd::AccumulateGrad");

impl Training {
    pub(crate) fn backward(&mut self) {
        let network = self.network;
        let begin_ns = self.machine.now_ns(Thread::Main) + self.machine.rng.cpu_ns(22_000);
        self.machine.blocks_until(THREAD, "pthread_cond_wait", begin_ns);
        let mut ended = Vec::new();
        self.loss_backward();
        self.head_backward();
        self.layer_norm_backward();
        self.reduce(self.buckets.head, &mut ended);
        for _ in 0..self.config.n_layers {
            self.layer_backward();
            self.reduce(self.buckets.layer, &mut ended);
        }
        self.add_backward();
        self.add_backward();
        self.embedding_backward(network.position_embedding, network.seq_len);
        self.embedding_backward(network.token_embedding, network.n_tokens);
        self.reduce(self.buckets.embedding, &mut ended);
        if let Some(grad) = self.grad.take() {
            self.machine.free(THREAD, grad);
        }
        self.finish_reductions(ended);
        self.join_backward();
    }

    /// The reverse of the forward layer, operator by operator.
    fn layer_backward(&mut self) {
        let network = self.network;
        self.add_backward();
        self.linear_backward(network.down, 4 * network.residual_bytes());
        self.gelu_backward();
        self.linear_backward(network.up, network.residual_bytes());
        self.layer_norm_backward();
        self.add_backward();
        self.linear_backward(network.projection, network.residual_bytes());
        self.attention_backward();
        self.linear_backward(network.qkv, network.residual_bytes());
        self.layer_norm_backward();
    }

    /// Runs the node of the newest forward operator, and whatever `after` does in the same engine step.
    fn node(
        &mut self,
        name: NodeName,
        signature: SignatureId,
        apply: impl FnOnce(&mut Machine),
        after: impl FnOnce(&mut Machine),
    ) {
        let Some(Saved { node, block }) = self.tape.pop() else { return };
        let autograd = Autograd::Backward(node.seq);
        let outer = NewOp::operator(name.evaluate).autograd(autograd);
        let inner =
            NewOp::operator(name.apply).autograd(autograd).flow(Flow::End(node.flow)).inputs(signature);
        self.machine.op(THREAD, outer, |m| {
            m.op(THREAD, inner, apply);
            after(m);
        });
        block.into_iter().for_each(|block| self.machine.free(THREAD, block));
        self.machine.work(THREAD, 800);
    }

    /// Replaces the gradient that flows backward by a new one.
    fn grad_becomes(&mut self, grad: Option<Block>) {
        if let Some(old) = std::mem::replace(&mut self.grad, grad) {
            self.machine.free(THREAD, old);
        }
    }

    /// The gradient of a parameter is there: scale it into its bucket, as DDP's hook does.
    fn accumulate(&mut self, parameter: Parameter) {
        let size_bytes = 2 * parameter.n_elems;
        self.machine.op(THREAD, NewOp::operator(ACCUMULATE.evaluate), |m| {
            m.leaf(THREAD, NewOp::operator(ACCUMULATE.apply).inputs(parameter.tensor));
            m.op(THREAD, NewOp::operator("aten::mul").inputs(parameter.scale), |m| {
                m.launch(
                    THREAD,
                    Api::LaunchKernel,
                    Launch {
                        spec: &kernels::SCALE,
                        grid: pointwise_grid(parameter.n_elems),
                        work: Work::memory(size_bytes, size_bytes),
                    },
                );
            });
        });
    }

    fn loss_backward(&mut self) {
        let network = self.network;
        let loss = network.cross_entropy;
        let n_logits = network.n_tokens * network.vocab;
        let mut grad_log = None;
        self.node(
            NLL_LOSS,
            loss.loss,
            |m| {
                m.op(
                    THREAD,
                    NewOp::operator("aten::nll_loss_backward").inputs(loss.nll_loss_backward),
                    |m| {
                        grad_log = Some(m.alloc(THREAD, 4 * n_logits));
                        m.op(THREAD, NewOp::operator("aten::zero_").inputs(loss.zero), |m| {
                            m.op(THREAD, NewOp::operator("aten::fill_").inputs(loss.zero), |m| {
                                let work = Work::memory(0, 4 * n_logits);
                                let grid = pointwise_grid(2 * n_logits);
                                m.launch(
                                    THREAD,
                                    Api::LaunchKernel,
                                    Launch { spec: &kernels::FILL, grid, work },
                                );
                            });
                        });
                        let work = Work { wait_ns: 6_000, ..Work::default() };
                        let launch = Launch { spec: &kernels::NLL_LOSS_BACKWARD, grid: [1, 1, 1], work };
                        m.launch(THREAD, Api::LaunchKernel, launch);
                    },
                );
            },
            |_| {},
        );
        self.grad_becomes(grad_log);
        let mut grad_logits = None;
        self.node(
            LOG_SOFTMAX,
            loss.zero,
            |m| {
                let op =
                    NewOp::operator("aten::_log_softmax_backward_data").inputs(loss.log_softmax_backward);
                m.op(THREAD, op, |m| {
                    grad_logits = Some(m.alloc(THREAD, 2 * n_logits));
                    let work = Work::memory(8 * n_logits, 2 * n_logits);
                    let grid = [network.n_tokens, 1, 1];
                    let launch = Launch { spec: &kernels::LOG_SOFTMAX_BACKWARD, grid, work };
                    m.launch(THREAD, Api::LaunchKernel, launch);
                });
            },
            |_| {},
        );
        self.grad_becomes(grad_logits);
    }

    fn head_backward(&mut self) {
        let head = self.network.head;
        let mut grad_input = None;
        let mut grad_weight = None;
        self.node(
            MM,
            head.grad_output,
            |m| {
                grad_input = Some(m.alloc(THREAD, 2 * head.n_tokens * head.n_in));
                product(
                    m,
                    head.grad_input,
                    &kernels::GEMM_GRAD_INPUT,
                    [head.n_tokens, head.n_in, head.n_out],
                );
                grad_weight = Some(m.alloc(THREAD, 2 * head.weight.n_elems));
                product(
                    m,
                    head.grad_weight,
                    &kernels::GEMM_GRAD_WEIGHT,
                    [head.n_out, head.n_in, head.n_tokens],
                );
            },
            |_| {},
        );
        self.grad_becomes(grad_input);
        self.accumulate(head.weight);
        grad_weight.into_iter().for_each(|block| self.machine.free(THREAD, block));
    }

    fn linear_backward(&mut self, layer: Linear, grad_input_bytes: i64) {
        let Linear { n_tokens, n_in, n_out, .. } = layer;
        let mut grad_input = None;
        let mut grad_weight = None;
        self.node(
            ADDMM,
            layer.grad_output,
            |m| {
                grad_input = Some(m.alloc(THREAD, grad_input_bytes));
                product(m, layer.grad_input, &kernels::GEMM_GRAD_INPUT, [n_tokens, n_in, n_out]);
                grad_weight = Some(m.alloc(THREAD, 2 * layer.weight.n_elems));
                product(m, layer.grad_weight, &kernels::GEMM_GRAD_WEIGHT, [n_out, n_in, n_tokens]);
            },
            |m| {
                m.op(THREAD, NewOp::operator("aten::sum").inputs(layer.grad_bias), |m| {
                    let work = Work::memory(2 * n_tokens * n_out, 2 * n_out);
                    let grid = [(n_out + 127) / 128, 1, 1];
                    m.launch(THREAD, Api::LaunchKernel, Launch { spec: &kernels::SUM_ROWS, grid, work });
                });
            },
        );
        self.grad_becomes(grad_input);
        layer.bias.into_iter().for_each(|bias| self.accumulate(bias));
        self.accumulate(layer.weight);
        grad_weight.into_iter().for_each(|block| self.machine.free(THREAD, block));
    }

    /// Both terms of a sum get the same gradient: nothing to compute.
    fn add_backward(&mut self) {
        self.node(ADD, self.network.norm.grad_output, |_| {}, |_| {});
    }

    fn gelu_backward(&mut self) {
        let network = self.network;
        let size_bytes = 4 * network.residual_bytes();
        let mut grad_input = None;
        self.node(
            GELU,
            network.up.grad_output,
            |m| {
                m.op(THREAD, NewOp::operator("aten::gelu_backward").inputs(network.gelu_backward), |m| {
                    grad_input = Some(m.alloc(THREAD, size_bytes));
                    let work = Work::memory(2 * size_bytes, size_bytes);
                    let grid = pointwise_grid(size_bytes / 2);
                    m.launch(THREAD, Api::LaunchKernel, Launch { spec: &kernels::GELU_BACKWARD, grid, work });
                });
            },
            |_| {},
        );
        self.grad_becomes(grad_input);
    }

    /// The residual stream is read twice, so a second gradient is added to this one.
    fn layer_norm_backward(&mut self) {
        let network = self.network;
        let norm = network.norm;
        let size_bytes = network.residual_bytes();
        let mut grad_input = None;
        self.node(
            LAYER_NORM,
            norm.grad_output,
            |m| {
                let op = NewOp::operator("aten::native_layer_norm_backward").inputs(norm.backward);
                m.op(THREAD, op, |m| {
                    grad_input = Some(m.alloc(THREAD, size_bytes));
                    let input = Launch {
                        spec: &kernels::LAYER_NORM_GRAD_INPUT,
                        grid: [network.n_tokens, 1, 1],
                        work: Work::memory(2 * size_bytes, size_bytes),
                    };
                    m.launch(THREAD, Api::LaunchKernel, input);
                    let weight = Launch {
                        spec: &kernels::LAYER_NORM_GRAD_WEIGHT,
                        grid: [(network.hidden + 63) / 64, 8, 1],
                        work: Work::memory(2 * size_bytes, 4 * network.hidden),
                    };
                    m.launch(THREAD, Api::LaunchKernel, weight);
                });
            },
            |m| {
                m.op(THREAD, NewOp::operator("aten::add").inputs(network.add), |m| {
                    let work = Work::memory(2 * size_bytes, size_bytes);
                    let grid = pointwise_grid(size_bytes / 2);
                    m.launch(THREAD, Api::LaunchKernel, Launch { spec: &kernels::ADD, grid, work });
                });
            },
        );
        self.grad_becomes(grad_input);
        self.accumulate(norm.weight);
        self.accumulate(norm.bias);
    }

    fn attention_backward(&mut self) {
        let network = self.network;
        let attention = network.attention;
        let size_bytes = network.residual_bytes();
        let grid = [(network.seq_len + 127) / 128, network.batch, network.n_heads];
        let work = self.attention_work(2.5);
        let mut grad_input = None;
        self.node(
            ATTENTION,
            attention.grad_output,
            |m| {
                let outer = NewOp::operator("aten::_scaled_dot_product_flash_attention_backward");
                m.op(THREAD, outer.inputs(attention.backward), |m| {
                    let inner = NewOp::operator("aten::_flash_attention_backward");
                    m.op(THREAD, inner.inputs(attention.backward), |m| {
                        grad_input = Some(m.alloc(THREAD, 3 * size_bytes));
                        let sums = m.alloc(THREAD, 2 * size_bytes);
                        let dot = Work::memory(2 * size_bytes, 0);
                        let convert = Work::memory(2 * size_bytes, size_bytes);
                        for (spec, work) in [
                            (&kernels::FLASH_BACKWARD_DOT, dot),
                            (&kernels::FLASH_BACKWARD, work),
                            (&kernels::FLASH_BACKWARD_CONVERT, convert),
                        ] {
                            m.launch(THREAD, Api::LaunchKernel, Launch { spec, grid, work });
                        }
                        m.free(THREAD, sums);
                    });
                });
            },
            |_| {},
        );
        self.grad_becomes(grad_input);
    }

    fn embedding_backward(&mut self, table: Embedding, n_rows: i64) {
        let network = self.network;
        let table_bytes = 2 * table.weight.n_elems;
        let grad_bytes = 2 * n_rows * network.hidden;
        let mut grad_weight = None;
        self.node(
            EMBEDDING,
            table.grad_output,
            |m| {
                let op = NewOp::operator("aten::embedding_dense_backward").inputs(table.backward);
                m.op(THREAD, op, |m| {
                    grad_weight = Some(m.alloc(THREAD, table_bytes));
                    m.op(THREAD, NewOp::operator("aten::zero_").inputs(table.zero), |m| {
                        m.memset(THREAD, table_bytes);
                    });
                    let work = Work::memory(2 * grad_bytes, grad_bytes);
                    let grid = [(network.hidden + 31) / 32, 1, 1];
                    let launch = Launch { spec: &kernels::EMBEDDING_BACKWARD, grid, work };
                    m.launch(THREAD, Api::LaunchKernel, launch);
                });
            },
            |_| {},
        );
        self.accumulate(table.weight);
        grad_weight.into_iter().for_each(|block| self.machine.free(THREAD, block));
    }
}

/// A matrix product `[m, k] × [k, n]` of the backward pass; `mnk` in this order.
fn product(m: &mut Machine, signature: SignatureId, spec: &'static KernelSpec, mnk: [i64; 3]) {
    let [rows, cols, inner] = mnk;
    m.op(THREAD, NewOp::operator("aten::mm").inputs(signature), |m| {
        m.work(THREAD, 2_200);
        let work = Work::gemm(rows, cols, inner);
        m.launch(THREAD, Api::LaunchKernelExC, Launch { spec, grid: gemm_grid(rows, cols), work });
    });
}
