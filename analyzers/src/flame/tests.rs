//! Merged trees as text. Each line is a node: name, total, self, count; deeper nodes are further in.

use std::collections::BTreeSet;

use tracecard_model::{
    ProcessId, Progress, Sample, Span, StackRow, Trace, TraceBuilder, TrackFamily, TrackKey, fixture,
};

use super::*;

fn tree_text(tree: &FlameTree) -> String {
    let line = |node: NodeId| {
        let (indent, name) = ("  ".repeat(tree.depth(node)), &tree.frame(node).name);
        format!("{indent}{name} {} {} ×{}", tree.weight(node), tree.own_weight(node), tree.count(node))
    };
    let roots: i64 = tree.children(None).map(|root| tree.weight(root)).sum();
    assert_eq!(roots, tree.total(), "roots add up");
    for node in tree.nodes() {
        let below: i64 = tree.children(Some(node)).map(|child| tree.weight(child)).sum();
        assert_eq!(below + tree.own_weight(node), tree.weight(node), "children and self add up");
        assert!(tree.children(Some(node)).all(|child| tree.parent(child) == Some(node)));
    }
    tree.nodes().map(line).collect::<Vec<_>>().join("\n")
}

fn grown(text: &str, options: &Options) -> FlameTree {
    flame(&fixture(text).unwrap(), None, options, &Progress::new()).unwrap()
}

fn check(text: &str, options: &Options, expected: &str) {
    assert_eq!(tree_text(&grown(text, options)), expected);
}

fn cpu() -> Options {
    Options::new(Weight::Cpu)
}

fn device() -> Options {
    Options::new(Weight::Device)
}

fn only(layers: &[Layer], options: Options) -> Options {
    Options { layers: layers.iter().fold(Layers::NONE, |all, layer| all.with(*layer)), ..options }
}

/// The same without the idle time of devices, which is a layer.
fn busy(options: Options) -> Options {
    Options { layers: options.layers.without(Layer::Idle), ..options }
}

fn within(start_ns: i64, end_ns: i64, options: Options) -> Options {
    Options { span: Some(Span::new(start_ns, end_ns)), ..options }
}

fn thread(id: &str) -> Thread {
    Thread { process: Some(ProcessId(0)), id: Some(id.to_owned()) }
}

#[test]
fn nothing_gives_nothing() {
    for weight in Weight::ALL {
        check("", &Options::new(weight), "");
    }
}

#[test]
fn equal_stacks_merge_and_threads_add_up() {
    // Two calls of step: 100 and 60, of which mm 40 + 10 and relu 30; another thread's mm has no caller.
    check(
        "thread 1 ops\n  op step 0 100\n  op mm 10 40\n  op relu 60 30\n  op step 200 60\n  op mm 210 10\n\
         thread 2 ops\n  op mm 0 7",
        &cpu(),
        "step 160 80 ×2\n  mm 50 50 ×2\n  relu 30 30 ×1\nmm 7 7 ×1",
    );
}

#[test]
fn tracks_of_one_thread_make_one_stack() {
    // train.py 0..100 > aten::mm 10..60 > launch 20..30; an NVTX range of the same time as mm is its caller.
    let text = "thread 1 python\n  python train.py 0 100\nthread 1 nvtx\n  nvtx_push_pop forward 10 50\n\
                thread 1 ops\n  op aten::mm 10 50\nthread 1 api\n  api cudaLaunchKernel_v7000 20 10\n\
                thread 1 os_runtime\n  os_runtime poll 40 5";
    check(
        text,
        &cpu(),
        "train.py 100 50 ×1\n  forward 50 0 ×1\n    aten::mm 50 40 ×1\n      cudaLaunchKernel 10 10 ×1",
    );
    check(text, &only(&[Layer::Op, Layer::OsRuntime], cpu()), "aten::mm 50 45 ×1\n  poll 5 5 ×1");
}

#[test]
fn modules_are_told_from_python_frames() {
    let text = "thread 1 python\n  python f.py(1) 0 100\n  python \"nn.Module: Linear_0\" 10 50\n  python g.py(2) 20 10";
    check(text, &only(&[Layer::Module], cpu()), "nn.Module: Linear_0 50 50 ×1");
    check(text, &only(&[Layer::Python], cpu()), "f.py(1) 100 90 ×1\n  g.py(2) 10 10 ×1");
}

