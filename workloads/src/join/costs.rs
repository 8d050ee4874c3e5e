//! Plain instructions of the code of joins and partitioning, beside what it loads, stores and branches on.
//!
//! The thesis measured an engine whose code is not published. What its calls cost per tuple is a calibration on its GRACE join
//! (docs/fidelity.md says on which claims), the same in all algorithms. Half of a call's instructions run on the way in, half on the way
//! out.

/// Asking the iterator for the next input tuple.
pub(super) const ITERATE: u32 = 30;
/// Turning to the next page, input or output.
pub(super) const TURN_PAGE: u32 = 200;
/// Calling the visit of a hash bucket.
pub(super) const VISIT: u32 = 15;
/// Calling the insertion of an output tuple, be it a join's or a partition's.
pub(super) const INSERT_OUTPUT: u32 = 60;
/// Calling the copy of an attribute.
pub(super) const COPY_CALL: u32 = 22;
/// Beside the loads and stores of a copy's unrolled step: two pointers and a counter.
pub(super) const COPY_STEP: u32 = 3;
/// Bytes of such a step.
pub(super) const COPY_STEP_BYTES: u32 = 16;
/// Getting memory for a cell array.
pub(super) const ALLOCATE: u32 = 60;
/// Hashing a key: three shifts, and three times exclusive or, each of which waits for the one before.
pub(super) const HASH: u8 = 6;
/// Address of a bucket, or of what there is of a partition, from its number.
pub(super) const BUCKET_ADDRESS: u32 = 2;
/// Testing what was loaded.
pub(super) const TEST: u32 = 1;
/// Counting a loop, and its end.
pub(super) const LOOP: u32 = 2;
/// Finding the state of a tuple of a group, and in a circular array (section 4.5.3: an index and a mask).
pub(super) const GROUP_STATE: u32 = 2;
pub(super) const CIRCULAR_STATE: u32 = 6;
