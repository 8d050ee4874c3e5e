//! Output tuples: all fields of a build tuple and of a probe tuple, in pages that somebody reads.

use super::spec::JoinWorkload;
use crate::arena::{Arena, Far};
use crate::join::ahead::{Ahead, Prefetched};
use crate::join::algorithm::OutputPages;
use crate::join::copy::{KEY, Target, copy_tuple, of_words};
use crate::join::costs::{INSERT_OUTPUT, TURN_PAGE};
use crate::join::lengths::Lengths;
use crate::join::limits::WORD;
use crate::join::pages::{HEADER_BYTES, PageFormat, TUPLES_UNTIL};
use crate::join::relation::{Relation, Told};
use crate::join::sites::Site;
use crate::outcome::Checksum;
use crate::place::{Extent, Loaded, Place};
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
    /// In the page: where its tuples end.
    end: u32,
    prefetched: Option<Prefetched>,
    /// Where the first page goes on storage, if they go there.
    stored: Option<u64>,
    /// Tuples that were put out, and what is in those that were read.
    pub(super) tuples: u64,
    checksum: Checksum,
}

/// What output pages of a workload look like.
pub(super) fn format(workload: &JoinWorkload) -> PageFormat {
    let lengths = match workload.lengths() {
        Lengths::Fixed(bytes) => Lengths::Fixed(2 * bytes),
        Lengths::Uniform(shortest, longest) => Lengths::Uniform(2 * shortest, 2 * longest),
    };
    PageFormat::new(workload.page_bytes, lengths)
}