#[test]
fn rounds_of_a_loop_have_one_name_and_ranges_of_emit_nvtx_are_operators() {
    let text = "thread 1 nvtx\n  nvtx_push_pop \"iteration 1\" 0 50\n  nvtx_push_pop \"iteration 2\" 50 50\n\
                \x20 nvtx_push_pop \"aten::mm, op_id = 7\" 60 10";
    check(text, &cpu(), "iteration * 100 90 ×2\n  aten::mm 10 10 ×1");
    check(text, &only(&[Layer::Op], cpu()), "aten::mm 10 10 ×1");
}

#[test]
fn crossing_slices_lose_no_instant_and_count_none_twice() {
    // enter 0..10, range 5..95, exit 90..100: the union is 100.
    // 0–5 enter, 5–10 enter;range, 10–90 range, 90–95 range;exit, 95–100 exit.
    check(
        "thread 1 python\n  python enter 0 10\n  python exit 90 10\nthread 1 nvtx\n  nvtx_push_pop range 5 90",
        &cpu(),
        "enter 10 5 ×1\n  range 5 5 ×1\nrange 85 80 ×0\n  exit 5 5 ×1\nexit 5 5 ×0",
    );
}

#[test]
fn everything_crossing_everything_keeps_its_union() {
    // 200 slices, each a ns later than the one before: together 0..1199. More than 64 crossed are closed early.
    let lines: String = (0..200).map(|i| format!("  op f{i} {i} 1000\n")).collect();
    let tree = grown(&format!("thread 1 ops\n{lines}"), &cpu());
    assert_eq!(tree.total(), 1199);
    // Each but the first 65 closes the outermost of those it crosses.
    assert_eq!(tree.n_simplified(), 135);
}

#[test]
fn a_stack_too_deep_is_cut_and_counted() {
    let lines: String = (0..2_100).map(|i| format!("  op f{i} {i} {}\n", 10_000 - 2 * i)).collect();
    let tree = grown(&format!("thread 1 ops\n{lines}"), &cpu());
    assert_eq!((tree.total(), tree.len(), tree.n_simplified()), (10_000, 2_000, 100));
}

#[test]
fn slices_without_duration_count_and_weigh_nothing() {
    check(
        "thread 1 ops\n  op a 0 10\n  op b 5 0\n  op c 5 0\n  op d 6 2",
        &cpu(),
        "a 10 8 ×1\n  b 0 0 ×1\n  c 0 0 ×1\n  d 2 2 ×1",
    );
}

#[test]
fn recursion_is_a_chain_until_it_is_collapsed() {
    // f 100 > f 80 > g 60 > f 40 > h 10.
    let text = "thread 1 ops\n  op f 0 100\n  op f 10 80\n  op g 20 60\n  op f 30 40\n  op h 35 10";
    let tree = grown(text, &cpu());
    assert_eq!(
        tree_text(&tree),
        "f 100 20 ×1\n  f 80 20 ×1\n    g 60 20 ×1\n      f 40 30 ×1\n        h 10 10 ×1"
    );
    // All f are one: 20 + 20 + 30 itself, g 20, h 10.
    let expected = "f 100 70 ×3\n  g 20 20 ×1\n  h 10 10 ×1";
    let f = Frame::new(Layer::Op, "f");
    assert_eq!(tree_text(&edited(&tree, &[Edit::CollapseRecursion(f)])), expected);
    assert_eq!(tree_text(&edited(&tree, &[Edit::CollapseAllRecursion])), expected);
    let g = Frame::new(Layer::Op, "g");
    assert_eq!(edited(&tree, &[Edit::CollapseRecursion(g)]), tree, "g does not call itself");
}

#[test]
fn a_span_cuts_what_it_crosses() {
    // step 0..100 in 30..70: 40; mm 10..50: 20; relu 60..90: 10; what ended before or begins behind is gone.
    check(
        "thread 1 ops\n  op step 0 100\n  op early 2 5\n  op mm 10 40\n  op relu 60 30\n  op late 92 3",
        &within(30, 70, cpu()),
        "step 40 10 ×1\n  mm 20 20 ×1\n  relu 10 10 ×1",
    );
}

