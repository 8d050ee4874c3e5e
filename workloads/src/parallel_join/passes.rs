//! Passes of partitioning: which bits of keys each goes by, and how much room it leaves between partitions.

use super::places::LINE_BYTES;
use super::spec::ParallelJoinWorkload;

/// Lines left free between partitions: an odd number, so that partitions of one size do not begin in the same cache set (as in the published
/// program).
const PADDING_LINES: u64 = 3;

/// The bits of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pass {
    /// Bits below them.
    pub(super) shift: u32,
    pub(super) bits: u32,
}

impl Pass {
    /// Partitions that one partition, or an input, is divided into.
    pub(super) fn fan_out(self) -> usize {
        1 << self.bits
    }

    /// The partition of a key.
    #[inline]
    pub(super) fn of(self, key: u64) -> usize {
        (key >> self.shift) as usize & (self.fan_out() - 1)
    }
}

impl ParallelJoinWorkload {
    /// The passes, first to last.
    pub(super) fn pass_list(&self) -> Vec<Pass> {
        let first = self.radix_bits / self.passes;
        let one = |shift, bits| Pass { shift, bits };
        match self.passes {
            1 => vec![one(0, first)],
            _ => vec![one(0, first), one(first, self.radix_bits - first)],
        }
    }

    /// The most partitions of one pass.
    pub(super) fn most_fan_out(&self) -> usize {
        let passes = self.pass_list();
        passes.iter().map(|pass| pass.fan_out()).max().unwrap_or(1)
    }

    /// Tuples left free behind partition 0 of a pass, and behind each that follows: the first pass leaves what the second needs within.
    pub(super) fn padding(&self, pass: usize) -> usize {
        let passes = self.pass_list();
        let within = passes[pass + 1..].iter().map(|pass| pass.fan_out() + 1);
        let lines = PADDING_LINES as usize * within.sum::<usize>().max(1);
        lines * (LINE_BYTES / u64::from(self.tuple_bytes)) as usize
    }

    /// Tuples that there is room for in the partitions of a relation.
    pub(super) fn room(&self, tuples: u64) -> u64 {
        let partitions = self.pass_list()[0].fan_out();
        tuples + (partitions * self.padding(0)) as u64
    }

    /// Partitions after a pass.
    pub(super) fn partitions(&self, pass: usize) -> usize {
        let passes = self.pass_list();
        passes[..=pass].iter().map(|pass| pass.fan_out()).product()
    }
}
