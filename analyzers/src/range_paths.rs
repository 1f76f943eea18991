//! The path of every range of the user on its thread: `step/forward/layer_*`.

use rustc_hash::FxHashMap;
use tracecard_model::{NameId, Names, SliceId, SliceKind, Trace, TrackFamily, TrackId};

use crate::normalise::range_name;

/// In [`RangePaths::path_of`]: the slice is no range.
const NO_PATH: u32 = u32::MAX;

/// A node of the tree of paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PathNode {
    /// The enclosing range's path.
    pub(crate) parent: Option<u32>,
    /// Normalised name, in [`RangePaths::names`].
    name: NameId,
    /// NVTX domain, in the trace's names; `None` for the default one and for annotations.
    pub(crate) domain: Option<NameId>,
    /// What kind of range it is.
    pub(crate) kind: SliceKind,
}

/// All paths, and which slice has which.
#[derive(Debug, Default)]
pub(crate) struct RangePaths {
    /// Nodes; parents come before their children.
    pub(crate) nodes: Vec<PathNode>,
    names: Names,
    path_of: Vec<u32>,
}

impl RangePaths {
    /// One pass over all ranges. O(n · nesting of operators between annotations).
    pub(crate) fn new(trace: &Trace) -> Self {
        let mut paths = Self::default();
        if !trace.slices.kinds().iter().any(|kind| is_range(*kind)) {
            return paths;
        }
        let mut path_from_node: FxHashMap<PathNode, u32> = FxHashMap::default();
        let mut normalised: Vec<Option<NameId>> = vec![None; trace.names.len()];
        // Ranges lie on the tracks of threads, which come first.
        let families = [TrackFamily::Ops, TrackFamily::Nvtx, TrackFamily::NvtxStartEnd];
        for (idx, track) in trace.tracks.iter().enumerate().filter(|(_, t)| families.contains(&t.key.family))
        {
            paths.path_of.resize(paths.path_of.len().max(track.range().end), NO_PATH);
            for slice in trace.slices_on(TrackId::from_idx(idx)) {
                let kind = trace.slices.kinds()[slice.idx()];
                if !is_range(kind) {
                    continue;
                }
                let mut enclosing = trace.slices.parent(slice);
                while let Some(parent) = enclosing.filter(|parent| paths.path_of(*parent).is_none()) {
                    enclosing = trace.slices.parent(parent);
                }
                let raw = trace.slices.names()[slice.idx()];
                let name = *normalised[raw.idx()]
                    .get_or_insert_with(|| paths.names.intern(&range_name(trace.names.text(raw))));
                let parent = enclosing.and_then(|parent| paths.path_of(parent));
                let node = PathNode { parent, name, domain: trace.domains.get(slice).copied(), kind };
                let path = *path_from_node.entry(node).or_insert_with(|| {
                    paths.nodes.push(node);
                    (paths.nodes.len() - 1) as u32
                });
                paths.path_of[slice.idx()] = path;
            }
        }
        paths
    }

    /// The path of a slice; `None` where it is no range.
    pub(crate) fn path_of(&self, slice: SliceId) -> Option<u32> {
        self.path_of.get(slice.idx()).copied().filter(|path| *path != NO_PATH)
    }

    /// Every range with its path, in slice order.
    pub(crate) fn ranges(&self) -> impl Iterator<Item = (SliceId, u32)> + Clone {
        let all = self.path_of.iter().enumerate().filter(|(_, path)| **path != NO_PATH);
        all.map(|(idx, path)| (SliceId::from_idx(idx), *path))
    }

    /// A path and those it lies in, innermost first.
    pub(crate) fn chain(&self, path: Option<u32>) -> impl Iterator<Item = u32> {
        std::iter::successors(path, |path| self.nodes.get(*path as usize).and_then(|node| node.parent))
    }

    /// A path as text, names joined by `/`, outermost first.
    pub(crate) fn text(&self, path: u32) -> String {
        let mut names: Vec<&str> = self
            .chain(Some(path))
            .filter_map(|p| self.nodes.get(p as usize))
            .map(|n| self.names.text(n.name))
            .collect();
        names.reverse();
        names.join("/")
    }
}

fn is_range(kind: SliceKind) -> bool {
    matches!(kind, SliceKind::Annotation | SliceKind::NvtxPushPop | SliceKind::NvtxStartEnd)
}

#[cfg(test)]
mod tests {
    use tracecard_model::fixture;

    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let trace = fixture(text).unwrap();
        let paths = RangePaths::new(&trace);
        let all: Vec<String> = paths
            .ranges()
            .map(|(slice, path)| format!("{} {}", trace.name(slice), paths.text(path)))
            .collect();
        assert_eq!(all, expected);
    }

    #[test]
    fn rounds_of_a_loop_share_a_path() {
        check(
            "thread 1 nvtx\n  nvtx_push_pop \"step 1\" 0 50\n  nvtx_push_pop fwd 10 20\n  nvtx_push_pop \"step 2\" 50 50\n  nvtx_push_pop fwd 60 20",
            &["step 1 step *", "fwd step */fwd", "step 2 step *", "fwd step */fwd"],
        );
    }

    #[test]
    fn annotations_see_through_operators() {
        check(
            "thread 1 ops\n  annotation outer 0 50\n  op aten::mm 10 30\n  annotation inner 15 10",
            &["outer outer", "inner outer/inner"],
        );
    }

    #[test]
    fn calls_of_libraries_and_time_on_cpus_are_no_ranges() {
        check(
            "thread 1 nvtx\n  nvtx_push_pop step 0 50\nthread 1 library\n  library MPI_Send 10 5\n\
             thread 1 scheduling\n  running \"CPU 0\" 0 50\nthread 1 device_other\n  other frame 10 20",
            &["step step"],
        );
    }

    #[test]
    fn domains_and_kinds_keep_paths_apart() {
        let text = "thread 1 nvtx\n  nvtx_push_pop x 0 10\n  nvtx_push_pop x 20 10 domain=lib\n\
                    thread 1 nvtx_start_end\n  nvtx_start_end x 0 10";
        let trace = fixture(text).unwrap();
        assert_eq!(RangePaths::new(&trace).nodes.len(), 3);
    }

    #[test]
    fn without_ranges_there_are_no_paths() {
        check("thread 1 ops\n  op x 0 5", &[]);
        check("", &[]);
    }
}
