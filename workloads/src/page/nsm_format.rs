//! Slotted pages, byte by byte (PAX section 4.1 and figure 5, the storage manager Shore).
//!
//! A page is its header, then records upwards, then free space, then slots downwards from the end. A record is a tag,
//! the values of fixed length in the order of the schema, one bit per nullable attribute (if there are any), the ends of
//! the values of variable length, and these values. Its length is rounded up to 4 bytes.

use super::Geometry;
use super::schema::Schema;
use super::value::Value;
use crate::word::Word;

/// Bytes of what the storage manager keeps in front of a record: serial number (4), type (2), length of this tag (2),
/// length of the record (4).
pub const TAG_BYTES: usize = 12;
/// Bytes of a slot: offset of the record, and bytes that it has.
pub const SLOT_BYTES: usize = 4;
/// Bytes of the end of a value of variable length.
pub const END_BYTES: usize = 2;
/// Records begin at multiples of this.
const ALIGNMENT: usize = 4;
/// Type of a record in its tag: one that lies in one page.
const SMALL_RECORD: u16 = 1;

/// Offsets in a page header.
pub(super) mod header {
    /// Number of the page, 4 bytes.
    pub const NUMBER: usize = 0;
    /// Slots in use, 2 bytes.
    pub const SLOTS: usize = 4;
    /// Slots of deleted records, 2 bytes.
    pub const DELETED: usize = 6;
    /// Where the free space begins, 2 bytes.
    pub const FREE_START: usize = 8;
    /// Free bytes of the page in all, 2 bytes.
    pub const FREE: usize = 10;
    /// The fields that changes of records change, and the words they are.
    pub const FIELDS: std::ops::Range<usize> = SLOTS..FREE + 2;
    pub const FIELD_WORDS: u16 = 2;
    /// Bytes of the header's fields.
    pub const BYTES: u32 = 12;
}

/// Where the parts of a record are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordFormat {
    /// Offset of each attribute's value; number among those of variable length for these.
    places: Vec<usize>,
    /// Bit of each attribute among those that say whether there is a value.
    bits: Vec<usize>,
    bitmap: usize,
    ends: usize,
    /// Offset of the first value of variable length.
    heap: usize,
}

impl RecordFormat {
    /// The format of a schema's records.
    #[must_use]
    pub fn new(schema: &Schema) -> Self {
        let (mut fixed, mut variable, mut nullable) = (TAG_BYTES, 0, 0);
        let (mut places, mut bits) = (Vec::new(), Vec::new());
        for attribute in schema.attributes() {
            match attribute.kind.fixed_bytes() {
                Some(bytes) => {
                    places.push(fixed);
                    fixed += bytes;
                }
                None => {
                    places.push(variable);
                    variable += 1;
                }
            }
            bits.push(nullable);
            nullable += usize::from(attribute.nullable);
        }
        let ends = fixed + nullable.div_ceil(8);
        Self {
            places,
            bits,
            bitmap: fixed,
            ends,
            heap: ends + variable * END_BYTES,
        }
    }

    /// Offset of a value of fixed length; number of one of variable length.
    #[inline]
    pub(super) fn place(&self, attribute: usize) -> usize {
        self.places[attribute]
    }

    /// Byte and bit that say whether there is a value.
    pub(super) fn presence(&self, attribute: usize) -> (usize, u8) {
        let bit = self.bits[attribute];
        (self.bitmap + bit / 8, 1 << (bit % 8))
    }

    /// Offset of the end of the value of variable length of this number.
    pub(super) fn end_place(&self, number: usize) -> usize {
        self.ends + number * END_BYTES
    }

    /// Where the value of variable length of this number lies in a record.
    pub(super) fn extent(&self, record: &[u8], number: usize) -> (usize, usize) {
        let end = |number| usize::from(u16::read(record, self.end_place(number)));
        let start = if number == 0 {
            self.heap
        } else {
            end(number - 1)
        };
        (start, end(number))
    }

    /// Bytes of a record whose values of variable length have `variable_bytes` in all.
    #[must_use]
    pub fn stride(&self, variable_bytes: usize) -> usize {
        (self.heap + variable_bytes).next_multiple_of(ALIGNMENT)
    }

    /// Bytes of a record of these values.
    pub(super) fn stride_of(&self, schema: &Schema, values: &[Value]) -> usize {
        let variable = schema
            .attributes()
            .iter()
            .zip(values)
            .filter(|(attribute, _)| attribute.kind.fixed_bytes().is_none())
            .map(|(_, value)| value.bytes().len())
            .sum();
        self.stride(variable)
    }

