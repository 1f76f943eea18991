//! What the file says about the machine: processes, threads, GPUs, contexts, streams, the session.
//!
//! Read before the events. Host names, users and command lines are not read.

use std::borrow::Cow;

use rustc_hash::{FxHashMap, FxHashSet};
use tracecard_model::{Device, IssueLog};

use super::cells::Cells;
use super::small_tables::SmallTables;
use crate::nsys_terms::global_id::{GlobalId, GlobalProcess, Machine};

/// A process of a row; `None` where the file does not say.
pub(crate) type Owner = Option<GlobalProcess>;

/// The machine and the session.
#[derive(Debug, Default)]
pub(crate) struct Target {
    /// Where processes live unless their id says otherwise: only others show their machine.
    pub(crate) home: Option<Machine>,
    /// The one process of the file, if there is only one: rows without a process belong to it.
    pub(crate) sole_process: Owner,
    /// Wall clock of time 0 in ns since 1970 UTC.
    pub(crate) start_unix_ns: Option<i64>,
    /// When the capture ended, in ns after time 0.
    pub(crate) end_ns: Option<i64>,
    /// Names of threads in file order; a later one replaces an earlier one.
    pub(crate) thread_names: Vec<(GlobalId, i64)>,
    /// Product names of all GPUs, by number.
    pub(crate) gpu_names: Vec<String>,
    process_names: FxHashMap<GlobalProcess, String>,
    ranks: FxHashMap<GlobalProcess, u32>,
    gpus: Vec<Gpu>,
    /// (process id, ordinal in the process) → GPU number.
    gpu_from_ordinal: FxHashMap<(u32, i64), i64>,
    /// (process, context) → ordinal.
    ordinal_from_context: FxHashMap<(GlobalProcess, i64), i64>,
    null_streams: FxHashSet<(GlobalProcess, i64, i64)>,
    stream_names: FxHashMap<(GlobalProcess, i64, i64), String>,
}

/// GPUs of one file. The largest machines have 16.
const MAX_GPUS: usize = 1024;

/// A row of `TARGET_INFO_GPU`.
#[derive(Debug)]
struct Gpu {
    machine: Option<Machine>,
    id: i64,
    cuda_ordinal: Option<i64>,
    /// Where it sits: `0000:02:00.0`.
    bus: Option<String>,
    device: Device,
}

/// A device of the Trace.
pub(crate) struct FoundDevice {
    /// What tells devices of the file apart.
    pub(crate) key: String,
    /// Its row.
    pub(crate) device: Device,
}

impl Target {
    /// Read the tables about the machine.
    pub(crate) fn read(tables: &dyn SmallTables, issues: &mut IssueLog) -> Self {
        let mut target = Self::default();
        target.read_session(tables, issues);
        let mut processes = target.read_processes(tables, issues);
        let mut machines: FxHashMap<Machine, usize> = FxHashMap::default();
        processes.iter().for_each(|process| *machines.entry(process.machine()).or_default() += 1);
        let most = machines.into_iter().max_by_key(|(machine, n)| (*n, std::cmp::Reverse(*machine)));
        target.home = target.home.or(most.map(|(machine, _)| machine));
        processes.sort_unstable();
        processes.dedup();
        if let [only] = processes[..] {
            target.sole_process = Some(only);
        }
        target.read_gpus(tables, issues);
        target.read_streams(tables, issues);
        tables.each_row(issues, "ThreadNames", &["globalTid", "nameId"], &mut |cells| {
            if let [Some(thread), Some(name)] = cells.ints() {
                target.thread_names.push((GlobalId::from_stored(thread), name));
            }
            true
        });
        // A report that does not name its machine: that of its threads.
        let of_threads = target.thread_names.first().map(|(thread, _)| thread.process().machine());
        target.home = target.home.or(of_threads);
        tables.each_row(issues, "MPI_RANKS", &["globalTid", "rank"], &mut |cells| {
            if let [Some(thread), Some(rank)] = cells.ints()
                && let Ok(rank) = u32::try_from(rank)
            {
                target.ranks.insert(GlobalId::from_stored(thread).process(), rank);
            }
            true
        });
        target
    }

