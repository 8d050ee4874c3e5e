//! Slotted pages of contiguous records (the N-ary storage model; PAX sections 2.1 and 4.2).

use super::nsm_format::{END_BYTES, RecordFormat, SLOT_BYTES, TAG_BYTES, header};
use super::room::Room;
use super::value::{check, check_one};
use super::{
    Column, Frames, Geometry, Loaded, Page, PageFile, PageSites, Record, RecordId, Schema, Type,
    Value, check_geometry, copy_words, load_string,
};
use crate::arena::Word;
use crate::tracer::{Dep, Trace};
use crate::validate::WorkloadError;

/// Address of a slot: its number times its size, taken from the page's end.
const SLOT_ADDRESS: u32 = 2;

/// A file of slotted pages.
#[derive(Clone, Debug)]
pub struct Nsm {
    schema: Schema,
    format: RecordFormat,
    geometry: Geometry,
    frames: Frames,
    sites: PageSites,
    room: Room,
    records: u64,
    /// Records stored so far, those moved counted again: the serial number in their tags.
    stored: u32,
}

/// What a slot says.
#[derive(Clone, Copy, Debug)]
struct Slot {
    offset: usize,
    bytes: usize,
}

impl Slot {
    const DELETED: Self = Self {
        offset: 0,
        bytes: 0,
    };
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
    fn slot_place(&self, slot: u32) -> usize {
        self.frames.page_bytes() - (slot as usize + 1) * SLOT_BYTES
    }

    /// What a slot says; `None` if its record was deleted.
    #[inline]
    fn slot(&self, page: u32, slot: u32) -> Option<Slot> {
        let (bytes, place) = (self.frames.page(page), self.slot_place(slot));
        let found = Slot {
            offset: usize::from(u16::read(bytes, place)),
            bytes: usize::from(u16::read(bytes, place + 2)),
        };
        (found.offset > 0).then_some(found)
    }

    fn field(&self, page: u32, field: usize) -> usize {
        usize::from(u16::read(self.frames.page(page), field))
    }

    fn set_field(&mut self, page: u32, field: usize, value: usize) {
        (value as u16).write(self.frames.page_mut(page), field);
    }

    /// Adds an empty page.
    fn add_page(&mut self) -> u32 {
        let page = self.frames.add();
        page.write(self.frames.page_mut(page), header::NUMBER);
        self.set_field(
            page,
            header::FREE_START,
            self.geometry.header_bytes as usize,
        );
        self.set_field(page, header::FREE, self.geometry.usable_bytes());
        page
    }

    /// The page for a record of so many bytes; it may have to be reorganized.
    fn page_for(&mut self, bytes: usize) -> u32 {
        let page_of =
            |frames: &Frames, page, field| usize::from(u16::read(frames.page(page), field));
        let frames = &self.frames;
        let found = self.room.find(frames.count(), |page| {
            let reused = page_of(frames, page, header::DELETED) > 0;
            let slot = if reused { 0 } else { SLOT_BYTES };
            bytes + slot <= page_of(frames, page, header::FREE)
        });
        found.unwrap_or_else(|| self.add_page())
    }

    /// The slot for a new record: that of a deleted one, or one more.
    fn take_slot(&mut self, page: u32) -> u32 {
        let slots = self.field(page, header::SLOTS);
        let deleted = self.field(page, header::DELETED);
        if deleted > 0 {
            self.set_field(page, header::DELETED, deleted - 1);
            return (0..slots as u32)
                .find(|&slot| self.slot(page, slot).is_none())
                .expect("the header counts the deleted records");
        }
        self.set_field(page, header::SLOTS, slots + 1);
        let free = self.field(page, header::FREE);
        self.set_field(page, header::FREE, free - SLOT_BYTES);
        slots as u32
    }

    /// Sees to it that the free bytes of a page that has so many are in one piece.
    fn make_gap<T: Trace>(&mut self, trace: &mut T, page: u32, bytes: usize) {
        let end = self.frames.page_bytes() - self.field(page, header::SLOTS) * SLOT_BYTES;
        if self.field(page, header::FREE_START) + bytes > end {
            self.reorganize(trace, page);
        }
    }

