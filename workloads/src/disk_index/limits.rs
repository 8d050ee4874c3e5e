//! The numbers that parameters of indexes in pages take.

use crate::bounds::Between;

/// In-page leaf nodes prefetched ahead.
pub(super) const DISTANCE: Between<u32> = Between { least: 1, most: 64 };
/// Leaf pages asked for ahead; 0 is none.
pub(super) const DISTANCE_PAGES: Between<u32> = Between {
    least: 0,
    most: 1 << 16,
};
