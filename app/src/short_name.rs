//! Names shortened as far as needed: first what says least goes, then the middle.
//!
//! ```text
//! void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>(int, …)
//!      at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>   without parameters
//!                  vectorized_elementwise_kernel<CUDAFunctor_add>        the one argument that tells it apart
//!                  vectorized_elementwise_kernel                         without arguments
//!                  vectorized_elem…nel                                   without its middle
//! ```
//! The rule is that of Tracy (as much as needed, no more). The full name stays in tool-tips and copies.

use std::borrow::Cow;

use crate::text_width::TextWidth;

/// Signs kept at the least when a name loses its middle; shorter says nothing.
const MIN_SIGNS: usize = 3;

/// The longest form of a name that fits; `None` where not even three signs do.
pub fn fit<'a>(name: &'a str, width_pt: f32, text_width: &TextWidth) -> Option<Cow<'a, str>> {
    let mut last = Cow::Borrowed(name);
    for form in forms(name) {
        if text_width.of(&form) <= width_pt {
            return Some(form);
        }
        last = form;
    }
    elide(&last, width_pt, text_width).map(Cow::Owned)
}

/// A function name without return type, namespaces and parameters, and of its template arguments only the
/// one that tells it apart.
pub fn short(name: &str) -> Cow<'_, str> {
    let [_, _, short, _] = forms(name);
    short
}

/// The forms of a name, longest first.
fn forms(name: &str) -> [Cow<'_, str>; 4] {
    if let Some(function) = python_function(name) {
        return [name, name, function, function].map(Cow::Borrowed);
    }
    let bare = without_parameters(name);
    let local = without_templates(bare).rsplit("::").next().unwrap_or(bare);
    let local = if local.is_empty() { bare } else { local };
    let telling = if local.len() < bare.len() && bare.ends_with('>') {
        let named = bare.replace(UNNAMED, "");
        Cow::Owned(tracecard_analyzers::short_name(&named))
    } else {
        Cow::Borrowed(local)
    };
    [Cow::Borrowed(name), Cow::Borrowed(bare), telling, Cow::Borrowed(local)]
}

/// How one demangler writes an anonymous namespace.
const UNNAMED: &str = "<unnamed>::";

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

/// Up to the template bracket that is closed at the end; `operator<` and `<unnamed>` stay.
fn without_templates(name: &str) -> &str {
    if !name.ends_with('>') {
        return name;
    }
    let mut depth = 0_i32;
    for (at, sign) in name.char_indices().rev() {
        match sign {
            '>' if !name[..at].ends_with('-') => depth += 1,
            '<' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            let head = name[..at].trim_end();
            let is_argument_list = !head.is_empty() && !head.ends_with("operator") && !head.ends_with("::");
            return if is_argument_list { head } else { name };
        }
    }
    name
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

    const ADD: &str =
        "void at::native::elementwise_kernel<4, at::native::CUDAFunctor_add<float>>(int, float*)";

    fn fitted(name: &str, n_signs: usize) -> Option<String> {
        fit(name, n_signs as f32, &TextWidth::monospaced(1.0)).map(Cow::into_owned)
    }

    #[test]
    fn a_kernel_loses_parameters_then_namespaces_then_arguments_then_its_middle() {
        assert_eq!(fitted(ADD, 200).unwrap(), ADD);
        assert_eq!(
            fitted(ADD, 75).unwrap(),
            "at::native::elementwise_kernel<4, at::native::CUDAFunctor_add<float>>"
        );
        assert_eq!(fitted(ADD, 40).unwrap(), "elementwise_kernel<CUDAFunctor_add>");
        assert_eq!(fitted(ADD, 18).unwrap(), "elementwise_kernel");
        assert_eq!(fitted(ADD, 12).unwrap(), "elementw…nel");
        assert_eq!(fitted(ADD, 6).unwrap(), "eleme…");
        assert_eq!(fitted(ADD, 4).unwrap(), "ele…");
        assert_eq!(fitted(ADD, 3), None);
    }

    #[test]
    fn what_is_no_signature_keeps_its_brackets() {
        for (name, expected) in [
            ("Memcpy HtoD (Pinned -> Device)", "Memcpy HtoD (Pinned -> Device)"),
            ("aten::mm", "mm"),
            ("(anonymous namespace)::kernel<3>(int)", "kernel"),
            ("void at::native::<unnamed>::fill<float, (int)4>(int)", "fill"),
            (
                "ncclDevKernel_AllReduce_RING_LL(ncclDevKernelArgsStorage<4096>)",
                "ncclDevKernel_AllReduce_RING_LL",
            ),
            ("<built-in method relu>", "<built-in method relu>"),
            ("torch/nn/modules/module.py(1190): _call_impl", "_call_impl"),
            ("enumerate(DataLoader)#_Iter.__next__", "enumerate(DataLoader)#_Iter.__next__"),
            ("cutlass::Kernel2<cutlass_80_tensorop_128x64>(Params)", "Kernel2"),
            ("", ""),
            ("a::", "a::"),
        ] {
            assert_eq!(short(name), expected, "{name}");
        }
    }
}
