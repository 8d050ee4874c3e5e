//! Plain LRU caches that write back and allocate: each level filters a batch of look-ups into what the next has to do.

use super::batch::{Batch, CAPACITY};
use super::level::Level;
use super::operation::{Operation, Reason, SMALLEST_LINE};
use super::past_caches::PastCaches;
use super::rows::Rows;
use super::statistics::{CountStatistics, differences};
use crate::page_requests::PageRequests;
use crate::reads::AddressSink;
use crate::spec::{CacheSpec, Inclusion, MachineSpec, PrefetchOnTlbMiss, Replacement, SpecError};
use crate::statistics::{BusStatistics, CacheCounts, CacheStatistics, PrefetchStatistics};
use crate::tlb::Tlb;
use crate::write_combining::by_line;
use traces::{Event, EventSink, Kind, Layout, SinkError};

/// Such a hierarchy in the middle of a run.
#[derive(Clone, Debug)]
pub(super) struct Batched {
    spec: MachineSpec,
    levels: Vec<Level>,
    batch: Batch,
    line_shift: u32,
    /// Present if prefetches without a translation are dropped.
    tlb: Option<Tlb>,
    rows: Rows,
    /// The latest read, if the next one would find its line the most recently used.
    last_read: Operation,
    events: u64,
    instructions: u64,
    prefetches: u64,
    dropped_prefetches: u64,
    page_requests: PageRequests,
    /// Whether pages that arrive overwrite the frames that they come into.
    overwrites: bool,
    past: PastCaches,
}

impl Batched {
    /// Whether the machine's caches are of this kind, and nothing else goes through them.
    pub(super) fn suits(spec: &MachineSpec) -> bool {
        let is_plain = |cache: &CacheSpec| {
            cache.replacement == Replacement::Lru
                && cache.inclusion == Inclusion::NonInclusive
                && cache.prefetchers.is_empty()
                && cache.line_bytes >= SMALLEST_LINE
        };
        spec.caches.iter().all(is_plain)
            && !spec.writes_through()
            && spec.instruction_cache.is_none()
            && spec.dtlb.page_table.is_none()
    }

    /// A machine with empty caches, which has been validated and [suits](Batched::suits).
    ///
    /// # Errors
    /// Segments that it puts into huge pages do not exist.
    pub(super) fn new(spec: &MachineSpec, layout: &Layout) -> Result<Self, SpecError> {
        spec.check_huge_segments([layout])?;
        let tlb = Tlb::new(&spec.dtlb, layout);
        let drops = spec.dtlb.prefetch_on_miss == PrefetchOnTlbMiss::Drop;
        let levels = spec.caches.iter().enumerate();
        Ok(Self {
            levels: levels
                .map(|(number, cache)| Level::new(cache, &spec.caches[..number]))
                .collect(),
            batch: Batch::new(),
            line_shift: spec.caches[0].line_bytes.trailing_zeros(),
            tlb: drops.then_some(tlb),
            rows: Rows::new(layout, spec.caches.len())?,
            last_read: Operation::NONE,
            events: 0,
            instructions: 0,
            prefetches: 0,
            dropped_prefetches: 0,
            page_requests: PageRequests::default(),
            overwrites: false,
            past: PastCaches::new(spec),
            spec: spec.clone(),
        })
    }

    /// Reads where all addresses are of one segment, and need no translation.
    fn read_at_once(&mut self, addresses: &[u64]) {
        self.run();
        self.last_read = Operation::NONE;
        if let Some(&first) = addresses.first() {
            self.rows.enter(first);
        }
        self.rows.count_look_ups(addresses.len() as u64);
        for addresses in addresses.chunks(CAPACITY) {
            self.batch.read(addresses, self.line_shift);
            self.run();
        }
    }

