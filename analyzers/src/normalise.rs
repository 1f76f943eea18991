//! Names of one meaning: what tools append to a name is taken off, counters become `*`.

use std::borrow::Cow;

/// An API call without the version that CUPTI appends and the mark of per-thread default streams:
/// `cudaMemcpyAsync_v3020` and `cudaMemcpyAsync_ptsz_v7000` are `cudaMemcpyAsync`. A version of one digit is
/// part of the driver's own name (`cuMemAlloc_v2`) and stays.
pub fn api_name(name: &str) -> &str {
    let is_version = |text: &str| 4 <= text.len() && text.bytes().all(|b| b.is_ascii_digit());
    let name = match name.rsplit_once("_v") {
        Some((head, version)) if is_version(version) => head,
        _ => name,
    };
    name.strip_suffix("_ptsz").or_else(|| name.strip_suffix("_ptds")).unwrap_or(name)
}

/// What PyTorch's `emit_nvtx` writes into one range text:
/// `aten::mm, seq = 12, op_id = 34, sizes = [[4, 8], [8, 2]], input_op_ids = [(1,0)]`
/// (`torch/csrc/profiler/util.cpp`, `getNvtxStr`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OpText<'a> {
    /// `aten::mm`
    pub(crate) name: &'a str,
    /// `[[4, 8], [8, 2]]`; `None` where shapes were not recorded.
    pub(crate) sizes: Option<&'a str>,
    /// Did the text carry what only `emit_nvtx` writes?
    pub(crate) is_marked: bool,
}

/// Take such a text apart; a text of anything else is its own name.
pub(crate) fn op_text(text: &str) -> OpText<'_> {
    let end = mark_at(text);
    let (name, rest) = text.split_at(end.unwrap_or(text.len()));
    let sizes = rest.split_once(", sizes = ").map(|(_, sizes)| balanced(sizes)).filter(|s| !s.is_empty());
    OpText { name, sizes, is_marked: end.is_some() }
}

/// Only the name of such a text: not all of a long text is read for it.
pub(crate) fn op_name(text: &str) -> &str {
    text.split_at(mark_at(text).unwrap_or(text.len())).0
}

/// Where `emit_nvtx` began to append to the name.
fn mark_at(text: &str) -> Option<usize> {
    const MARKS: &[&str] = &["op_id = ", "seq = ", "sizes = ", "input_op_ids = "];
    let is_mark = |at: &usize| {
        let rest = text.get(at + 1..).and_then(|rest| rest.strip_prefix(' '));
        rest.is_some_and(|rest| MARKS.iter().any(|mark| rest.starts_with(mark)))
    };
    text.bytes().enumerate().filter(|(_, byte)| *byte == b',').map(|(at, _)| at).find(is_mark)
}

/// The leading `[…]` with its inner brackets; all of it where they do not close.
fn balanced(text: &str) -> &str {
    let mut depth = 0_i32;
    for (at, c) in text.char_indices() {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        if depth <= 0 {
            return if c == ']' { &text[..=at] } else { &text[..at] };
        }
    }
    text
}

/// Is the text that of a framework operator or of its inner workings rather than of a user's range?
pub(crate) fn is_framework_range(text: &str) -> bool {
    const PREFIXES: &[&str] =
        &["aten::", "nccl", "autograd::", "torch::autograd", "c10d::", "prim::", "prims::"];
    let name = op_name(text);
    let is_autograd_node =
        name.trim_end_matches(|c: char| c.is_ascii_digit()).ends_with("Backward") && !name.contains(' ');
    is_autograd_node || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// A range's text without what `emit_nvtx` appends and with counters as `*`, so that all rounds of a loop
/// have one name: `iteration 12` is `iteration *`, `layer_3` is `layer_*`, `conv2d` stays.
pub fn range_name(text: &str) -> Cow<'_, str> {
    let name = op_name(text);
    if !name.bytes().any(|b| b.is_ascii_digit()) {
        return Cow::Borrowed(name);
    }
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, from) = rest.split_at(start);
        out.push_str(before);
        let hex = from.strip_prefix("0x").map(|digits| 2 + run_len(digits, |c| c.is_ascii_hexdigit()));
        let len = hex.unwrap_or_else(|| run_len(from, |c| c.is_ascii_digit()));
        let (digits, after) = from.split_at(len);
        let ends_word = !after.starts_with(char::is_alphanumeric);
        out.push_str(if ends_word && is_before_counter(&out) { "*" } else { digits });
        rest = after;
    }
    out.push_str(rest);
    Cow::Owned(out)
}

