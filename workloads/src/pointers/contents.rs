//! What is read in the array and in the lines: in simulated runs it is known without memory, which a chain of lines in pages of
//! their own could not have; native runs read it where the addresses say.

use super::lines::Lines;
use crate::arena::{Arena, Word};
use crate::tracer::{Dep, Trace};
use std::hint::black_box;
use traces::Segment;

/// The words that a kernel reads.
pub(super) trait Contents {
    /// Element `index` of the array: the address of a line.
    fn element(&self, index: usize) -> u64;
    /// The line that is visited as number `index`.
    fn line(&self, index: usize, address: u64) -> u64;
    /// A line that is not visited.
    fn unlisted(&self, address: u64) -> u64;
}

/// Contents that follow from the list of lines: line number `index` holds `word(index)`.
pub(super) struct Known<'l, F> {
    addresses: &'l [u64],
    word: F,
}

impl<'l, F: Fn(usize) -> u64> Known<'l, F> {
    pub(super) fn new(lines: &'l Lines, word: F) -> Self {
        Self {
            addresses: &lines.addresses,
            word,
        }
    }
}

impl<F: Fn(usize) -> u64> Contents for Known<'_, F> {
    #[inline]
    fn element(&self, index: usize) -> u64 {
        self.addresses[index]
    }

    #[inline]
    fn line(&self, index: usize, _address: u64) -> u64 {
        (self.word)(index)
    }

    #[inline]
    fn unlisted(&self, _address: u64) -> u64 {
        0
    }
}

/// Number of the segment that the lines are in, behind that of the array.
const LINES: usize = 1;

/// Contents in the host's memory.
pub(super) struct Stored<W> {
    arena: Arena,
    array: u64,
    word: std::marker::PhantomData<W>,
}

impl<W: Word> Stored<W> {
    /// Writes what [`Known`] knows.
    pub(super) fn new(lines: &Lines, array: Segment, word: impl Fn(usize) -> u64) -> Self {
        let base = array.base;
        let elements = array.size_bytes as usize / W::BYTES;
        let segments = vec![array, lines.segment.clone()];
        let sizes = [0, LINES].map(|segment| segments[segment].size_bytes as usize);
        let mut arena = Arena::new(segments);
        for (segment, size_bytes) in sizes.into_iter().enumerate() {
            arena.allocate(segment, size_bytes);
        }
        for (index, &address) in lines.addresses.iter().enumerate() {
            arena.write(LINES, address, W::from_u64(word(index)));
        }
        for (index, &address) in lines.addresses[..elements].iter().enumerate() {
            let element = base + (index * W::BYTES) as u64;
            arena.write(0, element, W::from_u64(address));
        }
        for &address in &lines.unlisted {
            arena.write(LINES, address, W::from_u64(0));
        }
        Self {
            arena,
            array: base,
            word: std::marker::PhantomData,
        }
    }

    /// Where simulated address 0 is in the host's memory.
    pub(super) fn origin(&self) -> *const u8 {
        self.arena.origin()
    }
}

impl<W: Word> Contents for Stored<W> {
    #[inline]
    fn element(&self, index: usize) -> u64 {
        let element = self.array + (index * W::BYTES) as u64;
        self.arena.read::<W>(0, element).to_u64()
    }

    #[inline]
    fn line(&self, _index: usize, address: u64) -> u64 {
        self.arena.read::<W>(LINES, address).to_u64()
    }

    #[inline]
    fn unlisted(&self, address: u64) -> u64 {
        self.arena.read::<W>(LINES, address).to_u64()
    }
}

/// Loads the unlisted line of every page, and so its translation.
pub(super) fn warm_tlb<T: Trace>(
    lines: &Lines,
    trace: &mut T,
    site: impl Into<u16> + Copy,
    word_bytes: u32,
    contents: &impl Contents,
) {
    for &address in &lines.unlisted {
        // Bump the page number, compare with the end.
        trace.work(2);
        trace.load(site, address, word_bytes as u16, 1, Dep::NONE);
        black_box(contents.unlisted(address));
    }
}
