//! How many operations warm a machine up: until the misses of every cache, the walks, and the pages that come into a buffer pool are steady.
//!
//! A pure function of machine and events. These pass in no time, and what they miss is looked at in batches, each twice as long
//! as the one before. A cache (or the TLB) is steady if it hardly misses any more; or if its misses, and the lines that prefetchers
//! fetched for it, would have filled it and the latest two batches missed alike. That a cache be full is asked for because the
//! misses of a large cache that is filling fall too slowly, at first, to be seen from one batch to the next.

use crate::engine::Engine;
use crate::spec::{MachineSpec, SpecError};
use serde::Serialize;
use std::collections::HashSet;
use std::iter;
use traces::{Event, EventSink, Kind, Layout, SinkError};

/// Data accesses of the first batch, at least: enough for misses to repeat within [`CHANGE`].
const FIRST_BATCH: u64 = 1 << 14;
/// Most data accesses: the search is given up before a batch that would go beyond. Seconds of simulation.
const MOST_ACCESSES: u64 = 1 << 26;
/// Misses per access that are hardly any. They are the mean of the latest batch, which is half of the warm-up: where the rest of
/// a working set comes in, those at its end are several times fewer.
const HARDLY_ANY: f64 = 0.001;
/// Pages per access that hardly come into a pool any more. One from storage takes as long as many thousand accesses.
const HARDLY_ANY_PAGES: f64 = 0.000_01;
/// Share by which two batches that miss alike may differ.
const CHANGE: f64 = 0.02;
/// The phase that opens with every operation of a warm-up.
const WARM_UP_PHASE: u64 = 0;

/// How long a warm-up has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct WarmUpLength {
    /// Operations.
    pub operations: u64,
    /// Whether misses are steady after them; if not, the search was given up there.
    pub steady: bool,
}

/// What is watched: one cache, the TLB, or a buffer pool.
#[derive(Clone, Copy, Debug)]
struct Watched {
    /// Lines or pages that it holds.
    capacity: u64,
    /// Misses per access that do not matter.
    hardly_any: f64,
    /// Misses until the latest batch.
    misses: u64,
    /// Misses per access in the latest batch.
    rate: f64,
}

impl Watched {
    fn new(capacity: u64, hardly_any: f64) -> Self {
        Self {
            capacity,
            hardly_any,
            misses: 0,
            rate: 0.0,
        }
    }

    /// Takes in a batch of so many accesses, after which there are so many misses in all, and lines fetched ahead. Whether it is steady.
    fn take(&mut self, (misses, ahead): (u64, u64), accesses: u64) -> bool {
        let (before, latest) = (self.rate, misses - self.misses);
        self.rate = latest as f64 / accesses as f64;
        self.misses = misses;
        let is_full = misses + ahead >= self.capacity;
        let alike = (self.rate - before).abs() <= CHANGE * before + HARDLY_ANY;
        self.rate <= self.hardly_any || is_full && alike
    }
}

/// A buffer pool, told by the pages that come: nobody else here knows how many frames it has.
#[derive(Debug)]
struct Pool {
    /// Frames into which a page has come.
    filled: HashSet<u64>,
    /// Pages that have come.
    pages: u64,
    watched: Watched,
}

impl Pool {
    fn new() -> Self {
        Self {
            filled: HashSet::new(),
            pages: 0,
            watched: Watched::new(0, HARDLY_ANY_PAGES),
        }
    }

    fn arrival(&mut self, event: &Event) {
        if !event.comes_for_another() {
            self.filled.insert(event.address);
            self.pages += 1;
        }
    }

    /// Takes in a batch of so many accesses. Whether the pool is steady: it is full once a page has come into a frame that had one.
    fn take(&mut self, accesses: u64) -> bool {
        self.watched.capacity = self.filled.len() as u64 + 1;
        self.watched.take((self.pages, 0), accesses)
    }
}

/// Finds the length of a warm-up. Feed it operations without end, each opened by a mark of phase 0; it ends the run with
/// [`SinkError::Enough`].
#[derive(Debug)]
pub struct WarmUp {
    engine: Engine,
    watched: Vec<Watched>,
    pool: Pool,
    /// Operations that have ended; nothing before the first.
    operations: Option<u64>,
    accesses: u64,
    /// Accesses before the batch, and those that it has at least.
    batch: (u64, u64),
    found: Option<WarmUpLength>,
}

impl WarmUp {
    /// A machine with empty caches.
    ///
    /// # Errors
    /// The machine cannot exist.
    pub fn new(spec: &MachineSpec, layout: &Layout) -> Result<Self, SpecError> {
        let engine = Engine::new(spec, layout)?;
        let lines = spec
            .caches
            .iter()
            .map(|cache| cache.size_bytes / cache.line_bytes);
        let code = spec.instruction_cache.iter();
        let code = code.map(|cache| cache.size_bytes / cache.line_bytes);
        let pages = spec
            .dtlb
            .levels
            .iter()
            .map(|level| u64::from(level.entries));
        let capacities = lines.chain(code).chain(pages.max());
        Ok(Self {
            engine,
            watched: capacities
                .map(|capacity| Watched::new(capacity, HARDLY_ANY))
                .collect(),
            pool: Pool::new(),
            operations: None,
            accesses: 0,
            batch: (0, FIRST_BATCH),
            found: None,
        })
    }

    /// The same with pages from storage, which overwrite the frames that they come into.
    #[must_use]
    pub fn with_arrivals(mut self) -> Self {
        self.engine.overwrite_frames();
        self
    }

    /// The length, once it is known.
    #[must_use]
    pub fn length(&self) -> Option<WarmUpLength> {
        self.found
    }

    /// An operation begins; the one before it, if any, has ended.
    fn begin(&mut self) {
        let ended = self.operations.map_or(0, |operations| operations + 1);
        self.operations = Some(ended);
        let (start, least) = self.batch;
        let accesses = self.accesses - start;
        if ended == 0 || accesses < least {
            return;
        }
        // For instruction cache and TLB nobody fetches ahead.
        let ahead = self.engine.fetched_ahead().chain(iter::repeat(0));
        let mut steady = self.pool.take(accesses) && start > 0;
        for (watched, found) in self.watched.iter_mut().zip(self.engine.misses().zip(ahead)) {
            steady &= watched.take(found, accesses);
        }
        self.batch = (self.accesses, 2 * least);
        if steady || self.accesses + 2 * least > MOST_ACCESSES {
            self.found = Some(WarmUpLength {
                operations: ended,
                steady,
            });
        }
    }
}

impl EventSink for WarmUp {
    fn consume(&mut self, events: &[Event]) -> Result<(), SinkError> {
        for event in events {
            if event.kind == Kind::Mark && event.address == WARM_UP_PHASE {
                self.begin();
            }
            if self.found.is_some() {
                return Err(SinkError::Enough);
            }
            self.accesses += u64::from(event.kind.is_access());
            if event.kind == Kind::PageArrival {
                self.pool.arrival(event);
            }
            self.engine.pass(std::slice::from_ref(event))?;
        }
        Ok(())
    }
}
