//! Pages with an array of keys and one of pageIDs or tupleIDs, and a micro-index if wanted (thesis sections 3.3.1 and 3.3.2).

use super::Site;
use super::check::{Fault, holds};
use super::format::{Format, Listing, Scan};
use super::geometry::{ID_BYTES, MicroIndexPage, PAGE_HEADER_BYTES, PageSizes, array_fanout};
use super::key::Key;
use super::moves::{move_elements, shift};
use super::page::{
    Array, COUNT, Position, STEP, load_header, load_key, load_order, search, store_header,
    store_key,
};
use crate::place::Loaded;
use crate::pool::{Fixed, Pool};
use crate::tracer::{Dep, Trace};
use crate::tree::ELEMENT;
use crate::tree::scan::LEAF;

/// Number of a sub-array and its first key: divide by a constant (multiply, shift), multiply.
const SUBARRAY: u32 = 3;

/// A small array of the first keys of sub-arrays, prefetched before it is searched, as the sub-array is then.
#[derive(Clone, Copy, Debug)]
struct MicroIndex {
    keys: Array,
    /// Keys of a sub-array.
    each: usize,
}

/// The format of a page.
#[derive(Clone, Copy, Debug)]
pub struct ArrayPage {
    fanout: usize,
    keys: Array,
    ids: Array,
    micro: Option<MicroIndex>,
    line: u32,
}

impl ArrayPage {
    /// Arrays behind a header of one line.
    #[must_use]
    pub fn new(sizes: &PageSizes) -> Self {
        Self::at(sizes, array_fanout(sizes), sizes.line, None)
    }

    /// Arrays behind header and micro-index.
    #[must_use]
    pub fn with_micro_index(sizes: &PageSizes, page: MicroIndexPage) -> Self {
        let micro = MicroIndex {
            keys: Array {
                base: PAGE_HEADER_BYTES,
                bytes: sizes.key,
            },
            each: page.subarray_keys as usize,
        };
        Self::at(sizes, page.fanout, page.keys, Some(micro))
    }

    fn at(sizes: &PageSizes, fanout: u32, keys: u32, micro: Option<MicroIndex>) -> Self {
        Self {
            fanout: fanout as usize,
            keys: Array {
                base: keys,
                bytes: sizes.key,
            },
            ids: Array {
                base: keys + fanout * sizes.key,
                bytes: ID_BYTES,
            },
            micro,
            line: sizes.line,
        }
    }

    /// Prefetches the lines of elements `first..end` of an array.
    fn prefetch<T: Trace>(
        &self,
        trace: &mut T,
        pool: &Pool,
        page: &Fixed,
        array: Array,
        (first, end): (usize, usize),
        dep: Dep,
    ) {
        let start = array.at(first) / self.line * self.line;
        let lines = (array.at(end) - start).div_ceil(self.line);
        pool.prefetch(
            trace,
            Site::SubarrayPrefetch,
            page,
            (start, lines, self.line),
            dep,
        );
    }

    /// The keys among which the one looked for is: the sub-array that the micro-index says, or all.
    #[inline]
    fn part<K: Key, T: Trace>(
        &self,
        trace: &mut T,
        pool: &Pool,
        page: &Fixed,
        key: K,
        first: usize,
    ) -> ((usize, usize), Dep) {
        let Some(micro) = self.micro else {
            let count: Loaded<u16> = load_header(trace, pool, page, COUNT);
            return ((first, count.value.into()), count.token.after(0));
        };
        let lines = self.keys.base / self.line;
        pool.prefetch(
            trace,
            Site::MicroPrefetch,
            page,
            (0, lines, self.line),
            page.dep,
        );
        let count: Loaded<u16> = load_header(trace, pool, page, COUNT);
        let entries = usize::from(count.value);
        trace.work(SUBARRAY);
        let subarrays = entries.div_ceil(micro.each);
        let deps = (page.dep, count.token.after(SUBARRAY as u8));
        // The first sub-array is left, whatever its first key is.
        let above = search(
            trace,
            pool,
            Site::MicroKey,
            page,
            micro.keys,
            (1, subarrays),
            deps,
            key,
        );
        let start = above.saturating_sub(1) * micro.each;
        let end = entries.min(start + micro.each);
        trace.work(SUBARRAY + STEP);
        // Keys and IDs at once, as in a node of a prefetching B+-tree (thesis sections 2.2 and 3.4.1).
        for array in [self.keys, self.ids] {
            self.prefetch(trace, pool, page, array, (start, end), page.dep);
        }
        // Its first key is not above the one looked for, as the micro-index has shown.
        let shown = usize::from(start > 0).max(first);
        ((start + shown, end), Dep::NONE)
    }

