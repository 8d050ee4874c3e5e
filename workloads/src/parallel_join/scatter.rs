//! Scattering: each tuple to the next place of its partition.

use super::costs::{ADD, HASH};
use super::loops::{last_tuple, next_tuple};
use super::passes::Pass;
use super::sites::Site;
use super::tuple_word::{TUPLE_WORDS, TupleWord};
use crate::shared::Shared;
use crate::tracer::{Dep, Trace};
use std::ops::Range;

/// The tuples that are scattered, and where to.
#[derive(Clone, Debug)]
pub(super) struct Flow<'m, W: TupleWord> {
    pub(super) pass: Pass,
    pub(super) from: &'m Shared<W>,
    pub(super) own: Range<usize>,
    pub(super) to: &'m Shared<W>,
    /// Where in `to` the thread's tuples of each partition begin, from a counter on.
    pub(super) offsets: (&'m Shared<u32>, usize),
}

/// Scatters tuple by tuple; `places` are where the next of each partition goes, from a counter on.
pub(super) fn scatter<W: TupleWord, T: Trace>(
    trace: &mut T,
    flow: &Flow<'_, W>,
    (places, row): (&Shared<u32>, usize),
) {
    let (offsets, first) = flow.offsets;
    for partition in 0..flow.pass.fan_out() {
        let begins = offsets.load(trace, Site::Offsets, first + partition, Dep::NONE);
        let known = begins.token.after(0);
        places.store(
            trace,
            Site::PlaceChange,
            row + partition,
            begins.value,
            known,
        );
    }
    for tuple in flow.own.clone() {
        let site = Site::ScatterTuple;
        let from = flow.from;
        let loaded = from.load_many::<T, TUPLE_WORDS>(trace, site, tuple * TUPLE_WORDS, Dep::NONE);
        trace.work(HASH.into());
        let counter = row + flow.pass.of(loaded.value[0].to_u64());
        let place = places.load(trace, Site::Place, counter, loaded.token.after(HASH));
        let to = place.value as usize * TUPLE_WORDS;
        let known = place.token.after(1);
        trace.work(ADD);
        flow.to
            .store_many(trace, Site::Scatter, to, &loaded.value, known);
        trace.work(ADD);
        places.store(trace, Site::PlaceChange, counter, place.value + 1, known);
        next_tuple(trace);
    }
    last_tuple(trace);
}
