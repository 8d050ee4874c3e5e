//! The hash table, whose buckets have the format of `buckets.rs`.

use crate::arena::{Arena, Reservation, place};
use crate::buckets::{
    BUCKET_BYTES, BUCKET_TUPLES, FIRST_TUPLE, TUPLE_BYTES, heads, key_of, payload,
};
use crate::place::Place;
use crate::random::Random;
use crate::watch;

/// Multiplier of the hash function (Knuth: 2^64 divided by the golden ratio), whose upper bits are the bucket.
const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;
/// Purpose of the random choices.
const PURPOSE: u64 = 0;

/// Tuples numbered from 1, each with a key and a payload. Where no tuple is, the key is 0.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub(super) memory: Arena,
    first: u64,
    /// Bits of the product that are no part of the bucket's number.
    shift: u32,
    buckets: u64,
}

/// Room for so many buckets.
pub(super) fn reservation(buckets: u64) -> Reservation {
    Reservation {
        name: "buckets".into(),
        object_bytes: BUCKET_BYTES,
        objects: buckets,
    }
}

/// Buckets that a table of so many tuples takes, at most.
pub(super) fn most_buckets(tuples: u64) -> u64 {
    heads(tuples) + tuples / BUCKET_TUPLES
}

impl Table {
    /// The table of so many tuples, inserted in random order.
    pub(super) fn new(tuples: u64, seed: u64) -> Self {
        let heads = heads(tuples);
        let buckets = most_buckets(tuples);
        let mut memory = Arena::new(place(&[reservation(buckets)]));
        let first = memory.allocate(0, (buckets * BUCKET_BYTES) as usize);
        let mut table = Self {
            memory,
            first,
            shift: u64::BITS - heads.trailing_zeros(),
            buckets,
        };
        let mut numbers: Vec<u64> = (1..=tuples).collect();
        Random::new(seed, PURPOSE).shuffle(&mut numbers);
        let mut free = first + heads * BUCKET_BYTES;
        for (step, number) in (0..).zip(numbers) {
            watch::look_at(step);
            table.insert(key_of(number), &mut free);
        }
        table
    }

    /// Buckets that there is room for.
    pub(super) fn buckets(&self) -> u64 {
        self.buckets
    }

    /// The first bucket of a key.
    pub(super) fn bucket(&self, key: u64) -> u64 {
        let product = key.wrapping_mul(MULTIPLIER);
        // A table of one bucket takes no bit of it.
        let number = product.checked_shr(self.shift).unwrap_or(0);
        self.first + number * BUCKET_BYTES
    }

    /// Where the pointer to the next bucket is, which is null in the last.
    pub(super) fn next(bucket: u64) -> Place<u64> {
        Place::new(0, bucket)
    }

    /// Where the number of a bucket's tuples is.
    pub(super) fn count(bucket: u64) -> Place<u64> {
        Place::new(0, bucket + 8)
    }

    /// Where the key of a bucket's tuple is.
    pub(super) fn key(bucket: u64, tuple: u64) -> Place<u64> {
        Place::new(0, bucket + FIRST_TUPLE + tuple * TUPLE_BYTES)
    }

    /// Where its payload is.
    pub(super) fn payload(bucket: u64, tuple: u64) -> Place<u64> {
        Place::new(0, bucket + FIRST_TUPLE + tuple * TUPLE_BYTES + 8)
    }

    /// Puts a tuple into its bucket; what does not fit moves to a new one behind it.
    fn insert(&mut self, key: u64, free: &mut u64) {
        let bucket = self.bucket(key);
        let memory = &mut self.memory;
        let mut count = memory.read(Self::count(bucket));
        if count == BUCKET_TUPLES {
            let moved = std::mem::replace(free, *free + BUCKET_BYTES);
            for word in 0..BUCKET_BYTES / 8 {
                let at = |bucket: u64| Place::<u64>::new(0, bucket + word * 8);
                let value = memory.read(at(bucket));
                memory.write(at(moved), value);
            }
            (0..BUCKET_TUPLES).for_each(|tuple| memory.write(Self::key(bucket, tuple), 0));
            memory.write(Self::next(bucket), moved);
            count = 0;
        }
        memory.write(Self::key(bucket, count), key);
        memory.write(Self::payload(bucket, count), payload(key));
        memory.write(Self::count(bucket), count + 1);
    }
}
