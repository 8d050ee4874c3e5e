//! One core in the middle of a run: it consumes events and says what they cost.

mod arrivals;
mod calls;
mod event_times;
mod foresight;
mod functional;
mod groups;
mod in_order;
mod interference;
mod machinery;
mod mispredictions;
mod out_of_order;
mod pace;
mod pipeline;
mod results;
mod retirement;
mod routines;
mod runner;
mod stops;
mod timing;
mod turn;
mod units;

pub use event_times::EventTimes;
pub(crate) use event_times::Watched;
use groups::Groups;
use in_order::InOrder;
use interference::Interference;
use machinery::Machinery;
use out_of_order::OutOfOrder;
use pace::{Flow, Pace};
use pipeline::Pipeline;
use retirement::cycles_by_retired;
use stops::Stops;
use turn::{Clocked, Endless};
pub(crate) use turn::{Turn, Until};

use crate::clock::Clock;
use crate::hierarchy::{Cycles, Hierarchy, Overwritten, Port};
use crate::ledger::{Accounts, Cause, Ledger, Waits};
use crate::page_requests::PageRequests;
use crate::spec::{MachineSpec, SpecError};
use crate::statistics::{DramStatistics, ReadingStatistics, Statistics};
use calls::Calls;
use std::sync::Arc;
use traces::{Event, Kind, Layout, SinkError};

/// What one core runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Program<'l> {
    /// The names that its events refer to.
    pub(crate) layout: &'l Layout,
    /// Which program it is, from 0 on: equal addresses of one are one place, and programs have nothing in common.
    pub(crate) number: u64,
    /// What its slots are charged to.
    pub(crate) accounts: Accounts,
}

/// A pipeline with everything that it has for itself. Caches, and the memory behind them, are handed to it.
#[derive(Debug)]
pub(crate) struct Core {
    spec: Arc<MachineSpec>,
    layout: Layout,
    machinery: Machinery,
    pipeline: Pipeline,
    calls: Option<Box<Calls>>,
    page_requests: PageRequests,
    events: u64,
    readings: ReadingStatistics,
    interference: Option<Interference>,
    /// Where pages come from; from nowhere, if they take no time.
    stops: Option<Box<Stops>>,
    /// Lines that pages have overwritten; nothing if pages that arrive leave their frames as they are.
    overwritten: Option<Box<Overwritten>>,
    /// Where the measurement began; nothing if all of the run is measured.
    began: Option<Box<Began>>,
    /// Whether other programs run at the same time, which cannot be paused: a flush leaves caches and TLB as they are.
    has_neighbours: bool,
}

/// The end of the warm-up.
#[derive(Debug)]
struct Began {
    /// Graduation slots filled or charged before.
    position: u64,
    /// Everything counted before.
    counts: Statistics,
}

impl Core {
    /// A core at cycle 0, one of `cores`, that reaches the caches through `port`. The specification has been validated.
    ///
    /// # Errors
    /// There are too many accounts, or the DBMS profile has no room behind the layout's segments.
    pub(crate) fn new(
        spec: &Arc<MachineSpec>,
        cores: usize,
        Program {
            layout, accounts, ..
        }: Program<'_>,
        port: Port,
    ) -> Result<Self, SpecError> {
        let waits = Waits {
            code: spec.instruction_cache.is_some(),
            others: cores > 1,
            coherent: cores > 1 && spec.coherence.is_some(),
            storage: false,
            system: false,
        };
        let ledger = Ledger::new(layout, accounts, waits)?;
        let dbms = spec.dbms.as_ref();
        let calls = dbms.map(|dbms| Calls::new(dbms, spec, layout));
        Ok(Self {
            spec: Arc::clone(spec),
            layout: layout.clone(),
            machinery: Machinery::new(spec, layout, ledger, port),
            pipeline: Pipeline::new(spec),
            calls: calls.transpose()?.map(Box::new),
            page_requests: PageRequests::default(),
            events: 0,
            readings: ReadingStatistics::default(),
            interference: spec.interference.map(Interference::new),
            stops: None,
            overwritten: None,
            began: None,
            has_neighbours: false,
        })
    }

