//! What `finish()` promises, on the smallest traces that show it.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use tracecard_model::{Folded, LinkKind, SliceId, Span, Trace, TrackId, dump, fixture};

fn trace(text: &str) -> Trace {
    fixture(text).unwrap()
}

fn check(text: &str, expected: &str) {
    let dumped = dump(&trace(text));
    assert_eq!(dumped.trim(), expected.trim(), "\n--- dump\n{dumped}");
}

#[test]
fn calls_nest_and_self_time_leaves_children_out() {
    // self of linear: 100 − (30 + 20) = 50; of addmm: 30 − 10 = 20.
    check(
        "thread 1 ops\n op aten::t 60 20\n op aten::linear 0 100\n op aten::addmm 10 30\n op aten::empty 15 10",
        r#"
ops "thread 1" process=1
  op "aten::linear" 0 +100 self=50
    op "aten::addmm" 10 +30 self=20
      op "aten::empty" 15 +10
    op "aten::t" 60 +20
"#,
    );
}

#[test]
fn crossing_calls_are_kept_on_rows_of_their_own() {
    // `late` starts inside `early` and ends after it: no child (torch's rule), but drawn apart.
    check(
        "thread 1 python\n python early 0 10\n python late 5 10\n python inner 6 2\n python next 20 5",
        r#"
python "thread 1" process=1
  python "early" 0 +10
    python "late" 5 +10 self=8 crossing
      python "inner" 6 +2
  python "next" 20 +5
issue info crossing_host_slices ×1
"#,
    );
}

#[test]
fn whole_microseconds_let_a_child_end_one_late() {
    // Rounded to µs, a child may seem to end 1 µs after its parent; with exact stamps it is no child.
    let text = "thread 1 ops\n op parent 0 10000\n op child 4000 7000";
    assert_eq!(trace(&format!("resolution 1000\n{text}")).slices.parent(SliceId(1)), Some(SliceId(0)));
    assert_eq!(trace(&format!("resolution 1000\n{text}")).slices.selfs_ns(), [4000, 7000]);
    assert_eq!(trace(text).slices.parent(SliceId(1)), None);
}

#[test]
fn kernels_of_one_stream_never_nest() {
    check(
        "stream 0:7\n kernel outer 0 100\n kernel inner 10 20\n kernel after 50 10\n kernel last 100 5",
        r#"
device 0 None sm=None
stream "stream 7" process=1 device=0
  kernel "outer" 0 +100 grid=? block=?
    kernel "inner" 10 +20 grid=? block=? crossing
    kernel "after" 50 +10 grid=? block=? crossing
  kernel "last" 100 +5 grid=? block=?
issue info overlapping_device_slices ×2
"#,
    );
}

#[test]
fn launches_are_linked_inside_their_process_only() {
    let text = "thread 1 api\n api launch 0 5 #7\nstream 0:7\n kernel a 10 5 #7\n kernel b 20 5 #7\n\
                process 2\nstream 0:7\n kernel other 30 5 #7\nsync 0:7\n sync wait 40 1 #7";
    let trace = trace(text);
    let launched: Vec<&str> = trace
        .links
        .rows()
        .iter()
        .map(|(kind, _, to)| {
            assert_eq!(*kind, LinkKind::Launch);
            trace.name(*to)
        })
        .collect();
    assert_eq!(launched, ["a", "b"], "one launch may have many kernels; another process has none");
    let to = |name: &str| trace.slice_ids().find(|id| trace.name(*id) == name).unwrap();
    assert_eq!(trace.launch_of(to("b")).map(|l| trace.name(l)), Some("launch"));
    assert_eq!(trace.launch_of(to("other")), None);
}

#[test]
fn flows_join_forward_and_backward() {
    let text = "thread 1 ops\n op forward 0 10\n op inner 0 5\n flow 3 from 0\nthread 2 ops\n op backward 50 10\n flow 3 to 50";
    let trace = trace(text);
    let pairs: Vec<_> = trace.links.rows().iter().map(|l| (trace.name(l.1), trace.name(l.2))).collect();
    assert_eq!(pairs, [("inner", "backward")], "the innermost of equal starts is meant");
}