    /// Makes the micro-index right from the sub-array of entry `slot` on.
    fn refresh<K: Key, T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
        slot: usize,
        count: usize,
    ) {
        let Some(micro) = self.micro else {
            return;
        };
        trace.work(SUBARRAY);
        let subarrays = count.div_ceil(micro.each);
        let first = slot.div_ceil(micro.each);
        trace.branch(Site::MicroLoop, first < subarrays, Dep::NONE);
        for number in first..subarrays {
            let from = self.keys.at(number * micro.each);
            let key: Loaded<K> = load_key(trace, pool, Site::MicroLoad, page, from, Dep::NONE);
            store_key(
                trace,
                pool,
                Site::MicroStore,
                page,
                micro.keys.at(number),
                key.value,
                key.token.after(0),
            );
            trace.work(2 * STEP);
            trace.branch(Site::MicroLoop, number + 1 < subarrays, Dep::NONE);
        }
    }
}

impl Listing for ArrayPage {
    fn id<T: Trace>(
        &self,
        trace: &mut T,
        pool: &Pool,
        page: &Fixed,
        position: Position,
    ) -> Loaded<u32> {
        trace.work(ELEMENT);
        let place = self.ids.at(position.slot - 1);
        pool.load(trace, Site::ArrayId, page, place, page.dep.later(1))
    }
}

impl<K: Key> Format<K> for ArrayPage {
    fn fanout(&self) -> usize {
        self.fanout
    }