    /// Gives the counts.
    pub(super) fn finish(mut self) -> CountStatistics {
        self.run();
        self.past.send_all();
        let line_bytes = self.spec.caches.last().map_or(0, |cache| cache.line_bytes);
        let served = self.rows.totals();
        let mut behind: u64 = served.iter().sum();
        let mut caches = Vec::with_capacity(self.levels.len());
        let levels = self.levels.iter().zip(&self.spec.caches);
        for ((level, cache), &hits) in levels.zip(&served) {
            caches.push(CacheStatistics {
                name: cache.name.clone(),
                accesses: behind,
                counts: CacheCounts {
                    hits,
                    merges: 0,
                    misses: behind - hits,
                    write_backs: level.write_backs,
                    back_invalidations: 0,
                },
                back_invalidations: None,
                overwritten: self.overwrites.then_some(level.overwritten),
                prefetchers: None,
                shared: None,
            });
            behind -= hits;
        }
        CountStatistics {
            events: self.events,
            instructions: self.instructions,
            caches,
            instruction_cache: None,
            prefetches: PrefetchStatistics {
                issued: self.prefetches,
                useless: self.rows.useless_prefetches(),
                dropped: self.dropped_prefetches,
                late: None,
                unused: None,
            },
            bus: BusStatistics {
                fills: behind,
                write_backs: self.levels.last().map_or(0, Level::sent_on) + self.past.write_backs,
                write_throughs: None,
                non_temporal: self.past.lines(),
                line_bytes,
            },
            breakdown: self.rows.breakdown(),
            phases: self.rows.phases(),
            calls: None,
            page_requests: self.page_requests.into_runs(),
            differs_from_timing: differences(&self.spec, &Layout::default()),
        }
    }

    /// Sends what was collected through the levels.
    fn run(&mut self) {
        for (number, level) in self.levels.iter_mut().enumerate() {
            let misses = level.filter(&mut self.batch);
            match self.batch.rows_asked_for() {
                Some(rows) => rows.for_each(|row| self.rows.count_miss(row, number)),
                None => self.rows.count_misses(number, misses),
            }
        }
        self.batch.clear();
    }

    /// Makes the segment of `address` the current one, and translates `size` bytes there.
    #[inline(always)]
    fn enter(&mut self, address: u64, size: u64) {
        self.rows.enter(address);
        if let Some(tlb) = &mut self.tlb {
            tlb.touch(address, size);
        }
    }

    /// Looks up the lines of `size` bytes at `address`. Bytes past the end of the address space do not exist.
    #[inline(always)]
    fn look_up(&mut self, address: u64, size: u64, reason: Reason) {
        let last = address.saturating_add(size.max(1) - 1) >> self.line_shift;
        for line in address >> self.line_shift..=last {
            self.look_up_line(line, reason);
        }
    }

    #[inline(always)]
    fn look_up_line(&mut self, line: u64, reason: Reason) {
        self.rows.count_look_ups(1);
        let operation = Operation::new(line, reason);
        if operation == self.last_read {
            return;
        }
        self.past.send_if_begun(line);
        self.last_read = match reason {
            Reason::Read => operation,
            _ => Operation::NONE,
        };
        self.batch.push(operation, self.rows.current());
        if self.batch.is_full() {
            self.run();
        }
    }

    fn prefetch(&mut self, address: u64, reason: Reason) {
        self.prefetches += 1;
        self.rows.enter(address);
        if let Some(tlb) = &mut self.tlb {
            if !tlb.holds(address) {
                self.dropped_prefetches += 1;
                return;
            }
            tlb.touch(address, 1);
        }
        self.rows.set_prefetching(true);
        self.look_up(address, 1, reason);
        self.rows.set_prefetching(false);
    }

    fn flush(&mut self) {
        self.run();
        self.last_read = Operation::NONE;
        for level in &mut self.levels {
            level.clear();
        }
        self.past.clear();
        if let Some(tlb) = &mut self.tlb {
            tlb.clear();
        }
    }

    /// Has pages that arrive overwrite the frames that they come into.
    pub(super) fn overwrite_frames(&mut self) {
        self.overwrites = true;
    }