/// Pages that so many output tuples take; at most, if lengths differ.
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
            end: HEADER_BYTES,
            stored,
            prefetched: ahead.map(|ahead| {
                let mut prefetched = Prefetched::nothing(ahead);
                prefetched.open(format, 0);
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

    /// Adds a pair of tuples: a build tuple, whose address waits for something, and a probe tuple, whose length somebody may have told.
    pub(super) fn add<T: Trace>(
        &mut self,
        trace: &mut T,
        (build, build_tuple, build_known): (&Relation, u64, Dep),
        (probe, probe_tuple, told): (&Relation, Loaded<u64>, Told),
    ) {
        trace.work(INSERT_OUTPUT / 2);
        // Tables and pairs hold pointers to tuples: how long a build tuple is it says itself.
        let first = build.length(trace, Site::BuildCopy, (build_tuple, None), build_known);
        let probe_known = probe_tuple.token.after(0);
        let told = (probe_tuple.value, told);
        let second = probe.length(trace, Site::ProbeCopy, told, probe_known);
        let bytes = first.bytes + second.bytes;
        let full = self.end + bytes > self.format.slot(self.on_page);
        trace.branch(Site::OutputFull, full, first.known);
        if full {
            self.turn_page(trace);
        }
        self.look_ahead(trace);
        let to = self.page() + u64::from(self.end);
        let sites = [Site::BuildCopy, Site::ProbeCopy].map(|read| (read, Site::OutputCopy));
        let original = (build, build_tuple, build_known);
        let target = Target::cached(&mut self.memory, to);
        copy_tuple(trace, sites[0], original, first, target);
        let original = (probe, probe_tuple.value, probe_known);
        let target = Target::cached(&mut self.memory, to + u64::from(first.bytes));
        copy_tuple(trace, sites[1], original, second, target);
        self.end_tuple(trace, bytes);
    }

    fn end_tuple<T: Trace>(&mut self, trace: &mut T, bytes: u32) {
        let page = self.page();
        let slot = page + u64::from(self.format.slot(self.on_page));
        let (memory, site) = (&mut self.memory, Site::OutputSlot);
        if self.format.slots.length {
            let place = self.end | bytes << 16;
            memory.store(trace, site, Place::<u32>::new(0, slot), place, Dep::NONE);
        } else {
            let place = self.end as u16;
            memory.store(trace, site, Place::<u16>::new(0, slot), place, Dep::NONE);
        }
        self.on_page += 1;
        self.end += bytes;
        self.tuples += 1;
        let count = Place::<u32>::new(0, page);
        self.memory
            .store(trace, Site::OutputHeader, count, self.on_page, Dep::NONE);
        if self.format.varies() {
            let end = count.element(TUPLES_UNTIL);
            self.memory
                .store(trace, Site::OutputHeader, end, self.end, Dep::NONE);
        }
        trace.work(INSERT_OUTPUT / 2);
    }

    fn write_out<T: Trace>(&self, trace: &mut T) {
        if let Some(first) = self.stored {
            trace.page_write(first + self.page);
        }
    }

    fn turn_page<T: Trace>(&mut self, trace: &mut T) {
        self.write_out(trace);
        trace.pause();
        self.read_page();
        trace.resume();
        self.page += 1;
        (self.on_page, self.end) = (0, HEADER_BYTES);
        trace.work(TURN_PAGE);
        if let Some(prefetched) = &mut self.prefetched {
            prefetched.open(self.format, 0);
        }
    }

    /// Prefetches where the tuples up to some ahead of the next will be.
    fn look_ahead<T: Trace>(&mut self, trace: &mut T) {
        let (page, format) = (self.page(), self.format);
        if let Some(prefetched) = &mut self.prefetched {
            let (tuples, bytes) = (self.on_page, (self.end, format.page_bytes));
            // Nobody knows how many there will be if lengths differ: there is room for so many of the shortest.
            let count = match format.shortest_bytes {
                None => format.tuples(),
                Some(bytes) => tuples + format.more_tuples(tuples, self.end, bytes),
            };
            prefetched.look(format, (tuples, count), bytes, |place| {
                let address = page + u64::from(place);
                self.memory
                    .prefetch(trace, Site::OutputPrefetch, address, Dep::NONE);
            });
        }
    }

    /// What whoever reads a page would find: it is no part of the join.
    fn read_page(&mut self) {
        let (page, format, half) = (self.page(), self.format, self.format.tuple_bytes / 2);
        for number in 0..self.on_page {
            let word = |place: u32| {
                let place = Place::<u32>::new(0, page + u64::from(place));
                u64::from(self.memory.read(place))
            };
            let found = if format.varies() {
                let slot = word(format.slot(number)) as u32;
                let (tuple, bytes) = (slot & 0xFFFF, slot >> 16);
                of_words((0..bytes / WORD).map(|number| word(tuple + number * WORD)))
            } else {
                let tuple = format.tuple(number);
                of_words([0, KEY, half, half + KEY].map(|place| word(tuple + place)))
            };
            self.checksum.add(found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::join::joining::JoinAlgorithm;
    use crate::join::joining::tests::events;

    /// The most lines of pages that prefetches ask for with nothing in between, at a place in the code.
    fn most_at_once(workload: &JoinWorkload, site: Site) -> usize {
        let (events, _) = events(workload);
        let runs = events.split(|event| event.site != site as u16);
        runs.map(<[_]>::len).max().unwrap_or(0)
    }

    /// A whole page is asked for at once on the side that is told so, and on the other one no more than two tuples need.
    #[test]
    fn input_and_output_pages_are_prefetched_each_as_far_ahead_as_they_are_told() {
        for (page_ahead, output_ahead) in [(0, 1), (1, 0)] {
            let workload = JoinWorkload {
                algorithm: JoinAlgorithm::Simple,
                page_ahead,
                output_ahead,
                ..JoinWorkload::default()
            };
            for (ahead, site, of_two) in [
                (page_ahead, Site::PagePrefetch, 2 * 100),
                (output_ahead, Site::OutputPrefetch, 2 * 200),
            ] {
                let most = most_at_once(&workload, site);
                let expected = if ahead == 0 {
                    120..=128
                } else {
                    1..=of_two / 64 + 2
                };
                assert!(expected.contains(&most), "{site:?}, {ahead}: {most}");
            }
        }
    }
}
