//! Slotted pages as a file of records.

use super::nsm::{Nsm, SLOT_ADDRESS, Slot};
use super::nsm_format::{END_BYTES, SLOT_BYTES, header};
use super::value::{check, check_one};
use super::{
    Column, Frames, Loaded, Page, PageFile, PageSites, Record, RecordId, Schema, Source, Type,
    Value,
};
use crate::tracer::{Dep, Trace, Untraced};

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
        let fixed = self.frames.fix(page);
        let framed = self.frames.framed(fixed);
        let slots = framed.load::<u16, T>(trace, self.sites.header(), header::SLOTS, dep);
        Page {
            fixed,
            slots: slots.value.into(),
            dep,
            count: slots.token.after(0),
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
            passed: None,
        }
    }

    /// Reads the slot. The record's tag stays unread: the slot tells all that an operator needs.
    #[inline]
    fn record<T: Trace>(&self, trace: &mut T, page: Page, slot: u32) -> Option<Record> {
        let place = self.slot_place(slot);
        trace.work(SLOT_ADDRESS);
        let (site, place) = (self.sites.slot(), place..place + SLOT_BYTES);
        let framed = self.frames.framed(page.fixed);
        let found = framed.load_bytes(trace, site, place, 1, page.dep.later(1));
        Some(Record {
            slot,
            place: Slot::read(found.value)?.offset,
            dep: found.token.after(1),
        })
    }

    fn is_present<T: Trace>(
        &self,
        trace: &mut T,
        page: Page,
        column: &mut Column,
        record: Record,
    ) -> bool {
        let (byte, bit) = self.format.presence(column.attribute);
        let place = record.place + byte;
        let (site, place) = (self.sites.presence(), place..place + 1);
        let framed = self.frames.framed(page.fixed);
        let bits = framed.load_bytes(trace, site, place, 1, record.dep);
        let present = bits.value[0] & bit != 0;
        trace.work(1);
        trace.branch(site, present, bits.token.after(1));
        present
    }

    fn bytes<T: Trace>(
        &self,
        trace: &mut T,
        page: Page,
        column: &mut Column,
        record: Record,
    ) -> Option<Loaded<&[u8]>> {
        if column.nullable && !self.is_present(trace, page, column, record) {
            return None;
        }
        let framed = self.frames.framed(page.fixed);
        let (start, end, dep) = match column.kind {
            Type::Variable(_) => {
                // The end of the value before and this one's, side by side.
                let before = if column.start > 0 { END_BYTES } else { 0 };
                let place = record.place + self.format.end_place(column.start) - before;
                let (site, place) = (self.sites.end_offset(), place..place + before + END_BYTES);
                let ends = framed.load_bytes(trace, site, place, 1, record.dep);
                let bytes = &framed.bytes[record.place..];
                let (start, end) = self.format.extent(bytes, column.start);
                (start, end, ends.token.after(1))
            }
            kind => (column.start, column.start + kind.most_bytes(), record.dep),
        };
        let place = record.place + start..record.place + end;
        Some(framed.load_string(trace, column.site, place, dep))
    }

    fn values<'a>(&self, bytes: &'a [u8], _page: Page, record: Record) -> Vec<Value<'a>> {
        self.format.read(&self.schema, &bytes[record.place..])
    }

    fn insert_from<T: Trace>(&mut self, trace: &mut T, values: &[Value], from: Source) -> RecordId {
        check(&self.schema, values);
        let stride = self.format.stride_of(&self.schema, values);
        let (found, header) = self.page_with(trace, stride);
        // What a new page's header says is known.
        let (page, header) = match found {
            Some(page) => (page, header),
            None => (self.add_page(trace), Dep::NONE),
        };
        let reused = self.field(page, header::DELETED) > 0;
        let slot_bytes = if reused { 0 } else { SLOT_BYTES };
        self.make_gap(trace, page, stride + slot_bytes);
        let id = RecordId {
            page,
            slot: self.take_slot(trace, page),
        };
        // Three of the header's fields are computed anew: slots or deleted ones, where the free space begins, and what is free.
        trace.work(3);
        self.place(trace, (id, header), (values, from), stride);
        self.records += 1;
        id
    }

    fn page_for(&mut self, values: &[Value]) -> Option<u32> {
        let stride = self.format.stride_of(&self.schema, values);
        self.page_with(&mut Untraced, stride).0
    }

    fn update_in_page<T: Trace>(
        &mut self,
        trace: &mut T,
        page: Page,
        record: Record,
        attribute: usize,
        value: Value,
    ) -> bool {
        check_one(&self.schema.attributes()[attribute], value);
        let column = self.column(trace, page, attribute);
        if column.kind.fixed_bytes().is_some() && !column.nullable {
            self.set(trace, page, &column, record, value, record.dep);
            return true;
        }
        self.rewrite(trace, page, record, attribute, value)
    }

    /// Marks the slot; later records may take the slot and the space.
    fn remove<T: Trace>(&mut self, trace: &mut T, page: Page, record: Record) {
        let id = RecordId {
            page: page.number(),
            slot: record.slot,
        };
        let slot = self.slot(id.page, id.slot).expect("the record exists");
        self.set_slot(trace, id, Slot::DELETED, Dep::NONE);
        // One more deleted record, and more bytes free.
        let header = self.load_header(trace, page, 2);
        let deleted = self.field(id.page, header::DELETED);
        self.set_field(id.page, header::DELETED, deleted + 1);
        self.release(id.page, slot.bytes);
        self.store_header(trace, id.page, header);
        self.records -= 1;
    }

    fn reorganize<T: Trace>(&mut self, trace: &mut T, page: u32) {
        let fixed = self.frames.fix(page);
        let slots = self.field(page, header::SLOTS) as u32;
        let mut live: Vec<(u32, Slot)> = (0..slots)
            .filter_map(|slot| Some((slot, self.slot(page, slot)?)))
            .collect();
        // Where records lie, and what becomes of the header, the slots tell.
        let known = if slots > 0 {
            self.load_slots(trace, page, slots)
        } else {
            Dep::NONE
        };
        live.sort_by_key(|(_, slot)| slot.offset);
        let mut free_start = self.geometry.header_bytes as usize;
        for (number, slot) in live {
            if slot.offset > free_start {
                let site = self.sites.whole_record();
                let move_of = (slot.offset, free_start, slot.bytes);
                let framed = self.frames.framed_mut(fixed);
                let record = slot.offset..slot.offset + slot.bytes;
                framed.bytes.copy_within(record, free_start);
                framed.moved(trace, site, move_of, known);
                let moved = Slot {
                    offset: free_start,
                    bytes: slot.bytes,
                };
                let id = RecordId { page, slot: number };
                self.set_slot(trace, id, moved, known);
            }
            free_start += slot.bytes;
        }
        self.set_field(page, header::FREE_START, free_start);
        self.store_header(trace, page, known);
    }
}
