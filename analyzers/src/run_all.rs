//! Runs every analyzer on one run.

use rayon::prelude::*;
use tracecard_model::{Progress, Trace};

use crate::{ALL, Analysis, AnalyzeError, Derived, Input, Outcome, Params};

/// Run every analyzer. What they share is computed first, then they run side by side.
///
/// # Errors
/// A choice of the user that makes no sense ([`AnalyzeError::BadParams`]), or cancelled.
pub fn run_all(trace: &Trace, params: &Params, progress: &Progress) -> Result<Analysis, AnalyzeError> {
    progress.begin("Analysing", Derived::PREPARE_STEPS + ALL.len() as u64)?;
    let derived = Derived::new(trace, params)?;
    derived.prepare(progress)?;
    let input = Input { trace, params, derived: &derived };
    let outcomes: Vec<Result<Outcome, AnalyzeError>> = ALL
        .par_iter()
        .map(|analyzer| {
            let outcome = (analyzer.run)(&input, progress)?;
            progress.advance(1)?;
            Ok(outcome)
        })
        .collect();
    let mut analysis = Analysis::default();
    for (analyzer, outcome) in ALL.iter().zip(outcomes) {
        match outcome? {
            Outcome::Done(tables) => analysis.tables.extend(tables),
            Outcome::Abstained(reason) => analysis.abstained.push((analyzer.id, reason)),
        }
    }
    analysis.steps = derived.steps().ok().cloned();
    (analysis.partitions, analysis.metrics) = derived.into_kept();
    Ok(analysis)
}

#[cfg(test)]
mod tests {
    use tracecard_model::{Span, fixture};

    use super::*;
    use crate::StepRule;

    const RUN: &str = "thread 1 ops\n  op aten::mm 0 10\nthread 1 api\n  api cudaLaunchKernel 2 5 #1\nstream 0:7\n  kernel gemm 20 10 #1";

    fn analyse(text: &str, params: &Params) -> Result<Analysis, AnalyzeError> {
        run_all(&fixture(text).unwrap(), params, &Progress::new())
    }

    fn check_refused(params: &Params, expected: &str) {
        match analyse(RUN, params) {
            Err(AnalyzeError::BadParams(text)) => assert!(text.contains(expected), "{text}"),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn tables_come_in_the_order_shown() {
        let analysis = analyse(RUN, &Params::default()).unwrap();
        let ids: Vec<&str> = analysis.tables.iter().map(|t| t.id).collect();
        assert_eq!(
            ids,
            [
                "devices",
                "idle_by_cause",
                "operators",
                "kernels",
                "collectives",
                "copies",
                "copy_kinds",
                "apis",
                "metrics",
                "gaps",
                "health"
            ]
        );
        let abstained: Vec<&str> = analysis.abstained.iter().map(|a| a.0).collect();
        assert_eq!(abstained, ["steps", "ranges", "nvtx_texts", "counters"]);
        assert_eq!(analysis.partitions.len(), 1);
        assert_eq!(analysis.steps, None);
    }

    #[test]
    fn an_empty_run_abstains_everywhere_but_in_health() {
        let analysis = analyse("", &Params::default()).unwrap();
        let ids: Vec<&str> = analysis.tables.iter().map(|t| t.id).collect();
        assert_eq!(ids, ["health"]);
    }

    #[test]
    fn ids_are_unique_and_every_column_has_a_title() {
        let analysis = analyse(RUN, &Params::default()).unwrap();
        for table in &analysis.tables {
            let mut ids: Vec<&str> = table.columns.iter().map(|c| c.id).collect();
            ids.sort_unstable();
            ids.dedup();
            assert_eq!(ids.len(), table.columns.len(), "{}", table.id);
            assert!(table.columns.iter().all(|c| !c.title.is_empty()), "{}", table.id);
        }
    }

    #[test]
    fn the_same_run_gives_the_same_tables() {
        assert_eq!(analyse(RUN, &Params::default()).unwrap(), analyse(RUN, &Params::default()).unwrap());
    }

    #[test]
    fn choices_that_make_no_sense_are_refused() {
        check_refused(&Params { device: Some(3), ..Params::default() }, "no device 3");
        check_refused(
            &Params { window: Some(Span::new(500, 600)), ..Params::default() },
            "no part in the run",
        );
        check_refused(&Params { steps: Some(StepRule::Every(0)), ..Params::default() }, "every 0 kernels");
        check_refused(
            &Params { steps: Some(StepRule::Kernel("(".to_owned())), ..Params::default() },
            "no regular expression",
        );
    }

    #[test]
    fn cancelling_stops_it() {
        let progress = Progress::new();
        progress.cancel();
        let outcome = run_all(&fixture(RUN).unwrap(), &Params::default(), &progress);
        assert!(matches!(outcome, Err(AnalyzeError::Cancelled(_))));
    }
}
