//! Sets as arrays in the order of use, most recent first.

/// No entry: larger than any line number, because lines are at least two bytes.
pub(crate) const EMPTY: u64 = u64::MAX;

/// Makes `entry` the most recently used of its set and says whether it was there. If not, the last one leaves.
#[inline(always)]
pub(crate) fn touch(set: &mut [u64], entry: u64) -> bool {
    let mut moved = entry;
    for place in set {
        let held = std::mem::replace(place, moved);
        if held == entry {
            return true;
        }
        moved = held;
    }
    false
}
