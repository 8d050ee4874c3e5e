//! A file of pages, whatever the layout.

use super::copies::store_words;
use super::value;
use super::{
    Column, Frames, Loaded, Page, PageSites, Record, RecordId, Schema, Source, Type, Value,
};
use crate::tracer::{Dep, Trace};

/// A file whose pages hold whole records.
pub trait PageFile {
    /// The attributes.
    fn schema(&self) -> &Schema;
    /// The pages.
    fn frames(&self) -> &Frames;
    /// The pages, to change or to move them.
    fn frames_mut(&mut self) -> &mut Frames;
    /// The numbers of the sites.
    fn sites(&self) -> PageSites;
    /// Records there are.
    fn records(&self) -> u64;

    /// Reads the page's header. `dep` is what brought the page's address.
    fn open<T: Trace>(&self, trace: &mut T, page: u32, dep: Dep) -> Page;
    /// Finds an attribute's values in a page.
    fn column<T: Trace>(&self, trace: &mut T, page: Page, attribute: usize) -> Column;
    /// Finds a record; `None` if it was deleted.
    fn record<T: Trace>(&self, trace: &mut T, page: Page, slot: u32) -> Option<Record>;
    /// Reads whether a record has a value of a nullable attribute; where nulls take no space, also how many values are before it.
    fn is_present<T: Trace>(
        &self,
        trace: &mut T,
        page: Page,
        column: &mut Column,
        record: Record,
    ) -> bool;
    /// Reads a string; `None` if there is no value.
    fn bytes<T: Trace>(
        &self,
        trace: &mut T,
        page: Page,
        column: &mut Column,
        record: Record,
    ) -> Option<Loaded<&[u8]>>;

