//! Protobuf messages without a schema compiler: fields in the order of the bytes, by number.
//!
//! Nothing here recurses: a nested message is bytes until somebody asks for its fields.

use prost::encoding::{WireType, decode_key, decode_varint};

/// Bytes that are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Damaged;

impl From<prost::DecodeError> for Damaged {
    fn from(_: prost::DecodeError) -> Self {
        Self
    }
}

/// The value of one field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value<'a> {
    /// A varint; numbers above 2⁶³ are negative ones.
    Int(i64),
    /// A text, a nested message or packed numbers.
    Bytes(&'a [u8]),
    /// A double, or another fixed number of 64 bits.
    Fixed64(u64),
    /// A float, or another fixed number of 32 bits.
    Fixed32(u32),
}

impl<'a> Value<'a> {
    pub(super) fn int(self) -> Option<i64> {
        match self {
            Self::Int(value) => Some(value),
            _ => None,
        }
    }

    pub(super) fn bytes(self) -> Option<&'a [u8]> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }
}

/// Take a number from the front.
pub(super) fn take_varint(bytes: &mut &[u8]) -> Result<u64, Damaged> {
    Ok(decode_varint(bytes)?)
}

/// Take `n` bytes from the front.
pub(super) fn take_bytes<'a>(bytes: &mut &'a [u8], n: u64) -> Result<&'a [u8], Damaged> {
    let n = usize::try_from(n).map_err(|_| Damaged)?;
    let (taken, rest) = bytes.split_at_checked(n).ok_or(Damaged)?;
    *bytes = rest;
    Ok(taken)
}

/// The next field; `None` at the end.
#[inline]
pub(super) fn take_field<'a>(bytes: &mut &'a [u8]) -> Result<Option<(u32, Value<'a>)>, Damaged> {
    if bytes.is_empty() {
        return Ok(None);
    }
    let (number, wire) = decode_key(bytes)?;
    let value = match wire {
        WireType::Varint => Value::Int(decode_varint(bytes)? as i64),
        WireType::LengthDelimited => {
            let n = decode_varint(bytes)?;
            Value::Bytes(take_bytes(bytes, n)?)
        }
        WireType::SixtyFourBit => {
            Value::Fixed64(u64::from_le_bytes(take_bytes(bytes, 8)?.try_into().map_err(|_| Damaged)?))
        }
        WireType::ThirtyTwoBit => {
            Value::Fixed32(u32::from_le_bytes(take_bytes(bytes, 4)?.try_into().map_err(|_| Damaged)?))
        }
        // Groups were given up before protobuf was published; no report has them.
        WireType::StartGroup | WireType::EndGroup => return Err(Damaged),
    };
    Ok(Some((number, value)))
}

/// Call `each` with every field of a message.
pub(super) fn each_field<'a>(
    mut message: &'a [u8],
    mut each: impl FnMut(u32, Value<'a>),
) -> Result<(), Damaged> {
    while let Some((number, value)) = take_field(&mut message)? {
        each(number, value);
    }
    Ok(())
}

/// The last value of a field; `None` when it is absent.
pub(super) fn field<'a>(message: &'a [u8], wanted: u32) -> Result<Option<Value<'a>>, Damaged> {
    let mut found = None;
    each_field(message, |number, value| {
        if number == wanted {
            found = Some(value);
        }
    })?;
    Ok(found)
}

/// The nested message at the end of a path of fields; empty when something on the way is absent.
pub(super) fn nested<'a>(mut message: &'a [u8], path: &[u32]) -> Result<&'a [u8], Damaged> {
    for step in path {
        message = field(message, *step)?.and_then(Value::bytes).unwrap_or_default();
    }
    Ok(message)
}

/// The nested messages of a repeated field.
pub(super) fn repeated(message: &[u8], wanted: u32) -> Result<Vec<&[u8]>, Damaged> {
    let mut found = Vec::new();
    each_field(message, |number, value| {
        if let (true, Value::Bytes(bytes)) = (number == wanted, value) {
            found.push(bytes);
        }
    })?;
    Ok(found)
}

/// Fields 1 to 63 of one message at a time, by number. Kept over many messages, so that nothing is
/// allocated or cleared for a record.
pub(super) struct Fields<'a> {
    /// Bit n: field n is there as a number.
    ints_present: u64,
    /// Bit n: field n is there as bytes.
    bytes_present: u64,
    ints: [i64; 64],
    bytes: [&'a [u8]; 64],
}

impl<'a> Fields<'a> {
    pub(super) fn new() -> Self {
        Self { ints_present: 0, bytes_present: 0, ints: [0; 64], bytes: [&[]; 64] }
    }

    /// Forget the last message.
    pub(super) fn clear(&mut self) {
        self.ints_present = 0;
        self.bytes_present = 0;
    }

    /// Read a message; the last nested message with a number from 64 is returned, with that number.
    pub(super) fn read(&mut self, mut message: &'a [u8]) -> Result<Option<(u32, &'a [u8])>, Damaged> {
        self.clear();
        let mut large = None;
        while let Some((number, value)) = take_field(&mut message)? {
            if 64 <= number {
                large = value.bytes().map(|bytes| (number, bytes)).or(large);
                continue;
            }
            match value {
                Value::Int(value) => {
                    self.ints_present |= 1 << number;
                    self.ints[number as usize] = value;
                }
                Value::Bytes(bytes) => {
                    self.bytes_present |= 1 << number;
                    self.bytes[number as usize] = bytes;
                }
                Value::Fixed64(_) | Value::Fixed32(_) => {}
            }
        }
        Ok(large)
    }

    /// A number; `None` when it is absent.
    pub(super) fn int(&self, number: u8) -> Option<i64> {
        (self.ints_present >> (number & 63) & 1 == 1).then(|| self.ints[usize::from(number & 63)])
    }

    /// Bytes; `None` when they are absent.
    pub(super) fn bytes(&self, number: u8) -> Option<&'a [u8]> {
        (self.bytes_present >> (number & 63) & 1 == 1).then(|| self.bytes[usize::from(number & 63)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_by_number() {
        // 1: 150, 2: "ab", 70: "c" (the encoding examples of the protobuf documentation).
        let message = [0x08, 0x96, 0x01, 0x12, 2, b'a', b'b', 0xb2, 0x04, 1, b'c'];
        let mut fields = Fields::new();
        assert_eq!(fields.read(&message), Ok(Some((70, &b"c"[..]))));
        assert_eq!((fields.int(1), fields.bytes(2), fields.int(3)), (Some(150), Some(&b"ab"[..]), None));
        assert_eq!(fields.read(&[]), Ok(None));
        assert_eq!(fields.int(1), None);
    }

    #[test]
    fn what_is_no_message_is_an_error() {
        // A length beyond the end, a varint without an end, a group, field number 0.
        for bytes in [&[0x12, 5, b'a'][..], &[0x08, 0xff], &[0x0b], &[0x00, 0x00]] {
            assert_eq!(each_field(bytes, |_, _| {}), Err(Damaged), "{bytes:?}");
        }
    }

    #[test]
    fn numbers_above_2_to_the_63_are_negative() {
        let message = [0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
        assert_eq!(field(&message, 1), Ok(Some(Value::Int(-1))));
    }
}
