//! The output buffers: a page of each partition in memory, and a table that says which.
//!
//! A page's header holds its number of tuples and, when several tuples are under way, which of them was the last to reserve a place and
//! has still to be copied. Tuples are copied in the order of their reservations, so that with the last of them all are there.

use super::ahead::lines;
use super::copy::{KEY, of_words};
use super::costs::{LOOP, TURN_PAGE};
use super::pages::{PageFormat, WORD};
use super::sites::Site;
use crate::arena::{Arena, Far};
use crate::outcome::Checksum;
use crate::page::copy_words;
use crate::place::{Extent, Loaded, Place};
use crate::tracer::{Dep, Trace};
use crate::word::Word;

/// Bytes of an entry of the table: the number of a page.
pub(super) const ENTRY_BYTES: u64 = WORD as u64;

/// What output pages are like.
#[derive(Clone, Copy, Debug)]
pub(super) struct BufferSpec {
    pub(super) format: PageFormat,
    /// Partitions, each of which has a page.
    pub(super) partitions: u32,
    /// Whether a full page is read at once, and used again.
    pub(super) reused: bool,
    /// Whether a new page is prefetched as a whole: simple prefetching assumes that it stays in the cache.
    pub(super) whole_pages: bool,
    pub(super) line_bytes: u32,
}

/// Where the table of output pages lies, and these pages, of which there are so many.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BufferPlaces {
    pub(super) table: u64,
    pub(super) first_page: u64,
    pub(super) pages: u64,
}

impl BufferPlaces {
    /// Memory of the pages.
    pub(super) fn memory(self, format: PageFormat) -> Arena<Far> {
        Arena::of(self.first_page, self.pages * u64::from(format.page_bytes))
    }
}

/// The output pages of a thread.
#[derive(Debug)]
pub(super) struct Buffers {
    pub(super) spec: BufferSpec,
    places: BufferPlaces,
    table: Arena<Far>,
    pub(super) memory: Arena<Far>,
    /// By page that was opened: its partition.
    opened: Vec<u32>,
    /// Tuples in pages that were read, and what they are.
    tuples: u64,
    checksum: Checksum,
}

impl Buffers {
    /// No pages yet; `memory` is for them.
    pub(super) fn new(spec: BufferSpec, places: BufferPlaces, memory: Arena<Far>) -> Self {
        let table_bytes = u64::from(spec.partitions) * ENTRY_BYTES;
        Self {
            table: Arena::of(places.table, table_bytes),
            memory,
            spec,
            places,
            opened: Vec::new(),
            tuples: 0,
            checksum: Checksum::default(),
        }
    }

    /// Touches everything: for a native run, which is not to wait for the operating system.
    pub(super) fn touch(&mut self) {
        for page in 0..self.places.pages {
            let bytes = Extent {
                segment: 0,
                address: self.address(page as u32),
                bytes: self.spec.format.page_bytes as usize,
            };
            self.memory.bytes_mut(bytes).fill(0);
        }
        for partition in 0..self.spec.partitions {
            let entry = self.entry(partition);
            self.table.write(entry, 0);
        }
    }

    fn address(&self, page: u32) -> u64 {
        self.places.first_page + u64::from(page) * u64::from(self.spec.format.page_bytes)
    }

    fn entry(&self, partition: u32) -> Place<u32> {
        Place::new(0, self.places.table + u64::from(partition) * ENTRY_BYTES)
    }

    /// Gives every partition its first page.
    pub(super) fn open<T: Trace>(&mut self, trace: &mut T) {
        for partition in 0..self.spec.partitions {
            self.new_page(trace, partition);
            trace.work(LOOP);
        }
    }

    /// Writes out the pages in which there are tuples.
    pub(super) fn close<T: Trace>(&mut self, trace: &mut T) {
        for partition in 0..self.spec.partitions {
            let page = self.page(trace, partition, Dep::NONE);
            let count = self.count(trace, page.value, page.token.after(0));
            trace.branch(Site::BufferUsed, count.value > 0, count.token.after(1));
            if count.value > 0 {
                trace.work(TURN_PAGE);
            }
            trace.work(LOOP);
        }
    }

    /// Writes out a partition's page, which was full. Returns the page that takes its place.
    pub(super) fn turn<T: Trace>(&mut self, trace: &mut T, partition: u32, page: u64) -> u64 {
        if !self.spec.reused {
            return self.new_page(trace, partition);
        }
        self.read(partition, page);
        trace.work(TURN_PAGE);
        self.clear(trace, page);
        page
    }

    fn new_page<T: Trace>(&mut self, trace: &mut T, partition: u32) -> u64 {
        let number = self.opened.len() as u32;
        self.opened.push(partition);
        trace.work(TURN_PAGE);
        let entry = self.entry(partition);
        self.table
            .store(trace, Site::BufferPageChange, entry, number, Dep::NONE);
        let page = self.address(number);
        self.clear(trace, page);
        page
    }

