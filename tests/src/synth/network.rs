//! The network that is trained: a GPT-like decoder, as shapes and signatures.

use super::config::Config;
use super::signature::{Dtype, Input, SignatureId, Signatures};

/// A fully connected layer `[tokens, n_in] → [tokens, n_out]`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Linear {
    pub(crate) n_tokens: i64,
    pub(crate) n_in: i64,
    pub(crate) n_out: i64,
    pub(crate) linear: SignatureId,
    pub(crate) t: SignatureId,
    /// Of `aten::addmm`, or of `aten::mm` where there is no bias.
    pub(crate) product: SignatureId,
    pub(crate) grad_output: SignatureId,
    pub(crate) grad_input: SignatureId,
    pub(crate) grad_weight: SignatureId,
    pub(crate) grad_bias: SignatureId,
    pub(crate) weight: Parameter,
    /// Present where the layer has a bias.
    pub(crate) bias: Option<Parameter>,
}

/// A parameter tensor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parameter {
    pub(crate) n_elems: i64,
    /// One tensor of its shape.
    pub(crate) tensor: SignatureId,
    /// `aten::mul(grad, 1 / n_ranks)`.
    pub(crate) scale: SignatureId,
}

/// Layer normalisation over the residual stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LayerNorm {
    pub(crate) layer_norm: SignatureId,
    pub(crate) native: SignatureId,
    pub(crate) grad_output: SignatureId,
    pub(crate) backward: SignatureId,
    pub(crate) weight: Parameter,
    pub(crate) bias: Parameter,
}

/// Causal self-attention.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attention {
    pub(crate) sdpa: SignatureId,
    pub(crate) flash: SignatureId,
    pub(crate) forward: SignatureId,
    pub(crate) grad_output: SignatureId,
    pub(crate) backward: SignatureId,
}

/// A look-up table, token ids to vectors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Embedding {
    pub(crate) embedding: SignatureId,
    pub(crate) grad_output: SignatureId,
    pub(crate) backward: SignatureId,
    pub(crate) zero: SignatureId,
    pub(crate) weight: Parameter,
}

/// The loss over the vocabulary.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CrossEntropy {
    pub(crate) cross_entropy: SignatureId,
    pub(crate) log_softmax: SignatureId,
    pub(crate) native_log_softmax: SignatureId,
    pub(crate) nll_loss: SignatureId,
    pub(crate) nll_loss_backward: SignatureId,
    pub(crate) log_softmax_backward: SignatureId,
    pub(crate) zero: SignatureId,
    pub(crate) loss: SignatureId,
}

/// A tensor of the batch on its way to the device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Upload {
    pub(crate) size_bytes: i64,
    pub(crate) to: SignatureId,
    pub(crate) empty: SignatureId,
    pub(crate) copy: SignatureId,
}

/// Everything about the network that a step needs to know.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Network {
    pub(crate) n_tokens: i64,
    pub(crate) batch: i64,
    pub(crate) seq_len: i64,
    pub(crate) hidden: i64,
    pub(crate) n_heads: i64,
    pub(crate) vocab: i64,
    pub(crate) token_embedding: Embedding,
    pub(crate) position_embedding: Embedding,
    pub(crate) norm: LayerNorm,
    pub(crate) qkv: Linear,
    pub(crate) attention: Attention,
    pub(crate) projection: Linear,
    pub(crate) up: Linear,
    pub(crate) down: Linear,
    pub(crate) head: Linear,
    pub(crate) cross_entropy: CrossEntropy,
    pub(crate) gelu: SignatureId,
    pub(crate) gelu_backward: SignatureId,
    pub(crate) add: SignatureId,
    pub(crate) to_bf16: SignatureId,
    pub(crate) tokens: Upload,
    pub(crate) labels: Upload,
    pub(crate) features: Upload,
    pub(crate) fused_adamw: SignatureId,
    pub(crate) foreach_norm: SignatureId,
    pub(crate) foreach_mul: SignatureId,
    pub(crate) scalar: SignatureId,
    /// Parameters of one layer.
    pub(crate) layer_elems: i64,
    /// Parameters of the whole network.
    pub(crate) total_elems: i64,
}

