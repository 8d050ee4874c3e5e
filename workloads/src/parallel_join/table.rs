//! The table that all threads build: a latch in each bucket, and what has no room in a key's first bucket in others behind it.
//!
//! A bucket has four bytes for its latch and four for its count, and eight for the pointer to the next, whatever the words of its tuples are.
//! Buckets behind the first come from one array, of which the next free one is counted; the published program has such an array for each thread.

use super::costs::{ADD, BUCKET_ADDRESS, COMPARE, HASH};
use super::places::{BUCKETS, FREE_BUCKET, OVERFLOW, Places};
use super::relations::Relations;
use super::sites::Site;
use super::spec::ParallelJoinWorkload;
use super::tuple_word::{TUPLE_WORDS, TupleWord};
use crate::buckets::{self, BUCKET_TUPLES, Room, heads, key_at, payload_at};
use crate::shared::Shared;
use crate::tracer::{Dep, Token, Trace};
use crate::watch;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of a bucket's words.
const WORD_BYTES: usize = size_of::<u64>();
/// Which of them are the pointer to the next bucket, and the latch and the count.
const NEXT: usize = buckets::NEXT as usize / WORD_BYTES;
const COUNT: usize = buckets::COUNT as usize / WORD_BYTES;
/// The bit of the count that is the latch: the program that is simulated has four bytes for each.
const LATCH: u64 = 1 << 32;
/// Bytes of the latch and of the count.
const HALF: u64 = 4;

/// A bucket. That all of its words are there is checked once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bucket<'t, W: TupleWord> {
    words: W::Bucket<'t>,
    address: u64,
}

impl<'t, W: TupleWord> Bucket<'t, W> {
    /// The bucket whose first word has a number.
    #[inline]
    fn of(memory: &'t Shared<u64>, first: usize) -> Self {
        Self {
            words: W::bucket(memory, first),
            address: memory.address(first),
        }
    }

    /// A word of it.
    #[inline]
    fn word(&self, number: usize) -> &AtomicU64 {
        &self.words.as_ref()[number]
    }

    /// Tuples in it.
    #[inline]
    fn count(self) -> u64 {
        self.word(COUNT).load(Ordering::Relaxed) & !LATCH
    }

    /// Its word that leads to the next bucket.
    #[inline]
    fn next(&self) -> &AtomicU64 {
        self.word(NEXT)
    }

    /// The address of a tuple.
    fn tuple_address(self, tuple: u64) -> u64 {
        self.address + key_at(tuple, W::TUPLE_BYTES)
    }

    /// Puts a tuple into it: by one store for two words of four bytes.
    #[inline]
    fn put(self, tuple: u64, words: [W; TUPLE_WORDS]) {
        let first = key_at(tuple, W::TUPLE_BYTES) as usize / WORD_BYTES;
        for (number, together) in words.chunks(WORD_BYTES / W::BYTES).enumerate() {
            let bits = (0..).zip(together).fold(0, |bits, (place, word)| {
                bits | word.to_u64() << (place * 8 * W::BYTES)
            });
            self.word(first + number).store(bits, Ordering::Relaxed);
        }
    }

    /// Loads a word of a tuple, which is so many bytes into the bucket.
    #[inline]
    fn load<T: Trace>(self, trace: &mut T, site: Site, at: u64, dep: Dep) -> W {
        trace.load(site, self.address + at, W::BYTES as u16, 1, dep);
        let word = self.word(at as usize / WORD_BYTES).load(Ordering::Relaxed);
        let bits = word >> (at as usize % WORD_BYTES * 8);
        W::from_u64(bits & W::MAX.to_u64())
    }

    /// Loads how many tuples it has.
    #[inline]
    pub(super) fn load_count<T: Trace>(self, trace: &mut T, dep: Dep) -> (u64, Token) {
        let address = self.address + 8 + HALF;
        let token = trace.load(Site::Count, address, HALF as u16, 1, dep);
        (self.count(), token)
    }

    /// Loads the key of a tuple.
    #[inline]
    pub(super) fn load_key<T: Trace>(self, trace: &mut T, tuple: u64, dep: Dep) -> W {
        self.load(trace, Site::Key, key_at(tuple, W::TUPLE_BYTES), dep)
    }

    /// Loads the payload of a tuple.
    #[inline]
    pub(super) fn load_payload<T: Trace>(self, trace: &mut T, tuple: u64, dep: Dep) -> W {
        self.load(trace, Site::Payload, payload_at(tuple, W::TUPLE_BYTES), dep)
    }

    /// Takes its latch natively, and gives its count.
    #[inline]
    fn latch(self) -> u64 {
        // Asked for the bit alone, x86 sets and tests it in one instruction; for all of the word it would compare and try again.
        while self.word(COUNT).fetch_or(LATCH, Ordering::Acquire) & LATCH != 0 {
            std::hint::spin_loop();
        }
        self.count()
    }