    /// Other programs run at the same time, and this one begins in a cycle, before which nothing is counted. Nothing has been run.
    pub(crate) fn begin_beside_others(&mut self, caches: &Hierarchy, cycle: u64) {
        self.has_neighbours = true;
        if cycle > 0 {
            self.leave_barrier(cycle);
            self.measure(caches);
        }
    }

    /// Runs events up to the first that asks storage for something, and gives how many.
    ///
    /// # Errors
    /// An event that the machine cannot run.
    pub(crate) fn consume(
        &mut self,
        caches: &mut Hierarchy,
        events: &[Event],
    ) -> Result<usize, SinkError> {
        self.take_turn(caches, events, &Endless)
    }

    /// Runs events as long as the core's turn lasts, up to the first that asks storage for something, and gives how many.
    ///
    /// # Errors
    /// An event that the machine cannot run.
    pub(crate) fn take_turn(
        &mut self,
        caches: &mut Hierarchy,
        events: &[Event],
        turn: &impl Turn,
    ) -> Result<usize, SinkError> {
        match self.interference {
            None => self.take_undisturbed(caches, events, turn),
            Some(_) => self.take_disturbed(caches, events, turn),
        }
    }

    /// Runs events of a turn in which nobody else empties the caches, and gives how many.
    fn take_undisturbed(
        &mut self,
        caches: &mut Hierarchy,
        events: &[Event],
        turn: &impl Turn,
    ) -> Result<usize, SinkError> {
        let mut taken = 0;
        loop {
            let machinery = &mut self.machinery;
            let run = self.pipeline.run(machinery, caches, &events[taken..], turn);
            self.events += run as u64;
            self.machinery.learn_foresight(self.events);
            taken += run;
            let Some(marker) = events.get(taken) else {
                return Ok(taken);
            };
            if marker.kind.is_instruction()
                || self.pipeline.is_waiting()
                || !turn.includes(&self.pipeline, &mut self.machinery, caches, marker)
            {
                return Ok(taken);
            }
            self.events += 1;
            taken += 1;
            self.marker(caches, marker)?;
            if self.has_asked() {
                return Ok(taken);
            }
        }
    }

    /// Cycles per second.
    pub(crate) fn clock_hz(&self) -> u64 {
        self.spec.clock_hz
    }

    /// Whether the run may go on.
    ///
    /// # Errors
    /// It has lasted too long, or the memory behind the caches does not go on.
    pub(crate) fn check(&self, caches: &Hierarchy) -> Result<(), SinkError> {
        Clock::new(self.clock_hz()).check(self.now())?;
        caches.memory.check()
    }

    /// What to say if nothing that is waited for comes before the end of time.
    pub(crate) fn too_long(&self) -> SinkError {
        Clock::new(self.clock_hz()).too_long()
    }

    /// Cycle in which the next instruction is dispatched at the earliest.
    pub(crate) fn now(&self) -> u64 {
        self.pipeline.now()
    }

    /// Cycle in which the core does next what others notice, `event` being the next one, where its own caches are nobody else's or not.
    pub(crate) fn begins(
        &mut self,
        caches: &Hierarchy,
        event: &Event,
        has_own_caches: bool,
    ) -> u64 {
        if let Some(cycle) = self.emptied_before(event) {
            return cycle;
        }
        let now = self.now();
        let begins = self.pipeline.begins(now, &self.machinery, event);
        if now == begins {
            return now;
        }
        let machinery = &mut self.machinery;
        if machinery.keeps_to_itself(caches, event, has_own_caches) {
            return now;
        }
        begins
    }

    /// Runs up to a barrier, or to where a latch is released, and gives the cycle in which all before it is done.
    pub(crate) fn reach(&mut self, caches: &mut Hierarchy, event: &Event) -> u64 {
        self.close_loads(caches);
        self.events += 1;
        let plain = u64::from(event.instructions);
        self.pipeline.pass(&mut self.machinery, plain);
        self.pipeline.settle_stores(&mut self.machinery, caches);
        self.done()
    }

