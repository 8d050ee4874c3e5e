//! Consumes events and says what they cost.

mod calls;
mod functional;
mod mispredictions;
mod pipeline;
mod routines;
mod runner;

use crate::core::Machinery;
use crate::hierarchy::{Cycles, Hierarchy, Shared};
use crate::ledger::{Accounts, Cause};
use crate::page_requests::PageRequests;
use crate::spec::{Inclusion, MachineSpec, SpecError};
use crate::statistics::{
    BranchStatistics, BusStatistics, CacheStatistics, DramStatistics, InstructionCacheStatistics,
    PrefetchStatistics, Statistics, TlbStatistics,
};
use calls::Calls;
use pipeline::Pipeline;
use traces::{Event, EventSink, Kind, Layout, SinkError};

/// A machine in the middle of a run. Feed it events, then [`Engine::finish`].
#[derive(Debug)]
pub struct Engine {
    spec: MachineSpec,
    layout: Layout,
    machinery: Machinery,
    pipeline: Pipeline,
    calls: Option<Box<Calls>>,
    page_requests: PageRequests,
    events: u64,
    /// Where the measurement began; nothing if all of the run is measured.
    began: Option<Box<Began>>,
}

/// The end of the warm-up.
#[derive(Debug)]
struct Began {
    /// Graduation slots filled or charged before.
    position: u64,
    /// Everything counted before.
    counts: Statistics,
}

