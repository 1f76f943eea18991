//! From a path to a run on screen, in the background: read it, show it, then analyse it.

use std::path::PathBuf;
use std::sync::Arc;

use tracecard_analyzers::{Analysis, AnalyzeError, Params};
use tracecard_importers::ImportError;
use tracecard_model::{Progress, Trace};

use super::{App, Notice};
use crate::jobs::{Failure, Finished};
use crate::run::{Analysed, RunId};
use crate::state::Slot;
use crate::views::ViewId;
use crate::views::timeline::CounterLod;

/// What jobs give.
pub(super) enum Output {
    /// The file that was picked in the dialog; `None`: none.
    Picked(Option<PathBuf>),
    /// A file was read.
    Imported { path: PathBuf, trace: Arc<Trace>, counters: Arc<CounterLod> },
    /// A run was analysed.
    Analysed { run: RunId, analysis: Arc<Analysis> },
    /// Slices were looked for by name.
    Found { run: RunId, text: String, hits: Box<tracecard_analyzers::search::Hits> },
    /// A stretch of time was summed up.
    Selected {
        key: Box<crate::views::selection::Key>,
        selected: Box<tracecard_analyzers::selection::Selected>,
    },
    /// The rows of a table were put in order.
    Ordered { view: ViewId, key: super::tables::OrderKey, rows: Vec<u32> },
    /// Stacks were merged.
    Merged(Box<crate::views::flame::Shown>),
}

/// Files that are remembered for the start page.
const MAX_RECENT: usize = 8;

impl App {
    /// Open the first of these files. More than one cannot be shown yet, and the notice says so.
    pub fn open_all(&mut self, paths: Vec<PathBuf>) {
        let n_more = paths.len().saturating_sub(1);
        let Some(path) = paths.into_iter().next() else { return };
        self.open(path);
        if 0 < n_more {
            let text = "One file at a time is shown in this version; the first one was opened.".to_owned();
            self.notice = Some(Notice { text, is_error: false });
        }
    }

    /// Read a file in the background. What is on screen stays until the new run is there.
    pub fn open(&mut self, path: PathBuf) {
        self.notice = None;
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        self.jobs.start(Slot::Import, format!("Opening {name}"), move |progress| import(path, progress));
    }

    /// Ask for a file in the background.
    pub(super) fn open_dialog(&mut self) {
        if self.jobs.status(Slot::Dialog).is_some() {
            return;
        }
        self.jobs.start(Slot::Dialog, "Choosing a file", |_| {
            let dialog = rfd::FileDialog::new()
                .set_title("Open a profile")
                .add_filter("Profiles", &["nsys-rep", "qdrep", "sqlite", "json", "gz", "zst", "zip"])
                .add_filter("All files", &["*"]);
            Ok(Output::Picked(dialog.pick_file()))
        });
    }

    /// Files dropped onto the window.
    pub(super) fn dropped_files(&self, ctx: &egui::Context) -> Vec<crate::command::Command> {
        let dropped = ctx.input(|input| input.raw.dropped_files.clone());
        let first = dropped.first().map(|file| file.path().to_owned());
        first.map(crate::command::Command::Open).into_iter().collect()
    }

    /// Take in what a job gave.
    pub(super) fn finish(&mut self, job: Finished<Slot, Output>) {
        match job.result {
            Ok(Output::Picked(path)) => path.into_iter().for_each(|path| self.open(path)),
            Ok(Output::Imported { path, trace, counters }) => {
                self.recent.retain(|other| *other != path);
                self.recent.insert(0, path.clone());
                self.recent.truncate(MAX_RECENT);
                self.show_run(Some(path), trace, counters, Analysed::Running);
                self.analyse();
            }
            Ok(Output::Analysed { run, analysis }) => {
                if let Some(shown) = self.run.as_mut().filter(|shown| shown.id == run) {
                    // A table that has nothing to say is not left in front.
                    let has_rows = |id: &str| analysis.table(id).is_some_and(|table| 0 < table.n_rows());
                    if !has_rows("kernels") && has_rows("operators") {
                        self.state.dock.show(ViewId::Operators);
                    }
                    shown.analysed = Analysed::Done(analysis);
                }
            }
            Ok(Output::Found { run, text, hits }) => self.found(run, text, *hits),
            Ok(Output::Selected { key, selected }) => self.selection.selected.set(*key, *selected),
            Ok(Output::Ordered { view, key, rows }) => self.orders.set(view, key, rows),
            Ok(Output::Merged(shown)) => self.flame.set(*shown),
            Err(failure) => self.fail(job.slot, failure),
        }
    }

    fn analyse(&mut self) {
        let Some(run) = &self.run else { return };
        let (id, trace) = (run.id, Arc::clone(&run.trace));
        self.jobs.start(Slot::Analysis, format!("Analysing {}", run.name()), move |progress| {
            match tracecard_analyzers::run_all(&trace, &Params::default(), progress) {
                Ok(analysis) => Ok(Output::Analysed { run: id, analysis: Arc::new(analysis) }),
                Err(AnalyzeError::Cancelled(_)) => Err(Failure::Cancelled),
                Err(error) => Err(Failure::Error(error.to_string())),
            }
        });
    }

    fn fail(&mut self, slot: Slot, failure: Failure) {
        let text = match failure {
            Failure::Cancelled => return,
            Failure::Error(text) => text,
            Failure::Panic(text) => format!("This is a bug, please report it: {text}"),
        };
        if let (Slot::Analysis, Some(run)) = (slot, &mut self.run) {
            run.analysed = Analysed::Failed(text);
            return;
        }
        if slot == Slot::Selection {
            self.selection.failed = Some(text);
            return;
        }
        if slot == Slot::Flame {
            self.flame.fail(text);
            return;
        }
        let text = if slot == Slot::Dialog { format!("The file dialog failed: {text}") } else { text };
        self.notice = Some(Notice { text, is_error: true });
    }

    /// The user stopped a job.
    pub(super) fn cancel(&mut self, slot: Slot) {
        self.jobs.cancel(slot);
        match slot {
            Slot::Import => {
                self.notice = Some(Notice { text: "Opening was cancelled.".to_owned(), is_error: false });
            }
            Slot::Analysis => {
                if let Some(run) = &mut self.run {
                    run.analysed =
                        Analysed::Failed("It was cancelled; open the file again to analyse it.".to_owned());
                }
            }
            Slot::Dialog | Slot::Order(_) | Slot::Search | Slot::Selection | Slot::Flame => {}
        }
    }
}

fn import(path: PathBuf, progress: &Progress) -> Result<Output, Failure> {
    match tracecard_importers::open(&path, progress) {
        Ok(trace) => {
            let counters = Arc::new(CounterLod::new(&trace));
            Ok(Output::Imported { path, trace: Arc::new(trace), counters })
        }
        Err(ImportError::Cancelled(_)) => Err(Failure::Cancelled),
        Err(error) => Err(Failure::Error(error.to_string())),
    }
}
