//! PAX pages, byte by byte (PAX section 3.2 and figure 4).
//!
//! A page is its header, then offset and size of each minipage, then a bit per deleted record (in files that allow
//! deletions only), then the minipages in the order of the schema.

pub use super::minipage::END_BYTES;
use super::minipage::FixedMinipage;
use super::schema::Schema;
use super::{Geometry, Value};
use std::ops::Range;

/// Bytes of a minipage's entry in the page header: offset, then size of a value or of the minipage.
pub const ENTRY_BYTES: usize = 4;

/// Offsets in a page header.
pub(super) mod header {
    /// Number of the page, 4 bytes.
    pub const NUMBER: usize = 0;
    /// Slots in use, 2 bytes.
    pub const SLOTS: usize = 4;
    /// Slots of deleted records, 2 bytes.
    pub const DELETED: usize = 6;
    /// Values that a minipage of fixed-length values has room for, 2 bytes.
    pub const CAPACITY: usize = 8;
    /// Minipages, 2 bytes.
    pub const DEGREE: usize = 10;
    /// Bytes of these fields.
    pub const BYTES: u32 = 12;
}

/// Where the minipages of one page are, in the order of the schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    /// Values that a minipage of fixed-length values has room for.
    pub(super) capacity: usize,
    /// Offset and bytes of each minipage.
    pub(super) minipages: Vec<(usize, usize)>,
}

/// What the pages of a schema have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PaxFormat {
    geometry: Geometry,
    /// Bytes of a value of each attribute; none if they vary.
    pub(super) value_bytes: Vec<Option<usize>>,
    /// Bytes of the bits of deleted records.
    bitmap_bytes: usize,
}

impl PaxFormat {
    pub(super) fn new(schema: &Schema, geometry: Geometry, deletions: bool) -> Self {
        let value_bytes = schema
            .attributes()
            .iter()
            .map(|attribute| attribute.kind.fixed_bytes())
            .collect();
        let mut format = Self {
            geometry,
            value_bytes,
            bitmap_bytes: 0,
        };
        if deletions {
            // Before the bits take their part: more records there cannot be.
            let most = format.capacity(&vec![0; schema.degree()]);
            format.bitmap_bytes = most.div_ceil(8).next_multiple_of(2);
        }
        format
    }

    /// Place of a minipage's entry in the header.
    #[inline]
    pub(super) fn entry(&self, attribute: usize) -> usize {
        self.geometry.header_bytes as usize + attribute * ENTRY_BYTES
    }

    /// The bytes of a minipage's entry.
    #[inline]
    pub(super) fn entry_range(&self, attribute: usize) -> Range<usize> {
        self.entry(attribute)..self.entry(attribute + 1)
    }

    /// Place of the bits of deleted records.
    pub(super) fn bitmap(&self) -> usize {
        self.entry(self.value_bytes.len())
    }

    /// Place of the first minipage.
    pub(super) fn first(&self) -> usize {
        self.bitmap() + self.bitmap_bytes
    }

    /// Bytes for the minipages.
    fn available(&self) -> usize {
        (self.geometry.page_bytes as usize).saturating_sub(self.first())
    }

    /// Bytes that minipages of so many records take, whose values of variable length have `variable_bytes` in all.
    pub(super) fn needed(&self, records: usize, variable_bytes: usize) -> usize {
        let minipage = |bytes: &Option<usize>| match bytes {
            Some(bytes) => FixedMinipage::bytes(*bytes, records),
            None => records * END_BYTES,
        };
        variable_bytes + self.value_bytes.iter().map(minipage).sum::<usize>()
    }

    /// Whether so many records fit, wherever the boundaries between minipages are.
    #[inline]
    pub(super) fn fits(&self, records: usize, variable_bytes: usize) -> bool {
        self.needed(records, variable_bytes) <= self.available()
    }

    /// Records that fit if values have these average lengths (those of fixed-length attributes do not matter).
    pub(super) fn capacity(&self, averages: &[usize]) -> usize {
        let average: usize = self.variable(averages).sum();
        // Too large at most by what rounding the bits up takes.
        let record = self.needed(8, 8 * average).max(1);
        let mut records = (8 * self.available()).div_ceil(record) + 8;
        while records > 0 && !self.fits(records, records * average) {
            records -= 1;
        }
        records
    }