impl Engine {
    /// A machine with empty caches at cycle 0.
    ///
    /// # Errors
    /// The machine cannot exist (see [`MachineSpec::validate`]), its DBMS profile has no room behind the layout's
    /// segments, or memwalk was built without its memory model.
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
        spec.validate()?;
        let dbms = spec.dbms.as_ref();
        let calls = dbms.map(|dbms| Calls::new(dbms, spec, layout));
        Ok(Self {
            spec: spec.clone(),
            layout: layout.clone(),
            machinery: Machinery::new(spec, layout, accounts)?,
            pipeline: Pipeline::new(spec),
            calls: calls.transpose()?.map(Box::new),
            page_requests: PageRequests::default(),
            events: 0,
            began: None,
        })
    }

    /// Cycle in which the next instruction is dispatched at the earliest.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.pipeline.now()
    }

    /// Gives the core's program, whose number is not that of any other, a memory of its own.
    pub(crate) fn set_program(&mut self, number: u64) {
        self.machinery.hierarchy.set_program(number);
    }

    /// Takes what several cores share, or gives it back; no other core makes a request before cycle `horizon`.
    pub(crate) fn exchange(&mut self, shared: &mut Shared, horizon: u64) {
        self.machinery.hierarchy.exchange(shared, horizon);
    }

    /// Graduation slots filled or charged so far.
    pub(crate) fn position(&self) -> u64 {
        self.pipeline.position()
    }

    /// Instructions run so far.
    pub(crate) fn instructions(&self) -> u64 {
        self.pipeline.instructions()
    }

    /// Lets everything in flight drain and gives the results: of the measured part, if a warm-up came before it.
    #[must_use]
    pub fn finish(mut self) -> Statistics {
        let cycles = self.drain();
        let dram = self.machinery.hierarchy.memory.statistics();
        self.statistics(cycles, dram)
    }

    /// The same for one of several cores: what they share drains where it is, and counts for all of them.
    pub(crate) fn finish_core(mut self, shared: &mut Shared) -> Statistics {
        self.exchange(shared, u64::MAX);
        let cycles = self.drain();
        self.exchange(shared, u64::MAX);
        self.statistics(cycles, None)
    }

    /// Lets everything in flight drain and gives the cycles that were measured until it has.
    fn drain(&mut self) -> u64 {
        let width = u64::from(self.spec.core.issue_width);
        let (position, instructions) = (self.position(), self.instructions());
        let end = position
            .div_ceil(width)
            .max(self.pipeline.stores_drained())
            .max(self.machinery.hierarchy.drained());
        let from = self.began.as_ref().map_or(0, |began| began.position);
        let cycles = (end * width - from).div_ceil(width);
        let ledger = &mut self.machinery.ledger;
        ledger.settle(instructions);
        ledger.charge(Cause::Drain, from + cycles * width - position);
        cycles
    }

    /// The results after so many cycles, in which everything has drained: of the measured part, if there was a warm-up.
    fn statistics(mut self, cycles: u64, dram: Option<DramStatistics>) -> Statistics {
        let counts = self.counts(cycles, dram);
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
    fn measure(&mut self) {
        let (position, instructions) = (self.position(), self.instructions());
        self.machinery.ledger.settle(instructions);
        let cycles = position / u64::from(self.spec.core.issue_width);
        let dram = self.machinery.hierarchy.memory.counts();
        let counts = self.counts(cycles, dram);
        self.machinery.ledger.restart();
        self.began = Some(Box::new(Began { position, counts }));
    }

    /// Misses so far: of each data cache, nearest first, of the instruction cache, if there is one, and of the TLB.
    pub(crate) fn misses(&self) -> impl Iterator<Item = u64> {
        let hierarchy = &self.machinery.hierarchy;
        let levels = hierarchy.levels().iter();
        levels
            .map(|level| level.counts().0.misses)
            .chain(hierarchy.instruction_cache().map(|cache| cache.misses()))
            .chain([self.machinery.tlb.walks])
    }

    /// What was counted so far; the ledger since the measurement began, and page requests since they were last asked for.
    fn counts(&mut self, cycles: u64, dram: Option<DramStatistics>) -> Statistics {
        let instructions = self.instructions();
        let levels: Vec<String> = self.spec.caches[1..]
            .iter()
            .map(|cache| cache.name.clone())
            .chain(["memory".to_owned()])
            .collect();
        let Machinery {
            hierarchy,
            tlb,
            ledger,
            branches,
            prefetches,
            page_table,
            ..
        } = &self.machinery;
        Statistics {
            events: self.events,
            instructions,
            cycles,
            slots: ledger.total(&levels),
            caches: cache_statistics(&self.spec, hierarchy),
            instruction_cache: hierarchy.instruction_cache().map(|cache| {
                InstructionCacheStatistics {
                    accesses: cache.hits + cache.misses(),
                    hits: cache.hits,
                    misses: cache.misses(),
                    served: levels.iter().cloned().zip(cache.served()).collect(),
                    prefetched: self
                        .spec
                        .instruction_cache
                        .as_ref()
                        .is_some_and(|spec| spec.next_line_prefetch)
                        .then_some(cache.prefetched),
                }
            }),
            dtlb: TlbStatistics {
                accesses: tlb.hits().iter().sum::<u64>() + tlb.walks,
                hits: tlb.hits(),
                walks: tlb.walks,
                walk_reads: page_table.as_ref().map(|table| table.reads),
            },
            branches: BranchStatistics {
                executed: branches.iter().sum(),
                mispredicted: branches[0],
            },
            prefetches: PrefetchStatistics {
                useless: hierarchy.useless_prefetches,
                ..*prefetches
            },
            bus: BusStatistics {
                fills: hierarchy.bus_counts.fills,
                write_backs: hierarchy.bus_counts.write_backs,
                write_throughs: self
                    .spec
                    .writes_through()
                    .then_some(hierarchy.bus_counts.write_throughs),
                line_bytes: self.spec.caches.last().map_or(0, |cache| cache.line_bytes),
            },
            dram,
            breakdown: ledger.rows(&self.layout, &levels),
            phases: ledger.phases(&self.layout),
            calls: self.calls.as_ref().map(|calls| calls.statistics()),
            retired: self
                .calls
                .as_ref()
                .map(|calls| calls.retired(self.spec.core.issue_width, instructions, cycles)),
            page_requests: std::mem::take(&mut self.page_requests).into_runs(),
            end_reason: "trace consumed, everything in flight drained",
        }
    }

    /// An event that is no instruction; the plain ones before it are run.
    #[cold]
    #[inline(never)]
    fn marker(&mut self, event: &Event) -> Result<(), SinkError> {
        let plain = u64::from(event.instructions);
        let machinery = &mut self.machinery;
        let instructions = self.pipeline.pass(machinery, plain);
        match event.kind {
            Kind::Mark => self.open_phase(event.address, instructions),
            Kind::Fetch => self.fetch(event),
            Kind::Flush => {
                machinery.flush();
                self.pipeline.flush();
                Ok(())
            }
            Kind::Call => self.call(event),
            Kind::Measure => {
                self.measure();
                Ok(())
            }
            kind => {
                self.page_requests.take(kind, event.address);
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
    fn fetch(&mut self, event: &Event) -> Result<(), SinkError> {
        let time = self.now();
        let machinery = &mut self.machinery;
        let Some(fetched) = machinery.fetch::<Cycles>(event, time) else {
            return Err(self.no_instruction_cache());
        };
        self.pipeline.wait_for_code(machinery, fetched);
        Ok(())
    }

    fn open_phase(&mut self, phase: u64, instructions: u64) -> Result<(), SinkError> {
        if self.machinery.ledger.open_phase(phase, instructions) {
            return Ok(());
        }
        Err(SinkError::Unsupported(format!(
            "a mark opens phase {phase}, but the trace names {} phases",
            self.layout.phases.len()
        )))
    }
}

fn cache_statistics(spec: &MachineSpec, hierarchy: &Hierarchy) -> Vec<CacheStatistics> {
    let mut statistics = Vec::with_capacity(spec.caches.len());
    for (number, (cache, level)) in spec.caches.iter().zip(hierarchy.levels()).enumerate() {
        let (counts, prefetchers) = level.counts();
        let behind = &spec.caches[number + 1..];
        let inclusive = behind
            .iter()
            .any(|level| level.inclusion == Inclusion::Inclusive);
        statistics.push(CacheStatistics {
            name: cache.name.clone(),
            accesses: counts.accesses(),
            counts,
            back_invalidations: inclusive.then_some(counts.back_invalidations),
            prefetchers: (!cache.prefetchers.is_empty()).then_some(prefetchers),
        });
    }
    statistics
}

impl EventSink for Engine {
    fn consume(&mut self, events: &[Event]) -> Result<(), SinkError> {
        let mut rest = events;
        loop {
            let machinery = &mut self.machinery;
            let run = self.pipeline.run(machinery, rest);
            let Some(marker) = rest.get(run) else {
                self.events += run as u64;
                return Ok(());
            };
            self.events += run as u64 + 1;
            self.marker(marker)?;
            rest = &rest[run + 1..];
        }
    }
}
