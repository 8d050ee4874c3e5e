//! When a miss ends, and who serves its line.

/// Bits of the word that say who serves the line: there are fewer levels than they tell apart.
const LEVEL_BITS: u32 = 4;

/// The end of a miss in one word, as miss handlers are searched for it. Ordered by cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct MissEnd(u64);

impl MissEnd {
    /// In this cycle, or at a pending time, the line is there, which `level` serves.
    #[inline(always)]
    pub(crate) fn new(cycle: u64, level: usize) -> Self {
        debug_assert!(cycle < 1 << (u64::BITS - LEVEL_BITS) && level < 1 << LEVEL_BITS);
        Self(cycle << LEVEL_BITS | level as u64)
    }

    /// When it ends.
    #[inline(always)]
    pub(crate) fn cycle(self) -> u64 {
        self.0 >> LEVEL_BITS
    }

    /// Who serves the line; 0 if nobody has been waited for.
    #[inline(always)]
    pub(crate) fn level(self) -> usize {
        (self.0 & ((1 << LEVEL_BITS) - 1)) as usize
    }

    /// The same line in another cycle.
    #[inline(always)]
    pub(crate) fn at(self, cycle: u64) -> Self {
        Self::new(cycle, self.level())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::PENDING;

    #[test]
    fn a_cycle_and_a_level_come_back_and_cycles_decide_the_order() {
        for (cycle, level) in [(0, 0), (250, 3), (PENDING + 7, 8)] {
            let end = MissEnd::new(cycle, level);
            assert_eq!((end.cycle(), end.level()), (cycle, level));
        }
        assert!(MissEnd::new(99, 8) < MissEnd::new(100, 1));
        assert_eq!(MissEnd::new(99, 8).at(120), MissEnd::new(120, 8));
    }
}
