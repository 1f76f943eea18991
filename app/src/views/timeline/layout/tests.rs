//! Layouts of the timeline as text.

use std::collections::BTreeSet;

use tracecard_model::fixture;

use super::*;
use crate::time_scale::View;
use crate::views::timeline::model::{GroupKey, Heights, model};

const HEIGHTS: Heights = Heights { row_pt: 10.0, header_pt: 20.0, counter_pt: 40.0, gap_pt: 2.0 };

/// A canvas of 100 × 200 points, one pixel a point, with texts of 1 point a sign.
fn items(trace: &Trace, start_ns: i64, end_ns: i64, toggled: &BTreeSet<GroupKey>) -> Items {
    let model = model(trace, None, toggled, &HEIGHTS);
    let rect = Rect::from_min_size(pos2(0.0, 0.0), vec2(100.0, 200.0));
    let canvas = Canvas { rect, scroll_pt: 0.0, pixel_pt: 1.0, row_pt: HEIGHTS.row_pt };
    let scale = TimeScale::new(View::of(Span::new(start_ns, end_ns)), 0.0, 100.0);
    let mut labels = LabelCache::new(TextWidth::monospaced(1.0));
    layout(&model, trace, &CounterLod::new(trace), &scale, &canvas, None, &mut labels)
}

/// One line a mark: x range, y, name, count of a fold and its busy share.
fn check(fixture_text: &str, start_ns: i64, end_ns: i64, expected: &[&str]) {
    let trace = fixture(fixture_text).unwrap();
    let items = items(&trace, start_ns, end_ns, &BTreeSet::new());
    let line = |mark: &Mark| {
        let (x, y) = (mark.rect.x_range(), mark.rect.top());
        let name = trace.name(mark.slice);
        if mark.count == 1 {
            format!("{}..{} y{y} {name}", x.min, x.max)
        } else {
            format!("{}..{} y{y} {name} ×{} {:.2}", x.min, x.max, mark.count, mark.busy_frac)
        }
    };
    let lines: Vec<String> = items.marks.iter().map(line).collect();
    assert_eq!(lines, expected);
}

#[test]
fn empty() {
    check("", 0, 100, &[]);
}

#[test]
fn one_slice_keeps_a_pixel_to_its_neighbour() {
    check("stream 0:7\n kernel gemm 10 20", 0, 100, &["10..29 y20 gemm"]);
}

#[test]
fn nested_slices_lie_below_each_other() {
    let trace = "thread 1 ops\n op outer 0 100\n op inner 20 50";
    check(trace, 0, 100, &["0..99 y40 outer", "20..69 y50 inner"]);
}

#[test]
fn overlapping_kernels_get_lanes() {
    check("stream 0:7\n kernel a 0 50\n kernel b 30 50", 0, 100, &["0..49 y20 a", "30..79 y30 b"]);
}

#[test]
fn narrow_slices_fold_into_one_mark_with_a_count() {
    let kernels: String = (0..8).map(|i| format!("kernel k{i} {} 50\n", 1000 + 100 * i)).collect();
    let trace = format!("stream 0:7\n{kernels} kernel long 5000 4000");
    // A pixel is 100 ns, so what is shorter than 256 ns folds in cells of 256 ns.
    let expected = [
        "10..12 y20 k0",
        "11..13 y20 k1 ×2 0.67",
        "13..16 y20 k3 ×3 0.60",
        "16..18 y20 k6 ×2 0.67",
        "50..89 y20 long",
    ];
    check(&trace, 0, 10_000, &expected);
}

#[test]
fn a_slice_of_no_length_is_still_seen() {
    check("stream 0:7\n kernel k 50 0", 0, 100, &["50..52 y20 k"]);
}

#[test]
fn a_slice_beyond_both_edges_is_cut_a_little_outside() {
    check("stream 0:7\n kernel k 0 1000000", 500_000, 500_100, &["-8..107 y20 k"]);
}

#[test]
fn labels_show_names_and_the_count_of_a_run_of_folds() {
    let kernels: String = (0..400).map(|i| format!("kernel k {} 10\n", 20 * i)).collect();
    let trace = fixture(&format!("stream 0:7\n{kernels} kernel void_long_name 9000 6000")).unwrap();
    let items = items(&trace, 0, 16_000, &BTreeSet::new());
    let texts: Vec<&str> = items.labels.iter().map(|label| &*label.text).collect();
    assert_eq!(texts, ["400 slices", "void_long_name"]);
}

#[test]
fn at_most_800_labels_a_frame() {
    let rows: String =
        (0..900).map(|i| format!("thread {i} ops\n op a 0 50\n op b 50 50\n")).collect::<Vec<_>>().join("");
    let trace = fixture(&rows).unwrap();
    let model = model(&trace, None, &BTreeSet::new(), &HEIGHTS);
    let rect = Rect::from_min_size(pos2(0.0, 0.0), vec2(100.0, model.height_pt));
    let canvas = Canvas { rect, scroll_pt: 0.0, pixel_pt: 1.0, row_pt: HEIGHTS.row_pt };
    let scale = TimeScale::new(View::of(Span::new(0, 100)), 0.0, 100.0);
    let mut labels = LabelCache::new(TextWidth::monospaced(1.0));
    let items = layout(&model, &trace, &CounterLod::new(&trace), &scale, &canvas, None, &mut labels);
    assert_eq!((items.marks.len(), items.labels.len()), (1800, MAX_LABELS));
}

#[test]
fn the_mark_under_or_beside_the_pointer_is_found() {
    let trace = fixture("stream 0:7\n kernel a 10 20\n kernel b 60 1").unwrap();
    let items = items(&trace, 0, 100, &BTreeSet::new());
    let name_at = |x, y| items.mark_at(pos2(x, y), 2.0).map(|mark| trace.name(mark.slice));
    assert_eq!(name_at(15.0, 25.0), Some("a"));
    assert_eq!(name_at(59.0, 25.0), Some("b"));
    assert_eq!(name_at(50.0, 25.0), None);
    assert_eq!(name_at(15.0, 35.0), None);
}

#[test]
fn counters_are_steps_from_zero_to_the_value() {
    let trace = fixture("counter 0 frac \"SMs Active\"\n 0 0.5\n 50 1.0\n 100 0").unwrap();
    let items = items(&trace, 0, 100, &BTreeSet::new());
    let curve = &items.curves[0];
    // The lane lies at y 20–60 with 2 points of air: 0 at 58, 1 at 22.
    let step = |left_pt, right_pt, y| Step { left_pt, right_pt, min_y_pt: y, max_y_pt: y };
    assert_eq!(
        (curve.base_y_pt, &curve.steps[..]),
        (58.0, &[step(0.0, 50.0, 40.0), step(50.0, 100.0, 22.0)][..])
    );
}

#[test]
fn a_closed_group_shows_the_top_rows_in_its_header() {
    let trace = fixture("thread 1 ops\n op outer 0 100\n op inner 0 50").unwrap();
    let closed = BTreeSet::from([GroupKey::Process(Some(tracecard_model::ProcessId(0)))]);
    let items = items(&trace, 0, 100, &closed);
    assert_eq!(items.marks.len(), 1);
    assert_eq!((items.marks[0].rect.top(), items.labels.len()), (3.0, 0));
}
