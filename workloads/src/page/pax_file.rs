//! PAX pages as a file of records: finding, changing and deleting them.

use super::copies::{copy_words, load_string, store_words};
use super::minipage::END_BYTES;
use super::pax::{Minipage, Pax, entry};
use super::pax_format::{header, lengths};
use super::value::{check, check_one};
use super::{Column, Frames, Loaded, Page, PageFile, PageSites, Record, RecordId, Schema, Value};
use crate::tracer::{Dep, Trace};
use crate::word::Word;

impl PageFile for Pax {
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
        // The number of deleted records stands beside that of slots.
        let counts = header::SLOTS..header::SLOTS + if self.options.deletions { 4 } else { 2 };
        let found = framed.load_bytes(trace, self.sites.header(), counts, 1, dep);
        Page {
            fixed,
            slots: u16::read(found.value, 0).into(),
            dep,
            count: found.token.after(0),
        }
    }

    /// Reads the minipage's entry in the header.
    #[inline]
    fn column<T: Trace>(&self, trace: &mut T, page: Page, attribute: usize) -> Column {
        let (site, place) = (self.sites.header(), self.format.entry_range(attribute));
        let framed = self.frames.framed(page.fixed);
        let bytes = framed.load_bytes(trace, site, place, 1, page.dep);
        let (start, stride) = entry(bytes.value);
        let found = &self.schema.attributes()[attribute];
        Column {
            attribute,
            kind: found.kind,
            nullable: found.nullable,
            site: self.sites.attribute(attribute),
            start,
            stride,
            dep: bytes.token.after(1),
        }
    }

    /// The slot's number, less the deleted records before it: no load unless there are some.
    #[inline]
    fn record<T: Trace>(&self, trace: &mut T, page: Page, slot: u32) -> Option<Record> {
        let in_order = Record {
            slot,
            place: slot as usize,
            dep: Dep::NONE,
        };
        if !self.options.deletions {
            return Some(in_order);
        }
        let gaps = self.field(page.number(), header::DELETED) > 0;
        trace.work(1);
        trace.branch(self.sites.header(), gaps, page.count);
        if !gaps {
            return Some(in_order);
        }
        let (first, bytes) = (self.format.bitmap(), slot as usize / 8 + 1);
        let (site, words) = (self.sites.presence(), copy_words(bytes));
        let framed = self.frames.framed(page.fixed);
        let bits = framed.load_bytes(trace, site, first..first + bytes, words, page.dep);
        trace.work(u32::from(words));
        let deleted = bits.value[bytes - 1] & (1 << (slot % 8)) != 0;
        let dep = bits.token.after(1);
        trace.branch(site, deleted, dep);
        (!deleted).then(|| Record {
            slot,
            place: self.place_of(page.number(), slot),
            dep,
        })
    }

    fn is_present<T: Trace>(
        &self,
        trace: &mut T,
        page: Page,
        column: &Column,
        record: Record,
    ) -> bool {
        let framed = self.frames.framed(page.fixed);
        let (place, present) = match self.minipage(page.number(), column.attribute) {
            Minipage::Fixed(minipage) => (
                minipage.presence(record.place).0,
                minipage.is_present(framed.bytes, record.place),
            ),
            Minipage::Variable(minipage) => (
                minipage.end_place(record.place),
                minipage.is_present(framed.bytes, record.place),
            ),
        };
        let (site, dep) = (self.sites.presence(), column.address_dep(record));
        let bits = framed.load_bytes(trace, site, place..place + 1, 1, dep);
        let token = bits.token;
        trace.work(1);
        trace.branch(site, present, token.after(1));
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
        let framed = self.frames.framed(page.fixed);
        let (range, dep) = match self.minipage(page.number(), column.attribute) {
            Minipage::Fixed(minipage) => (minipage.value(record.place), column.address_dep(record)),
            Minipage::Variable(minipage) => {
                // This value's end and, above it, that of the value before.
                let ends = 1 + usize::from(record.place > 0);
                let place = minipage.end_place(record.place);
                let place = place..place + ends * END_BYTES;
                let (site, dep) = (self.sites.end_offset(), column.address_dep(record));
                let loaded = framed.load_bytes(trace, site, place, ends as u16, dep);
                let range = minipage.value(framed.bytes, record.place);
                (range, loaded.token.after(1))
            }
        };
        Some(load_string(framed, trace, column.site, range, dep))
    }

    fn insert<T: Trace>(&mut self, trace: &mut T, values: &[Value]) -> RecordId {
        check(&self.schema, values);
        self.records += 1;
        let lengths = lengths(&self.format, values);
        let mut full = None;
        while let Some(page) = self.room.find(self.pages(), |page| full != Some(page)) {
            if let Some(id) = self.try_insert(trace, page, values, &lengths) {
                return id;
            }
            full = Some(page);
        }
        let page = self.add_page(&lengths);
        self.try_insert(trace, page, values, &lengths)
            .expect("an empty page has room for the longest record")
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
        if let Minipage::Fixed(minipage) = self.minipage(id.page, attribute) {
            let kind = column.kind;
            let mut framed = self.frames.framed_mut(page.fixed);
            if column.nullable {
                let (byte, _) = minipage.presence(record.place);
                let site = self.sites.presence();
                framed.store_bytes(trace, site, byte..byte + 1, 1, column.dep);
                minipage.set_present(framed.bytes, record.place, value.is_present());
            }
            let (range, words) = (minipage.value(record.place), store_words(kind));
            let bytes = framed.store_bytes(trace, column.site, range, words, column.dep);
            value.write(kind, bytes);
            return id;
        }
        let old = match self.minipage(id.page, attribute) {
            Minipage::Variable(minipage) => minipage
                .value(self.frames.page(id.page), record.place)
                .len(),
            Minipage::Fixed(_) => 0,
        };
        if self.make_room(trace, id.page, attribute, old, value.bytes().len()) {
            let column = self.column(trace, page, attribute);
            self.replace(trace, page, &column, record.place, value);
            return id;
        }
        let copy = self.frames.page(id.page).to_vec();
        let mut values = self.values(&copy, id.page, record.place);
        values[attribute] = value;
        self.delete(trace, id);
        self.insert(trace, &values)
    }

    /// Fills the gaps in the minipages at once (PAX section 4.2).
    fn remove<T: Trace>(&mut self, trace: &mut T, page: Page, record: Record) {
        assert!(self.options.deletions, "the file has no room for deletions");
        let id = RecordId {
            page: page.number(),
            slot: record.slot,
        };
        assert!(!self.is_deleted(id.page, id.slot), "the record exists");
        for attribute in 0..self.schema.degree() {
            self.close_gap(trace, page, attribute, record.place);
        }
        self.set_deleted(trace, id, true);
        // One more deleted record.
        trace.work(1);
        self.store_counts(trace, id.page);
        self.room.add(id.page);
        self.records -= 1;
    }

    fn reorganize<T: Trace>(&mut self, trace: &mut T, page: u32) {
        let nothing = vec![0; self.schema.degree()];
        self.move_boundaries(trace, page, 0, &nothing);
    }
}
