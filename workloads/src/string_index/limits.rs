//! The numbers that parameters of string indexes take.

use super::text::LONGEST;
use crate::bounds::{Between, OneOf};

/// Keys: a page has room for eight of the longest.
pub(super) const TEXT_BYTES: Between<u32> = Between {
    least: 1,
    most: LONGEST as u32,
};
/// Bytes that all keys begin with.
pub(super) const COMMON_BYTES: Between<u32> = Between {
    least: 0,
    most: LONGEST as u32 - 1,
};
/// Bits of a key's rank in a byte.
pub(super) const BITS: Between<u32> = Between { least: 1, most: 8 };
/// Bytes of keys in slots.
pub(super) const PREFIX_BYTES: OneOf<4> = OneOf([2, 4, 8, 16]);
/// Fewest keys that a page has room for: a half, when it is split, has room for one more.
pub(super) const FEWEST_ENTRIES: u32 = 8;
/// In-page leaf nodes prefetched ahead of a scan; 0 is none.
pub(super) const DISTANCE: Between<u32> = Between { least: 0, most: 64 };
