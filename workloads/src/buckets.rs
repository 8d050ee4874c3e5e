//! The format of a chained hash table in memory, and the keys of its tuples: a bucket has a pointer to the bucket that holds what did not fit, a
//! count, and one tuple or two (the table of Balkesen et al., ICDE 2013).
//!
//! No bucket lies in two lines. One with two tuples of 16 bytes takes 48, and is padded to a line, which is a choice here: published are buckets
//! of 48 bytes in a row. One with two tuples of 8 bytes takes 32, and a line has two of them, as published.

use crate::word::Word;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Tuples of a bucket.
pub(crate) const BUCKET_TUPLES: u64 = 2;
/// Bytes of a tuple, if nothing else is said: its key and its payload, of half of them each.
pub(crate) const TUPLE_BYTES: u64 = 16;
/// Where in a bucket the pointer to the next one is, which is null in the last.
pub(crate) const NEXT: u64 = 0;
/// Where the number of its tuples is.
pub(crate) const COUNT: u64 = 8;
/// Where its tuples begin.
pub(crate) const FIRST_TUPLE: u64 = 16;

/// Bytes of a bucket of so many tuples, each of so many bytes: a power of two, so that buckets do not cross lines.
pub(crate) const fn bucket_bytes(tuples: u64, tuple_bytes: u64) -> u64 {
    key_at(tuples, tuple_bytes).next_power_of_two()
}

/// Where the key of a tuple is.
pub(crate) const fn key_at(tuple: u64, tuple_bytes: u64) -> u64 {
    FIRST_TUPLE + tuple * tuple_bytes
}

/// Where its payload is.
pub(crate) const fn payload_at(tuple: u64, tuple_bytes: u64) -> u64 {
    key_at(tuple, tuple_bytes) + tuple_bytes / 2
}

/// Where a tuple goes in a chain of buckets: how many tuples it finds in its bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Room {
    /// Into the first bucket, to which its key is hashed.
    First(u64),
    /// Into the bucket right behind that, which is the newest.
    Newest(u64),
    /// Into a new bucket, which comes right behind the first.
    New,
}

impl Room {
    /// As published: a full first bucket gets a new one right behind it, into which later tuples go until it is full, too. So many tuples are in
    /// the `first`, and in the `newest` behind it, if there is one.
    #[inline]
    pub(crate) fn of(bucket_tuples: u64, first: u64, newest: impl FnOnce() -> Option<u64>) -> Self {
        if first < bucket_tuples {
            return Self::First(first);
        }
        match newest() {
            Some(newest) if newest < bucket_tuples => Self::Newest(newest),
            _ => Self::New,
        }
    }
}

/// Which keys the build tuples have, each one of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Keys {
    /// The numbers from 1 on: lower bits spread them evenly, as in the published inputs.
    Dense,
    /// Any numbers of a key's bits: buckets and partitions have as many as chance gives them.
    Scattered,
}

impl Keys {
    /// The key of the tuple with this number.
    pub(crate) fn of<K: KeyWord>(self, number: u64) -> K {
        let number = K::from_u64(number);
        match self {
            Self::Dense => number,
            Self::Scattered => number.scattered(),
        }
    }
}

/// Buckets that keys are hashed to: one for as many tuples as it holds, and a power of two.
pub(crate) fn heads(tuples: u64, bucket_tuples: u64) -> u64 {
    tuples.div_ceil(bucket_tuples).next_power_of_two()
}

/// A word that is a key.
pub(crate) trait KeyWord: Word {
    /// A key of its own for each number, anywhere among the numbers of as many bits, and 0 for 0, so that buckets have as many tuples as chance
    /// gives them. Keys in a row would be spread evenly by the hash function.
    fn scattered(self) -> Self;
}

impl KeyWord for u64 {
    /// The finalizer of SplitMix64.
    fn scattered(self) -> Self {
        let mut key = self;
        key = (key ^ (key >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        key = (key ^ (key >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        key ^ (key >> 31)
    }
}

impl KeyWord for u32 {
    /// The finalizer of MurmurHash3.
    fn scattered(self) -> Self {
        let mut key = self;
        key = (key ^ (key >> 16)).wrapping_mul(0x85EB_CA6B);
        key = (key ^ (key >> 13)).wrapping_mul(0xC2B2_AE35);
        key ^ (key >> 16)
    }
}

/// The payload of a key: a number of as many bits that shows whose it is.
pub(crate) fn payload<K: KeyWord>(key: K) -> K {
    let number = key.to_u64().wrapping_mul(3).wrapping_add(1);
    K::from_u64(number & K::MAX.to_u64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    /// As a shift and a multiplication by an odd number can each be undone: step by step, from the last to the first.
    fn number_of(key: u32) -> u32 {
        fn undone(key: u32, shift: u32) -> u32 {
            (0..32 / shift).fold(key, |number, _| key ^ (number >> shift))
        }
        fn inverse(factor: u32) -> u32 {
            // Newton: each step doubles the bits that are right.
            (0..5).fold(factor, |found, _| {
                found.wrapping_mul(2_u32.wrapping_sub(factor.wrapping_mul(found)))
            })
        }
        let key = undone(key, 16).wrapping_mul(inverse(0xC2B2_AE35));
        let key = undone(key, 13).wrapping_mul(inverse(0x85EB_CA6B));
        undone(key, 16)
    }

    proptest! {
        #[test]
        fn each_number_of_32_bits_has_a_key_of_its_own(number in any::<u32>()) {
            prop_assert_eq!(number_of(number.scattered()), number);
        }
    }

    #[test]
    fn keys_are_anywhere_and_0_is_0() {
        assert_eq!(Keys::Scattered.of::<u32>(0), 0);
        assert_eq!(Keys::Scattered.of::<u64>(0), 0);
        let upper: HashSet<u32> = (1..=4096)
            .map(|number| Keys::Scattered.of::<u32>(number) >> 20)
            .collect();
        // Of 4096 numbers chance leaves out a share of 1/e.
        assert!(upper.len().abs_diff(2589) < 120, "{}", upper.len());
    }

    #[test]
    fn a_full_bucket_gets_one_right_behind_it_that_is_filled_next() {
        let mut chain: Vec<u64> = vec![0];
        let mut chains = Vec::new();
        for _ in 0..5 {
            match Room::of(2, chain[0], || chain.get(1).copied()) {
                Room::First(_) => chain[0] += 1,
                Room::Newest(_) => chain[1] += 1,
                Room::New => chain.insert(1, 1),
            }
            chains.push(chain.clone());
        }
        assert_eq!(
            chains,
            [vec![1], vec![2], vec![2, 1], vec![2, 2], vec![2, 1, 2]]
        );
    }

    #[test]
    fn buckets_fill_a_line_together() {
        assert_eq!(bucket_bytes(2, 16), 64);
        assert_eq!(bucket_bytes(1, 16), 32);
        assert_eq!(bucket_bytes(2, 8), 32);
        assert_eq!((key_at(1, 16), payload_at(1, 16)), (32, 40));
        assert_eq!((key_at(1, 8), payload_at(1, 8)), (24, 28));
    }
}
