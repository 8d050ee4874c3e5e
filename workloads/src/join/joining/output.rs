//! Output tuples: all fields of a build tuple and of a probe tuple, in pages that somebody reads.

use super::spec::JoinWorkload;
use crate::arena::{Arena, Far};
use crate::join::ahead::{Ahead, Prefetched};
use crate::join::algorithm::OutputPages;
use crate::join::copy::{KEY, copy_tuple, of_words};
use crate::join::costs::{INSERT_OUTPUT, TURN_PAGE};
use crate::join::pages::{PLAIN_SLOT, PageFormat};
use crate::join::relation::Relation;
use crate::join::sites::Site;
use crate::outcome::Checksum;
use crate::place::{Extent, Place};
use crate::tracer::{Dep, Trace};

/// Where output tuples go.
#[derive(Debug)]
pub(super) struct Output {
    format: PageFormat,
    memory: Arena<Far>,
    base: u64,
    /// Pages there are; they are used in turn.
    pages: u64,
    page: u64,
    on_page: u32,
    prefetched: Option<Prefetched>,
    /// Where the first page goes on storage, if they go there.
    stored: Option<u64>,
    /// Tuples that were put out, and what is in those that were read.
    pub(super) tuples: u64,
    checksum: Checksum,
}

/// What output pages of a workload look like.
pub(super) fn format(workload: &JoinWorkload) -> PageFormat {
    PageFormat {
        page_bytes: workload.page_bytes,
        tuple_bytes: 2 * workload.tuple_bytes,
        slot_bytes: PLAIN_SLOT,
    }
}

/// Pages that so many output tuples take.
pub(super) fn pages(workload: &JoinWorkload, tuples: u64) -> u64 {
    match workload.output {
        OutputPages::Fresh | OutputPages::Stored => format(workload).pages(tuples).max(1),
        OutputPages::Reused => 1,
    }
}

impl Output {
    /// So many pages from address `base` on, which are written to storage from page `stored` on, if they are.
    pub(super) fn new(
        workload: &JoinWorkload,
        (base, pages): (u64, u64),
        stored: Option<u64>,
        ahead: Option<Ahead>,
    ) -> Self {
        let format = format(workload);
        Self {
            memory: Arena::of(base, pages * u64::from(format.page_bytes)),
            format,
            base,
            pages,
            page: 0,
            on_page: 0,
            stored,
            prefetched: ahead.map(|ahead| {
                let mut prefetched = Prefetched::nothing(ahead);
                prefetched.open(format);
                prefetched
            }),
            tuples: 0,
            checksum: Checksum::default(),
        }
    }

    /// Touches all pages: for a native run, which is not to wait for the operating system.
    pub(super) fn touch(&mut self) {
        for page in 0..self.pages {
            let address = self.base + page * u64::from(self.format.page_bytes);
            let bytes = Extent {
                segment: 0,
                address,
                bytes: self.format.page_bytes as usize,
            };
            self.memory.bytes_mut(bytes).fill(0);
        }
    }

    /// Writes out the last page.
    pub(super) fn close<T: Trace>(&self, trace: &mut T) {
        if self.on_page > 0 {
            self.write_out(trace);
        }
    }

    /// What was put out, in any order.
    pub(super) fn checksum(&mut self) -> u64 {
        self.read_page();
        self.on_page = 0;
        self.checksum.value()
    }

    fn page(&self) -> u64 {
        self.base + self.page % self.pages * u64::from(self.format.page_bytes)
    }

    /// Adds a pair of tuples, whose addresses depend on `dep`.
    pub(super) fn add<T: Trace>(
        &mut self,
        trace: &mut T,
        (build, build_tuple): (&Relation, u64),
        (probe, probe_tuple): (&Relation, u64),
        dep: Dep,
    ) {
        trace.work(INSERT_OUTPUT / 2);
        let full = self.on_page == self.format.tuples();
        trace.branch(Site::OutputFull, full, Dep::NONE);
        if full {
            self.turn_page(trace);
        }
        self.look_ahead(trace);
        let to = self.page() + u64::from(self.format.tuple(self.on_page));
        let half = self.format.tuple_bytes / 2;
        let sites = [Site::BuildCopy, Site::ProbeCopy].map(|read| (read, Site::OutputCopy));
        let memory = &mut self.memory;
        copy_tuple(trace, sites[0], (build, build_tuple, dep), (memory, to));
        let to_probe = to + u64::from(half);
        copy_tuple(
            trace,
            sites[1],
            (probe, probe_tuple, dep),
            (memory, to_probe),
        );
        self.end_tuple(trace);
    }

    fn end_tuple<T: Trace>(&mut self, trace: &mut T) {
        let page = self.page();
        let place = self.format.tuple(self.on_page) | self.format.tuple_bytes << 16;
        let slot = Place::<u32>::new(0, page + u64::from(self.format.slot(self.on_page)));
        self.memory
            .store(trace, Site::OutputSlot, slot, place, Dep::NONE);
        self.on_page += 1;
        self.tuples += 1;
        let count = Place::<u32>::new(0, page);
        self.memory
            .store(trace, Site::OutputHeader, count, self.on_page, Dep::NONE);
        trace.work(INSERT_OUTPUT / 2);
    }

    fn write_out<T: Trace>(&self, trace: &mut T) {
        if let Some(first) = self.stored {
            trace.page_write(first + self.page);
        }
    }

    fn turn_page<T: Trace>(&mut self, trace: &mut T) {
        self.write_out(trace);
        self.read_page();
        self.page += 1;
        self.on_page = 0;
        trace.work(TURN_PAGE);
        if let Some(prefetched) = &mut self.prefetched {
            prefetched.open(self.format);
        }
    }

    /// Prefetches where the tuples up to some ahead of the next will be.
    fn look_ahead<T: Trace>(&mut self, trace: &mut T) {
        let (page, format) = (self.page(), self.format);
        if let Some(prefetched) = &mut self.prefetched {
            prefetched.look(format, self.on_page, format.tuples(), |place| {
                let address = page + u64::from(place);
                self.memory
                    .prefetch(trace, Site::OutputPrefetch, address, Dep::NONE);
            });
        }
    }

    /// What whoever reads a page would find: it is no part of the join.
    fn read_page(&mut self) {
        let (page, half) = (self.page(), u64::from(self.format.tuple_bytes / 2));
        for number in 0..self.on_page {
            let tuple = page + u64::from(self.format.tuple(number));
            let word =
                |place: u64| u64::from(self.memory.read(Place::<u32>::new(0, tuple + place)));
            let pair = [
                word(0),
                word(KEY.into()),
                word(half),
                word(half + u64::from(KEY)),
            ];
            self.checksum.add(of_words(pair));
        }
    }
}
