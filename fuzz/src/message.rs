//! Writes protobuf messages field by field.

use prost::encoding::{WireType, encode_key, encode_varint};

/// A message as its bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message(pub Vec<u8>);

impl Message {
    /// With a number; a negative one takes ten bytes.
    #[must_use]
    pub fn int(mut self, field: u32, value: i64) -> Self {
        encode_key(field, WireType::Varint, &mut self.0);
        encode_varint(value as u64, &mut self.0);
        self
    }

    /// With a number, if there is one.
    #[must_use]
    pub fn maybe(self, field: u32, value: Option<i64>) -> Self {
        match value {
            Some(value) => self.int(field, value),
            None => self,
        }
    }

    /// With a text or packed numbers.
    #[must_use]
    pub fn bytes(mut self, field: u32, bytes: &[u8]) -> Self {
        encode_key(field, WireType::LengthDelimited, &mut self.0);
        encode_varint(bytes.len() as u64, &mut self.0);
        self.0.extend_from_slice(bytes);
        self
    }

    /// With a nested message.
    #[must_use]
    pub fn message(self, field: u32, message: &Self) -> Self {
        self.bytes(field, &message.0)
    }

    /// With a double.
    #[must_use]
    pub fn double(mut self, field: u32, value: f64) -> Self {
        encode_key(field, WireType::SixtyFourBit, &mut self.0);
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    /// Append bytes that may be no field at all.
    #[must_use]
    pub fn raw(mut self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(bytes);
        self
    }
}

/// A length, then the bytes.
pub fn with_length(bytes: &[u8], out: &mut Vec<u8>) {
    encode_varint(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

/// A block: packed length, unpacked length, LZ4 of a length and the message.
pub fn block(message: &[u8], out: &mut Vec<u8>) {
    let mut unpacked = Vec::with_capacity(message.len() + 10);
    with_length(message, &mut unpacked);
    let packed = lz4_flex::block::compress(&unpacked);
    encode_varint(packed.len() as u64, out);
    encode_varint(unpacked.len() as u64, out);
    out.extend_from_slice(&packed);
}
