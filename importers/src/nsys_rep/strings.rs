//! The block of texts: `{1: text}`, numbered from 0. Names of kernels, calls, threads.
//!
//! Captured output and the environment are among them; only texts that a record of something shown refers to
//! become part of the Trace.

use std::fs::File;

use super::message::{Damaged, Value, each_field, take_bytes, take_varint};
use super::read::{Buffers, unpack};
use super::stream::Stream;
use crate::nsys_tables::Strings;
use crate::{ImportError, Input};

/// All texts by number. As many as the layout counts, which is checked before memory is taken for them: an
/// empty text takes two bytes in the file.
pub(super) fn read(
    input: &Input,
    file: &mut File,
    stream: &Stream,
    unknown: &dyn Fn(&str) -> ImportError,
) -> Result<Strings, ImportError> {
    let mut buffers = Buffers::default();
    let bytes = unpack(input, file, &stream.strings, &mut buffers)?.ok_or_else(|| {
        input.unreadable(
            "the report is damaged: its texts cannot be unpacked; make the report or the copy again",
        )
    })?;
    let damaged = |Damaged| unknown("its texts cannot be read");
    let mut n_found = 0;
    each_text(bytes, |_| n_found += 1).map_err(damaged)?;
    let n_counted = stream.layout.n_strings;
    if n_counted != n_found {
        return Err(unknown(&format!("it counts {n_counted} texts and holds {n_found}")));
    }
    let mut strings = Strings::numbered();
    each_text(bytes, |text| strings.push(&String::from_utf8_lossy(text))).map_err(damaged)?;
    Ok(strings)
}

fn each_text(mut block: &[u8], mut each: impl FnMut(&[u8])) -> Result<(), Damaged> {
    while !block.is_empty() {
        let n_bytes = take_varint(&mut block)?;
        let message = take_bytes(&mut block, n_bytes)?;
        each_field(message, |number, value| {
            if let (1, Value::Bytes(text)) = (number, value) {
                each(text);
            }
        })?;
    }
    Ok(())
}
