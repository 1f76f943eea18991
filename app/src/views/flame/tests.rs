//! Layouts, moves and stages of the flame graph as text.

use std::sync::Arc;

use egui::{Rect, pos2, vec2};
use tracecard_analyzers::flame::{Edit, Frame, Layer, Options, Weight};
use tracecard_model::{Progress, Trace, fixture};

use super::keys::{Move, cursor_at, moved, node_of};
use super::layout::{Bar, Canvas, Items, layout};
use super::model::{Key, Shown, model};
use super::state::{Cursor, Side, View};
use crate::run::RunId;
use crate::text_width::TextWidth;

fn key(view: View) -> Key {
    Key {
        run: RunId(0),
        options: Options::new(Weight::Cpu),
        edits: Vec::new(),
        view,
        chosen: None,
        filter: String::new(),
    }
}

fn made(trace: &Trace, key: Key, old: Option<&Shown>) -> Shown {
    model(trace, None, key, old, &Progress::new()).unwrap()
}

fn shown(text: &str, key: Key) -> Shown {
    made(&fixture(text).unwrap(), key, None)
}

/// 100 × 100 points of rows of 10, one pixel a point, texts of one point a sign.
fn items(shown: &Shown, zoom: &[Frame], scroll_pt: f32) -> Items {
    let rect = Rect::from_min_size(pos2(0.0, 0.0), vec2(100.0, 100.0));
    let canvas = Canvas { rect, scroll_pt, row_pt: 10.0, pixel_pt: 1.0 };
    layout(shown, zoom, &canvas, &TextWidth::monospaced(1.0))
}

fn name(shown: &Shown, bar: &Bar) -> String {
    match bar.node {
        Some(_) if 0 < bar.n_folded => format!("{} folded", bar.n_folded),
        Some(node) => shown.tree(bar.side).frame(node).name.to_string(),
        None => "All".to_owned(),
    }
}

/// One `left..right yTOP name` a bar; what is folded in all at the end.
fn text(shown: &Shown, items: &Items) -> String {
    let line = |bar: &Bar| {
        let rect = bar.rect;
        format!("{}..{} y{} {}", rect.left(), rect.right(), rect.top(), name(shown, bar))
    };
    let bars: Vec<String> = items.bars.iter().map(line).collect();
    let folded =
        if items.n_folded == 0 { String::new() } else { format!("\n{} folded in all", items.n_folded) };
    bars.join("\n") + &folded
}

fn check(fixture_text: &str, key: Key, zoom: &[Frame], expected: &str) {
    let shown = shown(fixture_text, key);
    assert_eq!(text(&shown, &items(&shown, zoom, 0.0)), expected);
}

fn op(name: &str) -> Frame {
    Frame::new(Layer::Op, name)
}

#[test]
fn empty() {
    for view in View::ALL {
        check("", key(view), &[], "");
    }
}

#[test]
fn one_frame_fills_the_width_under_everything() {
    check("thread 1 ops\n op a 0 50", key(View::TopDown), &[], "0..99 y0 All\n0..99 y10 a");
}

/// a 60 > b 20, c 30; d 40.
const MANY: &str = "thread 1 ops\n op d 0 40\n op a 40 60\n op b 50 20\n op c 70 30";

#[test]
fn siblings_lie_in_the_order_of_the_view() {
    check(
        MANY,
        key(View::TopDown),
        &[],
        "0..99 y0 All\n0..39 y10 d\n40..99 y10 a\n40..59 y20 b\n60..89 y20 c",
    );
    check(
        MANY,
        key(View::LeftHeavy),
        &[],
        "0..99 y0 All\n0..59 y10 a\n60..99 y10 d\n0..29 y20 c\n30..49 y20 b",
    );
}

#[test]
fn bottom_up_hangs_callers_below() {
    // Self: d 40, c 30, b 20, a 60 − 50 = 10.
    check(
        MANY,
        key(View::BottomUp),
        &[],
        "0..99 y0 All\n0..39 y10 d\n40..69 y10 c\n70..89 y10 b\n90..99 y10 a\n40..69 y20 a\n70..89 y20 a",
    );
}

