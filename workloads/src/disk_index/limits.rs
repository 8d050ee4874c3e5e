//! The numbers that parameters of indexes in pages take.

use crate::bounds::Between;

/// In-page leaf nodes prefetched ahead.
pub(super) const DISTANCE: Between<u32> = Between { least: 1, most: 64 };
/// What a mature index begins with.
pub(super) const BULKLOADED_SHARE: Between<f64> = Between {
    least: 0.001,
    most: 1.0,
};
/// Leaf pages asked for ahead; 0 is none.
pub(super) const DISTANCE_PAGES: Between<u32> = Between {
    least: 0,
    most: 1 << 16,
};
/// Frames of the buffer pool; 0 is one for every page.
pub(super) const FRAMES: Between<u64> = Between {
    least: 0,
    most: 1 << 22,
};
/// Frames that an operation may hold at a time, and those of a page split on every level.
pub(super) const FEWEST_FRAMES: u64 = 16;
