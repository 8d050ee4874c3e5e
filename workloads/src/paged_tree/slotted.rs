//! Slotted pages: entries anywhere, and slots at the end of the page, in descending order of keys from its last byte backwards, that point
//! to them (thesis section 3.3.1).
//!
//! Insertion takes the place of an entry that was deleted or moved, or else the next place never used; entries are never compacted, since
//! all have one size.

use super::Site;
use super::check::{Fault, holds};
use super::format::{Format, Listing, Scan};
use super::geometry::{OFFSET_BYTES, PageSizes, slotted_fanout};
use super::key::Key;
use super::moves::move_elements;
use super::page::{
    Array, COUNT, Position, STEP, load_header, load_key, load_order, store_header, store_key,
};
use super::sites::SEARCH;
use crate::place::Loaded;
use crate::pool::{Fixed, Pool};
use crate::sorted::{BOUNDS, LOOP_TEST, upper_bound};
use crate::tracer::{Dep, Trace};
use crate::tree::ELEMENT;
use crate::tree::scan::LEAF;

/// Byte of the header with the first entry that is free again; 0 if none is.
const FREED: u32 = 8;
/// Byte of the header with the entries' places that were ever used.
const USED: u32 = 10;
/// Address of a slot: shift, subtract from the page's end.
const SLOT: u32 = 2;

/// The format of a page.
#[derive(Clone, Copy, Debug)]
pub struct SlottedPage {
    fanout: usize,
    entries: Array,
    key_bytes: u32,
    page_bytes: u32,
}

impl SlottedPage {
    /// Entries behind a header of one line.
    #[must_use]
    pub fn new(sizes: &PageSizes) -> Self {
        Self {
            fanout: slotted_fanout(sizes) as usize,
            entries: Array {
                base: sizes.line,
                bytes: sizes.entry(),
            },
            key_bytes: sizes.key,
            page_bytes: sizes.page,
        }
    }

    /// Byte of the page with slot `slot`.
    #[inline]
    fn slot(&self, slot: usize) -> u32 {
        self.page_bytes - (slot as u32 + 1) * OFFSET_BYTES
    }

    /// Loads a slot: the byte of an entry.
    #[inline]
    fn load_slot<T: Trace>(
        &self,
        trace: &mut T,
        pool: &Pool,
        page: &Fixed,
        slot: usize,
    ) -> Loaded<u16> {
        trace.work(pool.program().entry_call);
        pool.load(trace, Site::Slot, page, self.slot(slot), page.dep.later(1))
    }

    /// Loads the ID of the entry that a slot points to.
    #[inline]
    fn load_id<T: Trace>(
        &self,
        trace: &mut T,
        pool: &Pool,
        page: &Fixed,
        entry: Loaded<u16>,
    ) -> Loaded<u32> {
        let place = u32::from(entry.value) + self.key_bytes;
        pool.load(trace, Site::SlottedId, page, place, entry.token.after(1))
    }

    /// A place for an entry, and what it waits for: there is one while the page is not full.
    fn take_place<T: Trace>(&self, trace: &mut T, pool: &mut Pool, page: &Fixed) -> (u16, Dep) {
        let freed: Loaded<u16> = load_header(trace, pool, page, FREED);
        trace.branch(Site::SpaceLeft, freed.value > 0, freed.token.after(1));
        if freed.value > 0 {
            let next: Loaded<u16> = pool.load(
                trace,
                Site::FreeEntry,
                page,
                freed.value.into(),
                freed.token.after(1),
            );
            store_header(trace, pool, page, FREED, next.value, next.token.after(0));
            return (freed.value, freed.token.after(0));
        }
        let used: Loaded<u16> = load_header(trace, pool, page, USED);
        trace.work(ELEMENT);
        let dep = used.token.after(1);
        store_header(trace, pool, page, USED, used.value + 1, dep);
        let place = self.entries.at(used.value.into()) as u16;
        (place, used.token.after(ELEMENT as u8))
    }

