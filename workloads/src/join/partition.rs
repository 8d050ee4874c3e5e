//! A partition in memory: its pages, made when they are first opened, and a scan of them.

use super::ahead::{Ahead, Prefetched, lines};
use super::costs::{ITERATE, TURN_PAGE};
use super::pages::{PARTITION_SLOT, PageFormat, WORD};
use super::sites::Site;
use super::spec::JoinWorkload;
use super::tuples::{Side, Tuples};
use crate::arena::{Arena, Far};
use crate::page::copy_words;
use crate::place::{Extent, Loaded, Place};
use crate::tracer::{Dep, Token, Trace};
use crate::watch;
use crate::word::Word;

/// The pages of one side of a partition.
#[derive(Debug)]
pub(super) struct Partition {
    pub(super) format: PageFormat,
    tuples: Tuples,
    memory: Arena<Far>,
    base: u64,
    /// Pages that have been made.
    made: u64,
}

/// What pages of a workload's partitions look like.
pub(super) fn format(workload: &JoinWorkload) -> PageFormat {
    PageFormat {
        page_bytes: workload.page_bytes,
        tuple_bytes: workload.tuple_bytes,
        slot_bytes: PARTITION_SLOT,
    }
}

impl Partition {
    /// One side of partition number `partition`, from address `base` on.
    pub(super) fn new(workload: &JoinWorkload, partition: u32, side: Side, base: u64) -> Self {
        let format = format(workload);
        let tuples = Tuples::new(workload, partition, side);
        let bytes = format.pages(tuples.count) * u64::from(format.page_bytes);
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
        let pages = self.format.pages(self.tuples.count);
        self.make_until(pages);
    }

    fn make_until(&mut self, pages: u64) {
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
            self.memory.write(slot, tuple.code);
            let place_and_length = place | format.tuple_bytes << 16;
            self.memory.write(slot.element(1), place_and_length);
        }
    }

    /// Tuples on a page.
    fn on_page(&self, page: u64) -> u32 {
        let (count, on_page) = (self.tuples.count, u64::from(self.format.tuples()));
        count.saturating_sub(page * on_page).min(on_page) as u32
    }

    fn page(&self, page: u64) -> u64 {
        self.base + page * u64::from(self.format.page_bytes)
    }

    /// Where an address lies among the partition's, and back: what a pointer of four bytes holds.
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

/// An input tuple: what its slot says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Input {
    /// Its hash code, and the event that brought the slot.
    pub(super) code: Loaded<u32>,
    /// Where it lies.
    pub(super) tuple: u64,
}

/// A scan of all tuples of a partition.
#[derive(Debug)]
pub(super) struct Scan {
    prefetched: Option<Prefetched>,
    page: u64,
    next: u32,
    on_page: u32,
    opened: Token,
}

impl Scan {
    pub(super) fn new(ahead: Option<Ahead>) -> Self {
        Self {
            prefetched: ahead.map(Prefetched::nothing),
            page: 0,
            next: 0,
            on_page: 0,
            opened: Token::NONE,
        }
    }

    /// The next tuple, if there is one.
    pub(super) fn next<T: Trace>(&mut self, from: &mut Partition, trace: &mut T) -> Option<Input> {
        if self.next == self.on_page {
            if trace.failed() || from.on_page(self.page) == 0 {
                return None;
            }
            self.open(from, trace);
        }
        self.look_ahead(from, trace);
        let format = from.format;
        let page = from.page(self.page - 1);
        trace.work(ITERATE / 2);
        let slot = from.load(
            trace,
            Site::Slot,
            page + u64::from(format.slot(self.next)),
            format.slot_bytes,
            self.opened.after(0),
        );
        let place = u32::read(slot.value, WORD as usize) & 0xFFFF;
        let code = slot.map(|bytes| u32::read(bytes, 0));
        self.next += 1;
        trace.work(ITERATE / 2);
        trace.branch(Site::SlotsLeft, self.next < self.on_page, Dep::NONE);
        Some(Input {
            code,
            tuple: page + u64::from(place),
        })
    }

    fn open<T: Trace>(&mut self, from: &mut Partition, trace: &mut T) {
        from.make_until(self.page + 1);
        trace.work(TURN_PAGE);
        let header = Place::<u32>::new(0, from.page(self.page));
        let count = from.memory.load(trace, Site::PageHeader, header, Dep::NONE);
        self.page += 1;
        (self.next, self.on_page, self.opened) = (0, count.value, count.token);
        if let Some(prefetched) = &mut self.prefetched {
            prefetched.open(from.format);
        }
    }

    /// Prefetches what the tuples up to some ahead of the next are read from.
    fn look_ahead<T: Trace>(&mut self, from: &Partition, trace: &mut T) {
        let page = from.page(self.page - 1);
        if let Some(prefetched) = &mut self.prefetched {
            prefetched.look(from.format, self.next, self.on_page, |place| {
                let address = page + u64::from(place);
                from.memory
                    .prefetch(trace, Site::PagePrefetch, address, Dep::NONE);
            });
        }
    }
}
