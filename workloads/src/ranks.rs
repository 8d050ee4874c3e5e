//! How often each of some keys occurs: all alike, or skewed by Zipf's law.

use crate::bounds::Between;
use crate::random::Random;
use rand_distr::Zipf;

/// Zipf's exponent: with 2, one key is three of five.
pub(crate) const SKEW: Between<f64> = Between {
    least: 0.0,
    most: 2.0,
};

/// How often each rank below a count occurs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frequencies {
    count: u64,
    zipf: Option<Zipf<f64>>,
}

impl Frequencies {
    /// Of ranks below `count`, which is at least one; by Zipf's law with the exponent `skew`, or all alike if that is 0.
    pub(crate) fn new(count: u64, skew: f64) -> Self {
        let skewed = || Zipf::new(count as f64, skew).expect("the parameters have been checked");
        Self {
            count,
            zipf: (skew > 0.0).then(skewed),
        }
    }

    /// Draws a rank: 0 is the most frequent.
    #[inline]
    pub(crate) fn draw(&self, random: &mut Random) -> u64 {
        match &self.zipf {
            None => random.below(self.count),
            Some(zipf) => (random.draw(zipf) as u64).clamp(1, self.count) - 1,
        }
    }
}

/// Ranks drawn for numbered things, each with a source of its own: it has the same rank whoever asks, and when.
#[derive(Clone, Debug)]
pub(crate) struct Ranks {
    seed: u64,
    /// Purpose of the random choice for number 0; those of the others follow.
    purpose: u64,
    frequencies: Frequencies,
}

impl Ranks {
    /// Ranks below `count`, which is at least one; by Zipf's law with the exponent `skew`, or all alike if that is 0.
    pub(crate) fn new(count: u64, skew: f64, seed: u64, purpose: u64) -> Self {
        Self {
            seed,
            purpose,
            frequencies: Frequencies::new(count, skew),
        }
    }

    /// The rank of number `number`: 0 is the most frequent.
    pub(crate) fn at(&self, number: u64) -> u64 {
        let mut random = Random::new(self.seed, self.purpose + number);
        self.frequencies.draw(&mut random)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(skew: f64) -> Vec<u64> {
        let ranks = Ranks::new(100, skew, 1, 1 << 32);
        let mut times = vec![0; 100];
        (0..100_000).for_each(|number| times[ranks.at(number) as usize] += 1);
        times
    }

    #[test]
    fn ranks_are_as_frequent_as_zipf_says() {
        let times = drawn(1.0);
        let harmonic: f64 = (1..=100).map(|rank| 1.0 / f64::from(rank)).sum();
        for rank in [1, 2, 10, 50] {
            let expected = 100_000.0 / harmonic / f64::from(rank);
            let found = times[rank as usize - 1] as f64;
            assert!(
                (found - expected).abs() < 5.0 * expected.sqrt(),
                "{rank}: {found} {expected}"
            );
        }
    }

    #[test]
    fn without_skew_all_are_alike() {
        assert!(drawn(0.0).iter().all(|&times| (850..1150).contains(&times)));
    }
}