    fn build<T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
        entries: &[(K, u32)],
        _leaf: bool,
    ) {
        for (slot, &(key, id)) in entries.iter().enumerate() {
            let (keys, ids) = (self.keys.at(slot), self.ids.at(slot));
            store_key(trace, pool, Site::KeyStore, page, keys, key, Dep::NONE);
            pool.store(trace, Site::IdStore, page, ids, id, Dep::NONE);
        }
        store_header(trace, pool, page, COUNT, entries.len() as u16, Dep::NONE);
        self.refresh::<K, T>(trace, pool, page, 0, entries.len());
    }

    #[inline]
    fn find<T: Trace>(
        &self,
        trace: &mut T,
        pool: &Pool,
        page: &Fixed,
        key: K,
        first: usize,
    ) -> Position {
        let (range, bounds) = self.part(trace, pool, page, key, first);
        let deps = (page.dep, bounds);
        Position {
            node: 0,
            slot: search(
                trace,
                pool,
                Site::ArrayKey,
                page,
                self.keys,
                range,
                deps,
                key,
            ),
            dep: page.dep,
        }
    }

    #[inline]
    fn key<T: Trace>(
        &self,
        trace: &mut T,
        pool: &Pool,
        page: &Fixed,
        position: Position,
    ) -> Loaded<K> {
        let place = self.keys.at(position.slot - 1);
        load_key(trace, pool, Site::FoundKey, page, place, page.dep.later(1))
    }

    #[inline]
    fn set_id<T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
        position: Position,
        id: u32,
    ) {
        pool.store(
            trace,
            Site::IdStore,
            page,
            self.ids.at(position.slot - 1),
            id,
            Dep::NONE,
        );
    }

    fn insert<T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
        position: Position,
        key: Loaded<K>,
        id: u32,
    ) -> bool {
        let count: Loaded<u16> = load_header(trace, pool, page, COUNT);
        let entries = usize::from(count.value);
        trace.work(STEP);
        trace.branch(Site::Full, entries == self.fanout, count.token.after(1));
        if entries == self.fanout {
            return false;
        }
        let slot = position.slot;
        for array in [self.keys, self.ids] {
            shift(trace, pool, page, array, (slot, entries), slot + 1);
        }
        let (place, dep) = (self.keys.at(slot), key.token.after(0));
        store_key(trace, pool, Site::KeyStore, page, place, key.value, dep);
        let place = self.ids.at(slot);
        pool.store(trace, Site::IdStore, page, place, id, Dep::NONE);
        let dep = count.token.after(1);
        store_header(trace, pool, page, COUNT, count.value + 1, dep);
        self.refresh::<K, T>(trace, pool, page, slot, entries + 1);
        true
    }

    fn split<T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
        right: &Fixed,
    ) -> Loaded<K> {
        let count: Loaded<u16> = load_header(trace, pool, page, COUNT);
        let entries = usize::from(count.value);
        let keep = entries.div_ceil(2);
        for array in [self.keys, self.ids] {
            trace.work(2 * ELEMENT);
            let (from, to) = (array.at(keep), array.at(0));
            move_elements(
                trace,
                pool,
                (page, from),
                (right, to),
                entries - keep,
                array.bytes,
            );
        }
        // Half of the entries: add, shift; and the rest: subtract.
        let dep = count.token.after(2);
        store_header(trace, pool, page, COUNT, keep as u16, dep);
        let moved = (entries - keep) as u16;
        store_header(trace, pool, right, COUNT, moved, dep.later(1));
        self.refresh::<K, T>(trace, pool, right, 0, entries - keep);
        load_key(
            trace,
            pool,
            Site::FoundKey,
            right,
            self.keys.at(0),
            Dep::NONE,
        )
    }

    fn remove<T: Trace>(&self, trace: &mut T, pool: &mut Pool, page: &Fixed, position: Position) {
        let count: Loaded<u16> = load_header(trace, pool, page, COUNT);
        let entries = usize::from(count.value);
        let slot = position.slot - 1;
        for array in [self.keys, self.ids] {
            shift(trace, pool, page, array, (slot + 1, entries), slot);
        }
        let dep = count.token.after(1);
        store_header(trace, pool, page, COUNT, count.value - 1, dep);
        self.refresh::<K, T>(trace, pool, page, slot, entries - 1);
    }

    fn scan<T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
        from: Position,
        scan: &mut Scan<'_, K>,
    ) -> bool {
        let count: Loaded<u16> = load_header(trace, pool, page, COUNT);
        let entries = usize::from(count.value);
        trace.work(LEAF);
        trace.branch(Site::ScanLoop, from.slot < entries, count.token.after(2));
        for slot in from.slot..entries {
            let dep = page.dep.later(1);
            let key = load_order(trace, pool, Site::ArrayKey, page, self.keys.at(slot), dep);
            if scan.taker.is_beyond(trace, key) {
                return true;
            }
            let id = pool.load(trace, Site::ArrayId, page, self.ids.at(slot), dep);
            if scan.taker.take(trace, id, slot + 1 < entries) {
                return true;
            }
        }
        false
    }

    fn entries(&self, pool: &Pool, page: &Fixed, _leaf: bool) -> Result<Vec<(K, u32)>, Fault> {
        let count = usize::from(pool.peek::<u16>(page, COUNT));
        holds(page.page, count <= self.fanout, || {
            format!("it has {count} entries, and room for {}", self.fanout)
        })?;
        let entry = |slot| {
            (
                pool.peek(page, self.keys.at(slot)),
                pool.peek(page, self.ids.at(slot)),
            )
        };
        let entries: Vec<(K, u32)> = (0..count).map(entry).collect();
        if let Some(micro) = self.micro {
            let mut firsts = entries.iter().step_by(micro.each).enumerate();
            let same = firsts.all(|(number, first)| {
                let copy: K = pool.peek(page, micro.keys.at(number));
                copy == first.0
            });
            holds(page.page, same, || {
                "its micro-index has other keys than its sub-arrays begin with".into()
            })?;
        }
        Ok(entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nothing of a page overlaps or leaves it.
    #[test]
    fn arrays_fit_the_page() {
        for (page, key) in [(4096, 4), (8192, 8), (32768, 20), (16384, 4)] {
            let sizes = PageSizes {
                page,
                key,
                line: 64,
            };
            let plain = ArrayPage::new(&sizes);
            let mut pages = vec![plain];
            pages.extend((1..8).filter_map(|lines| {
                MicroIndexPage::new(&sizes, lines)
                    .map(|page| ArrayPage::with_micro_index(&sizes, page))
            }));
            for format in pages {
                assert!(format.ids.at(format.fanout) <= page);
                if let Some(micro) = format.micro {
                    assert!(micro.keys.at(format.fanout.div_ceil(micro.each)) <= format.keys.base);
                }
                assert_eq!(format.keys.at(1) - format.keys.at(0), key);
            }
        }
        assert_eq!(size_of::<u32>(), ID_BYTES as usize);
    }
}