    /// The cycle at whose end all instructions so far have graduated, those that wait for nothing have their results, and stores are written.
    fn done(&self) -> u64 {
        let width = u64::from(self.spec.core.issue_width);
        let graduated = self.position().div_ceil(width);
        let pipeline = &self.pipeline;
        graduated
            .max(pipeline.results_there())
            .max(pipeline.stores_drained())
    }

    /// Goes on behind a barrier at which the last core is in cycle `cycle`. Until its own results are there and its own stores are written
    /// the core waits for those, and for the others only then.
    pub(crate) fn leave_barrier(&mut self, cycle: u64) {
        self.pipeline.wait_for_results(&mut self.machinery);
        self.pipeline.wait_until_written(&mut self.machinery);
        self.pipeline
            .wait_until(&mut self.machinery, cycle, Cause::Barrier);
    }

    /// Takes a latch that another core releases in cycle `free`, or has released, if the core would not come later anyway.
    pub(crate) fn take_latch(&mut self, caches: &mut Hierarchy, event: &Event, free: u64) {
        self.close_loads(caches);
        let begins = self.pipeline.begins(self.now(), &self.machinery, event);
        self.events += 1;
        let plain = u64::from(event.instructions);
        self.pipeline.pass(&mut self.machinery, plain);
        if free > begins {
            // The data structure that the latch is of pays.
            self.machinery.touch(event, self.pipeline.instructions());
            self.pipeline
                .wait_until(&mut self.machinery, free, Cause::Barrier);
        }
    }

    /// Has read what another core may have changed meanwhile, `in_vain` if one did, and may read it `again`.
    pub(crate) fn count_reading(&mut self, in_vain: bool, again: bool) {
        self.readings.ended += 1;
        self.readings.in_vain += u64::from(in_vain);
        self.readings.repeated += u64::from(again);
    }

    /// Waits for loads that were left open: somebody wants to know how far the core is.
    pub(crate) fn close_loads(&mut self, caches: &mut Hierarchy) {
        self.pipeline.close_loads(&mut self.machinery, caches);
    }

    /// Whether the next event, or the end if there is none, has to wait until it is known when a line comes. Other cores have their turns meanwhile.
    pub(crate) fn waits_for_line(&mut self, caches: &mut Hierarchy, event: Option<&Event>) -> bool {
        // With interference loads wait themselves.
        self.interference.is_none()
            && self
                .pipeline
                .waits_for_line(&mut self.machinery, caches, event)
    }

    /// When the core asks for a line next, if none comes before, and however long its next event waits.
    pub(crate) fn next_ask(&self) -> u64 {
        self.pipeline.next_ask()
    }

    /// Asks for lines up to a cycle.
    pub(crate) fn ask_until(&mut self, caches: &mut Hierarchy, cycle: u64) {
        self.pipeline.ask_until(&mut self.machinery, caches, cycle);
    }

    /// Whether the core will ask for a line, before its next event, when others have come.
    pub(crate) fn will_ask(&self) -> bool {
        self.pipeline.will_ask()
    }

    /// A cycle that nothing comes before of which the core has yet to hear, nor asks for.
    pub(crate) fn asks_from(&self) -> u64 {
        self.pipeline.asks_from()
    }

    /// Graduation slots filled or charged so far.
    pub(crate) fn position(&self) -> u64 {
        self.pipeline.position()
    }

    /// Instructions run so far.
    pub(crate) fn instructions(&self) -> u64 {
        self.pipeline.instructions()
    }

    /// There are no more events, while other cores may go on. [`Core::drain`] is called when they have ended, too.
    pub(crate) fn end(&mut self, caches: &mut Hierarchy) {
        self.close_loads(caches);
        caches.keep(&mut self.machinery.port);
    }

    /// The core's program has ended: what others do to its caches from now on is not counted for it.
    pub(crate) fn leave(&mut self, caches: &Hierarchy) {
        caches.leave(&mut self.machinery.port);
    }

