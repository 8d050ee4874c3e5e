//! Page-table walks that read a radix tree through the caches.

use crate::hierarchy::Hierarchy;
use crate::spec::{MachineSpec, PageTableSpec, TlbSpec};

/// Where the page tables lie: beyond what programs use. Each level of the tree has a range of its own, in the order of
/// the addresses that it translates.
const BASE: u64 = 0xFFFF_8000_0000_0000;
/// Virtual addresses translated; higher bits are taken as zero, so that a level fits its range.
const VIRTUAL_BITS: u32 = 48;
const LEVEL_SHIFT: u32 = 40;
/// No entry.
const EMPTY: u64 = u64::MAX;

/// Entries of one level that the walker remembers, most recently used first.
#[derive(Clone, Debug)]
struct WalkCache {
    entries: Box<[u64]>,
}

impl WalkCache {
    /// Whether the entry is remembered; it is from now on.
    fn access(&mut self, entry: u64) -> bool {
        let found = self.entries.iter().position(|&held| held == entry);
        let Some(end) = found.or(self.entries.len().checked_sub(1)) else {
            return false;
        };
        self.entries[..=end].rotate_right(1);
        self.entries[0] = entry;
        found.is_some()
    }
}

/// The walker's view of the page table.
#[derive(Clone, Debug)]
pub(crate) struct PageTable {
    /// Cache that is looked up first.
    first_cache: usize,
    entry_shift: u32,
    /// Bits of the page number that one level translates.
    index_bits: u32,
    page_mask: u64,
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
        let page_shift = machine.dtlb.page_bytes.trailing_zeros();
        let entries = vec![EMPTY; spec.walk_cache_entries as usize].into_boxed_slice();
        Self {
            first_cache,
            entry_shift: spec.entry_bytes.trailing_zeros(),
            index_bits: spec.index_bits(&machine.dtlb),
            page_mask: (1 << (VIRTUAL_BITS - page_shift)) - 1,
            walk_caches: vec![WalkCache { entries }; spec.levels as usize - 1],
            reads: 0,
        }
    }

    /// Reads the entries that translate `page` from cycle `time` on and gives the cycle in which the last is there.
    pub(crate) fn walk(
        &mut self,
        hierarchy: &mut Hierarchy,
        page: u64,
        mut time: u64,
        now: u64,
    ) -> u64 {
        let page = page & self.page_mask;
        let last = self.walk_caches.len();
        // The walk begins behind the deepest entry that is remembered.
        let mut first = 0;
        for (level, cache) in self.walk_caches.iter_mut().enumerate() {
            if cache.access(page >> (self.index_bits * (last - level) as u32)) {
                first = level + 1;
            }
        }
        for level in first..=last {
            let entry = page >> (self.index_bits * (last - level) as u32);
            let address = BASE + ((level as u64) << LEVEL_SHIFT) + (entry << self.entry_shift);
            time = hierarchy.read_at(self.first_cache, address, time, now);
            self.reads += 1;
        }
        time
    }

    /// Forgets the remembered entries.
    pub(crate) fn clear(&mut self) {
        for cache in &mut self.walk_caches {
            cache.entries.fill(EMPTY);
        }
    }
}

impl PageTableSpec {
    /// Bits of the page number that one level translates.
    #[must_use]
    pub fn index_bits(&self, dtlb: &TlbSpec) -> u32 {
        dtlb.page_bytes.trailing_zeros() - self.entry_bytes.trailing_zeros()
    }
}