    /// A page has come into a frame of so many bytes; see [`crate::hierarchy::Hierarchy::overwrite`].
    fn arrive(&mut self, address: u64, bytes: u64) {
        if !self.overwrites || bytes == 0 {
            return;
        }
        self.run();
        self.last_read = Operation::NONE;
        let longest = self.levels.last().map_or(0, Level::shift);
        let line = |address: u64| address >> self.line_shift >> longest;
        let (first, last) = (line(address), line(address.saturating_add(bytes - 1)));
        for level in &mut self.levels {
            level.overwritten += level.take_out(first, last, longest).lines;
        }
    }

    /// A store past the caches; see [`crate::hierarchy::Hierarchy::write_past`].
    fn write_past(&mut self, event: &Event) {
        self.enter(event.address, u64::from(event.size));
        self.last_read = Operation::NONE;
        let longest = self.levels.last().map_or(0, Level::shift);
        let lines = by_line(event.address, u64::from(event.size), self.line_shift);
        for (line, bytes) in lines {
            if !self.past.write(line, bytes) {
                continue;
            }
            self.run();
            let line = line >> longest;
            let levels = self.levels.iter_mut();
            let taken = levels.map(|level| level.take_out(line, line, longest));
            let dirty = taken.fold(false, |dirty, taken| dirty | taken.dirty);
            self.past.write_backs += u64::from(dirty);
        }
    }

    /// Counts from here on; caches and TLB stay as they are.
    fn measure(&mut self) {
        self.run();
        self.rows.restart();
        for level in &mut self.levels {
            level.write_backs = 0;
            level.left = 0;
            level.overwritten = 0;
        }
        self.past.measure();
        self.events = 0;
        self.instructions = 0;
        self.prefetches = 0;
        self.dropped_prefetches = 0;
        self.page_requests = PageRequests::default();
    }

    /// An event that looks nothing up, or not as loads and stores do.
    #[inline(never)]
    fn other(&mut self, event: &Event) -> Result<(), SinkError> {
        match event.kind {
            Kind::Prefetch => self.prefetch(event.address, Reason::Read),
            Kind::PrefetchNta => self.prefetch(event.address, Reason::Stream),
            Kind::Mark => self.rows.open_phase(event.address)?,
            Kind::Flush => self.flush(),
            Kind::Measure => self.measure(),
            Kind::StoreNta => self.write_past(event),
            Kind::Load
            | Kind::Store
            | Kind::Exchange
            | Kind::Branch
            | Kind::Op
            | Kind::Barrier
            | Kind::PageWait
            | Kind::Latch
            | Kind::Unlatch
            | Kind::ShareLatch
            | Kind::AwaitLatch => {}
            Kind::PageRead | Kind::PageWrite | Kind::PagePrefetch => {
                self.page_requests.take(event.kind, event.address);
            }
            Kind::PageArrival if event.comes_for_another() => {}
            Kind::PageArrival => self.arrive(event.address, event.size.into()),
            Kind::Fetch | Kind::Call => {
                return Err(SinkError::Unsupported(format!(
                    "{:?} events need an instruction cache or a DBMS profile, which machine {} does not have",
                    event.kind, self.spec.name
                )));
            }
        }
        Ok(())
    }
}

impl AddressSink for Batched {
    fn read(&mut self, addresses: &[u64]) {
        let count = addresses.len() as u64;
        if self.tlb.is_some() || self.rows.tell_segments_apart() || self.past.is_combining() {
            for &address in addresses {
                self.enter(address, 1);
                self.look_up(address, 1, Reason::Read);
            }
        } else {
            self.read_at_once(addresses);
        }
        self.events += count;
        self.instructions += count;
    }
}

impl EventSink for Batched {
    fn consume(&mut self, events: &[Event]) -> Result<(), SinkError> {
        for event in events {
            self.events += 1;
            self.instructions += u64::from(event.instructions) + event.own_instructions();
            let reason = match event.kind {
                Kind::Load => Reason::Read,
                Kind::Store | Kind::Exchange => Reason::Store,
                _ => {
                    self.other(event)?;
                    continue;
                }
            };
            let size = u64::from(event.size);
            self.enter(event.address, size);
            self.look_up(event.address, size, reason);
        }
        Ok(())
    }
}
