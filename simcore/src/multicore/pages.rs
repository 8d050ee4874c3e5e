//! Pages from storage: cores that have stopped, and how long the others may run before one of them goes on.

use crate::clock::Clock;
use crate::storage::{Arrival, Storage};
use crate::system::System;
use traces::SinkError;

/// Storage beside cores.
#[derive(Debug)]
pub(super) struct Pages {
    storage: Box<dyn Storage>,
    clock: Clock,
    /// The first cycle that begins when the next thing happens in storage, or later: no core that has stopped goes on before.
    next: u64,
    /// Programs that have ended, or are at a barrier for that, and have yet to ask when all that they wrote is there.
    to_wait: Vec<usize>,
    /// Cores that wait for that.
    waiting: usize,
}

impl Pages {
    pub(super) fn new(storage: Box<dyn Storage>, hz: u64) -> Self {
        Self {
            storage,
            clock: Clock::new(hz),
            next: u64::MAX,
            to_wait: Vec::new(),
            waiting: 0,
        }
    }

    /// The cycle before which no core that has stopped goes on.
    #[inline]
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// Passes on to storage what a core asks for; true if the core stops.
    pub(super) fn serve(&mut self, number: usize, system: &mut System) -> Result<bool, SinkError> {
        let System { cores, caches } = system;
        let Some((request, at_ps)) = cores[number].asked(caches)? else {
            return Ok(false);
        };
        self.storage.ask(number, request, at_ps)?;
        self.look()?;
        Ok(request.stops())
    }

    /// Lets storage go on up to the beginning of a cycle before which no core asks for anything more, or up to the first arrival: gives
    /// the core that goes on then, and what it waited for.
    pub(super) fn advance(
        &mut self,
        cycle: Option<u64>,
    ) -> Result<Option<(usize, Arrival)>, SinkError> {
        let until_ps = cycle.map_or(u64::MAX, |cycle| self.clock.ps(cycle));
        let arrived = self.storage.advance(until_ps)?;
        self.look()?;
        Ok(arrived)
    }

    /// Whether a cycle does not begin before something arrives.
    pub(super) fn has_begun(&self, cycle: u64, arrival: Arrival) -> bool {
        cycle >= self.clock.cycle_from(arrival.at_ps)
    }

    /// A program goes no further before all that it wrote is there.
    pub(super) fn await_written_by(&mut self, program: usize) {
        self.to_wait.push(program);
    }

    /// A program that has to wait for that and has not asked yet.
    pub(super) fn next_waiting(&mut self) -> Option<usize> {
        self.to_wait.pop()
    }

    /// Asks when all that a program wrote is there, on behalf of the last of its cores.
    pub(super) fn await_written(
        &mut self,
        number: usize,
        system: &mut System,
    ) -> Result<(), SinkError> {
        system.cores[number].ask_for_written();
        self.waiting += usize::from(self.serve(number, system)?);
        Ok(())
    }

    /// A core has waited for all that its program wrote.
    pub(super) fn is_written(&mut self) {
        self.waiting -= 1;
    }

    /// Whether a core waits for all that its program wrote.
    pub(super) fn has_waiting(&self) -> bool {
        self.waiting > 0
    }

    /// What to say if nothing that is waited for comes before the end of time.
    pub(super) fn too_long(&self) -> SinkError {
        self.clock.too_long()
    }

    fn look(&mut self) -> Result<(), SinkError> {
        let next_ps = self.storage.next_ps()?;
        self.next = next_ps.map_or(u64::MAX, |ps| self.clock.cycle_from(ps));
        Ok(())
    }
}
