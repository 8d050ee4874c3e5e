//! One LRU stack: how many lines were used since this one?
//!
//! Each use takes the next slot of a time axis. A bit says whether the line used there has not been used since, so the
//! distance of a line is the number of set bits after its slot (Bennett and Kruskal, IBM J. R&D 1975). Sums over blocks
//! of bits, and over groups of such sums, make the count short; the axis is closed up when it is full.
//!
//! A line that is dropped leaves a hole, which is as deep in the stack as the line was: in every cache that had room for the line, room is
//! free. The next line that comes from below the topmost hole takes that room: what lies between stays as deep as it is.

use std::collections::BinaryHeap;

const WORD: usize = 64;
/// Words per block.
const BLOCK: usize = 8;
/// Sums per group of the next higher level.
const GROUP: usize = 64;
/// Slots of the shortest axis: one block.
const FIRST_SLOTS: usize = WORD * BLOCK;
/// The slot of a line that is in no stack.
pub(super) const NEVER: u32 = u32::MAX;
/// What was used in a slot whose line was dropped.
const HOLE: u32 = u32::MAX;

/// A stack of lines, which are numbers known to the caller.
#[derive(Clone, Debug)]
pub(super) struct Stack {
    bits: Vec<[u64; BLOCK]>,
    /// Set bits by block, by group of blocks, by group of those, and so on to a single group; but for the block that is
    /// being filled, so that most uses change one sum of each level and not two.
    sums: Vec<Vec<[u32; GROUP]>>,
    /// Set bits of the block that is being filled.
    newest: u32,
    /// Line used in each slot; of no meaning where the bit is clear.
    lines: Vec<u32>,
    /// Slots whose lines were dropped, the latest on top.
    holes: BinaryHeap<u32>,
}

impl Stack {
    pub(super) fn new() -> Self {
        let mut stack = Self {
            bits: Vec::new(),
            sums: Vec::new(),
            newest: 0,
            lines: Vec::new(),
            holes: BinaryHeap::new(),
        };
        stack.resize(FIRST_SLOTS);
        stack
    }

    /// Sets the length of the empty axis.
    fn resize(&mut self, slots: usize) {
        self.bits.clear();
        self.bits.resize(slots / FIRST_SLOTS, [0; BLOCK]);
        self.lines.reserve(slots - self.lines.len());
        self.newest = 0;
        self.sums.clear();
        let mut groups = self.bits.len();
        while groups > 1 || self.sums.is_empty() {
            groups = groups.div_ceil(GROUP);
            self.sums.push(vec![[0; GROUP]; groups]);
        }
    }

    fn slots(&self) -> usize {
        self.bits.len() * FIRST_SLOTS
    }

    /// Whether a slot lies in the block that is being filled.
    #[inline(always)]
    fn is_newest(&self, slot: usize) -> bool {
        slot / FIRST_SLOTS == self.lines.len() / FIRST_SLOTS
    }

    #[inline(always)]
    fn word(&mut self, slot: usize) -> &mut u64 {
        &mut self.bits[slot / FIRST_SLOTS][slot / WORD % BLOCK]
    }

    /// Uses a line and gives its distance, if it was used before: how many other lines were used since. `slots` are those
    /// of the latest use of each line.
    #[inline(always)]
    pub(super) fn use_line(&mut self, line: u32, slots: &mut [u32]) -> Option<u64> {
        if self.lines.len() == self.slots() {
            self.close_up(slots);
        }
        let slot = slots[line as usize];
        let distance = (slot != NEVER).then(|| self.distance(slot));
        match self.holes.peek() {
            Some(&hole) if slot == NEVER || hole > slot => self.fill_hole(slot),
            _ if slot != NEVER => self.remove(slot),
            _ => {}
        }
        slots[line as usize] = self.push(line);
        distance
    }

