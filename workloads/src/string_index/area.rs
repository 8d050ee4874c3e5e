//! An area of slots and entries: a whole page, or a node in one.
//!
//! Behind its header lie entries, each an ID and a key, in the order in which they came. From its end backwards lie slots in the order of
//! keys: an entry's offset, the length of its key, and the first bytes of the key, if the area keeps prefixes. What stands in the slot
//! of a key is not repeated in its entry (thesis Figure 3.29). Offsets count from the area's first byte, so that areas can be copied.
//!
//! A deleted entry stays as dead bytes. When an insertion finds no room behind the last entry, the living ones are moved together.

mod search;

use super::Site;
use super::sites::{MOVE, Parts};
use super::text::Text;
use super::wanted::Wanted;
use crate::awaiting::Awaiting;
use crate::place::Loaded;
use crate::pool::{Fixed, Pool};
use crate::tracer::{Dep, Trace};
use crate::tree::scan::{COMPARE_END, LEAF};
use crate::word::Word;
use std::cmp::Ordering;

/// Fields of an area's header: its entries, the level of a node, the end of its entries, dead bytes among them, the node after it.
pub(super) const COUNT: u32 = 0;
pub(super) const LEVEL: u32 = 2;
const USED: u32 = 4;
const DEAD: u32 = 6;
pub(super) const LINK: u32 = 8;
/// Bytes of the header.
pub(super) const HEADER_BYTES: u32 = 12;

/// Bytes of offset and length in a slot.
const SLOT_BYTES: u32 = 4;
/// Bytes of an entry's ID.
const ID_BYTES: u32 = 4;
/// Entries are whole words of so many bytes, so that IDs are aligned.
const ENTRY_UNIT: u32 = 4;
/// Bytes of a key that are compared, loaded or stored at a time.
const WORD: u32 = 8;

// Plain instructions, counted on the MIPS-like code that the step compiles to.

/// Comparing or changing a number in a register.
pub(super) const STEP: u32 = 1;
/// Address of a slot (shift, subtract), and the parts of one (mask, shift).
const SLOT: u32 = 4;
/// Putting them together (shift, or).
const PACK: u8 = 2;
/// Calling `memcmp` or `memcpy` and coming back: the smaller length (2), three arguments (3), jump and return (2), first test (1).
const LIBRARY_CALL: u32 = 8;

/// What is in a slot besides the prefix.
#[derive(Clone, Copy, Debug)]
struct Slot {
    offset: u32,
    length: u32,
}

/// The format of areas.
#[derive(Clone, Copy, Debug)]
pub(super) struct AreaFormat {
    /// First byte of entries.
    pub first: u32,
    /// Bytes of the area.
    pub bytes: u32,
    /// Bytes of a key in its slot.
    pub prefix: u32,
    /// Names of its parts.
    pub parts: &'static Parts,
}

impl AreaFormat {
    /// Bytes for entries and slots.
    pub(super) fn capacity(&self) -> u32 {
        self.bytes - self.first
    }

    fn slot_bytes(&self) -> u32 {
        SLOT_BYTES + self.prefix
    }

    fn entry_bytes(&self, length: u32) -> u32 {
        (ID_BYTES + length.saturating_sub(self.prefix)).next_multiple_of(ENTRY_UNIT)
    }

    /// Bytes that a key of so many takes.
    pub(super) fn needs(&self, length: u32) -> u32 {
        self.entry_bytes(length) + self.slot_bytes()
    }
}

/// An area of a page that is fixed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Area {
    pub page: Fixed,
    pub format: AreaFormat,
    /// First byte in the page.
    pub base: u32,
    /// What its address waits for.
    pub dep: Dep,
}

impl Area {
    /// Loads a field of the header.
    #[inline]
    pub(super) fn load_header<W: Word, T: Trace>(
        &self,
        trace: &mut T,
        pool: &Pool,
        field: u32,
    ) -> Loaded<W> {
        let site = self.format.parts.header;
        pool.load(trace, site, &self.page, self.base + field, self.dep)
    }

