//! Values of attributes.

use super::schema::{Attribute, Schema, Type};
use crate::word::Word;

/// A value; strings stay where they are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// None at all.
    Null,
    /// Of an `Int32`, `Int64` or `Date`.
    Int(i64),
    /// Of a `Float64`.
    Float(f64),
    /// Of a string.
    Bytes(&'a [u8]),
}

impl<'a> Value<'a> {
    /// The bytes of a string; none of anything else.
    #[must_use]
    pub fn bytes(self) -> &'a [u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            _ => &[],
        }
    }

    /// The number of an `Int32`, `Int64` or `Date`; 0 of anything else.
    #[inline]
    #[must_use]
    pub fn int(self) -> i64 {
        match self {
            Self::Int(value) => value,
            _ => 0,
        }
    }

    /// What checksums have of a value: of a string the CRC-32 of all its bytes.
    #[must_use]
    pub(crate) fn summed(self) -> u64 {
        match self {
            Self::Null => u64::MAX,
            Self::Int(value) => value as u64,
            Self::Float(value) => value.to_bits(),
            Self::Bytes(bytes) => crc32fast::hash(bytes).into(),
        }
    }

    /// Whether there is a value.
    #[must_use]
    pub fn is_present(self) -> bool {
        self != Self::Null
    }

    /// Writes the value of a fixed-length type into exactly its bytes.
    ///
    /// # Panics
    /// If the value is of another type or does not fit it.
    #[inline]
    pub(crate) fn write(self, kind: Type, to: &mut [u8]) {
        match (self, kind) {
            (Self::Null, _) => to.fill(0),
            (Self::Int(value), Type::Int64) => (value as u64).write(to, 0),
            (Self::Int(value), Type::Int32 | Type::Date) => {
                let value = i32::try_from(value).expect("the value fits 4 bytes");
                (value as u32).write(to, 0);
            }
            (Self::Float(value), Type::Float64) => value.to_bits().write(to, 0),
            (Self::Bytes(bytes), Type::Fixed(_)) => {
                to[..bytes.len()].copy_from_slice(bytes);
                to[bytes.len()..].fill(b' ');
            }
            _ => panic!("{self:?} is no {kind:?}"),
        }
    }

    /// The bytes of a value of a fixed-length type; none of a null.
    pub(crate) fn to_bytes(self, kind: Type) -> Option<Vec<u8>> {
        self.is_present().then(|| {
            let mut bytes = vec![0; kind.most_bytes()];
            self.write(kind, &mut bytes);
            bytes
        })
    }

    /// The value of a fixed-length type that stands in exactly these bytes.
    #[must_use]
    pub(crate) fn read(kind: Type, from: &'a [u8]) -> Self {
        match kind {
            Type::Int32 | Type::Date | Type::Int64 => Self::Int(word(kind, from) as i64),
            Type::Float64 => Self::Float(f64::from_bits(word(kind, from))),
            Type::Fixed(_) | Type::Variable(_) => Self::Bytes(from),
        }
    }
}

/// A number as a register holds it: 4-byte integers extended by their sign, floating-point numbers as their bits, the
/// first (at most 8) bytes of a string.
///
/// `from` begins with the value and may go on behind it.
#[inline]
#[must_use]
pub(crate) fn word(kind: Type, from: &[u8]) -> u64 {
    match kind {
        Type::Int32 | Type::Date => i64::from(u32::read(from, 0) as i32) as u64,
        Type::Int64 | Type::Float64 => u64::read(from, 0),
        Type::Fixed(bytes) | Type::Variable(bytes) => {
            let bytes = usize::from(bytes).min(8).min(from.len());
            let mut word = [0; 8];
            word[..bytes].copy_from_slice(&from[..bytes]);
            u64::from_le_bytes(word)
        }
    }
}

/// Checks that a record has the values its schema asks for.
///
/// # Panics
/// If it has not: kernels make their records from the schema.
pub(crate) fn check(schema: &Schema, record: &[Value]) {
    assert_eq!(record.len(), schema.degree(), "one value per attribute");
    for (attribute, value) in schema.attributes().iter().zip(record) {
        check_one(attribute, *value);
    }
}

/// Checks one value, as [`check`].
pub(crate) fn check_one(attribute: &Attribute, value: Value) {
    let fits = match value {
        Value::Null => attribute.nullable,
        Value::Int(_) => matches!(attribute.kind, Type::Int32 | Type::Int64 | Type::Date),
        Value::Float(_) => attribute.kind == Type::Float64,
        Value::Bytes(bytes) => match attribute.kind {
            Type::Fixed(most) | Type::Variable(most) => bytes.len() <= usize::from(most),
            _ => false,
        },
    };
    assert!(fits, "{value:?} is no value of {attribute:?}");
}
