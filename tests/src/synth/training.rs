//! The training loop: runs the steps of the made-up run one after the other.

use super::allocator::{Allocator, Block};
use super::api::Api;
use super::config::Config;
use super::description::{Name, Step, Stream, Thread};
use super::gpu_metrics::Sampler;
use super::machine::{Machine, NewOp};
use super::network::Network;
use super::rng::Rng;
use super::signature::{SignatureId, Signatures};

/// Ranks of the job; this is rank 0.
pub(crate) const N_RANKS: i64 = 8;
/// When the first step begins, in ns from the start of the session.
const FIRST_STEP_NS: i64 = 12_000_000;
/// Number of the first step in the capture: the profiler came after the warm-up.
const FIRST_STEP: u32 = 10;
/// How often NCCL's watchdog looks at its collectives (`ProcessGroupNCCL::kWatchdogThreadSleepMillis`).
const WATCHDOG_PERIOD_NS: i64 = 100_000_000;
/// Bytes held per parameter: bf16 weight, gradient and two moments.
const RESIDENT_BYTES_PER_ELEM: i64 = 8;
/// `cudaErrorNotReady`.
const NOT_READY: i64 = 600;

/// A forward operator whose backward is still to run: the node autograd recorded, and what it keeps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Saved {
    pub(crate) node: Node,
    pub(crate) block: Option<Block>,
}

/// A node of the autograd graph.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    pub(crate) seq: i64,
    pub(crate) flow: i64,
}

/// The state of the run between operators.
#[derive(Debug)]
pub(crate) struct Training {
    pub(crate) config: Config,
    pub(crate) signatures: Signatures,
    pub(crate) network: Network,
    pub(crate) machine: Machine,
    /// Forward operators in order; the backward pass takes them from the end.
    pub(crate) tape: Vec<Saved>,
    /// The gradient that flows backward at the moment.
    pub(crate) grad: Option<Block>,
    /// The batch on the device.
    pub(crate) batch: Vec<Block>,
    /// Signatures of the gradient buckets, by what is in them.
    pub(crate) buckets: Buckets,
    sampler: Option<Sampler>,
    steps_done: u32,
    next_seq: i64,
    next_flow: i64,
    next_watchdog_ns: i64,
}

/// A gradient bucket: what one all-reduce carries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bucket {
    pub(crate) n_elems: i64,
    pub(crate) allreduce: SignatureId,
    pub(crate) record: SignatureId,
    pub(crate) tensor: SignatureId,
}

/// The gradient buckets of the network.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Buckets {
    pub(crate) head: Bucket,
    pub(crate) layer: Bucket,
    pub(crate) embedding: Bucket,
}

impl Training {
    /// The run of a configuration, before its first step.
    pub(crate) fn new(config: &Config) -> Self {
        let mut signatures = Signatures::default();
        let network = Network::new(config, &mut signatures);
        let buckets = Buckets::new(&network, &mut signatures);
        let allocator = Allocator::with_resident(RESIDENT_BYTES_PER_ELEM * network.total_elems);
        let machine = Machine::new(Rng::from_seed(config.seed), allocator, FIRST_STEP_NS);
        // Its own generator: the run does not change with the sampling rate.
        let sampler = (0 < config.gpu_metrics_hz)
            .then(|| Sampler::new(Rng::from_seed(!config.seed), config.gpu_metrics_hz, 0));
        Self {
            config: config.clone(),
            signatures,
            network,
            machine,
            tape: Vec::new(),
            grad: None,
            batch: Vec::new(),
            buckets,
            sampler,
            steps_done: 0,
            next_seq: 2_410,
            next_flow: 1,
            next_watchdog_ns: WATCHDOG_PERIOD_NS / 3,
        }
    }

    /// Leaves out the GPU metrics, for writers that have no place for them.
    pub(crate) fn without_metrics(mut self) -> Self {
        self.sampler = None;
        self
    }

    /// When the program has come to so far, in ns from the start of the session.
    pub(crate) fn now_ns(&self) -> i64 {
        self.machine.now_ns(Thread::Main)
    }

    /// What happened in the step that ran last.
    pub(crate) fn step(&self) -> &Step {
        &self.machine.step
    }

