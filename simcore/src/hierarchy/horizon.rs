//! How far other cores have come: before that cycle nobody but the core that has its turn asks for anything.

use super::Hierarchy;

impl Hierarchy {
    /// Until the next call no core but the one that has its turn makes a request before cycle `horizon`.
    pub(crate) fn set_horizon(&mut self, horizon: u64) {
        self.horizon = horizon;
    }

    /// The cycle, `now` or earlier, before which nobody makes a request any more, if the core that has its turn makes none before `now`.
    pub(crate) fn settled_by(&self, now: u64) -> u64 {
        now.min(self.horizon)
    }
}
