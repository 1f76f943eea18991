//! The start of a step: the batch comes from the DataLoader and goes to the device.

use super::description::{MemoryKind, Name, Stream, Thread};
use super::machine::NewOp;
use super::network::Upload;
use super::training::Training;

/// Whether the host waits for a copy to the device.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Waits {
    Yes,
    No,
}

impl Training {
    /// `next(iter(loader))`: quick when the workers keep up, and now and then not.
    pub(crate) fn load_batch(&mut self) {
        const NAME: &str = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";
        let is_late = self.machine.rng.chance(self.config.late_batch_frac);
        self.annotated(Name::Text(NAME), |run| {
            let machine = &mut run.machine;
            machine.work(Thread::Main, 25_000);
            if is_late {
                let wait_ns = machine.rng.between(2_500_000, 14_000_000);
                let ready_ns = machine.now_ns(Thread::Main) + wait_ns;
                machine.blocks_until(Thread::PinMemory, "poll", ready_ns - 180_000);
                machine.work(Thread::PinMemory, 150_000);
                machine.blocks_until(Thread::Main, "pthread_cond_timedwait", ready_ns);
            } else {
                let ready_ns = machine.now_ns(Thread::Main) - 1_000_000;
                machine.blocks_until(Thread::PinMemory, "poll", ready_ns);
            }
            machine.work(Thread::Main, 30_000);
        });
    }

    /// `.to(device)` of every tensor of the batch. The labels were forgotten when memory was pinned.
    pub(crate) fn upload_batch(&mut self) {
        let network = self.network;
        let pinned =
            if self.config.faults.pageable_batches { MemoryKind::Pageable } else { MemoryKind::Pinned };
        self.upload(network.tokens, pinned);
        self.upload(network.features, pinned);
        self.upload(network.labels, MemoryKind::Pageable);
    }

    fn upload(&mut self, tensor: Upload, from: MemoryKind) {
        let thread = Thread::Main;
        let waits = if from == MemoryKind::Pageable { Waits::Yes } else { Waits::No };
        let mut block = None;
        self.machine.op(thread, NewOp::operator("aten::to").inputs(tensor.to), |m| {
            m.op(thread, NewOp::operator("aten::_to_copy").inputs(tensor.to), |m| {
                m.op(thread, NewOp::operator("aten::empty_strided").inputs(tensor.empty), |m| {
                    block = Some(m.alloc(thread, tensor.size_bytes));
                });
                m.op(thread, NewOp::operator("aten::copy_").inputs(tensor.copy), |m| {
                    m.copy(thread, from, MemoryKind::Device, tensor.size_bytes);
                    if waits == Waits::Yes {
                        m.synchronize(thread, Stream::Compute);
                    }
                });
            });
        });
        self.batch.extend(block);
    }
}
