//! One filter out of those of all threads: each thread makes a stripe of it.

use super::filters::{Filters, MASK};
use super::sites::Site;
use crate::arena::{Arena, Far};
use crate::board::Board;
use crate::join::costs::{COPY_STEP, COPY_STEP_BYTES};
use crate::page::copy_words;
use crate::place::{Extent, Loaded, Place};
use crate::tracer::{Dep, Token, Trace};
use crate::watch;
use std::ops::Range;
use std::sync::Arc;

/// How the filter is divided, and where it goes.
#[derive(Clone, Copy, Debug)]
pub(in crate::join) struct Merge {
    pub(in crate::join) base: u64,
    pub(in crate::join) bits: u32,
    pub(in crate::join) threads: u32,
    pub(in crate::join) line_bytes: u32,
    /// Whether the next line of every filter is prefetched.
    pub(in crate::join) ahead: bool,
}

impl Merge {
    /// Bytes of every stripe but the last ones: whole lines.
    fn stripe_bytes(self) -> u64 {
        let lines = self.bytes() / u64::from(self.line_bytes);
        lines.div_ceil(self.threads.into()) * u64::from(self.line_bytes)
    }

    fn bytes(self) -> u64 {
        u64::from(self.bits / u8::BITS)
    }

    /// The stripe of a thread: its bytes in a filter.
    fn stripe(self, thread: u32) -> Range<u64> {
        let until = |threads: u32| (self.stripe_bytes() * u64::from(threads)).min(self.bytes());
        until(thread)..until(thread + 1)
    }

    /// Makes the stripe of a thread out of the first filters of all.
    pub(in crate::join) fn run<T: Trace>(
        self,
        trace: &mut T,
        thread: u32,
        all: &[Arc<Filters>],
    ) -> Arena<Far> {
        let stripe = self.stripe(thread);
        let mut memory = Arena::of(self.base + stripe.start, stripe.end - stripe.start);
        for place in stripe.clone().step_by(COPY_STEP_BYTES as usize) {
            let line = u64::from(self.line_bytes);
            if self.ahead && place % line == 0 && place + line < stripe.end {
                for filters in all {
                    let next = filters.address(0) + place + line;
                    filters.prefetch_line(trace, Site::MergePrefetch, next);
                }
                let next = self.base + place + line;
                memory.prefetch(trace, Site::MergePrefetch, next, Dep::NONE);
            }
            watch::step(1);
            merge_step(trace, all, place, (&mut memory, self.base + place));
        }
        memory
    }

    /// The filter of all threads' stripes.
    pub(in crate::join) fn merged(self, board: &Board<Arena<Far>>) -> Merged {
        Merged {
            merge: self,
            stripes: board.all(),
        }
    }
}

/// Makes a few bytes of the merged filter.
fn merge_step<T: Trace>(
    trace: &mut T,
    all: &[Arc<Filters>],
    place: u64,
    (memory, to): (&mut Arena<Far>, u64),
) {
    let (mut merged, mut brought) = ([0; COPY_STEP_BYTES as usize], Token::NONE);
    for filters in all {
        let from = (filters.address(0) + place, COPY_STEP_BYTES);
        let part = filters.load(trace, Site::MergeRead, from, Dep::NONE);
        merged
            .iter_mut()
            .zip(part.value)
            .for_each(|(to, from)| *to |= from);
        brought = part.token;
        trace.work(COPY_STEP + u32::from(copy_words(merged.len())));
    }
    let target = Extent {
        segment: 0,
        address: to,
        bytes: merged.len(),
    };
    let words = copy_words(target.bytes);
    memory
        .store_bytes(trace, Site::MergeWrite, target, words, brought.after(1))
        .copy_from_slice(&merged);
}

/// The merged filter.
#[derive(Debug)]
pub(in crate::join) struct Merged {
    merge: Merge,
    stripes: Vec<Arc<Arena<Far>>>,
}

impl Merged {
    pub(in crate::join) fn bits(&self) -> u32 {
        self.merge.bits
    }

    /// The word that holds a bit, and in whose stripe it is.
    fn word(&self, bit: u32) -> (&Arena<Far>, Place<u32>) {
        let byte = u64::from(bit / u32::BITS) * 4;
        let stripe = byte / self.merge.stripe_bytes();
        let place = Place::new(0, self.merge.base + byte);
        (&self.stripes[stripe as usize], place)
    }

    /// Prefetches the words of a key's bits.
    pub(in crate::join) fn prefetch<T: Trace>(
        &self,
        trace: &mut T,
        bits: impl IntoIterator<Item = (u32, Dep)>,
    ) {
        for (bit, waits) in bits {
            let (memory, place) = self.word(bit);
            memory.prefetch(trace, Site::TestPrefetch, place.address, waits);
        }
    }

    /// Whether all bits of a key are set.
    pub(in crate::join) fn test<T: Trace>(
        &self,
        trace: &mut T,
        bits: impl IntoIterator<Item = (u32, Dep)>,
    ) -> Loaded<bool> {
        let none = Loaded {
            value: true,
            token: Token::NONE,
        };
        bits.into_iter().fold(none, |all, (bit, waits)| {
            let (memory, place) = self.word(bit);
            let word = memory.load(trace, Site::TestRead, place, waits);
            trace.work(MASK);
            word.map(|word| all.value && word >> (bit % u32::BITS) & 1 == 1)
        })
    }
}
