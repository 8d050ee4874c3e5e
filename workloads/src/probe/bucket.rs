//! The buckets of a table as probes see them: in few instructions, so that the host's processor overlaps as many probes as it has room for.
//!
//! A bucket is a reference to its bytes. That it is there is checked once for all of its words, and its simulated address, which natively
//! nobody asks for, is that of the table and how far into the table it lies.

use super::sites::Site;
use super::table::{Hash, Table};
use crate::buckets::{FIRST_TUPLE, NEXT, TUPLE_BYTES};
use crate::place::Loaded;
use crate::tracer::{Dep, Trace};
use crate::word::Word;

/// A bucket.
pub(super) type Bucket<'t, const BYTES: usize> = &'t [u8; BYTES];

/// All of them. How many bytes each has is known when this is compiled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Buckets<'t, const BYTES: usize> {
    all: &'t [[u8; BYTES]],
    /// Address of the first.
    first: u64,
    hash: Hash,
}

impl<'t, const BYTES: usize> Buckets<'t, BYTES> {
    /// Tuples of a bucket: one in each half line.
    pub(super) const TUPLES: u64 = BYTES as u64 / (FIRST_TUPLE + TUPLE_BYTES);

    pub(super) fn of(table: &'t Table) -> Self {
        debug_assert_eq!(Self::TUPLES, table.spec().bucket_tuples);
        let extent = table.extent();
        Self {
            all: table.memory.bytes(extent).as_chunks().0,
            first: extent.address,
            hash: table.hash(),
        }
    }

    /// The first bucket of a key.
    #[inline]
    pub(super) fn head(self, key: u64) -> Bucket<'t, BYTES> {
        &self.all[self.hash.number(key) as usize]
    }

    /// The bucket at an address.
    #[inline]
    fn at(self, address: u64) -> Bucket<'t, BYTES> {
        &self.all[(address - self.first) as usize / BYTES]
    }

    /// The address of a bucket.
    #[inline]
    fn address(self, bucket: Bucket<'t, BYTES>) -> u64 {
        let before = bucket.as_ptr().addr() - self.all.as_ptr().addr();
        self.first + before as u64
    }

    /// Loads the word at a place in a bucket.
    #[inline]
    pub(super) fn load<T: Trace>(
        self,
        trace: &mut T,
        site: Site,
        (bucket, place): (Bucket<'t, BYTES>, u64),
        dep: Dep,
    ) -> Loaded<u64> {
        let address = self.address(bucket) + place;
        let token = trace.load(site, address, size_of::<u64>() as u16, 1, dep);
        Loaded {
            value: u64::read(bucket, place as usize),
            token,
        }
    }

    /// Loads where the next bucket is, if there is one.
    #[inline]
    pub(super) fn load_next<T: Trace>(
        self,
        trace: &mut T,
        bucket: Bucket<'t, BYTES>,
        dep: Dep,
    ) -> Loaded<Option<Bucket<'t, BYTES>>> {
        let next = self.load(trace, Site::Next, (bucket, NEXT), dep);
        next.map(|address| (address != 0).then(|| self.at(address)))
    }

    /// Prefetches a bucket.
    #[inline]
    pub(super) fn prefetch<T: Trace>(self, trace: &mut T, bucket: Bucket<'t, BYTES>, dep: Dep) {
        let address = self.address(bucket);
        trace.prefetch(Site::BucketPrefetch, address, bucket.as_ptr(), dep);
    }
}
