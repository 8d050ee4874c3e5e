//! Slotted pages of contiguous records (the N-ary storage model; PAX sections 2.1 and 4.2).

use super::copies::copy_words;
use super::geometry::check_geometry;
use super::nsm_format::{RecordFormat, SLOT_BYTES, TAG_BYTES, header};
use super::room::Room;
use super::{Frames, Geometry, Page, PageFile, PageSites, Record, RecordId, Schema, Source, Value};
use crate::tracer::{Dep, Trace};
use crate::validate::WorkloadError;
use crate::word::Word;

/// Address of a slot: its number times its size, taken from the page's end.
pub(super) const SLOT_ADDRESS: u32 = 2;

/// A file of slotted pages.
#[derive(Clone, Debug)]
pub struct Nsm {
    pub(super) schema: Schema,
    pub(super) format: RecordFormat,
    pub(super) geometry: Geometry,
    pub(super) frames: Frames,
    pub(super) sites: PageSites,
    pub(super) room: Room,
    pub(super) records: u64,
    /// Records stored so far, those moved counted again: the serial number in their tags.
    pub(super) stored: u32,
}

/// What a slot says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub(super) offset: usize,
    pub(super) bytes: usize,
}

impl Slot {
    pub(super) const DELETED: Self = Self {
        offset: 0,
        bytes: 0,
    };

    /// What the bytes of a slot say; `None` if its record was deleted.
    #[inline]
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let found = Self {
            offset: usize::from(u16::read(bytes, 0)),
            bytes: usize::from(u16::read(bytes, 2)),
        };
        (found.offset > 0).then_some(found)
    }
}

impl Nsm {
    /// An empty file.
    ///
    /// # Errors
    /// If a page has no room for the longest record.
    pub fn new(
        schema: Schema,
        geometry: Geometry,
        sites: PageSites,
    ) -> Result<Self, WorkloadError> {
        let format = RecordFormat::new(&schema);
        let variable = schema.most_bytes() - schema.fixed_bytes();
        let needed = format.stride(variable) + SLOT_BYTES;
        check_geometry(geometry, header::BYTES, needed)?;
        Ok(Self {
            format,
            frames: Frames::new(geometry.page_bytes),
            geometry,
            schema,
            sites,
            room: Room::default(),
            records: 0,
            stored: 0,
        })
    }

    /// Offset of a slot in the page.
    #[inline]
    pub(super) fn slot_place(&self, slot: u32) -> usize {
        self.frames.page_bytes() - (slot as usize + 1) * SLOT_BYTES
    }

    /// What a slot says; `None` if its record was deleted.
    #[inline]
    pub(super) fn slot(&self, page: u32, slot: u32) -> Option<Slot> {
        Slot::read(&self.frames.page(page)[self.slot_place(slot)..])
    }

    pub(super) fn field(&self, page: u32, field: usize) -> usize {
        usize::from(u16::read(self.frames.page(page), field))
    }

    pub(super) fn set_field(&mut self, page: u32, field: usize, value: usize) {
        (value as u16).write(self.frames.page_mut(page), field);
    }

    /// Adds an empty page, whose header is stored.
    pub(super) fn add_page<T: Trace>(&mut self, trace: &mut T) -> u32 {
        let page = self.frames.add();
        page.write(self.frames.page_mut(page), header::NUMBER);
        self.set_field(
            page,
            header::FREE_START,
            self.geometry.header_bytes as usize,
        );
        self.set_field(page, header::FREE, self.geometry.usable_bytes());
        let mut framed = self.frames.framed_mut(self.frames.fix(page));
        let (site, fields) = (self.sites.header(), 0..header::BYTES as usize);
        let words = copy_words(fields.len());
        framed.store_bytes(trace, site, fields, words, Dep::NONE);
        page
    }

