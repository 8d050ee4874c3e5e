//! Random choices: the same for a seed on every machine and in every version.

use crate::watch;
use rand_distr::Distribution;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{RngCore, SeedableRng};
use std::collections::HashMap;

/// A number that looks like chance (splitmix64).
#[inline]
pub(crate) fn mixed(number: u64) -> u64 {
    let mut mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

/// A source of random choices.
#[derive(Clone, Debug)]
pub struct Random(Xoshiro256PlusPlus);

impl Random {
    /// The source of `seed` for one `purpose`: different purposes draw from independent sequences.
    #[must_use]
    pub fn new(seed: u64, purpose: u64) -> Self {
        let mut first = Xoshiro256PlusPlus::seed_from_u64(seed);
        Self(Xoshiro256PlusPlus::seed_from_u64(
            first.next_u64() ^ purpose,
        ))
    }

    /// A number below `bound`: multiply and shift. Its bias, bound / 2^64, is far below what a run could show.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// A value of a distribution.
    #[inline]
    pub fn draw<V>(&mut self, distribution: &impl Distribution<V>) -> V {
        distribution.sample(&mut self.0)
    }

    /// Shuffles (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
            watch::look_at(last as u64);
        }
    }

    /// `count` distinct numbers below `bound`, in random order: the first steps of a shuffle of all of them,
    /// of which only the moved ones are kept.
    ///
    /// # Panics
    /// If `count` is above `bound`.
    #[must_use]
    pub fn distinct(&mut self, count: u64, bound: u64) -> Vec<u64> {
        assert!(count <= bound, "{count} distinct numbers below {bound}");
        let mut moved: HashMap<u64, u64> = HashMap::new();
        (0..count)
            .map(|step| {
                watch::look_at(step);
                let choice = step + self.below(bound - step);
                let chosen = moved.get(&choice).copied().unwrap_or(choice);
                let displaced = moved.get(&step).copied().unwrap_or(step);
                moved.insert(choice, displaced);
                chosen
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distinct_numbers_are_distinct_and_in_range() {
        let mut all = Random::new(1, 0).distinct(1000, 1000);
        assert_ne!(all[..10], *(0..10).collect::<Vec<_>>());
        all.sort_unstable();
        assert!(all.into_iter().eq(0..1000));
    }

    #[test]
    fn seeds_and_purposes_differ_and_repeat() {
        let draw = |seed, purpose| Random::new(seed, purpose).distinct(5, 1_000_000);
        assert_eq!(draw(1, 1), draw(1, 1));
        assert_ne!(draw(1, 1), draw(2, 1));
        assert_ne!(draw(1, 1), draw(1, 2));
    }
}
