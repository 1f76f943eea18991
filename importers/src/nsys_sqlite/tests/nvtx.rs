//! NVTX ranges, marks and domains.

use super::*;

#[test]
fn ranges_nest_across_domains_and_marks_are_instants() {
    check(
        "INSERT INTO NVTX_EVENTS (start, end, eventType, text, textId, globalTid, domainId) VALUES
            (0, NULL, 75, 'MyDomain', NULL, $TID, 3), (10, 90, 59, 'step', NULL, $TID, 0),
            (20, 50, 59, NULL, 3, $TID, 3), (30, 40, 59, NULL, NULL, $TID, 4), (35, NULL, 34, 'here', NULL, $TID, 0),
            (15, 60, 60, 'job', NULL, $TID, 0), (1, NULL, 33, 'category', NULL, $TID, 0),
            (2, NULL, 39, 'trainer', NULL, $TID, 0), (3, NULL, 99, 'new', NULL, $TID, 0);",
        r#"
        nvtx "trainer" process=10
            nvtx_push_pop "step" 10 +80 self=50
                nvtx_push_pop "gemm" 20 +30 self=20 domain="MyDomain"
                    nvtx_push_pop "(unnamed)" 30 +10 domain="domain 4"
            mark "here" 35
        nvtx_start_end "NVTX start/end ranges" process=10
            nvtx_start_end "job" 15 +45
        issue warning no_cuda_in_file ×1
        issue warning nvtx_unknown_kind ×1
        "#,
    );
}

#[test]
fn ranges_that_were_never_closed_end_with_the_capture() {
    // One as new exports write it (the end of the session, 900), one as old exports do (no end at all):
    // that one lasts to the latest time in the file.
    let trace = import(&format!(
        "{BASE}
         CREATE TABLE ANALYSIS_DETAILS (globalVid INTEGER, duration INTEGER, startTime INTEGER, stopTime INTEGER);
         INSERT INTO ANALYSIS_DETAILS VALUES (281474976710656, 900, 100, 1000);
         INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, domainId) VALUES
            (10, 900, 59, 'a', $TID, 0), (20, NULL, 59, 'b', $TID, 2), (30, 890, 59, 'c', $TID, 0);"
    ));
    let rows: Vec<_> = trace
        .slice_ids()
        .map(|id| {
            (
                trace.name(id),
                trace.slices.span(id).end_ns,
                trace.slices.flags()[id.idx()].has(SliceFlags::UNCLOSED),
            )
        })
        .collect();
    assert_eq!(rows, [("a", 900, true), ("b", 900, true), ("c", 890, false)]);
    assert_eq!(count(&trace, "nvtx_unclosed_ranges"), 2);
    assert_eq!(trace.domains.len(), 1);
}

#[test]
fn domains_without_ranges_hint_at_an_nvtx_that_is_too_new() {
    let domain =
        "INSERT INTO NVTX_EVENTS (start, eventType, text, globalTid, domainId) VALUES (0, 75, 'D', $TID, 3);";
    assert_eq!(count(&import(&format!("{BASE}{domain}")), "nvtx_domains_without_ranges"), 1);
}
