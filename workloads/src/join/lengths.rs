//! How long tuples are: all alike, or drawn for each of them from its number.
//!
//! A tuple whose length is its own has it behind its key, as an attribute of variable length begins with its length. So whoever has nothing
//! but a pointer to the tuple, as a hash table's cell is, can tell how long it is.

use super::limits::WORD;
use super::limits::{SHORTEST_TUPLE_BYTES, TUPLE_BYTES, whole_words};
use crate::random::{Random, mixed};
use crate::validate::WorkloadError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How long tuples are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TupleLengths {
    /// All of them have `tuple_bytes`.
    Fixed,
    /// Each has a length of its own, drawn evenly among the multiples of 4 from `shortest_tuple_bytes` to `tuple_bytes`.
    Uniform,
}

/// Purposes of random choices from here on are those of lengths: a relation or partition takes one of each side.
const FOR_LENGTHS: u64 = 1 << 61;

/// Lengths that tuples have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lengths {
    Fixed(u32),
    /// From the shortest to the longest.
    Uniform(u32, u32),
}

impl Lengths {
    /// Those that parameters say: the shortest, which counts if lengths differ, and the longest.
    pub(super) fn new(which: TupleLengths, shortest: u32, longest: u32) -> Self {
        match which {
            TupleLengths::Fixed => Self::Fixed(longest),
            TupleLengths::Uniform => Self::Uniform(shortest, longest),
        }
    }

    /// Refuses lengths that cannot be.
    pub(super) fn check(
        which: TupleLengths,
        shortest: u32,
        longest: u32,
    ) -> Result<(), WorkloadError> {
        TUPLE_BYTES.check("tuple_bytes", longest)?;
        whole_words("tuple_bytes", longest)?;
        SHORTEST_TUPLE_BYTES.check("shortest_tuple_bytes", shortest)?;
        if which == TupleLengths::Fixed {
            return Ok(());
        }
        whole_words("shortest_tuple_bytes", shortest)?;
        if shortest <= longest {
            return Ok(());
        }
        let message = format!("{shortest}, but the longest tuples have {longest}: tuple_bytes");
        Err(WorkloadError::new("shortest_tuple_bytes", message))
    }

    pub(super) fn longest(self) -> u32 {
        match self {
            Self::Fixed(bytes) | Self::Uniform(_, bytes) => bytes,
        }
    }

    /// The shortest, if lengths differ.
    pub(super) fn shortest(self) -> Option<u32> {
        match self {
            Self::Fixed(_) => None,
            Self::Uniform(shortest, _) => Some(shortest),
        }
    }

    /// Events of copying so many steps of a tuple: loads and stores, and branches if lengths differ.
    pub(super) fn events_of_copy(self, steps: f64) -> f64 {
        match self {
            Self::Fixed(_) => 2.0 * steps,
            Self::Uniform(..) => 3.0 * steps,
        }
    }

    /// Events of so many loads and stores of lengths, and of where tuples end: none if all tuples have one length.
    pub(super) fn events_of_lengths(self, each: f64) -> f64 {
        match self {
            Self::Fixed(_) => 0.0,
            Self::Uniform(..) => each,
        }
    }

    /// That of a tuple on average.
    pub(super) fn mean(self) -> u32 {
        match self {
            Self::Fixed(bytes) => bytes,
            Self::Uniform(shortest, longest) => u32::midpoint(shortest, longest),
        }
    }
}

/// The lengths of a relation's tuples, by their numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drawn {
    lengths: Lengths,
    /// Where the numbers begin whose hash codes are drawn.
    start: u64,
}

impl Drawn {
    /// `side` tells relations apart.
    pub(super) fn new(lengths: Lengths, (seed, side): (u64, u64)) -> Self {
        let mut random = Random::new(seed, FOR_LENGTHS + side);
        Self {
            lengths,
            start: random.below(u64::MAX),
        }
    }

    /// Bytes of a tuple.
    pub(super) fn of(&self, number: u64) -> u32 {
        match self.lengths {
            Lengths::Fixed(bytes) => bytes,
            Lengths::Uniform(shortest, longest) => {
                let drawn = mixed(self.start.wrapping_add(number)) >> u32::BITS;
                let choices = u64::from((longest - shortest) / WORD + 1);
                shortest + ((drawn * choices) >> u32::BITS) as u32 * WORD
            }
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Which lengths tuples have, the shortest and the longest.
    type Chosen = (TupleLengths, u32, u32);

    pub(in crate::join) fn fixed_lengths(bytes: &[u32]) -> BoxedStrategy<Chosen> {
        let lengths = prop::sample::select(bytes.to_vec());
        lengths
            .prop_map(|bytes| (TupleLengths::Fixed, 20, bytes))
            .boxed()
    }

    pub(in crate::join) fn uniform_lengths() -> BoxedStrategy<Chosen> {
        let lengths = [
            (12, 12),
            (12, 16),
            (20, 140),
            (20, 20),
            (60, 100),
            (140, 140),
            (12, 1024),
        ];
        let lengths = prop::sample::select(lengths.to_vec());
        lengths
            .prop_map(|(shortest, longest)| (TupleLengths::Uniform, shortest, longest))
            .boxed()
    }

    fn drawn(seed: u64, side: u64) -> Vec<u32> {
        let drawn = Drawn::new(Lengths::Uniform(20, 140), (seed, side));
        (0..31_000).map(|number| drawn.of(number)).collect()
    }

    /// 31 lengths, about a thousand of each.
    #[test]
    fn every_length_is_as_frequent() {
        let mut of_length = [0; 36];
        for bytes in drawn(1, 0) {
            assert!(bytes.is_multiple_of(WORD));
            of_length[(bytes / WORD) as usize] += 1;
        }
        assert_eq!(of_length[..5], [0; 5]);
        assert!(
            of_length[5..]
                .iter()
                .all(|found| (870..1130).contains(found)),
            "{of_length:?}"
        );
    }

    #[test]
    fn lengths_are_the_seed_s_and_the_side_s() {
        assert_eq!(drawn(1, 0), drawn(1, 0));
        assert_ne!(drawn(1, 0)[..100], drawn(2, 0)[..100]);
        assert_ne!(drawn(1, 0)[..100], drawn(1, 1)[..100]);
    }

    #[test]
    fn the_mean_is_that_of_the_tuples() {
        let sum: u32 = drawn(1, 0).iter().sum();
        let mean = Lengths::Uniform(20, 140).mean();
        assert_eq!(mean, 80);
        assert!((f64::from(sum) / 31_000.0 - 80.0).abs() < 1.0);
    }

    #[test]
    fn shortest_tuples_that_are_longer_than_the_longest_are_refused() {
        let check = |shortest, longest| Lengths::check(TupleLengths::Uniform, shortest, longest);
        check(20, 20).expect("all of one length");
        for (shortest, longest) in [(24, 20), (22, 40), (8, 40)] {
            let error = check(shortest, longest).expect_err("no such length");
            assert_eq!(error.path, "shortest_tuple_bytes");
        }
    }
}
