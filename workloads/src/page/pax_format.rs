//! PAX pages, byte by byte (PAX section 3.2 and figure 4).
//!
//! A page is its header, then offset and size of each minipage, then a bit per slot that says whether its record is deleted (in files
//! that allow deletions only), then the minipages in the order of the schema.

pub use super::minipage::END_BYTES;
use super::minipage::FixedMinipage;
use super::packed::PackedMinipage;
use super::schema::{Attribute, Schema};
use super::{Geometry, Value};
use std::ops::Range;

/// Bytes of a minipage's entry in the page header: offset, then size of a value where each record has one, of the minipage elsewhere.
pub const ENTRY_BYTES: usize = 4;

/// Records of a page that its header can count.
const MOST_RECORDS: usize = u16::MAX as usize;

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

/// What a minipage holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Contents {
    /// A value of so many bytes for each record.
    Fixed(usize),
    /// Values of so many bytes for the records that have one.
    Packed(usize),
    /// Values of variable length.
    Variable,
}

impl Contents {
    fn of(attribute: &Attribute) -> Self {
        match attribute.kind.fixed_bytes() {
            Some(bytes) if attribute.nullable => Self::Packed(bytes),
            Some(bytes) => Self::Fixed(bytes),
            None => Self::Variable,
        }
    }

    /// Bytes that the minipage has for so many records besides values that records may lack or that vary in length.
    pub(super) fn bytes(self, records: usize) -> usize {
        match self {
            Self::Fixed(bytes) => FixedMinipage::bytes(bytes, records),
            Self::Packed(_) => PackedMinipage::bits_bytes(records),
            Self::Variable => records * END_BYTES,
        }
    }

    /// Bytes that a value takes besides.
    pub(super) fn length(self, value: &Value) -> usize {
        match self {
            Self::Fixed(_) => 0,
            Self::Packed(bytes) => {
                if value.is_present() {
                    bytes
                } else {
                    0
                }
            }
            Self::Variable => value.bytes().len(),
        }
    }
}

/// What the pages of a schema have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PaxFormat {
    geometry: Geometry,
    /// What the minipage of each attribute holds.
    pub(super) contents: Vec<Contents>,
    /// Whether there is a bit for each slot that says whether its record is deleted.
    deletions: bool,
}

impl PaxFormat {
    pub(super) fn new(schema: &Schema, geometry: Geometry, deletions: bool) -> Self {
        Self {
            geometry,
            contents: schema.attributes().iter().map(Contents::of).collect(),
            deletions,
        }
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
        self.entry(self.contents.len())
    }

    /// Bytes of the bits of deleted records, for so many slots: whole 2-byte words.
    fn bitmap_bytes(&self, slots: usize) -> usize {
        if self.deletions {
            slots.div_ceil(8).next_multiple_of(2)
        } else {
            0
        }
    }

    /// Bytes for the bits of deleted records and the minipages.
    fn available(&self) -> usize {
        (self.geometry.page_bytes as usize).saturating_sub(self.bitmap())
    }

    /// Bytes that so many records take, whose values have `lengths` in all where they may be missing or vary in length; a page may
    /// have more `slots`, from which records were deleted.
    pub(super) fn needed(&self, records: usize, slots: usize, lengths: usize) -> usize {
        let minipage = |contents: &Contents| contents.bytes(records);
        let minipages: usize = self.contents.iter().map(minipage).sum();
        self.bitmap_bytes(records.max(slots)) + lengths + minipages
    }

    /// Bytes of the longest values of a record, where they may be missing or vary in length.
    pub(super) fn most_lengths(&self, schema: &Schema) -> usize {
        let most = schema
            .attributes()
            .iter()
            .map(|each| each.kind.most_bytes());
        let all = self.contents.iter().zip(most);
        let counted = all.filter(|(contents, _)| !matches!(contents, Contents::Fixed(_)));
        counted.map(|(_, bytes)| bytes).sum()
    }

    /// Whether so many records fit, wherever the boundaries between minipages are.
    #[inline]
    pub(super) fn fits(&self, records: usize, slots: usize, lengths: usize) -> bool {
        records <= MOST_RECORDS && self.needed(records, slots, lengths) <= self.available()
    }

    /// Records that fit if values have these average lengths (0 where each record has one of the same length).
    pub(super) fn capacity(&self, averages: &[f64]) -> usize {
        let average: f64 = averages.iter().sum();
        let lengths = |records: usize| bytes_of(records, average);
        // Records of nulls are little more than bits, of which few would be rounded up too far.
        let packed = |contents: &Contents| matches!(contents, Contents::Packed(_));
        let some = if self.contents.iter().any(packed) {
            1024
        } else {
            8
        };
        // Too large at most by what rounding the bits up takes.
        let bytes = self
            .needed(some, 0, (some as f64 * average) as usize)
            .max(1);
        let mut records = ((some * self.available()).div_ceil(bytes) + 8).min(MOST_RECORDS);
        while records > 0 && !self.fits(records, 0, lengths(records)) {
            records -= 1;
        }
        records
    }

    /// Average lengths of `records` with these lengths in all. Those of variable length are whole bytes, without what is behind the point.
    pub(super) fn averages(&self, lengths: &[usize], records: usize) -> Vec<f64> {
        let average = |(contents, sum): (&Contents, &usize)| match contents {
            Contents::Packed(_) => *sum as f64 / records as f64,
            Contents::Fixed(_) | Contents::Variable => (sum / records) as f64,
        };
        self.contents.iter().zip(lengths).map(average).collect()
    }