    /// Releases its latch, if it was taken, with a new count.
    #[inline]
    fn release(self, count: u64) {
        self.word(COUNT).store(count, Ordering::Release);
    }
}

/// The table.
#[derive(Debug)]
pub(super) struct Table<W: TupleWord> {
    heads: Shared<u64>,
    overflow: Shared<u64>,
    free: Shared<u64>,
    /// Those bits of a key that are the number of its bucket.
    mask: u64,
    /// Whether several threads build it.
    is_shared: bool,
    tuples: PhantomData<W>,
}

/// How a tuple came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Arrival {
    /// Tuples before it, in the first bucket and in the one that it went to.
    place: u32,
    /// The number of that, if it is behind the first.
    overflow: u32,
}

impl<W: TupleWord> Table<W> {
    /// Without tuples.
    pub(super) fn empty(workload: &ParallelJoinWorkload, places: &Places) -> Self {
        let array = |segment| Shared::new(places.base(segment), places.words(segment, 8));
        Self {
            heads: array(BUCKETS),
            overflow: array(OVERFLOW),
            free: array(FREE_BUCKET),
            mask: heads(workload.build_tuples, BUCKET_TUPLES) - 1,
            is_shared: workload.threads > 1,
            tuples: PhantomData,
        }
    }

    /// The first bucket of a key.
    #[inline]
    pub(super) fn head(&self, key: W) -> Bucket<'_, W> {
        let number = key.to_u64() & self.mask;
        Bucket::of(&self.heads, number as usize * W::BUCKET_WORDS)
    }

    /// A bucket behind others, by its number.
    fn behind(&self, number: u64) -> Bucket<'_, W> {
        Bucket::of(&self.overflow, number as usize * W::BUCKET_WORDS)
    }

    /// The bucket at an address, which is behind others.
    fn at(&self, address: u64) -> Bucket<'_, W> {
        Bucket::of(&self.overflow, self.overflow.index(address))
    }

    /// Loads where the next bucket is, if there is one.
    #[inline]
    pub(super) fn load_next<T: Trace>(
        &self,
        trace: &mut T,
        bucket: Bucket<'_, W>,
        dep: Dep,
    ) -> (Option<Bucket<'_, W>>, Token) {
        let place = bucket.address + buckets::NEXT;
        let token = trace.load(Site::Next, place, WORD_BYTES as u16, 1, dep);
        let next = bucket.next().load(Ordering::Relaxed);
        let behind = (next != 0).then(|| self.at(next));
        (behind, token)
    }

    /// Inserts a tuple, alone or beside other threads.
    ///
    /// In few instructions, as a program would that does nothing else: the host's processor overlaps as many insertions as it has room for.
    #[inline]
    pub(super) fn insert(&self, tuple: [W; TUPLE_WORDS]) -> Arrival {
        let head = self.head(tuple[0]);
        let count = head.latch();
        if count >= BUCKET_TUPLES {
            let arrival = self.insert_behind(head, tuple);
            head.release(count);
            return arrival;
        }
        head.put(count, tuple);
        head.release(count + 1);
        Arrival {
            place: count as u32,
            overflow: 0,
        }
    }

    /// Inserts a tuple behind a bucket that is full, and whose latch is taken.
    #[cold]
    #[inline(never)]
    fn insert_behind(&self, head: Bucket<'_, W>, tuple: [W; TUPLE_WORDS]) -> Arrival {
        let next = head.next().load(Ordering::Relaxed);
        let newest = (next != 0).then(|| self.at(next));
        let room = Room::of(BUCKET_TUPLES, BUCKET_TUPLES, || newest.map(Bucket::count));
        let (bucket, count) = match (room, newest) {
            (Room::Newest(count), Some(newest)) => (newest, count),
            _ => {
                let number = self.free.atomic(0).fetch_add(1, Ordering::Relaxed);
                let new = self.behind(number);
                new.next().store(next, Ordering::Relaxed);
                head.next().store(new.address, Ordering::Relaxed);
                (new, 0)
            }
        };
        bucket.put(count, tuple);
        bucket.release(count + 1);
        let number = self.overflow.index(bucket.address) / W::BUCKET_WORDS;
        Arrival {
            place: (BUCKET_TUPLES + count) as u32,
            overflow: number as u32,
        }
    }

    /// Says how a tuple came in whose key has been loaded. That the latch is free is foretold: what is read under it waits for it only where
    /// the machine lets nothing pass an exchange.
    pub(super) fn say<T: Trace>(&self, trace: &mut T, key: W, token: Token, arrival: Arrival) {
        let head = self.head(key);
        let (next, latch) = (head.address, head.address + 8);
        let here = token.after(HASH + BUCKET_ADDRESS);
        trace.work((HASH + BUCKET_ADDRESS).into());
        let half = HALF as u16;
        if self.is_shared {
            trace.latch(Site::Latch, latch, here);
        }
        let taken = trace.exchange(Site::Latch, latch, half, here);
        trace.work(COMPARE);
        trace.branch(Site::LatchFree, true, taken.after(1));
        let next_token = trace.load(Site::Next, next, 8, 1, here);
        let count = trace.load(Site::Count, latch + HALF, half, 1, here);
        let full = u64::from(arrival.place) >= BUCKET_TUPLES;
        trace.work(COMPARE);
        trace.branch(Site::BucketFull, full, count.after(1));
        let (place, after) = if full {
            self.say_behind(trace, head, next_token, arrival)
        } else {
            trace.work(ADD);
            trace.store(Site::CountChange, latch + HALF, half, 1, count.after(1));
            let place = head.tuple_address(arrival.place.into());
            (place, count.after(BUCKET_ADDRESS))
        };
        trace.store(Site::TupleStore, place, W::TUPLE_BYTES as u16, 1, after);
        trace.store(Site::LatchReleased, latch, half, 1, here);
        if self.is_shared {
            trace.unlatch(latch);
        }
    }

    /// The same for a tuple that the first bucket has no room for. Returns where it goes, and what that waits for.
    fn say_behind<T: Trace>(
        &self,
        trace: &mut T,
        head: Bucket<'_, W>,
        next: Token,
        arrival: Arrival,
    ) -> (u64, Dep) {
        let half = HALF as u16;
        let bucket = self.behind(arrival.overflow.into());
        let opens = arrival.opens();
        // The newest before: this one, or the one that it was put before.
        let newest = if opens {
            Some(bucket.next().load(Ordering::Relaxed)).filter(|&address| address != 0)
        } else {
            Some(bucket.address)
        };
        trace.work(COMPARE);
        let mut known = next;
        if let Some(newest) = newest {
            known = trace.load(Site::Count, newest + 8 + HALF, half, 1, next.after(0));
            trace.work(COMPARE);
        }
        trace.branch(Site::OverflowFull, opens, known.after(1));
        let tuple = u64::from(arrival.place) - BUCKET_TUPLES;
        let place = bucket.tuple_address(tuple);
        let count = bucket.address + 8 + HALF;
        if !opens {
            trace.work(ADD);
            trace.store(Site::CountChange, count, half, 1, known.after(1));
            return (place, known.after(BUCKET_ADDRESS));
        }
        let counter = self.free.address(0);
        let free = trace.exchange(Site::FreeBucket, counter, 8, Dep::NONE);
        trace.work(BUCKET_ADDRESS.into());
        let new = free.after(BUCKET_ADDRESS);
        trace.store(Site::BucketLink, bucket.address, 8, 1, new);
        trace.store(Site::CountChange, count, half, 1, new);
        trace.store(Site::BucketLink, head.address, 8, 1, new);
        (place, new)
    }
}

