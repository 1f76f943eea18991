//! Passes over a value of the top level that is too long to be kept, in as many pieces as it comes.

/// How far into the value the passing is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Skip {
    depth: u32,
    is_in_string: bool,
    is_escaped: bool,
}

impl Skip {
    /// Where in the text the value ends; `None` when it goes on behind it.
    pub(super) fn pass(&mut self, text: &[u8]) -> Option<usize> {
        for (at, byte) in text.iter().enumerate() {
            if self.depth == 0 && !self.is_in_string && matches!(byte, b',' | b'}' | b']') {
                return Some(at);
            }
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' => self.is_escaped = self.is_in_string,
                b'"' => self.is_in_string = !self.is_in_string,
                b'[' | b'{' if !self.is_in_string => self.depth = self.depth.saturating_add(1),
                b']' | b'}' if !self.is_in_string => self.depth -= 1,
                _ => {}
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_passed_in_any_number_of_pieces() {
        let text = br#"[{"a\\\"]": "]"}, [1]], "next": 1"#;
        let end = text.len() - br#", "next": 1"#.len();
        assert_eq!(Skip::default().pass(text), Some(end));
        for cut in 0..end {
            let mut skip = Skip::default();
            assert_eq!(skip.pass(&text[..cut]), None);
            assert_eq!(skip.pass(&text[cut..]), Some(end - cut));
        }
    }
}
