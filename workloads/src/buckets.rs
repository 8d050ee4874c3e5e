//! The format of a chained hash table in memory, and the keys of its tuples: a line per bucket, with two tuples of 16 bytes and a pointer to the
//! bucket that holds what did not fit (the table of Balkesen et al., ICDE 2013, with buckets padded to a line).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Bytes of a bucket: pointer to the next, so many tuples, and what is left of the line.
pub(crate) const BUCKET_BYTES: u64 = 64;
/// Tuples of a bucket.
pub(crate) const BUCKET_TUPLES: u64 = 2;
/// Bytes of a tuple: its key and its payload.
pub(crate) const TUPLE_BYTES: u64 = 16;
/// Where in a bucket the pointer to the next one is, which is null in the last.
pub(crate) const NEXT: u64 = 0;
/// Where the number of its tuples is.
pub(crate) const COUNT: u64 = 8;
/// Where its tuples begin.
pub(crate) const FIRST_TUPLE: u64 = 16;

/// Where the key of a tuple is.
pub(crate) const fn key_at(tuple: u64) -> u64 {
    FIRST_TUPLE + tuple * TUPLE_BYTES
}

/// Where its payload is.
pub(crate) const fn payload_at(tuple: u64) -> u64 {
    key_at(tuple) + 8
}

/// Which keys the build tuples have, each one of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Keys {
    /// The numbers from 1 on: lower bits spread them evenly, as in the published inputs.
    Dense,
    /// Any numbers of 64 bits: buckets and partitions have as many as chance gives them.
    Scattered,
}

impl Keys {
    /// The key of the tuple with this number.
    pub(crate) fn of(self, number: u64) -> u64 {
        match self {
            Self::Dense => number,
            Self::Scattered => scattered(number),
        }
    }
}

/// Buckets that keys are hashed to: one for as many tuples as it holds, and a power of two.
pub(crate) fn heads(tuples: u64, bucket_tuples: u64) -> u64 {
    tuples.div_ceil(bucket_tuples).next_power_of_two()
}

/// A key of its own for each number, anywhere among the numbers of 64 bits (the finalizer of SplitMix64, which gives no two numbers one
/// key, and 0 to 0), so that buckets have as many tuples as chance gives them. Keys in a row would be spread evenly by the hash function.
fn scattered(number: u64) -> u64 {
    let mut key = number;
    key = (key ^ (key >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    key = (key ^ (key >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    key ^ (key >> 31)
}

/// The payload of a key: a number that shows whose it is.
pub(crate) fn payload(key: u64) -> u64 {
    key.wrapping_mul(3) + 1
}