    /// Writes a record behind the others of a page that has room for it, and sets its slot.
    fn place<T: Trace>(&mut self, trace: &mut T, id: RecordId, values: &[Value], stride: usize) {
        let (page, offset) = (id.page, self.field(id.page, header::FREE_START));
        let address = self.frames.address(page);
        let (serial, words) = (self.stored, copy_words(stride));
        self.stored += 1;
        let record = &mut self.frames.page_mut(page)[offset..offset + stride];
        self.format.write(&self.schema, values, serial, record);
        // The tag, the record as one copy of the caller's, the slot, and the header's fields.
        let tag = copy_words(TAG_BYTES);
        let sites = self.sites;
        trace.store(
            sites.tag(),
            address + offset as u64,
            TAG_BYTES as u16,
            tag,
            Dep::NONE,
        );
        trace.store(
            sites.whole_record(),
            address + (offset + TAG_BYTES) as u64,
            (stride - TAG_BYTES) as u16,
            words - tag,
            Dep::NONE,
        );
        self.set_slot(
            trace,
            id,
            Slot {
                offset,
                bytes: stride,
            },
        );
        self.set_field(page, header::FREE_START, offset + stride);
        let free = self.field(page, header::FREE);
        self.set_field(page, header::FREE, free - stride);
        self.store_header(trace, page);
    }

    fn set_slot<T: Trace>(&mut self, trace: &mut T, id: RecordId, slot: Slot) {
        let place = self.slot_place(id.slot);
        let bytes = self.frames.page_mut(id.page);
        (slot.offset as u16).write(bytes, place);
        (slot.bytes as u16).write(bytes, place + 2);
        trace.work(SLOT_ADDRESS);
        let address = self.frames.address(id.page) + place as u64;
        trace.store(self.sites.slot(), address, SLOT_BYTES as u16, 1, Dep::NONE);
    }

    fn store_header<T: Trace>(&self, trace: &mut T, page: u32) {
        let address = self.frames.address(page) + header::SLOTS as u64;
        trace.store(self.sites.header(), address, 8, 2, Dep::NONE);
    }

    /// Gives the bytes of a record back to its page.
    fn release(&mut self, page: u32, bytes: usize) {
        let free = self.field(page, header::FREE);
        self.set_field(page, header::FREE, free + bytes);
        self.room.add(page);
    }

    /// Rewrites a record that needs another length; it moves to another page if this one has no room.
    fn rewrite<T: Trace>(
        &mut self,
        trace: &mut T,
        id: RecordId,
        attribute: usize,
        value: Value,
    ) -> RecordId {
        let slot = self.slot(id.page, id.slot).expect("the record exists");
        let range = slot.offset..slot.offset + slot.bytes;
        let address = self.frames.address(id.page) + slot.offset as u64;
        let (site, size) = (self.sites.whole_record(), slot.bytes as u16);
        trace.load(site, address, size, copy_words(slot.bytes), Dep::NONE);
        let old = self.frames.page(id.page)[range.clone()].to_vec();
        let mut values = self.format.read(&self.schema, &old);
        values[attribute] = value;
        let stride = self.format.stride_of(&self.schema, &values);
        if stride <= slot.bytes {
            // The record keeps the bytes it had: a later, longer value finds them.
            trace.store(site, address, size, copy_words(slot.bytes), Dep::NONE);
            let record = &mut self.frames.page_mut(id.page)[range];
            let serial = u32::read(&old, 0);
            self.format.write(&self.schema, &values, serial, record);
            return id;
        }
        if stride > self.field(id.page, header::FREE) + slot.bytes {
            self.delete(trace, id);
            return self.insert(trace, &values);
        }
        self.release(id.page, slot.bytes);
        self.set_slot(trace, id, Slot::DELETED);
        self.make_gap(trace, id.page, stride);
        self.place(trace, id, &values, stride);
        id
    }
}

impl PageFile for Nsm {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    #[inline]
    fn frames(&self) -> &Frames {
        &self.frames
    }

    fn frames_mut(&mut self) -> &mut Frames {
        &mut self.frames
    }

    fn sites(&self) -> PageSites {
        self.sites
    }

    fn records(&self) -> u64 {
        self.records
    }

    #[inline]
    fn open<T: Trace>(&self, trace: &mut T, page: u32, dep: Dep) -> Page {
        let address = self.frames.address(page);
        let place = address + header::SLOTS as u64;
        let token = trace.load(self.sites.header(), place, 2, 1, dep);
        Page {
            number: page,
            address,
            slots: self.field(page, header::SLOTS) as u32,
            dep,
            count: token.after(0),
        }
    }

    /// A constant of the format: no load.
    #[inline]
    fn column<T: Trace>(&self, _trace: &mut T, _page: Page, attribute: usize) -> Column {
        let found = &self.schema.attributes()[attribute];
        Column {
            attribute,
            kind: found.kind,
            nullable: found.nullable,
            site: self.sites.attribute(attribute),
            start: self.format.place(attribute),
            stride: 1,
            dep: Dep::NONE,
        }
    }

    /// Reads the slot. The record's tag stays unread: the slot tells all that an operator needs.
    #[inline]
    fn record<T: Trace>(&self, trace: &mut T, page: Page, slot: u32) -> Option<Record> {
        let place = self.slot_place(slot);
        trace.work(SLOT_ADDRESS);
        let address = page.address + place as u64;
        let token = trace.load(
            self.sites.slot(),
            address,
            SLOT_BYTES as u16,
            1,
            page.dep.later(1),
        );
        Some(Record {
            place: self.slot(page.number, slot)?.offset,
            dep: token.after(1),
        })
    }