    /// Read the names of processes; returns whose rows there were. Reports have them among the events, so this
    /// may come later than the rest.
    pub(crate) fn read_processes(
        &mut self,
        tables: &dyn SmallTables,
        issues: &mut IssueLog,
    ) -> Vec<GlobalProcess> {
        let mut processes = Vec::new();
        tables.each_row(issues, "PROCESSES", &["globalPid", "name"], &mut |cells| {
            let Some(process) = cells.int(0).map(|id| GlobalId::from_stored(id).process()) else {
                return true;
            };
            processes.push(process);
            if let Some(name) = cells.text(1).filter(|name| !name.is_empty()) {
                // A full path would tell the user's name.
                let program = name.rsplit(['/', '\\']).next().unwrap_or_default();
                self.process_names.insert(process, program.to_owned());
            }
            true
        });
        processes
    }

    fn read_session(&mut self, tables: &dyn SmallTables, issues: &mut IssueLog) {
        tables.each_row(issues, "TARGET_INFO_SESSION_START_TIME", &["utcEpochNs"], &mut |cells| {
            self.start_unix_ns = cells.int(0).filter(|ns| 0 < *ns);
            false
        });
        tables.each_row(issues, "ANALYSIS_DETAILS", &["globalVid", "duration"], &mut |cells| {
            let [machine, duration_ns] = cells.ints();
            self.home = self.home.or(machine.map(Machine::from_stored));
            self.end_ns = duration_ns.filter(|ns| 0 < *ns);
            false
        });
    }

    fn read_gpus(&mut self, tables: &dyn SmallTables, issues: &mut IssueLog) {
        /// Integers first, texts behind.
        const COLUMNS: &[&str] = &[
            "vmId",
            "id",
            "deviceId",
            "cuDevice",
            "smCount",
            "totalMemory",
            "memoryBandwidth",
            "l2CacheSize",
            "clockRate",
            "maxWarpsPerSm",
            "maxBlocksPerSm",
            "maxRegistersPerSm",
            "maxShmemPerSm",
            "maxShmemPerBlockOptin",
            "computeMajor",
            "computeMinor",
            "name",
            "uuid",
            "busLocation",
        ];
        tables.each_row(issues, "TARGET_INFO_GPU", COLUMNS, &mut |cells| {
            let [
                vm,
                id,
                old_id,
                cuda_ordinal,
                sm_count,
                memory,
                bandwidth,
                l2,
                clock,
                warps,
                blocks,
                rest @ ..,
            ] = cells.ints::<16>();
            let [registers, shared, shared_optin, major, minor] = rest;
            // Exports of older captures have 0 where they do not know.
            let known = |value: Option<i64>| {
                value.and_then(|value| u64::try_from(value).ok()).filter(|value| 0 < *value)
            };
            let small = |value: Option<i64>| known(value).and_then(|value| u32::try_from(value).ok());
            let text = |idx: usize| cells.text(idx).map(Cow::into_owned).filter(|text| !text.is_empty());
            let Some(id) = id.or(old_id) else { return true };
            if MAX_GPUS < self.gpus.len() {
                return false;
            }
            let device = Device {
                number: u32::try_from(id).unwrap_or(u32::MAX),
                name: text(16),
                compute_capability: small(major)
                    .map(|major| (major, minor.and_then(|m| u32::try_from(m).ok()).unwrap_or(0))),
                sm_count: small(sm_count),
                memory_bytes: known(memory),
                dram_bytes_per_s: known(bandwidth),
                l2_bytes: known(l2),
                clock_hz: known(clock),
                max_warps_per_sm: small(warps),
                max_blocks_per_sm: small(blocks),
                registers_per_sm: small(registers),
                shared_bytes_per_sm: small(shared),
                shared_bytes_per_block_optin: small(shared_optin),
                uuid: text(17).or_else(|| text(18)),
            };
            // The oldest exports number GPUs as CUDA does.
            let cuda_ordinal = cuda_ordinal.or(old_id);
            let bus = text(18);
            self.gpus.push(Gpu { machine: vm.map(Machine::from_stored), id, cuda_ordinal, bus, device });
            true
        });
        self.read_cuda_gpus(tables, issues);
        self.gpus.sort_by_key(|gpu| (gpu.machine, gpu.id));
        self.gpu_names = self.gpus.iter().filter_map(|gpu| gpu.device.name.clone()).collect();
        tables.each_row(issues, "TARGET_INFO_CUDA_DEVICE", &["gpuId", "cudaId", "pid"], &mut |cells| {
            if let [Some(gpu), Some(ordinal), Some(pid)] = cells.ints() {
                self.gpu_from_ordinal.insert((pid as u32 & 0xff_ffff, ordinal), gpu);
            }
            true
        });
    }

