//! What makes two operator calls the same row: name, input shapes, element type.

use rustc_hash::FxHashMap;
use tracecard_model::{ArgsId, NameId, Names, SliceId, Trace};

use crate::attribution::Framework;
use crate::normalise::op_text;

/// Name, shapes and element type of an operator, interned in [`OpKeys`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct OpKey {
    name: NameId,
    shapes: Option<NameId>,
    dtype: Option<&'static str>,
}

/// Gives operators their keys; what repeats is read once.
pub(crate) struct OpKeys<'a> {
    trace: &'a Trace,
    framework: Framework,
    texts: Names,
    from_args: FxHashMap<ArgsId, (Option<NameId>, Option<&'static str>)>,
    from_name: Vec<Option<(NameId, Option<NameId>)>>,
}

impl<'a> OpKeys<'a> {
    pub(crate) fn new(trace: &'a Trace, framework: Framework) -> Self {
        let from_name = vec![None; trace.names.len()];
        Self { trace, framework, texts: Names::default(), from_args: FxHashMap::default(), from_name }
    }

    /// The key of an operator. `args` are those of its side row, where it has one.
    pub(crate) fn key(&mut self, slice: SliceId, args: Option<ArgsId>) -> OpKey {
        let trace = self.trace;
        let raw = trace.slices.names()[slice.idx()];
        let is_emitted = self.framework == Framework::EmitNvtx;
        let (name, sizes) = *self.from_name[raw.idx()].get_or_insert_with(|| {
            let text = trace.names.text(raw);
            if !is_emitted {
                return (self.texts.intern(text), None);
            }
            let parsed = op_text(text);
            let sizes = parsed.sizes.map(|sizes| self.texts.intern(&sizes.replace(' ', "")));
            (self.texts.intern(parsed.name), sizes)
        });
        let (shapes, dtype) = match args {
            Some(args) => *self.from_args.entry(args).or_insert_with(|| {
                let row = trace.args.get(args);
                let text = |id: Option<NameId>| id.map(|id| trace.args.text(id));
                let (dims, types) = (text(row.dims), text(row.types));
                (dims.map(|dims| self.texts.intern(dims)), types.and_then(|types| dtype(dims, types)))
            }),
            None => (sizes, None),
        };
        OpKey { name, shapes, dtype }
    }

    /// The operator's name.
    pub(crate) fn name(&self, key: OpKey) -> &str {
        self.texts.text(key.name)
    }

    /// The input shapes as JSON without blanks; `None` where they were not recorded.
    pub(crate) fn shapes(&self, key: OpKey) -> Option<&str> {
        key.shapes.map(|shapes| self.texts.text(shapes))
    }

    /// The element type as PyTorch calls it; `None` where types were not recorded or none is a tensor's.
    pub(crate) fn dtype(&self, key: OpKey) -> Option<&'static str> {
        key.dtype
    }
}

/// The element type that an operator works in: that of the first floating-point tensor among its inputs,
/// else of the first tensor. `dims` tells tensors from scalars of a tensor's type name.
fn dtype(dims: Option<&str>, types: &str) -> Option<&'static str> {
    let types: Vec<String> = text_items(types);
    let is_tensor: Vec<bool> =
        dims.map(top_items).unwrap_or_default().iter().map(|item| *item != "[]").collect();
    let known = || types.iter().enumerate().filter_map(|(idx, text)| Some((idx, type_name(text)?)));
    let with_dims =
        || known().filter(|(idx, _)| is_tensor.get(*idx).copied().unwrap_or(false)).map(|(_, name)| name);
    let is_float = |name: &&str| name.contains("float") || name.contains("complex");
    with_dims().find(is_float).or_else(|| with_dims().next()).or_else(|| known().next().map(|(_, name)| name))
}

