//! The simulated machine: CPU threads that take time, streams that run work in order behind them.
//!
//! ```text
//! thread   ── op ──[ launch ]───── op ──[ launch ]──[ synchronise ……………… ]──
//!                       ╲ latency             ╲                           ╱
//! stream   ─────────────[ kernel ]──gap──[ kernel ]──────────────────────
//! ```
//!
//! A kernel starts at the earliest when its launch call has returned, when the kernel before it on the
//! stream has ended, and when what the stream was told to wait for has happened.

use super::allocator::{Allocator, Block};
use super::api::Api;
use super::description::{
    ApiCall, Autograd, Copy, EventRecord, Flow, GpuAnnotation, Kernel, MemoryKind, Memset, Name, NcclCall,
    Op, OpKind, OsCall, Segment, Step, Stream, StreamSync, TensorEvent, Thread,
};
use super::gpu_metrics::Activity;
use super::hardware::{self, Load, MAX_THREADS_PER_SM, N_SMS, Work};
use super::kernel_catalog::KernelSpec;
use super::rng::Rng;
use super::signature::SignatureId;

/// An operator or annotation about to be opened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewOp {
    name: Name,
    kind: OpKind,
    autograd: Autograd,
    flow: Option<Flow>,
    signature: Option<SignatureId>,
    collective_n_elems: Option<i64>,
}

impl NewOp {
    /// An operator without inputs that anybody describes.
    pub(crate) fn operator(name: &'static str) -> Self {
        Self {
            name: Name::Text(name),
            kind: OpKind::Operator,
            autograd: Autograd::None,
            flow: None,
            signature: None,
            collective_n_elems: None,
        }
    }

    /// A range opened by Python code.
    pub(crate) fn annotation(name: Name) -> Self {
        Self { name, kind: OpKind::Annotation, ..Self::operator("") }
    }

    pub(crate) fn inputs(self, signature: SignatureId) -> Self {
        Self { signature: Some(signature), ..self }
    }

    pub(crate) fn autograd(self, autograd: Autograd) -> Self {
        Self { autograd, ..self }
    }

    pub(crate) fn flow(self, flow: Flow) -> Self {
        Self { flow: Some(flow), ..self }
    }

    pub(crate) fn collective(self, n_elems: i64) -> Self {
        Self { collective_n_elems: Some(n_elems), ..self }
    }
}

/// A kernel about to be launched.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Launch {
    pub(crate) spec: &'static KernelSpec,
    pub(crate) grid: [i64; 3],
    pub(crate) work: Work,
}

/// An event recorded on a stream: when the work before it is done.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EventMark {
    ready_ns: i64,
}

/// What is open on a thread.
#[derive(Debug, Default)]
struct ThreadState {
    now_ns: i64,
    operators: Vec<i64>,
    annotations: Vec<OpenAnnotation>,
}

#[derive(Debug)]
struct OpenAnnotation {
    name: Name,
    op_id: i64,
    /// First start and last end of the device work launched directly inside, per stream.
    device_spans: [Option<(i64, i64)>; 2],
}

#[derive(Debug, Default)]
struct StreamState {
    free_ns: i64,
    not_before_ns: i64,
}

/// Threads, streams, memory and the step that is being written.
#[derive(Debug)]
pub(crate) struct Machine {
    pub(crate) step: Step,
    pub(crate) rng: Rng,
    /// Device work of this step for the metric sampler.
    pub(crate) activities: Vec<Activity>,
    allocator: Allocator,
    threads: [ThreadState; Thread::ALL.len()],
    streams: [StreamState; 2],
    next_correlation: i64,
    next_op_id: i64,
    next_grid_id: i64,
    next_event_sync_id: i64,
}

impl Machine {
    pub(crate) fn new(rng: Rng, allocator: Allocator, start_ns: i64) -> Self {
        let mut threads: [ThreadState; Thread::ALL.len()] = Default::default();
        for thread in &mut threads {
            thread.now_ns = start_ns;
        }
        Self {
            step: Step::default(),
            rng,
            activities: Vec::new(),
            allocator,
            threads,
            streams: Default::default(),
            next_correlation: 74_301,
            next_op_id: 90_113,
            next_grid_id: 51_020,
            next_event_sync_id: 9_001,
        }
    }

    pub(crate) fn now_ns(&self, thread: Thread) -> i64 {
        self.threads[thread.idx()].now_ns
    }

    /// When the last work given to the stream so far ends.
    pub(crate) fn stream_free_ns(&self, stream: Stream) -> i64 {
        self.streams[stream.idx()].free_ns
    }

