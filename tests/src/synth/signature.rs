//! Input signatures of operators: built once per run, rendered once, named by a small id ever after.

use std::fmt::Write as _;

/// Names a signature in [`Signatures`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SignatureId(usize);

/// The element type of a tensor.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Dtype {
    Bf16,
    Float,
    Long,
}

impl Dtype {
    /// The demangled C++ name, as torch writes it on Linux.
    fn cpp_name(self) -> &'static str {
        match self {
            Self::Bf16 => "c10::BFloat16",
            Self::Float => "float",
            Self::Long => "long int",
        }
    }

    pub(crate) fn size_bytes(self) -> i64 {
        match self {
            Self::Bf16 => 2,
            Self::Float => 4,
            Self::Long => 8,
        }
    }
}

/// One argument of an operator.
#[derive(Clone, Debug)]
pub(crate) enum Input {
    /// A dense tensor.
    Tensor(Dtype, Vec<i64>),
    /// A matrix seen transposed: the last two strides are swapped.
    Transposed(Dtype, Vec<i64>),
    /// Several dense tensors.
    Tensors(Vec<Vec<i64>>),
    /// A number or boolean, as torch prints it.
    Scalar(&'static str),
    /// A list of integers.
    List(Vec<i64>),
    /// `None`, or something torch does not describe.
    Nothing,
}

/// A signature, rendered for both formats.
#[derive(Debug)]
pub(crate) struct Signature {
    /// The four argument entries of a chrome event, without braces.
    pub(crate) chrome_args: String,
    /// The list after `sizes = ` in an NVTX range.
    pub(crate) sizes: String,
}

/// All signatures of a run.
#[derive(Debug, Default)]
pub(crate) struct Signatures {
    rendered: Vec<Signature>,
}

impl Signatures {
    /// Renders and keeps a signature.
    pub(crate) fn add(&mut self, inputs: &[Input]) -> SignatureId {
        self.rendered.push(render(inputs));
        SignatureId(self.rendered.len() - 1)
    }

    pub(crate) fn get(&self, id: SignatureId) -> &Signature {
        &self.rendered[id.0]
    }
}

fn render(inputs: &[Input]) -> Signature {
    let mut concrete = Vec::new();
    let mut types = Vec::new();
    let mut strides = Vec::new();
    let mut dims = Vec::new();
    for input in inputs {
        let (value, cpp_type, stride_text, dim_text) = match input {
            Input::Tensor(dtype, shape) => {
                (String::new(), dtype.cpp_name(), list(&dense_strides(shape)), list(shape))
            }
            Input::Transposed(dtype, shape) => {
                (String::new(), dtype.cpp_name(), list(&transposed_strides(shape)), list(shape))
            }
            Input::Tensors(shapes) => {
                let all_strides: Vec<_> = shapes.iter().map(|shape| list(&dense_strides(shape))).collect();
                let all_dims: Vec<_> = shapes.iter().map(|shape| list(shape)).collect();
                (String::new(), "TensorList", bracket(&all_strides), bracket(&all_dims))
            }
            Input::Scalar(value) => ((*value).to_owned(), "Scalar", list(&[]), list(&[])),
            Input::List(values) => (list(values), "ScalarList", list(&[]), list(&[])),
            Input::Nothing => (String::new(), "", list(&[]), list(&[])),
        };
        concrete.push(format!("\"{value}\""));
        types.push(format!("\"{cpp_type}\""));
        strides.push(stride_text);
        dims.push(dim_text);
    }
    Signature {
        chrome_args: format!(
            "\"Concrete Inputs\": {}, \"Input type\": {}, \"Input Strides\": {}, \"Input Dims\": {}",
            bracket(&concrete),
            bracket(&types),
            bracket(&strides),
            bracket(&dims)
        ),
        sizes: bracket(&dims),
    }
}

/// Strides of a tensor whose last dimension is contiguous.
fn dense_strides(shape: &[i64]) -> Vec<i64> {
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis];
    }
    strides
}

/// Strides of a matrix that is the transpose of a dense one.
fn transposed_strides(shape: &[i64]) -> Vec<i64> {
    match shape {
        [rows, _] => vec![1, *rows],
        _ => dense_strides(shape),
    }
}

fn list(values: &[i64]) -> String {
    let mut text = String::from("[");
    for (idx, value) in values.iter().enumerate() {
        let comma = if idx == 0 { "" } else { ", " };
        // Writing to a String cannot fail.
        let _ = write!(text, "{comma}{value}");
    }
    text.push(']');
    text
}

fn bracket(parts: &[String]) -> String {
    format!("[{}]", parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::{Dtype, Input, Signatures};

    #[test]
    fn a_signature_reads_as_torch_writes_it() {
        let mut signatures = Signatures::default();
        let id = signatures.add(&[
            Input::Tensor(Dtype::Bf16, vec![3]),
            Input::Tensor(Dtype::Bf16, vec![2, 4, 5]),
            Input::Transposed(Dtype::Bf16, vec![5, 3]),
            Input::Scalar("1"),
            Input::List(vec![-1, 5]),
            Input::Nothing,
        ]);
        let signature = signatures.get(id);
        assert_eq!(
            signature.chrome_args,
            r#""Concrete Inputs": ["", "", "", "1", "[-1, 5]", ""], "Input type": ["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "Scalar", "ScalarList", ""], "Input Strides": [[1], [20, 5, 1], [1, 5], [], [], []], "Input Dims": [[3], [2, 4, 5], [5, 3], [], [], []]"#
        );
        assert_eq!(signature.sizes, "[[3], [2, 4, 5], [5, 3], [], [], []]");
    }
}