impl Arrival {
    /// Whether the tuple is the first of a bucket behind another.
    fn opens(self) -> bool {
        u64::from(self.place) == BUCKET_TUPLES
    }
}

/// A table that all threads have built in step, and how each tuple came in: what the simulation goes by, whatever order it runs threads in.
#[derive(Debug)]
pub(super) struct Planned<W: TupleWord> {
    pub(super) table: Table<W>,
    /// By build tuple.
    pub(super) arrivals: Vec<Arrival>,
}

impl<W: TupleWord> Planned<W> {
    /// Inserts the first tuple of each thread, then the second of each.
    pub(super) fn new(
        workload: &ParallelJoinWorkload,
        relations: &Relations<W>,
        places: &Places,
    ) -> Self {
        let table = Table::empty(workload, places);
        let nothing = Arrival {
            place: 0,
            overflow: 0,
        };
        let mut arrivals = vec![nothing; relations.build_tuples()];
        let parts: Vec<_> = (0..workload.threads)
            .map(|thread| workload.build_of(thread))
            .collect();
        let steps = parts.iter().map(ExactSizeIterator::len).max().unwrap_or(0);
        for step in 0..steps {
            watch::look_at(step as u64);
            for mut part in parts.iter().cloned() {
                if let Some(tuple) = part.nth(step) {
                    arrivals[tuple] = table.insert(relations.build_tuple(tuple));
                }
            }
        }
        Self { table, arrivals }
    }
}

/// Buckets that a table needs behind the first ones.
pub(super) fn overflow_buckets<W: TupleWord>(relations: &Relations<W>) -> u64 {
    let mask = heads(relations.build_tuples() as u64, BUCKET_TUPLES) - 1;
    let mut counts = vec![0_u32; mask as usize + 1];
    for tuple in 0..relations.build_tuples() {
        watch::look_at(tuple as u64);
        counts[(relations.build_key(tuple) & mask) as usize] += 1;
    }
    let behind = |count: u32| u64::from(count).saturating_sub(BUCKET_TUPLES);
    counts
        .into_iter()
        .map(|count| behind(count).div_ceil(BUCKET_TUPLES))
        .sum()
}