/// PyTorch's name of an element type that a file spells in C++, which differs between platforms and versions
/// (`torch.md` 4.4). `None` for scalars, lists and what is unknown.
fn type_name(text: &str) -> Option<&'static str> {
    Some(match text {
        "float" => "float32",
        "double" => "float64",
        "c10::Half" => "float16",
        "c10::BFloat16" => "bfloat16",
        "c10::Float8_e4m3fn" => "float8_e4m3fn",
        "c10::Float8_e4m3fnuz" => "float8_e4m3fnuz",
        "c10::Float8_e5m2" => "float8_e5m2",
        "c10::Float8_e5m2fnuz" => "float8_e5m2fnuz",
        "c10::Float8_e8m0fnu" => "float8_e8m0fnu",
        "c10::Float4_e2m1fn_x2" => "float4_e2m1fn_x2",
        "c10::complex<float>" => "complex64",
        "c10::complex<double>" => "complex128",
        "c10::complex<c10::Half>" => "complex32",
        "long int" | "long" | "__int64" | "long long" => "int64",
        "int" => "int32",
        "short int" | "short" => "int16",
        "signed char" => "int8",
        "unsigned char" => "uint8",
        "short unsigned int" | "unsigned short" => "uint16",
        "unsigned int" => "uint32",
        "long unsigned int" | "unsigned long" | "unsigned __int64" | "unsigned long long" => "uint64",
        "bool" => "bool",
        "c10::qint8" => "qint8",
        "c10::quint8" => "quint8",
        "c10::qint32" => "qint32",
        _ => return None,
    })
}

/// The items of a JSON list of texts. Types hold no escapes.
fn text_items(json: &str) -> Vec<String> {
    let inner = json.trim().trim_start_matches('[').trim_end_matches(']');
    if inner.is_empty() {
        return Vec::new();
    }
    inner.split(',').map(|item| item.trim().trim_matches('"').to_owned()).collect()
}

/// The items of a JSON list of lists, as text.
fn top_items(json: &str) -> Vec<&str> {
    let Some(inner) = json.trim().strip_prefix('[').and_then(|json| json.strip_suffix(']')) else {
        return Vec::new();
    };
    let mut items = Vec::new();
    let (mut depth, mut start) = (0_i32, 0);
    for (at, c) in inner.char_indices() {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            ',' if depth == 0 => {
                items.push(&inner[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    if !inner.is_empty() {
        items.push(&inner[start..]);
    }
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(dims: &str, types: &str, expected: Option<&str>) {
        assert_eq!(dtype(Some(dims), types), expected, "{dims} {types}");
    }

    #[test]
    fn the_first_floating_tensor_decides() {
        check("[[4,8],[8,2]]", r#"["float","float"]"#, Some("float32"));
        check("[[2,3],[10,4]]", r#"["long int","c10::BFloat16"]"#, Some("bfloat16"));
        check("[[2,3],[]]", r#"["c10::Half","double"]"#, Some("float16"));
        check("[[2,3],[]]", r#"["long int","Scalar"]"#, Some("int64"));
        check("[[],[]]", r#"["double","Scalar"]"#, Some("float64"));
    }

    #[test]
    fn platforms_spell_one_type_differently() {
        for text in ["long int", "long", "__int64", "long long"] {
            check("[[2]]", &format!("[\"{text}\"]"), Some("int64"));
        }
    }

    #[test]
    fn scalars_and_lists_have_no_type() {
        check("[[],[]]", r#"["Scalar","ScalarList"]"#, None);
        check("[[[1,2],[3,4]],[]]", r#"["TensorList",""]"#, None);
        check("[]", "[]", None);
        assert_eq!(dtype(None, r#"["float"]"#), Some("float32"));
    }

    #[test]
    fn lists_are_split_at_their_top() {
        assert_eq!(top_items("[[1,2],[],[[3],[4]]]"), ["[1,2]", "[]", "[[3],[4]]"]);
        assert_eq!(top_items("[]"), [""; 0]);
        assert_eq!(top_items("nonsense"), [""; 0]);
    }
}