    /// Stores a field of the header; `dep` is what the value waits for.
    #[inline]
    pub(super) fn store_header<T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        field: u32,
        value: u32,
        dep: Dep,
    ) {
        trace.work(STEP);
        let site = self.format.parts.header_store;
        let (at, value) = (self.base + field, value as u16);
        pool.store(trace, site, &self.page, at, value, dep);
    }

    pub(super) fn count<T: Trace>(&self, trace: &mut T, pool: &Pool) -> Loaded<u16> {
        self.load_header(trace, pool, COUNT)
    }

    /// Makes it empty, of a level that waits for `dep`.
    pub(super) fn reset<T: Trace>(&self, trace: &mut T, pool: &mut Pool, (level, dep): (u32, Dep)) {
        for (field, value, dep) in [
            (COUNT, 0, Dep::NONE),
            (LEVEL, level, dep),
            (USED, self.format.first, Dep::NONE),
            (DEAD, 0, Dep::NONE),
        ] {
            self.store_header(trace, pool, field, value, dep);
        }
    }

    /// Byte of the page with slot `slot`.
    #[inline]
    fn slot(&self, slot: usize) -> u32 {
        self.base + self.format.bytes - (slot as u32 + 1) * self.format.slot_bytes()
    }

    /// Byte of the page with the part of an entry's key that is not in its slot.
    #[inline]
    fn rest(&self, slot: Slot) -> u32 {
        self.base + slot.offset + ID_BYTES
    }

    #[inline]
    fn load_slot<T: Trace>(&self, trace: &mut T, pool: &Pool, slot: usize) -> Loaded<Slot> {
        trace.work(SLOT);
        let (site, at) = (self.format.parts.slot, self.slot(slot));
        let packed: Loaded<u32> = pool.load(trace, site, &self.page, at, self.dep.later(2));
        packed.map(|packed| Slot {
            offset: packed & 0xffff,
            length: packed >> 16,
        })
    }

    /// Stores a slot; `dep` is what offset or length waits for.
    #[inline]
    fn store_slot<T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        slot: usize,
        value: Slot,
        dep: Dep,
    ) {
        trace.work(SLOT);
        let packed = value.offset | value.length << 16;
        let site = self.format.parts.slot_store;
        let at = self.slot(slot);
        pool.store(trace, site, &self.page, at, packed, dep.later(PACK));
    }

    /// Loads the prefix in a slot.
    #[inline]
    fn load_prefix<'p, T: Trace>(
        &self,
        trace: &mut T,
        pool: &'p Pool,
        slot: usize,
    ) -> Loaded<&'p [u8]> {
        let (bytes, at) = (self.format.prefix, self.slot(slot) + SLOT_BYTES);
        let address = self.page.address + u64::from(at);
        let (site, words) = (self.format.parts.prefix, bytes.div_ceil(WORD));
        let dep = self.dep.later(2);
        let token = trace.load(site, address, bytes as u16, words as u16, dep);
        Loaded {
            value: pool.peek_bytes(&self.page, at, bytes),
            token,
        }
    }

    /// Stores the prefix of a key into a slot: bytes that the key does not have are 0.
    fn store_prefix<T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        slot: usize,
        key: Loaded<&[u8]>,
    ) {
        let bytes = self.format.prefix;
        if bytes == 0 {
            return;
        }
        let at = self.slot(slot) + SLOT_BYTES;
        let address = self.page.address + u64::from(at);
        let (site, words) = (self.format.parts.slot_store, bytes.div_ceil(WORD));
        trace.work(words * STEP);
        let dep = key.token.after(1);
        trace.store(site, address, bytes as u16, words as u16, dep);
        let prefix = &Wanted::new(key.value).prefix[..bytes as usize];
        pool.poke_bytes(&self.page, at, prefix);
    }

    /// Loads the ID of a slot.
    #[inline]
    pub(super) fn id<T: Trace>(&self, trace: &mut T, pool: &Pool, slot: usize) -> Loaded<u32> {
        let found = self.load_slot(trace, pool, slot);
        self.id_of(trace, pool, found)
    }

    /// Loads the ID of an entry whose slot was loaded.
    #[inline]
    fn id_of<T: Trace>(&self, trace: &mut T, pool: &Pool, found: Loaded<Slot>) -> Loaded<u32> {
        let at = self.base + found.value.offset;
        let site = self.format.parts.id;
        pool.load(trace, site, &self.page, at, found.token.after(2))
    }

    /// Loads key and ID of a slot.
    pub(super) fn entry<T: Trace>(
        &self,
        trace: &mut T,
        pool: &Pool,
        slot: usize,
    ) -> (Loaded<Text>, Loaded<u32>) {
        let found = self.load_slot(trace, pool, slot);
        let key = self.key_of(trace, pool, slot, found);
        (key, self.id_of(trace, pool, found))
    }

    /// Changes the ID of a slot.
    pub(super) fn set_id<T: Trace>(&self, trace: &mut T, pool: &mut Pool, slot: usize, id: u32) {
        let found = self.load_slot(trace, pool, slot);
        let site = self.format.parts.entry_store;
        let (at, dep) = (self.base + found.value.offset, found.token.after(2));
        pool.store(trace, site, &self.page, at, id, dep);
    }

    /// Loads the whole key of a slot.
    pub(super) fn key<T: Trace>(&self, trace: &mut T, pool: &Pool, slot: usize) -> Loaded<Text> {
        let found = self.load_slot(trace, pool, slot);
        self.key_of(trace, pool, slot, found)
    }

    /// The same for a slot that was loaded.
    fn key_of<T: Trace>(
        &self,
        trace: &mut T,
        pool: &Pool,
        slot: usize,
        found: Loaded<Slot>,
    ) -> Loaded<Text> {
        let (mut key, mut token) = (Text::EMPTY, found.token);
        let length = found.value.length;
        let in_slot = length.min(self.format.prefix);
        if in_slot > 0 {
            let prefix = self.load_prefix(trace, pool, slot);
            key.push(&prefix.value[..in_slot as usize]);
            token = prefix.token;
        }
        let (rest, first) = (length - in_slot, self.rest(found.value));
        if rest > 0 {
            let address = self.page.address + u64::from(first);
            let words = rest.div_ceil(WORD);
            let site = self.format.parts.key;
            let dep = found.token.after(2);
            trace.work(words * STEP);
            token = trace.load(site, address, rest as u16, words as u16, dep);
            key.push(pool.peek_bytes(&self.page, first, rest));
        }
        Loaded { value: key, token }
    }

    /// Inserts an entry before a slot; `false` if there is no room. What goes into a non-leaf node was loaded.
    pub(super) fn insert<T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        slot: usize,
        (key, id): (Loaded<&[u8]>, Loaded<u32>),
    ) -> bool {
        let count = self.count(trace, pool);
        let slots = u32::from(count.value) * self.format.slot_bytes();
        let used: Loaded<u16> = self.load_header(trace, pool, USED);
        let length = key.value.len() as u32;
        let needed = self.format.needs(length);
        let mut used = used.map(u32::from);
        let fits = |used: u32| used + needed + slots <= self.format.bytes;
        trace.work(SLOT + 2 * STEP);
        trace.branch(Site::Full, !fits(used.value), used.token.after(3));
        if !fits(used.value) {
            let dead: Loaded<u16> = self.load_header(trace, pool, DEAD);
            let living = used.value - u32::from(dead.value);
            trace.work(STEP);
            trace.branch(Site::Dead, fits(living), dead.token.after(1));
            if !fits(living) {
                return false;
            }
            used = self.compact(trace, pool);
        }
        self.store_entry(trace, pool, used, key, id);
        let (count, counted) = (usize::from(count.value), count.token.after(1));
        let slot_bytes = self.format.slot_bytes();
        // Slots of higher keys move towards lower addresses.
        let highest = self.slot(count) + slot_bytes;
        trace.work(SLOT);
        let bytes = (count - slot) as u32 * slot_bytes;
        let page = self.page;
        pool.move_bytes(
            trace,
            MOVE,
            (&page, highest),
            (&page, highest - slot_bytes),
            bytes,
        );
        let value = Slot {
            offset: used.value,
            length,
        };
        self.store_slot(trace, pool, slot, value, used.token.after(0));
        self.store_prefix(trace, pool, slot, key);
        let end = used.value + self.format.entry_bytes(length);
        self.store_header(trace, pool, USED, end, used.token.after(1));
        self.store_header(trace, pool, COUNT, count as u32 + 1, counted);
        true
    }

    /// Stores an entry at an offset: what was not loaded waits for that.
    fn store_entry<T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        offset: Loaded<u32>,
        key: Loaded<&[u8]>,
        id: Loaded<u32>,
    ) {
        let (site, at) = (self.format.parts.entry_store, self.base + offset.value);
        let waits = offset.token.after(1);
        let dep = id.token.after(0).or(waits);
        pool.store(trace, site, &self.page, at, id.value, dep);
        let rest = &key.value[key.value.len().min(self.format.prefix as usize)..];
        if !rest.is_empty() {
            let address = self.page.address + u64::from(at + ID_BYTES);
            let words = (rest.len() as u32).div_ceil(WORD);
            trace.work(LIBRARY_CALL + words * STEP);
            let dep = key.token.after(1).or(waits);
            trace.store(site, address, rest.len() as u16, words as u16, dep);
            pool.poke_bytes(&self.page, at + ID_BYTES, rest);
        }
    }

    /// Moves the living entries together, in the order of their keys, by way of a buffer; returns where they end.
    fn compact<T: Trace>(&self, trace: &mut T, pool: &mut Pool) -> Loaded<u32> {
        let count = self.count(trace, pool);
        let (count, mut last) = (usize::from(count.value), count.token);
        let (first, buffer) = (self.format.first, pool.buffer());
        let mut living: Vec<u8> = Vec::with_capacity(self.format.bytes as usize);
        for slot in 0..count {
            let found = self.load_slot(trace, pool, slot);
            last = found.token;
            let found = found.value;
            let bytes = self.format.entry_bytes(found.length);
            let from = self.base + found.offset;
            let offset = first + living.len() as u32;
            let to = buffer + living.len() as u64;
            // Where the entry is, and how long, is in the slot.
            let way = (self.page.address + u64::from(from), to);
            let entry = &mut Awaiting::new(trace, last.after(2));
            pool.copied(entry, MOVE, way, bytes);
            living.extend_from_slice(pool.peek_bytes(&self.page, from, bytes));
            let value = Slot { offset, ..found };
            self.store_slot(trace, pool, slot, value, last.after(1));
            trace.work(2 * STEP);
            trace.branch(Site::EntryLoop, slot + 1 < count, Dep::NONE);
        }
        let to = self.page.address + u64::from(self.base + first);
        pool.copied(trace, MOVE, (buffer, to), living.len() as u32);
        pool.poke_bytes(&self.page, self.base + first, &living);
        let end = first + living.len() as u32;
        self.store_header(trace, pool, USED, end, last.after(2));
        self.store_header(trace, pool, DEAD, 0, Dep::NONE);
        Loaded {
            value: end,
            token: last,
        }
    }

    /// Says that so many more bytes are dead.
    fn bury<T: Trace>(&self, trace: &mut T, pool: &mut Pool, bytes: u32) {
        let dead: Loaded<u16> = self.load_header(trace, pool, DEAD);
        let bytes = u32::from(dead.value) + bytes;
        self.store_header(trace, pool, DEAD, bytes, dead.token.after(1));
    }

    /// Takes out the entry of a slot.
    pub(super) fn remove<T: Trace>(&self, trace: &mut T, pool: &mut Pool, slot: usize) {
        let found = self.load_slot(trace, pool, slot).value;
        self.bury(trace, pool, self.format.entry_bytes(found.length));
        let count = self.count(trace, pool);
        let (count, counted) = (usize::from(count.value), count.token.after(1));
        let (slot_bytes, page) = (self.format.slot_bytes(), self.page);
        let lowest = self.slot(count - 1);
        trace.work(SLOT);
        pool.move_bytes(
            trace,
            MOVE,
            (&page, lowest),
            (&page, lowest + slot_bytes),
            (count - 1 - slot) as u32 * slot_bytes,
        );
        self.store_header(trace, pool, COUNT, count as u32 - 1, counted);
    }

    /// Bytes of its entries and their slots.
    pub(super) fn living<T: Trace>(&self, trace: &mut T, pool: &Pool) -> u32 {
        let count = self.count(trace, pool).value;
        let used: Loaded<u16> = self.load_header(trace, pool, USED);
        let dead: Loaded<u16> = self.load_header(trace, pool, DEAD);
        trace.work(SLOT + 2 * STEP);
        let entries = u32::from(used.value) - self.format.first - u32::from(dead.value);
        entries + u32::from(count) * self.format.slot_bytes()
    }

    /// Copies it to an area of a page of zeros that has the same format.
    pub(super) fn copy_to<T: Trace>(&self, trace: &mut T, pool: &mut Pool, to: &Self) {
        let used: Loaded<u16> = self.load_header(trace, pool, USED);
        let count = self.count(trace, pool).value;
        let slots = u32::from(count) * self.format.slot_bytes();
        for (first, bytes) in [(0, used.value.into()), (self.format.bytes - slots, slots)] {
            let (from, target) = (self.base + first, to.base + first);
            trace.work(SLOT);
            pool.copy_bytes(trace, MOVE, (&self.page, from), (&to.page, target), bytes);
        }
    }

    /// Entries, from the first on, that have half of the bytes of all.
    fn half<T: Trace>(&self, trace: &mut T, pool: &Pool) -> usize {
        let all = self.living(trace, pool);
        let (mut slot, mut bytes) = (0, 0);
        while 2 * bytes < all {
            let found = self.load_slot(trace, pool, slot);
            bytes += self.format.needs(found.value.length);
            slot += 1;
            trace.work(4 * STEP);
            trace.branch(Site::HalfLoop, 2 * bytes < all, found.token.after(4));
        }
        slot
    }

    /// Moves the upper half of its entries to an empty area of the same format; returns how many stay.
    pub(super) fn split<T: Trace>(&self, trace: &mut T, pool: &mut Pool, right: &Self) -> usize {
        let keep = self.half(trace, pool);
        let count = self.count(trace, pool).map(usize::from);
        let moved = self.append_to(trace, pool, right, (keep, count));
        self.bury(trace, pool, moved);
        self.store_header(trace, pool, COUNT, keep as u32, Dep::NONE);
        keep
    }

    /// Copies entries to an empty area of the same format; returns their bytes.
    pub(super) fn append_to<T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        to: &Self,
        (keep, count): (usize, Loaded<usize>),
    ) -> u32 {
        let (count, counted) = (count.value, count.token.after(1));
        let (mut used, mut waits) = (to.format.first, Dep::NONE);
        for slot in keep..count {
            let found = self.load_slot(trace, pool, slot);
            waits = found.token.after(2);
            let found = found.value;
            let bytes = self.format.entry_bytes(found.length);
            // Where the entry is, and how long, is in the slot.
            let (from, target) = (self.base + found.offset, to.base + used);
            let (from, target) = ((&self.page, from), (&to.page, target));
            let entry = &mut Awaiting::new(trace, waits);
            pool.copy_bytes(entry, MOVE, from, target, bytes);
            if self.format.prefix > 0 {
                let (from, target) = (self.slot(slot), to.slot(slot - keep));
                let (from, target) = (from + SLOT_BYTES, target + SLOT_BYTES);
                let prefix = self.format.prefix;
                pool.copy_bytes(trace, MOVE, (&self.page, from), (&to.page, target), prefix);
            }
            let value = Slot {
                offset: used,
                ..found
            };
            to.store_slot(trace, pool, slot - keep, value, waits);
            used += bytes;
            trace.work(2 * STEP);
            trace.branch(Site::EntryLoop, slot + 1 < count, Dep::NONE);
        }
        to.store_header(trace, pool, USED, used, waits.later(1));
        to.store_header(trace, pool, COUNT, (count - keep) as u32, counted);
        used - to.format.first
    }

    /// Scans from a slot on; whether the scan is over.
    pub(super) fn scan<T: Trace>(
        &self,
        trace: &mut T,
        pool: &Pool,
        from: usize,
        scan: &mut super::format::Scan<'_, '_>,
    ) -> bool {
        let count = self.count(trace, pool);
        let entries = usize::from(count.value);
        trace.work(LEAF);
        trace.branch(Site::ScanLoop, from < entries, count.token.after(2));
        for slot in from..entries {
            let (order, found) = self.order(trace, pool, slot, &scan.end);
            let beyond = order.value == Ordering::Greater;
            trace.work(COMPARE_END);
            trace.branch(Site::ScanEnd, beyond, order.token.after(COMPARE_END as u8));
            if beyond {
                return true;
            }
            // What is in the slot stays in a register.
            let found = match found {
                Some(found) => found,
                None => self.load_slot(trace, pool, slot),
            };
            let id = self.id_of(trace, pool, found);
            if scan.take(trace, id, slot + 1 < entries) {
                return true;
            }
        }
        false
    }

    /// Its entries, for checks: none overlaps another, and their bytes are as the header says.
    #[cfg(test)]
    pub(super) fn checked(&self, pool: &Pool) -> Vec<(Vec<u8>, u32)> {
        let trace = &mut crate::tracer::Untraced;
        let count = usize::from(self.count(trace, pool).value);
        let mut places: Vec<(u32, u32)> = Vec::new();
        let mut entries = Vec::new();
        for slot in 0..count {
            let found = self.load_slot(trace, pool, slot).value;
            let bytes = self.format.entry_bytes(found.length);
            places.push((found.offset, found.offset + bytes));
            let key = self.key(trace, pool, slot).value.to_vec();
            if self.format.prefix > 0 {
                let prefix = self.load_prefix(trace, pool, slot).value;
                assert_eq!(prefix, &Wanted::new(&key).prefix[..prefix.len()]);
            }
            entries.push((key, self.id(trace, pool, slot).value));
        }
        places.sort_unstable();
        assert!(places.is_sorted_by(|left, right| left.1 <= right.0));
        let used: Loaded<u16> = self.load_header(trace, pool, USED);
        let dead: Loaded<u16> = self.load_header(trace, pool, DEAD);
        let living: u32 = places.iter().map(|place| place.1 - place.0).sum();
        let first = self.format.first;
        assert_eq!(
            u32::from(used.value),
            first + living + u32::from(dead.value)
        );
        let slots = count as u32 * self.format.slot_bytes();
        assert!(u32::from(used.value) + slots <= self.format.bytes);
        assert!(places.first().is_none_or(|place| place.0 >= first));
        entries
    }
}
