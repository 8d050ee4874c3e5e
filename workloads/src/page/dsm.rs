//! The decomposition storage model (PAX section 2.2): a file of slotted pages for each attribute, whose records are a
//! record number and a value, and an index on the record number (PAX section 4.3).

use super::nsm_format;
use super::record_index::RecordIndex;
use super::value::check;
use super::{
    Attribute, Frames, Geometry, NodesOfIndex, Nsm, Page, PageFile, PageSites, Record, RecordId,
    Schema, Source, Type, Value,
};
use crate::tracer::{Dep, Trace};
use crate::validate::WorkloadError;

/// Place of the record number in a sub-relation.
pub const NUMBER: usize = 0;
/// Place of the value in a sub-relation.
pub const VALUE: usize = 1;
/// Type of record numbers.
pub(crate) const NUMBER_TYPE: Type = Type::Int32;

/// Site numbers of the parts of pages that all sub-relations share, then two for each attribute, then the index's.
fn index_sites(schema: &Schema, first_site: u16) -> u16 {
    first_site + PageSites::PARTS + 2 * schema.degree() as u16
}

/// A relation stored attribute by attribute. Records are numbered from 0 in the order of their insertion.
#[derive(Clone, Debug)]
pub struct Dsm {
    schema: Schema,
    files: Vec<Nsm>,
    indexes: Vec<RecordIndex>,
    next: u32,
}

/// Takes the records that a relation begins with; their indexes are built last.
#[derive(Clone, Debug)]
pub struct DsmLoader {
    geometry: Geometry,
    first_site: u16,
    schema: Schema,
    files: Vec<Nsm>,
    /// Where each record's value is, by attribute.
    places: Vec<Vec<RecordId>>,
}

/// The relation of one attribute.
pub(crate) fn sub_relation(attribute: &Attribute) -> Schema {
    Schema::new(vec![
        Attribute::new("record number", NUMBER_TYPE),
        attribute.clone(),
    ])
}

impl DsmLoader {
    /// A relation without records.
    ///
    /// # Errors
    /// If a page has no room for the longest value.
    pub fn new(schema: Schema, geometry: Geometry, first_site: u16) -> Result<Self, WorkloadError> {
        let file = |(number, attribute): (u16, &Attribute)| {
            let values = first_site + PageSites::PARTS + 2 * number;
            Nsm::new(
                sub_relation(attribute),
                geometry,
                PageSites::apart(first_site, values),
            )
        };
        let files = (0..).zip(schema.attributes()).map(file);
        Ok(Self {
            geometry,
            first_site,
            files: files.collect::<Result<_, _>>()?,
            places: vec![Vec::new(); schema.degree()],
            schema,
        })
    }

    /// The pages of each file, to give them their places.
    pub fn frames_mut(&mut self) -> impl Iterator<Item = &mut Frames> {
        self.files.iter_mut().map(PageFile::frames_mut)
    }

    /// Adds a record.
    ///
    /// # Panics
    /// If the values are not those of the schema.
    pub fn add<T: Trace>(&mut self, trace: &mut T, values: &[Value]) {
        self.add_from(trace, values, Source::registers(Dep::NONE));
    }

    /// Adds a record whose values are copied from where they are; its number is in a register.
    ///
    /// # Panics
    /// If the values are not those of the schema.
    pub fn add_from<T: Trace>(&mut self, trace: &mut T, values: &[Value], from: Source) {
        check(&self.schema, values);
        let mut before = 0;
        let files = self.files.iter_mut().zip(&mut self.places);
        for ((file, places), (attribute, &value)) in
            files.zip(self.schema.attributes().iter().zip(values))
        {
            let number = Value::Int(places.len() as i64);
            let bytes = attribute.kind.bytes_of(value);
            let from = from.part(before, bytes);
            before += bytes;
            places.push(file.insert_from(trace, &[number, value], from));
        }
    }

    /// Builds the indexes, with room for `insertions` more records.
    #[must_use]
    pub fn finish(self, insertions: u64) -> Dsm {
        let first_site = index_sites(&self.schema, self.first_site);
        let records = self.places.first().map_or(0, Vec::len);
        let index = |(file, places): (&Nsm, Vec<RecordId>)| {
            let slots = nsm_format::records_per_page(file.schema(), self.geometry) as u32;
            let pairs = places.into_iter().enumerate();
            let pairs = pairs.map(|(number, id)| (number as u32, id));
            RecordIndex::bulkload(self.geometry, slots, pairs, insertions, first_site)
        };
        Dsm {
            indexes: self.files.iter().zip(self.places).map(index).collect(),
            schema: self.schema,
            files: self.files,
            next: records as u32,
        }
    }
}

