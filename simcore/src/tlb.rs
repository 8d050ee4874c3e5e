//! Data TLB: levels of entries that come when a walk ends, for pages of one or two sizes.

mod huge;
mod level;
#[cfg(test)]
mod tests;
mod victims;

use crate::arrival::Arrival;
use crate::spec::{HugePages, TlbLevelSpec, TlbSpec};
use level::Level;
use std::ops::RangeInclusive;
use traces::Layout;

/// Marks the number of a huge page among those of small ones.
const HUGE: u64 = 1 << 62;

/// Huge pages beside small ones.
#[derive(Clone, Debug)]
struct Huge {
    page_shift: u32,
    /// Numbers of the huge pages, ascending.
    pages: Box<[RangeInclusive<u64>]>,
    /// Entries of their own, by level; none where they share those of the small pages.
    levels: Box<[Option<Level>]>,
}

impl Huge {
    fn holds(&self, page: u64) -> bool {
        let behind = self.pages.partition_point(|pages| *pages.start() <= page);
        behind > 0 && self.pages[behind - 1].contains(&page)
    }
}

/// All levels; a miss in every one walks the page table.
#[derive(Clone, Debug)]
pub(crate) struct Tlb {
    first: Level,
    further: Vec<Level>,
    /// Of all pages, or of the small ones.
    page_shift: u32,
    /// Present if there are pages of both sizes.
    huge: Option<Box<Huge>>,
    /// Translations that needed a search: all others are hits in the first level.
    searched: u64,
    /// Hits by level of those that did.
    searched_hits: Vec<u64>,
    /// Page-table walks.
    pub(crate) walks: u64,
}

/// The entries of a level for small pages.
fn small_level(spec: &TlbLevelSpec) -> Level {
    let ways = spec.ways.unwrap_or(spec.entries);
    Level::new(spec.entries, ways, spec.latency_cycles)
}

/// The entries of a level that only huge pages have.
fn huge_level(spec: &TlbLevelSpec) -> Option<Level> {
    let entries = spec.huge_entries?;
    let ways = spec.huge_ways.unwrap_or(entries);
    Some(Level::new(entries, ways, spec.latency_cycles))
}

impl Tlb {
    /// An empty TLB for a program. The specification has been validated; what the program lacks of the segments in huge pages, another one may have.
    pub(crate) fn new(spec: &TlbSpec, layout: &Layout) -> Self {
        let all_huge = spec.huge_pages == HugePages::All;
        let mut levels = spec.levels.iter().map(|level| {
            let own = huge_level(level).filter(|_| all_huge);
            own.unwrap_or_else(|| small_level(level))
        });
        let mut huge = None;
        if let (HugePages::Segments(_), Some(bytes)) = (&spec.huge_pages, spec.huge_page_bytes) {
            huge = Some(Box::new(Huge {
                page_shift: bytes.trailing_zeros(),
                pages: huge::huge_pages(spec, bytes, layout).into(),
                levels: spec.levels.iter().map(huge_level).collect(),
            }));
        }
        Self {
            first: levels.next().expect("a validated TLB has a level"),
            further: levels.collect(),
            page_shift: spec.smallest_page_bytes().trailing_zeros(),
            huge,
            searched: 0,
            searched_hits: vec![0; spec.levels.len()],
            walks: 0,
        }
    }

    /// The latency of the first level, if it holds the page of `address` where no search is needed and nobody has to wait
    /// for it. Huge pages beside small ones are not found, as their numbers are marked.
    #[inline(always)]
    pub(crate) fn translate_hinted(&mut self, address: u64) -> Option<u64> {
        let hit = self.first.access_hinted(address >> self.page_shift);
        hit.then_some(self.first.latency())
    }

