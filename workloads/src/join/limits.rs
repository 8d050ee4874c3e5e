//! Numbers that the parameters of joins take.

use crate::bounds::{Between, PowersOfTwo};
use crate::validate::WorkloadError;
use crate::word::Word;

/// Bytes of a word: a key, a hash code, a pointer.
pub(super) const WORD: u32 = u32::BYTES as u32;
/// Tuples of a relation.
pub(super) const TUPLES: Between<u64> = Between {
    least: 0,
    most: 1 << 30,
};
/// Bytes of a tuple: its key and its number are four bytes each.
pub(super) const TUPLE_BYTES: Between<u32> = Between {
    least: 8,
    most: 1024,
};
/// Bytes of the shortest tuple, if lengths differ: its key, its length and its number.
pub(super) const SHORTEST_TUPLE_BYTES: Between<u32> = Between {
    least: 12,
    most: TUPLE_BYTES.most,
};
/// Build tuples of one key.
pub(super) const DUPLICATES: Between<u32> = Between {
    least: 1,
    most: 1 << 20,
};
pub(super) const PARTITIONS: Between<u32> = Between {
    least: 1,
    most: 10_000,
};
/// Cache that a sub-partition is to fit into.
pub(super) const CACHE_BYTES: Between<u32> = Between {
    least: 4096,
    most: 1 << 30,
};
/// False positives of a filter.
pub(super) const FALSE_POSITIVES: Between<f64> = Between {
    least: 1e-6,
    most: 0.9,
};
/// Sub-partitions that a probe tuple matches, of those that a byte can tell.
pub(super) const SWITCH_AT: Between<u32> = Between {
    least: 1,
    most: 255,
};
/// Pages for tuples out of order; none: nobody looks.
pub(super) const ORDER_BUFFER_PAGES: Between<u32> = Between {
    least: 0,
    most: 1 << 20,
};
/// Tuples of a group, and distances between stages.
pub(super) const TUPLES_AHEAD: Between<u32> = Between {
    least: 1,
    most: 1024,
};
/// Tuples between the prefetch of a page's line and its use; none: the page at once.
pub(super) const PAGE_AHEAD: Between<u32> = Between {
    least: 0,
    most: 1000,
};
/// A slot names a place in its page by 16 bits.
pub(super) const PAGE_BYTES: PowersOfTwo = PowersOfTwo {
    least: 4096,
    most: 32768,
};

/// Refuses tuples that are not made of words.
pub(super) fn whole_words(path: &str, bytes: u32) -> Result<(), WorkloadError> {
    if bytes.is_multiple_of(WORD) {
        return Ok(());
    }
    let message = format!("{bytes} is no multiple of {WORD}, and tuples are made of words");
    Err(WorkloadError::new(path, message))
}