    /// Stores an entry, as by a call that copies it: what was not loaded waits for its place.
    fn store_entry<K: Key, T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
        (place, waits): (u16, Dep),
        (key, id): (Loaded<K>, Loaded<u32>),
    ) {
        trace.work(pool.program().entry_call + pool.program().copy_call);
        store_key(
            trace,
            pool,
            Site::SlottedStore,
            page,
            place.into(),
            key.value,
            key.token.after(0).or(waits),
        );
        pool.store(
            trace,
            Site::SlottedStore,
            page,
            u32::from(place) + self.key_bytes,
            id.value,
            id.token.after(0).or(waits),
        );
    }

    /// Moves slots `first..end` so that the first of them is slot `to`.
    fn shift<T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
        (first, end): (usize, usize),
        to: usize,
    ) {
        let count = end - first;
        trace.work(SLOT);
        if count == 0 {
            return move_elements(
                trace,
                pool,
                (page, self.slot(0)),
                (page, self.slot(0)),
                0,
                OFFSET_BYTES,
            );
        }
        let (from, to) = (self.slot(end - 1), self.slot(to + count - 1));
        move_elements(trace, pool, (page, from), (page, to), count, OFFSET_BYTES);
    }
}

impl Listing for SlottedPage {
    fn id<T: Trace>(
        &self,
        trace: &mut T,
        pool: &Pool,
        page: &Fixed,
        position: Position,
    ) -> Loaded<u32> {
        let entry = self.load_slot(trace, pool, page, position.slot - 1);
        trace.work(SLOT + STEP);
        self.load_id(trace, pool, page, entry)
    }
}

impl<K: Key> Format<K> for SlottedPage {
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
        for (number, &(key, id)) in entries.iter().enumerate() {
            let place = self.entries.at(number) as u16;
            let entry = (Loaded::constant(key), Loaded::constant(id));
            self.store_entry(trace, pool, page, (place, Dep::NONE), entry);
            let slot = self.slot(number);
            pool.store(trace, Site::SlotStore, page, slot, place, Dep::NONE);
        }
        for field in [COUNT, USED] {
            let count = entries.len() as u16;
            store_header(trace, pool, page, field, count, Dep::NONE);
        }
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
        let count: Loaded<u16> = load_header(trace, pool, page, COUNT);
        trace.work(BOUNDS);
        let end = usize::from(count.value);
        let slot = upper_bound(
            trace,
            SEARCH,
            (first.min(end), end),
            count.token.after(LOOP_TEST as u8),
            K::COMPARE,
            |trace, middle| {
                let entry = self.load_slot(trace, pool, page, middle);
                trace.work(STEP);
                let dep = entry.token.after(1);
                load_order(trace, pool, Site::SlottedKey, page, entry.value.into(), dep)
            },
            |found: &K| key < *found,
        );
        Position {
            node: 0,
            slot,
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
        let entry = self.load_slot(trace, pool, page, position.slot - 1);
        trace.work(SLOT + STEP);
        let dep = entry.token.after(1);
        load_key(trace, pool, Site::FoundKey, page, entry.value.into(), dep)
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
        let entry = self.load_slot(trace, pool, page, position.slot - 1);
        let place = u32::from(entry.value) + self.key_bytes;
        pool.store(trace, Site::IdStore, page, place, id, entry.token.after(1));
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
        let (place, waits) = self.take_place(trace, pool, page);
        let entry = (key, Loaded::constant(id));
        self.store_entry(trace, pool, page, (place, waits), entry);
        self.shift(
            trace,
            pool,
            page,
            (position.slot, entries),
            position.slot + 1,
        );
        pool.store(
            trace,
            Site::SlotStore,
            page,
            self.slot(position.slot),
            place,
            waits,
        );
        let dep = count.token.after(1);
        store_header(trace, pool, page, COUNT, count.value + 1, dep);
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
        let mut freed: Loaded<u16> = load_header(trace, pool, page, FREED);
        // Each entry is reached through its slot, copied, and put on the chain of free ones.
        for slot in keep..entries {
            let entry = self.load_slot(trace, pool, page, slot);
            let from = u32::from(entry.value);
            let key: Loaded<K> = load_key(
                trace,
                pool,
                Site::SlottedKey,
                page,
                from,
                entry.token.after(1),
            );
            let id = self.load_id(trace, pool, page, entry);
            let number = slot - keep;
            let place = self.entries.at(number) as u16;
            self.store_entry(trace, pool, right, (place, Dep::NONE), (key, id));
            let to = self.slot(number);
            pool.store(trace, Site::SlotStore, right, to, place, Dep::NONE);
            // What the place says was loaded before the slot that says where the place is.
            let dep = entry.token.after(1);
            pool.store(trace, Site::FreeEntry, page, from, freed.value, dep);
            freed = entry;
            trace.work(SLOT + 4 * STEP);
            trace.branch(Site::SplitLoop, slot + 1 < entries, Dep::NONE);
        }
        let dep = freed.token.after(0);
        store_header(trace, pool, page, FREED, freed.value, dep);
        // Half of the entries: add, shift; and the rest: subtract.
        let dep = count.token.after(2);
        store_header(trace, pool, page, COUNT, keep as u16, dep);
        let moved = (entries - keep) as u16;
        for field in [COUNT, USED] {
            store_header(trace, pool, right, field, moved, dep.later(1));
        }
        load_key(
            trace,
            pool,
            Site::FoundKey,
            right,
            self.entries.at(0),
            Dep::NONE,
        )
    }

