//! Lines whose times are not known yet: who needs one waits, and the memory is simulated no further than all others have come.

use super::{Multicore, Pages, order};
use crate::clock;
use traces::{EventSource, SinkError};

/// Cores that wait until it is known when a line comes.
#[derive(Debug, Default)]
pub(super) struct Awaiting {
    cores: Vec<usize>,
    /// Others, which ask for lines when others have come, whatever their next event is.
    asking: Vec<usize>,
    /// Lines that the memory knew of when they were asked last whether they still wait.
    learned: u64,
}

impl Awaiting {
    pub(super) fn is_anybody(&self) -> bool {
        !self.cores.is_empty()
    }

    /// A core has its turn: it goes on itself when lines come.
    pub(super) fn leave(&mut self, number: usize) {
        self.cores.retain(|&core| core != number);
        self.asking.retain(|&core| core != number);
    }
}

impl Multicore {
    /// Whether a core, before its next event, has to wait until it is known when a line comes. It is noted then.
    pub(super) fn waits_for_line(&mut self, number: usize) -> bool {
        self.awaiting.leave(number);
        self.give_turn(number);
        let core = &mut self.system.cores[number];
        let next = self.threads[number].events().first();
        if !core.waits_for_line(&mut self.system.caches, next) {
            if core.will_ask() {
                self.awaiting.asking.push(number);
            }
            return false;
        }
        let asks = core.next_ask();
        self.order
            .go_on(number, asks.min(order::NEVER), core.asks_from());
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

    /// Whatever is asked for from now on is asked for by this core. Others ask for nothing before they go on.
    pub(super) fn give_turn(&mut self, number: usize) {
        let arrival = self.pages.as_ref().map_or(u64::MAX, Pages::next);
        let horizon = self.order.earliest_of_others(number);
        self.system.caches.set_horizon(horizon.min(arrival));
        if self.leaves_loads_open {
            self.system.caches.memory.set_core(number);
        }
    }

    /// Simulates memory until no line may come before the core that goes on first does something, or before a page comes. Cores go on whose
    /// lines come.
    pub(super) fn find_lines(
        &mut self,
        sources: &mut [&mut dyn EventSource],
    ) -> Result<(), SinkError> {
        while self.awaiting.is_anybody() || !self.awaiting.asking.is_empty() {
            let learned = self.system.caches.memory.learned();
            if learned != self.awaiting.learned {
                self.awaiting.learned = learned;
                let Awaiting { cores, asking, .. } = &self.awaiting;
                for number in [&cores[..], asking].concat() {
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
            if limit < begins {
                return Ok(());
            }
            assert!(begins < order::NEVER, "a line that was asked for comes");
            if self.system.cores[number].next_ask() > begins {
                return Ok(());
            }
            self.give_turn(number);
            self.system.cores[number].ask_until(&mut self.system.caches, begins);
            self.go_on(number, sources)?;
        }
        Ok(())
    }
}
