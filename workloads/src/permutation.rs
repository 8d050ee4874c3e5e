//! Random orders that need no memory: the place of each number is computed.

use crate::random::Random;

const ROUNDS: usize = 4;

/// A random order of the numbers below a bound: a Feistel network over the next even number of bits, walked until it gives a number
/// below the bound.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Permutation {
    bound: u64,
    half_bits: u32,
    keys: [u64; ROUNDS],
}

impl Permutation {
    /// Of the numbers below `bound`.
    pub(crate) fn new(bound: u64, seed: u64, purpose: u64) -> Self {
        let mut random = Random::new(seed, purpose);
        let bits = u64::BITS - bound.saturating_sub(1).leading_zeros();
        Self {
            bound,
            half_bits: bits.div_ceil(2).max(1),
            keys: std::array::from_fn(|_| random.below(u64::MAX)),
        }
    }

    /// Where a number below the bound goes.
    pub(crate) fn at(&self, number: u64) -> u64 {
        debug_assert!(number < self.bound, "{number} of {}", self.bound);
        let mut place = self.mixed(number);
        while place >= self.bound {
            place = self.mixed(place);
        }
        place
    }

    fn mixed(&self, number: u64) -> u64 {
        let mask = (1 << self.half_bits) - 1;
        let (mut left, mut right) = (number >> self.half_bits, number & mask);
        for key in self.keys {
            // Multiplied by the golden ratio; the product's upper bits depend on all of the factor's.
            let mixed = (right ^ key).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
            (left, right) = (right, left ^ (mixed & mask));
        }
        left << self.half_bits | right
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_has_a_place_of_its_own() {
        for bound in [1, 2, 3, 5, 64, 65, 1000, 4097] {
            let order = Permutation::new(bound, 1, 2);
            let mut places: Vec<u64> = (0..bound).map(|number| order.at(number)).collect();
            let sorted: Vec<u64> = (0..bound).collect();
            assert!(bound < 64 || places != sorted, "{bound}");
            places.sort_unstable();
            assert_eq!(places, sorted, "{bound}");
        }
    }

    #[test]
    fn neighbours_go_anywhere() {
        let order = Permutation::new(100_000, 1, 2);
        let places: Vec<u64> = (0..100_000).map(|number| order.at(number)).collect();
        let close = places.windows(2);
        let close = close.filter(|pair| pair[0].abs_diff(pair[1]) < 1000);
        // Two in a hundred by chance.
        assert!((1800..2200).contains(&close.count()));
        let in_place = places.iter().zip(0..);
        let in_place = in_place.filter(|(place, number)| *place == number);
        assert!(in_place.count() < 10);
    }
}