    /// The page for a record of so many bytes, which may have to be reorganized, and what brought its header's fields, which tell whether
    /// there is room; `None` if no page has.
    pub(super) fn page_with<T: Trace>(
        &mut self,
        trace: &mut T,
        bytes: usize,
    ) -> (Option<u32>, Dep) {
        let (frames, site) = (&self.frames, self.sites.header());
        let mut known = Dep::NONE;
        let found = self.room.find(frames.count(), |page| {
            let framed = frames.framed(frames.fix(page));
            let (fields, words) = (header::FIELDS, header::FIELD_WORDS);
            let loaded = framed.load_bytes(trace, site, fields, words, Dep::NONE);
            known = loaded.token.after(1);
            let field = |field| usize::from(u16::read(framed.bytes, field));
            let reused = field(header::DELETED) > 0;
            let slot = if reused { 0 } else { SLOT_BYTES };
            let fits = bytes + slot <= field(header::FREE);
            // The slot's bytes are added, and both compared.
            trace.work(2);
            trace.branch(site, fits, known);
            fits
        });
        (found, known)
    }

    /// The slot for a new record: that of a deleted one, which is looked for, or one more.
    pub(super) fn take_slot<T: Trace>(&mut self, trace: &mut T, page: u32) -> u32 {
        let slots = self.field(page, header::SLOTS);
        let deleted = self.field(page, header::DELETED);
        if deleted > 0 {
            self.set_field(page, header::DELETED, deleted - 1);
            let slot = (0..slots as u32)
                .find(|&slot| self.slot(page, slot).is_none())
                .expect("the header counts the deleted records");
            self.load_slots(trace, page, slot + 1);
            return slot;
        }
        self.set_field(page, header::SLOTS, slots + 1);
        let free = self.field(page, header::FREE);
        self.set_field(page, header::FREE, free - SLOT_BYTES);
        slots as u32
    }

    /// Loads the first `slots` of a page, each to be looked at: what brings them.
    pub(super) fn load_slots<T: Trace>(&self, trace: &mut T, page: u32, slots: u32) -> Dep {
        let place = self.slot_place(slots - 1)..self.frames.page_bytes();
        let (site, framed) = (self.sites.slot(), self.frames.framed(self.frames.fix(page)));
        let loaded = framed.load_bytes(trace, site, place, slots as u16, Dep::NONE);
        trace.work(slots);
        loaded.token.after(1)
    }

    /// Sees to it that the free bytes of a page that has so many are in one piece.
    pub(super) fn make_gap<T: Trace>(&mut self, trace: &mut T, page: u32, bytes: usize) {
        let end = self.frames.page_bytes() - self.field(page, header::SLOTS) * SLOT_BYTES;
        if self.field(page, header::FREE_START) + bytes > end {
            self.reorganize(trace, page);
        }
    }

    /// Writes a record behind the others of a page that has room for it, a copy of its values, and sets its slot. `header` is what
    /// brought the page's header, which says where the record begins.
    pub(super) fn place<T: Trace>(
        &mut self,
        trace: &mut T,
        (id, header): (RecordId, Dep),
        (values, from): (&[Value], Source),
        stride: usize,
    ) {
        let (page, offset) = (id.page, self.field(id.page, header::FREE_START));
        let (serial, words) = (self.stored, copy_words(stride));
        self.stored += 1;
        let mut framed = self.frames.framed_mut(self.frames.fix(page));
        let (behind_tag, end) = (offset + TAG_BYTES, offset + stride);
        let record = &mut framed.bytes[offset..end];
        self.format.write(&self.schema, values, serial, record);
        // The tag, the record as one copy of the caller's, the slot, and the header's fields.
        let known = from.copy(trace);
        let (tag, sites) = (copy_words(TAG_BYTES), self.sites);
        framed.store_bytes(trace, sites.tag(), offset..behind_tag, tag, header);
        let (site, rest) = (sites.whole_record(), words - tag);
        framed.store_bytes(trace, site, behind_tag..end, rest, known.or(header));
        let slot = Slot {
            offset,
            bytes: stride,
        };
        self.set_slot(trace, id, slot, header);
        self.set_field(page, header::FREE_START, offset + stride);
        let free = self.field(page, header::FREE);
        self.set_field(page, header::FREE, free - stride);
        self.store_header(trace, page, header);
    }

