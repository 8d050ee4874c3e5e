//! The reorder buffer: when the latest events left it.

/// Records that are kept: more than the widest reorder buffer has entries; a power of two.
const RECORDS: usize = 2048;

/// When the entry of an instruction can be taken over by a later one.
#[derive(Clone, Copy, Debug, Default)]
struct Departure {
    /// Instructions that have graduated, counted from 1.
    instructions: u64,
    /// The slot after the last of them.
    slot: u64,
}

/// A table of when its entries are free.
///
/// An event leaves with its last instruction; the plain instructions before it take the slots right behind the event before them.
#[derive(Clone, Debug)]
pub(super) struct ReorderBuffer {
    pub(super) entries: u64,
    /// By number modulo a power of two; the first stands for the time before all instructions.
    departures: [Departure; RECORDS],
    /// Keeps the ring short, so that it stays in the first-level cache of the host.
    mask: usize,
    next: usize,
    /// The latest departure that was looked up, and the next departure at that time.
    found: usize,
    asked: usize,
}

impl ReorderBuffer {
    pub(super) fn new(entries: u32) -> Self {
        Self {
            entries: u64::from(entries),
            departures: [Departure::default(); RECORDS],
            mask: (entries as usize + 2).next_power_of_two().min(RECORDS) - 1,
            next: 1,
            found: 0,
            asked: 1,
        }
    }

    #[inline]
    fn place(&self, number: usize) -> usize {
        number & (self.mask % RECORDS)
    }

    /// The slot after those in which everything graduated whose entries are taken over up to `instruction`; 0 if the
    /// entries had nobody before.
    pub(super) fn left_before(&mut self, instruction: u64) -> u64 {
        let Some(leaves) = instruction.checked_sub(self.entries) else {
            return 0;
        };
        self.found = self.find(leaves);
        self.asked = self.next;
        self.left(self.found, leaves)
    }

    /// The same for who only wants to know.
    pub(super) fn foresee_left_before(&self, instruction: u64) -> u64 {
        let leaves = instruction.checked_sub(self.entries);
        leaves.map_or(0, |leaves| self.left(self.find(leaves), leaves))
    }

    /// The slot after that of instruction `leaves`, counted from 1, which graduates behind a departure and before the next.
    #[inline]
    fn left(&self, found: usize, leaves: u64) -> u64 {
        let Departure { instructions, slot } = self.departures[self.place(found)];
        slot + (leaves - instructions)
    }

    /// The latest departure up to instruction `leaves`.
    #[inline]
    fn find(&self, leaves: u64) -> usize {
        // As many events have left since the last look-up as have come, as a rule. Each event has an instruction at least,
        // so that the one this many events back left in time, and no older one is the last that did.
        let oldest = self.next.saturating_sub(1 + self.entries as usize);
        let mut found = (self.found + self.next - self.asked).max(oldest);
        while self.departures[self.place(found)].instructions > leaves {
            found -= 1;
        }
        while found + 1 < self.next && self.departures[self.place(found + 1)].instructions <= leaves
        {
            found += 1;
        }
        found
    }

    /// All of `instructions` have graduated, in slots before `slot`; their entries are taken over a cycle of slots later.
    #[inline]
    pub(super) fn leave(&mut self, instructions: u64, slot: u64) {
        self.departures[self.place(self.next)] = Departure { instructions, slot };
        self.next += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn entries_are_free_when_a_list_of_departures_says_so(
            entries in 8_u32..64,
            events in prop::collection::vec((1_u64..8, 0_u64..40, any::<bool>()), 1..300),
        ) {
            let mut buffer = ReorderBuffer::new(entries);
            let (mut departures, mut graduated, mut slot) = (vec![(0, 0)], 0, 0);
            for (instructions, idle, asks) in events {
                let instruction: u64 = graduated + instructions;
                let expected = instruction.checked_sub(u64::from(entries)).map_or(0, |leaves| {
                    let left = departures.iter().rev().find(|(last, _)| *last <= leaves);
                    left.map_or(0, |&(last, slot)| slot + leaves - last)
                });
                if asks {
                    prop_assert_eq!(buffer.left_before(instruction), expected);
                }
                graduated = instruction;
                slot += instructions + idle;
                buffer.leave(graduated, slot);
                departures.push((graduated, slot));
            }
        }
    }
}
