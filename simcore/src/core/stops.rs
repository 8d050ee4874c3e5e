//! Stops at pages: a core that reads a page goes on when it is there.

use super::Core;
use crate::clock::Clock;
use crate::hierarchy::{Hierarchy, Port};
use crate::ledger::Cause;
use crate::statistics::PageStatistics;
use crate::storage::{Arrival, Fill, Request};
use std::collections::HashSet;
use traces::{Event, Kind, SinkError};

/// What a core asks of storage, and what it has waited for.
#[derive(Debug)]
pub(super) struct Stops {
    clock: Clock,
    /// Cycles that the operating system takes of the core to have a page read or written.
    cpu_per_page: u64,
    /// Pages that it was asked for ahead, and that were not read yet, in frames of the core's own: these cost nothing any more.
    ahead: HashSet<u64>,
    /// What is to be passed on to storage before the core goes on.
    asked: Option<Request>,
    /// The page that it has stopped for, or that has just come.
    comes: Option<Fill>,
    /// The cycle at whose beginning it stopped.
    stopped: u64,
    /// Slots of the wait for a page that has just come, and the place that was charged for them.
    charged: Option<(u32, u64)>,
    pub(super) statistics: PageStatistics,
}

impl Stops {
    fn new(hz: u64, cpu_per_page_ps: u64) -> Self {
        let clock = Clock::new(hz);
        Self {
            clock,
            cpu_per_page: clock.cycle_from(cpu_per_page_ps),
            ahead: HashSet::new(),
            asked: None,
            comes: None,
            stopped: 0,
            charged: None,
            statistics: PageStatistics::default(),
        }
    }

    /// Whether the operating system has to be called for a request that is passed on: not for a page that it was asked for ahead, be it by
    /// another core of the program, nor for one that another core is to read, which calls it then.
    fn has_to_call(&mut self, request: Request, caches: &mut Hierarchy, port: &Port) -> bool {
        self.cpu_per_page > 0
            && match request {
                Request::Prefetch(fill) if fill.is_shared() => {
                    caches.ask_for_page_ahead(port, fill)
                }
                Request::Read(fill) if fill.is_shared() => !caches.read_page(port, fill),
                Request::Prefetch(fill) => self.ahead.insert(fill.page),
                Request::Read(fill) => !self.ahead.remove(&fill.page),
                Request::Write(_) => true,
                Request::Wait(_) | Request::Finish | Request::Measure => false,
            }
    }

    /// Counts a wait, and gives the cycle in which the core goes on if there was one.
    fn waited(&mut self, arrival: Arrival) -> Option<u64> {
        let stopped_ps = self.clock.ps(self.stopped);
        if arrival.at_ps <= stopped_ps {
            return None;
        }
        let counts = &mut self.statistics;
        let resumed = self.clock.cycle_from(arrival.at_ps);
        let mut parts = arrival.parts;
        parts.overhead_ps += self.clock.ps(resumed) - arrival.at_ps;
        debug_assert_eq!(parts.total_ps(), self.clock.ps(resumed) - stopped_ps);
        counts.stops += 1;
        counts.wait = counts.wait.both(&parts, |sum, part| sum + part);
        Some(resumed)
    }
}

impl Core {
    /// Has pages come from storage, for each of which the operating system takes so much time of the core. Nothing has been run.
    pub(crate) fn await_pages(&mut self, cpu_per_page_ps: u64) {
        self.machinery.ledger.await_storage(cpu_per_page_ps > 0);
        let stops = Stops::new(self.spec.clock_hz, cpu_per_page_ps);
        self.stops = Some(Box::new(stops));
        self.overwrite_frames();
    }

    /// Asks storage for a page, if there is one; the core goes on when that has been passed on.
    pub(super) fn ask_for_page(&mut self, event: &Event) {
        let Some(stops) = &mut self.stops else {
            return;
        };
        let fill = Fill {
            page: event.address,
            number: event.fill(),
        };
        let counts = &mut stops.statistics;
        let request = match event.kind {
            Kind::PagePrefetch => {
                counts.prefetches += 1;
                Request::Prefetch(fill)
            }
            Kind::PageWrite => {
                counts.writes += 1;
                Request::Write(fill.page)
            }
            Kind::PageWait => Request::Wait(fill),
            _ => {
                counts.reads += 1;
                Request::Read(fill)
            }
        };
        stops.comes = matches!(request, Request::Read(_) | Request::Wait(_)).then_some(fill);
        stops.asked = Some(request);
        stops.charged = None;
    }

