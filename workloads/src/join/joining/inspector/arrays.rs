//! Arrays of pointers to probe tuples with their hash codes, one for each sub-partition, and a table of where each of them ends.

use super::filters::Passed;
use super::places::{ArrayPlaces, END_BYTES, ENTRY_BYTES, lines};
use crate::arena::{Arena, Far};
use crate::join::costs::{BUCKET_ADDRESS, LOOP};
use crate::join::joining::sites::Site;
use crate::join::limits::WORD;
use crate::join::relation::Relation;
use crate::join::scan::Input;
use crate::page::copy_words;
use crate::place::{Extent, Loaded, Place};
use crate::tracer::{Dep, Trace};
use crate::word::Word;

/// Lines between the prefetch of an array's line and its use (thesis section 5.5.2).
const LINES_AHEAD: u64 = 20;

/// The arrays of a thread, of one partition after the other.
#[derive(Debug)]
pub(in crate::join::joining) struct Arrays {
    places: ArrayPlaces,
    line_bytes: u64,
    ends: Arena<Far>,
    entries: Arena<Far>,
    /// By sub-partition: where its array begins, and its entries.
    arrays: Vec<(u64, u64)>,
}

impl Arrays {
    pub(in crate::join::joining) fn new(places: ArrayPlaces, line_bytes: u32) -> Self {
        let line_bytes = u64::from(line_bytes);
        Self {
            places,
            line_bytes,
            ends: Arena::of(places.ends, places.sub_partitions * END_BYTES),
            entries: Arena::of(places.entries, places.lines * line_bytes),
            arrays: Vec::new(),
        }
    }

    /// Touches everything: for a native run, which is not to wait for the operating system.
    pub(in crate::join::joining) fn touch(&mut self) {
        let entries = Extent {
            segment: 0,
            address: self.places.entries,
            bytes: (self.places.lines * self.line_bytes) as usize,
        };
        self.entries.bytes_mut(entries).fill(0);
        for sub_partition in 0..self.places.sub_partitions {
            self.ends.write(self.end_place(sub_partition), 0);
        }
    }

    fn end_place(&self, sub_partition: u64) -> Place<u32> {
        Place::new(0, self.places.ends + sub_partition * END_BYTES)
    }

    /// Makes room for a partition's tuples, whose numbers the partition phase has counted.
    pub(super) fn open<T: Trace>(&mut self, trace: &mut T, passed: &Passed) {
        self.arrays.clear();
        let mut first = self.places.entries;
        for (sub_partition, &tuples) in (0..).zip(&passed.tuples) {
            self.arrays.push((first, tuples));
            let end = self.end_place(sub_partition);
            let start = ((first - self.places.entries) / ENTRY_BYTES) as u32;
            self.ends
                .store(trace, Site::ArrayEndChange, end, start, Dep::NONE);
            let site = Site::ArrayStorePrefetch;
            self.entries.prefetch(trace, site, first, Dep::NONE);
            trace.work(LOOP);
            first += lines(tuples, self.line_bytes) * self.line_bytes;
        }
    }

    /// Adds an entry to a sub-partition's array, and prefetches the line behind one that begins.
    pub(super) fn add<T: Trace>(
        &mut self,
        trace: &mut T,
        sub_partition: u8,
        (tuple, code): (u32, u32),
        dep: Dep,
    ) {
        trace.work(BUCKET_ADDRESS);
        let place = self.end_place(sub_partition.into());
        let end = self.ends.load(trace, Site::ArrayEnd, place, dep);
        let address = self.places.entries + u64::from(end.value) * ENTRY_BYTES;
        let known = end.token.after(1);
        let begins = address.is_multiple_of(self.line_bytes);
        trace.branch(Site::ArrayLineBegins, begins, known);
        let next = address + self.line_bytes;
        let (first, entries) = self.arrays[usize::from(sub_partition)];
        if begins && next < first + entries * ENTRY_BYTES {
            let site = Site::ArrayStorePrefetch;
            self.entries.prefetch(trace, site, next, known);
        }
        let entry = extent(address);
        let words = copy_words(entry.bytes);
        let bytes = self
            .entries
            .store_bytes(trace, Site::ArrayStore, entry, words, known);
        tuple.write(bytes, 0);
        code.write(bytes, WORD as usize);
        let end = end.value + 1;
        self.ends
            .store(trace, Site::ArrayEndChange, place, end, known);
    }

    /// Prefetches the first lines of a sub-partition's array. Returns where it is to be read from.
    pub(in crate::join::joining) fn begin<T: Trace>(
        &self,
        trace: &mut T,
        sub_partition: u64,
    ) -> Reading {
        let (first, entries) = self.arrays[sub_partition as usize];
        let reading = Reading {
            next: first,
            end: first + entries * ENTRY_BYTES,
        };
        for line in 0..LINES_AHEAD {
            self.prefetch(trace, reading, first + line * self.line_bytes);
        }
        reading
    }

    /// The next tuple, if there is one. A line that has been read makes room for the one that is some lines ahead.
    pub(in crate::join::joining) fn next<T: Trace>(
        &self,
        trace: &mut T,
        reading: &mut Reading,
        from: &Relation,
    ) -> Option<Input> {
        trace.work(LOOP);
        let more = reading.next < reading.end;
        trace.branch(Site::ArrayLeft, more, Dep::NONE);
        if !more {
            return None;
        }
        let entry = extent(reading.next);
        let words = copy_words(entry.bytes);
        let loaded = self
            .entries
            .load_bytes(trace, Site::ArrayEntry, entry, words, Dep::NONE);
        let word = |number: u32| u32::read(loaded.value, (number * WORD) as usize);
        let input = Input {
            code: word(1),
            hashed: loaded.token.after(0),
            tuple: Loaded {
                value: from.address(word(0)),
                token: loaded.token,
            },
            bytes: None,
        };
        reading.next += ENTRY_BYTES;
        if reading.next.is_multiple_of(self.line_bytes) {
            let ahead = reading.next + (LINES_AHEAD - 1) * self.line_bytes;
            self.prefetch(trace, *reading, ahead);
        }
        Some(input)
    }

    fn prefetch<T: Trace>(&self, trace: &mut T, reading: Reading, line: u64) {
        if line < reading.end {
            let site = Site::ArrayPrefetch;
            self.entries.prefetch_nta(trace, site, line, Dep::NONE);
        }
    }
}

/// How far an array has been read.
#[derive(Clone, Copy, Debug)]
pub(in crate::join::joining) struct Reading {
    next: u64,
    end: u64,
}

fn extent(address: u64) -> Extent {
    Extent {
        segment: 0,
        address,
        bytes: ENTRY_BYTES as usize,
    }
}
