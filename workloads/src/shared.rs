//! Arrays of words that all threads of a kernel read and write, natively at the same time: each word is an atomic of the host, which costs no more
//! than a plain one where its order does not matter. As in an arena, a simulated address is where the value lies.

use crate::arena::PAGE_BYTES;
use crate::native::streaming::{self, stream, stream_halves};
use crate::place::Loaded;
use crate::tracer::{Dep, Trace};
use crate::watch::{self, BYTES_PER_LOOK};
use crate::word::Word;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Bytes of a line of the host's caches: those that are cleared by one event, by stores of 16 bytes.
const LINE_BYTES: usize = 64;
/// Bytes of the widest store of a copy.
pub(crate) const WIDEST_BYTES: usize = 16;

/// A word that threads share.
pub(crate) trait SharedWord: Word {
    /// Its atomic.
    type Atomic: std::fmt::Debug + Send + Sync;
    /// An atomic of the value 0.
    fn zero() -> Self::Atomic;
    /// Its value.
    fn get(atomic: &Self::Atomic) -> Self;
    /// Changes its value.
    fn set(atomic: &Self::Atomic, value: Self);
    /// Changes the values of a line past the host's caches.
    fn stream(atomics: &[Self::Atomic], values: &[Self]);
}

macro_rules! shared_word {
    ($type:ty, $atomic:ty, $stream:ident) => {
        impl SharedWord for $type {
            type Atomic = $atomic;

            fn zero() -> $atomic {
                <$atomic>::new(0)
            }

            #[inline]
            fn get(atomic: &$atomic) -> Self {
                atomic.load(Ordering::Relaxed)
            }

            #[inline]
            fn set(atomic: &$atomic, value: Self) {
                atomic.store(value, Ordering::Relaxed);
            }

            #[inline]
            fn stream(atomics: &[$atomic], values: &[Self]) {
                $stream(atomics, values);
            }
        }
    };
}
shared_word!(u32, AtomicU32, stream_halves);
shared_word!(u64, AtomicU64, stream);

/// An array of words at a simulated address.
#[derive(Debug)]
pub(crate) struct Shared<W: SharedWord> {
    atomics: Vec<W::Atomic>,
    /// Where the array begins among them.
    start: usize,
    base: u64,
}

impl<W: SharedWord> Shared<W> {
    /// So many words of value 0, all of them touched. The low bits of an address are those of the simulated one.
    pub(crate) fn new(base: u64, words: usize) -> Self {
        let page = PAGE_BYTES as usize / W::BYTES;
        let count = words + 2 * page;
        let mut atomics: Vec<W::Atomic> = Vec::with_capacity(count);
        // The host fills as many of its pages, which takes seconds if there are many.
        while atomics.len() < count {
            watch::look();
            let part = (count - atomics.len()).min(BYTES_PER_LOOK / W::BYTES);
            atomics.extend((0..part).map(|_| W::zero()));
        }
        let aligned = atomics.as_ptr().align_offset(PAGE_BYTES as usize);
        let start = aligned + (base % PAGE_BYTES) as usize / W::BYTES;
        Self {
            atomics,
            start,
            base,
        }
    }

    /// The simulated address of a word.
    #[inline]
    pub(crate) fn address(&self, index: usize) -> u64 {
        self.base + (index * W::BYTES) as u64
    }

    /// The word at a simulated address.
    #[inline]
    pub(crate) fn index(&self, address: u64) -> usize {
        (address - self.base) as usize / W::BYTES
    }

    /// The atomic itself, for latches and counters.
    #[inline]
    pub(crate) fn atomic(&self, index: usize) -> &W::Atomic {
        &self.atomics[self.start + index]
    }

    /// So many atomics in a row.
    #[inline]
    pub(crate) fn row<const WORDS: usize>(&self, first: usize) -> &[W::Atomic; WORDS] {
        self.atomics[self.start + first..]
            .first_chunk()
            .expect("the array has as many words")
    }

