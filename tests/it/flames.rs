//! The roots of merged flame graphs against a recount from the slices, on the samples and on real traces.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rustc_hash::FxHashSet;
use tracecard_analyzers::flame::{
    FlameTree, Frame, IDLE, Layer, Layers, NodeId, Options, Order, Weight, bottom_up, flame,
};
use tracecard_analyzers::{Analysis, Params, run_all};
use tracecard_model::{LinkKind, Progress, SliceId, SliceKind, Span, Spans, Trace, TrackFamily};

use crate::corpus::corpus;

/// Families that make stacks of threads.
const STACKS: [TrackFamily; 8] = [
    TrackFamily::Python,
    TrackFamily::Nvtx,
    TrackFamily::Ops,
    TrackFamily::Library,
    TrackFamily::Other,
    TrackFamily::Overhead,
    TrackFamily::Api,
    TrackFamily::OsRuntime,
];

#[test]
fn roots_add_up_to_the_slices_of_the_samples() {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sample-traces");
    for name in ["nsys/h100_training.sqlite", "torch/h100_training.json.gz", "torch/cpu_transformer.json.gz"]
    {
        check(&samples.join(name));
    }
}

#[test]
fn roots_add_up_to_the_slices_of_real_traces() {
    let Some(corpus) = corpus() else { return };
    let mut paths: Vec<PathBuf> = ["nsys", "torch"]
        .iter()
        .flat_map(|folder| std::fs::read_dir(corpus.join(folder)).unwrap().map(|entry| entry.unwrap().path()))
        .filter(|path| path.is_file())
        .collect();
    paths.sort();
    assert!(10 < paths.len());
    for path in paths {
        check(&path);
    }
}

/// Files that are no traces are other tests' business.
fn check(path: &Path) {
    let progress = Progress::new();
    let Ok(trace) = tracecard_importers::open(path, &progress) else { return };
    let analysis = run_all(&trace, &Params::default(), &progress).unwrap();
    let grown = |options: &Options| flame(&trace, Some(&analysis.partitions), options, &progress).unwrap();
    for weight in Weight::ALL {
        let every = Layer::ALL.iter().fold(Layers::NONE, |layers, layer| layers.with(*layer));
        let tree = grown(&Options { layers: every, ..Options::new(weight) });
        let what = format!("{}, {weight:?}", path.display());
        check_sums(&tree, &what);
        match weight {
            Weight::Cpu => check_cpu(&trace, &tree, &what),
            Weight::Device => check_device(&trace, &analysis, &tree, &what),
            Weight::Samples => assert_eq!(tree.total(), trace.samples.rows().len() as i64, "{what}"),
        }
        let Some(run) = trace.span() else { continue };
        // Two halves are the whole: nothing counts twice where a span ends, nothing is lost.
        let middle_ns = run.start_ns + run.dur_ns() / 2;
        let half = |start_ns, end_ns| {
            let span = Some(Span::new(start_ns, end_ns));
            grown(&Options { layers: every, span, ..Options::new(weight) }).total()
        };
        let last_ns = run.end_ns.saturating_add(1);
        let halves = half(run.start_ns, middle_ns) + half(middle_ns, last_ns);
        let is_exact = trace.meta.resolution_ns <= 1 || weight != Weight::Cpu;
        assert!(halves == tree.total() || !is_exact, "{what}: {halves} is not {}", tree.total());
    }
}

fn check_sums(tree: &FlameTree, what: &str) {
    let roots: i64 = tree.children(None).map(|root| tree.weight(root)).sum();
    assert_eq!(roots, tree.total(), "{what}");
    let own: i64 = tree.nodes().map(|node| tree.own_weight(node)).sum();
    assert_eq!(own, tree.total(), "{what}");
    assert_eq!(bottom_up(tree, Order::Weight).total(), tree.total(), "{what}");
    assert!(tree.nodes().all(|node| 0 <= tree.own_weight(node)), "{what}");
}

/// Each thread's union of slices.
fn check_cpu(trace: &Trace, tree: &FlameTree, what: &str) {
    let mut spans: BTreeMap<_, Vec<Span>> = BTreeMap::new();
    for track in trace.tracks.iter().filter(|track| STACKS.contains(&track.key.family)) {
        let of_track = track.range().map(|idx| trace.slices.span(SliceId::from_idx(idx)));
        spans.entry((track.key.process, track.key.thread.clone())).or_default().extend(of_track);
    }
    let union_ns: i64 = spans.into_values().map(|spans| Spans::union_of(spans).total_ns()).sum();
    if trace.meta.resolution_ns <= 1 {
        assert_eq!(tree.total(), union_ns, "{what}");
    } else {
        // Ends that rounding moved behind those of their callers are cut.
        assert!(tree.total() <= union_ns, "{what}: {} and {union_ns}", tree.total());
        assert!(union_ns as f64 * 0.99 <= tree.total() as f64, "{what}: {} and {union_ns}", tree.total());
    }
}

/// Durations of all device slices, and of all gaps.
fn check_device(trace: &Trace, analysis: &Analysis, tree: &FlameTree, what: &str) {
    let kinds = trace.slices.kinds();
    let launches = || trace.links.rows().iter().filter(|(kind, ..)| *kind == LinkKind::Launch);
    let is_node =
        |slice: SliceId| kinds[slice.idx()].is_device_work() && kinds[slice.idx()] != SliceKind::Graph;
    let with_nodes: FxHashSet<SliceId> =
        launches().filter(|(_, _, to)| is_node(*to)).map(|(_, from, _)| *from).collect();
    let counts = |slice: &SliceId| {
        let is_covered = || trace.launch_of(*slice).is_some_and(|launch| with_nodes.contains(&launch));
        kinds[slice.idx()].is_device_work()
            && trace.track_of(*slice).key.device.is_some()
            && !(kinds[slice.idx()] == SliceKind::Graph && is_covered())
    };
    let work_ns: i64 = trace.slice_ids().filter(counts).map(|slice| trace.slices.span(slice).dur_ns()).sum();
    let gaps = analysis.partitions.iter().flat_map(|part| &part.gaps);
    let gaps_ns: i64 = gaps.map(|gap| gap.span.dur_ns()).sum();
    let idle_ns = tree.find(&[Frame::new(Layer::Idle, IDLE)]).map_or(0, |node| tree.weight(node));
    assert_eq!(idle_ns, gaps_ns, "{what}");
    assert_eq!(tree.total() - idle_ns, work_ns, "{what}");
    let n_counted: u64 = tree
        .children(None)
        .filter(|root: &NodeId| tree.frame(*root).layer != Layer::Idle)
        .map(|root| tree.count(root))
        .sum();
    assert_eq!(n_counted as usize, trace.slice_ids().filter(counts).count(), "{what}");
}
