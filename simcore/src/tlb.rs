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
    /// When each entry began to be used last, and its number.
    last_use: Box<[u64]>,
    clock: u64,
    /// Where a page was seen last: saves the search through all entries when it is still there.
    hints: Box<[u16; HINTS]>,
    /// The page used last.
    latest: u64,
    latency: u64,
}

impl Level {
    fn new(entries: u32, latency: u32) -> Self {
        Self {
            pages: vec![EMPTY; entries as usize].into_boxed_slice(),
            last_use: (0..u64::from(entries)).collect(),
            clock: 0,
            hints: Box::new([0; HINTS]),
            latest: EMPTY,
            latency: u64::from(latency),
        }
    }

    /// Whether the page is the one used last, or where it was seen last; it becomes the most recently used.
    #[inline(always)]
    fn access_hinted(&mut self, page: u64) -> bool {
        if page == self.latest {
            return true;
        }
        let entry = usize::from(self.hints[page as usize % HINTS]);
        let hit = self.pages[entry] == page;
        if hit {
            self.mark_used(page, entry);
        }
        hit
    }

    /// Whether the page is there; it becomes the most recently used. If not, it replaces the least recently used.
    fn access(&mut self, page: u64) -> bool {
        if self.access_hinted(page) {
            return true;
        }
        let found = self.find(page);
        let entry = found.unwrap_or_else(|| self.least_recent());
        self.pages[entry] = page;
        self.hints[page as usize % HINTS] = entry as u16;
        self.mark_used(page, entry);
        found.is_some()
    }

    /// Makes a page the most recently used.
    #[inline(always)]
    fn mark_used(&mut self, page: u64, entry: usize) {
        self.clock += 1;
        self.last_use[entry] = self.clock << NUMBER_BITS | entry as u64;
        self.latest = page;
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
        self.latest = EMPTY;
        self.pages.fill(EMPTY);
        for (entry, used) in self.last_use.iter_mut().enumerate() {
            *used = entry as u64;
        }
    }
}

/// All levels; a miss in every one walks the page table.
#[derive(Clone, Debug)]
pub(crate) struct Tlb {
    first: Level,
    further: Vec<Level>,
    page_shift: u32,
    /// Hits in the first level that needed no search.
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
        let mut levels = spec
            .levels
            .iter()
            .map(|level| Level::new(level.entries, level.latency_cycles));
        Self {
            first: levels.next().expect("a validated TLB has a level"),
            further: levels.collect(),
            page_shift: spec.page_bytes.trailing_zeros(),
            hinted_hits: 0,
            other_hits: vec![0; spec.levels.len()],
            walks: 0,
        }
    }

    /// The latency of the first level, if it holds the page of `address` where no search is needed.
    #[inline(always)]
    pub(crate) fn translate_hinted(&mut self, address: u64) -> Option<u64> {
        let hit = self.first.access_hinted(address >> self.page_shift);
        self.hinted_hits += u64::from(hit);
        hit.then_some(self.first.latency)
    }

    /// Looks up the page of `address` and brings it into every level.
    pub(crate) fn translate(&mut self, address: u64) -> Translation {
        let page = address >> self.page_shift;
        let levels = std::iter::once(&mut self.first).chain(&mut self.further);
        for (level, hits) in levels.zip(&mut self.other_hits) {
            if level.access(page) {
                *hits += 1;
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
        let mut levels = std::iter::once(&self.first).chain(&self.further);
        levels.any(|level| level.pages.contains(&page))
    }

    pub(crate) fn clear(&mut self) {
        self.first.clear();
        self.further.iter_mut().for_each(Level::clear);
    }
}
