//! The forward pass, on the main thread.

use super::api::Api;
use super::description::{Autograd, Flow, Name, Thread};
use super::hardware::{N_SMS, Work};
use super::kernel_catalog::{self as kernels, KernelSpec};
use super::machine::{Launch, NewOp};
use super::network::{Embedding, Linear};
use super::signature::SignatureId;
use super::training::{Node, Saved, Training};

const THREAD: Thread = Thread::Main;

/// An operator of the forward pass that autograd records as `node`.
fn recorded(name: &'static str, node: Node, signature: SignatureId) -> NewOp {
    NewOp::operator(name).inputs(signature).autograd(Autograd::Forward(node.seq))
}

/// The innermost such operator, from which the arrow to the backward pass starts.
fn innermost(name: &'static str, node: Node, signature: SignatureId) -> NewOp {
    recorded(name, node, signature).flow(Flow::Start(node.flow))
}

/// Blocks of a pointwise kernel that gives 8 elements to each of 128 threads.
pub(crate) fn pointwise_grid(n_elems: i64) -> [i64; 3] {
    [(n_elems + 1023) / 1024, 1, 1]
}

/// Blocks of a matrix product with tiles of 192 × 192: one per multiprocessor at most, in pairs.
pub(crate) fn gemm_grid(m: i64, n: i64) -> [i64; 3] {
    let n_tiles = ((m + 191) / 192) * ((n + 191) / 192);
    [2, ((n_tiles + 1) / 2).min(N_SMS / 2), 1]
}

impl Training {
    pub(crate) fn forward(&mut self) {
        self.annotated(Name::Text("DistributedDataParallel.forward"), |run| {
            run.machine.work(THREAD, 40_000);
            let network = run.network;
            run.embedding(network.token_embedding, network.n_tokens);
            run.embedding(network.position_embedding, network.seq_len);
            run.add();
            run.features_to_bf16();
            run.add();
            for _ in 0..run.config.n_layers {
                run.forward_layer();
            }
            run.layer_norm();
            run.head();
        });
        self.cross_entropy();
    }

    fn forward_layer(&mut self) {
        let network = self.network;
        self.python();
        self.layer_norm();
        self.linear(network.qkv, &kernels::GEMM_BIAS);
        self.attention();
        self.linear(network.projection, &kernels::GEMM_BIAS);
        self.add();
        self.python();
        self.layer_norm();
        self.linear(network.up, &kernels::GEMM_BIAS_WIDE);
        self.gelu();
        self.linear(network.down, &kernels::GEMM_BIAS);
        self.add();
        if self.config.faults.item_in_each_layer {
            self.item();
        }
    }

    /// Time in the interpreter between modules.
    fn python(&mut self) {
        self.machine.work(THREAD, 9_000);
    }

    fn save(&mut self, node: Node, block: super::allocator::Block) {
        self.tape.push(Saved { node, block: Some(block) });
        self.machine.work(THREAD, 2_200);
    }

    fn embedding(&mut self, table: Embedding, n_rows: i64) {
        let node = self.new_node();
        let size_bytes = n_rows * self.network.hidden * 2;
        let mut block = None;
        self.machine.op(THREAD, innermost("aten::embedding", node, table.embedding), |m| {
            block = Some(m.alloc(THREAD, size_bytes));
            m.launch(
                THREAD,
                Api::LaunchKernel,
                Launch {
                    spec: &kernels::EMBEDDING,
                    grid: [n_rows, 1, 1],
                    work: Work::memory(size_bytes, size_bytes),
                },
            );
        });
        block.into_iter().for_each(|block| self.save(node, block));
    }

    fn features_to_bf16(&mut self) {
        let size_bytes = self.network.residual_bytes();
        let n_elems = size_bytes / 2;
        let signature = self.network.to_bf16;
        let mut block = None;
        self.machine.op(THREAD, NewOp::operator("aten::to").inputs(signature), |m| {
            m.op(THREAD, NewOp::operator("aten::_to_copy").inputs(signature), |m| {
                block = Some(m.alloc(THREAD, size_bytes));
                m.launch(
                    THREAD,
                    Api::LaunchKernel,
                    Launch {
                        spec: &kernels::TO_BF16,
                        grid: pointwise_grid(n_elems),
                        work: Work::memory(2 * size_bytes, size_bytes),
                    },
                );
            });
        });
        self.batch.extend(block);
    }

