//! Stops at pages: a core that reads a page goes on when it is there.

use super::Core;
use crate::clock::Clock;
use crate::ledger::Cause;
use crate::statistics::PageStatistics;
use crate::storage::{Arrival, Storage};
use traces::{Kind, SinkError};

/// Where a core's pages come from, and what it has waited for.
#[derive(Debug)]
pub(super) struct Stops {
    storage: Box<dyn Storage>,
    clock: Clock,
    pub(super) statistics: PageStatistics,
}

impl Stops {
    pub(super) fn new(storage: Box<dyn Storage>, hz: u64) -> Self {
        Self {
            storage,
            clock: Clock::new(hz),
            statistics: PageStatistics::default(),
        }
    }

    /// Does what an event asks of a page in cycle `cycle`, and gives the cycle in which the core goes on if it has to wait.
    fn request(&mut self, kind: Kind, page: u64, cycle: u64) -> Result<Option<u64>, SinkError> {
        let at_ps = self.clock.ps(cycle);
        let counts = &mut self.statistics;
        let arrival = match kind {
            Kind::PagePrefetch => {
                counts.prefetches += 1;
                self.storage.prefetch(page, at_ps)?;
                return Ok(None);
            }
            Kind::PageWrite => {
                counts.writes += 1;
                self.storage.write(page, at_ps)?
            }
            _ => {
                counts.reads += 1;
                self.storage.read(page, at_ps)?
            }
        };
        Ok(self.stopped(arrival, at_ps))
    }

    /// Counts a wait, and gives the cycle in which the core goes on if there is one.
    fn stopped(&mut self, arrival: Arrival, at_ps: u64) -> Option<u64> {
        if arrival.at_ps <= at_ps {
            return None;
        }
        let counts = &mut self.statistics;
        let resumed = self.clock.cycle_from(arrival.at_ps);
        let mut parts = arrival.parts;
        parts.overhead_ps += self.clock.ps(resumed) - arrival.at_ps;
        debug_assert_eq!(parts.total_ps(), self.clock.ps(resumed) - at_ps);
        counts.stops += 1;
        counts.wait = counts.wait.both(&parts, |sum, part| sum + part);
        Some(resumed)
    }

    /// The cycle in which everything written is there, if the core has to wait for it.
    fn finish(&mut self, cycle: u64) -> Result<Option<u64>, SinkError> {
        let at_ps = self.clock.ps(cycle);
        let arrival = self.storage.finish(at_ps)?;
        Ok(self.stopped(arrival, at_ps))
    }
}

impl Core {
    /// Has pages come from `storage`. Nothing has been run.
    pub(crate) fn set_storage(&mut self, storage: Box<dyn Storage>) {
        self.machinery.ledger.await_storage();
        self.stops = Some(Box::new(Stops::new(storage, self.spec.clock_hz)));
        self.overwrite_frames();
    }

    /// Asks storage for a page, if there is one; the core stops behind all instructions so far.
    pub(super) fn stop_at_page(&mut self, kind: Kind, page: u64) -> Result<(), SinkError> {
        self.stop(|stops, cycle| stops.request(kind, page, cycle))
    }

    /// Waits until all pages that were written are on storage, if there is one.
    pub(crate) fn await_written(&mut self) -> Result<(), SinkError> {
        self.stop(Stops::finish)
    }

    fn stop(
        &mut self,
        ask: impl FnOnce(&mut Stops, u64) -> Result<Option<u64>, SinkError>,
    ) -> Result<(), SinkError> {
        let cycle = self
            .position()
            .div_ceil(u64::from(self.spec.core.issue_width));
        let Some(stops) = &mut self.stops else {
            return Ok(());
        };
        if let Some(resumed) = ask(stops, cycle)? {
            // It stops at the end of a cycle.
            self.pipeline
                .wait_until(&mut self.machinery, cycle, Cause::Other);
            self.pipeline
                .wait_until(&mut self.machinery, resumed, Cause::Storage);
        }
        Ok(())
    }
}
