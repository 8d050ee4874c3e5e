//! Loads and stores in pages that are fixed: an offset gives address and bytes.

use super::{Fixed, Pool};
use crate::place::{Extent, Loaded, Place};
use crate::tracer::{Dep, Trace};
use crate::word::Word;

impl Fixed {
    /// The address that events name byte `offset` of the page by.
    #[inline]
    fn named(&self, offset: u32) -> u64 {
        self.address + u64::from(offset)
    }

    /// Where the word at byte `offset` of the page lies in memory.
    #[inline]
    fn place<W: Word>(&self, offset: u32) -> Place<W> {
        Place::new(self.home.segment, self.home.address + u64::from(offset))
    }

    #[inline]
    pub(super) fn extent(&self, offset: u32, bytes: u32) -> Extent {
        Extent {
            segment: self.home.segment,
            address: self.home.address + u64::from(offset),
            bytes: bytes as usize,
        }
    }
}

impl Pool {
    /// Reads a word without a trace.
    #[inline]
    #[must_use]
    pub fn peek<W: Word>(&self, page: &Fixed, offset: u32) -> W {
        self.memory.read(page.place(offset))
    }

    /// Writes a word without a trace.
    #[inline]
    pub fn poke<W: Word>(&mut self, page: &Fixed, offset: u32, value: W) {
        self.memory.write(page.place(offset), value);
    }

    /// Reads so many bytes without a trace.
    #[inline]
    #[must_use]
    pub(crate) fn peek_bytes(&self, page: &Fixed, offset: u32, bytes: u32) -> &[u8] {
        self.memory.bytes(page.extent(offset, bytes))
    }

    /// Writes bytes without a trace.
    #[inline]
    pub(crate) fn poke_bytes(&mut self, page: &Fixed, offset: u32, bytes: &[u8]) {
        let extent = page.extent(offset, bytes.len() as u32);
        self.memory.bytes_mut(extent).copy_from_slice(bytes);
    }

    /// Loads a word, whose address waits for `dep`.
    #[inline]
    pub fn load<W: Word, T: Trace>(
        &self,
        trace: &mut T,
        site: impl Into<u16>,
        page: &Fixed,
        offset: u32,
        dep: Dep,
    ) -> Loaded<W> {
        let token = trace.load(site, page.named(offset), W::BYTES as u16, 1, dep);
        Loaded {
            value: self.memory.read(page.place(offset)),
            token,
        }
    }

    /// Stores a word. `dep` is what the value waits for: the load that it comes from, if it comes from one. Where the value is a constant, it is
    /// what the address waits for.
    #[inline]
    pub fn store<W: Word, T: Trace>(
        &mut self,
        trace: &mut T,
        site: impl Into<u16>,
        page: &Fixed,
        offset: u32,
        value: W,
        dep: Dep,
    ) {
        trace.store(site, page.named(offset), W::BYTES as u16, 1, dep);
        self.memory.write(page.place(offset), value);
    }

    /// Prefetches so many lines from byte `offset` of a page on.
    #[inline]
    pub fn prefetch<T: Trace>(
        &self,
        trace: &mut T,
        site: impl Into<u16> + Copy,
        page: &Fixed,
        (offset, lines, line_bytes): (u32, u32, u32),
        dep: Dep,
    ) {
        let first = page.named(offset);
        for line in 0..lines {
            trace.work(self.program().prefetch_instructions);
            self.memory
                .prefetch(trace, site, first + u64::from(line * line_bytes), dep);
        }
    }

    /// The frames' memory, for prefetches elsewhere.
    #[inline]
    pub(crate) fn memory(&self) -> &crate::arena::Arena {
        &self.memory
    }

    /// Copies bytes from one page to another, or within a page, without a trace.
    #[inline]
    pub fn copy(&mut self, from: (&Fixed, u32), to: (&Fixed, u32), bytes: u32) {
        let (from, to) = (from.0.extent(from.1, bytes), to.0.extent(to.1, bytes));
        self.memory.copy(from, to);
    }
}