impl Network {
    /// The network of a configuration; its signatures go into `signatures`.
    pub(crate) fn new(config: &Config, signatures: &mut Signatures) -> Self {
        let &Config { batch, seq_len, hidden, n_heads, vocab, .. } = config;
        let tokens = [batch, seq_len];
        let mut add = Adder { signatures, tokens, hidden };
        let norm = add.layer_norm();
        let qkv = add.linear(hidden, 3 * hidden, HasBias::Yes);
        let projection = add.linear(hidden, hidden, HasBias::Yes);
        let up = add.linear(hidden, 4 * hidden, HasBias::Yes);
        let down = add.linear(4 * hidden, hidden, HasBias::Yes);
        let head = add.linear(hidden, vocab, HasBias::No);
        let token_embedding = add.embedding(vocab, &tokens);
        let position_embedding = add.embedding(seq_len, &[seq_len]);
        let wide = vec![batch, seq_len, 4 * hidden];
        let narrow = vec![batch, seq_len, hidden];
        let linear_elems = |l: &Linear| l.weight.n_elems + l.bias.map_or(0, |bias| bias.n_elems);
        let norm_elems = norm.weight.n_elems + norm.bias.n_elems;
        let layer_elems = 2 * norm_elems + [qkv, projection, up, down].iter().map(linear_elems).sum::<i64>();
        let total_elems = i64::from(config.n_layers) * layer_elems
            + norm_elems
            + linear_elems(&head)
            + token_embedding.weight.n_elems
            + position_embedding.weight.n_elems;
        let parameters = parameter_shapes(config);
        Self {
            n_tokens: batch * seq_len,
            batch,
            seq_len,
            hidden,
            n_heads,
            vocab,
            token_embedding,
            position_embedding,
            norm,
            qkv,
            attention: add.attention(n_heads),
            projection,
            up,
            down,
            head,
            cross_entropy: add.cross_entropy(vocab),
            gelu: add.signature(&[bf16(&wide), Input::Scalar("none")]),
            gelu_backward: add.signature(&[bf16(&wide), bf16(&wide), Input::Scalar("none")]),
            add: add.signature(&[bf16(&narrow), bf16(&narrow), Input::Scalar("1")]),
            to_bf16: add.signature(&[
                Input::Tensor(Dtype::Float, narrow.clone()),
                Input::Scalar("15"),
                Input::Nothing,
                Input::Nothing,
                Input::Nothing,
                Input::Scalar("False"),
                Input::Nothing,
            ]),
            tokens: add.upload(Dtype::Long, &tokens),
            labels: add.upload(Dtype::Long, &tokens),
            features: add.upload(Dtype::Float, &narrow),
            fused_adamw: add.signature(&fused_adamw(&parameters)),
            foreach_norm: add.signature(&[
                Input::Tensors(parameters.clone()),
                Input::Scalar("2."),
                Input::Nothing,
            ]),
            foreach_mul: add.signature(&[Input::Tensors(parameters), Input::Tensor(Dtype::Bf16, vec![])]),
            scalar: add.signature(&[Input::Tensor(Dtype::Float, vec![])]),
            layer_elems,
            total_elems,
        }
    }

    /// Size of one tensor of the residual stream.
    pub(crate) fn residual_bytes(&self) -> i64 {
        self.n_tokens * self.hidden * Dtype::Bf16.size_bytes()
    }
}

/// Whether a fully connected layer adds a bias.
#[derive(Clone, Copy, PartialEq, Eq)]
enum HasBias {
    Yes,
    No,
}

fn bf16(shape: &[i64]) -> Input {
    Input::Tensor(Dtype::Bf16, shape.to_vec())
}

/// All parameters in the order of `model.parameters()`.
fn parameter_shapes(config: &Config) -> Vec<Vec<i64>> {
    let &Config { seq_len, hidden, vocab, .. } = config;
    let mut shapes = vec![vec![vocab, hidden], vec![seq_len, hidden]];
    for _ in 0..config.n_layers {
        shapes.extend([vec![hidden], vec![hidden]]);
        shapes.extend([vec![3 * hidden, hidden], vec![3 * hidden], vec![hidden, hidden], vec![hidden]]);
        shapes.extend([vec![hidden], vec![hidden]]);
        shapes.extend([vec![4 * hidden, hidden], vec![4 * hidden], vec![hidden, 4 * hidden], vec![hidden]]);
    }
    shapes.extend([vec![hidden], vec![hidden], vec![vocab, hidden]]);
    shapes
}

fn fused_adamw(parameters: &[Vec<i64>]) -> Vec<Input> {
    let list = || Input::Tensors(parameters.to_vec());
    let steps = Input::Tensors(vec![vec![]; parameters.len()]);
    let mut inputs = vec![list(), list(), list(), list(), Input::Nothing, steps];
    let numbers =
        ["0.00029999999999999997", "0.90000000000000002", "0.94999999999999996", "0.10000000000000001"];
    inputs.extend(numbers.map(Input::Scalar));
    inputs.extend(["1e-08", "False", "False"].map(Input::Scalar));
    inputs.extend([Input::Nothing, Input::Nothing]);
    inputs
}