fn run_len(text: &str, is_in: impl Fn(char) -> bool) -> usize {
    text.find(|c| !is_in(c)).unwrap_or(text.len())
}

/// Digits count something when no letter stands before them, or a word for rounds of a loop does.
fn is_before_counter(before: &str) -> bool {
    const ROUNDS: &[&str] =
        &["step", "iter", "iteration", "epoch", "batch", "microbatch", "frame", "request"];
    let word_start = before.trim_end_matches(char::is_alphabetic).len();
    let word = &before[word_start..];
    word.is_empty() && !before.ends_with('*') || ROUNDS.iter().any(|round| word.eq_ignore_ascii_case(round))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(range_name(text), expected);
    }

    #[test]
    fn counters_become_one_name() {
        check("iteration 12", "iteration *");
        check("layer_3", "layer_*");
        check("block.11.mlp", "block.*.mlp");
        check("ProfilerStep#3", "ProfilerStep#*");
        check("step12", "step*");
        check("Epoch12", "Epoch*");
        check("microbatch-3 of 8", "microbatch-* of *");
        check("7", "*");
        check("buffer 0x7f3aB0", "buffer *");
        check("größe 5 漢字7", "größe * 漢字7");
    }

    #[test]
    fn digits_that_belong_to_a_word_stay() {
        check("conv2d", "conv2d");
        check("fp16 matmul 1024x512", "fp16 matmul 1024x512");
        check("3d_conv", "3d_conv");
        check("MmBackward0", "MmBackward0");
        check("forward", "forward");
        check("", "");
    }

    #[test]
    fn what_emit_nvtx_appends_goes() {
        let text = "aten::mm, seq = 12, op_id = 34, sizes = [[4, 8], [8, 2]], input_op_ids = [(1,0), (2,0)]";
        check(text, "aten::mm");
        let parsed = op_text(text);
        assert_eq!(parsed, OpText { name: "aten::mm", sizes: Some("[[4, 8], [8, 2]]"), is_marked: true });
        assert_eq!(op_text("x, op_id = 1").sizes, None);
        assert_eq!(op_text("x, sizes = []").sizes, Some("[]"));
        assert_eq!(op_text("x, sizes = [[1, 2").sizes, Some("[[1, 2"));
        assert_eq!(op_text("x, sizes = y").sizes, None);
        assert!(!op_text("forward, then backward").is_marked);
    }

    #[test]
    fn framework_ranges_are_told_from_a_users() {
        for text in [
            "aten::mm, op_id = 3",
            "ncclAllReduce",
            "MmBackward0, seq = 1",
            "autograd::engine::evaluate_function: X",
        ] {
            assert!(is_framework_range(text), "{text}");
        }
        for text in ["forward", "FSDP::pre_forward (shared), op_id = 1", "Backward pass", "step 3"] {
            assert!(!is_framework_range(text), "{text}");
        }
    }

    #[test]
    fn api_names_lose_their_version_only() {
        assert_eq!(api_name("cudaMemcpyAsync_v3020"), "cudaMemcpyAsync");
        assert_eq!(api_name("cudaLaunchKernelExC_v11060"), "cudaLaunchKernelExC");
        assert_eq!(api_name("cudaMemcpyAsync_ptsz_v7000"), "cudaMemcpyAsync");
        assert_eq!(api_name("cudaGetDeviceProperties_v2_v12000"), "cudaGetDeviceProperties_v2");
        assert_eq!(api_name("cuMemAlloc_v2"), "cuMemAlloc_v2");
        assert_eq!(api_name("hipLaunchKernel"), "hipLaunchKernel");
        assert_eq!(api_name("some_vector"), "some_vector");
        assert_eq!(api_name("x_v"), "x_v");
    }
}
