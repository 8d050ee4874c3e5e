//! The output buffers: a page of each partition in memory, and a table that says which.
//!
//! A page's header holds its number of tuples and, when several tuples are under way, which of them was the last to reserve a place and
//! has still to be copied. Tuples are copied in the order of their reservations, so that with the last of them all are there.

use super::ahead::lines;
use super::copy::of_words;
use super::costs::{LOOP, TURN_PAGE};
use super::limits::WORD;
use super::pages::{HOLDER, PageFormat, SLOTS_FROM, TUPLES_UNTIL};
use super::sites::Site;
use super::slots::{Filled, Slot, Slots};
use super::stored::Extents;
use super::tuple::{LENGTH, NUMBER};
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
    /// Whether a tuple that waits for a page closes it. In a pipeline the tuple has its turn before those that begin later: one of these that
    /// fits, as it or its slot is shorter, would keep it waiting for longer.
    pub(super) waiting_closes: bool,
    /// Whether tuples are written past the caches, so that their lines are not fetched.
    pub(super) non_temporal: bool,
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
    pub(super) slots: Slots,
    places: BufferPlaces,
    table: Arena<Far>,
    pub(super) memory: Arena<Far>,
    /// By page that was opened: its partition.
    opened: Vec<u32>,
    /// Where full pages go on storage, if they go there.
    extents: Option<Extents>,
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
            slots: Slots::default(),
            places,
            opened: Vec::new(),
            extents: None,
            tuples: 0,
            checksum: Checksum::default(),
        }
    }

    /// The same with slots of another kind.
    pub(super) fn with_slots(self, slots: Slots) -> Self {
        Self { slots, ..self }
    }

    /// The same with full pages written to storage, or left in memory.
    pub(super) fn stored_in(self, extents: Option<Extents>) -> Self {
        Self { extents, ..self }
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
                self.write_out(trace, partition);
                trace.work(TURN_PAGE);
            }
            trace.work(LOOP);
        }
    }

    fn write_out<T: Trace>(&mut self, trace: &mut T, partition: u32) {
        if let Some(extents) = &mut self.extents {
            trace.page_write(extents.place(partition));
        }
    }

    /// Gives every partition a new page, unless there is nothing in the one that it has.
    pub(super) fn turn_all<T: Trace>(&mut self, trace: &mut T) {
        for partition in 0..self.spec.partitions {
            let page = self.page(trace, partition, Dep::NONE);
            let count = self.count(trace, page.value, page.token.after(0));
            trace.branch(Site::BufferUsed, count.value > 0, count.token.after(1));
            if count.value > 0 {
                self.turn(trace, partition, page.value);
            }
            trace.work(LOOP);
        }
    }

    /// Writes out a partition's page, which was full. Returns the page that takes its place.
    pub(super) fn turn<T: Trace>(&mut self, trace: &mut T, partition: u32, page: u64) -> u64 {
        self.write_out(trace, partition);
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
        let none = Slots::none(self.spec.format);
        self.set_filled(trace, page, none, Dep::NONE);
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

    /// Prefetches the lines of a tuple, unless it is written past the caches, and of its slot.
    pub(super) fn prefetch_place<T: Trace>(&self, trace: &mut T, page: u64, slot: Slot, dep: Dep) {
        let tuple = page + u64::from(slot.tuple);
        let slot_from = page + u64::from(slot.from);
        let line_bytes = self.spec.line_bytes;
        let is_fetched = !self.spec.non_temporal;
        let tuples = is_fetched.then(|| lines(tuple, slot.tuple_bytes, line_bytes));
        let slots = lines(slot_from, slot.bytes, line_bytes);
        for line in tuples.into_iter().flatten().chain(slots) {
            self.memory.prefetch(trace, Site::PlacePrefetch, line, dep);
        }
    }

    /// Loads how many tuples a page has.
    pub(super) fn count<T: Trace>(&self, trace: &mut T, page: u64, dep: Dep) -> Loaded<u32> {
        let place = Place::new(0, page);
        self.memory.load(trace, Site::BufferHeader, place, dep)
    }

    /// Loads how full a page is.
    pub(super) fn filled<T: Trace>(&self, trace: &mut T, page: u64, dep: Dep) -> Loaded<Filled> {
        let (format, count) = (self.spec.format, self.count(trace, page, dep));
        let mut word = |word| {
            let place = Place::<u32>::new(0, page).element(word);
            let loaded = self.memory.load(trace, Site::BufferHeader, place, dep);
            loaded.value
        };
        // Where all slots, or all tuples, are of one length, that says where they end.
        let slots_from = if self.slots == Slots::Lists {
            word(SLOTS_FROM)
        } else {
            format.page_bytes
        };
        let tuples_until = if format.varies() {
            word(TUPLES_UNTIL)
        } else {
            format.tuple(count.value)
        };
        count.map(|tuples| Filled {
            tuples,
            tuples_until,
            slots_from,
        })
    }

    pub(super) fn set_filled<T: Trace>(
        &mut self,
        trace: &mut T,
        page: u64,
        filled: Filled,
        dep: Dep,
    ) {
        self.set_word(trace, (page, 0), filled.tuples, dep);
        if self.slots == Slots::Lists {
            self.set_word(trace, (page, SLOTS_FROM), filled.slots_from, dep);
        }
        if self.spec.format.varies() {
            self.set_word(trace, (page, TUPLES_UNTIL), filled.tuples_until, dep);
        }
    }

    /// Writes a word of a page's header.
    fn set_word<T: Trace>(
        &mut self,
        trace: &mut T,
        (page, word): (u64, usize),
        value: u32,
        dep: Dep,
    ) {
        let (place, site) = (Place::new(0, page).element(word), Site::BufferHeaderChange);
        self.memory.store(trace, site, place, value, dep);
    }

    /// Loads who was the last to reserve a place and has still to be copied, counted from 1; 0 is nobody.
    pub(super) fn holder<T: Trace>(&self, trace: &mut T, page: u64, dep: Dep) -> Loaded<u32> {
        let place = Place::new(0, page).element(HOLDER);
        self.memory.load(trace, Site::BufferHeader, place, dep)
    }

    pub(super) fn set_holder<T: Trace>(&mut self, trace: &mut T, page: u64, holder: u32, dep: Dep) {
        self.set_word(trace, (page, HOLDER), holder, dep);
    }

    /// Leaves no room in a page of tuples or slots of several lengths, if whoever waits for a page is to do that; others have room for none anyway.
    pub(super) fn close_to_others<T: Trace>(
        &mut self,
        trace: &mut T,
        page: u64,
        filled: Filled,
        dep: Dep,
    ) {
        if !self.spec.waiting_closes {
            return;
        }
        if self.spec.format.varies() {
            let all = self.spec.format.page_bytes;
            self.set_word(trace, (page, TUPLES_UNTIL), all, dep);
        } else if self.slots == Slots::Lists {
            self.set_word(trace, (page, SLOTS_FROM), filled.tuples_until, dep);
        }
    }

    /// Writes the slot of a tuple, with its ids if it has any.
    pub(super) fn set_slot<T: Trace>(
        &mut self,
        trace: &mut T,
        page: u64,
        (slot, code): (Slot, u32),
        ids: impl Iterator<Item = u8>,
        dep: Dep,
    ) {
        let (tuple, site) = (slot.tuple, Site::BufferSlot);
        let bytes = Extent {
            segment: 0,
            address: page + u64::from(slot.from),
            bytes: slot.bytes as usize,
        };
        match self.slots {
            Slots::Even if self.spec.format.slots.length => {
                let words = copy_words(bytes.bytes);
                let written = self.memory.store_bytes(trace, site, bytes, words, dep);
                code.write(written, 0);
                (tuple | slot.tuple_bytes << 16).write(written, u32::BYTES);
            }
            Slots::Even => {
                let at = |place: u32| page + u64::from(place);
                let (code_at, place_at) = (at(slot.code), at(slot.place));
                self.memory
                    .store(trace, site, Place::new(0, code_at), code, dep);
                self.memory
                    .store(trace, site, Place::new(0, place_at), tuple as u16, dep);
            }
            Slots::Lists => {
                let ids: Vec<u8> = ids.collect();
                // Hash code, place, number of ids, and each of them by itself.
                let words = 3 + ids.len() as u16;
                let written = self.memory.store_bytes(trace, site, bytes, words, dep);
                let at = |place: u32| (place - slot.from) as usize;
                code.write(written, at(slot.code));
                (tuple as u16).write(written, at(slot.place));
                written[at(slot.ids())] = ids.len() as u8;
                for (number, id) in (0..).zip(ids) {
                    written[at(slot.id(number))] = id;
                }
            }
        }
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
        for found in self.on_page(partition, page) {
            let words = [found.partition, found.code, found.key, found.number];
            self.checksum.add(if self.spec.format.varies() {
                of_words(words.into_iter().chain(found.all).map(u64::from))
            } else {
                of_words(words.map(u64::from))
            });
            self.tuples += 1;
        }
    }

    /// The tuples of a partition's page.
    fn on_page(&self, partition: u32, page: u64) -> Vec<Found> {
        let word = |address: u64| self.memory.read(Place::<u32>::new(0, address));
        let byte = |place: u32| {
            let address = page + u64::from(place);
            let one = Extent {
                segment: 0,
                address,
                bytes: 1,
            };
            self.memory.bytes(one)[0]
        };
        let (format, mut filled) = (self.spec.format, Slots::none(self.spec.format));
        let one = |_| {
            let ids = match self.slots {
                Slots::Lists => byte(self.slots.next(format, filled, (0, 0)).0.ids()),
                Slots::Even => 0,
            };
            // How long tuples are makes no difference to where slots lie.
            let (slot, then) = self.slots.next(format, filled, (0, ids.into()));
            filled = then;
            let place = Place::<u16>::new(0, page + u64::from(slot.place));
            let tuple = page + u64::from(self.memory.read(place));
            let element = |number: usize| word(Place::<u32>::new(0, tuple).element(number).address);
            let all = match self.slots {
                _ if !format.varies() => 0,
                Slots::Even if format.slots.length => self.memory.read(place.element(1)).into(),
                Slots::Even | Slots::Lists => element(LENGTH),
            };
            Found {
                partition,
                code: word(page + u64::from(slot.code)),
                key: word(tuple),
                number: element(if format.varies() { NUMBER } else { 1 }),
                all: if format.varies() {
                    (0..all / WORD)
                        .map(|number| element(number as usize))
                        .collect()
                } else {
                    Vec::new()
                },
                ids: (0..ids.into())
                    .map(|number| byte(slot.id(number)))
                    .collect(),
            }
        };
        (0..word(page)).map(one).collect()
    }

    /// The tuples in all pages that are still there, page by page in the order in which they were opened.
    #[cfg(test)]
    pub(super) fn all(&self) -> Vec<Vec<Found>> {
        let pages = (0..).zip(&self.opened);
        pages
            .map(|(page, &partition)| self.on_page(partition, self.address(page)))
            .collect()
    }
}

/// What is found of a tuple in a partition's page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) partition: u32,
    pub(super) code: u32,
    pub(super) key: u32,
    pub(super) number: u32,
    /// All words of the tuple, if lengths differ.
    pub(super) all: Vec<u32>,
    pub(super) ids: Vec<u8>,
}