#[test]
fn a_choice_of_threads() {
    let text = "thread 1 ops\n  op a 0 10\nthread 2 ops\n  op b 0 20";
    let trace = fixture(text).unwrap();
    assert_eq!(threads(&trace), [thread("1"), thread("2")]);
    check(text, &Options { threads: Some(BTreeSet::from([thread("2")])), ..cpu() }, "b 20 20 ×1");
    check(text, &Options { threads: Some(BTreeSet::new()), ..cpu() }, "");
}

const LAUNCHES: &str = "thread 1 python\n  python train.py 0 100\n\
    thread 1 ops\n  op linear 10 50\n  op mm 20 20\n\
    thread 1 api\n  api cudaLaunchKernel 25 5 #1\n  api cudaLaunchKernel 45 5 #2\n  api cudaMemcpyAsync 70 5 #3\n\
    \x20 api cudaLaunchKernel 120 5 #4\n\
    stream 0:7\n  kernel gemm 100 500 #1\n  kernel bias 600 50 #2\n  h2d copy 700 80 #3\n  kernel alone 800 30 #4\n\
    \x20 kernel lost 900 20";

#[test]
fn device_time_lies_under_the_stack_that_launched_it() {
    // Launch 1 at 25 in mm in linear, 2 at 45 in linear only, 3 at 70 in train.py only, 4 at 120 in nothing,
    // "lost" without a launch. Sum: 500 + 50 + 80 + 30 + 20 = 680.
    // Idle: the run is 0..920, busy 100..650 700..780 800..830 900..920, so 240 ns: before gemm, 0..100: the
    // host (its launch ended at 30); 650..700, 780..800: launched long before, short: kernel; before "lost",
    // 830..900: unknown.
    check(
        LAUNCHES,
        &device(),
        "train.py 630 0 ×3\n  linear 550 0 ×2\n    mm 500 0 ×1\n      gemm 500 500 ×1\n    bias 50 50 ×1\n  copy 80 80 ×1\n\
         (not attributed) 50 0 ×2\n  alone 30 30 ×1\n  lost 20 20 ×1\n\
         GPU idle 240 0 ×4\n  host wait 100 100 ×1\n  kernel wait 70 70 ×2\n  unknown 70 70 ×1",
    );
}

#[test]
fn roots_of_device_time_without_idle_are_the_durations_of_device_slices() {
    let tree = grown(LAUNCHES, &device());
    let idle = tree.find(&[Frame::new(Layer::Idle, IDLE)]).unwrap();
    assert_eq!(tree.total() - tree.weight(idle), 680);
    assert_eq!(tree.weight(idle), 240);
    assert_eq!(grown(LAUNCHES, &busy(device())).total(), 680);
}

#[test]
fn device_time_by_operator_or_call_only() {
    let roots = |options: &Options| {
        let tree = grown(LAUNCHES, options);
        let root = |root: NodeId| format!("{} {}", tree.frame(root).name, tree.weight(root));
        tree.children(None).map(root).collect::<Vec<_>>().join(", ")
    };
    assert_eq!(
        roots(&only(&[Layer::Op, Layer::Idle], device())),
        "linear 550, (not attributed) 130, GPU idle 240"
    );
    assert_eq!(
        roots(&only(&[Layer::Api, Layer::Idle], device())),
        "cudaLaunchKernel 580, cudaMemcpyAsync 80, (not attributed) 20, GPU idle 240"
    );
    assert_eq!(roots(&only(&[Layer::Idle], device())), "(not attributed) 680, GPU idle 240");
}

#[test]
fn a_span_cuts_device_slices_and_gaps_and_launches_may_lie_before_it() {
    // 550..720: gemm 50, bias 50, copy 20; idle 650..700.
    check(
        LAUNCHES,
        &within(550, 720, only(&[Layer::Op, Layer::Idle], device())),
        "linear 100 0 ×2\n  mm 50 0 ×1\n    gemm 50 50 ×1\n  bias 50 50 ×1\n(not attributed) 20 0 ×1\n  copy 20 20 ×1\n\
         GPU idle 50 0 ×1\n  kernel wait 50 50 ×1",
    );
}