    /// Lets everything in flight drain and gives the cycles that were measured until it has.
    pub(crate) fn drain(&mut self, caches: &mut Hierarchy) -> u64 {
        let width = u64::from(self.spec.core.issue_width);
        self.close_loads(caches);
        let (position, instructions) = (self.position(), self.instructions());
        self.pipeline.settle_stores(&mut self.machinery, caches);
        let end = self.done();
        let end = end.max(caches.drained(&mut self.machinery.port, end));
        let from = self.began.as_ref().map_or(0, |began| began.position);
        let cycles = (end * width - from).div_ceil(width);
        let progress = self.machinery.progress(instructions);
        let ledger = &mut self.machinery.ledger;
        ledger.settle(progress);
        ledger.charge(Cause::Drain, from + cycles * width - position);
        cycles
    }

    /// The results after so many cycles, in which everything has drained: of the measured part, if there was a warm-up.
    pub(crate) fn statistics(
        mut self,
        caches: &Hierarchy,
        cycles: u64,
        dram: Option<DramStatistics>,
    ) -> Statistics {
        let counts = self.counts(caches, cycles, dram);
        assert_eq!(
            counts.slots.total,
            cycles * u64::from(self.spec.core.issue_width),
            "slots do not add up to the run's time"
        );
        match self.began.take() {
            Some(began) => counts.since(&began.counts),
            None => counts,
        }
    }

    /// Ends the warm-up: what is counted from here on is measured. All state stays, and so does what is in flight.
    ///
    /// Slots belong to the side on which they graduate: those before the last instruction of the warm-up to it, all later
    /// ones to the measurement, also where they wait for what the warm-up has begun.
    fn measure(&mut self, caches: &Hierarchy) {
        let (position, instructions) = (self.position(), self.instructions());
        let progress = self.machinery.progress(instructions);
        self.machinery.ledger.settle(progress);
        let cycles = position / u64::from(self.spec.core.issue_width);
        let counts = self.counts(caches, cycles, caches.memory.counts());
        self.machinery.ledger.restart();
        self.measure_storage();
        self.began = Some(Box::new(Began { position, counts }));
    }

    /// An event that is no instruction; the plain ones before it are run.
    #[cold]
    #[inline(never)]
    fn marker(&mut self, caches: &mut Hierarchy, event: &Event) -> Result<(), SinkError> {
        let plain = u64::from(event.instructions);
        let machinery = &mut self.machinery;
        let instructions = self.pipeline.pass(machinery, plain);
        match event.kind {
            Kind::Mark => self.open_phase(event.address, instructions),
            Kind::Fetch => self.fetch(caches, event),
            Kind::Flush => {
                self.pipeline.flush(machinery);
                if !self.has_neighbours {
                    machinery.flush(caches);
                }
                Ok(())
            }
            Kind::Call => self.call(caches, event),
            Kind::Measure => {
                self.measure(caches);
                Ok(())
            }
            // A program of one thread has nobody to wait for.
            Kind::Barrier | Kind::Latch | Kind::Unlatch | Kind::ShareLatch | Kind::AwaitLatch => {
                Ok(())
            }
            Kind::PageArrival => {
                self.arrive(caches, event);
                Ok(())
            }
            kind => {
                self.page_requests.take(kind, event.address);
                self.ask_for_page(event);
                Ok(())
            }
        }
    }

    fn no_instruction_cache(&self) -> SinkError {
        SinkError::Unsupported(format!(
            "Fetch events need an instruction cache; add `instruction_cache` to machine {}, or leave fetches out of the trace",
            self.spec.name
        ))
    }

    /// Fetches code, which the front end waits for.
    fn fetch(&mut self, caches: &mut Hierarchy, event: &Event) -> Result<(), SinkError> {
        let time = self.now();
        let machinery = &mut self.machinery;
        let Some(fetched) = machinery.fetch::<Cycles>(caches, event, time) else {
            return Err(self.no_instruction_cache());
        };
        self.pipeline.wait_for_code(machinery, fetched);
        Ok(())
    }

    fn open_phase(&mut self, phase: u64, instructions: u64) -> Result<(), SinkError> {
        let progress = self.machinery.progress(instructions);
        if self.machinery.ledger.open_phase(phase, progress) {
            return Ok(());
        }
        Err(SinkError::Unsupported(format!(
            "a mark opens phase {phase}, but the trace names {} phases",
            self.layout.phases.len()
        )))
    }
}