    /// Stores a slot, once what it says is known.
    pub(super) fn set_slot<T: Trace>(
        &mut self,
        trace: &mut T,
        id: RecordId,
        slot: Slot,
        known: Dep,
    ) {
        let place = self.slot_place(id.slot);
        let (site, place) = (self.sites.slot(), place..place + SLOT_BYTES);
        trace.work(SLOT_ADDRESS);
        let mut framed = self.frames.framed_mut(self.frames.fix(id.page));
        let bytes = framed.store_bytes(trace, site, place, 1, known);
        (slot.offset as u16).write(bytes, 0);
        (slot.bytes as u16).write(bytes, 2);
    }

    /// Loads the header's fields, of which `changed` are computed anew: what brings them.
    pub(super) fn load_header<T: Trace>(&self, trace: &mut T, page: Page, changed: u32) -> Dep {
        let framed = self.frames.framed(page.fixed);
        let (site, fields) = (self.sites.header(), header::FIELDS);
        let loaded = framed.load_bytes(trace, site, fields, header::FIELD_WORDS, page.dep);
        trace.work(changed);
        loaded.token.after(1)
    }

    /// Stores the header's fields, which are written, once those before are known.
    pub(super) fn store_header<T: Trace>(&mut self, trace: &mut T, page: u32, known: Dep) {
        let mut framed = self.frames.framed_mut(self.frames.fix(page));
        let (site, fields) = (self.sites.header(), header::FIELDS);
        framed.store_bytes(trace, site, fields, header::FIELD_WORDS, known);
    }

    /// Gives the bytes of a record back to its page.
    pub(super) fn release(&mut self, page: u32, bytes: usize) {
        let free = self.field(page, header::FREE);
        self.set_field(page, header::FREE, free + bytes);
        self.room.add(page);
    }

    /// Rewrites a record that was found with another value of an attribute, unless its page has no room for it: whether it has.
    pub(super) fn rewrite<T: Trace>(
        &mut self,
        trace: &mut T,
        page: Page,
        record: Record,
        attribute: usize,
        value: Value,
    ) -> bool {
        let id = RecordId {
            page: page.number(),
            slot: record.slot,
        };
        let slot = self.slot(id.page, id.slot).expect("the record exists");
        let range = slot.offset..slot.offset + slot.bytes;
        let (site, words) = (self.sites.whole_record(), copy_words(slot.bytes));
        let framed = self.frames.framed(page.fixed);
        let old = framed.load_bytes(trace, site, range.clone(), words, record.dep);
        let (old, copied) = (old.value.to_vec(), old.token.after(0));
        let mut values = self.format.read(&self.schema, &old);
        values[attribute] = value;
        let stride = self.format.stride_of(&self.schema, &values);
        if stride <= slot.bytes {
            // The record keeps the bytes it had: a later, longer value finds them.
            let mut framed = self.frames.framed_mut(page.fixed);
            let record = framed.store_bytes(trace, site, range, words, copied);
            let serial = u32::read(&old, 0);
            self.format.write(&self.schema, &values, serial, record);
            return true;
        }
        // The header says whether there is room, and is changed if there is.
        let header = self.load_header(trace, page, 2);
        if stride > self.field(id.page, header::FREE) + slot.bytes {
            return false;
        }
        self.release(id.page, slot.bytes);
        // Its bytes are free; the slot is stored once it leads to the new ones.
        let place = self.slot_place(id.slot);
        self.frames.page_mut(id.page)[place..place + SLOT_BYTES].fill(0);
        self.make_gap(trace, id.page, stride);
        self.place(
            trace,
            (id, header),
            (&values, Source::registers(copied)),
            stride,
        );
        true
    }
}
