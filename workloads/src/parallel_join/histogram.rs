//! Histograms: how many tuples of each partition a thread has, and where they go.

use super::costs::{ADD, ADD_LINE, HASH};
use super::loops::{last_tuple, next_tuple};
use super::passes::Pass;
use super::sites::Site;
use super::tuple_word::{TUPLE_WORDS, TupleWord};
use crate::shared::{Shared, WIDEST_BYTES};
use crate::tracer::{Dep, Trace};
use std::ops::Range;

/// Counters of a line.
const LINE: usize = 16;

/// Counts the tuples of each partition.
pub(super) fn count<W: TupleWord, T: Trace>(
    trace: &mut T,
    pass: Pass,
    (tuples, own): (&Shared<W>, Range<usize>),
    (histogram, row): (&Shared<u32>, usize),
) {
    histogram.clear(trace, Site::HistogramClear, row, pass.fan_out());
    for tuple in own {
        let key = tuples.load(trace, Site::HistogramKey, tuple * TUPLE_WORDS, Dep::NONE);
        trace.work(HASH.into());
        let place = row + pass.of(key.value.to_u64());
        let count = histogram.load(trace, Site::Histogram, place, key.token.after(HASH));
        trace.work(ADD);
        let counted = count.token.after(1);
        histogram.store(
            trace,
            Site::HistogramChange,
            place,
            count.value + 1,
            counted,
        );
        next_tuple(trace);
    }
    last_tuple(trace);
}

/// Makes each counter of a thread's histogram the sum of those up to it.
pub(super) fn add_up<T: Trace>(trace: &mut T, pass: Pass, (histogram, row): (&Shared<u32>, usize)) {
    let mut sum = 0;
    for place in row..row + pass.fan_out() {
        let count = histogram.load(trace, Site::PrefixSum, place, Dep::NONE);
        sum += count.value;
        trace.work(ADD);
        histogram.store(
            trace,
            Site::PrefixSumChange,
            place,
            sum,
            count.token.after(1),
        );
    }
}

/// Where a thread's tuples of each partition begin, from the sums of all threads' histograms: behind all tuples of partitions before, of all threads,
/// and those of the threads before it. So many more tuples are left free before each partition than before the one in front of it.
pub(super) fn offsets<T: Trace>(
    trace: &mut T,
    pass: Pass,
    (histograms, rows): (&Shared<u32>, &[usize]),
    (thread, padding): (usize, usize),
    (offsets, own): (&Shared<u32>, usize),
) {
    let fan_out = pass.fan_out();
    offsets.clear(trace, Site::OffsetsChange, own, fan_out);
    for (number, &row) in rows.iter().enumerate() {
        // Of threads before it the tuples of this partition count, too.
        let up_to = usize::from(number < thread);
        for first in (0..fan_out).step_by(LINE) {
            let counters = LINE.min(fan_out - first);
            add_line(
                trace,
                (histograms, row + first),
                (offsets, own + first),
                counters,
            );
            for place in first..first + counters {
                let sum = (place + up_to).checked_sub(1);
                let sum = sum.map_or(0, |before| histograms.get(row + before));
                offsets.set(own + place, offsets.get(own + place) + sum);
            }
        }
    }
    for place in 0..fan_out {
        let sum = offsets.load(trace, Site::Offsets, own + place, Dep::NONE);
        trace.work(ADD);
        let moved = sum.value + (place * padding) as u32;
        offsets.store(
            trace,
            Site::OffsetsChange,
            own + place,
            moved,
            sum.token.after(1),
        );
    }
}

/// Adds counters of a line to others, by the widest instructions.
fn add_line<T: Trace>(
    trace: &mut T,
    (from, line): (&Shared<u32>, usize),
    (to, own): (&Shared<u32>, usize),
    counters: usize,
) {
    let bytes = (counters * size_of::<u32>()) as u16;
    let words = bytes.div_ceil(WIDEST_BYTES as u16);
    let sums = trace.load(
        Site::AllHistograms,
        from.address(line),
        bytes,
        words,
        Dep::NONE,
    );
    trace.load(Site::Offsets, to.address(own), bytes, words, Dep::NONE);
    trace.work(ADD_LINE);
    trace.store(
        Site::OffsetsChange,
        to.address(own),
        bytes,
        words,
        sums.after(1),
    );
}
