//! The hash table, whose buckets have the format of `buckets.rs`.

use crate::arena::{Arena, Reservation, place};
use crate::buckets::{
    COUNT, Keys, NEXT, Room, TUPLE_BYTES, bucket_bytes, heads, key_at, payload, payload_at,
};
use crate::place::{Extent, Place};
use crate::random::Random;
use crate::watch;

/// Multiplier of the hash function (Knuth: 2^64 divided by the golden ratio), whose upper bits are the bucket.
const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;
/// Purpose of the random choices.
const PURPOSE: u64 = 0;

/// What a table is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TableSpec {
    pub(super) tuples: u64,
    pub(super) keys: Keys,
    /// Tuples of a bucket, 1 or 2.
    pub(super) bucket_tuples: u64,
    pub(super) seed: u64,
}

impl TableSpec {
    /// Whether a bucket's number takes a multiplication.
    pub(super) fn multiplies(&self) -> bool {
        self.keys == Keys::Scattered
    }

    /// Buckets that the table takes, at most.
    fn most_buckets(&self) -> u64 {
        self.heads() + self.tuples / self.bucket_tuples
    }

    /// Buckets that keys are hashed to.
    fn heads(&self) -> u64 {
        heads(self.tuples, self.bucket_tuples)
    }

    /// Bytes of a bucket: half a line with one tuple, a line with two.
    pub(super) fn bucket_bytes(&self) -> u64 {
        bucket_bytes(self.bucket_tuples, TUPLE_BYTES)
    }

    /// Bytes that the table takes, at most.
    pub(super) fn most_bytes(&self) -> u64 {
        self.most_buckets() * self.bucket_bytes()
    }

    /// Room for the table.
    pub(super) fn reservation(&self) -> Reservation {
        Reservation {
            name: "buckets".into(),
            object_bytes: self.bucket_bytes(),
            objects: self.most_buckets(),
        }
    }
}

/// Which bucket a key belongs to: its number is those bits of a product, behind so many others, that the mask keeps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hash {
    multiplier: u64,
    shift: u32,
    mask: u64,
}

impl Hash {
    fn new(keys: Keys, heads: u64) -> Self {
        let (multiplier, shift) = match keys {
            // The lower bits of the key itself: what spreads keys in a row evenly.
            Keys::Dense => (1, 0),
            // The upper bits; the mask takes from a table of one bucket the one that no shift can.
            Keys::Scattered => (MULTIPLIER, u64::BITS - heads.max(2).trailing_zeros()),
        };
        Self {
            multiplier,
            shift,
            mask: heads - 1,
        }
    }

    /// The number of a key's bucket.
    #[inline]
    pub(super) fn number(self, key: u64) -> u64 {
        (key.wrapping_mul(self.multiplier) >> self.shift) & self.mask
    }
}

/// Tuples numbered from 1, each with a key and a payload. Where no tuple is, the key is 0.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub(super) memory: Arena,
    spec: TableSpec,
    first: u64,
    hash: Hash,
}

impl Table {
    /// The table, whose tuples were inserted in random order.
    pub(super) fn new(spec: TableSpec) -> Self {
        let heads = spec.heads();
        let mut memory = Arena::new(place(&[spec.reservation()]));
        let first = memory.allocate(0, spec.most_bytes() as usize);
        let mut table = Self {
            memory,
            spec,
            first,
            hash: Hash::new(spec.keys, heads),
        };
        let mut numbers: Vec<u64> = (1..=spec.tuples).collect();
        Random::new(spec.seed, PURPOSE).shuffle(&mut numbers);
        let mut free = first + heads * spec.bucket_bytes();
        for (step, number) in (0..).zip(numbers) {
            watch::look_at(step);
            table.insert(spec.keys.of(number), &mut free);
        }
        table
    }

    /// What it is made of.
    pub(super) fn spec(&self) -> &TableSpec {
        &self.spec
    }

    /// Where all of its buckets lie.
    pub(super) fn extent(&self) -> Extent {
        Extent {
            segment: 0,
            address: self.first,
            bytes: self.spec.most_bytes() as usize,
        }
    }

    pub(super) fn hash(&self) -> Hash {
        self.hash
    }

    /// Whether a bucket's number takes a multiplication.
    pub(super) fn multiplies(&self) -> bool {
        self.spec.multiplies()
    }

    /// The address of a key's first bucket.
    pub(super) fn bucket(&self, key: u64) -> u64 {
        self.first + self.hash.number(key) * self.spec.bucket_bytes()
    }

    /// Where the pointer to the next bucket is, which is null in the last.
    pub(super) fn next(bucket: u64) -> Place<u64> {
        Place::new(0, bucket + NEXT)
    }

    /// Where the number of a bucket's tuples is.
    fn count(bucket: u64) -> Place<u64> {
        Place::new(0, bucket + COUNT)
    }

    /// Where the key of a bucket's tuple is.
    pub(super) fn key(bucket: u64, tuple: u64) -> Place<u64> {
        Place::new(0, bucket + key_at(tuple, TUPLE_BYTES))
    }

    /// Where its payload is.
    fn payload(bucket: u64, tuple: u64) -> Place<u64> {
        Place::new(0, bucket + payload_at(tuple, TUPLE_BYTES))
    }

    /// Puts a tuple into the chain of its bucket.
    fn insert(&mut self, key: u64, free: &mut u64) {
        let first = self.bucket(key);
        let (bytes, tuples) = (self.spec.bucket_bytes(), self.spec.bucket_tuples);
        let memory = &mut self.memory;
        let newest = memory.read(Self::next(first));
        let count = |bucket| memory.read(Self::count(bucket));
        let room = Room::of(tuples, count(first), || {
            (newest != 0).then(|| count(newest))
        });
        let (bucket, before) = match room {
            Room::First(before) => (first, before),
            Room::Newest(before) => (newest, before),
            Room::New => {
                let new = std::mem::replace(free, *free + bytes);
                memory.write(Self::next(new), newest);
                memory.write(Self::next(first), new);
                (new, 0)
            }
        };
        memory.write(Self::key(bucket, before), key);
        memory.write(Self::payload(bucket, before), payload(key));
        memory.write(Self::count(bucket), before + 1);
    }
}
