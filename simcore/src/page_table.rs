//! Page-table walks that read a radix tree through the caches.

use crate::arrival::Arrival;
use crate::hierarchy::{Hierarchy, Port, Time, When};
use crate::spec::{MachineSpec, PageTableSpec, TlbSpec};

/// Where the page tables lie: beyond what programs use. Each level of the tree has a range of its own, in the order of
/// the addresses that it translates.
const BASE: u64 = 0xFFFF_8000_0000_0000;
/// Virtual addresses translated; higher bits are taken as zero, so that a level fits its range.
const VIRTUAL_BITS: u32 = 48;
const LEVEL_SHIFT: u32 = 40;
/// No entry.
const EMPTY: u64 = u64::MAX;

/// An entry that the walker remembers, once its walk has read it.
#[derive(Clone, Copy, Debug)]
struct Remembered {
    entry: u64,
    arrival: Arrival,
}

const NOTHING: Remembered = Remembered {
    entry: EMPTY,
    arrival: Arrival { start: 0, end: 0 },
};

/// Entries of one level that the walker remembers, most recently used first.
#[derive(Clone, Debug)]
struct WalkCache {
    entries: Box<[Remembered]>,
}

impl WalkCache {
    /// When the entry came or comes, if it is remembered, which makes it the one used last.
    fn find(&mut self, entry: u64) -> Option<Arrival> {
        let held = |remembered: &Remembered| remembered.entry == entry;
        let found = self.entries.iter().position(held)?;
        self.entries[..=found].rotate_right(1);
        Some(self.entries[0].arrival)
    }

    /// Remembers an entry that a walk has read, in the place of the one used longest ago.
    fn put(&mut self, entry: u64, arrival: Arrival) {
        if let Some(oldest) = self.entries.last_mut() {
            *oldest = Remembered { entry, arrival };
            self.entries.rotate_right(1);
        }
    }

    /// The entry found last is there at the end of `arrival`.
    fn expect(&mut self, arrival: Arrival) {
        if let Some(latest) = self.entries.first_mut() {
            latest.arrival = arrival;
        }
    }
}

/// The walker's view of the page table.
#[derive(Clone, Debug)]
pub(crate) struct PageTable {
    /// Cache that is looked up first.
    first_cache: usize,
    entry_shift: u32,
    node_shift: u32,
    /// Bits of the address that one level translates.
    index_bits: u32,
    /// One per level but the last, root first.
    walk_caches: Vec<WalkCache>,
    /// Entries read through the caches.
    pub(crate) reads: u64,
}

impl PageTable {
    /// The table of a validated machine.
    pub(crate) fn new(machine: &MachineSpec, spec: &PageTableSpec) -> Self {
        let first_cache = machine
            .caches
            .iter()
            .position(|cache| cache.name == spec.first_cache)
            .unwrap_or(0);
        let entries = vec![NOTHING; spec.walk_cache_entries as usize].into_boxed_slice();
        Self {
            first_cache,
            entry_shift: spec.entry_bytes.trailing_zeros(),
            node_shift: spec.node_bytes(&machine.dtlb).trailing_zeros(),
            index_bits: spec.index_bits(&machine.dtlb),
            walk_caches: vec![WalkCache { entries }; spec.levels as usize - 1],
            reads: 0,
        }
    }

    /// Reads the entries that translate `address`, in a page of 2^`page_shift` bytes, from cycle `time` on and gives the
    /// cycle in which the last is there.
    pub(crate) fn walk<T: Time>(
        &mut self,
        (hierarchy, port): (&mut Hierarchy, &mut Port),
        address: u64,
        page_shift: u32,
        time: u64,
        now: u64,
    ) -> u64 {
        let (table_shift, index_bits) = (self.node_shift, self.index_bits);
        let smallest = (address & ((1 << VIRTUAL_BITS) - 1)) >> table_shift;
        let last = self.walk_caches.len();
        let entry = |level: usize| smallest >> (index_bits * (last - level) as u32);
        // An entry of an earlier level is a page of its own, if that is large.
        let leaf = last - ((page_shift - table_shift) / index_bits) as usize;
        // The walk begins behind the deepest entry that is remembered, when that is there.
        let (mut first, mut there) = (0, time);
        for (level, cache) in self.walk_caches[..leaf].iter_mut().enumerate() {
            if let Some(arrival) = cache.find(entry(level)) {
                there = arrival.wait(time);
                cache.expect(arrival.no_later_than(time, there));
                first = level + 1;
            }
        }
        for level in first..=leaf {
            let address =
                BASE + ((level as u64) << LEVEL_SHIFT) + (entry(level) << self.entry_shift);
            there =
                hierarchy.read_at::<T>(port, self.first_cache, address, When::ahead(there, now));
            self.reads += 1;
            if level < leaf {
                let arrival = Arrival {
                    start: time,
                    end: there,
                };
                let arrival = if T::PASSES { arrival } else { NOTHING.arrival };
                self.walk_caches[level].put(entry(level), arrival);
            }
        }
        there
    }

    /// Forgets the remembered entries.
    pub(crate) fn clear(&mut self) {
        for cache in &mut self.walk_caches {
            cache.entries.fill(NOTHING);
        }
    }
}

impl MachineSpec {
    /// Cycles that a walk takes at least: one entry is in the cache that is looked up first. The specification has been validated.
    #[must_use]
    pub fn least_walk_cycles(&self) -> u64 {
        let of_entry = self.dtlb.page_table.as_ref().map_or(0, |table| {
            let mut caches = self.caches.iter();
            let first = caches.find(|cache| cache.name == table.first_cache);
            first.map_or(0, |cache| cache.latency_cycles)
        });
        u64::from(self.dtlb.walk_latency_cycles) + u64::from(of_entry)
    }
}

impl PageTableSpec {
    /// Size of a node of the tree, and of the smallest pages that it translates.
    #[must_use]
    pub fn node_bytes(&self, dtlb: &TlbSpec) -> u64 {
        self.node_bytes.unwrap_or(dtlb.page_bytes)
    }

    /// Bits of the address that one level translates.
    #[must_use]
    pub fn index_bits(&self, dtlb: &TlbSpec) -> u32 {
        self.node_bytes(dtlb).trailing_zeros() - self.entry_bytes.trailing_zeros()
    }
}
