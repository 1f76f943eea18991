//! A report and its export give the same Trace, on files that are made here.

use tempfile::TempDir;
use tracecard_importers::open;
use tracecard_model::{Progress, dump};
use tracecard_tests::synth::{Config, report_from_export, write_nsys};

#[test]
fn a_report_gives_the_trace_of_its_export() {
    let dir = TempDir::new().unwrap();
    let (export, report) = (dir.path().join("run.sqlite"), dir.path().join("run.nsys-rep"));
    let config = Config { n_steps: 2, n_layers: 2, gpu_metrics_hz: 200, ..Config::default() };
    write_nsys(&config, &export).unwrap();
    report_from_export(&export, &report).unwrap();
    // How reports hold memory usage is not known.
    let is_compared = |line: &&str| !line.starts_with("memory ") && !line.starts_with("issue ");
    let text = |path| {
        let trace = open(path, &Progress::new()).unwrap();
        assert!(1000 < trace.slices.len());
        dump(&trace).lines().filter(is_compared).map(|line| format!("{line}\n")).collect::<String>()
    };
    let (report, export) = (text(&report), text(&export));
    let differing = report.lines().zip(export.lines()).find(|(report, export)| report != export);
    assert_eq!((differing, report.len()), (None, export.len()));
}
