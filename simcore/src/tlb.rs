//! Data TLB: fully associative levels under LRU, and the page-table walk.

use crate::spec::TlbSpec;

const EMPTY: u64 = u64::MAX;
const HINTS: usize = 1024;
/// Low bits of a use that hold the number of its entry; the others hold its time. One minimum then finds the entry used
/// longest ago.
const NUMBER_BITS: u32 = 16;

/// One fully associative level.
#[derive(Clone, Debug)]
struct Level {
    pages: Box<[u64]>,
    /// Time of the last use and number of each entry.
    last_use: Box<[u64]>,
    clock: u64,
    /// Where a page was seen last: saves the search through all entries when it is still there.
    hints: Box<[u16; HINTS]>,
    latency: u64,
}

impl Level {
    fn new(entries: u32, latency: u32) -> Self {
        Self {
            pages: vec![EMPTY; entries as usize].into_boxed_slice(),
            last_use: (0..u64::from(entries)).collect(),
            clock: 0,
            hints: Box::new([0; HINTS]),
            latency: u64::from(latency),
        }
    }

    /// Whether the page is where it was seen last; it becomes the most recently used.
    #[inline(always)]
    fn access_hinted(&mut self, page: u64) -> bool {
        let entry = usize::from(self.hints[page as usize % HINTS]);
        let hit = self.pages[entry] == page;
        if hit {
            self.mark_used(entry);
        }
        hit
    }

    /// Whether the page is there; it becomes the most recently used. If not, it replaces the least recently used.
    fn access(&mut self, page: u64) -> bool {
        let entry = self.find(page);
        let hit = entry.is_some();
        let entry = entry.unwrap_or_else(|| self.least_recent());
        self.pages[entry] = page;
        self.mark_used(entry);
        self.hints[page as usize % HINTS] = entry as u16;
        hit
    }

    #[inline(always)]
    fn mark_used(&mut self, entry: usize) {
        self.clock += 1;
        self.last_use[entry] = self.clock << NUMBER_BITS | entry as u64;
    }

    /// The entry that holds the page. Looks at all of them, so that the host can compare many at once.
    fn find(&self, page: u64) -> Option<usize> {
        let numbered = (0..).zip(&self.pages);
        let found = numbered.fold(
            EMPTY,
            |found, (entry, &held)| {
                if held == page { entry } else { found }
            },
        );
        (found != EMPTY).then_some(found as usize)
    }

    fn least_recent(&self) -> usize {
        let oldest = self.last_use.iter().copied().min().unwrap_or(0);
        (oldest & ((1 << NUMBER_BITS) - 1)) as usize
    }

    fn clear(&mut self) {
        self.pages.fill(EMPTY);
        for (entry, used) in self.last_use.iter_mut().enumerate() {
            *used = entry as u64;
        }
    }
}

/// All levels; a miss in every one walks the page table.
#[derive(Clone, Debug)]
pub(crate) struct Tlb {
    levels: Vec<Level>,
    page_shift: u32,
    /// Hits in the first level that took no search.
    hinted_hits: u64,
    /// Other hits by level.
    other_hits: Vec<u64>,
    /// Page-table walks.
    pub(crate) walks: u64,
}

/// What a translation found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Translation {
    /// In a TLB level, after so many further cycles.
    Hit(u64),
    /// In no level.
    Miss,
}

impl Tlb {
    pub(crate) fn new(spec: &TlbSpec) -> Self {
        Self {
            levels: spec
                .levels
                .iter()
                .map(|level| Level::new(level.entries, level.latency_cycles))
                .collect(),
            page_shift: spec.page_bytes.trailing_zeros(),
            hinted_hits: 0,
            other_hits: vec![0; spec.levels.len()],
            walks: 0,
        }
    }

    /// Looks up the page of `address` and brings it into every level.
    #[inline(always)]
    pub(crate) fn translate(&mut self, address: u64) -> Translation {
        let page = address >> self.page_shift;
        let first = &mut self.levels[0];
        if first.access_hinted(page) {
            self.hinted_hits += 1;
            return Translation::Hit(first.latency);
        }
        self.translate_other(page)
    }

    #[inline(never)]
    fn translate_other(&mut self, page: u64) -> Translation {
        for (number, level) in self.levels.iter_mut().enumerate() {
            if level.access(page) {
                self.other_hits[number] += 1;
                return Translation::Hit(level.latency);
            }
        }
        self.walks += 1;
        Translation::Miss
    }

    /// Hits by level.
    pub(crate) fn hits(&self) -> Vec<u64> {
        let mut hits = self.other_hits.clone();
        hits[0] += self.hinted_hits;
        hits
    }

    /// Whether some level holds the page of `address`; changes nothing.
    pub(crate) fn holds(&self, address: u64) -> bool {
        let page = address >> self.page_shift;
        self.levels.iter().any(|level| level.pages.contains(&page))
    }

    pub(crate) fn clear(&mut self) {
        for level in &mut self.levels {
            level.clear();
        }
    }
}
