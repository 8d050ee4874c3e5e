//! Many mispredictions of a routine at once.

/// Groups of a routine's instructions: each begins when the front end has restarted and ends with the next misprediction.
///
/// Mispredictions lie so evenly that the lengths of groups differ by one at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Groups {
    pub(crate) instructions: u64,
    pub(crate) count: u64,
    /// Instructions of the last group.
    pub(crate) last: u64,
}

impl Groups {
    /// Lengths of groups, and how many have each.
    #[inline]
    pub(crate) fn lengths(&self) -> [(u64, u64); 2] {
        let (shorter, longer) = (
            self.instructions / self.count,
            self.instructions % self.count,
        );
        [(shorter, self.count - longer), (shorter + 1, longer)]
    }
}
