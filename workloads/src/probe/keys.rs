//! Which key each probe tuple has.

use super::spec::ProbeWorkload;
use crate::buckets::Keys;
use crate::ranks::Ranks;
use crate::tracer::Trace;
use std::ops::Range;
use std::vec::IntoIter;

/// Purpose of the random choices for the first tuple, beside that of the table.
const PURPOSE: u64 = 1 << 32;

/// The probe tuples to come.
#[derive(Debug)]
pub(super) struct ProbeKeys {
    keys: Keys,
    ranks: Ranks,
    /// Their numbers.
    left: Range<u64>,
    /// Those that lie in the host's memory, where its processor is to load their keys itself: key and number.
    there: IntoIter<[u64; 2]>,
}

impl ProbeKeys {
    pub(super) fn new(workload: &ProbeWorkload, numbers: Range<u64>) -> Self {
        Self {
            keys: workload.keys,
            ranks: Ranks::new(workload.build_tuples, workload.skew, workload.seed, PURPOSE),
            left: numbers,
            there: IntoIter::default(),
        }
    }

    /// Draws their keys beforehand: what a processor is timed at is the probe alone.
    pub(super) fn make(&mut self) {
        let tuples = self.left.clone();
        let tuples: Vec<_> = tuples.map(|number| [self.draw(number), number]).collect();
        self.there = tuples.into_iter();
    }

    /// Number and key of the next.
    #[inline]
    pub(super) fn next<T: Trace>(&mut self) -> Option<(u64, u64)> {
        if T::NATIVE {
            self.there.next().map(|[key, number]| (number, key))
        } else {
            self.left.next().map(|number| (number, self.draw(number)))
        }
    }

    /// The key of any build tuple. By Zipf's law that of number 1 is the most frequent.
    fn draw(&self, number: u64) -> u64 {
        self.keys.of(1 + self.ranks.at(number))
    }
}
