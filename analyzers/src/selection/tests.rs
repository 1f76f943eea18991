//! Sums of areas against hand counts.

use std::collections::BTreeMap;

use tracecard_model::fixture;

use super::*;
use crate::{Params, run_all};

const TRACE: &str = "
    device 0 H100
    thread 1 ops
      op outer 0 100
      op inner 10 30
      op inner 50 20
      op leaf 55 10
      op nothing 70 0
    thread 1 api
      api launch 12 4 #1
      api launch 52 4 #2
    stream 0:7
      kernel a 20 30 #1
      kernel b 60 60 #2
    stream 0:8
      kernel a 40 30
    counter 0 count depth
      0 1
      20 3
      60 2
      100 0";

fn selected(text: &str, span: Span) -> (Trace, Selected) {
    let trace = fixture(text).unwrap();
    let analysis = run_all(&trace, &Params::default(), &Progress::new()).unwrap();
    let tracks = (0..trace.tracks.len()).map(TrackId::from_idx).collect();
    let devices = (0..trace.devices.len()).map(DeviceId::from_idx).collect();
    let metrics = (0..analysis.metrics.tracks.len()).collect();
    let area = Area { span, tracks, metrics, devices };
    let found =
        select(&trace, &analysis.partitions, Some(&analysis.metrics), &area, &Progress::new()).unwrap();
    (trace, found)
}

#[test]
fn slices_are_cut_at_both_ends() {
    // 30..65. outer: 35 inside, of it inner 30..40 and 50..65, so 10 are its own.
    // inner: 10 + 15 inside, of it leaf 55..65 is not its own. a: 20 and 25; b: 5 of 60.
    let (_, found) = selected(TRACE, Span::new(30, 65));
    assert_eq!(
        found.slices.to_text(&["name", "kind", "count", "self_ns", "total_ns", "longest_ns"]),
        "name | kind | count | self_ns | total_ns | longest_ns\n\
         a | kernel | 2 | 45 | 45 | 25\n\
         inner | op | 2 | 15 | 25 | 15\n\
         outer | op | 1 | 10 | 35 | 35\n\
         leaf | op | 1 | 10 | 10 | 10\n\
         b | kernel | 1 | 5 | 5 | 5\n\
         launch | api | 1 | 4 | 4 | 4\n"
    );
    assert_eq!(found.n_slices, 8);
}

#[test]
fn shares_are_of_the_self_time_of_a_kind() {
    let (_, found) = selected(TRACE, Span::new(30, 65));
    // Kernels: 45 + 5. Operators: 15 + 10 + 10 = 35.
    let share = |row| match found.slices.column("share_frac").unwrap().data.cell(row) {
        crate::Cell::Real(share) => share,
        other => panic!("{other:?}"),
    };
    assert_eq!((share(0), share(4)), (0.9, 0.1));
    assert!((share(1) - 15.0 / 35.0).abs() < 1e-12);
}

#[test]
fn what_has_no_duration_counts_where_it_stands() {
    let count = |span| {
        let (_, found) = selected(TRACE, span);
        let text = found.slices.to_text(&["name", "count"]);
        text.lines().find(|line| line.starts_with("nothing")).map(str::to_owned)
    };
    assert_eq!(count(Span::new(70, 71)).as_deref(), Some("nothing | 1"));
    assert_eq!(count(Span::new(60, 70)), None);
    assert_eq!(count(Span::new(71, 80)), None);
}

#[test]
fn devices_add_up_and_gaps_are_cut() {
    // Busy 20..120; 10..30 has 10 idle and 10 busy.
    let (_, found) = selected(TRACE, Span::new(10, 30));
    let inside = &found.devices[0];
    assert_eq!((inside.split.busy_ns(), inside.split.idle_ns()), (10, 10));
    assert_eq!((inside.n_gaps, inside.longest_gap_ns), (1, 10));
    assert_eq!(
        found.gaps.to_text(&["cause", "device", "start_ns", "dur_ns"]),
        "cause | device | start_ns | dur_ns\nhost_wait | 0 | 10 | 10\n"
    );
}

