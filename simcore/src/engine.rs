//! A machine of one core in the middle of a run.

use crate::core::{EventTimes, Program, Watched};
use crate::ledger::Accounts;
use crate::spec::{MachineSpec, SpecError};
use crate::statistics::Statistics;
use crate::storage::Storage;
use crate::system::System;
use traces::{Event, EventSink, Layout, SinkError};

/// Consumes events and says what they cost. Feed it events, then [`Engine::finish`].
#[derive(Debug)]
pub struct Engine {
    system: System,
    /// Where pages come from; from nowhere, if they take no time.
    storage: Option<Box<dyn Storage>>,
}

impl Engine {
    /// A machine with empty caches at cycle 0.
    ///
    /// # Errors
    /// The machine cannot exist (see [`MachineSpec::validate`]), its DBMS profile has no room behind the layout's
    /// segments, one of several memories holds nothing or a segment that the layout lacks, or memwalk was built without its memory model.
    pub fn new(spec: &MachineSpec, layout: &Layout) -> Result<Self, SpecError> {
        Self::with_accounts(spec, layout, Accounts::Segments)
    }

    /// The same with accounts of other things: `breakdown` then names those where it names segments.
    ///
    /// # Errors
    /// As for [`Engine::new`], or there are too many accounts.
    pub fn with_accounts(
        spec: &MachineSpec,
        layout: &Layout,
        accounts: Accounts,
    ) -> Result<Self, SpecError> {
        let program = Program {
            layout,
            number: 0,
            accounts,
        };
        Ok(Self {
            system: System::new(spec, &[program])?,
            storage: None,
        })
    }

    /// Has pages come from `storage`, from the first on: a core that reads one stops until it is there.
    pub fn set_storage(&mut self, storage: Box<dyn Storage>) {
        self.system.cores[0].await_pages(storage.cpu_per_page_ps());
        self.storage = Some(storage);
    }

    /// Has pages that arrive overwrite the frames that they come into, as storage does, but in no time: for counts.
    pub fn overwrite_frames(&mut self) {
        self.system.cores[0].overwrite_frames();
    }

    /// Cycle in which the next instruction is dispatched at the earliest.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.system.cores[0].now()
    }

    /// Runs events and appends when each of their instructions got on to `times`; an in-order core appends nothing.
    ///
    /// # Errors
    /// An event that the machine cannot run, as in a run.
    pub fn watch(
        &mut self,
        events: &[Event],
        times: &mut Vec<EventTimes>,
    ) -> Result<(), SinkError> {
        let System { cores, caches } = &mut self.system;
        let turn = Watched::new(times);
        cores[0].close_loads(caches);
        let ran = cores[0].take_turn(caches, events, &turn)?;
        assert_eq!(
            ran,
            events.len(),
            "a core that has no others runs all events"
        );
        cores[0].check(caches)
    }

    /// Lets events pass in no time. Caches, TLB and predictor end up as after a run, and everything that is counted per
    /// event is counted; cycles, slots and instructions stay as they are.
    ///
    /// # Errors
    /// An event that the machine cannot run, as in a run.
    pub fn pass(&mut self, events: &[Event]) -> Result<(), SinkError> {
        let System { cores, caches } = &mut self.system;
        cores[0].pass(caches, events)?;
        // If a measurement has begun, storage hears of it now.
        self.serve().map(drop)
    }

    /// Ends the program: waits until all pages that it wrote are on storage, if there is one.
    ///
    /// # Errors
    /// As for [`Storage::advance`], or the run lasts too long.
    pub fn await_written(&mut self) -> Result<(), SinkError> {
        self.system.cores[0].ask_for_written();
        self.serve().map(drop)
    }

    /// Passes on to storage what the core asks for, and lets it stop for that; false if it asks for nothing.
    fn serve(&mut self) -> Result<bool, SinkError> {
        let Some(storage) = &mut self.storage else {
            return Ok(false);
        };
        let System { cores, caches } = &mut self.system;
        let core = &mut cores[0];
        let Some((request, at_ps)) = core.asked(caches)? else {
            return Ok(false);
        };
        storage.ask(0, request, at_ps)?;
        if request.stops() {
            // Nobody else asks for anything in the meantime.
            let arrived = storage.advance(u64::MAX)?;
            let (_, arrival) = arrived.ok_or_else(|| core.too_long())?;
            core.resume(caches, arrival, false)?;
        }
        Ok(true)
    }

    /// Lets everything in flight drain and gives the results: of the measured part, if a warm-up came before it.
    #[must_use]
    pub fn finish(self) -> Statistics {
        let System {
            mut cores,
            mut caches,
        } = self.system;
        let mut core = cores.remove(0);
        let cycles = core.drain(&mut caches);
        let dram = caches.memory.statistics();
        core.statistics(&caches, cycles, dram)
    }

    /// Graduation slots filled or charged so far.
    pub(crate) fn position(&mut self) -> u64 {
        let System { cores, caches } = &mut self.system;
        cores[0].close_loads(caches);
        cores[0].position()
    }

    /// Instructions run so far.
    pub(crate) fn instructions(&self) -> u64 {
        self.system.cores[0].instructions()
    }

    /// Instructions that an event stands for, those of the routine it calls included.
    pub(crate) fn instructions_of(&self, event: &Event) -> u64 {
        self.system.cores[0].instructions_of(event)
    }

    /// Misses so far: of each data cache, nearest first, of the instruction cache, if there is one, and of the TLB.
    pub(crate) fn misses(&self) -> impl Iterator<Item = u64> {
        self.system.cores[0].misses(&self.system.caches)
    }

    /// Lines that prefetchers of each data cache, nearest first, and of those before it have fetched so far.
    pub(crate) fn fetched_ahead(&self) -> impl Iterator<Item = u64> {
        self.system.cores[0].fetched_ahead(&self.system.caches)
    }
}

impl EventSink for Engine {
    fn consume(&mut self, events: &[Event]) -> Result<(), SinkError> {
        let mut rest = events;
        loop {
            let System { cores, caches } = &mut self.system;
            let ran = cores[0].consume(caches, rest)?;
            rest = &rest[ran..];
            if !self.serve()? {
                assert!(rest.is_empty(), "a core that has no others runs all events");
                let System { cores, caches } = &self.system;
                return cores[0].check(caches);
            }
        }
    }
}
