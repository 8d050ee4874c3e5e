//! Numbers for lines, in the order of their first appearance.

/// No line: larger than any line number, because lines are at least two bytes.
const EMPTY: u64 = u64::MAX;
const FIRST_CAPACITY: usize = 1024;

#[derive(Clone, Copy, Debug)]
struct Entry {
    line: u64,
    number: u32,
}

/// An open-addressing table, at most half full, so that nearly every look-up is one access to the host's memory.
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
            line: EMPTY,
            number: 0,
        };
        vec![free; capacity].into_boxed_slice()
    }

    /// Distinct lines so far.
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// Number of the line; a new line gets the next one.
    #[inline(always)]
    pub(super) fn number(&mut self, line: u64) -> u32 {
        let place = self.place(line);
        let entry = self.entries[place];
        if entry.line == line {
            return entry.number;
        }
        self.insert(line, place)
    }

    /// Where the line is, or would be.
    #[inline(always)]
    fn place(&self, line: u64) -> usize {
        let mask = self.entries.len() - 1;
        let mut place = (hash(line) >> 32) as usize & mask;
        loop {
            let held = self.entries[place & mask].line;
            if held == line || held == EMPTY {
                return place & mask;
            }
            place += 1;
        }
    }

    #[inline(never)]
    fn insert(&mut self, line: u64, place: usize) -> u32 {
        let number = self.count;
        self.entries[place] = Entry { line, number };
        self.count += 1;
        if self.count as usize * 2 > self.entries.len() {
            self.grow();
        }
        number
    }

    fn grow(&mut self) {
        let larger = Self::table(self.entries.len() * 2);
        let smaller = std::mem::replace(&mut self.entries, larger);
        for entry in smaller.into_iter().filter(|entry| entry.line != EMPTY) {
            let place = self.place(entry.line);
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