#[test]
fn counters_are_weighted_by_time() {
    // 10..70: 1 for 10, 3 for 40, 2 for 10 = (10 + 120 + 20) / 60.
    let (_, found) = selected(TRACE, Span::new(10, 70));
    let depth = found.counters.iter().find(|counter| counter.name == "depth").unwrap();
    assert_eq!((depth.summary.min, depth.summary.max), (1.0, 3.0));
    assert!((depth.summary.mean - 2.5).abs() < 1e-12, "{}", depth.summary.mean);
}

#[test]
fn an_empty_stretch_has_nothing() {
    let (_, found) = selected(TRACE, Span::new(500, 600));
    assert_eq!((found.n_slices, found.slices.n_rows(), found.gaps.n_rows()), (0, 0, 0));
    assert!(found.counters.is_empty());
}

/// A plain recount: each instant of a nesting track belongs to the deepest slice there.
fn recount(trace: &Trace, span: Span) -> BTreeMap<(String, &'static str), (u64, i64, i64)> {
    let mut sums: BTreeMap<(String, &'static str), (u64, i64, i64)> = BTreeMap::new();
    let key = |slice: SliceId| (trace.name(slice).to_owned(), trace.slices.kinds()[slice.idx()].text());
    for slice in trace.slice_ids() {
        let whole = trace.slices.span(slice);
        let touches =
            whole.start_ns < span.end_ns && (span.start_ns < whole.end_ns || span.start_ns <= whole.start_ns);
        if touches {
            let sum = sums.entry(key(slice)).or_default();
            sum.0 += 1;
            sum.1 += whole.intersect(span).dur_ns();
            if !trace.track_of(slice).key.family.nests() {
                sum.2 += whole.intersect(span).dur_ns();
            }
        }
    }
    for (idx, track) in trace.tracks.iter().enumerate().filter(|(_, track)| track.key.family.nests()) {
        assert!(idx < trace.tracks.len() && 0 < track.n_rows);
        for t_ns in span.start_ns..span.end_ns {
            let on = trace.slices_on(TrackId::from_idx(idx));
            let deepest = on
                .filter(|slice| trace.slices.span(*slice).contains(t_ns))
                .max_by_key(|slice| trace.slices.depths()[slice.idx()]);
            if let Some(slice) = deepest {
                sums.entry(key(slice)).or_default().2 += 1;
            }
        }
    }
    sums
}

#[test]
fn a_plain_recount_agrees_for_every_stretch() {
    // A call tree three deep of uneven slices, drawn from a linear congruence, and two lanes of a stream.
    let mut text = String::from("thread 1 ops\n");
    let mut seed = 7_u64;
    let mut draw = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((seed >> 33) % below) as i64
    };
    let mut at_ns = 0;
    for _ in 0..12 {
        let (air_ns, dur_ns) = (draw(4), 6 + draw(12));
        let start_ns = at_ns + air_ns;
        text.push_str(&format!("op n{} {start_ns} {dur_ns}\n", draw(4)));
        let (from_ns, inner_ns) = (start_ns + draw(3), draw(dur_ns as u64 - 3));
        text.push_str(&format!("op n{} {from_ns} {inner_ns}\n", draw(4)));
        if 2 < inner_ns {
            text.push_str(&format!("op n{} {} {}\n", draw(4), from_ns + 1, inner_ns - 2));
        }
        at_ns = start_ns + dur_ns;
    }
    text.push_str("stream 0:7\n");
    for idx in 0..20 {
        text.push_str(&format!("kernel k{} {} {}\n", draw(3), idx * 8 + draw(5), draw(14)));
    }
    let end_ns = at_ns + 20;
    for start_ns in (0..end_ns).step_by(7) {
        for dur_ns in [1, 5, 23, 90, 400] {
            let span = Span::new(start_ns, start_ns + dur_ns);
            let (trace, found) = selected(&text, span);
            let mut rows = BTreeMap::new();
            let columns = &found.slices;
            for row in 0..columns.n_rows() {
                let key = (columns.text(row, "name").unwrap().to_owned(), columns.text(row, "kind").unwrap());
                let int = |id| columns.int(row, id).unwrap();
                rows.insert(
                    (key.0, key.1.to_owned()),
                    (int("count") as u64, int("total_ns"), int("self_ns")),
                );
            }
            let expected: BTreeMap<_, _> =
                recount(&trace, span).into_iter().map(|((n, k), sum)| ((n, k.to_owned()), sum)).collect();
            assert_eq!(rows, expected, "{span:?}\n{text}");
        }
    }
}