    /// Moves a thread's clock to `time_ns`; it never goes back.
    pub(crate) fn advance_to(&mut self, thread: Thread, time_ns: i64) {
        let now_ns = &mut self.threads[thread.idx()].now_ns;
        *now_ns = time_ns.max(*now_ns);
    }

    /// Lets a thread work for about `mean_ns`, and returns how long it took.
    pub(crate) fn work(&mut self, thread: Thread, mean_ns: i64) -> i64 {
        let dur_ns = self.rng.cpu_ns(mean_ns);
        self.threads[thread.idx()].now_ns += dur_ns;
        dur_ns
    }

    /// Runs `body` inside an operator or annotation.
    pub(crate) fn op(&mut self, thread: Thread, new_op: NewOp, body: impl FnOnce(&mut Self)) {
        let idx = self.open(thread, new_op);
        self.work(thread, 1_100);
        body(self);
        self.work(thread, 700);
        self.close(thread, idx);
    }

    /// An operator with nothing inside.
    pub(crate) fn leaf(&mut self, thread: Thread, new_op: NewOp) {
        let idx = self.open(thread, new_op);
        self.work(thread, 1_500);
        self.close(thread, idx);
    }

    /// Opens an operator or annotation that [`Machine::close`] will end.
    pub(crate) fn open(&mut self, thread: Thread, new_op: NewOp) -> usize {
        self.work(thread, 400);
        let op_id = self.next_op_id;
        self.next_op_id += 1;
        let state = &mut self.threads[thread.idx()];
        match new_op.kind {
            OpKind::Operator => state.operators.push(op_id),
            OpKind::Annotation => {
                let open = OpenAnnotation { name: new_op.name, op_id, device_spans: [None; 2] };
                state.annotations.push(open);
            }
        }
        self.step.ops.push(Op {
            thread,
            name: new_op.name,
            kind: new_op.kind,
            start_ns: state.now_ns,
            dur_ns: 0,
            op_id,
            autograd: new_op.autograd,
            flow: new_op.flow,
            signature: new_op.signature,
            collective_n_elems: new_op.collective_n_elems,
        });
        self.step.ops.len() - 1
    }

    /// Ends what [`Machine::open`] opened; ops close in the reverse order of opening.
    pub(crate) fn close(&mut self, thread: Thread, op_idx: usize) {
        let state = &mut self.threads[thread.idx()];
        let op = &mut self.step.ops[op_idx];
        op.dur_ns = state.now_ns - op.start_ns;
        match op.kind {
            OpKind::Operator => {
                state.operators.pop();
            }
            OpKind::Annotation => {
                let Some(closed) = state.annotations.pop() else { return };
                for stream in [Stream::Compute, Stream::Comm] {
                    let Some((start_ns, end_ns)) = closed.device_spans[stream.idx()] else { continue };
                    self.step.gpu_annotations.push(GpuAnnotation {
                        name: closed.name,
                        op_id: closed.op_id,
                        stream,
                        start_ns,
                        end_ns,
                    });
                }
            }
        }
    }

    /// A call that only takes its usual time. Returns its correlation id.
    pub(crate) fn call(&mut self, thread: Thread, api: Api) -> i64 {
        let dur_ns = self.rng.cpu_ns(api.mean_ns());
        self.call_lasting(thread, api, dur_ns, 0)
    }

    /// A call that takes `dur_ns` and gives back `return_value`. Returns its correlation id.
    pub(crate) fn call_lasting(&mut self, thread: Thread, api: Api, dur_ns: i64, return_value: i64) -> i64 {
        let correlation = self.next_correlation;
        // The driver calls inside the runtime take numbers too, but are not traced.
        self.next_correlation += self.rng.between(1, 5);
        let state = &mut self.threads[thread.idx()];
        self.step.api_calls.push(ApiCall {
            thread,
            api,
            start_ns: state.now_ns,
            dur_ns,
            correlation,
            op_id: state.operators.last().copied(),
            return_value,
        });
        state.now_ns += dur_ns;
        correlation
    }

    /// Launches a kernel on the compute stream.
    pub(crate) fn launch(&mut self, thread: Thread, api: Api, launch: Launch) {
        self.launch_on(thread, api, launch, Stream::Compute, None);
    }

    /// Launches a kernel of a collective.
    pub(crate) fn launch_collective(&mut self, thread: Thread, launch: Launch, n_elems: i64) {
        self.launch_on(thread, Api::DriverLaunchKernelEx, launch, Stream::Comm, Some(n_elems));
    }

