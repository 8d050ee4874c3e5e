//! One level of TLB: sets of entries under LRU, some of which are on their way.

use super::victims::Victims;
use crate::arrival::Arrival;
use crate::sets::Sets;

/// No page: larger than every page's number, awaited or not, because pages are at least four bytes.
const EMPTY: u64 = u64::MAX;
/// Marks the number of a page whose entry somebody may have to wait for. No search without this mark finds it, so that
/// quick searches need not look at times.
const AWAITED: u64 = 1 << 63;
const HINTS: usize = 1024;
/// Low bits of a use that hold the number of its entry; the others hold its time. One minimum then finds the entry used
/// longest ago.
const NUMBER_BITS: u32 = 16;

/// State of one level.
#[derive(Clone, Debug)]
pub(super) struct Level {
    sets: Sets,
    ways: usize,
    /// Set after set.
    pages: Box<[u64]>,
    /// When each entry began to be used last, and its number.
    last_use: Box<[u64]>,
    /// When each entry that is awaited comes.
    arrivals: Box<[Arrival]>,
    clock: u64,
    /// Where a page was seen last: saves the search through its set when it is still there. Pages share them.
    hints: Box<[u16; HINTS]>,
    /// How many of the pages held share a hint: of most pages that are not there, none.
    sharing: Box<[u32; HINTS]>,
    victims: Victims,
    /// The page used last, unless it is awaited.
    latest: u64,
    latency: u64,
}

impl Level {
    /// An empty level of so many entries, which may be none. The geometry has been validated.
    pub(super) fn new(entries: u32, ways: u32, latency: u32) -> Self {
        let places = (entries as usize).max(1);
        Self {
            sets: Sets::new(u64::from((entries / ways.max(1)).max(1))),
            ways: ways as usize,
            pages: vec![EMPTY; places].into_boxed_slice(),
            last_use: (0..places as u64).collect(),
            arrivals: vec![Arrival::default(); places].into_boxed_slice(),
            clock: 0,
            hints: Box::new([0; HINTS]),
            sharing: Box::new([0; HINTS]),
            victims: Victims::default(),
            latest: EMPTY,
            latency: u64::from(latency),
        }
    }

    pub(super) fn latency(&self) -> u64 {
        self.latency
    }

    /// Whether the page is the one used last, or where it was seen last, and nobody has to wait for it; it becomes the
    /// most recently used.
    #[inline(always)]
    pub(super) fn access_hinted(&mut self, page: u64) -> bool {
        if page == self.latest {
            return true;
        }
        let entry = usize::from(self.hints[page as usize % HINTS]);
        let hit = self.pages[entry] == page;
        if hit {
            self.use_entry(entry);
            self.latest = page;
        }
        hit
    }

    /// The cycle in which a translation that is asked for at `time` is there, if the level has the page or expects it; it
    /// becomes the most recently used. Nobody will ask before `now`.
    pub(super) fn access(&mut self, page: u64, time: u64, now: u64) -> Option<u64> {
        let found = time + self.latency;
        let entry = self.find(page)?;
        self.hints[page as usize % HINTS] = entry as u16;
        self.use_entry(entry);
        let arrival = self.arrivals[entry];
        if self.pages[entry] == page || !arrival.is_awaited(now) {
            self.pages[entry] = page;
            self.latest = page;
            return Some(found);
        }
        self.latest = EMPTY;
        let there = arrival.wait(time);
        self.arrivals[entry] = arrival.no_later_than(time, there);
        Some(found.max(there))
    }

    /// Puts in a page that is not there, as the most recently used; the least recently used makes room.
    pub(super) fn insert(&mut self, page: u64, arrival: Arrival, now: u64) {
        if self.ways == 0 {
            return;
        }
        let entry = self.least_recent(page);
        let leaves = self.pages[entry];
        if leaves != EMPTY {
            self.sharing[leaves as usize % HINTS] -= 1;
        }
        self.sharing[page as usize % HINTS] += 1;
        self.hints[page as usize % HINTS] = entry as u16;
        self.use_entry(entry);
        self.arrivals[entry] = arrival;
        (self.pages[entry], self.latest) = if arrival.is_awaited(now) {
            (page | AWAITED, EMPTY)
        } else {
            (page, page)
        };
    }

    /// Whether the level has the page, or expects it; changes nothing.
    pub(super) fn holds(&self, page: u64) -> bool {
        self.find(page).is_some()
    }

    pub(super) fn clear(&mut self) {
        self.latest = EMPTY;
        self.pages.fill(EMPTY);
        self.sharing.fill(0);
        self.victims.clear();
        for (entry, used) in self.last_use.iter_mut().enumerate() {
            *used = entry as u64;
        }
    }

    /// Makes an entry the most recently used.
    #[inline(always)]
    fn use_entry(&mut self, entry: usize) {
        self.clock += 1;
        self.last_use[entry] = self.clock << NUMBER_BITS | entry as u64;
    }

    /// The first entry of a page's set.
    fn set_start(&self, page: u64) -> usize {
        self.sets.of(page & !super::HUGE) * self.ways
    }

    /// The entry that holds the page. Looks at all of its set, so that the host can compare many at once, unless none can hold it.
    fn find(&self, page: u64) -> Option<usize> {
        let hint = page as usize % HINTS;
        let hinted = usize::from(self.hints[hint]);
        if self.pages[hinted] & !AWAITED == page {
            return Some(hinted);
        }
        if self.sharing[hint] == 0 {
            return None;
        }
        let start = self.set_start(page);
        let numbered = (start as u64..).zip(&self.pages[start..start + self.ways]);
        let found = numbered.fold(EMPTY, |found, (entry, &held)| {
            if held & !AWAITED == page {
                entry
            } else {
                found
            }
        });
        (found != EMPTY).then_some(found as usize)
    }

    /// The entry of a page's set that was used longest ago.
    fn least_recent(&mut self, page: u64) -> usize {
        let start = self.set_start(page);
        let last_use = &self.last_use;
        let entry = |used: u64| (used & ((1 << NUMBER_BITS) - 1)) as usize;
        let uses = &last_use[start..start + self.ways];
        let is_current = |used| last_use[entry(used)] == used;
        entry(self.victims.oldest(start, uses, is_current))
    }
}