    /// What CUDA said of its devices, in captures before 2021.2, whose list of GPUs has little more than names.
    /// One row a process and device; the bus tells which GPU it is.
    fn read_cuda_gpus(&mut self, tables: &dyn SmallTables, issues: &mut IssueLog) {
        const COLUMNS: &[&str] = &[
            "vmId",
            "deviceId",
            "pid",
            "numMultiprocessors",
            "globalMemorySize",
            "globalMemoryBandwidth",
            "l2CacheSize",
            "coreClockRate",
            "maxWarpsPerMultiprocessor",
            "maxBlocksPerMultiprocessor",
            "maxRegistersPerMultiprocessor",
            "maxSharedMemoryPerMultiprocessor",
            "computeCapabilityMajor",
            "computeCapabilityMinor",
            "name",
            "pciBusId",
        ];
        tables.each_row(issues, "TARGET_INFO_CUDA_GPU", COLUMNS, &mut |cells| {
            let [vm, ordinal, pid, sm_count, memory, bandwidth, l2, clock, rest @ ..] = cells.ints::<14>();
            let [warps, blocks, registers, shared, major, minor] = rest;
            let Some(ordinal) = ordinal else { return true };
            let known = |value: Option<i64>| {
                value.and_then(|value| u64::try_from(value).ok()).filter(|value| 0 < *value)
            };
            let small = |value: Option<i64>| known(value).and_then(|value| u32::try_from(value).ok());
            let bus = cells.text(15).filter(|bus| !bus.is_empty());
            let machine = vm.map(Machine::from_stored);
            let is_it = |gpu: &Gpu| match &bus {
                Some(bus) => gpu.bus.as_deref() == Some(bus),
                None => gpu.cuda_ordinal == Some(ordinal),
            };
            if MAX_GPUS < self.gpus.len() {
                return false;
            }
            let place = self.gpus.iter().position(is_it).unwrap_or_else(|| {
                let number = u32::try_from(ordinal).unwrap_or(u32::MAX);
                let device = Device { number, ..Device::default() };
                let bus = bus.as_deref().map(str::to_owned);
                self.gpus.push(Gpu { machine, id: ordinal, cuda_ordinal: Some(ordinal), bus, device });
                self.gpus.len() - 1
            });
            let Some(gpu) = self.gpus.get_mut(place) else { return true };
            if let Some(pid) = pid {
                self.gpu_from_ordinal.insert((pid as u32 & 0xff_ffff, ordinal), gpu.id);
            }
            let device = &mut gpu.device;
            let capability =
                small(major).map(|major| (major, minor.and_then(|m| u32::try_from(m).ok()).unwrap_or(0)));
            device.name = device.name.take().or_else(|| cells.text(14).map(Cow::into_owned));
            device.compute_capability = device.compute_capability.or(capability);
            device.sm_count = device.sm_count.or(small(sm_count));
            device.memory_bytes = device.memory_bytes.or(known(memory));
            // kB/s and kHz here.
            device.dram_bytes_per_s =
                device.dram_bytes_per_s.or(known(bandwidth).map(|kb| kb.saturating_mul(1000)));
            device.l2_bytes = device.l2_bytes.or(known(l2));
            device.clock_hz = device.clock_hz.or(known(clock).map(|khz| khz.saturating_mul(1000)));
            device.max_warps_per_sm = device.max_warps_per_sm.or(small(warps));
            device.max_blocks_per_sm = device.max_blocks_per_sm.or(small(blocks));
            device.registers_per_sm = device.registers_per_sm.or(small(registers));
            device.shared_bytes_per_sm = device.shared_bytes_per_sm.or(small(shared));
            true
        });
    }

