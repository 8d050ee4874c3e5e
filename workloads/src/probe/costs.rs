//! Plain instructions of a probe, beside what it loads, stores and branches on: counted in the loops of today's compiled code.

/// The address of a bucket from a product: a shift, and an addition of the table's place.
pub(super) const BUCKET_ADDRESS: u8 = 2;
/// A comparison.
pub(super) const COMPARE: u32 = 1;
/// Counting a loop, and its end.
pub(super) const LOOP: u32 = 2;
/// The next slot of a ring whose length is no power of two: counted, compared, set to the first.
pub(super) const NEXT_SLOT: u32 = 3;
/// What was found: the payload is added to a sum, and matches are counted.
pub(super) const TAKE: u32 = 2;
/// Calling a coroutine's resumption and coming back: the call, the frame's registers set up, the return.
pub(super) const RESUME: u32 = 6;
