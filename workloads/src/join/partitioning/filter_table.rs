//! Which filters a thread's build partitions have: a record of each partition, with a counter of its pages.

use crate::arena::{Arena, Far};
use crate::join::filter::Site;
use crate::place::{Loaded, Place};
use crate::tracer::{Dep, Trace};
use crate::word::Word;

/// Words of a record: the filter that tuples go to, pages that it has, and how many filters there are; their numbers follow.
const CURRENT: usize = 0;
const PAGES: usize = 1;
const COUNT: usize = 2;
const NUMBERS: usize = 3;
/// Counting, and comparing with K.
const COUNT_PAGE: u32 = 2;

/// How the table is made.
#[derive(Clone, Copy, Debug)]
pub(super) struct TableSpec {
    pub(super) base: u64,
    pub(super) partitions: u32,
    /// Filters that a partition may have.
    pub(super) most: u32,
    /// Pages of a sub-partition, K.
    pub(super) pages: u32,
}

impl TableSpec {
    fn record_bytes(self) -> u64 {
        (NUMBERS as u64 + u64::from(self.most)) * u32::BYTES as u64
    }

    pub(super) fn bytes(self) -> u64 {
        self.record_bytes() * u64::from(self.partitions)
    }
}

/// The records of a thread.
#[derive(Debug)]
pub(super) struct FilterTable {
    spec: TableSpec,
    memory: Arena<Far>,
    /// Filters that partitions have, together.
    taken: u32,
}

impl FilterTable {
    pub(super) fn new(spec: TableSpec) -> Self {
        Self {
            memory: Arena::of(spec.base, spec.bytes()),
            spec,
            taken: 0,
        }
    }

    fn word(&self, partition: u32, word: usize) -> Place<u32> {
        let record = u64::from(partition) * self.spec.record_bytes();
        Place::new(0, self.spec.base + record).element(word)
    }

    fn load<T: Trace>(
        &self,
        trace: &mut T,
        site: Site,
        (partition, word): (u32, usize),
        dep: Dep,
    ) -> Loaded<u32> {
        self.memory
            .load(trace, site, self.word(partition, word), dep)
    }

    fn store<T: Trace>(
        &mut self,
        trace: &mut T,
        (partition, word): (u32, usize),
        value: u32,
        dep: Dep,
    ) {
        let (place, site) = (self.word(partition, word), Site::CurrentFilterChange);
        self.memory.store(trace, site, place, value, dep);
    }

    /// Partitions have no filters, and their first page needs one.
    pub(super) fn open<T: Trace>(&mut self, trace: &mut T) {
        for partition in 0..self.spec.partitions {
            self.store(trace, (partition, PAGES), self.spec.pages, Dep::NONE);
            self.store(trace, (partition, COUNT), 0, Dep::NONE);
        }
    }

    /// A partition begins a page. Returns the number of its new filter, if a sub-partition begins, too.
    pub(super) fn turn<T: Trace>(
        &mut self,
        trace: &mut T,
        partition: u32,
        dep: Dep,
    ) -> Option<u32> {
        let pages = self.load(trace, Site::CurrentFilter, (partition, PAGES), dep);
        trace.work(COUNT_PAGE);
        let begins = pages.value == self.spec.pages;
        let counted = pages.token.after(1);
        trace.branch(Site::SubPartitionFull, begins, counted);
        let count = self.load(trace, Site::CurrentFilter, (partition, COUNT), dep);
        // Of a partition that is far larger than others, all the rest is one sub-partition.
        if !begins || count.value == self.spec.most {
            self.store(trace, (partition, PAGES), pages.value + 1, counted);
            return None;
        }
        let (filter, number) = (self.taken, NUMBERS + count.value as usize);
        self.taken += 1;
        let known = count.token.after(1);
        self.store(trace, (partition, PAGES), 1, counted);
        self.store(trace, (partition, COUNT), count.value + 1, known);
        self.store(trace, (partition, number), filter, known);
        self.store(trace, (partition, CURRENT), filter, known);
        Some(filter)
    }

    /// Loads which filter a partition's tuples go to.
    pub(super) fn current<T: Trace>(&self, trace: &mut T, partition: u32, dep: Dep) -> u32 {
        self.load(trace, Site::CurrentFilter, (partition, CURRENT), dep)
            .value
    }

    /// Loads how many filters a partition has.
    pub(super) fn count<T: Trace>(&self, trace: &mut T, partition: u32) -> Loaded<u32> {
        self.load(trace, Site::FiltersOf, (partition, COUNT), Dep::NONE)
    }

    /// Loads which ones they are.
    pub(super) fn filters<T: Trace>(&self, trace: &mut T, partition: u32) -> Vec<u32> {
        let count = self.count(trace, partition);
        let known = count.token.after(1);
        let numbers = NUMBERS..NUMBERS + count.value as usize;
        numbers
            .map(|number| {
                let at = (partition, number);
                self.load(trace, Site::FiltersOf, at, known).value
            })
            .collect()
    }
}
