//! Turns the bytes of libFuzzer into choices; when they run out, every choice is the first one.

use libfuzzer_sys::arbitrary::Unstructured;

/// A source of choices.
pub struct Choices<'a>(Unstructured<'a>);

impl<'a> Choices<'a> {
    /// From the bytes of libFuzzer.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(Unstructured::new(bytes))
    }

    /// Are there more bytes?
    pub fn is_more(&self) -> bool {
        !self.0.is_empty()
    }

    /// A byte; 0 at the end.
    pub fn byte(&mut self) -> u8 {
        self.0.arbitrary().unwrap_or(0)
    }

    /// Below `n`; 0 for `n` = 0.
    pub fn below(&mut self, n: usize) -> usize {
        if n < 2 { 0 } else { self.0.int_in_range(0..=n - 1).unwrap_or(0) }
    }

    /// True once in about `n` times; false at the end.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.is_more() && self.below(n) + 1 == n
    }

    /// One of a list that is not empty.
    pub fn one_of<T: Copy>(&mut self, list: &[T]) -> Option<T> {
        list.get(self.below(list.len())).copied()
    }

    /// A few bytes as they are.
    pub fn bytes(&mut self, at_most: usize) -> &'a [u8] {
        let n = self.below(at_most + 1).min(self.0.len());
        self.0.bytes(n).unwrap_or_default()
    }

    /// All that is left.
    pub fn rest(self) -> &'a [u8] {
        self.0.take_rest()
    }

    /// A whole number of the kind that breaks things: mostly small, sometimes at an edge, sometimes any.
    pub fn int(&mut self) -> i64 {
        const EDGES: &[i64] = &[
            0,
            1,
            -1,
            i64::MAX,
            i64::MIN,
            i64::MAX - 1,
            i64::MIN + 1,
            1 << 31,
            (1 << 31) - 1,
            -(1 << 31),
            1 << 32,
            (1 << 32) - 1,
            1 << 53,
            1 << 61,
            1 << 62,
            -(1 << 62),
            u16::MAX as i64,
            u16::MAX as i64 + 1,
        ];
        match self.byte() {
            0..=159 => i64::from(self.byte()),
            160..=215 => EDGES.get(self.below(EDGES.len())).copied().unwrap_or(0),
            216..=235 => i64::from(self.0.arbitrary::<i32>().unwrap_or(0)),
            _ => self.0.arbitrary().unwrap_or(0),
        }
    }
}
