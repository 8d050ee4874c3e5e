//! Random replacement, the same in every run.

use super::{Policy, Position};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{RngCore, SeedableRng};

/// Any number will do; results do not depend on which, beyond chance.
const SEED: u64 = 1;

/// A generator shared by all sets.
#[derive(Clone, Debug)]
pub(crate) struct Random {
    generator: SplitMix64,
    ways: usize,
}

impl Policy for Random {
    fn new(_sets: usize, ways: usize) -> Self {
        Self {
            generator: SplitMix64::seed_from_u64(SEED),
            ways,
        }
    }

    fn used(&mut self, _set: usize, _way: usize) {}

    fn filled(&mut self, _set: usize, _way: usize, _position: Position) {}

    fn victim(&mut self, _set: usize) -> usize {
        // Ways are so few that the remainder of 64 random bits is uniform for all purposes.
        (self.generator.next_u64() % self.ways as u64) as usize
    }

    fn clear(&mut self) {
        self.generator = SplitMix64::seed_from_u64(SEED);
    }
}
