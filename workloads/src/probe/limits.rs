//! Numbers that the parameters of probes take.

use crate::bounds::Between;
use crate::buckets;

/// Tuples of the table: a table of the most takes 16 GiB.
pub(super) const BUILD_TUPLES: Between<u64> = Between {
    least: 1,
    most: 1 << 28,
};
/// Tuples of a bucket.
pub(super) const BUCKET_TUPLES: Between<u64> = Between {
    least: 1,
    most: buckets::BUCKET_TUPLES,
};
/// Probes under way at a time.
pub(super) const IN_FLIGHT: Between<u32> = Between {
    least: 1,
    most: 1024,
};
