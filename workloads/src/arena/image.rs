//! The host's memory behind simulated addresses.
#![allow(
    unsafe_code,
    reason = "one comparison for an access: slices take two, and a third for where they begin, which natively are a third of a search"
)]

use super::{Origin, PAGE_BYTES};
use crate::watch::{self, BYTES_PER_LOOK};
use std::sync::Arc;
use traces::Segment;

/// Bytes of the longest word, a key of 20.
pub(super) const WIDEST: usize = 20;

/// Zeroed memory that costs nothing until it is touched.
#[derive(Debug)]
struct Allocation {
    /// Owns the memory, which is reached by `start` alone.
    _bytes: Vec<u8>,
    /// The first address in it that is a multiple of [`PAGE_BYTES`]. So many bytes as were asked for are there, and a word behind them.
    start: *mut u8,
}

// SAFETY: the pointer is to memory that the allocation owns. Who may write there is said by `Image`.
unsafe impl Send for Allocation {}
// SAFETY: as above.
unsafe impl Sync for Allocation {}

impl Allocation {
    fn new(size: usize) -> Self {
        let page = PAGE_BYTES as usize;
        let mut bytes = vec![0_u8; size + page + WIDEST];
        let first = bytes.as_mut_ptr();
        // The first multiple of a page is less than a page away.
        let start = first.wrapping_add(first.addr().next_multiple_of(page) - first.addr());
        Self {
            _bytes: bytes,
            start,
        }
    }
}

/// Host memory for simulated addresses from an origin up. Clones of a frozen one share it until they write.
///
/// The origin is at a host address that is a multiple of [`PAGE_BYTES`], so that whatever the hardware derives from the
/// low bits of an address (line, place in the page, cache set) it derives from those of the simulated one.
#[derive(Debug)]
pub(super) struct Image<O> {
    origin: O,
    /// That of the allocation.
    start: *mut u8,
    /// Bytes from there on, of which the allocation has a word more.
    size: usize,
    /// As many, if nobody else has the allocation or ever had; none if somebody may read there.
    writable: usize,
    allocation: Arc<Allocation>,
}

// SAFETY: the pointer is to memory that the allocation keeps. It is written through `&mut self` only, and if no other image has it.
unsafe impl<O: Send> Send for Image<O> {}
// SAFETY: as above; `&self` reads only.
unsafe impl<O: Sync> Sync for Image<O> {}

impl<O: Origin> Clone for Image<O> {
    fn clone(&self) -> Self {
        if self.writable > 0 {
            return self.copied();
        }
        Self {
            allocation: Arc::clone(&self.allocation),
            ..*self
        }
    }
}

impl<O: Origin> Image<O> {
    fn new(origin: O, size: usize) -> Self {
        let allocation = Allocation::new(size);
        Self {
            origin,
            start: allocation.start,
            size,
            writable: size,
            allocation: Arc::new(allocation),
        }
    }

    /// Memory of segments.
    pub(super) fn of(segments: &[Segment]) -> Self {
        let (first, end) = match (segments.first(), segments.last()) {
            (Some(first), Some(last)) => (first.base, last.base + last.size_bytes),
            _ => (0, 0),
        };
        let origin = O::before(first);
        Self::new(origin, (end - origin.address()) as usize)
    }

    /// A copy, all of it touched.
    fn copied(&self) -> Self {
        let mut copy = Self::new(self.origin, self.size);
        let from = self.bytes(self.origin.address(), self.size);
        let to = copy.bytes_mut(self.origin.address(), self.size);
        let parts = to.chunks_mut(BYTES_PER_LOOK);
        for (to, from) in parts.zip(from.chunks(BYTES_PER_LOOK)) {
            to.copy_from_slice(from);
            watch::look();
        }
        copy
    }

    /// Bytes from the origin on.
    #[cfg(test)]
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// From here on clones share the memory.
    pub(super) fn freeze(&mut self) {
        self.writable = 0;
    }

    /// Takes memory of its own, all of it touched, unless it has that.
    #[cold]
    pub(super) fn thaw(&mut self) {
        if self.writable < self.size {
            *self = self.copied();
        }
    }

    /// Where an address is among the bytes; beyond them if it is before the origin.
    #[inline]
    fn index(&self, address: u64) -> usize {
        address.wrapping_sub(self.origin.address()) as usize
    }

    /// The host's address of a simulated one, be it in the memory or not.
    #[inline]
    pub(super) fn host(&self, address: u64) -> *const u8 {
        self.start.wrapping_add(self.index(address))
    }

    /// The bytes of the longest word at an address.
    ///
    /// # Panics
    /// If none of them is in the memory.
    #[inline]
    pub(super) fn word(&self, address: u64) -> &[u8; WIDEST] {
        let index = self.index(address);
        if index >= self.size {
            beyond();
        }
        // SAFETY: the first byte is in the memory, and the allocation has a word more. Bytes are initialized and need no alignment. Nobody
        // writes them while they are borrowed, as that takes `&mut self`.
        unsafe { &*self.start.add(index).cast() }
    }

    /// The bytes of the longest word at an address, to change them.
    ///
    /// # Panics
    /// If none of them is in the memory.
    #[inline]
    pub(super) fn word_mut(&mut self, address: u64) -> &mut [u8; WIDEST] {
        let index = self.index(address);
        if index >= self.writable {
            self.thaw();
            if index >= self.size {
                beyond();
            }
        }
        // SAFETY: as for reading, and no other image has the allocation.
        unsafe { &mut *self.start.add(index).cast() }
    }

    /// Where so many bytes at an address begin among all.
    #[inline]
    fn range(&self, address: u64, count: usize) -> usize {
        let index = self.index(address);
        if index > self.size || count > self.size - index {
            beyond();
        }
        index
    }

    /// Bytes at an address.
    ///
    /// # Panics
    /// If one of them is not in the memory.
    #[inline]
    pub(super) fn bytes(&self, address: u64, count: usize) -> &[u8] {
        let index = self.range(address, count);
        // SAFETY: all of them are in the memory, and are borrowed as for `word`.
        unsafe { std::slice::from_raw_parts(self.start.add(index), count) }
    }

    /// All bytes, in memory of its own.
    #[inline]
    fn own(&mut self) -> &mut [u8] {
        if self.writable < self.size {
            self.thaw();
        }
        // SAFETY: so many bytes are in the memory, which no other image has.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.size) }
    }

    /// Bytes at an address, to change them.
    ///
    /// # Panics
    /// If one of them is not in the memory.
    #[inline]
    pub(super) fn bytes_mut(&mut self, address: u64, count: usize) -> &mut [u8] {
        let index = self.index(address);
        &mut self.own()[index..][..count]
    }

    /// Copies bytes, which may overlap those they go to.
    ///
    /// # Panics
    /// If one of them is not in the memory.
    #[inline]
    pub(super) fn copy(&mut self, from: u64, to: u64, count: usize) {
        let (from, to) = (self.index(from), self.index(to));
        self.own().copy_within(from..from + count, to);
    }
}

#[cold]
#[inline(never)]
fn beyond() -> ! {
    panic!("an address that the memory does not have");
}