    /// The lengths that belong to attributes of variable length.
    pub(super) fn variable<'a>(&'a self, lengths: &'a [usize]) -> impl Iterator<Item = usize> + 'a {
        self.value_bytes
            .iter()
            .zip(lengths)
            .filter(|(bytes, _)| bytes.is_none())
            .map(|(_, length)| *length)
    }

    /// Boundaries for records of these average lengths, of which `records` with values of `bytes` in all come first and
    /// must fit ([`PaxFormat::fits`]).
    pub(super) fn plan(&self, averages: &[usize], records: usize, bytes: &[usize]) -> Plan {
        let room = |capacity: usize, attribute: usize| match self.value_bytes[attribute] {
            Some(value) => FixedMinipage::bytes(value, capacity),
            None => (capacity * averages[attribute]).max(bytes[attribute]) + capacity * END_BYTES,
        };
        let degree = self.value_bytes.len();
        let total = |capacity| {
            (0..degree)
                .map(|attribute| room(capacity, attribute))
                .sum::<usize>()
        };
        let mut capacity = self.capacity(averages).max(records);
        while capacity > records && total(capacity) > self.available() {
            capacity -= 1;
        }
        let mut start = self.first();
        let minipages = (0..degree)
            .map(|attribute| {
                let bytes = room(capacity, attribute);
                start += bytes;
                (start - bytes, bytes)
            })
            .collect();
        Plan {
            capacity,
            minipages,
        }
    }
}

/// Bytes of each value of variable length; 0 for the others.
pub(super) fn lengths(format: &PaxFormat, values: &[Value]) -> Vec<usize> {
    let length = |(bytes, value): (&Option<usize>, &Value)| match bytes {
        Some(_) => 0,
        None => value.bytes().len(),
    };
    format.value_bytes.iter().zip(values).map(length).collect()
}

/// Records that a page holds if none has a value of variable length.
#[must_use]
pub fn records_per_page(schema: &Schema, geometry: Geometry) -> usize {
    let format = PaxFormat::new(schema, geometry, false);
    // The capacity that a page begins with may fall short of what narrow records come to, whose bits are rounded up less often.
    let begin = format.capacity(&vec![0; schema.degree()]);
    (begin..)
        .find(|&records| !format.fits(records + 1, 0))
        .expect("a page is finite")
}

#[cfg(test)]
mod tests {
    use super::super::schema::{Attribute, Type};
    use super::*;

    const PAGE: Geometry = Geometry {
        page_bytes: 8192,
        header_bytes: 32,
    };

    /// 64 of header and 8 minipages of 125 x 8 + 16 bytes fill the page to the last byte.
    #[test]
    fn pages_hold_what_the_bytes_allow() {
        let count = |degree| records_per_page(&Schema::uniform(degree, Type::Int64), PAGE);
        assert_eq!(count(8), 125);
        assert_eq!(count(64), 15);
        // (8192 - 36) / (8 + 1/8).
        assert_eq!(count(1), 1003);
        let format = PaxFormat::new(&Schema::uniform(8, Type::Int64), PAGE, false);
        let plan = format.plan(&[0; 8], 0, &[0; 8]);
        assert_eq!(plan.capacity, 125);
        let places: Vec<_> = (0..8).map(|index| (64 + index * 1016, 1016)).collect();
        assert_eq!(plan.minipages, places);
    }

    /// Two strings of 10 and 21 bytes on average beside 8 bytes: 8 + 1/8 + 14 + 25 a record, 8192 - 44 bytes.
    #[test]
    fn averages_set_the_boundaries() {
        let schema = Schema::new(vec![
            Attribute::new("a", Type::Variable(40)),
            Attribute::new("b", Type::Int64),
            Attribute::new("c", Type::Variable(40)),
        ]);
        let format = PaxFormat::new(&schema, PAGE, false);
        let plan = format.plan(&[10, 0, 21], 1, &[10, 0, 21]);
        assert_eq!(plan.capacity, 172);
        let starts: Vec<_> = plan.minipages.iter().map(|minipage| minipage.0).collect();
        assert_eq!(starts, [44, 44 + 172 * 14, 44 + 172 * 14 + 172 * 8 + 22]);
        // What is there already is more than the average says: the boundary gives way, the capacity pays.
        let full = format.plan(&[10, 0, 21], 170, &[1_700, 0, 3_700]);
        assert!(full.capacity >= 170 && full.capacity < 172, "{full:?}");
    }
}
