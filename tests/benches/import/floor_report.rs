//! The floor of reports: blocks unpacked, and each field of each event looked at, nothing kept.

use std::error::Error;
use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

use prost::encoding::{WireType, decode_key, decode_varint};

/// An error that threads may hand over.
pub(crate) type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// Fields with such numbers hold nested messages: payloads, and parts of them.
const NESTED_FROM: u32 = 100;

/// Events as the report itself counts them, generic ones among them.
pub(crate) fn n_events(report: &Path) -> Result<u64> {
    let file = fs::read(report)?;
    let mut data = section(&file, b"Raw Sampling Data")?.get(8..).ok_or("no data")?;
    take_message(&mut data)?;
    let mut layout = take_message(&mut data)?;
    let mut n = 0;
    while let Some((number, field)) = take_field(&mut layout)? {
        if let (1 | 15, Field::Int(value)) = (number, field) {
            n += value;
        }
    }
    Ok(n)
}

/// Unpack and walk all blocks on so many threads.
pub(crate) fn walk(report: &Path, n_threads: usize) -> Result<()> {
    let file = fs::read(report)?;
    let blocks = blocks(&file)?;
    let next = AtomicUsize::new(0);
    let work = || -> Result<()> {
        let mut sum = 0_u64;
        while let Some((packed, unpacked_bytes)) = blocks.get(next.fetch_add(1, Relaxed)) {
            let block = lz4_flex::block::decompress(packed, *unpacked_bytes)?;
            let mut rest = &*block;
            while !rest.is_empty() {
                let mut message = take_message(&mut rest)?;
                while let Some((_, field)) = take_field(&mut message)? {
                    if let Field::Bytes(event) = field {
                        sum = sum.wrapping_add(sum_fields(event)?);
                    }
                }
            }
        }
        black_box(sum);
        Ok(())
    };
    thread::scope(|scope| -> Result<()> {
        let workers: Vec<_> = (0..n_threads).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            worker.join().map_err(|_| "a thread of the floor died")??;
        }
        Ok(())
    })
}

fn sum_fields(mut message: &[u8]) -> Result<u64> {
    let mut sum = 0_u64;
    while let Some((number, field)) = take_field(&mut message)? {
        sum = sum.wrapping_add(match field {
            Field::Int(value) => value,
            Field::Bytes(bytes) if NESTED_FROM <= number => sum_fields(bytes)?,
            Field::Bytes(bytes) => bytes.len() as u64,
        });
    }
    Ok(sum)
}

/// Packed bytes and unpacked size of each block of events.
fn blocks(file: &[u8]) -> Result<Vec<(&[u8], usize)>> {
    let data = section(file, b"Raw Sampling Data")?;
    let mut offsets = section(file, b"Sampling Data Offsets")?;
    let mut texts_at = 0;
    while let Some((number, field)) = take_field(&mut offsets)? {
        if let (2, Field::Int(at)) = (number, field) {
            texts_at = at as usize + 8;
        }
    }
    let mut rest = data.get(8..texts_at).ok_or("the texts lie outside the data")?;
    take_message(&mut rest)?;
    take_message(&mut rest)?;
    let mut blocks = Vec::new();
    while !rest.is_empty() {
        let (packed_bytes, unpacked_bytes) = (decode_varint(&mut rest)?, decode_varint(&mut rest)?);
        blocks.push((take(&mut rest, packed_bytes)?, unpacked_bytes as usize));
    }
    Ok(blocks)
}

fn section<'a>(file: &'a [u8], wanted: &[u8]) -> Result<&'a [u8]> {
    let trailer_at = file.len().checked_sub(16).ok_or("no report")?;
    let toc_at = file.get(trailer_at..trailer_at + 8).and_then(|at| at.try_into().ok()).ok_or("no report")?;
    let mut toc = file.get(u64::from_le_bytes(toc_at) as usize..trailer_at).ok_or("no table of contents")?;
    while let Some((_, field)) = take_field(&mut toc)? {
        let Field::Bytes(mut entry) = field else { continue };
        let (mut name, mut at, mut n_bytes) = (&[][..], 0, 0);
        while let Some((number, field)) = take_field(&mut entry)? {
            match (number, field) {
                (1, Field::Bytes(bytes)) => name = bytes,
                (2, Field::Int(value)) => at = value as usize,
                (3, Field::Int(value)) => n_bytes = value as usize,
                _ => {}
            }
        }
        if name == wanted {
            return Ok(file.get(at..at + n_bytes).ok_or("a section lies outside the file")?);
        }
    }
    Err("a section is missing".into())
}

enum Field<'a> {
    Int(u64),
    Bytes(&'a [u8]),
}

fn take_field<'a>(bytes: &mut &'a [u8]) -> Result<Option<(u32, Field<'a>)>> {
    if bytes.is_empty() {
        return Ok(None);
    }
    let (number, wire) = decode_key(bytes)?;
    let field = match wire {
        WireType::Varint => Field::Int(decode_varint(bytes)?),
        WireType::LengthDelimited => Field::Bytes(take_message(bytes)?),
        WireType::SixtyFourBit => Field::Bytes(take(bytes, 8)?),
        WireType::ThirtyTwoBit => Field::Bytes(take(bytes, 4)?),
        _ => return Err("a group".into()),
    };
    Ok(Some((number, field)))
}

fn take_message<'a>(bytes: &mut &'a [u8]) -> Result<&'a [u8]> {
    let n = decode_varint(bytes)?;
    take(bytes, n)
}

fn take<'a>(bytes: &mut &'a [u8], n: u64) -> Result<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(n as usize).ok_or("cut off")?;
    *bytes = rest;
    Ok(taken)
}