    fn is_present<T: Trace>(
        &self,
        trace: &mut T,
        page: Page,
        column: &Column,
        record: Record,
    ) -> bool {
        let (byte, bit) = self.format.presence(column.attribute);
        let place = record.place + byte;
        let address = page.address + place as u64;
        let token = trace.load(self.sites.presence(), address, 1, 1, record.dep);
        let present = self.frames.page(page.number)[place] & bit != 0;
        trace.work(1);
        trace.branch(self.sites.presence(), present, token.after(1));
        present
    }

    fn bytes<T: Trace>(
        &self,
        trace: &mut T,
        page: Page,
        column: &Column,
        record: Record,
    ) -> Option<Loaded<&[u8]>> {
        if column.nullable && !self.is_present(trace, page, column, record) {
            return None;
        }
        let bytes = &self.frames.page(page.number)[record.place..];
        let (start, end, dep) = match column.kind {
            Type::Variable(_) => {
                // The end of the value before and this one's, side by side.
                let before = if column.start > 0 { END_BYTES } else { 0 };
                let place = record.place + self.format.end_place(column.start) - before;
                let size = (before + END_BYTES) as u16;
                let address = page.address + place as u64;
                let token = trace.load(self.sites.end_offset(), address, size, 1, record.dep);
                let (start, end) = self.format.extent(bytes, column.start);
                (start, end, token.after(1))
            }
            kind => (column.start, column.start + kind.most_bytes(), record.dep),
        };
        let token = load_string(
            trace,
            column.site,
            page.address + (record.place + start) as u64,
            end - start,
            dep,
        );
        Some(Loaded {
            value: &bytes[start..end],
            token,
        })
    }

    fn insert<T: Trace>(&mut self, trace: &mut T, values: &[Value]) -> RecordId {
        check(&self.schema, values);
        let stride = self.format.stride_of(&self.schema, values);
        let page = self.page_for(stride);
        let reused = self.field(page, header::DELETED) > 0;
        let slot_bytes = if reused { 0 } else { SLOT_BYTES };
        self.make_gap(trace, page, stride + slot_bytes);
        let id = RecordId {
            page,
            slot: self.take_slot(page),
        };
        self.place(trace, id, values, stride);
        self.records += 1;
        id
    }

    fn update<T: Trace>(
        &mut self,
        trace: &mut T,
        id: RecordId,
        attribute: usize,
        value: Value,
    ) -> RecordId {
        check_one(&self.schema.attributes()[attribute], value);
        let page = self.open(trace, id.page, Dep::NONE);
        let record = self
            .record(trace, page, id.slot)
            .expect("the record exists");
        let column = self.column(trace, page, attribute);
        let kind = column.kind;
        if kind.fixed_bytes().is_some() && !column.nullable {
            self.set(trace, page, &column, record, value, record.dep);
            return id;
        }
        self.rewrite(trace, id, attribute, value)
    }

    fn delete<T: Trace>(&mut self, trace: &mut T, id: RecordId) {
        let slot = self.slot(id.page, id.slot).expect("the record exists");
        self.set_slot(trace, id, Slot::DELETED);
        let deleted = self.field(id.page, header::DELETED);
        self.set_field(id.page, header::DELETED, deleted + 1);
        self.release(id.page, slot.bytes);
        self.store_header(trace, id.page);
        self.records -= 1;
    }

    fn reorganize<T: Trace>(&mut self, trace: &mut T, page: u32) {
        let address = self.frames.address(page);
        let slots = self.field(page, header::SLOTS) as u32;
        let mut live: Vec<(u32, Slot)> = (0..slots)
            .filter_map(|slot| Some((slot, self.slot(page, slot)?)))
            .collect();
        live.sort_by_key(|(_, slot)| slot.offset);
        let mut free_start = self.geometry.header_bytes as usize;
        for (number, slot) in live {
            if slot.offset > free_start {
                let words = copy_words(slot.bytes);
                let site = self.sites.whole_record();
                let (from, to) = (address + slot.offset as u64, address + free_start as u64);
                let token = trace.load(site, from, slot.bytes as u16, words, Dep::NONE);
                trace.store(site, to, slot.bytes as u16, words, token.after(0));
                let bytes = self.frames.page_mut(page);
                bytes.copy_within(slot.offset..slot.offset + slot.bytes, free_start);
                let moved = Slot {
                    offset: free_start,
                    bytes: slot.bytes,
                };
                self.set_slot(trace, RecordId { page, slot: number }, moved);
            }
            free_start += slot.bytes;
        }
        self.set_field(page, header::FREE_START, free_start);
        self.store_header(trace, page);
    }
}
