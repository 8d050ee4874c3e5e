//! Tuples in order as they come by, and those out of order in a memory buffer of their own (thesis section 5.3.4). If that overflows, the
//! relation is not nearly sorted, and nobody looks any further.

use super::sites::Site;
use crate::arena::{Arena, Far};
use crate::join::buffers::{BufferPlaces, BufferSpec, Buffers, ENTRY_BYTES};
use crate::join::costs::{LOOP, TEST};
use crate::join::distribute::Distribute;
use crate::join::division::{Division, KEPT_BACK, Verdict};
use crate::join::hash::key_of;
use crate::join::limits::WORD;
use crate::join::relation::Relation;
use crate::join::scan::{Input, Inputs, Scan};
use crate::place::Extent;

use crate::tracer::{Dep, Trace};
use crate::word::Word;
use std::collections::VecDeque;

/// Bytes of a tuple that is kept back: its hash code, and where it lies; and the room for them, a power of two.
const KEPT_BYTES: u64 = 2 * WORD as u64;
const KEPT_WORDS: u16 = 2;
const RING: u64 = 2 * KEPT_BACK as u64;
/// Bytes of all of them, and of the entry that says which page of the buffer is being filled.
pub(super) const RING_BYTES: u64 = RING * KEPT_BYTES + ENTRY_BYTES;

/// Where a thread's buffer for one relation lies, and its pages.
#[derive(Clone, Copy, Debug)]
pub(super) struct OrderPlaces {
    pub(super) ring: u64,
    pub(super) first_page: u64,
    pub(super) pages: u64,
}

/// What was found out.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sortedness {
    /// Tuples that were put apart.
    pub(super) out_of_order: u64,
    /// Whether they were too many.
    pub(super) overflowed: bool,
}

/// A scan that puts tuples apart that are out of order.
#[derive(Debug)]
pub(super) struct Ordered {
    scan: Scan,
    division: Division<(u64, Input)>,
    /// Tuples that were kept back, and are no longer, as they are in order.
    gone: u64,
    ring: Arena<Far>,
    places: OrderPlaces,
    buffer: Buffers,
    /// Tuples that there is room for; of the longest, if lengths differ.
    room: u64,
    /// Of a pair that there was no room for.
    left: VecDeque<Input>,
    found: Sortedness,
}

impl Ordered {
    /// Of a scan, with buffer pages like output pages.
    pub(super) fn new(scan: Scan, spec: BufferSpec, places: OrderPlaces) -> Self {
        let spec = BufferSpec {
            partitions: 1,
            reused: false,
            ..spec
        };
        let pages = BufferPlaces {
            table: places.ring + RING * KEPT_BYTES,
            first_page: places.first_page,
            pages: places.pages,
        };
        Self {
            scan,
            division: Division::default(),
            gone: 0,
            ring: Arena::of(places.ring, RING_BYTES),
            room: places.pages * u64::from(spec.format.tuples()),
            buffer: Buffers::new(spec, pages, pages.memory(spec.format)),
            places,
            left: VecDeque::new(),
            found: Sortedness::default(),
        }
    }

    /// Touches the buffer: for a native run, which is not to wait for the operating system.
    pub(super) fn touch(&mut self) {
        self.buffer.touch();
    }

    /// Opens the buffer.
    pub(super) fn open<T: Trace>(&mut self, trace: &mut T) {
        self.buffer.open(trace);
    }

    /// What was found out, and the tuples that were put apart.
    pub(super) fn close(self) -> (Sortedness, Relation) {
        let format = self.buffer.spec.format;
        let (memory, mut pages) = self.buffer.into_pages();
        let mut relation = Relation::written(format, memory, self.places.first_page);
        relation.choose(pages.pop().unwrap_or_default());
        (self.found, relation)
    }

    fn extent(&self, number: u64) -> Extent {
        Extent {
            segment: 0,
            address: self.places.ring + number % RING * KEPT_BYTES,
            bytes: KEPT_BYTES as usize,
        }
    }

    /// Keeps a tuple back.
    fn keep<T: Trace>(&mut self, trace: &mut T, input: Input) -> (u64, Input) {
        let number = self.gone + self.division.kept();
        let (place, site) = (self.extent(number), Site::KeptChange);
        let bytes = self
            .ring
            .store_bytes(trace, site, place, KEPT_WORDS, input.hashed);
        input.code.write(bytes, 0);
        // Enough of the address to be something: whoever lets go of the tuple has it.
        (input.tuple.value as u32).write(bytes, WORD as usize);
        (number, input)
    }

    /// A tuple is not kept back any longer.
    fn let_go<T: Trace>(&self, trace: &mut T, (number, input): (u64, Input)) -> Input {
        let (place, site) = (self.extent(number), Site::Kept);
        let kept = self
            .ring
            .load_bytes(trace, site, place, KEPT_WORDS, Dep::NONE);
        trace.work(LOOP);
        Input {
            code: u32::read(kept.value, 0),
            hashed: kept.token.after(0),
            tuple: kept.map(|_| input.tuple.value),
            // There is no room for it here.
            bytes: None,
        }
    }

    /// Puts tuples apart, unless there is no room for them: then that is known, and they are partitioned.
    fn put_apart<T: Trace>(
        &mut self,
        trace: &mut T,
        from: &Relation,
        (last, one): (Option<(u64, Input)>, Input),
    ) {
        let last = last.map(|kept| self.let_go(trace, kept));
        let tuples = 1 + u64::from(last.is_some());
        let overflows = self.found.out_of_order + tuples > self.room;
        trace.branch(Site::OrderBufferFull, overflows, Dep::NONE);
        if overflows {
            self.found.overflowed = true;
            self.left.extend(last);
            self.left.push_back(one);
            return;
        }
        self.found.out_of_order += tuples;
        let mut copies = Distribute {
            buffers: &mut self.buffer,
            interleaved: false,
        };
        last.into_iter()
            .chain([one])
            .for_each(|input| copies.append(trace, from, input));
    }
}

impl Inputs for Ordered {
    fn next<T: Trace>(&mut self, from: &mut Relation, trace: &mut T) -> Option<Input> {
        loop {
            if self.found.overflowed {
                // Those that were kept back, and the pair.
                let kept = self.division.give_back();
                let kept = kept.map(|kept| self.let_go(trace, kept));
                return kept
                    .or_else(|| self.left.pop_front())
                    .or_else(|| self.scan.next(from, trace));
            }
            let Some(input) = self.scan.next(from, trace) else {
                let kept = self.division.give_back();
                return kept.map(|kept| self.let_go(trace, kept));
            };
            // The key is still in a register; its hash code tells which it is.
            let key = key_of(input.code);
            trace.work(TEST);
            let ascends = key >= self.division.last();
            trace.branch(Site::InOrder, ascends, input.hashed);
            let numbered = if ascends {
                self.keep(trace, input)
            } else {
                (0, input)
            };
            match self.division.take(key, numbered) {
                Verdict::InOrder(None) => {}
                Verdict::InOrder(Some(kept)) => {
                    self.gone += 1;
                    return Some(self.let_go(trace, kept));
                }
                Verdict::OutOfOrder(last, (_, one)) => self.put_apart(trace, from, (last, one)),
            }
        }
    }
}
