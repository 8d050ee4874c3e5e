//! What a join finds.

use crate::outcome::Checksum;

/// Matches so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Found {
    pub(super) matches: u64,
    pub(super) checksum: Checksum,
}

impl Found {
    /// Counts a match with a build tuple of this payload, if keys are `equal`.
    #[inline]
    pub(super) fn add_if(&mut self, equal: bool, payload: u64) {
        self.matches += u64::from(equal);
        // As the events say: no branch, which natively would keep later probes from being overlapped when it is mispredicted.
        let taken = std::hint::select_unpredictable(equal, payload, 0);
        self.checksum.add(taken);
    }
}