    /// The line used in `slot`, or a new one, comes to the top and takes the room of the topmost hole: its own becomes one.
    #[cold]
    fn fill_hole(&mut self, slot: u32) {
        if let Some(hole) = self.holes.pop() {
            self.remove(hole);
        }
        if slot != NEVER {
            self.dig(slot);
        }
    }

    /// Makes a hole of the line used in `slot`.
    fn dig(&mut self, slot: u32) {
        self.lines[slot as usize] = HOLE;
        self.holes.push(slot);
    }

    /// Drops a line, if it was used before. `slots` are those of the latest use of each line.
    pub(super) fn drop_line(&mut self, line: u32, slots: &mut [u32]) {
        let slot = std::mem::replace(&mut slots[line as usize], NEVER);
        if slot != NEVER {
            self.dig(slot);
        }
    }

    /// How many lines were used after the one in `slot`. Whole blocks and groups are summed up, with zeros for what does
    /// not count: how much does is what the host's branch predictor cannot know.
    #[inline(always)]
    fn distance(&self, slot: u32) -> u64 {
        let slot = slot as usize;
        let mut place = slot / WORD;
        let mut distance =
            u64::from((self.bits[place / BLOCK][place % BLOCK] >> (slot % WORD) >> 1).count_ones());
        for (word, bits) in self.bits[place / BLOCK].iter().enumerate() {
            let counted = if word > place % BLOCK { *bits } else { 0 };
            distance += u64::from(counted.count_ones());
        }
        if self.is_newest(slot) {
            return distance;
        }
        distance += u64::from(self.newest);
        place /= BLOCK;
        for groups in &self.sums {
            let mut sum = 0;
            for (number, &part) in groups[place / GROUP].iter().enumerate() {
                sum += if number > place % GROUP { part } else { 0 };
            }
            distance += u64::from(sum);
            place /= GROUP;
        }
        distance
    }

    /// Takes out the line used in `slot`.
    #[inline(always)]
    pub(super) fn remove(&mut self, slot: u32) {
        let slot = slot as usize;
        *self.word(slot) &= !(1 << (slot % WORD));
        if self.is_newest(slot) {
            self.newest -= 1;
        } else {
            self.add(slot, u32::MAX);
        }
    }

    /// Puts `line` on top and gives its slot.
    #[inline(always)]
    fn push(&mut self, line: u32) -> u32 {
        let slot = self.lines.len();
        self.lines.push(line);
        *self.word(slot) |= 1 << (slot % WORD);
        self.newest += 1;
        if self.lines.len().is_multiple_of(FIRST_SLOTS) {
            self.add(slot, self.newest);
            self.newest = 0;
        }
        slot as u32
    }

    #[inline(always)]
    fn add(&mut self, slot: usize, difference: u32) {
        let mut place = slot / FIRST_SLOTS;
        for groups in &mut self.sums {
            let sum = &mut groups[place / GROUP][place % GROUP];
            *sum = sum.wrapping_add(difference);
            place /= GROUP;
        }
    }

    /// Closes the axis up, and doubles it if that leaves less than half of it free. `slots` learn where each line went.
    #[inline(never)]
    fn close_up(&mut self, slots: &mut [u32]) {
        let mut bits = std::mem::take(&mut self.bits);
        let mut lines = std::mem::take(&mut self.lines);
        let room = bits.len() * FIRST_SLOTS;
        let mut kept = 0;
        for (index, word) in bits.as_flattened_mut().iter_mut().enumerate() {
            while *word != 0 {
                let slot = index * WORD + word.trailing_zeros() as usize;
                *word &= *word - 1;
                lines[kept] = lines[slot];
                kept += 1;
            }
        }
        lines.truncate(kept);
        self.bits = bits;
        self.lines = Vec::with_capacity(room);
        self.resize(if kept * 2 > room { room * 2 } else { room });
        self.holes.clear();
        for line in lines {
            let slot = self.push(line);
            match line {
                HOLE => self.holes.push(slot),
                line => slots[line as usize] = slot,
            }
        }
    }
}
