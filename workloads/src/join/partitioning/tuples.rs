//! Which tuples the input holds.

use super::spec::PartitionWorkload;
use crate::join::hash::key_of;
use crate::join::permutation::Permutation;
use crate::join::relation::{Source, Tuple};
use std::ops::Range;

/// What the random orders are for.
const FOR_CODES: u64 = 0;
const FOR_PROBE: u64 = 1;
/// Hash codes there are: one of each key.
const CODES: u64 = 1 << 32;

/// Which relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Input {
    /// The build relation; all relations, where they are not told apart.
    Build,
    Probe,
}

/// Tuples of random keys, no two of which are equal in the build relation.
///
/// Probe tuples that have matches have the build tuples' keys, one after the other and then again; the others have keys of their own.
#[derive(Clone, Debug)]
pub(super) struct Tuples {
    numbers: Range<u64>,
    codes: Permutation,
    /// Of the probe relation: the order of its tuples.
    order: Option<Permutation>,
    build_keys: u64,
    /// Probe tuples that have matches.
    matching: u64,
}

impl Tuples {
    /// Those of an input with these numbers.
    pub(super) fn new(workload: &PartitionWorkload, input: Input, numbers: Range<u64>) -> Self {
        let (build_keys, probe) = (workload.tuples, workload.probe_tuples);
        let matching = (probe as f64 * workload.match_share).round() as u64;
        let order = || Permutation::new(probe, workload.seed, FOR_PROBE);
        Self {
            numbers,
            codes: Permutation::new(CODES, workload.seed, FOR_CODES),
            order: (input == Input::Probe).then(order),
            build_keys,
            matching: if build_keys > 0 { matching } else { 0 },
        }
    }

    /// The number of a tuple's key: those of build tuples come first.
    pub(super) fn key_number(&self, number: u64) -> u64 {
        let number = self.numbers.start + number;
        match self.order.as_ref().map(|order| order.at(number)) {
            None => number,
            Some(place) if place < self.matching => place % self.build_keys,
            Some(place) => self.build_keys + place - self.matching,
        }
    }
}

impl Source for Tuples {
    fn count(&self) -> u64 {
        self.numbers.end - self.numbers.start
    }

    fn at(&self, number: u64) -> Tuple {
        let code = self.codes.at(self.key_number(number)) as u32;
        Tuple {
            code,
            key: key_of(code),
            number: (self.numbers.start + number) as u32,
        }
    }
}
