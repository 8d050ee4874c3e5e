//! A page in its frame: an offset says which bytes a load reads and which address its event names.

use super::copies::copy_words;
use crate::place::Loaded;
use crate::tracer::{Dep, Token, Trace};
use crate::word::Word;
use std::ops::Range;

/// A page and the address of its frame, which is looked up when the page is fixed.
#[derive(Clone, Copy, Debug)]
pub struct FixedPage {
    pub(super) number: u32,
    address: u64,
}

impl FixedPage {
    /// For [`super::Frames::fix`], which knows where pages are.
    #[inline]
    pub(super) fn new(number: u32, address: u64) -> Self {
        Self { number, address }
    }

    /// The bytes of this page as a page in its frame.
    #[inline]
    pub(super) fn with(self, bytes: &[u8]) -> Framed<'_> {
        Framed {
            bytes,
            address: self.address,
        }
    }

    /// As [`FixedPage::with`], to be changed.
    #[inline]
    pub(super) fn with_mut(self, bytes: &mut [u8]) -> FramedMut<'_> {
        FramedMut {
            bytes,
            address: self.address,
        }
    }
}

/// A page in its frame, to be read.
#[derive(Clone, Copy, Debug)]
pub struct Framed<'f> {
    /// The page without a trace: for what the program has in registers.
    pub(super) bytes: &'f [u8],
    address: u64,
}

impl<'f> Framed<'f> {
    /// Loads a string word by word; an empty one needs no load.
    pub(super) fn load_string<T: Trace>(
        self,
        trace: &mut T,
        site: u16,
        place: Range<usize>,
        dep: Dep,
    ) -> Loaded<&'f [u8]> {
        if place.is_empty() {
            return Loaded {
                value: &[],
                token: Token::NONE,
            };
        }
        let words = copy_words(place.len());
        self.load_bytes(trace, site, place, words, dep)
    }

    /// Loads the word at an offset.
    #[inline]
    pub(super) fn load<W: Word, T: Trace>(
        self,
        trace: &mut T,
        site: u16,
        offset: usize,
        dep: Dep,
    ) -> Loaded<W> {
        let address = self.address + offset as u64;
        Loaded {
            token: trace.load(site, address, W::BYTES as u16, 1, dep),
            value: W::read(self.bytes, offset),
        }
    }

    /// Loads bytes in `words` word accesses.
    #[inline]
    pub(super) fn load_bytes<T: Trace>(
        self,
        trace: &mut T,
        site: u16,
        place: Range<usize>,
        words: u16,
        dep: Dep,
    ) -> Loaded<&'f [u8]> {
        let address = self.address + place.start as u64;
        Loaded {
            token: trace.load(site, address, place.len() as u16, words, dep),
            value: &self.bytes[place],
        }
    }
}

/// A page in its frame, to be changed.
#[derive(Debug)]
pub struct FramedMut<'f> {
    /// The page without a trace.
    pub(super) bytes: &'f mut [u8],
    address: u64,
}

impl FramedMut<'_> {
    /// Stores bytes in `words` word accesses: the caller writes them, or has written them.
    #[inline]
    pub(super) fn store_bytes<T: Trace>(
        &mut self,
        trace: &mut T,
        site: u16,
        place: Range<usize>,
        words: u16,
        dep: Dep,
    ) -> &mut [u8] {
        let address = self.address + place.start as u64;
        trace.store(site, address, place.len() as u16, words, dep);
        &mut self.bytes[place]
    }

    /// Says that bytes were moved inside the page, from `from` on to `to` on: loaded and stored word by word, unless there are none.
    /// Where they stay in their place, they are changed there.
    #[inline]
    pub(super) fn moved<T: Trace>(
        &self,
        trace: &mut T,
        site: u16,
        (from, to, bytes): (usize, usize, usize),
        dep: Dep,
    ) {
        if bytes == 0 {
            return;
        }
        debug_assert!(from.max(to) + bytes <= self.bytes.len());
        let words = copy_words(bytes);
        let at = |offset: usize| self.address + offset as u64;
        let token = trace.load(site, at(from), bytes as u16, words, dep);
        trace.store(site, at(to), bytes as u16, words, token.after(0));
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Frames, Pool};
    use super::*;
    use crate::random::Random;
    use crate::tracer::Tracer;
    use std::collections::HashSet;
    use traces::{Event, Kind, Segment};

    /// Whatever was stored at an offset of a page is loaded there, from the address that the store named; other pages' stores
    /// change and name others.
    #[test]
    fn an_offset_is_a_place_of_its_page() {
        let segment = Segment {
            name: "frames".into(),
            base: 4096,
            size_bytes: 8 * (1024 + 4096),
        };
        let mut frames = Frames::new(1024);
        frames.scatter(Pool::of(&segment, 1024), &mut Random::new(1, 0));
        let places: Vec<(u32, usize)> = (0..8)
            .map(|_| frames.add())
            .flat_map(|page| [(page, 0), (page, 7), (page, 1020)])
            .collect();
        let value = |(page, offset): (u32, usize)| 10_000 * page + offset as u32;
        let mut events: Vec<Event> = Vec::new();
        let mut tracer = Tracer::new(&mut events);
        for &(page, offset) in &places {
            let mut framed = frames.framed_mut(frames.fix(page));
            let bytes = framed.store_bytes(&mut tracer, 0, offset..offset + 4, 1, Dep::NONE);
            value((page, offset)).write(bytes, 0);
        }
        for &(page, offset) in &places {
            let framed = frames.framed(frames.fix(page));
            let word = framed.load::<u32, _>(&mut tracer, 0, offset, Dep::NONE);
            assert_eq!(word.value, value((page, offset)));
            let bytes = framed.load_bytes(&mut tracer, 0, offset..offset + 4, 1, Dep::NONE);
            assert_eq!(bytes.value, value((page, offset)).to_le_bytes());
        }
        tracer.finish().unwrap();
        let (stores, loads) = events.split_at(places.len());
        assert!(stores.iter().all(|event| event.kind == Kind::Store));
        let stored = stores.iter().map(|event| event.address);
        assert!(stored.eq(loads.chunks(2).map(|pair| pair[0].address)));
        assert!(
            loads
                .chunks(2)
                .all(|pair| pair[0].address == pair[1].address)
        );
        let apart: HashSet<u64> = stores.iter().map(|event| event.address).collect();
        assert_eq!(apart.len(), places.len());
    }
}
