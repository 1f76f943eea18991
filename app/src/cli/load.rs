//! From a path to a run with its analysis, with progress on a terminal.

use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tracecard_analyzers::{Analysis, Params, StepRule, run_all};
use tracecard_model::{Progress, Trace};

use super::{BadArguments, Selection};

/// A trace and what the analyzers say about it.
#[derive(Debug)]
pub struct Loaded {
    /// Where it came from.
    pub path: PathBuf,
    /// The trace.
    pub trace: Trace,
    /// The choices it was analysed with.
    pub params: Params,
    /// The analysis.
    pub analysis: Analysis,
}

impl Loaded {
    /// The part of the run that the numbers are about: the wanted window as far as the run reaches. `None`
    /// for an empty run.
    pub fn window(&self) -> Option<tracecard_model::Span> {
        let span = self.trace.span()?;
        Some(self.params.window.map_or(span, |window| window.intersect(span)))
    }
}

/// Read and analyse a file.
///
/// # Errors
/// When it cannot be read, or when a choice fits nothing in it.
pub(super) fn load_selected(path: &Path, selection: &Selection) -> anyhow::Result<Loaded> {
    if path.as_os_str() == "-" {
        let text =
            "reading from standard input is not part of this version; name a file (`./-` for one called -)";
        return Err(BadArguments(text.to_owned()).into());
    }
    let mut params = Params {
        window: None,
        device: selection.device,
        steps: selection.steps.clone(),
        items_per_step: selection.items_per_step,
    };
    if let Some(super::TimeWindow::Time(span)) = selection.window {
        params.window = Some(span);
    }
    let mut run = with_progress(|progress| load(path, &params, progress))?;
    if let Some(device) =
        selection.device.filter(|device| run.trace.devices.iter().all(|row| row.number != *device))
    {
        let known: Vec<_> = run.trace.devices.iter().map(|row| row.number.to_string()).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        let text = format!("the trace has no device {device} (it has: {known})\n{}", path.display());
        return Err(BadArguments(text).into());
    }
    if let Some(super::TimeWindow::Steps(steps)) = selection.window {
        let span = steps.span(&run.analysis).map_err(BadArguments)?;
        run.params.window = Some(span);
        run.analysis = with_progress(|progress| Ok(run_all(&run.trace, &run.params, progress)?))?;
    }
    Ok(run)
}

/// Read and analyse a file.
///
/// # Errors
/// [`tracecard_importers::ImportError`] or [`tracecard_analyzers::AnalyzeError`].
pub fn load(path: &Path, params: &Params, progress: &Progress) -> anyhow::Result<Loaded> {
    let trace = tracecard_importers::open(path, progress)?;
    let analysis = run_all(&trace, params, progress)?;
    Ok(Loaded { path: path.to_owned(), trace, params: params.clone(), analysis })
}

/// Run work while its progress is shown on stderr, where that is a terminal.
fn with_progress<T: Send>(work: impl FnOnce(&Progress) -> anyhow::Result<T> + Send) -> anyhow::Result<T> {
    let progress = Progress::new();
    if !std::io::stderr().is_terminal() {
        return work(&progress);
    }
    std::thread::scope(|scope| {
        let worker = scope.spawn(|| work(&progress));
        while !worker.is_finished() {
            let (phase, frac) = progress.state();
            let percent = frac.map(|f| format!(" {:.0} %", f * 100.0)).unwrap_or_default();
            // Progress that cannot be shown is no reason to stop.
            let _ = write!(std::io::stderr(), "\r\x1b[K{phase}{percent}");
            std::thread::sleep(Duration::from_millis(50));
        }
        let _ = write!(std::io::stderr(), "\r\x1b[K");
        worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// `nvtx:REGEX`, `kernel:REGEX`, `annotation:REGEX`, `every:N`.
pub(super) fn parse_steps(text: &str) -> Result<StepRule, String> {
    let (kind, rule) =
        text.split_once(':').ok_or("expected nvtx:REGEX, kernel:REGEX, annotation:REGEX or every:N")?;
    let regex = || regex::Regex::new(rule).map(|_| rule.to_owned()).map_err(|e| e.to_string());
    match kind {
        "nvtx" => regex().map(StepRule::Nvtx),
        "annotation" => regex().map(StepRule::Annotation),
        "kernel" => regex().map(StepRule::Kernel),
        "every" => match rule.parse() {
            Ok(n) if 0 < n => Ok(StepRule::Every(n)),
            _ => Err(format!("`{rule}` is no number of kernels")),
        },
        _ => Err(format!("`{kind}` is none of nvtx, kernel, annotation, every")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn step_rules_are_read() {
        assert_eq!(parse_steps("nvtx:^step"), Ok(StepRule::Nvtx("^step".to_owned())));
        assert_eq!(parse_steps("every:12"), Ok(StepRule::Every(12)));
        for wrong in ["every:0", "every:x", "nvtx", "nvtx:(", "range:x"] {
            assert!(parse_steps(wrong).is_err(), "{wrong}");
        }
    }
}
