//! Tuples to be read: slotted pages in memory, made when they are first opened.

use super::ahead::lines;
use super::pages::{PageFormat, WORD};
use super::sites::Site;
use crate::arena::{Arena, Far};
use crate::page::copy_words;
use crate::place::{Extent, Loaded, Place};
use crate::tracer::{Dep, Trace};
use crate::watch;
use std::fmt::Debug;

/// A tuple but for its payload, which is its number and zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tuple {
    pub(super) code: u32,
    pub(super) key: u32,
    pub(super) number: u32,
}

/// Tuples that are computed from their numbers, so that nobody has to keep them.
pub(super) trait Source: Debug {
    /// How many there are.
    fn count(&self) -> u64;

    /// Tuple number `number`.
    fn at(&self, number: u64) -> Tuple;
}

/// The pages of a relation, or of a part of it.
#[derive(Debug)]
pub(super) struct Relation {
    pub(super) format: PageFormat,
    tuples: Box<dyn Source>,
    memory: Arena<Far>,
    base: u64,
    /// Pages that have been made.
    made: u64,
}

impl Relation {
    /// So many pages as the tuples take, from address `base` on.
    pub(super) fn new(format: PageFormat, tuples: Box<dyn Source>, base: u64) -> Self {
        let bytes = format.pages(tuples.count()) * u64::from(format.page_bytes);
        Self {
            memory: Arena::of(base, bytes),
            format,
            tuples,
            base,
            made: 0,
        }
    }

    /// Makes all pages that are not there.
    pub(super) fn make_all(&mut self) {
        let pages = self.format.pages(self.tuples.count());
        self.make_until(pages);
    }

    /// Makes the first pages, up to one.
    pub(super) fn make_until(&mut self, pages: u64) {
        while self.made < pages {
            self.make(self.made);
            self.made += 1;
        }
    }

    fn make(&mut self, page: u64) {
        let (format, address) = (self.format, self.page(page));
        let first = page * u64::from(format.tuples());
        let count = self.on_page(page);
        watch::step(u64::from(count));
        self.memory.write(Place::<u32>::new(0, address), count);
        for number in 0..count {
            let tuple = self.tuples.at(first + u64::from(number));
            let place = format.tuple(number);
            let at = address + u64::from(place);
            self.memory.write(Place::<u32>::new(0, at), tuple.key);
            let number_at = Place::<u32>::new(0, at + u64::from(WORD));
            self.memory.write(number_at, tuple.number);
            let slot = Place::<u32>::new(0, address + u64::from(format.slot(number)));
            let place_and_length = place | format.tuple_bytes << 16;
            if format.holds_codes() {
                self.memory.write(slot, tuple.code);
                self.memory.write(slot.element(1), place_and_length);
            } else {
                self.memory.write(slot, place_and_length);
            }
        }
    }

    /// Tuples on a page.
    pub(super) fn on_page(&self, page: u64) -> u32 {
        let (count, on_page) = (self.tuples.count(), u64::from(self.format.tuples()));
        count.saturating_sub(page * on_page).min(on_page) as u32
    }

    /// Address of a page.
    pub(super) fn page(&self, page: u64) -> u64 {
        self.base + page * u64::from(self.format.page_bytes)
    }

    /// Where an address lies among the relation's, and back: what a pointer of four bytes holds.
    pub(super) fn pointer(&self, address: u64) -> u32 {
        (address - self.base) as u32
    }

    pub(super) fn address(&self, pointer: u32) -> u64 {
        self.base + u64::from(pointer)
    }

    /// Loads the key of the tuple at an address.
    pub(super) fn key<T: Trace>(
        &self,
        trace: &mut T,
        site: Site,
        tuple: u64,
        dep: Dep,
    ) -> Loaded<u32> {
        self.memory.load(trace, site, Place::new(0, tuple), dep)
    }

    /// Loads some bytes of a tuple.
    pub(super) fn load<T: Trace>(
        &self,
        trace: &mut T,
        site: Site,
        address: u64,
        bytes: u32,
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

    /// Loads how many tuples a page says that it holds.
    pub(super) fn count<T: Trace>(&self, trace: &mut T, page: u64) -> Loaded<u32> {
        let header = Place::new(0, self.page(page));
        self.memory.load(trace, Site::PageHeader, header, Dep::NONE)
    }

    /// Prefetches the line of an address.
    pub(super) fn prefetch_line<T: Trace>(&self, trace: &mut T, site: Site, address: u64) {
        self.memory.prefetch(trace, site, address, Dep::NONE);
    }

    /// Prefetches all lines that bytes from an address on touch.
    pub(super) fn prefetch<T: Trace>(
        &self,
        trace: &mut T,
        site: Site,
        address: u64,
        (bytes, line_bytes): (u32, u32),
        dep: Dep,
    ) {
        lines(address, bytes, line_bytes)
            .for_each(|line| self.memory.prefetch(trace, site, line, dep));
    }
}