    /// The values of a record.
    pub(super) fn read<'a>(&self, schema: &Schema, record: &'a [u8]) -> Vec<Value<'a>> {
        let value = |index: usize| {
            let attribute = &schema.attributes()[index];
            let (byte, bit) = self.presence(index);
            if attribute.nullable && record[byte] & bit == 0 {
                return Value::Null;
            }
            let place = self.places[index];
            let (start, end) = match attribute.kind.fixed_bytes() {
                Some(bytes) => (place, place + bytes),
                None => self.extent(record, place),
            };
            Value::read(attribute.kind, &record[start..end])
        };
        (0..schema.degree()).map(value).collect()
    }

    /// Writes a record.
    pub(super) fn write(&self, schema: &Schema, values: &[Value], serial: u32, to: &mut [u8]) {
        serial.write(to, 0);
        SMALL_RECORD.write(to, 4);
        (TAG_BYTES as u16).write(to, 6);
        (to.len() as u32).write(to, 8);
        to[self.bitmap..self.ends].fill(0);
        let mut end = self.heap;
        for (index, (attribute, value)) in schema.attributes().iter().zip(values).enumerate() {
            let place = self.places[index];
            match attribute.kind.fixed_bytes() {
                Some(bytes) => value.write(attribute.kind, &mut to[place..place + bytes]),
                None => {
                    let start = end;
                    end += value.bytes().len();
                    to[start..end].copy_from_slice(value.bytes());
                    (end as u16).write(to, self.end_place(place));
                }
            }
            if attribute.nullable && value.is_present() {
                let (byte, bit) = self.presence(index);
                to[byte] |= bit;
            }
        }
        to[end..].fill(0);
    }
}

/// Records that a page holds if none has a value of variable length.
#[must_use]
pub fn records_per_page(schema: &Schema, geometry: Geometry) -> usize {
    geometry.usable_bytes() / (RecordFormat::new(schema).stride(0) + SLOT_BYTES)
}

#[cfg(test)]
mod tests {
    use super::super::schema::{Attribute, Type};
    use super::*;

    const PAGE: Geometry = Geometry {
        page_bytes: 8192,
        header_bytes: 32,
    };

    /// 12 of tag and 64 of values make 76, with the slot 80: (8192 - 32) / 80.
    #[test]
    fn pages_hold_what_the_bytes_allow() {
        let count = |degree, kind| records_per_page(&Schema::uniform(degree, kind), PAGE);
        assert_eq!(count(8, Type::Int64), 102);
        assert_eq!(count(64, Type::Int64), 15);
        // The row-store paper: 16 bytes more than the 16 of the values, 1000 in 32000 bytes.
        let large = Geometry {
            page_bytes: 32_768,
            header_bytes: 768,
        };
        assert_eq!(
            records_per_page(&Schema::uniform(4, Type::Int32), large),
            1000
        );
    }

    /// Tag, 4 + 3 of fixed values, 1 of bits, 2 ends, 5 of strings: 12 + 7 + 1 + 4 + 5 = 29, rounded to 32.
    #[test]
    fn a_record_is_its_parts() {
        let schema = Schema::new(vec![
            Attribute::new("id", Type::Int32),
            Attribute::new("name", Type::Variable(10)).nullable(),
            Attribute::new("code", Type::Fixed(3)),
            Attribute::new("note", Type::Variable(10)),
        ]);
        let format = RecordFormat::new(&schema);
        let values = [
            Value::Int(-2),
            Value::Bytes(b"ab"),
            Value::Bytes(b"x"),
            Value::Bytes(b"cde"),
        ];
        let bytes = format.stride_of(&schema, &values);
        assert_eq!(bytes, 32);
        let mut record = vec![0xff; bytes];
        format.write(&schema, &values, 7, &mut record);
        let tag = [7, 0, 0, 0, 1, 0, 12, 0, 32, 0, 0, 0];
        assert_eq!(record[..12], tag);
        assert_eq!(record[12..16], (-2_i32).to_le_bytes());
        assert_eq!(&record[16..19], b"x  ");
        assert_eq!(record[19..24], [1, 26, 0, 29, 0]);
        assert_eq!(&record[24..29], b"abcde");
        assert_eq!(format.extent(&record, 1), (26, 29));
    }
}
