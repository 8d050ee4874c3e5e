//! Which tuples the input holds.

use super::spec::PartitionWorkload;
use crate::join::hash::key_of;
use crate::join::permutation::Permutation;
use crate::join::relation::{Source, Tuple};
use std::ops::Range;

/// What the random order is for.
const FOR_CODES: u64 = 0;
/// Hash codes there are: one of each key.
const CODES: u64 = 1 << 32;

/// Tuples of random keys, no two of which are equal.
#[derive(Clone, Debug)]
pub(super) struct Tuples {
    numbers: Range<u64>,
    codes: Permutation,
}

impl Tuples {
    /// Those of the input with these numbers.
    pub(super) fn new(workload: &PartitionWorkload, numbers: Range<u64>) -> Self {
        Self {
            numbers,
            codes: Permutation::new(CODES, workload.seed, FOR_CODES),
        }
    }
}

impl Source for Tuples {
    fn count(&self) -> u64 {
        self.numbers.end - self.numbers.start
    }

    fn at(&self, number: u64) -> Tuple {
        let number = self.numbers.start + number;
        let code = self.codes.at(number) as u32;
        Tuple {
            code,
            key: key_of(code),
            number: number as u32,
        }
    }
}