#[test]
fn a_zoomed_frame_fills_the_width_below_its_callers() {
    check(
        MANY,
        key(View::TopDown),
        &[op("a")],
        // b 20 of 60 is a third.
        "0..99 y0 All\n0..99 y10 a\n0..32 y20 b\n33..82 y20 c",
    );
    check(MANY, key(View::TopDown), &[op("a"), op("c")], "0..99 y0 All\n0..99 y10 a\n0..99 y20 c");
    // A frame that is not there zooms nowhere.
    check(
        MANY,
        key(View::TopDown),
        &[op("x")],
        "0..99 y0 All\n0..39 y10 d\n40..99 y10 a\n40..59 y20 b\n60..89 y20 c",
    );
}

#[test]
fn narrow_frames_fold_into_one_mark_with_a_count() {
    // Of 1000: long 950; five of 10 (1 point each), the first of them with a child: 6 frames, 5 points.
    let narrow: String = (0..5).map(|i| format!("op n{i} {} 10\n", 950 + 10 * i)).collect();
    check(
        &format!("thread 1 ops\nop long 0 950\n{narrow} op child 952 2"),
        key(View::TopDown),
        &[],
        "0..99 y0 All\n0..94 y10 long\n95..99 y10 6 folded\n6 folded in all",
    );
}

#[test]
fn what_weighs_nothing_is_counted_and_not_drawn() {
    check("thread 1 ops\n op a 5 0\n op b 6 0", key(View::TopDown), &[], "0..99 y0 All\n2 folded in all");
}

#[test]
fn only_rows_in_sight_have_bars() {
    let shown = shown(MANY, key(View::TopDown));
    let items = items(&shown, &[], 15.0);
    assert_eq!(text(&shown, &items), "0..39 y-5 d\n40..99 y-5 a\n40..59 y5 b\n60..89 y5 c");
    assert_eq!((items.height_pt, items.top_row), (30.0, 0));
}

#[test]
fn a_sandwich_has_callers_above_and_callees_below() {
    // mm 50 of which 30 from step (from main) and 20 from eval; it calls launch 10.
    let calls = "thread 1 ops\n op main 0 100\n op step 0 60\n op mm 0 30\n op eval 60 40\n op mm 60 20\n\
                 thread 1 api\n api launch 5 10";
    let key = Key { chosen: Some(op("mm")), ..key(View::Sandwich) };
    check(
        calls,
        key.clone(),
        &[],
        "0..59 y0 main\n60..99 y0 main\n0..59 y10 step\n60..99 y10 eval\n0..99 y20 mm\n0..19 y30 launch",
    );
    let shown = shown(calls, key);
    let items = items(&shown, &[], 0.0);
    assert_eq!(items.top_row, -2);
    let listed: Vec<_> = shown
        .listed
        .iter()
        .map(|(frame, total, own)| format!("{} {total} {own}", shown.edited.frames()[frame.idx()].name))
        .collect();
    assert_eq!(listed, ["main 100 0", "step 60 30", "mm 50 40", "eval 40 20", "launch 10 10"]);
}

#[test]
fn texts_are_shortened_and_folds_say_how_many() {
    let narrow: String = (0..90).map(|i| format!("op n{i} {} 10\n", 8000 + 10 * i)).collect();
    let shown = shown(
        &format!(
            "thread 1 ops\nop a_name_that_is_far_too_long_for_twenty_signs 0 2500\nop x 2500 5500\n{narrow}"
        ),
        key(View::TopDown),
    );
    let items = items(&shown, &[], 0.0);
    let texts: Vec<&str> = items.labels.iter().map(|label| label.text.as_str()).collect();
    // Of 8900 ns: 28 points less a pixel and margins of 8 are 19 signs: 12, the mark, and 6 (a third of 18);
    // 62 points; and 10, where the margins leave 1, too little for "90".
    assert_eq!(texts, ["All · 8.9 µs", "a_name_that_…_signs", "x"]);
}

#[test]
fn the_bar_under_the_pointer_is_found() {
    let shown = shown(MANY, key(View::TopDown));
    let items = items(&shown, &[], 0.0);
    let at = |x, y| items.bar_at(x, y).map(|bar| name(&shown, bar));
    assert_eq!(at(50.0, 25.0).as_deref(), Some("b"));
    assert_eq!(at(20.0, 15.0).as_deref(), Some("d"));
    assert_eq!(at(20.0, 25.0), None);
}