/// Builds the parts of the network and registers their signatures.
struct Adder<'a> {
    signatures: &'a mut Signatures,
    tokens: [i64; 2],
    hidden: i64,
}

impl Adder<'_> {
    fn signature(&mut self, inputs: &[Input]) -> SignatureId {
        self.signatures.add(inputs)
    }

    fn parameter(&mut self, shape: &[i64]) -> Parameter {
        Parameter {
            n_elems: shape.iter().product(),
            tensor: self.signature(&[bf16(shape)]),
            scale: self.signature(&[bf16(shape), Input::Tensor(Dtype::Float, vec![])]),
        }
    }

    fn linear(&mut self, n_in: i64, n_out: i64, has_bias: HasBias) -> Linear {
        let [batch, seq_len] = self.tokens;
        let n_tokens = batch * seq_len;
        let x = bf16(&[batch, seq_len, n_in]);
        let weight = bf16(&[n_out, n_in]);
        let rows = bf16(&[n_tokens, n_in]);
        let weight_t = Input::Transposed(Dtype::Bf16, vec![n_in, n_out]);
        let grad = bf16(&[n_tokens, n_out]);
        let grad_t = Input::Transposed(Dtype::Bf16, vec![n_out, n_tokens]);
        let bias_input = if has_bias == HasBias::Yes { bf16(&[n_out]) } else { Input::Nothing };
        let product = match has_bias {
            HasBias::Yes => {
                vec![bias_input.clone(), rows.clone(), weight_t, Input::Scalar("1"), Input::Scalar("1")]
            }
            HasBias::No => vec![rows.clone(), weight_t],
        };
        Linear {
            n_tokens,
            n_in,
            n_out,
            linear: self.signature(&[x, weight.clone(), bias_input]),
            t: self.signature(std::slice::from_ref(&weight)),
            product: self.signature(&product),
            grad_output: self.signature(std::slice::from_ref(&grad)),
            grad_input: self.signature(&[grad.clone(), weight]),
            grad_weight: self.signature(&[grad_t, rows]),
            grad_bias: self.signature(&[grad, Input::List(vec![0]), Input::Scalar("True"), Input::Nothing]),
            weight: self.parameter(&[n_out, n_in]),
            bias: (has_bias == HasBias::Yes).then(|| self.parameter(&[n_out])),
        }
    }

    fn layer_norm(&mut self) -> LayerNorm {
        let hidden = self.hidden;
        let [batch, seq_len] = self.tokens;
        let x = bf16(&[batch, seq_len, hidden]);
        let vector = bf16(&[hidden]);
        let stats = Input::Tensor(Dtype::Float, vec![batch, seq_len, 1]);
        let shape = Input::List(vec![hidden]);
        let epsilon = Input::Scalar("1.0000000000000001e-05");
        let native = [x.clone(), shape.clone(), vector.clone(), vector.clone(), epsilon];
        let mut outer = native.to_vec();
        outer.push(Input::Scalar("True"));
        LayerNorm {
            layer_norm: self.signature(&outer),
            native: self.signature(&native),
            grad_output: self.signature(std::slice::from_ref(&x)),
            backward: self.signature(&[
                x.clone(),
                x,
                shape,
                stats.clone(),
                stats,
                vector.clone(),
                vector,
                Input::List(vec![1, 1, 1]),
            ]),
            weight: self.parameter(&[hidden]),
            bias: self.parameter(&[hidden]),
        }
    }

    fn attention(&mut self, n_heads: i64) -> Attention {
        let [batch, seq_len] = self.tokens;
        let head_dim = self.hidden / n_heads;
        let by_head = bf16(&[batch, n_heads, seq_len, head_dim]);
        let by_token = bf16(&[batch, seq_len, n_heads, head_dim]);
        let sums = Input::Tensor(Dtype::Float, vec![batch, n_heads, seq_len]);
        let heads = || [by_head.clone(), by_head.clone(), by_head.clone()];
        let scalars = |values: &[&'static str]| values.iter().map(|v| Input::Scalar(v)).collect::<Vec<_>>();
        let mut sdpa = heads().to_vec();
        sdpa.push(Input::Nothing);
        sdpa.extend(scalars(&["0.", "True"]));
        sdpa.extend([Input::Nothing, Input::Scalar("False")]);
        let mut flash = heads().to_vec();
        flash.extend(scalars(&["0.", "True", "False", "0.125"]));
        let mut forward = vec![by_token.clone(), by_token.clone(), by_token];
        forward.extend([Input::Nothing, Input::Nothing]);
        forward.extend(scalars(&["1024", "1024", "0.", "True", "False", "0.125"]));
        forward.extend([Input::Nothing, Input::Nothing, Input::Nothing, Input::Nothing]);
        let mut backward = heads().to_vec();
        backward.extend([by_head.clone(), by_head.clone(), sums, Input::Nothing, Input::Nothing]);
        backward.extend(scalars(&["1024", "1024", "0.", "True"]));
        backward.extend([Input::Nothing, Input::Nothing, Input::Scalar("0.125")]);
        Attention {
            sdpa: self.signature(&sdpa),
            flash: self.signature(&flash),
            forward: self.signature(&forward),
            grad_output: self.signature(&[by_head.clone(), Input::Nothing, Input::Nothing]),
            backward: self.signature(&backward),
        }
    }

    fn embedding(&mut self, n_rows: i64, ids: &[i64]) -> Embedding {
        let hidden = self.hidden;
        let table = bf16(&[n_rows, hidden]);
        let ids_input = Input::Tensor(Dtype::Long, ids.to_vec());
        let mut out_shape = ids.to_vec();
        out_shape.push(hidden);
        let out = bf16(&out_shape);
        let tail = [Input::Scalar("-1"), Input::Scalar("False"), Input::Scalar("False")];
        let mut forward = vec![table.clone(), ids_input.clone()];
        forward.extend(tail.clone());
        Embedding {
            embedding: self.signature(&forward),
            grad_output: self.signature(std::slice::from_ref(&out)),
            backward: self.signature(&[
                out,
                ids_input,
                Input::Scalar(""),
                Input::Scalar("-1"),
                Input::Scalar("False"),
            ]),
            zero: self.signature(&[table]),
            weight: self.parameter(&[n_rows, hidden]),
        }
    }

    fn cross_entropy(&mut self, vocab: i64) -> CrossEntropy {
        let n_tokens = self.tokens.iter().product();
        let logits = bf16(&[n_tokens, vocab]);
        let log_probabilities = Input::Tensor(Dtype::Float, vec![n_tokens, vocab]);
        let labels = Input::Tensor(Dtype::Long, vec![n_tokens]);
        let loss = Input::Tensor(Dtype::Float, vec![]);
        let options = [Input::Nothing, Input::Scalar("1"), Input::Scalar("-100")];
        let mut cross_entropy = vec![logits.clone(), labels.clone()];
        cross_entropy.extend(options.clone());
        cross_entropy.push(Input::Scalar("0."));
        let mut nll_loss = vec![log_probabilities.clone(), labels.clone()];
        nll_loss.extend(options.clone());
        let mut nll_loss_backward = vec![loss.clone(), log_probabilities.clone(), labels];
        nll_loss_backward.extend(options);
        nll_loss_backward.push(loss.clone());
        CrossEntropy {
            cross_entropy: self.signature(&cross_entropy),
            log_softmax: self.signature(&[logits.clone(), Input::Scalar("1"), Input::Scalar("6")]),
            native_log_softmax: self.signature(&[logits, Input::Scalar("1"), Input::Scalar("True")]),
            nll_loss: self.signature(&nll_loss),
            nll_loss_backward: self.signature(&nll_loss_backward),
            log_softmax_backward: self.signature(&[
                log_probabilities.clone(),
                log_probabilities.clone(),
                Input::Scalar("1"),
                Input::Scalar("15"),
            ]),
            zero: self.signature(&[log_probabilities]),
            loss: self.signature(&[loss]),
        }
    }

    fn upload(&mut self, dtype: Dtype, shape: &[i64]) -> Upload {
        let tensor = || Input::Tensor(dtype, shape.to_vec());
        let nothing = Input::Nothing;
        Upload {
            size_bytes: shape.iter().product::<i64>() * dtype.size_bytes(),
            to: self.signature(&[
                tensor(),
                nothing.clone(),
                nothing.clone(),
                Input::Scalar("0"),
                nothing.clone(),
                Input::Scalar("True"),
                nothing.clone(),
            ]),
            empty: self.signature(&[
                Input::List(shape.to_vec()),
                Input::List(vec![]),
                nothing.clone(),
                Input::Scalar("0"),
                Input::Scalar("0"),
                nothing,
            ]),
            copy: self.signature(&[tensor(), tensor(), Input::Scalar("True")]),
        }
    }
}