    /// Runs the next step; false after the last.
    pub(crate) fn next_step(&mut self) -> bool {
        if self.config.n_steps <= self.steps_done {
            return false;
        }
        self.machine.step.clear();
        self.machine.activities.clear();
        let number = FIRST_STEP + self.steps_done;
        self.run_step(number);
        self.steps_done += 1;
        self.run_watchdog();
        let now_ns = self.now_ns();
        if let Some(sampler) = &mut self.sampler {
            sampler.sample(&mut self.machine.activities, now_ns, &mut self.machine.step.metrics);
        }
        true
    }

    /// A node of the autograd graph for an operator of the forward pass.
    pub(crate) fn new_node(&mut self) -> Node {
        let node = Node { seq: self.next_seq, flow: self.next_flow };
        self.next_seq += 1;
        self.next_flow += 1;
        node
    }

    fn run_step(&mut self, number: u32) {
        self.annotated(Name::Step(number), |run| {
            run.annotated(Name::Text("data"), |run| {
                run.load_batch();
                run.upload_batch();
            });
            run.annotated(Name::Text("Optimizer.zero_grad#AdamW.zero_grad"), |run| {
                run.machine.work(Thread::Main, 35_000);
            });
            run.annotated(Name::Text("forward"), Self::forward);
            run.annotated(Name::Text("backward"), Self::backward);
            run.annotated(Name::Text("optimizer"), Self::optimizer);
            run.read_loss();
            for block in std::mem::take(&mut run.batch) {
                run.machine.free(Thread::Main, block);
            }
        });
        self.machine.work(Thread::Main, 20_000);
    }

    /// Runs `body` inside an annotation of the main thread.
    pub(crate) fn annotated(&mut self, name: Name, body: impl FnOnce(&mut Self)) {
        let idx = self.machine.open(Thread::Main, NewOp::annotation(name));
        self.machine.work(Thread::Main, 2_500);
        body(self);
        self.machine.work(Thread::Main, 1_500);
        self.machine.close(Thread::Main, idx);
    }

    /// `loss.item()`: the one place in a step where the host waits for the device.
    fn read_loss(&mut self) {
        self.machine.work(Thread::Main, 12_000);
        self.item();
    }

    /// Polls of NCCL's watchdog since the last step.
    fn run_watchdog(&mut self) {
        let thread = Thread::NcclWatchdog;
        let now_ns = self.now_ns();
        let machine = &mut self.machine;
        while self.next_watchdog_ns < now_ns {
            machine.blocks_until(thread, "pthread_cond_timedwait", self.next_watchdog_ns);
            for _ in 0..2 {
                let is_running = machine.rng.chance(0.3);
                let dur_ns = machine.rng.cpu_ns(Api::EventQuery.mean_ns());
                machine.call_lasting(thread, Api::EventQuery, dur_ns, if is_running { NOT_READY } else { 0 });
                machine.work(thread, 1_200);
            }
            self.next_watchdog_ns += WATCHDOG_PERIOD_NS;
        }
    }

    /// Waits on the main thread until the backward thread is done.
    pub(crate) fn join_backward(&mut self) {
        let done_ns = self.machine.now_ns(Thread::Autograd) + self.machine.rng.cpu_ns(9_000);
        self.machine.blocks_until(Thread::Main, "pthread_cond_wait", done_ns);
    }

    /// A tensor read back to the host: a copy and a wait.
    pub(crate) fn item(&mut self) {
        use super::description::MemoryKind;
        let scalar = self.network.scalar;
        self.machine.op(Thread::Main, NewOp::operator("aten::item").inputs(scalar), |m| {
            m.op(Thread::Main, NewOp::operator("aten::_local_scalar_dense").inputs(scalar), |m| {
                m.copy(Thread::Main, MemoryKind::Device, MemoryKind::Pinned, 4);
                m.synchronize(Thread::Main, Stream::Compute);
            });
        });
    }
}

/// The wall clock at time 0 of the run.
pub(crate) const SESSION_START_UTC_NS: i64 = 1_772_600_000_123_456_789;
/// The same as nsys writes it.
pub(crate) const SESSION_START_UTC: &str = "2026-03-04T04:53:20";