fn check_moves(shown: &Shown, from: Option<Cursor>, moves: &[Move], expected: &str) {
    let items = items(shown, &[], 0.0);
    let mut cursor = from;
    let mut seen = Vec::new();
    for to in moves {
        if let Some((side, node)) = moved(shown, &items, cursor.as_ref(), *to) {
            let next = cursor_at(shown.tree(side), side, node);
            assert_eq!(node_of(shown, &next), Some(node));
            cursor = Some(next);
        }
        seen.push(cursor.as_ref().and_then(|c| c.path.last()).map_or("-", |frame| &*frame.name).to_owned());
    }
    assert_eq!(seen.join(" "), expected);
}

#[test]
fn arrows_move_between_frames() {
    use Move::{Down, Left, Right, Up};
    // The heaviest root is a; below it c is heavier than b; b is at its left.
    let shown = shown(MANY, key(View::TopDown));
    check_moves(&shown, None, &[Right, Down, Left, Left, Up, Left, Right, Right, Up], "a c b b a d a a a");
}

#[test]
fn arrows_cross_the_middle_of_a_sandwich() {
    use Move::{Down, Right, Up};
    let calls = "thread 1 ops\n op step 0 60\n op mm 0 30\n op eval 60 40\n op mm 60 20\n\
                 thread 1 api\n api launch 5 10";
    let shown = shown(calls, Key { chosen: Some(op("mm")), ..key(View::Sandwich) });
    check_moves(&shown, None, &[Up, Up, Right, Up, Down, Down, Down], "mm step eval eval mm launch launch");
}

#[test]
fn stages_that_stay_the_same_are_kept() {
    let trace = fixture(MANY).unwrap();
    let first = made(&trace, key(View::TopDown), None);
    assert!(Arc::ptr_eq(&first.edited, &first.below));
    let turned = made(&trace, key(View::LeftHeavy), Some(&first));
    assert!(Arc::ptr_eq(&turned.edited, &first.edited), "turning merges nothing again");
    let filtered = made(&trace, Key { filter: "b".to_owned(), ..key(View::LeftHeavy) }, Some(&turned));
    assert!(Arc::ptr_eq(&filtered.below, &turned.below), "filtering turns nothing again");
    let edits = vec![Edit::HideStacks(op("a"))];
    let edited = made(&trace, Key { edits, ..key(View::TopDown) }, Some(&filtered));
    assert_eq!((edited.below.total(), edited.merged_total()), (40, 100));
    let other = Key { run: RunId(1), ..key(View::TopDown) };
    assert!(
        !Arc::ptr_eq(&made(&trace, other, Some(&first)).edited, &first.edited),
        "another run is another tree"
    );
}

#[test]
fn a_filter_is_a_regular_expression_or_else_a_text() {
    let weight = |filter: &str| {
        let shown = shown(MANY, Key { filter: filter.to_owned(), ..key(View::TopDown) });
        shown.matches.map(|matches| matches.weight)
    };
    // a holds b and c, which count once with it.
    assert_eq!(
        (weight("^[ab]$"), weight("B"), weight("d"), weight("")),
        (Some(60), Some(20), Some(40), None)
    );
    assert_eq!((weight("("), weight("nothing")), (Some(0), Some(0)));
}

#[test]
fn what_lies_in_a_match_is_lit_and_its_callers_are_not() {
    let lit = |filter: &str| {
        let shown = shown(MANY, Key { filter: filter.to_owned(), ..key(View::TopDown) });
        let lit = shown.below.nodes().filter(|node| shown.is_lit(Side::Below, *node));
        lit.map(|node| shown.below.frame(node).name.to_string()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!((lit("a").as_str(), lit("b").as_str(), lit("").as_str()), ("a b c", "b", "d a b c"));
}

#[test]
fn the_tooltip_says_total_self_share_and_count() {
    let check = |key: Key, name: &str, expected: &str| {
        let shown = shown(MANY, key);
        let items = items(&shown, &[], 0.0);
        let bar = items.bars.iter().find(|bar| self::name(&shown, bar) == name).unwrap();
        let fields = super::tooltip::fields(&shown, bar, bar.node.unwrap());
        let text: Vec<String> = fields.iter().map(|(title, value)| format!("{title} {value}")).collect();
        assert_eq!(text.join(", "), expected);
    };
    check(key(View::TopDown), "a", "Total 60 ns, Self 10 ns, Share of all 60.0 %, Slices 1");
    check(
        key(View::TopDown),
        "c",
        "Total 30 ns, Self 30 ns, Share of all 30.0 %, Share of its caller 50.0 %, Slices 1",
    );
    check(key(View::BottomUp), "d", "Total 40 ns, Share of all 40.0 %, Slices 1");
}
