//! Small numbers for lines: those of a page are neighbours, pages come in the order of their first appearance.
//!
//! So the table has an entry for a page only, and stays in the host's caches.

/// No page: larger than the number of any.
const EMPTY: u64 = u64::MAX;
const FIRST_CAPACITY: usize = 1024;
const PAGE_BITS: u32 = 6;
/// Lines per page.
const PAGE: u64 = 1 << PAGE_BITS;

#[derive(Clone, Copy, Debug)]
struct Entry {
    page: u64,
    number: u32,
}

/// An open-addressing table, at most half full, so that nearly every look-up is one access.
#[derive(Clone, Debug)]
pub(super) struct LineNumbers {
    entries: Box<[Entry]>,
    count: u32,
}

impl LineNumbers {
    pub(super) fn new() -> Self {
        Self {
            entries: Self::table(FIRST_CAPACITY),
            count: 0,
        }
    }

    fn table(capacity: usize) -> Box<[Entry]> {
        let free = Entry {
            page: EMPTY,
            number: 0,
        };
        vec![free; capacity].into_boxed_slice()
    }

    /// All numbers so far are below this.
    pub(super) fn count(&self) -> usize {
        (self.count as usize) << PAGE_BITS
    }

    /// Number of the line.
    #[inline(always)]
    pub(super) fn number(&mut self, line: u64) -> u32 {
        let page = line >> PAGE_BITS;
        let place = self.place(page);
        let entry = self.entries[place];
        let number = if entry.page == page {
            entry.number
        } else {
            self.insert(page, place)
        };
        number << PAGE_BITS | (line % PAGE) as u32
    }

    /// Where the page is, or would be.
    #[inline(always)]
    fn place(&self, page: u64) -> usize {
        let mask = self.entries.len() - 1;
        let mut place = (hash(page) >> 32) as usize & mask;
        loop {
            let held = self.entries[place & mask].page;
            if held == page || held == EMPTY {
                return place & mask;
            }
            place += 1;
        }
    }

    #[inline(never)]
    fn insert(&mut self, page: u64, place: usize) -> u32 {
        let number = self.count;
        self.entries[place] = Entry { page, number };
        self.count += 1;
        if self.count as usize * 2 > self.entries.len() {
            self.grow();
        }
        number
    }

    fn grow(&mut self) {
        let larger = Self::table(self.entries.len() * 2);
        let smaller = std::mem::replace(&mut self.entries, larger);
        for entry in smaller.into_iter().filter(|entry| entry.page != EMPTY) {
            let place = self.place(entry.page);
            self.entries[place] = entry;
        }
    }
}

/// Spreads line numbers over 64 bits (the finaliser of `SplitMix64`, Steele et al., OOPSLA 2014).
#[inline(always)]
pub(super) fn hash(line: u64) -> u64 {
    let mut mixed = line.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}
