//! Writing protobuf messages field by field.

use prost::encoding::{WireType, encode_key, encode_varint};

/// A message under way.
#[derive(Debug, Default)]
pub(super) struct Message(pub(super) Vec<u8>);

impl Message {
    pub(super) fn int(mut self, field: u32, value: i64) -> Self {
        self.push_int(field, value);
        self
    }

    pub(super) fn bytes(mut self, field: u32, bytes: &[u8]) -> Self {
        self.push_bytes(field, bytes);
        self
    }

    pub(super) fn message(self, field: u32, message: &Self) -> Self {
        self.bytes(field, &message.0)
    }

    pub(super) fn push_int(&mut self, field: u32, value: i64) {
        encode_key(field, WireType::Varint, &mut self.0);
        encode_varint(value as u64, &mut self.0);
    }

    pub(super) fn push_bytes(&mut self, field: u32, bytes: &[u8]) {
        encode_key(field, WireType::LengthDelimited, &mut self.0);
        encode_varint(bytes.len() as u64, &mut self.0);
        self.0.extend_from_slice(bytes);
    }
}

/// A length and the bytes.
pub(super) fn with_length(bytes: &[u8], out: &mut Vec<u8>) {
    encode_varint(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

/// A packed block: `varint packed, varint unpacked, LZ4`, around one message with its length.
pub(super) fn block(message: &[u8], out: &mut Vec<u8>) {
    let mut unpacked = Vec::with_capacity(message.len() + 5);
    with_length(message, &mut unpacked);
    let packed = lz4_flex::block::compress(&unpacked);
    encode_varint(packed.len() as u64, out);
    encode_varint(unpacked.len() as u64, out);
    out.extend_from_slice(&packed);
}
