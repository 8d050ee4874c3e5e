//! Copying tuples, attribute by attribute.

use super::costs::{COPY_CALL, COPY_STEP, COPY_STEP_BYTES};
use super::limits::WORD;
use super::relation::{Length, Relation};
use super::sites::Site;
use crate::arena::{Arena, Far};
use crate::page::copy_words;
use crate::place::Extent;
use crate::tracer::{Dep, Trace};

/// Bytes of a key: the first attribute of a tuple; the rest of it is the second.
pub(super) const KEY: u32 = WORD;

/// Where a copy goes.
#[derive(Debug)]
pub(super) struct Target<'m> {
    pub(super) memory: &'m mut Arena<Far>,
    pub(super) address: u64,
    /// Whether it goes past the caches.
    pub(super) non_temporal: bool,
}

impl<'m> Target<'m> {
    /// An address that is written through the caches.
    pub(super) fn cached(memory: &'m mut Arena<Far>, address: u64) -> Self {
        Self {
            memory,
            address,
            non_temporal: false,
        }
    }
}

/// Copies both attributes of a tuple, whose address waits for something. If lengths differ, the loop of the second attribute
/// ends where nobody could know before.
pub(super) fn copy_tuple<T: Trace>(
    trace: &mut T,
    (read, write): (Site, Site),
    (from, tuple, waits): (&Relation, u64, Dep),
    length: Length,
    to: Target<'_>,
) {
    let varies = from.format.varies();
    for (first, end) in [(0, KEY), (KEY, length.bytes)] {
        trace.work(COPY_CALL / 2);
        let mut place = first;
        while place < end {
            let step = COPY_STEP_BYTES.min(end - place);
            trace.work(COPY_STEP);
            let loaded = from.load(trace, read, tuple + u64::from(place), step, waits);
            let target = Extent {
                segment: 0,
                address: to.address + u64::from(place),
                bytes: step as usize,
            };
            let (words, brought) = (copy_words(target.bytes), loaded.token.after(0));
            if to.non_temporal {
                let stored = (words, loaded.value);
                to.memory.copy_nta(trace, write, target, stored, brought);
            } else {
                let written = to.memory.store_bytes(trace, write, target, words, brought);
                written.copy_from_slice(loaded.value);
            }
            place += step;
            if varies && first > 0 {
                trace.branch(write, place < end, length.known);
            }
        }
        trace.work(COPY_CALL / 2);
    }
}

/// A number that stands for what a tuple was found to be, as keys and numbers are.
pub(super) fn of_words(words: impl IntoIterator<Item = u64>) -> u64 {
    // Multiplied by the golden ratio in between, so that no two words can change places.
    words.into_iter().fold(0, |mixed: u64, word| {
        (mixed ^ word)
            .wrapping_mul(0x9E37_79B9_7F4A_7C15)
            .rotate_left(29)
    })
}