    /// The cycle in which the translation of `address` is there that is asked for at `time`, if some level has it or
    /// expects it; the levels before get it too. Nobody will ask before `now`.
    #[inline(always)]
    pub(crate) fn translate(&mut self, address: u64, time: u64, now: u64) -> Option<u64> {
        self.searched += 1;
        let page = self.page(address);
        let there = self.level(0, page).access(page, time, now);
        if there.is_some() {
            self.searched_hits[0] += 1;
            return there;
        }
        for number in 1..self.searched_hits.len() {
            if let Some(there) = self.level(number, page).access(page, time, now) {
                self.searched_hits[number] += 1;
                let arrival = Arrival {
                    start: time,
                    end: there,
                };
                self.insert(page, number, arrival, now);
                return Some(there);
            }
        }
        None
    }

    /// Brings the page of `address`, which no level has, into every one: the walk was asked for, and ends, at `walk`.
    /// Nobody will ask before `now`.
    pub(crate) fn fill(&mut self, address: u64, walk: Arrival, now: u64) {
        self.walks += 1;
        self.insert(self.page(address), self.searched_hits.len(), walk, now);
    }

    /// Looks up the pages of `size` bytes at `address` where time does not pass, and brings them in.
    pub(crate) fn touch(&mut self, mut address: u64, size: u64) {
        let end = address.saturating_add(size);
        self.touch_page(address);
        while let Some(next) = self.next_page(address, end) {
            address = next;
            self.touch_page(address);
        }
    }

    /// The same of the page of `address` alone.
    fn touch_page(&mut self, address: u64) {
        let known = self.translate_hinted(address);
        if known.is_none() && self.translate(address, 0, u64::MAX).is_none() {
            self.fill(address, Arrival::default(), u64::MAX);
        }
    }

    /// Hits by level, of so many translations.
    pub(crate) fn hits(&self, translations: u64) -> Vec<u64> {
        let mut hits = self.searched_hits.clone();
        hits[0] += translations - self.searched;
        hits
    }

    /// Whether some level holds the page of `address`, or expects it; changes nothing.
    pub(crate) fn holds(&mut self, address: u64) -> bool {
        let page = self.page(address);
        (0..self.searched_hits.len()).any(|number| self.level(number, page).holds(page))
    }

    /// Whether `size` bytes at `address` lie in one page, as far as the size of small pages says.
    #[inline(always)]
    pub(crate) fn is_in_one_page(&self, address: u64, size: u64) -> bool {
        let bytes = 1 << self.page_shift;
        (address & (bytes - 1)) + size <= bytes
    }

    /// The first address behind the page of `address`, if it is before `end`.
    pub(crate) fn next_page(&self, address: u64, end: u64) -> Option<u64> {
        let page_bytes = 1 << self.page_shift(address);
        let next = (address | (page_bytes - 1)).checked_add(1)?;
        (next < end).then_some(next)
    }

    /// The binary logarithm of the size of the page of `address`.
    pub(crate) fn page_shift(&self, address: u64) -> u32 {
        match &self.huge {
            Some(huge) if huge.holds(address >> huge.page_shift) => huge.page_shift,
            _ => self.page_shift,
        }
    }

    pub(crate) fn clear(&mut self) {
        self.first.clear();
        self.further.iter_mut().for_each(Level::clear);
        if let Some(huge) = &mut self.huge {
            huge.levels.iter_mut().flatten().for_each(Level::clear);
        }
    }

    /// Number of the page of `address`, as levels take it.
    fn page(&self, address: u64) -> u64 {
        match &self.huge {
            Some(huge) if huge.holds(address >> huge.page_shift) => {
                address >> huge.page_shift | HUGE
            }
            _ => address >> self.page_shift,
        }
    }

    /// The entries of a level that a page may be in.
    fn level(&mut self, number: usize, page: u64) -> &mut Level {
        if page & HUGE != 0
            && let Some(huge) = &mut self.huge
            && let Some(own) = &mut huge.levels[number]
        {
            return own;
        }
        match number.checked_sub(1) {
            None => &mut self.first,
            Some(further) => &mut self.further[further],
        }
    }

    /// Puts a page into the first `levels`.
    fn insert(&mut self, page: u64, levels: usize, arrival: Arrival, now: u64) {
        for number in 0..levels {
            self.level(number, page).insert(page, arrival, now);
        }
    }
}
