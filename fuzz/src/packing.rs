//! Makes packed traces out of any bytes: gzip, zstd and zip in order, damaged, repeated, or claiming too much.

use std::io::{Cursor, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::choices::Choices;

/// The kind of archive whose members are not compressed.
const STORED: u8 = 4;

/// With these bytes behind the kind, a file unpacks to more than one of its size may. It takes seconds with all
/// checks on, so that libFuzzer should not come upon it by chance all the time; a seed has it.
pub const BOMB: [u8; 2] = [0xb0, 0x3b];

/// So often its last byte is repeated: gzip and zstd make less than a two-hundredth of it, so that the limit of
/// 64 MiB and 200 times the file is passed.
const BOMB_BYTES: usize = 100 << 20;

/// One file in 32 holds its text again and again: what takes time in proportion to the square of a length shows.
const REPEATED_ONE_IN: usize = 32;
const REPEATED_BYTES: usize = 1 << 20;

/// An archive out of any bytes.
pub fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut choices = Choices::new(bytes);
    let kind = choices.byte() % 8;
    // Stored members are as large as what they hold.
    let is_bomb = [choices.byte(), choices.byte()] == BOMB && kind != STORED;
    let n_members = 1 + choices.below(3);
    let is_repeated = choices.one_in(REPEATED_ONE_IN);
    let is_damaged = choices.one_in(3);
    let damage: [usize; 4] =
        std::array::from_fn(|_| usize::from(choices.byte()) << 8 | usize::from(choices.byte()));
    let rest = choices.rest();
    let text = match rest.first() {
        Some(b'{' | b'[' | b'P' | 0x1f | 0x28) => rest.to_vec(),
        _ => [b"{\"traceEvents\":[", rest].concat(),
    };
    let n_members = if is_bomb { 1 } else { n_members };
    let text = if is_bomb {
        let last = text.last().copied().unwrap_or(b' ');
        text.iter().copied().chain(std::iter::repeat_n(last, BOMB_BYTES)).collect()
    } else if is_repeated {
        text.iter().copied().cycle().take(REPEATED_BYTES).collect()
    } else {
        text
    };
    let mut file = match kind {
        0 | 1 => (0..n_members).flat_map(|_| gzip(&text)).collect(),
        2 => (0..n_members).flat_map(|_| zstd::encode_all(&*text, 1).unwrap_or_default()).collect(),
        3 | STORED => zipped(&text, n_members, kind != STORED).unwrap_or_default(),
        // Packed twice.
        5 => gzip(&gzip(&text)),
        6 => zipped(&gzip(&text), 1, true).unwrap_or_default(),
        // Nothing but a magic in front.
        _ => {
            const MAGICS: &[&[u8]] = &[b"\x1f\x8b\x08\0", b"\x28\xb5\x2f\xfd", b"PK\x03\x04", b"PK\x05\x06"];
            [MAGICS.get(damage[0] % MAGICS.len()).copied().unwrap_or_default(), rest].concat()
        }
    };
    if is_damaged {
        let [cut, at, other, byte] = damage;
        if cut.is_multiple_of(4) {
            file.truncate(file.len().saturating_sub(cut / 4 % 64));
        }
        let len = file.len();
        for at in [at, len.saturating_sub(other % 96)] {
            if let Some(place) = file.get_mut(at % len.max(1)) {
                *place = byte as u8;
            }
        }
    }
    file
}

fn gzip(text: &[u8]) -> Vec<u8> {
    // Quick compression makes no less than a hundredth of anything, and no bomb would pass the limit.
    let level = if text.len() < BOMB_BYTES { Compression::fast() } else { Compression::default() };
    let mut encoder = GzEncoder::new(Vec::new(), level);
    // Writing to memory does not fail.
    let _ = encoder.write_all(text);
    encoder.finish().unwrap_or_default()
}

fn zipped(text: &[u8], n_members: usize, is_deflated: bool) -> zip::result::ZipResult<Vec<u8>> {
    const NAMES: &[&str] = &["trace.json", "../../etc/x.json", "folder/"];
    let method = if is_deflated { CompressionMethod::Deflated } else { CompressionMethod::Stored };
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for name in NAMES.iter().take(n_members) {
        zip.start_file(*name, SimpleFileOptions::default().compression_method(method))?;
        zip.write_all(text)?;
    }
    Ok(zip.finish()?.into_inner())
}
