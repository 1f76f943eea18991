//! What a made-up run is made of: its size, its seed, what the profilers record, and planted faults.

use super::training::Training;

/// A made-up training run. The same configuration gives the same bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Where all randomness comes from.
    pub seed: u64,
    /// Optimizer steps in the capture.
    pub n_steps: u32,
    /// Transformer layers. A step has 44 kernels per layer and some 80 besides.
    pub n_layers: u32,
    /// Sequences per step on this rank.
    pub batch: i64,
    /// Tokens per sequence.
    pub seq_len: i64,
    /// Width of the residual stream; the MLP is four times as wide.
    pub hidden: i64,
    /// Attention heads.
    pub n_heads: i64,
    /// Tokens in the vocabulary.
    pub vocab: i64,
    /// Samples per second of the GPU metrics in the nsys file; 0 records none.
    pub gpu_metrics_hz: i64,
    /// Input shapes on operators, as `record_shapes=True` gives them.
    pub records_shapes: bool,
    /// Tensor allocations, as `profile_memory=True` gives them.
    pub records_memory: bool,
    /// Share of the steps whose batch is not ready in time (0 to 1).
    pub late_batch_frac: f64,
    /// Things gone wrong on purpose.
    pub faults: Faults,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            seed: 1,
            n_steps: 5,
            n_layers: 12,
            batch: 4,
            seq_len: 1024,
            hidden: 1024,
            n_heads: 16,
            vocab: 50_304,
            gpu_metrics_hz: 10_000,
            records_shapes: true,
            records_memory: true,
            late_batch_frac: 0.15,
            faults: Faults::default(),
        }
    }
}

impl Config {
    /// This run with as many whole steps as come closest to `n_kernels`, at least one.
    #[must_use]
    pub fn with_kernels(mut self, n_kernels: u64) -> Self {
        let per_step = self.kernels_per_step();
        let n_steps = (n_kernels + per_step / 2) / per_step;
        self.n_steps = u32::try_from(n_steps).unwrap_or(u32::MAX).max(1);
        self
    }

    /// Kernels of one step: found by running one.
    fn kernels_per_step(&self) -> u64 {
        let mut training = Training::new(&Self { n_steps: 1, ..self.clone() });
        training.next_step();
        (training.step().kernels.len() as u64).max(1)
    }
}

/// Faults that can be planted; none by default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Faults {
    /// Every batch is copied from pageable memory, and the host waits for it.
    pub pageable_batches: bool,
    /// The host reads a value back from the device in every layer of the forward pass (`.item()`).
    pub item_in_each_layer: bool,
    /// All gradients are reduced after the backward pass instead of during it.
    pub reduces_after_backward: bool,
    /// How long every collective waits for the slowest rank, in ns.
    pub straggler_ns: i64,
}
