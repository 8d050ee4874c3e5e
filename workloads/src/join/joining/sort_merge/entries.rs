//! Keys of tuples out of order with pointers to the tuples, and sorting them by merging runs of 1, 2, 4 ... entries.

use super::places::{ARRAYS, ENTRY_BYTES, SortPlaces};
use super::sites::Site;
use crate::arena::{Arena, Far};
use crate::join::ahead::Ahead;
use crate::join::costs::{LOOP, TEST};
use crate::join::limits::WORD;
use crate::join::relation::Relation;
use crate::join::scan::Scan;
use crate::page::copy_words;
use crate::place::{Extent, Loaded};
use crate::tracer::{Dep, Trace};
use crate::word::Word;

/// A key, and where its tuple lies in its relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) key: u32,
    pub(super) pointer: u32,
}

/// The arrays of a thread, of one partition after the other.
#[derive(Debug)]
pub(in crate::join::joining) struct Entries {
    places: SortPlaces,
    memory: Arena<Far>,
}

/// Entries in an array, by the number of the array.
#[derive(Clone, Copy, Debug)]
pub(super) struct Array {
    pub(super) number: u64,
    pub(super) entries: u64,
}

impl Entries {
    pub(in crate::join::joining) fn new(places: SortPlaces) -> Self {
        Self {
            memory: Arena::of(places.entries, ARRAYS * places.array_bytes),
            places,
        }
    }

    /// Touches everything: for a native run, which is not to wait for the operating system.
    pub(in crate::join::joining) fn touch(&mut self) {
        let all = Extent {
            segment: 0,
            address: self.places.entries,
            bytes: (ARRAYS * self.places.array_bytes) as usize,
        };
        self.memory.bytes_mut(all).fill(0);
    }

    fn extent(&self, array: u64, number: u64) -> Extent {
        Extent {
            segment: 0,
            address: self.places.entries + array * self.places.array_bytes + number * ENTRY_BYTES,
            bytes: ENTRY_BYTES as usize,
        }
    }

    pub(super) fn load<T: Trace>(
        &self,
        trace: &mut T,
        site: Site,
        (array, number): (u64, u64),
    ) -> Loaded<Entry> {
        let entry = self.extent(array, number);
        let words = copy_words(entry.bytes);
        let bytes = self.memory.load_bytes(trace, site, entry, words, Dep::NONE);
        bytes.map(|bytes| Entry {
            key: u32::read(bytes, 0),
            pointer: u32::read(bytes, WORD as usize),
        })
    }

    fn store<T: Trace>(
        &mut self,
        trace: &mut T,
        site: Site,
        (array, number): (u64, u64),
        (entry, known): (Entry, Dep),
    ) {
        let place = self.extent(array, number);
        let words = copy_words(place.bytes);
        let bytes = self.memory.store_bytes(trace, site, place, words, known);
        entry.key.write(bytes, 0);
        entry.pointer.write(bytes, WORD as usize);
    }

    /// Makes entries of a relation's tuples, in their order, in an array.
    pub(super) fn collect<T: Trace>(
        &mut self,
        trace: &mut T,
        (from, ahead): (&mut Relation, Option<Ahead>),
        array: u64,
    ) -> Array {
        let (mut scan, mut entries) = (Scan::new(ahead), 0);
        while let Some(input) = scan.next(from, trace) {
            let tuple = input.tuple;
            let key = from.key(trace, Site::SortKey, tuple.value, tuple.token.after(0));
            let entry = Entry {
                key: key.value,
                pointer: from.pointer(tuple.value),
            };
            let known = key.token.after(0);
            self.store(trace, Site::EntryStore, (array, entries), (entry, known));
            entries += 1;
        }
        Array {
            number: array,
            entries,
        }
    }

    /// Sorts an array by keys, with another to merge into. Returns the one in which everything is then, and the other one.
    pub(super) fn sort<T: Trace>(
        &mut self,
        trace: &mut T,
        array: Array,
        free: u64,
    ) -> (Array, u64) {
        let (mut from, mut to, entries) = (array.number, free, array.entries);
        let mut run = 1;
        while run < entries && !trace.failed() {
            for start in (0..entries).step_by(2 * run as usize) {
                let middle = entries.min(start + run);
                let end = entries.min(middle + run);
                self.merge(trace, (from, to), [start, middle, end]);
            }
            (from, to) = (to, from);
            run *= 2;
        }
        let sorted = Array {
            number: from,
            entries,
        };
        (sorted, to)
    }

    /// Merges the run up to a middle with that up to the end. The first of each is in a register.
    fn merge<T: Trace>(
        &mut self,
        trace: &mut T,
        (from, to): (u64, u64),
        [start, middle, end]: [u64; 3],
    ) {
        let (mut next, ends) = ([start, middle], [middle, end]);
        let first = |entries: &Self, trace: &mut T, number: u64, end: u64| {
            (number < end).then(|| entries.load(trace, Site::RunHead, (from, number)))
        };
        let mut heads = [0, 1].map(|run| first(self, trace, next[run], ends[run]));
        for number in start..end {
            let run = match heads {
                [Some(left), Some(right)] => {
                    trace.work(TEST);
                    let second = right.value.key < left.value.key;
                    let waits = [left, right][usize::from(second)].token.after(1);
                    trace.branch(Site::RunOfLesser, second, waits);
                    usize::from(second)
                }
                [None, _] => 1,
                [_, None] => 0,
            };
            let Some(head) = heads[run] else {
                return;
            };
            let known = head.token.after(0);
            self.store(trace, Site::RunStore, (to, number), (head.value, known));
            next[run] += 1;
            trace.work(LOOP);
            trace.branch(Site::RunLeft, next[run] < ends[run], Dep::NONE);
            heads[run] = first(self, trace, next[run], ends[run]);
        }
    }
}