    fn launch_on(&mut self, thread: Thread, api: Api, launch: Launch, stream: Stream, n_elems: Option<i64>) {
        let correlation = self.call(thread, api);
        let start_ns = self.device_start_ns(thread, stream);
        let usual_ns = self.rng.around(launch.work.duration_ns(), 0.03);
        let slowdown = self.contention(stream, start_ns);
        let dur_ns = hardware::on_timer_grid((usual_ns as f64 * slowdown) as i64);
        self.step.kernels.push(Kernel {
            spec: launch.spec,
            stream,
            start_ns,
            dur_ns,
            correlation,
            op_id: self.threads[thread.idx()].operators.last().copied(),
            grid: launch.grid,
            grid_id: self.next_grid_id,
            collective_n_elems: n_elems,
        });
        self.next_grid_id += 1;
        let n_blocks: i64 = launch.grid.iter().product();
        let resident_blocks = launch.spec.blocks_per_sm.min((n_blocks + N_SMS - 1) / N_SMS);
        let occupancy =
            (resident_blocks * launch.spec.threads_per_block()) as f64 / MAX_THREADS_PER_SM as f64;
        let load = Load::of_kernel(&launch.work, dur_ns, n_blocks, occupancy.min(1.0));
        self.ran_on_device(thread, stream, start_ns, dur_ns, load);
    }

    /// Compute kernels that run beside a collective lose multiprocessors and bandwidth to it.
    fn contention(&self, stream: Stream, start_ns: i64) -> f64 {
        let is_beside_comm = stream == Stream::Compute && start_ns < self.streams[Stream::Comm.idx()].free_ns;
        if is_beside_comm { 1.06 } else { 1.0 }
    }

    /// When work enqueued by the call that just returned on `thread` starts.
    fn device_start_ns(&mut self, thread: Thread, stream: Stream) -> i64 {
        let latency_ns = self.rng.between(900, 2_600);
        let gap_ns = self.rng.between(700, 1_300);
        let called_ns = self.threads[thread.idx()].now_ns;
        let stream = &self.streams[stream.idx()];
        let start_ns =
            (called_ns + latency_ns).max(stream.free_ns + gap_ns).max(stream.not_before_ns + gap_ns);
        hardware::on_timer_grid(start_ns)
    }

    fn ran_on_device(&mut self, thread: Thread, stream: Stream, start_ns: i64, dur_ns: i64, load: Load) {
        let end_ns = start_ns + dur_ns;
        self.streams[stream.idx()].free_ns = end_ns;
        self.activities.push(Activity { start_ns, end_ns, load });
        if let Some(annotation) = self.threads[thread.idx()].annotations.last_mut() {
            let span = &mut annotation.device_spans[stream.idx()];
            *span = Some(span.map_or((start_ns, end_ns), |(first_ns, _)| (first_ns, end_ns)));
        }
    }

    /// `cudaMemcpyAsync` on the compute stream. From pageable memory the call itself waits for the copy
    /// into the staging buffer.
    pub(crate) fn copy(&mut self, thread: Thread, from: MemoryKind, to: MemoryKind, size_bytes: i64) {
        let is_pinned = from != MemoryKind::Pageable && to != MemoryKind::Pageable;
        let staging_ns = if is_pinned { 0 } else { size_bytes / 12 };
        let call_ns = self.rng.cpu_ns(Api::MemcpyAsync.mean_ns()) + staging_ns;
        let correlation = self.call_lasting(thread, Api::MemcpyAsync, call_ns, 0);
        let start_ns = self.device_start_ns(thread, Stream::Compute);
        let dur_ns =
            hardware::on_timer_grid(self.rng.around(hardware::host_copy_ns(size_bytes, is_pinned), 0.04));
        self.step.copies.push(Copy {
            stream: Stream::Compute,
            start_ns,
            dur_ns,
            correlation,
            op_id: self.threads[thread.idx()].operators.last().copied(),
            from,
            to,
            size_bytes,
        });
        let load = if to == MemoryKind::Device {
            Load::of_upload(size_bytes, dur_ns)
        } else {
            Load::of_download(size_bytes, dur_ns)
        };
        self.ran_on_device(thread, Stream::Compute, start_ns, dur_ns, load);
    }