#[test]
fn a_choice_of_threads_leaves_out_what_they_did_not_launch() {
    let text = "thread 1 ops\n  op forward 0 50\nthread 1 api\n  api l 5 5 #1\n\
                thread 2 ops\n  op backward 0 50\nthread 2 api\n  api l 15 5 #2\n\
                stream 0:7\n  kernel a 60 10 #1\n  kernel b 70 30 #2\n  kernel lost 100 10";
    // Backward lies under the stack of the thread that ran it.
    check(
        text,
        &Options { threads: Some(BTreeSet::from([thread("2")])), ..device() },
        "backward 30 0 ×1\n  b 30 30 ×1",
    );
}

#[test]
fn kernels_at_the_same_time_count_each() {
    check(
        "stream 0:7\n  kernel a 0 100\nstream 0:8\n  kernel b 50 100",
        &device(),
        "(not attributed) 200 0 ×2\n  a 100 100 ×1\n  b 100 100 ×1",
    );
}

#[test]
fn idle_of_several_devices_is_told_apart() {
    check(
        "thread 1 api\n  api l 0 5 #1\nstream 0:7\n  kernel a 10 90 #1\nstream 1:7\n  kernel b 0 60",
        &device(),
        "(not attributed) 150 0 ×2\n  b 60 60 ×1\n  a 90 90 ×1\n\
         GPU idle 50 0 ×2\n  unknown 40 0 ×1\n    GPU 1 40 40 ×1\n  host wait 10 0 ×1\n    GPU 0 10 10 ×1",
    );
}

#[test]
fn a_call_on_the_rounded_end_of_its_operator_belongs_to_it() {
    let text = "thread 1 ops\n  op mm 0 1000\n  op other 2000 1000\nthread 1 api\n  api l 1000 500 #1\n  api l 2000 10 #2\n\
                stream 0:7\n  kernel a 2000 5000 #1\n  kernel b 7000 1000 #2";
    let rounded = format!("resolution 1000\n{text}");
    let roots = |text: &str| {
        let tree = grown(text, &device());
        tree.children(None).map(|root| tree.frame(root).name.to_string()).collect::<Vec<_>>().join(", ")
    };
    assert_eq!(roots(text), "other, (not attributed), GPU idle");
    assert_eq!(roots(&rounded), "mm, other, GPU idle");
}

#[test]
fn a_rounded_child_may_end_a_microsecond_late() {
    let text = "thread 1 ops\n  op a 0 100\n  op b 50 51";
    check(text, &cpu(), "a 100 50 ×1\n  b 50 50 ×1\nb 1 1 ×0");
    check(&format!("resolution 1000\n{text}"), &cpu(), "a 100 50 ×1\n  b 50 50 ×1");
}

#[test]
fn a_graph_that_has_its_nodes_counts_once() {
    check(
        "thread 1 api\n  api cudaGraphLaunch 0 10 #1\nstream 0:7\n  kernel n1 20 10 #1\n  kernel n2 30 10 #1\n\
         graph 0:7\n  graph whole 20 20 #1",
        &only(&[Layer::Api, Layer::Idle], device()),
        "cudaGraphLaunch 20 0 ×2\n  n1 10 10 ×1\n  n2 10 10 ×1\nGPU idle 20 0 ×1\n  host wait 20 20 ×1",
    );
}

/// Thread 1: main;f, main;f, main;g at 0, 10, 20, and a sample without a stack; thread 2: main at 5.
fn sampled() -> Trace {
    let mut builder = TraceBuilder::new();
    let process = builder.process("1");
    let tracks = ["1", "2"].map(|id| builder.track(TrackKey::thread(TrackFamily::Samples, process, id)));
    let [main, f, g] = ["main", "f", "g"].map(|name| builder.names.intern(name));
    let root = builder.stacks.intern(StackRow { parent: None, frame: main, module: None });
    let [f, g] =
        [f, g].map(|frame| builder.stacks.intern(StackRow { parent: Some(root), frame, module: None }));
    for (track, time_ns, stack) in
        [(0, 0, Some(f)), (0, 10, Some(f)), (0, 20, Some(g)), (0, 30, None), (1, 5, Some(root))]
    {
        builder.push_sample(Sample { track: tracks[track], time_ns, cpu: None, stack });
    }
    builder.finish(&Progress::new()).unwrap()
}

