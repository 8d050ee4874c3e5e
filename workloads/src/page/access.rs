//! What the steps to a value find: an open page, a column of it, a record.

use super::{FixedPage, Type};
use crate::tracer::Dep;

/// Where a record is: its page and its number in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordId {
    /// Page of the file.
    pub page: u32,
    /// Slot of the page.
    pub slot: u32,
}

/// An open page.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// Its number in the file, and where it is.
    pub fixed: FixedPage,
    /// Slots in use; deleted records count.
    pub slots: u32,
    /// What brought the address.
    pub dep: Dep,
    /// What brought the number of slots.
    pub count: Dep,
}

/// The place of one attribute's values in an open page.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    pub(super) attribute: usize,
    pub(super) kind: Type,
    pub(super) nullable: bool,
    pub(super) site: u16,
    /// Offset of the first value: in the page, or in the record where records are contiguous.
    pub(super) start: usize,
    /// Bytes from one value to the next: 1 where a record's place is an offset.
    pub(super) stride: usize,
    /// What brought the offset.
    pub(super) dep: Dep,
    /// Where nulls take no space: how far the values are gone through.
    pub(super) passed: Option<Passed>,
}

/// Of values that are there only for some records: the record that was read last.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passed {
    /// Its place among the records.
    pub(super) record: usize,
    /// Values before its own.
    pub(super) values: usize,
    /// What brought their number.
    pub(super) dep: Dep,
}

/// A record of an open page.
#[derive(Clone, Copy, Debug)]
pub struct Record {
    /// Its slot.
    pub slot: u32,
    /// Its offset in the page, or its number among the values of a minipage.
    pub(super) place: usize,
    /// What brought the place.
    pub(super) dep: Dep,
}

impl Passed {
    /// Before any was read.
    pub(super) const NONE: Self = Self {
        record: 0,
        values: 0,
        dep: Dep::NONE,
    };
}

impl Page {
    /// Its number in the file.
    #[inline]
    #[must_use]
    pub fn number(&self) -> u32 {
        self.fixed.number
    }
}

impl Column {
    /// Offset of a record's value in the page. Where nulls take no space, it is the record that was read last.
    #[inline]
    pub(super) fn offset(&self, record: Record) -> usize {
        let place = self.passed.map_or(record.place, |passed| {
            debug_assert_eq!(passed.record, record.place, "the record was read");
            passed.values
        });
        self.start + place * self.stride
    }

    /// Bytes of a number.
    #[inline]
    pub(super) fn word_bytes(&self) -> usize {
        match self.kind {
            Type::Int32 | Type::Date => 4,
            Type::Int64 | Type::Float64 => 8,
            Type::Fixed(bytes) | Type::Variable(bytes) => usize::from(bytes.min(8)),
        }
    }

    /// What the address of a record's value waits for.
    #[inline]
    pub(super) fn address_dep(&self, record: Record) -> Dep {
        let counted = self.passed.map_or(Dep::NONE, |passed| passed.dep);
        counted.or(record.dep).or(self.dep)
    }
}
