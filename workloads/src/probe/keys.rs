//! Which key each probe tuple has.

use super::spec::ProbeWorkload;
use crate::buckets::Keys;
use crate::ranks::Ranks;
use std::ops::Range;

/// Purpose of the random choices for the first tuple, beside that of the table.
const PURPOSE: u64 = 1 << 32;

/// The keys of the probe tuples, by the tuples' numbers.
#[derive(Debug)]
pub(super) struct ProbeKeys {
    keys: Keys,
    ranks: Ranks,
    /// Tuples of 16 bytes that lie in the host's memory, where its processor is to load their keys itself, and the number of the first of them.
    there: (u64, Vec<[u64; 2]>),
}

impl ProbeKeys {
    pub(super) fn new(workload: &ProbeWorkload) -> Self {
        Self {
            keys: workload.keys,
            ranks: Ranks::new(workload.build_tuples, workload.skew, workload.seed, PURPOSE),
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
        self.keys.of(1 + self.ranks.at(number))
    }
}