    /// The values of a record of a page, of which `bytes` is a copy.
    fn values<'a>(&self, bytes: &'a [u8], page: Page, record: Record) -> Vec<Value<'a>>;

    /// Adds a record of values that are there.
    ///
    /// # Panics
    /// If the values are not those of the schema.
    fn insert<T: Trace>(&mut self, trace: &mut T, values: &[Value]) -> RecordId {
        self.insert_once(trace, values, Dep::NONE)
    }

    /// Adds a record once the latest of its values is known.
    ///
    /// # Panics
    /// If the values are not those of the schema.
    fn insert_once<T: Trace>(&mut self, trace: &mut T, values: &[Value], known: Dep) -> RecordId {
        self.insert_from(trace, values, Source::registers(known))
    }

    /// Adds a record whose values are copied from where they are.
    ///
    /// # Panics
    /// If the values are not those of the schema.
    fn insert_from<T: Trace>(&mut self, trace: &mut T, values: &[Value], from: Source) -> RecordId;
    /// The page that [`PageFile::insert`] puts a record of these values into; `None` if it adds one.
    fn page_for(&mut self, values: &[Value]) -> Option<u32>;
    /// Changes a value of a record that was found, unless the page has no room for the new one: whether it has.
    ///
    /// # Panics
    /// If the value is none of the attribute.
    fn update_in_page<T: Trace>(
        &mut self,
        trace: &mut T,
        page: Page,
        record: Record,
        attribute: usize,
        value: Value,
    ) -> bool;
    /// Deletes a record that was found.
    ///
    /// # Panics
    /// If there is no such record any longer.
    fn remove<T: Trace>(&mut self, trace: &mut T, page: Page, record: Record);
    /// Makes the free space of a page one piece.
    fn reorganize<T: Trace>(&mut self, trace: &mut T, page: u32);

    /// Pages there are.
    #[inline]
    fn pages(&self) -> u32 {
        self.frames().count()
    }

    /// Finds a record and changes a value of it. The record moves if its page has no room for the longer value: where it is then.
    ///
    /// # Panics
    /// If there is no such record, or the value is none of the attribute.
    fn update<T: Trace>(
        &mut self,
        trace: &mut T,
        id: RecordId,
        attribute: usize,
        value: Value,
    ) -> RecordId {
        let page = self.open(trace, id.page, Dep::NONE);
        let record = self.record(trace, page, id.slot);
        let record = record.expect("the record exists");
        if self.update_in_page(trace, page, record, attribute, value) {
            return id;
        }
        let bytes = self.frames().page(id.page).to_vec();
        let mut values = self.values(&bytes, page, record);
        values[attribute] = value;
        self.remove(trace, page, record);
        self.insert(trace, &values)
    }

    /// Finds a record and deletes it.
    ///
    /// # Panics
    /// If there is no such record.
    fn delete<T: Trace>(&mut self, trace: &mut T, id: RecordId) {
        let page = self.open(trace, id.page, Dep::NONE);
        let record = self.record(trace, page, id.slot);
        self.remove(trace, page, record.expect("the record exists"));
    }

    /// Reads a value of fixed length into a register: integers extended by their sign, floating-point numbers as their
    /// bits, the first (at most 8) bytes of a string. `None` if there is no value.
    #[inline]
    fn word<T: Trace>(
        &self,
        trace: &mut T,
        page: Page,
        column: &mut Column,
        record: Record,
    ) -> Option<Loaded<u64>> {
        if column.nullable && !self.is_present(trace, page, column, record) {
            return None;
        }
        let offset = column.offset(record);
        let place = offset..offset + column.word_bytes();
        let (site, dep) = (column.site, column.address_dep(record));
        let framed = self.frames().framed(page.fixed);
        let found = framed.load_bytes(trace, site, place, 1, dep);
        Some(found.map(|bytes| value::word(column.kind, bytes)))
    }

    /// Reads an integer or a day.
    #[inline]
    fn int<T: Trace>(
        &self,
        trace: &mut T,
        page: Page,
        column: &mut Column,
        record: Record,
    ) -> Option<Loaded<i64>> {
        let loaded = self.word(trace, page, column, record)?;
        Some(Loaded {
            value: loaded.value as i64,
            token: loaded.token,
        })
    }

    /// Reads a floating-point number.
    #[inline]
    fn float<T: Trace>(
        &self,
        trace: &mut T,
        page: Page,
        column: &mut Column,
        record: Record,
    ) -> Option<Loaded<f64>> {
        let loaded = self.word(trace, page, column, record)?;
        Some(Loaded {
            value: f64::from_bits(loaded.value),
            token: loaded.token,
        })
    }

    /// Overwrites a value of fixed length that is there and was read. `dep` is what the new one waits for.
    fn set<T: Trace>(
        &mut self,
        trace: &mut T,
        page: Page,
        column: &Column,
        record: Record,
        value: Value,
        dep: Dep,
    ) {
        let offset = column.offset(record);
        let place = offset..offset + column.kind.most_bytes();
        let (site, words) = (column.site, store_words(column.kind));
        let mut framed = self.frames_mut().framed_mut(page.fixed);
        let bytes = framed.store_bytes(trace, site, place, words, dep);
        value.write(column.kind, bytes);
    }

    /// Reads a value of any type.
    fn value<T: Trace>(
        &self,
        trace: &mut T,
        page: Page,
        column: &mut Column,
        record: Record,
    ) -> Value<'_> {
        match column.kind {
            Type::Fixed(_) | Type::Variable(_) => self
                .bytes(trace, page, column, record)
                .map_or(Value::Null, |loaded| Value::Bytes(loaded.value)),
            Type::Float64 => self
                .float(trace, page, column, record)
                .map_or(Value::Null, |loaded| Value::Float(loaded.value)),
            Type::Int32 | Type::Int64 | Type::Date => self
                .int(trace, page, column, record)
                .map_or(Value::Null, |loaded| Value::Int(loaded.value)),
        }
    }

    /// Reads a whole record; `None` if it was deleted. `dep` is what brought the record's identifier.
    fn fetch<T: Trace>(&self, trace: &mut T, id: RecordId, dep: Dep) -> Option<Vec<Value<'_>>> {
        let page = self.open(trace, id.page, dep);
        let record = self.record(trace, page, id.slot)?;
        let mut values = Vec::with_capacity(self.schema().degree());
        for attribute in 0..self.schema().degree() {
            let mut column = self.column(trace, page, attribute);
            values.push(self.value(trace, page, &mut column, record));
        }
        Some(values)
    }
}
