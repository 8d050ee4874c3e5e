//! Moving elements of arrays, within a page or to another, as C's library functions do it.
//!
//! Section 3.5.1 tells three moves apart. `memcpy` serves those to other pages and those towards lower addresses. Those towards higher
//! addresses overlap what they read, and are done in one of two ways: [`UpwardMoves`].

use super::geometry::OFFSET_BYTES;
use super::page::Array;
use super::sites::MOVE;
use crate::pool::{Fixed, Pool, UpwardMoves};
use crate::sorted::moved;
use crate::tracer::Trace;
use crate::tree::ELEMENT;

/// Bytes of `memcpy`'s words.
const COPY_WORD: u32 = 8;

/// Moves `count` elements of an array within a page or to another.
#[inline]
pub(super) fn move_elements<T: Trace>(
    trace: &mut T,
    pool: &mut Pool,
    (from, first): (&Fixed, u32),
    (to, target): (&Fixed, u32),
    count: usize,
    element_bytes: u32,
) {
    let bytes = count as u32 * element_bytes;
    pool.copy((from, first), (to, target), bytes);
    let source = from.address + u64::from(first);
    let target_address = to.address + u64::from(target);
    if from.page != to.page || target <= first {
        return copied(trace, (source, target_address), bytes);
    }
    match pool.upward_moves() {
        UpwardMoves::Bytes => moved(trace, MOVE, (source, target_address), bytes as usize, 1),
        UpwardMoves::ThroughBuffer => {
            copied(trace, (source, pool.buffer()), bytes);
            copied(trace, (pool.buffer(), target_address), bytes);
        }
    }
}

/// Says that bytes are copied as by `memcpy`: in words, and by the smallest elements what is left.
#[inline]
fn copied<T: Trace>(trace: &mut T, (from, to): (u64, u64), bytes: u32) {
    let words = bytes / COPY_WORD;
    moved(trace, MOVE, (from, to), words as usize, COPY_WORD as u16);
    let rest = bytes % COPY_WORD / OFFSET_BYTES;
    if rest > 0 {
        let done = u64::from(words * COPY_WORD);
        let behind = (from + done, to + done);
        moved(trace, MOVE, behind, rest as usize, OFFSET_BYTES as u16);
    }
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
