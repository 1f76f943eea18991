//! What many analyzers need, computed once on first use.
//!
//! Everything here is about the whole run; only [`Derived::partitions`] and what says so is about the window.

use std::sync::OnceLock;

use tracecard_model::{DeviceId, Progress, SliceId, Span, Trace};

use crate::attribution::{Attribution, LaunchRanges, attribute_operators, attribute_ranges};
use crate::device_work::{DeviceWork, Label};
use crate::partition::{DevicePartition, Partitions, partitions};
use crate::range_paths::RangePaths;
use crate::step_source::CompiledRule;
use crate::steps::{Steps, find};
use crate::{AnalyzeError, Metrics, Params, metrics};

/// Results shared by analyzers, each computed on first use.
#[derive(Debug)]
pub struct Derived<'a> {
    /// The run.
    pub trace: &'a Trace,
    run: Span,
    window: Option<Span>,
    device: Option<u32>,
    rule: Option<CompiledRule>,
    work: OnceLock<DeviceWork>,
    partitions: OnceLock<Partitions>,
    steps: OnceLock<Result<Steps, String>>,
    operators: OnceLock<Attribution>,
    range_paths: OnceLock<RangePaths>,
    ranges: OnceLock<Vec<LaunchRanges>>,
    metrics: OnceLock<Metrics>,
}

impl<'a> Derived<'a> {
    /// Nothing computed yet.
    ///
    /// # Errors
    /// [`AnalyzeError::BadParams`]: the window lies outside the run, a device that is not there, or a step
    /// rule that makes no sense.
    pub fn new(trace: &'a Trace, params: &Params) -> Result<Self, AnalyzeError> {
        let run = trace.span().unwrap_or(Span::new(0, 0));
        let window = params.window.map(|window| window.intersect(run));
        if let Some(window) = window.filter(|window| window.is_empty()) {
            let text = format!(
                "the window {} .. {} ns has no part in the run, which lasts from {} to {} ns",
                params.window.map_or(0, |w| w.start_ns),
                params.window.map_or(window.end_ns, |w| w.end_ns),
                run.start_ns,
                run.end_ns
            );
            return Err(AnalyzeError::BadParams(text));
        }
        if let Some(number) = params.device.filter(|number| trace.devices.iter().all(|d| d.number != *number))
        {
            let numbers: Vec<String> = trace.devices.iter().map(|d| d.number.to_string()).collect();
            let known = if numbers.is_empty() { "none".to_owned() } else { numbers.join(", ") };
            return Err(AnalyzeError::BadParams(format!(
                "there is no device {number} in the run; it has {known}"
            )));
        }
        Ok(Self {
            trace,
            run,
            window,
            device: params.device,
            rule: params.steps.as_ref().map(CompiledRule::new).transpose()?,
            work: OnceLock::new(),
            partitions: OnceLock::new(),
            steps: OnceLock::new(),
            operators: OnceLock::new(),
            range_paths: OnceLock::new(),
            ranges: OnceLock::new(),
            metrics: OnceLock::new(),
        })
    }

    /// Compute everything now, in an order in which nothing waits for another. What runs analyzers in
    /// parallel must call this first: a rayon worker that waits for a cell may be asked to fill it.
    ///
    /// # Errors
    /// Only when cancelled.
    pub(crate) fn prepare(&self, progress: &Progress) -> Result<(), AnalyzeError> {
        self.work();
        progress.advance(1)?;
        self.all_partitions();
        progress.advance(1)?;
        let _ = self.steps();
        progress.advance(1)?;
        self.operators();
        progress.advance(1)?;
        self.range_paths();
        progress.advance(1)?;
        self.ranges();
        progress.advance(1)?;
        // Filled already: the same, computed twice.
        let _ = self.metrics.set(metrics::compute(self, progress)?);
        progress.advance(1)?;
        Ok(())
    }

    /// How many steps [`Self::prepare`] advances.
    pub(crate) const PREPARE_STEPS: u64 = 7;

    /// The part of the run that is looked at; all of it without a choice.
    pub fn window(&self) -> Span {
        self.window.unwrap_or(self.run)
    }

