//! The numbers that parameters of relations take.

use crate::bounds::{Between, PowersOfTwo, WORD_BYTES};
use crate::page::MOST_PAGE_BYTES;

/// Most bytes of values: more would not fit the host's memory.
pub(super) const MOST_BYTES: u64 = 8 << 30;
/// Attributes, and numbers of attributes.
pub(super) const ATTRIBUTES: Between<u32> = Between {
    least: 1,
    most: 512,
};
/// Records: as many as the smallest ones may be.
pub(super) const RECORDS: Between<u64> = Between {
    least: 1,
    most: MOST_BYTES / WORD_BYTES.0 as u64,
};
/// Pages: in smaller ones no layout has room for a record.
pub(super) const PAGE_BYTES: PowersOfTwo = PowersOfTwo {
    least: 16,
    most: MOST_PAGE_BYTES,
};
/// Blocks of storage: none is longer than a page.
pub(super) const BLOCK_BYTES: PowersOfTwo = PowersOfTwo {
    least: 16,
    most: MOST_PAGE_BYTES,
};
/// Lengths of strings: the largest pages have room for one beside other values.
pub(super) const STRING_BYTES: Between<u32> = Between {
    least: 1,
    most: MOST_PAGE_BYTES / 2,
};
