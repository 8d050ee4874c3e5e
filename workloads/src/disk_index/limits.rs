//! The numbers that parameters of indexes in pages take.

use crate::bounds::{Between, OneOf};

/// Keys.
pub(super) const KEY_BYTES: OneOf<3> = OneOf([4, 8, 20]);
/// Lines of nodes in pages, and of sub-arrays.
pub(super) const LINES: Between<u32> = Between { least: 1, most: 64 };
/// In-page leaf nodes prefetched ahead.
pub(super) const DISTANCE: Between<u32> = Between { least: 1, most: 64 };
/// Plain instructions of a call.
pub(super) const CALL: Between<u32> = Between {
    least: 0,
    most: 10_000,
};
/// Leaf pages asked for ahead; 0 is none.
pub(super) const DISTANCE_PAGES: Between<u32> = Between {
    least: 0,
    most: 1 << 16,
};
