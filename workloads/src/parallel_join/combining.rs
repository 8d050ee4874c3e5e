//! Scattering through buffers: a line of tuples for each partition, written as a whole when it is full, so that pages of partitions are touched once
//! for all tuples of a line (software write-combining).
//!
//! A buffer's last word is the place of the partition's next tuple until the last tuple of the line comes, as in the published program. That writes
//! whole lines past the caches, by non-temporal stores, which is a choice here; the parts of lines at both ends of a thread's part of a partition
//! go through the caches.

use super::costs::{ADD, COMPARE, HASH};
use super::loops::{last_tuple, next_tuple};
use super::scatter::Flow;
use super::sites::Site;
use super::tuple_word::{TUPLE_WORDS, TupleWord};
use crate::shared::{Shared, fence};
use crate::tracer::{Dep, Trace};

/// A thread's buffers, from a word on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Combining<'m, W: TupleWord> {
    pub(super) buffers: &'m Shared<W>,
    pub(super) row: usize,
    /// Whether whole lines are written past the caches.
    pub(super) non_temporal: bool,
}

impl<W: TupleWord> Combining<'_, W> {
    /// Tuples of a line.
    const LINE_TUPLES: usize = W::LINE_WORDS / TUPLE_WORDS;
    /// The word of a buffer in which the place is.
    const PLACE: usize = W::LINE_WORDS - 1;

    fn buffer(self, partition: usize) -> usize {
        self.row + partition * W::LINE_WORDS
    }

    /// Scatters a thread's tuples.
    pub(super) fn scatter<T: Trace>(self, trace: &mut T, flow: &Flow<'_, W>) {
        let buffers = self.buffers;
        let (offsets, first) = flow.offsets;
        for partition in 0..flow.pass.fan_out() {
            let begins = offsets.load(trace, Site::Offsets, first + partition, Dep::NONE);
            let place = W::from_u64(begins.value.into());
            let known = begins.token.after(0);
            let word = self.buffer(partition) + Self::PLACE;
            buffers.store(trace, Site::BufferPlaceChange, word, place, known);
        }
        for tuple in flow.own.clone() {
            let site = Site::ScatterTuple;
            let from = flow.from;
            let loaded =
                from.load_many::<T, TUPLE_WORDS>(trace, site, tuple * TUPLE_WORDS, Dep::NONE);
            trace.work(HASH.into());
            let partition = flow.pass.of(loaded.value[0].to_u64());
            let buffer = self.buffer(partition);
            let waits = loaded.token.after(HASH + 1);
            let place = buffers.load(trace, Site::BufferPlace, buffer + Self::PLACE, waits);
            let next = place.value.to_u64() as usize;
            let within = next % Self::LINE_TUPLES;
            let known = place.token.after(2);
            trace.work(2 * ADD);
            let slot = buffer + within * TUPLE_WORDS;
            buffers.store_many(trace, Site::BufferFill, slot, &loaded.value, known);
            let full = within == Self::LINE_TUPLES - 1;
            trace.work(COMPARE);
            trace.branch(Site::BufferFull, full, known);
            if full {
                self.write(trace, flow, partition, next + 1);
            }
            trace.work(ADD);
            let moved = W::from_u64(next as u64 + 1);
            buffers.store(
                trace,
                Site::BufferPlaceChange,
                buffer + Self::PLACE,
                moved,
                known,
            );
            next_tuple(trace);
        }
        last_tuple(trace);
        for partition in 0..flow.pass.fan_out() {
            let word = self.buffer(partition) + Self::PLACE;
            let place = buffers.load(trace, Site::BufferPlace, word, Dep::NONE);
            let end = place.value.to_u64() as usize;
            let left = !end.is_multiple_of(Self::LINE_TUPLES);
            trace.work(COMPARE);
            trace.branch(Site::BufferFull, left, place.token.after(1));
            if left {
                self.write(trace, flow, partition, end);
            }
        }
        if self.non_temporal {
            fence::<T>();
        }
    }

    /// Writes what a buffer has of the line up to a place, from where the thread's part of the partition begins.
    fn write<T: Trace>(self, trace: &mut T, flow: &Flow<'_, W>, partition: usize, end: usize) {
        let line = (end - 1) / Self::LINE_TUPLES * Self::LINE_TUPLES;
        let (offsets, first) = flow.offsets;
        let begins = offsets.load(trace, Site::Offsets, first + partition, Dep::NONE);
        let first = line.max(begins.value as usize);
        trace.work(COMPARE);
        trace.branch(Site::BufferBegins, first > line, begins.token.after(1));
        if first >= end {
            return;
        }
        let from = self.buffer(partition);
        let buffer = W::load_line(self.buffers, trace, Site::BufferRead, from);
        let words =
            &buffer.value.as_ref()[(first - line) * TUPLE_WORDS..(end - line) * TUPLE_WORDS];
        let read = buffer.token.after(0);
        let to = first * TUPLE_WORDS;
        let site = Site::BufferWrite;
        if self.non_temporal && flow.to.is_line(to, words.len()) {
            flow.to.store_line_nta(trace, site, to, words, read);
        } else {
            flow.to.store_many(trace, site, to, words, read);
        }
    }
}
