//! Gets the simulated caches' sets that a core is about to look up into the host's caches.
//!
//! The state of many cores does not fit there, and a look-up that misses takes the host longer than the rest of the event. The events
//! to come are known, so their sets can be asked for in time. Nothing that is simulated depends on it.

use crate::hierarchy::{Hierarchy, Port};
use traces::Event;

/// How many events ahead: as many as the host runs while it waits for a line.
const AHEAD: usize = 8;
/// The set in the first cache is asked for so many ahead, as it has to be there when the others are.
const FIRST_AHEAD: usize = 2 * AHEAD;
/// Events after which it is asked again whether that is worth while.
const PERIOD: u64 = 1024;
/// So many misses in the first cache are, of as many events: without them the core's state is small, and the host has it at hand.
const FEWEST_MISSES: u64 = 32;

/// Whether a core looks ahead.
#[derive(Clone, Debug, Default)]
pub(super) struct Foresight {
    looks: bool,
    /// Misses when that was found out.
    misses: u64,
    /// When it is to be found out again.
    again: u64,
}

impl Foresight {
    /// The core has run so many events.
    #[inline]
    pub(super) fn learn(&mut self, events: u64, port: &Port) {
        if events >= self.again {
            let misses = port.first_misses();
            self.looks = misses - self.misses >= FEWEST_MISSES;
            self.misses = misses;
            self.again = events + PERIOD;
        }
    }

    /// Asks for what one of the `later` events looks up.
    #[inline(always)]
    pub(super) fn look(&self, port: &Port, caches: &Hierarchy, later: &[Event]) {
        if !self.looks {
            return;
        }
        let address = |ahead: usize| {
            let event = later.get(ahead)?;
            event.kind.is_access().then_some(event.address)
        };
        if let Some(address) = address(FIRST_AHEAD) {
            caches.foresee_first(port, address);
        }
        if let Some(address) = address(AHEAD) {
            caches.foresee_others(port, address);
        }
    }
}
