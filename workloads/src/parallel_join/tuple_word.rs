//! Words of tuples: of 4 bytes or of 8, as a key and a payload take one each. What follows from that is known when this is compiled.

use super::places::LINE_BYTES;
use super::sites::Site;
use crate::buckets::{BUCKET_TUPLES, KeyWord, bucket_bytes};
use crate::place::Loaded;
use crate::shared::{Shared, SharedWord};
use crate::tracer::{Dep, Trace};
use std::fmt::Debug;
use std::sync::atomic::AtomicU64;

/// Words of a tuple: key and payload.
pub(super) const TUPLE_WORDS: usize = 2;

/// A word of a tuple.
pub(crate) trait TupleWord: SharedWord + KeyWord {
    /// Bytes of a tuple.
    const TUPLE_BYTES: u64 = (TUPLE_WORDS * Self::BYTES) as u64;
    /// Words of a line.
    const LINE_WORDS: usize = LINE_BYTES as usize / Self::BYTES;
    /// Words of eight bytes of a bucket, as its pointer and its count are.
    const BUCKET_WORDS: usize =
        bucket_bytes(BUCKET_TUPLES, Self::TUPLE_BYTES) as usize / size_of::<u64>();
    /// The words of a line.
    type Line: AsRef<[Self]>;
    /// Those of a bucket.
    type Bucket<'t>: AsRef<[AtomicU64]> + Copy + Debug;

    /// Loads the line of words from one on.
    fn load_line<T: Trace>(
        shared: &Shared<Self>,
        trace: &mut T,
        site: Site,
        first: usize,
    ) -> Loaded<Self::Line>;

    /// The bucket whose first word has a number.
    fn bucket(memory: &Shared<u64>, first: usize) -> Self::Bucket<'_>;
}

macro_rules! tuple_word {
    ($type:ty) => {
        impl TupleWord for $type {
            type Line = [Self; Self::LINE_WORDS];
            type Bucket<'t> = &'t [AtomicU64; Self::BUCKET_WORDS];

            #[inline]
            fn load_line<T: Trace>(
                shared: &Shared<Self>,
                trace: &mut T,
                site: Site,
                first: usize,
            ) -> Loaded<Self::Line> {
                shared.load_many(trace, site, first, Dep::NONE)
            }

            #[inline]
            fn bucket(memory: &Shared<u64>, first: usize) -> Self::Bucket<'_> {
                memory.row(first)
            }
        }
    };
}
tuple_word!(u32);
tuple_word!(u64);