impl Dsm {
    /// Names of the sites in the order of their numbers, each after `prefix`.
    #[must_use]
    pub fn site_names(prefix: &str, schema: &Schema) -> Vec<String> {
        let mut names = PageSites::names(prefix, &Schema::new(Vec::new()));
        for attribute in schema.attributes() {
            names.push(format!("{prefix}record number of {}", attribute.name));
            names.push(format!("{prefix}attribute {}", attribute.name));
        }
        let index = RecordIndex::site_names();
        names.extend(index.iter().map(|name| format!("{prefix}{name}")));
        names
    }

    /// The attributes.
    #[must_use]
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Records there are.
    #[must_use]
    pub fn records(&self) -> u64 {
        self.files.first().map_or(0, PageFile::records)
    }

    /// The file of an attribute, whose records are the record number ([`NUMBER`]) and the value ([`VALUE`]).
    #[must_use]
    pub fn file(&self, attribute: usize) -> &Nsm {
        &self.files[attribute]
    }

    /// The pages of each file, to give them their places.
    pub fn frames_mut(&mut self) -> impl Iterator<Item = &mut Frames> {
        self.files.iter_mut().map(PageFile::frames_mut)
    }

    /// The index of an attribute, from record numbers to the records of its file.
    #[must_use]
    pub fn record_index(&self, attribute: usize) -> &RecordIndex {
        &self.indexes[attribute]
    }

    /// The indexes of all attributes, to give them their places.
    pub fn record_indexes_mut(&mut self) -> impl Iterator<Item = &mut RecordIndex> {
        self.indexes.iter_mut()
    }

    /// Reads a record, each value through its index; `None` if there is no such record.
    pub fn fetch<T: Trace>(&self, trace: &mut T, number: u32) -> Option<Vec<Value<'_>>> {
        let mut values = Vec::with_capacity(self.files.len());
        for (file, index) in self.files.iter().zip(&self.indexes) {
            let (id, dep) = index.find(trace, number)?;
            let page = file.open(trace, id.page, dep);
            let record = file.record(trace, page, id.slot)?;
            let mut column = file.column(trace, page, VALUE);
            values.push(file.value(trace, page, &mut column, record));
        }
        Some(values)
    }

    /// Adds a record and returns its number.
    ///
    /// # Panics
    /// If the values are not those of the schema, or there is no room left in the indexes.
    pub fn insert<T: Trace>(&mut self, trace: &mut T, values: &[Value]) -> u32 {
        check(&self.schema, values);
        let number = self.next;
        for ((file, index), value) in self.files.iter_mut().zip(&mut self.indexes).zip(values) {
            let id = file.insert(trace, &[Value::Int(i64::from(number)), *value]);
            index.set(trace, number, id);
        }
        self.next += 1;
        number
    }

    /// Changes a value.
    ///
    /// # Panics
    /// If there is no such record, or the value is none of the attribute.
    pub fn update<T: Trace>(&mut self, trace: &mut T, number: u32, attribute: usize, value: Value) {
        let index = &mut self.indexes[attribute];
        let (id, _) = index.find(trace, number).expect("the record exists");
        let moved = self.files[attribute].update(trace, id, VALUE, value);
        if moved != id {
            index.set(trace, number, moved);
        }
    }

    /// Deletes a record.
    ///
    /// # Panics
    /// If there is no such record.
    pub fn delete<T: Trace>(&mut self, trace: &mut T, number: u32) {
        for (file, index) in self.files.iter_mut().zip(&mut self.indexes) {
            let (id, _) = index.find(trace, number).expect("the record exists");
            file.delete(trace, id);
            index.remove(trace, number);
        }
    }

    /// The file of an attribute, to change its values in place.
    pub(crate) fn file_mut(&mut self, attribute: usize) -> &mut Nsm {
        &mut self.files[attribute]
    }

    /// Has the index say where a value is that has moved in its file; `nodes` as in [`Dsm::remove`].
    pub(crate) fn lead_to<T: Trace>(
        &mut self,
        trace: &mut T,
        number: u32,
        attribute: usize,
        id: RecordId,
        nodes: Option<NodesOfIndex<'_>>,
    ) {
        let index = &mut self.indexes[attribute];
        match nodes {
            Some(nodes) => index.set_stored(trace, number, id, nodes),
            None => index.set(trace, number, id),
        }
    }

    /// Deletes a value that was found, and its entry in the index, whose `nodes` in the pool these are if it is in storage.
    pub(crate) fn remove<T: Trace>(
        &mut self,
        trace: &mut T,
        number: u32,
        attribute: usize,
        (page, record): (Page, Record),
        nodes: Option<NodesOfIndex<'_>>,
    ) {
        self.files[attribute].remove(trace, page, record);
        let index = &mut self.indexes[attribute];
        match nodes {
            Some(nodes) => index.remove_stored(trace, number, nodes),
            None => index.remove(trace, number),
        }
    }

    /// Makes the free space of every page one piece.
    pub fn reorganize<T: Trace>(&mut self, trace: &mut T) {
        for file in &mut self.files {
            for page in 0..file.pages() {
                file.reorganize(trace, page);
            }
        }
    }
}