    fn remove<T: Trace>(&self, trace: &mut T, pool: &mut Pool, page: &Fixed, position: Position) {
        let slot = position.slot - 1;
        let entry = self.load_slot(trace, pool, page, slot);
        let freed: Loaded<u16> = load_header(trace, pool, page, FREED);
        pool.store(
            trace,
            Site::FreeEntry,
            page,
            entry.value.into(),
            freed.value,
            freed.token.after(0),
        );
        store_header(trace, pool, page, FREED, entry.value, entry.token.after(0));
        let count: Loaded<u16> = load_header(trace, pool, page, COUNT);
        self.shift(trace, pool, page, (slot + 1, count.value.into()), slot);
        let dep = count.token.after(1);
        store_header(trace, pool, page, COUNT, count.value - 1, dep);
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
            let entry = self.load_slot(trace, pool, page, slot);
            trace.work(STEP);
            let dep = entry.token.after(1);
            let key = load_order(trace, pool, Site::SlottedKey, page, entry.value.into(), dep);
            if scan.taker.is_beyond(trace, key) {
                return true;
            }
            let id = self.load_id(trace, pool, page, entry);
            if scan.taker.take(trace, id, slot + 1 < entries) {
                return true;
            }
        }
        false
    }

    fn entries(&self, pool: &Pool, page: &Fixed, _leaf: bool) -> Result<Vec<(K, u32)>, Fault> {
        let count = usize::from(pool.peek::<u16>(page, COUNT));
        let used = usize::from(pool.peek::<u16>(page, USED));
        holds(page.page, count <= used && used <= self.fanout, || {
            format!(
                "it has {count} entries in {used} places, and room for {}",
                self.fanout
            )
        })?;
        let mut taken = vec![false; used];
        // The place is one that was ever used, and only one slot, or the chain of free ones, leads to it.
        let mut take = |place: u16| {
            let behind = u32::from(place).checked_sub(self.entries.base);
            let number = behind
                .filter(|behind| behind.is_multiple_of(self.entries.bytes))
                .map(|behind| (behind / self.entries.bytes) as usize)
                .filter(|&number| number < used && !taken[number]);
            holds(page.page, number.is_some(), || {
                format!("a slot points to byte {place}, where it has no entry of its own")
            })?;
            taken[number.unwrap_or(0)] = true;
            Ok(())
        };
        let mut entries = Vec::with_capacity(count);
        for slot in 0..count {
            let place: u16 = pool.peek(page, self.slot(slot));
            take(place)?;
            let place = u32::from(place);
            entries.push((
                pool.peek(page, place),
                pool.peek(page, place + self.key_bytes),
            ));
        }
        let mut free = 0;
        let mut place: u16 = pool.peek(page, FREED);
        while place > 0 {
            take(place)?;
            free += 1;
            place = pool.peek(page, place.into());
        }
        holds(page.page, count + free == used, || {
            format!("of {used} places that were used {count} have entries and {free} are free")
        })?;
        Ok(entries)
    }
}