    /// Boundaries for records of these average lengths, of which `records` with values of `bytes` in all come first and
    /// must fit ([`PaxFormat::fits`]) beside the bits of `slots`.
    pub(super) fn plan(
        &self,
        averages: &[f64],
        records: usize,
        slots: usize,
        bytes: &[usize],
    ) -> Plan {
        let room = |capacity: usize, attribute: usize| {
            let more = if capacity > records {
                bytes_of(capacity, averages[attribute])
            } else {
                // The average times their number is rounded up: it may come to a byte more than they have.
                0
            };
            more.max(bytes[attribute]) + self.contents[attribute].bytes(capacity)
        };
        let degree = self.contents.len();
        let bitmap = |capacity: usize| self.bitmap_bytes(capacity.max(slots));
        let total = |capacity| {
            let minipages = (0..degree).map(|attribute| room(capacity, attribute));
            bitmap(capacity) + minipages.sum::<usize>()
        };
        let mut capacity = self.capacity(averages).max(records);
        while capacity > records && total(capacity) > self.available() {
            capacity -= 1;
        }
        let mut start = self.bitmap() + bitmap(capacity);
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

/// Bytes of so many values of an average length: as many as it takes.
fn bytes_of(records: usize, average: f64) -> usize {
    (records as f64 * average).ceil() as usize
}

/// Bytes of each value that may be missing or varies in length; 0 for the others.
pub(super) fn lengths(format: &PaxFormat, values: &[Value]) -> Vec<usize> {
    let length = |(contents, value): (&Contents, &Value)| contents.length(value);
    format.contents.iter().zip(values).map(length).collect()
}

/// Records that a page holds if none has a value that may be missing or varies in length.
#[must_use]
pub fn records_per_page(schema: &Schema, geometry: Geometry) -> usize {
    let format = PaxFormat::new(schema, geometry, false);
    // The capacity that a page begins with may fall short of what narrow records come to, whose bits are rounded up less often.
    let begin = format.capacity(&vec![0.0; schema.degree()]);
    (begin..)
        .find(|&records| !format.fits(records + 1, 0, 0))
        .expect("a page is finite")
}

#[cfg(test)]
mod tests {
    use super::super::schema::{Attribute, Type};
    use super::*;
    use proptest::prelude::*;

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
        let plan = format.plan(&[0.0; 8], 0, 0, &[0; 8]);
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
        let plan = format.plan(&[10.0, 0.0, 21.0], 1, 0, &[10, 0, 21]);
        assert_eq!(plan.capacity, 172);
        let starts: Vec<_> = plan.minipages.iter().map(|minipage| minipage.0).collect();
        assert_eq!(starts, [44, 44 + 172 * 14, 44 + 172 * 14 + 172 * 8 + 22]);
        // What is there already is more than the average says: the boundary gives way, the capacity pays.
        let full = format.plan(&[10.0, 0.0, 21.0], 170, 0, &[1_700, 0, 3_700]);
        assert!(full.capacity >= 170 && full.capacity < 172, "{full:?}");
    }

    proptest! {
        /// Records that fill a page to its last byte have boundaries in it: eight attributes, of which some have so many values.
        #[test]
        fn boundaries_of_a_full_page_are_within_it(values in prop::collection::vec(0..=60_usize, 8)) {
            let sparse = |index: usize| Attribute::new(format!("a{index}"), Type::Int64).nullable();
            let schema = Schema::new((0..8).map(sparse).collect());
            let format = |page_bytes| PaxFormat::new(&schema, Geometry { page_bytes, header_bytes: 32 }, false);
            let bytes: Vec<usize> = values.iter().map(|values| 8 * values).collect();
            let some = format(8192);
            let full = some.bitmap() + some.needed(60, 0, bytes.iter().sum());
            let format = format(full as u32);
            let plan = format.plan(&format.averages(&bytes, 60), 60, 0, &bytes);
            prop_assert_eq!(plan.capacity, 60);
            let mut start = format.bitmap();
            for (minipage, bytes) in plan.minipages.iter().zip(&bytes) {
                prop_assert_eq!(*minipage, (start, bytes + PackedMinipage::bits_bytes(60)));
                start += minipage.1;
            }
            prop_assert_eq!(start, full);
        }
    }

    /// One value of 8 bytes in ten is there: 4 + 0.8 + 1/8 + 1/8 bytes a record, of 8192 - 40.
    #[test]
    fn nulls_leave_room_for_more_records() {
        let number = |name: &str, kind| Attribute::new(name, kind);
        let schema = Schema::new(vec![
            number("a", Type::Int64).nullable(),
            number("b", Type::Int32),
        ]);
        let format = PaxFormat::new(&schema, PAGE, false);
        assert_eq!(format.most_lengths(&schema), 8);
        let averages = format.averages(&[80, 0], 100);
        assert_eq!(averages, [0.8, 0.0]);
        let plan = format.plan(&averages, 0, 0, &[0, 0]);
        // 1614 x 0.8 = 1291.2 and 1614 x 4 bytes, each with 202 of bits: 8152 bytes.
        assert_eq!(plan.capacity, 1614);
        assert_eq!(plan.minipages, [(40, 1292 + 202), (40 + 1494, 6456 + 202)]);
        // Without any value: 1918 x 4 bytes, and 240 of bits twice.
        assert_eq!(records_per_page(&schema, PAGE), 1918);
    }
}
