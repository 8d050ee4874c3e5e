//! Numbers that the parameters of these joins take.

use crate::bounds::{Between, OPERATIONS};

/// Tuples of the build relation: a table of the most takes 4 GiB.
pub(super) const BUILD_TUPLES: Between<u64> = Between {
    least: 0,
    most: 1 << 27,
};
/// Tuples of the probe relation.
pub(super) const PROBE_TUPLES: Between<u64> = Between {
    least: 0,
    most: OPERATIONS.most,
};
/// Bits of keys that are partitioned by.
pub(super) const RADIX_BITS: Between<u32> = Between { least: 1, most: 18 };
/// Passes over the tuples.
pub(super) const PASSES: Between<u32> = Between { least: 1, most: 2 };