    /// Whether an arrival is that of a page that nobody has found in its frame yet: the frame's lines are still those of the page before.
    pub(super) fn finds_old_lines(&mut self, caches: &mut Hierarchy, arrival: &Event) -> bool {
        let stops = self.stops.as_mut();
        match stops.and_then(|stops| stops.comes.take()) {
            Some(fill) if fill.is_shared() => caches.find_page(&self.machinery.port, fill),
            Some(_) => true,
            None => !arrival.comes_for_another(),
        }
    }

    /// Has the data structure whose frame a page has come into pay for the wait for it, and not the one that was touched before.
    pub(super) fn charge_to_frame(&mut self, arrival: &Event) {
        let stops = self.stops.as_mut();
        if let Some((place, slots)) = stops.and_then(|stops| stops.charged.take()) {
            let ledger = &mut self.machinery.ledger;
            ledger.pass_on(Cause::Storage, slots, place, arrival);
        }
    }

    /// The core has warmed up: the ledger forgets what was charged, and storage what it has done.
    pub(super) fn measure_storage(&mut self) {
        if let Some(stops) = &mut self.stops {
            stops.charged = None;
            stops.asked = Some(Request::Measure);
        }
    }

    /// Asks when all pages that were written are there: the program ends.
    pub(crate) fn ask_for_written(&mut self) {
        if let Some(stops) = &mut self.stops {
            stops.asked = Some(Request::Finish);
            stops.comes = None;
        }
    }

    /// Whether something is to be passed on to storage.
    #[inline]
    pub(crate) fn has_asked(&self) -> bool {
        self.stops
            .as_ref()
            .is_some_and(|stops| stops.asked.is_some())
    }

    /// What is to be passed on to storage, and at what time: at the end of the cycle in which all instructions so far have graduated, or
    /// of a later one in which the next could be dispatched, or in which the operating system has done its part.
    ///
    /// # Errors
    /// The run has lasted too long.
    pub(crate) fn asked(
        &mut self,
        caches: &mut Hierarchy,
    ) -> Result<Option<(Request, u64)>, SinkError> {
        if !self.has_asked() {
            return Ok(None);
        }
        self.close_loads(caches);
        let mut cycle = self.graduated().max(self.now());
        let Some(stops) = &mut self.stops else {
            return Ok(None);
        };
        let Some(request) = stops.asked.take() else {
            return Ok(None);
        };
        let machinery = &mut self.machinery;
        if stops.has_to_call(request, caches, &machinery.port) {
            self.pipeline.wait_until(machinery, cycle, Cause::Other);
            cycle += stops.cpu_per_page;
            self.pipeline.wait_until(machinery, cycle, Cause::System);
        }
        stops.clock.check(cycle)?;
        stops.stopped = cycle;
        Ok(Some((request, stops.clock.ps(cycle))))
    }

    /// Goes on: what the core has stopped for is there. Where there are others, they have gone on meanwhile to the cycle in which it stopped,
    /// and nothing of it may come before.
    ///
    /// # Errors
    /// It has waited too long.
    pub(crate) fn resume(
        &mut self,
        caches: &mut Hierarchy,
        arrival: Arrival,
        has_others: bool,
    ) -> Result<(), SinkError> {
        let Some(stops) = &mut self.stops else {
            return Ok(());
        };
        stops.clock.check(stops.clock.cycle_from(arrival.at_ps))?;
        if let Some(fill) = stops.comes.filter(|fill| arrival.first && fill.is_shared()) {
            caches.bring_page(&self.machinery.port, fill);
        }
        let (machinery, stopped, resumed) =
            (&mut self.machinery, stops.stopped, stops.waited(arrival));
        if has_others || resumed.is_some() {
            self.pipeline.wait_until(machinery, stopped, Cause::Other);
        }
        if let Some(resumed) = resumed {
            self.pipeline.wait_until(machinery, resumed, Cause::Storage);
            let width = u64::from(self.spec.core.issue_width);
            stops.charged = Some((machinery.ledger.place(), (resumed - stopped) * width));
        }
        Ok(())
    }

    /// The cycle at whose end all instructions so far have graduated.
    fn graduated(&self) -> u64 {
        self.position()
            .div_ceil(u64::from(self.spec.core.issue_width))
    }
}
