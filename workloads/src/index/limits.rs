//! The numbers that parameters of trees take.

use crate::bounds::Between;

/// Lines of a node or a chunk, and leaves prefetched ahead.
pub(super) const LINES: Between<u32> = Between { least: 1, most: 64 };
