//! PAX pages as a file of records: finding, changing and deleting them.

use super::access::Passed;
use super::copies::copy_words;
use super::minipage::END_BYTES;
use super::pax::{Minipage, Pax, entry};
use super::pax_format::{Contents, header, lengths};
use super::value::{check, check_one};
use super::{
    Column, Frames, Loaded, Page, PageFile, PageSites, Record, RecordId, Schema, Source, Value,
};
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
        let (start, size) = entry(bytes.value);
        let found = &self.schema.attributes()[attribute];
        let (stride, passed) = match self.format.contents[attribute] {
            Contents::Packed(value_bytes) => (value_bytes, Some(Passed::NONE)),
            Contents::Fixed(_) | Contents::Variable => (size, None),
        };
        Column {
            attribute,
            kind: found.kind,
            nullable: found.nullable,
            site: self.sites.attribute(attribute),
            start,
            stride,
            dep: bytes.token.after(1),
            passed,
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
        column: &mut Column,
        record: Record,
    ) -> bool {
        let framed = self.frames.framed(page.fixed);
        let mut counted = None;
        let (place, present) = match self.minipage(page.number(), column.attribute) {
            Minipage::Fixed(_) => return true,
            Minipage::Packed(minipage) => {
                // A scan goes on from the record that it read last, whose bit it has seen.
                let last = column.passed.filter(|last| last.record <= record.place);
                let last = last.unwrap_or(Passed::NONE);
                let values = minipage.values(framed.bytes, last.record..record.place);
                counted = Some(last.values + values);
                let first = record.place.min(last.record + 1);
                (
                    minipage.bits(first, record.place),
                    minipage.is_present(framed.bytes, record.place),
                )
            }
            Minipage::Variable(minipage) => {
                let end = minipage.end_place(record.place);
                (
                    end..end + 1,
                    minipage.is_present(framed.bytes, record.place),
                )
            }
        };
        let (site, words) = (self.sites.presence(), copy_words(place.len()));
        let dep = record.dep.or(column.dep);
        let token = framed.load_bytes(trace, site, place, words, dep).token;
        trace.work(u32::from(words));
        trace.branch(site, present, token.after(1));
        if let Some(values) = counted {
            column.passed = Some(Passed {
                record: record.place,
                values,
                dep: token.after(1),
            });
        }
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
        let (range, dep) = match self.minipage(page.number(), column.attribute) {
            Minipage::Fixed(_) | Minipage::Packed(_) => {
                let start = column.offset(record);
                let range = start..start + column.kind.most_bytes();
                (range, column.address_dep(record))
            }
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
        Some(framed.load_string(trace, column.site, range, dep))
    }

    fn values<'a>(&self, bytes: &'a [u8], page: Page, record: Record) -> Vec<Value<'a>> {
        self.values_at(bytes, page.number(), record.place)
    }

    fn insert_from<T: Trace>(&mut self, trace: &mut T, values: &[Value], from: Source) -> RecordId {
        check(&self.schema, values);
        self.records += 1;
        let lengths = lengths(&self.format, values);
        let mut full = None;
        while let Some(page) = self.room.find(self.pages(), |page| full != Some(page)) {
            if let Some(id) = self.try_insert(trace, page, (values, from), &lengths) {
                return id;
            }
            full = Some(page);
        }
        let page = self.add_page(trace, &lengths);
        self.try_insert(trace, page, (values, from), &lengths)
            .expect("an empty page has room for the longest record")
    }

    fn page_for(&mut self, values: &[Value]) -> Option<u32> {
        let lengths = lengths(&self.format, values);
        let mut room = std::mem::take(&mut self.room);
        let found = room.find(self.pages(), |page| self.accepts(page, &lengths));
        self.room = room;
        found
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
        let mut column = self.column(trace, page, attribute);
        let contents = self.format.contents[attribute];
        if let Contents::Fixed(_) = contents {
            self.set(trace, page, &column, record, value, column.dep);
            return true;
        }
        let mut ends = match contents {
            Contents::Packed(_) => {
                self.is_present(trace, page, &mut column, record);
                Dep::NONE
            }
            _ => self.load_ends(trace, page, &column, record),
        };
        let old = self.length(page.number(), attribute, record.place);
        let longer = contents.length(&value).saturating_sub(old);
        if !self.make_room(trace, page, attribute, longer) {
            return false;
        }
        if longer > 0 {
            // Boundaries may have moved.
            column = Column {
                passed: column.passed,
                ..self.column(trace, page, attribute)
            };
            if let Contents::Variable = contents {
                ends = self.load_ends(trace, page, &column, record);
            }
        }
        match contents {
            Contents::Packed(_) => self.replace_packed(trace, page, &column, record, value),
            _ => self.replace(trace, page, (&column, ends), record.place, value),
        }
        true
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
        self.store_counts(trace, id.page, page.count.later(1));
        self.room.add(id.page);
        self.records -= 1;
    }

    fn reorganize<T: Trace>(&mut self, trace: &mut T, page: u32) {
        let nothing = vec![0; self.schema.degree()];
        let header = self.load_header(trace, page);
        self.load_room(trace, header);
        let known = self.load_entries(trace, header);
        self.move_boundaries(trace, (page, known), 0, &nothing);
    }
}
