//! Plain instructions, beside loads, stores and branches: counted in the loops of today's compiled code.

/// The number of a bucket or a partition from a key: a mask and a shift.
pub(super) const HASH: u8 = 2;
/// The address of a bucket from its number: a shift and an addition.
pub(super) const BUCKET_ADDRESS: u8 = 2;
/// A comparison.
pub(super) const COMPARE: u32 = 1;
/// Counting a loop, and its end.
pub(super) const LOOP: u32 = 2;
/// A sum that goes on, or a place that moves on.
pub(super) const ADD: u32 = 1;
/// What was found, without a branch (the published program only counts matches): a mask of the comparison, the payload's bits of it added to a sum, the match counted.
pub(super) const TAKE: u32 = 4;
/// A line of counters added to a line of others, by four at a time.
pub(super) const ADD_LINE: u32 = 6;
