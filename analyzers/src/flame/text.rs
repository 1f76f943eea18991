//! Trees and stacks as text for other programs.

use super::tree::{FlameTree, Frame, Measure, NodeId};

/// Brendan Gregg's collapsed stacks: `outer;inner 12`, one line a node with weight of its own. Signs that
/// mean something there (`;`, line ends) become `:` and blanks.
pub fn folded(tree: &FlameTree) -> String {
    let mut out = String::new();
    // Where the text of each open node ends.
    let mut ends: Vec<usize> = Vec::new();
    let mut path = String::new();
    for node in tree.nodes() {
        ends.truncate(tree.depth(node));
        path.truncate(ends.last().copied().unwrap_or(0));
        if !path.is_empty() {
            path.push(';');
        }
        path.push_str(&plain(&tree.frame(node).name).replace(';', ":"));
        ends.push(path.len());
        if tree.own_weight(node) != 0 {
            out.push_str(&format!("{path} {}\n", tree.own_weight(node)));
        }
    }
    out
}

/// One frame a line, the outermost first.
pub fn stack_text(path: &[&Frame]) -> String {
    path.iter().map(|frame| format!("{}\n", plain(&frame.name))).collect()
}

/// All nodes as a table: depth, layer, total, self, count, share of all, name.
pub fn tsv(tree: &FlameTree) -> String {
    let unit = match tree.measure() {
        Measure::CpuNs | Measure::DeviceNs => "ns",
        Measure::Samples => "samples",
    };
    let mut out = format!("depth\tlayer\ttotal_{unit}\tself_{unit}\tcount\tshare_frac\tname\n");
    for node in tree.nodes() {
        let frame = tree.frame(node);
        out.push_str(&format!(
            "{}\t{}\t{}\t{}\t{}\t{}\t{}\n",
            tree.depth(node),
            frame.layer.text(),
            tree.weight(node),
            tree.own_weight(node),
            tree.count(node),
            share(tree, node).map_or_else(String::new, |share| format!("{share:.6}")),
            plain(&frame.name)
        ));
    }
    out
}

fn share(tree: &FlameTree, node: NodeId) -> Option<f64> {
    (0 < tree.total()).then(|| tree.weight(node) as f64 / tree.total() as f64)
}

/// On one line, in one cell.
fn plain(name: &str) -> String {
    name.replace(['\n', '\r', '\t'], " ")
}