#[test]
fn samples_count_under_their_call_stacks() {
    let trace = sampled();
    let check = |options: &Options, expected: &str| {
        assert_eq!(tree_text(&flame(&trace, None, options, &Progress::new()).unwrap()), expected);
    };
    let all = Options::new(Weight::Samples);
    check(&all, "main 4 1 ×4\n  f 2 2 ×2\n  g 1 1 ×1\n(not attributed) 1 1 ×1");
    check(&within(5, 30, all.clone()), "main 3 1 ×3\n  f 1 1 ×1\n  g 1 1 ×1");
    check(&Options { threads: Some(BTreeSet::from([thread("2")])), ..all }, "main 1 1 ×1");
    assert!(Weight::Samples.is_in(&trace) && !Weight::Cpu.is_in(&trace) && !Weight::Device.is_in(&trace));
}

// step 100 > mm 40 > launch 10; step > relu 30 > launch 20; mm 7 alone.
const CALLS: &str = "thread 1 ops\n  op step 0 100\n  op mm 0 40\n  op relu 50 30\n  op mm 200 7\n\
    thread 1 api\n  api launch 5 10\n  api launch 55 20";

fn op(name: &str) -> Frame {
    Frame::new(Layer::Op, name)
}

#[test]
fn heaviest_first() {
    let text = "thread 1 ops\n  op a 0 10\n  op b 10 30\n  op c 40 10";
    assert_eq!(
        tree_text(&reordered(&grown(text, &cpu()), Order::Weight)),
        "b 30 30 ×1\na 10 10 ×1\nc 10 10 ×1",
        "of equal ones the first by name"
    );
}

#[test]
fn bottom_up_begins_where_the_time_was_spent() {
    // Self: step 100 − 40 − 30 = 30; mm 40 − 10 + 7 = 37; relu 30 − 20 = 10; launch 10 + 20 = 30. Sum 107.
    assert_eq!(
        tree_text(&bottom_up(&grown(CALLS, &cpu()), Order::Weight)),
        "mm 37 7 ×2\n  step 30 30 ×1\n\
         launch 30 0 ×2\n  relu 20 0 ×1\n    step 20 20 ×1\n  mm 10 0 ×1\n    step 10 10 ×1\n\
         step 30 30 ×1\n\
         relu 10 0 ×1\n  step 10 10 ×1"
    );
}

#[test]
fn sandwich_has_callers_above_and_callees_below() {
    let tree = grown(CALLS, &cpu());
    // mm: 40 from step and 7 from nobody; of its 47 the launch took 10.
    assert_eq!(tree_text(&callers(&tree, &op("mm"), Order::Weight)), "mm 47 7 ×2\n  step 40 40 ×1");
    assert_eq!(tree_text(&callees(&tree, &op("mm"), Order::Weight)), "mm 47 37 ×2\n  launch 10 10 ×1");
    let launch = Frame::new(Layer::Api, "launch");
    assert_eq!(
        tree_text(&callers(&tree, &launch, Order::Weight)),
        "launch 30 0 ×2\n  relu 20 0 ×1\n    step 20 20 ×1\n  mm 10 0 ×1\n    step 10 10 ×1"
    );
    assert_eq!(tree_text(&callees(&tree, &launch, Order::Weight)), "launch 30 30 ×2");
    assert_eq!(tree_text(&callers(&tree, &op("nobody"), Order::Weight)), "");
    assert_eq!(tree_text(&callees(&tree, &op("nobody"), Order::Weight)), "");
}

#[test]
fn in_a_sandwich_recursion_counts_once() {
    let tree = grown("thread 1 ops\n  op main 0 100\n  op f 10 80\n  op f 20 50", &cpu());
    assert_eq!(tree_text(&callers(&tree, &op("f"), Order::Weight)), "f 80 0 ×1\n  main 80 80 ×1");
    assert_eq!(tree_text(&callees(&tree, &op("f"), Order::Weight)), "f 80 30 ×1\n  f 50 50 ×1");
    let totals: Vec<_> = totals_by_frame(&tree)
        .iter()
        .map(|(frame, total, own)| format!("{} {total} {own}", tree.frames()[frame.idx()].name))
        .collect();
    assert_eq!(totals, ["main 100 20", "f 80 80"]);
}

