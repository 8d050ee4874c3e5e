//! The numbers that parameters of pools and their pages take.

use crate::bounds::{Between, PowersOfTwo};
use crate::validate::{WorkloadError, within};

/// Pages: in-page offsets have two bytes.
pub(crate) const PAGE_BYTES: PowersOfTwo = PowersOfTwo {
    least: 1 << 11,
    most: 1 << 15,
};
/// Frames of the buffer pool; 0 is one for every page.
pub(crate) const FRAMES: Between<u64> = Between {
    least: 0,
    most: 1 << 22,
};
/// Frames that an operation may hold at a time, and those of a page split on every level.
pub(crate) const FEWEST_FRAMES: u64 = 16;

/// Checks the frames of a pool: none, or enough for an operation.
pub(crate) fn check_frames(path: &str, frames: u64) -> Result<(), WorkloadError> {
    FRAMES.check(path, frames)?;
    if frames == 0 {
        return Ok(());
    }
    within(path, frames, FEWEST_FRAMES, FRAMES.most).map_err(|error| {
        let message = format!("{}, or 0 for a frame for every page", error.message);
        WorkloadError::new(path, message)
    })
}
