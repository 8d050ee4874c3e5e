//! Others that empty the caches again and again.

use super::turn::Before;
use super::{Core, Turn};
use crate::hierarchy::Hierarchy;
use crate::spec::InterferenceSpec;
use traces::{Event, Kind, SinkError};

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
    /// Runs events as long as the core's turn lasts, in pieces between which the caches are emptied, and gives how many.
    ///
    /// Out of line: it is a copy of its own of all that runs events, beside the one that most runs use.
    ///
    /// # Errors
    /// An event that the machine cannot run.
    #[cold]
    #[inline(never)]
    pub(super) fn take_disturbed(
        &mut self,
        caches: &mut Hierarchy,
        events: &[Event],
        turn: &impl Turn,
    ) -> Result<usize, SinkError> {
        let mut taken = 0;
        // Nothing happens but before an event that is the core's own to run, so that batches do not matter.
        while let Some(next) = events.get(taken)
            && turn.runs(next)
        {
            if next.kind == Kind::Barrier || next.kind.is_of_latch() {
                // Nothing happens before a barrier at which others are met, and so not before one at which nobody is. Latches are alike.
                self.events += 1;
                self.marker(caches, next)?;
                taken += 1;
                continue;
            }
            let Some(cycle) = self.disturb(caches, turn) else {
                break;
            };
            taken += self.take_undisturbed(caches, &events[taken..], &Before { turn, cycle })?;
            if self.now() < cycle || self.has_asked() {
                break;
            }
        }
        Ok(taken)
    }

    /// Whether the caches are to be emptied before the next event.
    #[inline]
    pub(super) fn is_disturbed(&self) -> bool {
        let interference = self.interference.as_ref();
        interference.is_some_and(|interference| self.now() >= interference.next)
    }

    /// Empties the caches if that is due, and gives the cycle in which it is due next; nothing if the turn ends before.
    fn disturb(&mut self, caches: &mut Hierarchy, turn: &impl Turn) -> Option<u64> {
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
