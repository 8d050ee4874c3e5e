//! What pages of every kind have: a header, arrays of keys and of IDs, and the ways to search them.

use super::Site;
use super::key::Key;
use super::sites::SEARCH;
use crate::place::Loaded;
use crate::pool::{Fixed, Pool};
use crate::sorted::{BOUNDS, LOOP_TEST, upper_bound};
use crate::tracer::{Dep, Trace};
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

/// Stores a key at a byte of a page; `dep` is what it waits for.
#[inline]
pub(super) fn store_key<K: Key, T: Trace>(
    trace: &mut T,
    pool: &mut Pool,
    site: Site,
    page: &Fixed,
    offset: u32,
    key: K,
    dep: Dep,
) {
    trace.store(
        site,
        page.address + u64::from(offset),
        K::BYTES as u16,
        K::WORDS,
        dep,
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

/// The position behind the next entry of a page that counts its entries in its header; none if there is no more.
pub(super) fn another<T: Trace>(
    trace: &mut T,
    pool: &Pool,
    page: &Fixed,
    position: Position,
) -> Option<Position> {
    let count: Loaded<u16> = load_header(trace, pool, page, COUNT);
    let more = position.slot < usize::from(count.value);
    trace.work(STEP);
    trace.branch(Site::AnotherPage, more, count.token.after(1));
    more.then_some(Position {
        slot: position.slot + 1,
        ..position
    })
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

/// Stores a field of a page's header; `dep` is what the value waits for.
#[inline]
pub(super) fn store_header<W: Word, T: Trace>(
    trace: &mut T,
    pool: &mut Pool,
    page: &Fixed,
    field: u32,
    value: W,
    dep: Dep,
) {
    trace.work(STEP);
    pool.store(trace, Site::PageHeaderStore, page, field, value, dep);
}