    fn add(&mut self) {
        let node = self.new_node();
        let size_bytes = self.network.residual_bytes();
        let mut block = None;
        self.machine.op(THREAD, innermost("aten::add", node, self.network.add), |m| {
            block = Some(m.alloc(THREAD, size_bytes));
            m.launch(
                THREAD,
                Api::LaunchKernel,
                Launch {
                    spec: &kernels::ADD,
                    grid: pointwise_grid(size_bytes / 2),
                    work: Work::memory(2 * size_bytes, size_bytes),
                },
            );
        });
        block.into_iter().for_each(|block| self.save(node, block));
    }

    fn layer_norm(&mut self) {
        let node = self.new_node();
        let norm = self.network.norm;
        let n_tokens = self.network.n_tokens;
        let size_bytes = self.network.residual_bytes();
        let mut block = None;
        self.machine.op(THREAD, recorded("aten::layer_norm", node, norm.layer_norm), |m| {
            m.op(THREAD, innermost("aten::native_layer_norm", node, norm.native), |m| {
                block = Some(m.alloc(THREAD, size_bytes));
                m.launch(
                    THREAD,
                    Api::LaunchKernel,
                    Launch {
                        spec: &kernels::LAYER_NORM,
                        grid: [n_tokens, 1, 1],
                        work: Work::memory(size_bytes, size_bytes),
                    },
                );
            });
        });
        block.into_iter().for_each(|block| self.save(node, block));
    }

    fn linear(&mut self, layer: Linear, spec: &'static KernelSpec) {
        let node = self.new_node();
        let Linear { n_tokens, n_in, n_out, .. } = layer;
        let mut block = None;
        self.machine.op(THREAD, recorded("aten::linear", node, layer.linear), |m| {
            m.leaf(THREAD, NewOp::operator("aten::t").inputs(layer.t));
            m.op(THREAD, innermost("aten::addmm", node, layer.product), |m| {
                block = Some(m.alloc(THREAD, n_tokens * n_out * 2));
                m.work(THREAD, 2_500);
                let work = Work::gemm(n_tokens, n_out, n_in);
                m.launch(
                    THREAD,
                    Api::LaunchKernelExC,
                    Launch { spec, grid: gemm_grid(n_tokens, n_out), work },
                );
            });
        });
        block.into_iter().for_each(|block| self.save(node, block));
    }

    /// The projection to the vocabulary: no bias, so `aten::mm` instead of `aten::addmm`.
    fn head(&mut self) {
        let node = self.new_node();
        let head = self.network.head;
        let mut block = None;
        self.machine.op(THREAD, recorded("aten::linear", node, head.linear), |m| {
            m.leaf(THREAD, NewOp::operator("aten::t").inputs(head.t));
            m.op(THREAD, recorded("aten::matmul", node, head.product), |m| {
                m.op(THREAD, innermost("aten::mm", node, head.product), |m| {
                    block = Some(m.alloc(THREAD, head.n_tokens * head.n_out * 2));
                    m.work(THREAD, 2_500);
                    m.launch(
                        THREAD,
                        Api::LaunchKernelExC,
                        Launch {
                            spec: &kernels::GEMM_HEAD,
                            grid: gemm_grid(head.n_tokens, head.n_out),
                            work: Work::gemm(head.n_tokens, head.n_out, head.n_in),
                        },
                    );
                });
            });
        });
        block.into_iter().for_each(|block| self.save(node, block));
    }

