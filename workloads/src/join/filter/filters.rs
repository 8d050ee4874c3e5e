//! Filters of one size, one behind the other in memory, each from a line's first byte on: the horizontal layout.

use super::sites::Site;
use crate::arena::{Arena, Far};
use crate::join::costs::{COPY_STEP, COPY_STEP_BYTES};
use crate::page::copy_words;
use crate::place::{Extent, Loaded, Place};
use crate::tracer::{Dep, Trace};
use crate::word::Word;

/// Making a mask of a position, and testing or setting its bit.
pub(super) const MASK: u32 = 3;
const WORD_BITS: u32 = u32::BITS;

/// A thread's filters.
#[derive(Debug)]
pub(in crate::join) struct Filters {
    memory: Arena<Far>,
    base: u64,
    bits: u32,
}

impl Filters {
    /// So many of so many bits, a multiple of a line's, from an address on.
    pub(in crate::join) fn new(base: u64, bits: u32, count: u32) -> Self {
        let bytes = u64::from(count) * u64::from(bits / u8::BITS);
        Self {
            memory: Arena::of(base, bytes),
            base,
            bits,
        }
    }

    pub(in crate::join) fn bits(&self) -> u32 {
        self.bits
    }

    /// Address of a filter.
    pub(super) fn address(&self, filter: u32) -> u64 {
        self.base + u64::from(filter) * u64::from(self.bits / u8::BITS)
    }

    /// The word that holds a bit of a filter.
    fn word(&self, filter: u32, bit: u32) -> Place<u32> {
        Place::new(0, self.address(filter)).element((bit / WORD_BITS) as usize)
    }

    /// Clears a filter, in steps as tuples are copied.
    pub(in crate::join) fn clear<T: Trace>(&mut self, trace: &mut T, filter: u32) {
        let (first, bytes) = (self.address(filter), u64::from(self.bits / u8::BITS));
        clear(trace, &mut self.memory, Site::FilterClear, (first, bytes));
    }

    /// Prefetches the words of a key's bits.
    pub(in crate::join) fn prefetch<T: Trace>(
        &self,
        trace: &mut T,
        site: Site,
        filter: u32,
        bits: impl IntoIterator<Item = (u32, Dep)>,
    ) {
        for (bit, waits) in bits {
            let address = self.word(filter, bit).address;
            self.memory.prefetch(trace, site, address, waits);
        }
    }

    /// Loads whether a bit of a filter is set.
    pub(super) fn test<T: Trace>(
        &self,
        trace: &mut T,
        site: Site,
        (filter, bit): (u32, u32),
        waits: Dep,
    ) -> Loaded<bool> {
        let place = self.word(filter, bit);
        let word = self.memory.load(trace, site, place, waits);
        word.map(|word| word >> (bit % WORD_BITS) & 1 == 1)
    }

    /// Sets the bits of a key.
    pub(in crate::join) fn set<T: Trace>(
        &mut self,
        trace: &mut T,
        filter: u32,
        bits: impl IntoIterator<Item = (u32, Dep)>,
    ) {
        for (bit, waits) in bits {
            let place = self.word(filter, bit);
            let word = self.memory.load(trace, Site::FilterWord, place, waits);
            trace.work(MASK);
            let (value, brought) = (word.value | 1 << (bit % WORD_BITS), word.token.after(1));
            self.memory
                .store(trace, Site::FilterChange, place, value, brought);
        }
    }

    /// Loads so many bytes of all filters' memory.
    pub(super) fn load<T: Trace>(
        &self,
        trace: &mut T,
        site: Site,
        (address, bytes): (u64, u32),
        dep: Dep,
    ) -> Loaded<&[u8]> {
        let place = Extent {
            segment: 0,
            address,
            bytes: bytes as usize,
        };
        let words = copy_words(place.bytes);
        self.memory.load_bytes(trace, site, place, words, dep)
    }

    /// Prefetches the line of an address.
    pub(super) fn prefetch_line<T: Trace>(&self, trace: &mut T, site: Site, address: u64) {
        self.memory.prefetch(trace, site, address, Dep::NONE);
    }

    /// The memory: with one thread, its filter is the merged one.
    pub(in crate::join) fn into_memory(self) -> Arena<Far> {
        self.memory
    }
}

/// Fills memory with zeros.
pub(super) fn clear<T: Trace>(
    trace: &mut T,
    memory: &mut Arena<Far>,
    site: Site,
    (first, bytes): (u64, u64),
) {
    for place in (0..bytes).step_by(COPY_STEP_BYTES as usize) {
        let step = Extent {
            segment: 0,
            address: first + place,
            bytes: u64::from(COPY_STEP_BYTES).min(bytes - place) as usize,
        };
        trace.work(COPY_STEP);
        let words = copy_words(step.bytes);
        memory
            .store_bytes(trace, site, step, words, Dep::NONE)
            .fill(0);
    }
}

/// The words in bytes.
pub(super) fn words(bytes: &[u8]) -> impl Iterator<Item = u32> {
    bytes
        .chunks_exact(u32::BYTES)
        .map(|word| u32::read(word, 0))
}
