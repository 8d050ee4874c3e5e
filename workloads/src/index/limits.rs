//! The numbers that parameters of trees take.

use crate::bounds::{Between, LINE_BYTES};

/// Index entries: more would not fit the host's memory.
pub(super) const KEYS: Between<u64> = Between {
    least: 1,
    most: 200_000_000,
};
/// Lines of a node or a chunk, and leaves prefetched ahead.
pub(super) const LINES: Between<u32> = Between { least: 1, most: 64 };
/// Return buffers: they have at least a line.
pub(super) const BUFFER_BYTES: Between<u64> = Between {
    least: LINE_BYTES.least as u64,
    most: 1 << 28,
};
