//! Consumes events and says what they cost.

mod calls;
mod functional;
mod mispredictions;
mod pipeline;
mod routines;

use crate::core::Machinery;
use crate::hierarchy::{Hierarchy, Shared};
use crate::ledger::{Accounts, Cause};
use crate::page_requests::PageRequests;
use crate::spec::{Inclusion, MachineSpec, SpecError};
use crate::statistics::{
    BranchStatistics, BusStatistics, CacheStatistics, InstructionCacheStatistics,
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
        })
    }

    /// Cycle in which the next instruction is dispatched at the earliest.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.pipeline.now()
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

    /// Lets everything in flight drain and gives the results.
    #[must_use]
    pub fn finish(mut self) -> Statistics {
        let width = u64::from(self.spec.core.issue_width);
        let (position, instructions) = (self.position(), self.instructions());
        let cycles = position
            .div_ceil(width)
            .max(self.pipeline.stores_drained())
            .max(self.machinery.hierarchy.drained());
        let ledger = &mut self.machinery.ledger;
        ledger.settle(instructions);
        ledger.charge(Cause::Drain, cycles * width - position);
        let levels: Vec<String> = self.spec.caches[1..]
            .iter()
            .map(|cache| cache.name.clone())
            .chain(["memory".to_owned()])
            .collect();
        let slots = self.machinery.ledger.total(&levels);
        assert_eq!(
            slots.total,
            cycles * width,
            "slots do not add up to the run's time"
        );
        self.statistics(instructions, cycles, &levels)
    }

    fn statistics(mut self, instructions: u64, cycles: u64, levels: &[String]) -> Statistics {
        let dram = self.machinery.hierarchy.memory.statistics();
        let Machinery {
            hierarchy,
            tlb,
            ledger,
            branches,
            prefetches,
            page_table,
            ..
        } = self.machinery;
        Statistics {
            events: self.events,
            instructions,
            cycles,
            slots: ledger.total(levels),
            caches: cache_statistics(&self.spec, &hierarchy),
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
                walk_reads: page_table.map(|table| table.reads),
            },
            branches: BranchStatistics {
                executed: branches.iter().sum(),
                mispredicted: branches[0],
            },
            prefetches: PrefetchStatistics {
                useless: hierarchy.useless_prefetches,
                ..prefetches
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
            breakdown: ledger.rows(&self.layout, levels),
            phases: ledger.phases(&self.layout),
            calls: self.calls.as_ref().map(|calls| calls.statistics()),
            retired: self
                .calls
                .as_ref()
                .map(|calls| calls.retired(self.spec.core.issue_width, instructions, cycles)),
            page_requests: self.page_requests.into_runs(),
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
        let Some(fetched) = machinery.fetch(event, time) else {
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
        self.events += events.len() as u64;
        let mut rest = events;
        loop {
            let machinery = &mut self.machinery;
            let run = self.pipeline.run(machinery, rest);
            let Some(marker) = rest.get(run) else {
                return Ok(());
            };
            self.marker(marker)?;
            rest = &rest[run + 1..];
        }
    }
}
