//! The two kinds of minipage (PAX section 3.2 and figure 4): what lies where, and how values move in them.

use crate::word::Word;
use std::ops::Range;

/// Bytes of the end of a value of variable length.
pub const END_BYTES: usize = 4;
/// Bit of an end that says that there is no value: an empty string is one.
const ABSENT: u32 = 1 << 31;

/// Values of one length, each at its record's place whether it is there or not, then a bit for each that is.
#[derive(Clone, Copy, Debug)]
pub(super) struct FixedMinipage {
    /// Offset in the page.
    pub(super) start: usize,
    pub(super) value_bytes: usize,
    /// Values that there is room for.
    pub(super) capacity: usize,
}

impl FixedMinipage {
    /// Bytes of a minipage: the bits take whole 2-byte words.
    pub(super) fn bytes(value_bytes: usize, capacity: usize) -> usize {
        capacity * value_bytes + capacity.div_ceil(8).next_multiple_of(2)
    }

    /// Where a value is.
    #[inline]
    pub(super) fn value(&self, record: usize) -> Range<usize> {
        let start = self.start + record * self.value_bytes;
        start..start + self.value_bytes
    }

    /// Byte and bit that say whether a value is there.
    #[inline]
    pub(super) fn presence(&self, record: usize) -> (usize, u8) {
        let bits = self.start + self.capacity * self.value_bytes;
        (bits + record / 8, 1 << (record % 8))
    }

    /// The bytes that have the bits of so many records: whole 2-byte words.
    pub(super) fn bits(&self, records: usize) -> Range<usize> {
        let first = self.start + self.capacity * self.value_bytes;
        first..first + records.div_ceil(8).next_multiple_of(2)
    }

    #[inline]
    pub(super) fn is_present(&self, page: &[u8], record: usize) -> bool {
        let (byte, bit) = self.presence(record);
        page[byte] & bit != 0
    }

    #[inline]
    pub(super) fn set_present(&self, page: &mut [u8], record: usize, present: bool) {
        let (byte, bit) = self.presence(record);
        page[byte] = page[byte] & !bit | if present { bit } else { 0 };
    }

    /// Makes room for a value in front of that of `record`, of `records`.
    pub(super) fn open_gap(&self, page: &mut [u8], record: usize, records: usize) {
        let moved = self.value(record).start..self.value(records).start;
        page.copy_within(moved, self.value(record + 1).start);
        for later in (record..records).rev() {
            let present = self.is_present(page, later);
            self.set_present(page, later + 1, present);
        }
    }

    /// Removes the value of `record`, of `records`.
    pub(super) fn close_gap(&self, page: &mut [u8], record: usize, records: usize) {
        let moved = self.value(record + 1).start..self.value(records).start;
        page.copy_within(moved, self.value(record).start);
        for later in record + 1..records {
            let present = self.is_present(page, later);
            self.set_present(page, later - 1, present);
        }
    }

    /// Copies the values of `records` from the page `from`, where they are in the minipage `other`.
    pub(super) fn copy(&self, page: &mut [u8], other: &Self, from: &[u8], records: usize) {
        let values = self.start..self.value(records).start;
        page[values].copy_from_slice(&from[other.start..other.value(records).start]);
        for record in 0..records {
            self.set_present(page, record, other.is_present(from, record));
        }
    }
}

/// Values of variable length upwards, their ends downwards from the end.
#[derive(Clone, Copy, Debug)]
pub(super) struct VariableMinipage {
    /// Offset in the page.
    pub(super) start: usize,
    pub(super) bytes: usize,
}

impl VariableMinipage {
    /// Where the end of a value is kept.
    #[inline]
    pub(super) fn end_place(&self, record: usize) -> usize {
        self.start + self.bytes - (record + 1) * END_BYTES
    }

    /// Where the value of `record` ends, counted from the minipage's start.
    #[inline]
    fn end(&self, page: &[u8], record: usize) -> usize {
        (u32::read(page, self.end_place(record)) & !ABSENT) as usize
    }

    fn set_end(&self, page: &mut [u8], record: usize, end: usize, present: bool) {
        let absent = if present { 0 } else { ABSENT };
        (end as u32 | absent).write(page, self.end_place(record));
    }

    #[inline]
    pub(super) fn is_present(&self, page: &[u8], record: usize) -> bool {
        u32::read(page, self.end_place(record)) & ABSENT == 0
    }

    /// Where a value is in the page.
    #[inline]
    pub(super) fn value(&self, page: &[u8], record: usize) -> Range<usize> {
        self.start + self.used(page, record)..self.start + self.end(page, record)
    }

    /// Bytes of the values of the first `records`.
    #[inline]
    pub(super) fn used(&self, page: &[u8], records: usize) -> usize {
        if records == 0 {
            return 0;
        }
        self.end(page, records - 1)
    }

    /// Whether `records` with values of `bytes` in all have room.
    #[inline]
    pub(super) fn fits(&self, records: usize, bytes: usize) -> bool {
        bytes + records * END_BYTES <= self.bytes
    }

    /// Makes an empty value in front of that of `record`, of `records`.
    pub(super) fn open_gap(&self, page: &mut [u8], record: usize, records: usize) {
        let ends = self.end_place(records) + END_BYTES..self.end_place(record) + END_BYTES;
        page.copy_within(ends, self.end_place(records));
        self.set_end(page, record, self.used(page, record), true);
    }

    /// Removes the value of `record`, of `records`.
    pub(super) fn close_gap(&self, page: &mut [u8], record: usize, records: usize) {
        self.replace(page, record, records, Some(&[]));
        let ends = self.end_place(records) + END_BYTES..self.end_place(record);
        page.copy_within(ends, self.end_place(records) + 2 * END_BYTES);
    }

    /// Changes the value of `record`, of `records`, for which there is room.
    pub(super) fn replace(
        &self,
        page: &mut [u8],
        record: usize,
        records: usize,
        value: Option<&[u8]>,
    ) {
        let present = value.is_some();
        let value = value.unwrap_or(&[]);
        let old = self.value(page, record);
        let end = old.start + value.len();
        let behind = old.end..self.start + self.used(page, records);
        page.copy_within(behind, end);
        for later in record + 1..records {
            let moved = self.end(page, later) + value.len() - old.len();
            self.set_end(page, later, moved, self.is_present(page, later));
        }
        page[old.start..end].copy_from_slice(value);
        self.set_end(page, record, end - self.start, present);
    }

    /// Copies the values of `records` from the page `from`, where they are in the minipage `other`.
    pub(super) fn copy(&self, page: &mut [u8], other: &Self, from: &[u8], records: usize) {
        let bytes = other.used(from, records);
        page[self.start..self.start + bytes]
            .copy_from_slice(&from[other.start..other.start + bytes]);
        let ends = records * END_BYTES;
        let (to, old) = (self.start + self.bytes, other.start + other.bytes);
        page[to - ends..to].copy_from_slice(&from[old - ends..old]);
    }
}
