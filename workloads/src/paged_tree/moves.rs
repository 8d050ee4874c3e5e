//! Moving elements of arrays, within a page or to another.

use super::page::Array;
use super::sites::MOVE;
use crate::pool::{Fixed, Pool};
use crate::tracer::Trace;
use crate::tree::ELEMENT;

/// Moves `count` elements of an array within a page or to another.
#[inline]
pub(super) fn move_elements<T: Trace>(
    trace: &mut T,
    pool: &mut Pool,
    from: (&Fixed, u32),
    to: (&Fixed, u32),
    count: usize,
    element_bytes: u32,
) {
    pool.move_bytes(trace, MOVE, from, to, count as u32 * element_bytes);
}

/// Makes room for elements of an array, or takes some out: moves those in `range`, so that the first of them is element `to`.
#[inline]
pub(super) fn shift<T: Trace>(
    trace: &mut T,
    pool: &mut Pool,
    page: &Fixed,
    array: Array,
    range: (usize, usize),
    to: usize,
) {
    let (first, end) = range;
    trace.work(ELEMENT);
    move_elements(
        trace,
        pool,
        (page, array.at(first)),
        (page, array.at(to)),
        end - first,
        array.bytes,
    );
}
