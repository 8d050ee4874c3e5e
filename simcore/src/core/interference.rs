//! Others that empty the caches again and again.

use super::turn::{Before, may_be_disturbed};
use super::{Clocked, Core, Turn};
use crate::hierarchy::Hierarchy;
use crate::spec::InterferenceSpec;
use traces::{Event, SinkError};

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

    /// It has happened in a cycle, however many intervals have passed until then.
    fn happened(&mut self, cycle: u64) {
        self.next = (cycle / self.interval + 1) * self.interval;
        self.flushes += 1;
    }
}

impl Core {
    /// Runs events as long as the core's turn lasts, in pieces between which the caches are emptied, and gives how many. Where there may be
    /// other cores, the turn ends before that, as their caches are emptied, too.
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
        // Nothing happens but before an event that is there, so that batches do not matter.
        while let Some(next) = events.get(taken) {
            if let Some(cycle) = self.emptied_before(next) {
                if !turn.is_alone() {
                    break;
                }
                self.empty_own_caches(caches, cycle);
            }
            let Some(interference) = self.interference else {
                break;
            };
            let before = Before {
                turn,
                cycle: interference.next,
            };
            taken += self.take_undisturbed(caches, &events[taken..], &before)?;
            let goes_on = |next: &Event| self.emptied_before(next).is_some();
            if self.has_asked() || !events.get(taken).is_some_and(goes_on) {
                break;
            }
        }
        Ok(taken)
    }

    /// The cycle in which all caches are to be emptied before the core's next event, if they are.
    #[inline]
    pub(crate) fn emptied_before(&self, next: &Event) -> Option<u64> {
        let interference = self.interference.as_ref()?;
        let cycle = self.pipeline.dispatches(next);
        (may_be_disturbed(next) && cycle >= interference.next).then_some(cycle)
    }

    /// Empties the caches that are the core's own. What happens behind the end of its program is not counted for it.
    pub(crate) fn empty_own_caches(&mut self, caches: &mut Hierarchy, cycle: u64) {
        let port = &mut self.machinery.port;
        if port.has_left() {
            return caches.write_out_own(&mut port.clone(), cycle);
        }
        caches.write_out_own(port, cycle);
        if let Some(interference) = &mut self.interference {
            interference.happened(cycle);
        }
    }

    /// Empties the caches that it shares with others, which have been told of their own.
    pub(crate) fn empty_shared_caches(&mut self, caches: &mut Hierarchy, cycle: u64) {
        caches.write_out_shared(&mut self.machinery.port, cycle);
    }
}
