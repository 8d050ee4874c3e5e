//! Which key each probe tuple has.

use super::spec::ProbeWorkload;
use super::table::key_of;
use crate::random::Random;
use rand_distr::Zipf;
use std::ops::Range;

/// Purpose of the random choices for the first tuple, beside that of the table: each tuple has its own, so that it has the same key whichever
/// thread it falls to.
const PURPOSE: u64 = 1 << 32;

/// The keys of the probe tuples, by the tuples' numbers.
#[derive(Debug)]
pub(super) struct Keys {
    seed: u64,
    build_tuples: u64,
    zipf: Option<Zipf<f64>>,
    /// Tuples of 16 bytes that lie in the host's memory, where its processor is to load their keys itself, and the number of the first of them.
    there: (u64, Vec<[u64; 2]>),
}

impl Keys {
    pub(super) fn new(workload: &ProbeWorkload) -> Self {
        let skewed = || {
            let ranks = workload.build_tuples as f64;
            Zipf::new(ranks, workload.skew).expect("the parameters have been checked")
        };
        Self {
            seed: workload.seed,
            build_tuples: workload.build_tuples,
            zipf: (workload.skew > 0.0).then(skewed),
            there: (0, Vec::new()),
        }
    }

    /// Draws those of some tuples beforehand: what a processor is timed at is the probe alone.
    pub(super) fn make(&mut self, numbers: Range<u64>) {
        let first = numbers.start;
        let tuples = numbers.map(|number| [self.draw(number), number]).collect();
        self.there = (first, tuples);
    }

    /// The key of a tuple.
    #[inline]
    pub(super) fn of(&self, number: u64) -> u64 {
        let (first, tuples) = &self.there;
        let place = number.wrapping_sub(*first) as usize;
        match tuples.get(place) {
            Some([key, _]) => *key,
            None => self.draw(number),
        }
    }

    /// The key of any build tuple. By Zipf's law that of number 1 is the most frequent.
    fn draw(&self, number: u64) -> u64 {
        let mut random = Random::new(self.seed, PURPOSE + number);
        key_of(match &self.zipf {
            None => 1 + random.below(self.build_tuples),
            Some(zipf) => (random.draw(zipf) as u64).clamp(1, self.build_tuples),
        })
    }
}