    fn attention(&mut self) {
        let node = self.new_node();
        let network = self.network;
        let attention = network.attention;
        let grid = [(network.seq_len + 127) / 128, network.batch, network.n_heads];
        let work = self.attention_work(1.0);
        let size_bytes = network.residual_bytes();
        let mut block = None;
        self.machine.op(THREAD, recorded("aten::scaled_dot_product_attention", node, attention.sdpa), |m| {
            m.op(
                THREAD,
                innermost("aten::_scaled_dot_product_flash_attention", node, attention.flash),
                |m| {
                    m.op(
                        THREAD,
                        NewOp::operator("aten::_flash_attention_forward").inputs(attention.forward),
                        |m| {
                            block = Some(m.alloc(THREAD, size_bytes));
                            m.call(THREAD, Api::FuncSetAttribute);
                            m.launch(
                                THREAD,
                                Api::LaunchKernel,
                                Launch { spec: &kernels::FLASH_FORWARD, grid, work },
                            );
                        },
                    );
                },
            );
        });
        block.into_iter().for_each(|block| self.save(node, block));
    }

    /// Causal attention: half of the two products of every query with every key, times `factor`
    /// (2.5 for the backward pass, which computes five).
    pub(crate) fn attention_work(&self, factor: f64) -> Work {
        let network = &self.network;
        let pairs = (network.batch * network.n_heads * network.seq_len * network.seq_len) as f64;
        let head_dim = (network.hidden / network.n_heads) as f64;
        let residual_bytes = network.residual_bytes() as f64;
        Work {
            tensor_flops: factor * 2.0 * pairs * head_dim,
            tensor_efficiency: 0.33,
            read_bytes: factor * 3.0 * residual_bytes,
            written_bytes: factor * residual_bytes,
            ..Work::default()
        }
    }

    fn gelu(&mut self) {
        let node = self.new_node();
        let size_bytes = 4 * self.network.residual_bytes();
        let mut block = None;
        self.machine.op(THREAD, innermost("aten::gelu", node, self.network.gelu), |m| {
            block = Some(m.alloc(THREAD, size_bytes));
            m.launch(
                THREAD,
                Api::LaunchKernel,
                Launch {
                    spec: &kernels::GELU,
                    grid: pointwise_grid(size_bytes / 2),
                    work: Work::memory(size_bytes, size_bytes),
                },
            );
        });
        block.into_iter().for_each(|block| self.save(node, block));
    }

    fn cross_entropy(&mut self) {
        let softmax_node = self.new_node();
        let loss_node = self.new_node();
        let network = self.network;
        let loss = network.cross_entropy;
        let n_logits = network.n_tokens * network.vocab;
        let mut blocks = None;
        self.machine.op(
            THREAD,
            recorded("aten::cross_entropy_loss", softmax_node, loss.cross_entropy),
            |m| {
                let mut probabilities = None;
                m.op(THREAD, recorded("aten::log_softmax", softmax_node, loss.log_softmax), |m| {
                    m.op(
                        THREAD,
                        innermost("aten::_log_softmax", softmax_node, loss.native_log_softmax),
                        |m| {
                            probabilities = Some(m.alloc(THREAD, 4 * n_logits));
                            m.launch(
                                THREAD,
                                Api::LaunchKernel,
                                Launch {
                                    spec: &kernels::LOG_SOFTMAX,
                                    grid: [network.n_tokens, 1, 1],
                                    work: Work::memory(2 * n_logits, 4 * n_logits),
                                },
                            );
                        },
                    );
                });
                m.op(THREAD, recorded("aten::nll_loss_nd", loss_node, loss.nll_loss), |m| {
                    m.op(THREAD, innermost("aten::nll_loss_forward", loss_node, loss.nll_loss), |m| {
                        let scalar = m.alloc(THREAD, 4);
                        m.launch(
                            THREAD,
                            Api::LaunchKernel,
                            Launch {
                                spec: &kernels::NLL_LOSS,
                                grid: [1, 1, 1],
                                work: Work { wait_ns: 9_000, ..Work::default() },
                            },
                        );
                        blocks = probabilities.map(|probabilities| (probabilities, scalar));
                    });
                });
            },
        );
        if let Some((probabilities, scalar)) = blocks {
            self.save(softmax_node, probabilities);
            self.save(loss_node, scalar);
        }
    }
}
