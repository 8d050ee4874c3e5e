//! Others that empty the caches again and again.

use super::{Core, Turn};
use crate::hierarchy::Hierarchy;
use crate::spec::InterferenceSpec;

/// When the caches are emptied.
#[derive(Clone, Copy, Debug)]
pub(super) struct Interference {
    interval: u64,
    /// The cycle in which it happens next.
    next: u64,
    /// How often it has happened.
    pub(super) flushes: u64,
}

impl Interference {
    pub(super) fn new(spec: InterferenceSpec) -> Self {
        Self {
            interval: spec.flush_interval_cycles,
            next: spec.flush_interval_cycles,
            flushes: 0,
        }
    }
}

impl Core {
    /// Empties the caches if that is due, and gives the cycle in which it is due next; nothing if the turn ends before.
    pub(super) fn disturb(&mut self, caches: &mut Hierarchy, turn: &impl Turn) -> Option<u64> {
        let now = self.now();
        let interference = self.interference.as_mut()?;
        if now >= interference.next {
            if !turn.lasts(now) {
                return None;
            }
            // However many intervals the latest event took.
            let number = now / interference.interval;
            interference.next = (number + 1) * interference.interval;
            interference.flushes += 1;
            caches.write_out_all(&mut self.machinery.port, number, now);
        }
        Some(interference.next)
    }
}
