//! Names shortened as far as needed: first what says least goes, then the middle.
//!
//! ```text
//! void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>(at::native::ReduceOp<float>)
//!      at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>       without return type and parameters
//!      at::native::reduce_kernel                                            without template arguments
//!                  reduce_kernel                                            without namespaces
//!                  reduce…nel                                               without its middle
//! ```
//! The rule is that of Tracy (as much as needed, no more). The full name stays in tool-tips and copies.

use std::borrow::Cow;

use crate::text_width::TextWidth;

/// Signs kept at the least when a name loses its middle; shorter says nothing.
const MIN_SIGNS: usize = 3;

/// The longest form of a name that fits; `None` where not even three signs do.
pub fn fit<'a>(name: &'a str, width_pt: f32, text_width: &TextWidth) -> Option<Cow<'a, str>> {
    let mut last = name;
    for form in forms(name) {
        if text_width.of(form) <= width_pt {
            return Some(Cow::Borrowed(form));
        }
        last = form;
    }
    elide(last, width_pt, text_width).map(Cow::Owned)
}

/// The forms of a name, longest first.
pub fn forms(name: &str) -> [&str; 4] {
    if let Some(function) = python_function(name) {
        return [name, name, name, function];
    }
    let bare = without_parameters(name);
    let plain = without_templates(bare);
    let local = plain.rsplit("::").next().filter(|local| !local.is_empty()).unwrap_or(plain);
    [name, bare, plain, local]
}

/// A C++ function name without return type, template arguments, parameters and namespaces.
pub fn shortest(name: &str) -> &str {
    forms(name)[3]
}

/// `_call_impl` from `torch/nn/modules/module.py(1190): _call_impl`, as Python frames are named.
fn python_function(name: &str) -> Option<&str> {
    let (file, function) = name.split_once("): ")?;
    (file.contains(".py(") && !function.is_empty()).then_some(function)
}

/// Without `void ` before and `(…)` behind; names that are no C++ signature stay as they are.
fn without_parameters(name: &str) -> &str {
    let unreturned = name.strip_prefix("void ").unwrap_or(name);
    let unmarked = unreturned.split(" [").next().unwrap_or(unreturned);
    let Some(open) = top_level(unmarked, '(').filter(|open| 0 < *open) else { return unreturned };
    let (head, parameters) = unmarked.split_at(open);
    // `Memcpy HtoD (Pinned -> Device)`: a blank before the bracket is prose; `file.py(12)` is a line.
    let is_prose = head.ends_with(' ') || !parameters.ends_with(')');
    let is_line = parameters.trim_matches(['(', ')']).parse::<u64>().is_ok();
    if is_prose || is_line { unreturned } else { head }
}

/// Up to the first template bracket; `operator<` and names that start with a bracket stay.
fn without_templates(name: &str) -> &str {
    match name.find('<') {
        Some(open) if 0 < open && !name[..open].ends_with("operator") && name.ends_with('>') => {
            name[..open].trim_end()
        }
        _ => name,
    }
}

/// The first such sign that is inside no `<…>` and does not open `(anonymous namespace)`.
fn top_level(name: &str, wanted: char) -> Option<usize> {
    let mut depth = 0_i32;
    for (at, sign) in name.char_indices() {
        match sign {
            // `->` closes nothing.
            '>' if name[..at].ends_with('-') => {}
            '<' => depth += 1,
            '>' => depth -= 1,
            _ if sign == wanted && depth <= 0 && !name[at..].starts_with("(anonymous") => return Some(at),
            _ => {}
        }
    }
    None
}

/// With `…` for what does not fit. The start says more than the end: it gets two thirds. Short results
/// lose their end instead, because a torn word of four letters cannot be read.
fn elide(name: &str, width_pt: f32, text_width: &TextWidth) -> Option<String> {
    let room_pt = width_pt - text_width.of_char('…');
    let signs: Vec<char> = name.chars().collect();
    let count_within = |signs: &mut dyn Iterator<Item = &char>, room_pt: f32| {
        let mut used_pt = 0.0;
        signs
            .take_while(|sign| {
                used_pt += text_width.of_char(**sign);
                used_pt <= room_pt
            })
            .count()
    };
    let n_fit = count_within(&mut signs.iter(), room_pt);
    if n_fit < MIN_SIGNS {
        return None;
    }
    let n_end = if n_fit < 9 { 0 } else { count_within(&mut signs.iter().rev(), room_pt / 3.0) };
    let end = &signs[signs.len() - n_end.min(signs.len())..];
    let end_pt: f32 = end.iter().map(|sign| text_width.of_char(*sign)).sum();
    let n_start = count_within(&mut signs.iter(), room_pt - end_pt);
    let start = signs.get(..n_start)?;
    Some(start.iter().copied().chain(['…']).chain(end.iter().copied()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const REDUCE: &str =
        "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>(at::native::ReduceOp<float>)";

    fn fitted(name: &str, n_signs: usize) -> Option<String> {
        fit(name, n_signs as f32, &TextWidth::monospaced(1.0)).map(Cow::into_owned)
    }

    #[test]
    fn a_kernel_loses_parameters_then_templates_then_namespaces_then_its_middle() {
        assert_eq!(fitted(REDUCE, 200).unwrap(), REDUCE);
        assert_eq!(
            fitted(REDUCE, 70).unwrap(),
            "at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>"
        );
        assert_eq!(fitted(REDUCE, 30).unwrap(), "at::native::reduce_kernel");
        assert_eq!(fitted(REDUCE, 13).unwrap(), "reduce_kernel");
        assert_eq!(fitted(REDUCE, 12).unwrap(), "reduce_k…nel");
        assert_eq!(fitted(REDUCE, 6).unwrap(), "reduc…");
        assert_eq!(fitted(REDUCE, 4).unwrap(), "red…");
        assert_eq!(fitted(REDUCE, 3), None);
    }

    #[test]
    fn what_is_no_signature_keeps_its_brackets() {
        assert_eq!(shortest("Memcpy HtoD (Pinned -> Device)"), "Memcpy HtoD (Pinned -> Device)");
        assert_eq!(shortest("aten::mm"), "mm");
        assert_eq!(shortest("(anonymous namespace)::kernel<3>(int)"), "kernel");
        assert_eq!(
            shortest("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096>)"),
            "ncclDevKernel_AllReduce_Sum_bf16_RING_LL"
        );
        assert_eq!(shortest("<built-in method relu>"), "<built-in method relu>");
        assert_eq!(shortest("torch/nn/modules/module.py(1190): _call_impl"), "_call_impl");
        assert_eq!(shortest(""), "");
        assert_eq!(shortest("a::"), "a::");
        assert_eq!(shortest("enumerate(DataLoader)#_Iter.__next__"), "enumerate(DataLoader)#_Iter.__next__");
    }
}
