//! Relations in pages: how records lie in them, and how they are read and changed.
//!
//! [`PageFile`] is what operators are written against: a file whose pages hold whole records, as slotted pages ([`Nsm`])
//! and PAX pages ([`Pax`]) do. Reading a value takes four steps, which a scan does as seldom as it can: open the page,
//! open a column of it, find the record, read the value. Each step leaves the loads that it takes, with their
//! dependences. Calls into the host DBMS and requests for pages are the operators' business.

pub mod abstraction;
pub mod dsm;
mod frames;
pub mod lines;
mod minipage;
mod nsm;
pub mod nsm_format;
mod pax;
mod pax_file;
pub mod pax_format;
mod pax_load;
mod record_index;
mod room;
mod row_store;
mod schema;
mod sites;
pub mod store;
mod super_column;
mod super_row;
mod value;

pub use dsm::{Dsm, DsmLoader};
pub use frames::Frames;
pub use nsm::Nsm;
pub use pax::{Pax, PaxOptions};
pub use pax_load::Loading;
pub use record_index::RecordIndex;
pub use row_store::RowStore;
pub use schema::{Attribute, Schema, Type};
pub use sites::PageSites;
pub use store::Store;
pub use super_column::SuperColumn;
pub use super_row::SuperRow;
pub use value::Value;

use crate::tracer::{Dep, Token, Trace};
use crate::validate::WorkloadError;

/// Where a record is: its page and its number in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordId {
    /// Page of the file.
    pub page: u32,
    /// Slot of the page.
    pub slot: u32,
}

/// Size of a page, and what of it the storage manager keeps for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Geometry {
    /// Bytes of a page.
    pub page_bytes: u32,
    /// Bytes at its beginning that hold no records.
    pub header_bytes: u32,
}

impl Geometry {
    /// Bytes behind the header.
    #[must_use]
    pub fn usable_bytes(self) -> usize {
        (self.page_bytes - self.header_bytes) as usize
    }
}

/// An open page.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// Its number in the file.
    pub number: u32,
    /// Its simulated address.
    pub address: u64,
    /// Slots in use; deleted records count.
    pub slots: u32,
    /// What brought the address.
    pub dep: Dep,
    /// What brought the number of slots.
    pub count: Dep,
}

/// The place of one attribute's values in an open page.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    attribute: usize,
    kind: Type,
    nullable: bool,
    site: u16,
    /// Offset of the first value: in the page, or in the record where records are contiguous.
    start: usize,
    /// Bytes from one value to the next: 1 where a record's place is an offset.
    stride: usize,
    /// What brought the offset.
    dep: Dep,
}

/// A record of an open page.
#[derive(Clone, Copy, Debug)]
pub struct Record {
    /// Its offset in the page, or its number among the values of a minipage.
    place: usize,
    /// What brought the place.
    dep: Dep,
}

/// A value and the event that brought it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loaded<V> {
    /// The value.
    pub value: V,
    /// Its load.
    pub token: Token,
}

impl<V> Loaded<V> {
    /// Another value made of this one.
    #[inline]
    pub fn map<W>(self, make: impl FnOnce(V) -> W) -> Loaded<W> {
        Loaded {
            value: make(self.value),
            token: self.token,
        }
    }
}

/// Bytes that one word access of a copy moves.
const COPY_WORD: usize = 4;

/// Word accesses of a copy of so many bytes, at least 1.
pub(crate) fn copy_words(bytes: usize) -> u16 {
    bytes.div_ceil(COPY_WORD).max(1) as u16
}

/// Word accesses that store a value of a fixed-length type: numbers take one.
fn store_words(kind: Type) -> u16 {
    match kind {
        Type::Fixed(bytes) => copy_words(usize::from(bytes)),
        _ => 1,
    }
}

/// Reads a string of `bytes` bytes word by word.
fn load_string<T: Trace>(trace: &mut T, site: u16, address: u64, bytes: usize, dep: Dep) -> Token {
    if bytes == 0 {
        return Token::NONE;
    }
    trace.load(site, address, bytes as u16, copy_words(bytes), dep)
}

/// Largest page: offsets in it take 2 bytes.
pub const MOST_PAGE_BYTES: u32 = 1 << 15;

