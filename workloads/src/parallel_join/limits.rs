//! Numbers that the parameters of these joins take.

use crate::bounds::{Between, Choice, OPERATIONS};

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
/// Any key fits the shorter word: build tuples have the numbers from 1 on, and probe tuples without a match as many more.
const _: () = assert!(2 * BUILD_TUPLES.most <= u32::MAX as u64);
/// Bytes of a tuple, half of them its key.
pub(super) const TUPLE_BYTES: Choice = Choice(8, 16);
/// Bits of keys that are partitioned by.
pub(super) const RADIX_BITS: Between<u32> = Between { least: 1, most: 18 };
/// Passes over the tuples.
pub(super) const PASSES: Between<u32> = Between { least: 1, most: 2 };