    fn read_streams(&mut self, tables: &dyn SmallTables, issues: &mut IssueLog) {
        let process = |cells: &Cells<'_>| match cells.ints() {
            [Some(hardware), Some(vm), Some(pid)] => Some(GlobalProcess::from_parts(hardware, vm, pid)),
            _ => None,
        };
        for (table, null_stream) in
            [("TARGET_INFO_CUDA_CONTEXT_INFO", "nullStreamId"), ("TARGET_INFO_CUDA_NULL_STREAM", "streamId")]
        {
            let columns = ["hwId", "vmId", "processId", "deviceId", "contextId", null_stream];
            tables.each_row(issues, table, &columns, &mut |cells| {
                let [_, _, _, device, context, stream] = cells.ints();
                let (Some(process), Some(context)) = (process(cells), context) else { return true };
                if let Some(device) = device {
                    self.ordinal_from_context.insert((process, context), device);
                }
                if let Some(stream) = stream {
                    self.null_streams.insert((process, context, stream));
                }
                true
            });
        }
        let columns = ["hwId", "vmId", "processId", "contextId", "streamId", "name"];
        tables.each_row(issues, "TARGET_INFO_NVTX_CUDA_STREAM", &columns, &mut |cells| {
            let [_, _, _, context, stream] = cells.ints();
            if let (Some(process), Some(context), Some(stream), Some(name)) =
                (process(cells), context, stream, cells.text(5))
            {
                self.stream_names.insert((process, context, stream), name.into_owned());
            }
            true
        });
    }

    /// What tells processes of the file apart, and the process id as text.
    pub(crate) fn process_key(&self, owner: Owner) -> (String, String) {
        let Some(process) = owner else { return ("unknown".to_owned(), "unknown".to_owned()) };
        let pid = process.pid().to_string();
        let is_home = self.home == Some(process.machine());
        let key = if is_home { pid.clone() } else { format!("{pid}@{}", process.machine()) };
        (key, pid)
    }

    /// Program name of a process.
    pub(crate) fn process_name(&self, owner: Owner) -> Option<&str> {
        owner.and_then(|process| self.process_names.get(&process)).map(String::as_str)
    }

    /// MPI rank of a process.
    pub(crate) fn rank(&self, owner: Owner) -> Option<u32> {
        owner.and_then(|process| self.ranks.get(&process)).copied()
    }

    /// The ordinal of the device that a context lives on.
    pub(crate) fn ordinal_of_context(&self, owner: Owner, context: Option<i64>) -> Option<i64> {
        self.ordinal_from_context.get(&(owner?, context?)).copied()
    }

    /// The device with this ordinal in a process: the physical GPU where the file knows it. Ordinals of
    /// different processes may name different GPUs (`CUDA_VISIBLE_DEVICES`).
    pub(crate) fn device(&self, owner: Owner, ordinal: i64) -> FoundDevice {
        let machine = owner.map(GlobalProcess::machine);
        let by_process = owner.and_then(|process| self.gpu_from_ordinal.get(&(process.pid(), ordinal)));
        match by_process {
            Some(id) => self.gpu(machine, *id),
            None => match self.find_gpu(machine, |gpu| gpu.cuda_ordinal == Some(ordinal)) {
                Some(gpu) => gpu.found(),
                None => unknown_gpu(machine, ordinal),
            },
        }
    }

    /// The GPU with this number.
    pub(crate) fn gpu(&self, machine: Option<Machine>, id: i64) -> FoundDevice {
        self.find_gpu(machine, |gpu| gpu.id == id).map_or_else(|| unknown_gpu(machine, id), Gpu::found)
    }

    /// On the machine if it is known there, else on any.
    fn find_gpu(&self, machine: Option<Machine>, is_it: impl Fn(&Gpu) -> bool) -> Option<&Gpu> {
        let here = self.gpus.iter().find(|gpu| gpu.machine == machine && is_it(gpu));
        here.or_else(|| self.gpus.iter().find(|gpu| is_it(gpu)))
    }

    /// What the user reads beside a stream; `None` for its number alone.
    pub(crate) fn stream_name(&self, owner: Owner, context: i64, stream: i64) -> Option<String> {
        let key = (owner?, context, stream);
        if let Some(name) = self.stream_names.get(&key) {
            return Some(format!("{name} (stream {stream})"));
        }
        self.null_streams.contains(&key).then(|| format!("stream {stream} (default)"))
    }
}

impl Gpu {
    fn found(&self) -> FoundDevice {
        FoundDevice { key: gpu_key(self.machine, self.id), device: self.device.clone() }
    }
}

fn unknown_gpu(machine: Option<Machine>, number: i64) -> FoundDevice {
    let device = Device { number: u32::try_from(number).unwrap_or(u32::MAX), ..Device::default() };
    FoundDevice { key: gpu_key(machine, number), device }
}

fn gpu_key(machine: Option<Machine>, number: i64) -> String {
    match machine {
        Some(machine) => format!("{machine}/{number}"),
        None => number.to_string(),
    }
}