    /// Is a slice with this span looked at? As in `nsys stats --filter-time`, one that overlaps the window
    /// counts, with its whole duration.
    pub fn is_in_window(&self, span: Span) -> bool {
        self.window
            .is_none_or(|window| window.overlaps(span) || (span.is_empty() && window.contains(span.start_ns)))
    }

    /// Is this device looked at?
    pub fn is_shown(&self, device: DeviceId) -> bool {
        self.device
            .is_none_or(|number| self.trace.devices.get(device.idx()).is_some_and(|d| d.number == number))
    }

    /// The number of a device as the user knows it.
    pub fn device_number(&self, device: DeviceId) -> Option<i64> {
        self.trace.devices.get(device.idx()).map(|d| i64::from(d.number))
    }

    /// What devices are sorted by: the number shown, then their order in the file.
    pub(crate) fn device_rank(&self, device: DeviceId) -> (u32, DeviceId) {
        (self.trace.devices.get(device.idx()).map_or(u32::MAX, |d| d.number), device)
    }

    /// The work of all devices.
    pub(crate) fn work(&self) -> &DeviceWork {
        self.work.get_or_init(|| DeviceWork::new(self.trace))
    }

    /// Work indices that are looked at (window and device), each with its device, by device and start.
    pub(crate) fn shown_work(&self) -> impl Iterator<Item = (usize, DeviceId)> + Clone {
        let work = self.work();
        work.devices
            .iter()
            .filter(|(device, _)| self.is_shown(*device))
            .flat_map(|(device, range)| range.clone().map(|idx| (idx, *device)))
            .filter(|(idx, _)| self.is_in_window(work.rows[*idx].span))
    }

    fn all_partitions(&self) -> &Partitions {
        self.partitions.get_or_init(|| partitions(self.trace, self.work(), self.run, self.window()))
    }

    /// The partition of each device that has work, in the window, by device number; all devices.
    pub fn partitions(&self) -> &[DevicePartition] {
        &self.all_partitions().devices
    }

    /// The partitions and metrics, to keep.
    pub(crate) fn into_kept(self) -> (Vec<DevicePartition>, Metrics) {
        let partitions = self.partitions.into_inner().map(|partitions| partitions.devices);
        (partitions.unwrap_or_default(), self.metrics.into_inner().unwrap_or_default())
    }

    /// Metrics of all devices, and their averages in the window.
    pub fn metrics(&self) -> &Metrics {
        // Without anybody who could cancel it, it does not fail.
        self.metrics.get_or_init(|| metrics::compute(self, &Progress::new()).unwrap_or_default())
    }

    /// The partition of one device.
    pub fn partition(&self, device: DeviceId) -> Option<&DevicePartition> {
        self.partitions().iter().find(|part| part.device == device)
    }

    /// Wall time of each row of work inside the window, by work index.
    pub(crate) fn wall_ns(&self) -> &[i64] {
        &self.all_partitions().wall_ns
    }

    /// How an instant of device work counts; `None` where the slice is no device work.
    pub fn label(&self, slice: SliceId) -> Option<Label> {
        let work = self.work();
        work.index_of(slice).map(|idx| work.rows[idx].label)
    }

    /// The steps of the whole run.
    ///
    /// # Errors
    /// There are none; the text says why and what to do.
    pub fn steps(&self) -> Result<&Steps, &str> {
        let found = self.steps.get_or_init(|| find(self.trace, self.work(), self.rule.as_ref()));
        found.as_ref().map_err(String::as_str)
    }

    /// The operator that launched each row of work.
    pub(crate) fn operators(&self) -> &Attribution {
        self.operators.get_or_init(|| attribute_operators(self.trace, self.work()))
    }

    /// The operator that launched a device slice (SIG-4); `None` where the file does not tell.
    pub fn operator_of(&self, slice: SliceId) -> Option<SliceId> {
        let idx = self.work().index_of(slice)?;
        self.operators().operator.get(idx).copied().flatten()
    }

    /// Paths of all ranges.
    pub(crate) fn range_paths(&self) -> &RangePaths {
        self.range_paths.get_or_init(|| RangePaths::new(self.trace))
    }

    /// The innermost ranges that each row of work was launched in, by work index.
    pub(crate) fn ranges(&self) -> &[LaunchRanges] {
        self.ranges.get_or_init(|| attribute_ranges(self.trace, self.work()))
    }
}
