//! What pages of every kind have: a header, arrays of keys and of IDs, and the ways to search and change them.

use super::Site;
use super::geometry::{ID_BYTES, OFFSET_BYTES};
use super::key::Key;
use super::sites::{MOVE, SEARCH};
use crate::place::Loaded;
use crate::pool::{Fixed, Pool};
use crate::sorted::{BOUNDS, LOOP_TEST, moved, upper_bound};
use crate::tracer::{Dep, Trace};
use crate::tree::ELEMENT;
use crate::word::Word;

/// Byte of a page's header with its number of entries.
pub(super) const COUNT: u32 = 0;
/// Byte of a page's header with the pageID of the next page of its level.
pub(super) const NEXT: u32 = 4;

/// Changing a number in a register.
pub(super) const STEP: u32 = 1;

/// A place among the entries of a page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Position {
    /// Byte of the in-page leaf node; 0 for pages without.
    pub node: u32,
    /// Entries of the page, or of the node, that are not above the key looked for.
    pub slot: usize,
    /// What the node's address waits for.
    pub dep: Dep,
}

/// Bytes of a page that hold an array.
#[derive(Clone, Copy, Debug)]
pub(super) struct Array {
    /// First byte.
    pub base: u32,
    /// Bytes of an element.
    pub bytes: u32,
}

impl Array {
    /// Byte of an element.
    #[inline]
    pub(super) fn at(self, index: usize) -> u32 {
        self.base + index as u32 * self.bytes
    }
}

/// Loads what a binary search wants of the key at a byte of a page.
#[inline]
pub(super) fn load_order<K: Key, T: Trace>(
    trace: &mut T,
    pool: &Pool,
    site: Site,
    page: &Fixed,
    offset: u32,
    dep: Dep,
) -> Loaded<K> {
    let token = trace.load(
        site,
        page.address + u64::from(offset),
        K::ORDER_BYTES,
        1,
        dep,
    );
    Loaded {
        value: pool.peek(page, offset),
        token,
    }
}

/// Loads the whole key at a byte of a page.
#[inline]
pub(super) fn load_key<K: Key, T: Trace>(
    trace: &mut T,
    pool: &Pool,
    site: Site,
    page: &Fixed,
    offset: u32,
    dep: Dep,
) -> Loaded<K> {
    let token = trace.load(
        site,
        page.address + u64::from(offset),
        K::BYTES as u16,
        K::WORDS,
        dep,
    );
    Loaded {
        value: pool.peek(page, offset),
        token,
    }
}

/// Stores a key at a byte of a page.
#[inline]
pub(super) fn store_key<K: Key, T: Trace>(
    trace: &mut T,
    pool: &mut Pool,
    site: Site,
    page: &Fixed,
    offset: u32,
    key: K,
) {
    trace.store(
        site,
        page.address + u64::from(offset),
        K::BYTES as u16,
        K::WORDS,
        Dep::NONE,
    );
    pool.poke(page, offset, key);
}

/// How many of the keys `from..to` of an array are not above `key`. `dep` is what the array's address waits for, `bounds` what `to` does.
#[inline(always)]
#[allow(
    clippy::too_many_arguments,
    reason = "an array, a range of it and what they wait for"
)]
pub(super) fn search<K: Key, T: Trace>(
    trace: &mut T,
    pool: &Pool,
    site: Site,
    page: &Fixed,
    keys: Array,
    (from, to): (usize, usize),
    (dep, bounds): (Dep, Dep),
    key: K,
) -> usize {
    trace.work(BOUNDS);
    upper_bound(
        trace,
        SEARCH,
        (from.min(to), to),
        bounds.later(LOOP_TEST as u8),
        K::COMPARE,
        |trace, middle| load_order(trace, pool, site, page, keys.at(middle), dep.later(1)),
        |found: &K| key < *found,
    )
}

/// Bytes of the words that move towards lower addresses, or to another page, as by `memcpy`.
const COPY_WORD: u32 = 8;

/// Moves `count` elements of an array within a page or to another.
///
/// Section 3.5.1 tells the two apart: `memcpy` serves moves to other pages and towards lower addresses; what moves towards higher ones is
/// much slower. Here the first are moved in words of 8 bytes, the latter element by element.
#[inline]
pub(super) fn move_elements<T: Trace>(
    trace: &mut T,
    pool: &mut Pool,
    (from, first): (&Fixed, u32),
    (to, target): (&Fixed, u32),
    count: usize,
    bytes: u32,
) {
    let total = count as u32 * bytes;
    pool.copy((from, first), (to, target), total);
    let upwards = from.page == to.page && target > first;
    let addresses = (
        from.address + u64::from(first),
        to.address + u64::from(target),
    );
    if upwards {
        let word = if bytes > COPY_WORD { ID_BYTES } else { bytes };
        return moved(trace, MOVE, addresses, (total / word) as usize, word as u16);
    }
    let words = total / COPY_WORD;
    moved(trace, MOVE, addresses, words as usize, COPY_WORD as u16);
    let done = u64::from(words * COPY_WORD);
    let rest = total % COPY_WORD / OFFSET_BYTES;
    if rest > 0 {
        let addresses = (addresses.0 + done, addresses.1 + done);
        moved(trace, MOVE, addresses, rest as usize, OFFSET_BYTES as u16);
    }
}

/// Makes room for an element of an array of `count`, or takes one out: moves those behind it.
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

/// Loads a field of a page's header.
#[inline]
pub(super) fn load_header<W: Word, T: Trace>(
    trace: &mut T,
    pool: &Pool,
    page: &Fixed,
    field: u32,
) -> Loaded<W> {
    pool.load(trace, Site::PageHeader, page, field, page.dep)
}

/// Stores a field of a page's header.
#[inline]
pub(super) fn store_header<W: Word, T: Trace>(
    trace: &mut T,
    pool: &mut Pool,
    page: &Fixed,
    field: u32,
    value: W,
) {
    trace.work(STEP);
    pool.store(trace, Site::PageHeaderStore, page, field, value);
}
