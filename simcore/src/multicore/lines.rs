//! Lines whose times are not known yet: who needs one waits, and the memory is simulated no further than all others have come.

use super::{Multicore, Pages, order};
use crate::clock;
use traces::{EventSource, SinkError};

/// Cores that wait until it is known when a line comes.
#[derive(Debug, Default)]
pub(super) struct Awaiting {
    cores: Vec<usize>,
    /// Lines that the memory knew of when they were asked last whether they still wait.
    learned: u64,
}

impl Awaiting {
    pub(super) fn is_anybody(&self) -> bool {
        !self.cores.is_empty()
    }
}

impl Multicore {
    /// Whether a core, before its next event, has to wait until it is known when a line comes. It is noted then.
    pub(super) fn waits_for_line(&mut self, number: usize) -> bool {
        self.awaiting.cores.retain(|&core| core != number);
        let core = &mut self.system.cores[number];
        let next = self.threads[number].events().first();
        let Some(until) = core.waits_for_line(&mut self.system.caches, next) else {
            return false;
        };
        let at_the_latest = if until < clock::END {
            until
        } else {
            order::NEVER
        };
        self.order.go_on(number, at_the_latest, core.asks_from());
        self.awaiting.cores.push(number);
        true
    }

    /// Whether the core that goes on first waits for a line, and nobody else can go on before.
    pub(super) fn is_awaiting_first(&self) -> bool {
        // Every turn asks, and mostly nobody waits.
        if !self.awaiting.is_anybody() {
            return false;
        }
        let first = self.order.first_two().0;
        first.is_some_and(|(number, _)| self.awaiting.cores.contains(&number))
    }

    /// Simulates memory until no line may come before the core that goes on first does something, or before a page comes. Cores go on whose
    /// lines come.
    pub(super) fn find_lines(
        &mut self,
        sources: &mut [&mut dyn EventSource],
    ) -> Result<(), SinkError> {
        while self.awaiting.is_anybody() {
            let learned = self.system.caches.memory.learned();
            if learned != self.awaiting.learned {
                self.awaiting.learned = learned;
                for number in self.awaiting.cores.clone() {
                    self.go_on(number, sources)?;
                }
                continue;
            }
            let Some((number, begins)) = self.order.first_two().0 else {
                return Ok(());
            };
            let arrival = self.pages.as_ref().map_or(u64::MAX, Pages::next);
            let limit = begins.min(arrival);
            if self.system.caches.memory.advance(limit.min(clock::END)) {
                continue;
            }
            if limit < begins || !self.awaiting.cores.contains(&number) {
                return Ok(());
            }
            assert!(begins < order::NEVER, "a line that was asked for comes");
            // A miss handler is free by now.
            self.go_on(number, sources)?;
            debug_assert_ne!(
                self.order
                    .first_two()
                    .0
                    .filter(|_| self.is_awaiting_first()),
                Some((number, begins)),
                "who waits until a cycle waits no longer when the memory is there"
            );
        }
        Ok(())
    }
}