    /// `cudaMemsetAsync` on the compute stream.
    pub(crate) fn memset(&mut self, thread: Thread, size_bytes: i64) {
        let correlation = self.call(thread, Api::MemsetAsync);
        let start_ns = self.device_start_ns(thread, Stream::Compute);
        let work = Work::memory(0, size_bytes);
        let dur_ns = hardware::on_timer_grid(self.rng.around(work.duration_ns(), 0.04));
        self.step.memsets.push(Memset {
            stream: Stream::Compute,
            start_ns,
            dur_ns,
            correlation,
            op_id: self.threads[thread.idx()].operators.last().copied(),
            size_bytes,
        });
        let load = Load::of_kernel(&work, dur_ns, N_SMS, 0.5);
        self.ran_on_device(thread, Stream::Compute, start_ns, dur_ns, load);
    }

    /// `cudaStreamSynchronize`: the thread waits until the stream is empty.
    pub(crate) fn synchronize(&mut self, thread: Thread, stream: Stream) {
        let called_ns = self.now_ns(thread);
        let least_ns = self.rng.cpu_ns(Api::StreamSynchronize.mean_ns());
        let wake_up_ns = self.rng.cpu_ns(2_500);
        let done_ns = (self.stream_free_ns(stream) + wake_up_ns).max(called_ns + least_ns);
        let dur_ns = done_ns - called_ns;
        let correlation = self.call_lasting(thread, Api::StreamSynchronize, dur_ns, 0);
        self.step.syncs.push(StreamSync {
            stream,
            start_ns: called_ns + 500,
            dur_ns: dur_ns - 800,
            correlation,
        });
    }

    /// `cudaEventRecord` or its sibling with flags.
    pub(crate) fn record_event(
        &mut self,
        thread: Thread,
        api: Api,
        stream: Stream,
        event_id: i64,
    ) -> EventMark {
        let correlation = self.call(thread, api);
        let event_sync_id = self.next_event_sync_id;
        self.next_event_sync_id += 1;
        self.step.event_records.push(EventRecord { stream, correlation, event_id, event_sync_id });
        EventMark { ready_ns: self.stream_free_ns(stream).max(self.now_ns(thread)) }
    }

    /// `cudaStreamWaitEvent`: what comes next on `stream` starts after the event.
    pub(crate) fn wait_event(&mut self, thread: Thread, stream: Stream, mark: EventMark) {
        self.call(thread, Api::StreamWaitEvent);
        let state = &mut self.streams[stream.idx()];
        state.not_before_ns = state.not_before_ns.max(mark.ready_ns);
    }

    /// Takes device memory, calling the driver when the cache has none.
    pub(crate) fn alloc(&mut self, thread: Thread, size_bytes: i64) -> Block {
        let (block, new_segment) = self.allocator.alloc(size_bytes);
        if let Some(segment) = new_segment {
            let correlation = self.call(thread, Api::Malloc);
            let time_ns = self.now_ns(thread);
            self.step.segments.push(Segment {
                time_ns,
                addr: segment.addr,
                size_bytes: segment.size_bytes,
                correlation,
            });
        }
        self.work(thread, 300);
        self.note_tensor(thread, block, block.size_bytes);
        block
    }

    /// Gives device memory back to the cache.
    pub(crate) fn free(&mut self, thread: Thread, block: Block) {
        self.allocator.free(block);
        self.work(thread, 200);
        self.note_tensor(thread, block, -block.size_bytes);
    }

    fn note_tensor(&mut self, thread: Thread, block: Block, delta_bytes: i64) {
        self.step.tensor_events.push(TensorEvent {
            thread,
            time_ns: self.threads[thread.idx()].now_ns,
            delta_bytes,
            addr: block.addr,
            total_allocated_bytes: self.allocator.allocated_bytes(),
            total_reserved_bytes: self.allocator.reserved_bytes(),
        });
    }

    /// A call of the C library that blocks the thread until `end_ns`.
    pub(crate) fn blocks_until(&mut self, thread: Thread, name: &'static str, end_ns: i64) {
        let start_ns = self.now_ns(thread);
        if start_ns < end_ns {
            self.step.os_calls.push(OsCall { thread, name, start_ns, dur_ns: end_ns - start_ns });
            self.advance_to(thread, end_ns);
        }
    }

    /// Runs `body` inside one of NCCL's own NVTX ranges.
    pub(crate) fn nccl_range(&mut self, thread: Thread, name: &'static str, body: impl FnOnce(&mut Self)) {
        let start_ns = self.now_ns(thread);
        self.work(thread, 500);
        body(self);
        let dur_ns = self.now_ns(thread) - start_ns;
        self.step.nccl_calls.push(NcclCall { thread, name, start_ns, dur_ns });
    }
}
