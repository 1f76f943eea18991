//! The block of texts: `{1: text}`, numbered from 0. Names of kernels, calls, threads.
//!
//! Captured output and the environment are among them; only texts that a record of something shown refers to
//! become part of the Trace.

use std::fs::File;

use super::message::{Damaged, repeated, take_bytes, take_varint};
use super::read::unpack;
use super::stream::Block;
use crate::{ImportError, Input};

/// All texts in order.
pub(super) fn read(
    input: &Input,
    file: &mut File,
    block: &Block,
    unknown: &dyn Fn(&str) -> ImportError,
) -> Result<Vec<Box<str>>, ImportError> {
    let bytes = unpack(input, file, block)?.ok_or_else(|| {
        input.unreadable(
            "the report is damaged: its texts cannot be unpacked; make the report or the copy again",
        )
    })?;
    texts(&bytes).map_err(|Damaged| unknown("its texts cannot be read"))
}

fn texts(mut block: &[u8]) -> Result<Vec<Box<str>>, Damaged> {
    let mut texts = Vec::new();
    while !block.is_empty() {
        let n_bytes = take_varint(&mut block)?;
        let message = take_bytes(&mut block, n_bytes)?;
        texts.extend(repeated(message, 1)?.into_iter().map(|text| String::from_utf8_lossy(text).into()));
    }
    Ok(texts)
}