    /// Reads a word.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> W {
        W::get(self.atomic(index))
    }

    /// Writes a word.
    #[inline]
    pub(crate) fn set(&self, index: usize, value: W) {
        W::set(self.atomic(index), value);
    }

    /// Loads a word, whose place waits for something.
    #[inline]
    pub(crate) fn load<T: Trace>(
        &self,
        trace: &mut T,
        site: impl Into<u16>,
        index: usize,
        dep: Dep,
    ) -> Loaded<W> {
        let token = trace.load(site, self.address(index), W::BYTES as u16, 1, dep);
        Loaded {
            value: self.get(index),
            token,
        }
    }

    /// Stores a word. `dep` is what its place and its value wait for.
    #[inline]
    pub(crate) fn store<T: Trace>(
        &self,
        trace: &mut T,
        site: impl Into<u16>,
        index: usize,
        value: W,
        dep: Dep,
    ) {
        trace.store(site, self.address(index), W::BYTES as u16, 1, dep);
        self.set(index, value);
    }

    /// Loads so many words from `index` on, by the widest loads.
    #[inline]
    pub(crate) fn load_many<T: Trace, const N: usize>(
        &self,
        trace: &mut T,
        site: impl Into<u16>,
        index: usize,
        dep: Dep,
    ) -> Loaded<[W; N]> {
        let bytes = N * W::BYTES;
        let words = bytes.div_ceil(WIDEST_BYTES) as u16;
        let token = trace.load(site, self.address(index), bytes as u16, words, dep);
        Loaded {
            value: std::array::from_fn(|word| self.get(index + word)),
            token,
        }
    }

    /// Stores words from `index` on, by the widest stores.
    #[inline]
    pub(crate) fn store_many<T: Trace>(
        &self,
        trace: &mut T,
        site: impl Into<u16>,
        index: usize,
        values: &[W],
        dep: Dep,
    ) {
        let bytes = values.len() * W::BYTES;
        let words = bytes.div_ceil(WIDEST_BYTES) as u16;
        trace.store(site, self.address(index), bytes as u16, words, dep);
        for (word, &value) in values.iter().enumerate() {
            self.set(index + word, value);
        }
    }

    /// Whether so many words from `index` on are a line, which [`Shared::store_line_nta`] writes.
    #[inline]
    pub(crate) fn is_line(&self, index: usize, words: usize) -> bool {
        words == LINE_BYTES / W::BYTES && self.address(index).is_multiple_of(LINE_BYTES as u64)
    }

    /// Sets so many words from `first` on to 0, a line at a time.
    pub(crate) fn clear<T: Trace>(
        &self,
        trace: &mut T,
        site: impl Into<u16> + Copy,
        first: usize,
        words: usize,
    ) {
        let line = [W::from_u64(0); LINE_BYTES];
        for place in (0..words).step_by(LINE_BYTES / W::BYTES) {
            let words = (words - place).min(LINE_BYTES / W::BYTES);
            self.store_many(trace, site, first + place, &line[..words], Dep::NONE);
        }
    }

    /// Stores the words of a line from `index` on past the caches, by the widest stores. Nobody may read them before the thread has called
    /// [`fence`].
    #[inline]
    pub(crate) fn store_line_nta<T: Trace>(
        &self,
        trace: &mut T,
        site: impl Into<u16>,
        index: usize,
        words: &[W],
        dep: Dep,
    ) {
        debug_assert!(self.is_line(index, words.len()));
        let stores = (LINE_BYTES / WIDEST_BYTES) as u16;
        trace.store_nta(site, self.address(index), LINE_BYTES as u16, stores, dep);
        if T::NATIVE {
            let first = self.start + index;
            W::stream(&self.atomics[first..first + words.len()], words);
        } else {
            for (word, &value) in words.iter().enumerate() {
                self.set(index + word, value);
            }
        }
    }
}

/// What the thread has stored past the caches can be read from here on.
#[inline]
pub(crate) fn fence<T: Trace>() {
    if T::NATIVE {
        streaming::fence();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tracer::Tracer;
    use traces::Event;

    #[test]
    fn making_an_array_is_stopped_by_who_watches() {
        let made = watch::stopped(|| Shared::<u64>::new(0, 1000));
        assert_eq!(made.err(), Some(watch::Stopped));
    }

    #[test]
    fn words_lie_at_their_addresses_and_have_them_in_the_host() {
        let base = 5 * PAGE_BYTES + 192;
        let shared: Shared<u32> = Shared::new(base, 1000);
        for index in [0, 17, 999] {
            shared.set(index, 7 + index as u32);
            assert_eq!(shared.address(index), base + 4 * index as u64);
            assert_eq!(shared.index(shared.address(index)), index);
            let host = std::ptr::from_ref(shared.atomic(index)) as u64;
            assert_eq!(host % PAGE_BYTES, shared.address(index) % PAGE_BYTES);
            assert_eq!(shared.get(index), 7 + index as u32);
        }
    }

    #[test]
    fn clearing_takes_an_event_a_line_and_leaves_the_neighbours() {
        let shared: Shared<u64> = Shared::new(PAGE_BYTES, 30);
        (0..30).for_each(|index| shared.set(index, 1));
        let mut events: Vec<Event> = Vec::new();
        let mut tracer = Tracer::new(&mut events);
        shared.clear(&mut tracer, 3_u16, 2, 20);
        tracer.finish().unwrap();
        let cleared: Vec<_> = (0..30).filter(|&index| shared.get(index) == 0).collect();
        assert!(cleared.into_iter().eq(2..22));
        let told: Vec<_> = events
            .iter()
            .map(|event| (event.address - PAGE_BYTES, event.size, event.words))
            .collect();
        assert_eq!(told, [(16, 64, 4), (80, 64, 4), (144, 32, 2)]);
    }
}
