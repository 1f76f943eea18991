//! Gradient reduction as DistributedDataParallel does it: one all-reduce per bucket, on NCCL's stream,
//! while the backward pass goes on.

use super::api::Api;
use super::description::{Name, Stream, Thread};
use super::hardware::Work;
use super::kernel_catalog as kernels;
use super::machine::{EventMark, Launch, NewOp};
use super::network::Network;
use super::signature::{Dtype, Input, Signatures};
use super::training::{Bucket, Buckets, N_RANKS, Training};

const THREAD: Thread = Thread::Autograd;
/// Channels NCCL opens on eight GPUs behind NVSwitch; one block each.
const N_CHANNELS: i64 = 24;
/// Event ids come from a pool and repeat every step.
const FIRST_EVENT_ID: i64 = 412;

impl Buckets {
    pub(crate) fn new(network: &Network, signatures: &mut Signatures) -> Self {
        let norm_elems = network.norm.weight.n_elems + network.norm.bias.n_elems;
        let embedding_elems =
            network.token_embedding.weight.n_elems + network.position_embedding.weight.n_elems;
        Self {
            head: Bucket::new(network.head.weight.n_elems + norm_elems, signatures),
            layer: Bucket::new(network.layer_elems, signatures),
            embedding: Bucket::new(embedding_elems, signatures),
        }
    }
}

impl Bucket {
    fn new(n_elems: i64, signatures: &mut Signatures) -> Self {
        let tensor = Input::Tensor(Dtype::Bf16, vec![n_elems]);
        let nothing = || Input::Nothing;
        let allreduce = [
            Input::Tensors(vec![vec![n_elems]]),
            nothing(),
            nothing(),
            nothing(),
            Input::Scalar("True"),
            Input::Scalar("-1"),
        ];
        let record = [
            tensor.clone(),
            nothing(),
            nothing(),
            Input::Scalar("0"),
            nothing(),
            Input::List(vec![]),
            Input::List(vec![]),
            Input::Scalar("0"),
            Input::Scalar("1"),
            Input::Scalar("8"),
        ];
        Self {
            n_elems,
            allreduce: signatures.add(&allreduce),
            record: signatures.add(&record),
            tensor: signatures.add(&[tensor]),
        }
    }
}

impl Training {
    /// A bucket is full: reduces it now, or leaves it for later where that fault is planted.
    pub(crate) fn reduce(&mut self, bucket: Bucket, ended: &mut Vec<Reduction>) {
        if self.config.faults.reduces_after_backward {
            ended.push(Reduction::Waiting(bucket));
        } else {
            let event_id = FIRST_EVENT_ID + 2 * ended.len() as i64;
            let mark = self.all_reduce(bucket, event_id);
            ended.push(Reduction::Launched(mark));
        }
    }

    /// The end of the backward pass: the compute stream waits for every reduction.
    pub(crate) fn finish_reductions(&mut self, reductions: Vec<Reduction>) {
        let mut event_id = FIRST_EVENT_ID;
        let mut marks = Vec::new();
        for reduction in reductions {
            marks.push(match reduction {
                Reduction::Launched(mark) => mark,
                Reduction::Waiting(bucket) => self.all_reduce(bucket, event_id),
            });
            event_id += 2;
        }
        for mark in marks {
            self.machine.wait_event(THREAD, Stream::Compute, mark);
            self.machine.work(THREAD, 1_500);
        }
    }

    fn all_reduce(&mut self, bucket: Bucket, event_id: i64) -> EventMark {
        let wait_ns = self.skew_ns();
        let work = Work::all_reduce(2 * bucket.n_elems, N_RANKS, wait_ns);
        let machine = &mut self.machine;
        let ready = machine.record_event(THREAD, Api::EventRecordWithFlags, Stream::Compute, event_id);
        machine.op(THREAD, NewOp::operator("c10d::allreduce_").inputs(bucket.allreduce), |m| {
            let record =
                NewOp::operator("record_param_comms").inputs(bucket.record).collective(bucket.n_elems);
            m.op(THREAD, record, |m| {
                m.call(THREAD, Api::StreamIsCapturing);
                m.wait_event(THREAD, Stream::Comm, ready);
                let range = NewOp::annotation(Name::Text("nccl:all_reduce")).inputs(bucket.tensor);
                m.op(THREAD, range, |m| {
                    m.nccl_range(THREAD, "ncclGroupStart", |_| {});
                    m.nccl_range(THREAD, "ncclAllReduce", |m| {
                        m.work(THREAD, 2_600);
                    });
                    m.nccl_range(THREAD, "ncclGroupEnd", |m| {
                        m.work(THREAD, 7_000);
                        let launch = Launch { spec: &kernels::ALL_REDUCE, grid: [N_CHANNELS, 1, 1], work };
                        m.launch_collective(THREAD, launch, bucket.n_elems);
                    });
                });
            });
        });
        self.machine.record_event(THREAD, Api::EventRecord, Stream::Comm, event_id + 1)
    }

    /// How long this collective waits for the slowest rank: mostly little, now and then long.
    fn skew_ns(&mut self) -> i64 {
        let rng = &mut self.machine.rng;
        let usual_ns = rng.between(5_000, 45_000);
        let rare_ns = if rng.chance(0.03) { rng.between(150_000, 900_000) } else { 0 };
        usual_ns + rare_ns + self.config.faults.straggler_ns
    }
}

/// A bucket's reduction during the backward pass.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reduction {
    Launched(EventMark),
    Waiting(Bucket),
}