#[test]
fn impossible_slices_are_dropped_and_counted() {
    let text = "thread 1 ops\n op good 0 10\n op backwards 5 -1\n op endless 9223372036854775807 5";
    check(text, "ops \"thread 1\" process=1\n  op \"good\" 0 +10\nissue data_loss negative_duration ×2");
}

#[test]
fn counters_are_sorted_and_widen_the_span() {
    let trace = trace("stream 0:7\n kernel k 5 5\ncounter 0 frac SMs\n 30 0.5\n -2 0.25\n 7 nan");
    assert_eq!(trace.span(), Some(Span::new(-2, 30)));
    let track = trace.tracks.iter().position(|t| t.name == "SMs").map(TrackId::from_idx).unwrap();
    assert_eq!(trace.counters.of(track), (&[-2, 30][..], &[0.25, 0.5][..]));
    assert_eq!(trace.issues[0].code, "counter_not_a_number");
}

#[test]
fn an_empty_trace_is_a_trace() {
    let trace = trace("");
    assert_eq!(trace.span(), None);
    assert_eq!(dump(&trace), "");
}

#[test]
fn input_order_does_not_matter() {
    let lines = ["op a 0 10", "op b 0 5", "op c 2 3", "op d 7 1"];
    let text = |order: [usize; 4]| {
        let body: Vec<_> = order.iter().map(|i| format!(" {}\n", lines[*i])).collect();
        dump(&trace(&format!("thread 1 ops\n{}", body.concat())))
    };
    assert_eq!(text([0, 1, 2, 3]), text([3, 2, 1, 0]));
}

/// All marks of the first row of the first track.
fn marks(trace: &Trace, window: Span, min_ns: i64) -> Vec<Folded> {
    let mut marks = Vec::new();
    trace.lod.rows(TrackId(0))[0].visit(&trace.slices, window, min_ns, |mark| marks.push(mark));
    marks
}

#[test]
fn folding_hides_nothing_without_counting() {
    // 4000 slices of 6 ns every 10 ns, and one of 50 µs.
    let body: String = (0..4000).map(|i| format!(" kernel k{} {} 6\n", i % 7, i * 10)).collect();
    let trace = trace(&format!("stream 0:7\n{body} kernel long 40000 50000\n"));
    let all = Span::new(0, 90_000);
    for min_ns in [1, 8, 100, 1_000, 30_000] {
        let marks = marks(&trace, all, min_ns);
        let n: u32 = marks.iter().map(|m| m.count).sum();
        assert_eq!(n, 4001, "at {min_ns} ns a pixel every slice is counted");
        let busy_ns: i64 = marks.iter().map(|m| m.busy_ns).sum();
        assert_eq!(busy_ns, 4000 * 6 + 50_000);
        let limit = 2 * 90_000 / min_ns as usize + 2;
        assert!(marks.len() <= limit.min(4001), "{} marks at {min_ns} ns: drawing costs pixels", marks.len());
        assert!(marks.iter().all(|m| m.count == 1 || m.end_ns - m.start_ns < 2 * min_ns.max(1)));
    }
    assert!(marks(&trace, all, 1).iter().all(|m| m.count == 1), "nothing is folded that is wide enough");
    let long = marks(&trace, all, 30_000).pop().unwrap();
    assert_eq!((long.count, trace.name(long.longest)), (1, "long"));
}

#[test]
fn a_window_shows_what_touches_it() {
    let trace = trace("stream 0:7\n kernel a 0 10\n kernel b 20 10\n kernel c 40 10");
    let names = |a, b| -> Vec<&str> {
        marks(&trace, Span::new(a, b), 1).iter().map(|m| trace.name(m.longest)).collect()
    };
    assert_eq!(names(5, 25), ["a", "b"]);
    assert_eq!(names(12, 18), Vec::<&str>::new());
    assert_eq!(names(-100, 100), ["a", "b", "c"]);
}