    /// Makes a page empty.
    fn clear<T: Trace>(&mut self, trace: &mut T, page: u64) {
        if self.spec.whole_pages {
            for line in lines(page, self.spec.format.page_bytes, self.spec.line_bytes) {
                self.memory
                    .prefetch(trace, Site::WholePagePrefetch, line, Dep::NONE);
            }
        }
        self.set_count(trace, page, 0, Dep::NONE);
        self.set_holder(trace, page, 0, Dep::NONE);
    }

    /// Loads where a partition's page is.
    pub(super) fn page<T: Trace>(&self, trace: &mut T, partition: u32, dep: Dep) -> Loaded<u64> {
        let entry = self.entry(partition);
        let number = self.table.load(trace, Site::BufferPage, entry, dep);
        number.map(|number| self.address(number))
    }

    pub(super) fn prefetch_header<T: Trace>(&self, trace: &mut T, page: u64, dep: Dep) {
        self.memory.prefetch(trace, Site::BufferPrefetch, page, dep);
    }

    /// Prefetches the lines of a tuple and of its slot.
    pub(super) fn prefetch_place<T: Trace>(&self, trace: &mut T, page: u64, number: u32, dep: Dep) {
        let PageFormat {
            tuple_bytes,
            slot_bytes,
            ..
        } = self.spec.format;
        let tuple = page + u64::from(self.spec.format.tuple(number));
        let slot = page + u64::from(self.spec.format.slot(number));
        let tuples = lines(tuple, tuple_bytes, self.spec.line_bytes);
        for line in tuples.chain(lines(slot, slot_bytes, self.spec.line_bytes)) {
            self.memory.prefetch(trace, Site::PlacePrefetch, line, dep);
        }
    }

    /// Loads how many tuples a page has.
    pub(super) fn count<T: Trace>(&self, trace: &mut T, page: u64, dep: Dep) -> Loaded<u32> {
        let place = Place::new(0, page);
        self.memory.load(trace, Site::BufferHeader, place, dep)
    }

    pub(super) fn set_count<T: Trace>(&mut self, trace: &mut T, page: u64, count: u32, dep: Dep) {
        let place = Place::new(0, page);
        self.memory
            .store(trace, Site::BufferHeaderChange, place, count, dep);
    }

    /// Loads who was the last to reserve a place and has still to be copied, counted from 1; 0 is nobody.
    pub(super) fn holder<T: Trace>(&self, trace: &mut T, page: u64, dep: Dep) -> Loaded<u32> {
        let place = Place::new(0, page).element(1);
        self.memory.load(trace, Site::BufferHeader, place, dep)
    }

    pub(super) fn set_holder<T: Trace>(&mut self, trace: &mut T, page: u64, holder: u32, dep: Dep) {
        let place = Place::<u32>::new(0, page).element(1);
        self.memory
            .store(trace, Site::BufferHeaderChange, place, holder, dep);
    }

    /// Writes the slot of a tuple.
    pub(super) fn set_slot<T: Trace>(
        &mut self,
        trace: &mut T,
        page: u64,
        (number, code): (u32, u32),
        dep: Dep,
    ) {
        let format = self.spec.format;
        let slot = Extent {
            segment: 0,
            address: page + u64::from(format.slot(number)),
            bytes: format.slot_bytes as usize,
        };
        let words = copy_words(slot.bytes);
        let written = self
            .memory
            .store_bytes(trace, Site::BufferSlot, slot, words, dep);
        code.write(written, 0);
        let place_and_length = format.tuple(number) | format.tuple_bytes << 16;
        place_and_length.write(written, u32::BYTES);
    }

    /// The memory of the pages, and by partition the numbers of its pages.
    pub(super) fn into_pages(self) -> (Arena<Far>, Vec<Vec<u32>>) {
        let mut pages = vec![Vec::new(); self.spec.partitions as usize];
        for (page, &partition) in (0..).zip(&self.opened) {
            pages[partition as usize].push(page);
        }
        (self.memory, pages)
    }

    /// Tuples in all pages, and what they are.
    pub(super) fn found(&mut self) -> (u64, u64) {
        for page in 0..self.opened.len() {
            self.read(self.opened[page], self.address(page as u32));
        }
        (self.tuples, self.checksum.value())
    }

    /// What whoever reads a partition's page would find: it is no part of partitioning.
    fn read(&mut self, partition: u32, page: u64) {
        let word = |address: u64| self.memory.read(Place::<u32>::new(0, address));
        let count = word(page);
        for number in 0..count {
            let slot = page + u64::from(self.spec.format.slot(number));
            let tuple = page + u64::from(word(slot + u64::from(WORD)) & 0xFFFF);
            let words = [
                partition,
                word(slot),
                word(tuple),
                word(tuple + u64::from(KEY)),
            ];
            self.checksum.add(of_words(words.map(u64::from)));
        }
        self.tuples += u64::from(count);
    }
}