/// Checks that a page has room for its own header and for the longest record, which needs so many bytes.
fn check_geometry(
    geometry: Geometry,
    least_header: u32,
    record_bytes: usize,
) -> Result<(), WorkloadError> {
    let Geometry {
        page_bytes,
        header_bytes,
    } = geometry;
    if !page_bytes.is_power_of_two() || page_bytes > MOST_PAGE_BYTES {
        let message =
            format!("{page_bytes} bytes; it must be a power of two up to {MOST_PAGE_BYTES}");
        return Err(WorkloadError::new("page_bytes", message));
    }
    if header_bytes < least_header || header_bytes >= page_bytes {
        let message = format!(
            "{header_bytes} bytes; it must be from {least_header} to less than a page, {page_bytes}"
        );
        return Err(WorkloadError::new("header_bytes", message));
    }
    if record_bytes > geometry.usable_bytes() {
        let message = format!(
            "{page_bytes} bytes, {} of them usable; the longest record needs {record_bytes}",
            geometry.usable_bytes()
        );
        return Err(WorkloadError::new("page_bytes", message));
    }
    Ok(())
}

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
    /// Reads whether a record has a value of a nullable attribute.
    fn is_present<T: Trace>(
        &self,
        trace: &mut T,
        page: Page,
        column: &Column,
        record: Record,
    ) -> bool;
    /// Reads a string; `None` if there is no value.
    fn bytes<T: Trace>(
        &self,
        trace: &mut T,
        page: Page,
        column: &Column,
        record: Record,
    ) -> Option<Loaded<&[u8]>>;

    /// Adds a record.
    ///
    /// # Panics
    /// If the values are not those of the schema.
    fn insert<T: Trace>(&mut self, trace: &mut T, values: &[Value]) -> RecordId;
    /// Changes a value. The record moves if its page has no room for the longer value: where it is then.
    ///
    /// # Panics
    /// If there is no such record, or the value is none of the attribute.
    fn update<T: Trace>(
        &mut self,
        trace: &mut T,
        id: RecordId,
        attribute: usize,
        value: Value,
    ) -> RecordId;
    /// Deletes a record.
    ///
    /// # Panics
    /// If there is no such record.
    fn delete<T: Trace>(&mut self, trace: &mut T, id: RecordId);
    /// Makes the free space of a page one piece.
    fn reorganize<T: Trace>(&mut self, trace: &mut T, page: u32);

    /// Pages there are.
    #[inline]
    fn pages(&self) -> u32 {
        self.frames().count()
    }

    /// Reads a value of fixed length into a register: integers extended by their sign, floating-point numbers as their
    /// bits, the first (at most 8) bytes of a string. `None` if there is no value.
    #[inline]
    fn word<T: Trace>(
        &self,
        trace: &mut T,
        page: Page,
        column: &Column,
        record: Record,
    ) -> Option<Loaded<u64>> {
        if column.nullable && !self.is_present(trace, page, column, record) {
            return None;
        }
        let offset = column.offset(record);
        let token = trace.load(
            column.site,
            page.address + offset as u64,
            column.word_bytes(),
            1,
            column.address_dep(record),
        );
        let value = value::word(column.kind, &self.frames().page(page.number)[offset..]);
        Some(Loaded { value, token })
    }

    /// Reads an integer or a day.
    #[inline]
    fn int<T: Trace>(
        &self,
        trace: &mut T,
        page: Page,
        column: &Column,
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
        column: &Column,
        record: Record,
    ) -> Option<Loaded<f64>> {
        let loaded = self.word(trace, page, column, record)?;
        Some(Loaded {
            value: f64::from_bits(loaded.value),
            token: loaded.token,
        })
    }

    /// Overwrites a value of fixed length that is there. `dep` is what the new one waits for.
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
        let bytes = column.kind.most_bytes();
        trace.store(
            column.site,
            page.address + offset as u64,
            bytes as u16,
            store_words(column.kind),
            dep,
        );
        let place = &mut self.frames_mut().page_mut(page.number)[offset..offset + bytes];
        value.write(column.kind, place);
    }

    /// Reads a value of any type.
    fn value<T: Trace>(
        &self,
        trace: &mut T,
        page: Page,
        column: &Column,
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
            let column = self.column(trace, page, attribute);
            values.push(self.value(trace, page, &column, record));
        }
        Some(values)
    }
}

impl Column {
    /// Offset of a record's value in the page.
    #[inline]
    fn offset(&self, record: Record) -> usize {
        self.start + record.place * self.stride
    }

    /// Bytes of a number.
    #[inline]
    fn word_bytes(&self) -> u16 {
        match self.kind {
            Type::Int32 | Type::Date => 4,
            Type::Int64 | Type::Float64 => 8,
            Type::Fixed(bytes) | Type::Variable(bytes) => bytes.min(8),
        }
    }

    /// What the address of a record's value waits for.
    #[inline]
    fn address_dep(&self, record: Record) -> Dep {
        record.dep.or(self.dep)
    }
}
