//! A permutation that looks like chance, without a table of it.

use crate::random::{Random, mixed};

/// Rounds of the Feistel network; with four a permutation cannot be told from chance by few of its values (Luby and Rackoff, 1988).
const ROUNDS: usize = 4;

/// A permutation of the numbers below a count.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scattered {
    count: u64,
    /// Bits of each half of a number.
    half_bits: u32,
    keys: [u64; ROUNDS],
}

impl Scattered {
    /// That of `random` for the numbers below `count`, which is at least one and no more than 2^62.
    pub(crate) fn new(count: u64, random: &mut Random) -> Self {
        let bits = u64::BITS - (count - 1).leading_zeros();
        Self {
            count,
            half_bits: bits.div_ceil(2).max(1),
            keys: std::array::from_fn(|_| random.below(u64::MAX)),
        }
    }

    /// The number that takes the place of `number`, which is below the count.
    pub(crate) fn at(&self, number: u64) -> u64 {
        // A permutation of more numbers, at most four times as many: followed until it comes back below the count.
        let mut number = self.wider(number);
        while number >= self.count {
            number = self.wider(number);
        }
        number
    }

    /// The same for all numbers of two halves.
    fn wider(&self, number: u64) -> u64 {
        let mask = (1 << self.half_bits) - 1;
        let halves = (number >> self.half_bits, number & mask);
        let (left, right) = self.keys.iter().fold(halves, |(left, right), key| {
            (right, left ^ (mixed(right ^ key) & mask))
        });
        left << self.half_bits | right
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn scattered(count: u64, seed: u64) -> Vec<u64> {
        let scattered = Scattered::new(count, &mut Random::new(seed, 0));
        (0..count).map(|number| scattered.at(number)).collect()
    }

    proptest! {
        #[test]
        fn every_number_takes_one_place(count in 1_u64..5000, seed in any::<u64>()) {
            let mut places = scattered(count, seed);
            places.sort_unstable();
            prop_assert!(places.into_iter().eq(0..count));
        }
    }

    #[test]
    fn neighbours_lie_anywhere() {
        let count = 100_000;
        let places = scattered(count, 1);
        assert_ne!(places, scattered(count, 2));
        let close = places
            .windows(2)
            .filter(|pair| pair[0].abs_diff(pair[1]) < 1000);
        // Two in a hundred by chance.
        assert!((1800..2200).contains(&close.count()));
        let in_place = places
            .iter()
            .zip(0..)
            .filter(|(place, number)| *place == number);
        assert!(in_place.count() < 10);
    }
}