#[test]
fn edits() {
    let tree = grown(CALLS, &cpu());
    let check = |edits: &[Edit], expected: &str| assert_eq!(tree_text(&edited(&tree, edits)), expected);
    check(
        &[],
        "step 100 30 ×1\n  mm 40 30 ×1\n    launch 10 10 ×1\n  relu 30 10 ×1\n    launch 20 20 ×1\nmm 7 7 ×1",
    );
    check(&[Edit::Focus(op("mm"))], "mm 47 37 ×2\n  launch 10 10 ×1");
    check(&[Edit::HideStacks(op("mm"))], "step 60 30 ×1\n  relu 30 10 ×1\n    launch 20 20 ×1");
    // Without mm its launch is called by step, which has mm's own 30 as well; the root mm of 7 is "(hidden)".
    check(
        &[Edit::HideFrame(op("mm"))],
        "step 100 60 ×1\n  launch 10 10 ×1\n  relu 30 10 ×1\n    launch 20 20 ×1\n(hidden) 7 7 ×0",
    );
    check(
        &[Edit::Focus(op("step")), Edit::HideStacks(op("relu"))],
        "step 70 30 ×1\n  mm 40 30 ×1\n    launch 10 10 ×1",
    );
    check(&[Edit::Focus(op("nobody"))], "");
    check(&[Edit::HideStacks(op("nobody"))], &tree_text(&tree));
}

#[test]
fn modules_of_one_class_merge() {
    let module = |name: &str, start: i32, dur: i32| format!("  python \"nn.Module: {name}\" {start} {dur}\n");
    let text = format!(
        "thread 1 python\n{}{}{}{}  python f_3 90 5\n",
        module("Model_0", 0, 100),
        module("Layer_0", 10, 20),
        module("Layer_1", 30, 30),
        module("Head", 60, 10)
    );
    // Both layers are one, 20 + 30; a function keeps its number, and so does a module without one.
    assert_eq!(
        tree_text(&edited(&grown(&text, &cpu()), &[Edit::MergeModules])),
        "nn.Module: Model 100 35 ×1\n  nn.Module: Layer 50 50 ×2\n  nn.Module: Head 10 10 ×1\n  f_3 5 5 ×1"
    );
}

#[test]
fn matching_subtrees_count_once() {
    let tree = grown(CALLS, &cpu());
    let weight = |name: &str| matches(&tree, |text| text.contains(name)).weight;
    // launch lies under mm and relu; "m" matches only mm, "l" launch and relu: relu 30 (launch in it) + 10.
    assert_eq!((weight("launch"), weight("mm"), weight("l"), weight("no")), (30, 47, 40, 0));
    assert_eq!(weight(""), tree.total());
}

#[test]
fn texts() {
    let tree = grown("thread 1 ops\n  op a;b 0 100\n  op c 10 40\n  op zero 20 0", &cpu());
    assert_eq!(folded(&tree), "a:b 60\na:b;c 40\n");
    let c = tree.find(&[op("a;b"), op("c")]).unwrap();
    assert_eq!(stack_text(&tree.path(c)), "a;b\nc\n");
    assert_eq!(
        tsv(&tree),
        "depth\tlayer\ttotal_ns\tself_ns\tcount\tshare_frac\tname\n0\top\t100\t60\t1\t1.000000\ta;b\n\
         1\top\t40\t40\t1\t0.400000\tc\n2\top\t0\t0\t1\t0.000000\tzero\n"
    );
    assert_eq!(tsv(&FlameTree::default()).lines().count(), 1);
}

#[test]
fn the_longest_slice_is_the_example() {
    let text = "thread 1 ops\n  op a 0 10\n  op a 20 30\n  op a 60 30";
    let trace = fixture(text).unwrap();
    let tree = flame(&trace, None, &cpu(), &Progress::new()).unwrap();
    let example = tree.example(NodeId(0)).unwrap();
    assert_eq!(trace.slices.span(example), Span::new(20, 50));
}

#[test]
fn a_caller_of_device_work_shows_the_longest_slice_below_it() {
    let trace = fixture(LAUNCHES).unwrap();
    let tree = flame(&trace, None, &device(), &Progress::new()).unwrap();
    let root = tree.children(None).next().unwrap();
    assert_eq!(trace.name(tree.example(root).unwrap()), "gemm");
}

#[test]
fn cancelling_stops_it() {
    let progress = Progress::new();
    progress.cancel();
    let outcome = flame(&fixture(LAUNCHES).unwrap(), None, &device(), &progress);
    assert!(matches!(outcome, Err(AnalyzeError::Cancelled(_))));
}
